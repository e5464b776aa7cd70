# SPDX-License-Identifier: Apache-2.0
"""The service `rookery` of container/compose.yaml, started as Docker Compose does: Debian's is too old for systempaths=unconfined."""

import contextlib
import re
import unittest

import engine
import ways
import yaml
from container_server import ContainerServer
from harness import wait_for

NETWORK = "rookery-test-compose"


def arguments(service):
    """Of `docker run`, for each key of the service."""
    health = service["healthcheck"]
    found = ["--network", NETWORK, "--network-alias", "rookery"]
    found += ["--health-cmd", " ".join(health["test"][1:]), "--health-interval", health["interval"], "--health-timeout", health["timeout"],
              "--health-retries", health["retries"], "--health-start-period", health["start_period"]]
    for flag, key in (("--memory", "mem_limit"), ("--cpus", "cpus"), ("--pids-limit", "pids_limit")):
        found += [flag, re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(service[key]))]
    for name, value in service["environment"].items():
        found += ["-e", "%s=%s" % (name, value)]
    return found


@contextlib.contextmanager
def network():
    engine.docker("network", "create", NETWORK)
    try:
        yield
    finally:
        engine.docker("network", "rm", NETWORK)


class Compose(unittest.TestCase):
    def test_it_serves_this_machine_and_its_network_by_its_name(self):
        service = yaml.safe_load((ways.SOURCE / "container" / "compose.yaml").read_text())["services"]["rookery"]
        # What is left of it is the recommended run (test_documents.py) and the tests' own name and port.
        self.assertEqual(set(service) - {"image", "ports", "cap_drop", "cap_add", "security_opt", "read_only", "tmpfs", "stop_grace_period", "restart"},
                         {"networks", "environment", "healthcheck", "mem_limit", "cpus", "pids_limit"})
        with network():
            server = ContainerServer(way="least", more=arguments(service))
            self.addCleanup(server.clean_up)
            try:
                server.wait_until_ready()
                with server.sandbox.create() as session:
                    self.assertEqual(session.code("print(6 * 7)").stdout, "42")
                wait_for(lambda: engine.inspect(server.name)["State"]["Health"]["Status"] == "healthy", 60, "healthy")
                # As Otari calls it. From its own container: the engine's firewall, which passes packets on to others, is not the tests' to change.
                ask = ["exec", server.name, "curl", "-fsS", "-m", "20", "-X", "POST"]
                self.assertIn('"session_id":"sbx_', engine.docker(*ask, "http://rookery:8080/sessions")[1])
                self.assertNotEqual(engine.docker(*ask, "-H", "Host: elsewhere", "http://rookery:8080/sessions", check=False)[0], 0)
            finally:
                server.stop()
