# SPDX-License-Identifier: Apache-2.0
"""The service `rookery` of container/compose.yaml, started by Docker Compose."""

import json
import os
import subprocess
import unittest

import compose_program
import container_server
import engine
import ways
from harness import Sandbox

PROJECT = "rookery-test"
# What of the recommended run an engine is told.
SAME = ("CapAdd", "CapDrop", "SecurityOpt", "MaskedPaths", "ReadonlyPaths", "ReadonlyRootfs", "Privileged")


class Compose(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = compose_program.program()
        cls.addClassCleanup(cls.compose, "down", "--timeout", "5")
        cls.compose("up", "--detach", "--wait", "rookery")  # until its health check says so
        cls.container = cls.compose("ps", "-q", "rookery").strip()

    @classmethod
    def compose(cls, *arguments):
        done = subprocess.run([cls.program, "-p", PROJECT, "-f", ways.SOURCE / "container" / "compose.yaml", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, env={**os.environ, "ROOKERY_IMAGE": container_server.IMAGE})
        if done.returncode != 0:
            raise AssertionError("compose %s: %s" % (arguments[0], done.stdout + done.stderr))
        return done.stdout

    def test_the_engine_is_told_the_recommended_run(self):
        other = engine.docker("create", *ways.LEAST, container_server.IMAGE)[1].strip()
        self.addCleanup(engine.docker, "rm", other)
        here, there = (engine.inspect(name)["HostConfig"] for name in (self.container, other))

        def comparable(host):
            # Compose hands the profile on with its own white space.
            options = [json.loads(text.partition("=")[2]) if text.startswith("seccomp=") else text for text in host["SecurityOpt"]]
            return {**{key: host[key] for key in SAME}, "SecurityOpt": sorted(options, key=str)}

        self.assertEqual(comparable(here), comparable(there))
        self.assertEqual(list(here["Tmpfs"]), list(there["Tmpfs"]))
        self.assertEqual((here["Memory"], here["NanoCpus"], here["PidsLimit"]), (8 << 30, 2 * 10**9, 8192))

    def test_it_serves_this_machine(self):
        with Sandbox("http://127.0.0.1:8180").create() as session:
            self.assertEqual(session.code("print(6 * 7)").stdout, "42")

    def test_it_serves_its_network_by_its_name(self):
        # As Otari calls it. From its own container: the engine's firewall, which passes packets on to others, is not the tests' to change.
        ask = ["exec", self.container, "curl", "-fsS", "-m", "20", "-X", "POST"]
        self.assertIn('"session_id":"sbx_', engine.docker(*ask, "http://rookery:8080/sessions")[1])
        self.assertNotEqual(engine.docker(*ask, "-H", "Host: elsewhere", "http://rookery:8080/sessions", check=False)[0], 0)

    def test_both_services_are_understood(self):
        services = json.loads(self.compose("config", "--format", "json"))["services"]
        self.assertEqual(set(services), {"rookery", "otari"})
        self.assertEqual(services["otari"]["depends_on"]["rookery"]["condition"], "service_healthy")
        self.assertEqual(set(services["rookery"]["networks"]), {"sandbox"})
