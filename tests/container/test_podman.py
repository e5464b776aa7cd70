# SPDX-License-Identifier: Apache-2.0
"""The recommended way with Podman, started by root. Its storage is the test's own."""

import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import container_server
import data_science
import engine
import ways
from harness import SOURCE, Sandbox, free_port, wait_for

# Without CAP_SYS_RESOURCE Podman cannot give more open files and processes than this.
LIMITS = ["--ulimit", "nofile=8192:8192", "--ulimit", "nproc=4096:4096"]
# As Podman says it.
LEAST = [text.replace("systempaths=unconfined", "unmask=ALL") for text in ways.LEAST]


@unittest.skipUnless(shutil.which("podman"), "there is no podman: apt-get install podman")
class Podman(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="rookery-podman-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        image = cls.directory / "image.tar"
        engine.docker("save", "-o", image, container_server.IMAGE, timeout=400)
        cls.podman("load", "-i", image, timeout=400)

    @classmethod
    def podman(cls, *arguments, timeout=60):
        where = ["--root", cls.directory / "root", "--runroot", cls.directory / "run"]
        return subprocess.run(["podman", *map(str, where), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def test_the_recommended_way(self):
        port = free_port()
        started = self.podman("run", "-d", "--rm", "--name", "rookery-test", "--network", "host", "--no-healthcheck", *LIMITS, *LEAST,
                              "localhost/" + container_server.IMAGE, "serve", "--listen", "127.0.0.1:%d" % port)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.podman, "rm", "-f", "rookery-test")
        sandbox = Sandbox("http://127.0.0.1:%d" % port)
        wait_for(lambda: "ready on" in self.logs(), 60, "the ready line; " + self.logs())
        lines = (SOURCE / "container" / "requirements.in").read_text().splitlines()
        with sandbox.create() as session:
            data_science.check(self, session, "\n".join(line for line in lines if "==" in line))
        self.assertEqual(sandbox.health()["jail"], "nested")
        start = time.monotonic()
        self.podman("stop", "rookery-test")
        self.assertLess(time.monotonic() - start, 3)

    def logs(self):
        done = self.podman("logs", "rookery-test")
        return done.stdout + done.stderr

    def test_a_plain_run_says_what_to_add(self):
        done = self.podman("run", "--rm", "--network", "none", "--no-healthcheck", *LIMITS, "localhost/" + container_server.IMAGE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unmask=ALL", done.stderr)
