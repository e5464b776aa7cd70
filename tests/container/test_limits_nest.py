# SPDX-License-Identifier: Apache-2.0
"""Limits of the container hold for all of it, and those of a session below them."""

import unittest

from container_server import ContainerServer


class Limits(unittest.TestCase):
    def server(self, settings, *more):
        server = ContainerServer(settings, way="least", more=more)
        self.addCleanup(server.clean_up)
        server.wait_until_ready()
        self.addCleanup(server.stop)
        return server.sandbox

    def test_a_sessions_memory_limit_is_met_below_the_containers(self):
        sandbox = self.server({"SANDBOX_RUNNER_MEMORY_MB": "256", "SANDBOX_POOL_SIZE": "2"}, "--memory", "3g")
        with sandbox.create() as session:
            self.assertEqual(session.code("x = bytearray(600 << 20)").field("limit"), "memory")
            self.assertEqual(session.code("print(len(bytearray(64 << 20)))").stdout, str(64 << 20))

    def test_the_containers_memory_limit_ends_what_sessions_may_not_take_together(self):
        sandbox = self.server({"SANDBOX_RUNNER_MEMORY_MB": "2048", "SANDBOX_POOL_SIZE": "0"}, "--memory", "900m", "--memory-swap", "900m")
        with sandbox.create() as session:
            result = session.code("x = bytearray(1500 << 20)\nprint('got it')")
            self.assertNotIn("got it", result.stdout)
            self.assertNotEqual(result.return_code, 0)
        self.assertEqual(sandbox.health()["status"], "ok")

    def test_a_sessions_pids_limit_is_met_below_the_containers(self):
        sandbox = self.server({"SANDBOX_RUNNER_PIDS": "32", "SANDBOX_POOL_SIZE": "1"}, "--pids-limit", "1000")
        with sandbox.create() as session:
            result = session.bash("for i in $(seq 60); do sleep 5 & done; wait", 20)
            self.assertEqual(result.field("limit"), "pids", result)

    def test_the_containers_pids_limit_holds_for_a_session(self):
        sandbox = self.server({"SANDBOX_RUNNER_PIDS": "500", "SANDBOX_POOL_SIZE": "1"}, "--pids-limit", "160")
        with sandbox.create() as session:
            result = session.bash("for i in $(seq 400); do sleep 5 & done 2>/dev/null; jobs -p | wc -l", 30)
            self.assertLess(int(result.stdout.strip() or 0), 160, result)
        self.assertEqual(sandbox.health()["status"], "ok")
