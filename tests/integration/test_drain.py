# SPDX-License-Identifier: Apache-2.0
"""A node that is to be replaced: it takes no new sessions and keeps those it has."""

import signal
import threading
import time
import unittest

from harness import ServerTestCase, running, wait_for


class Draining(unittest.TestCase):
    def check_draining(self, server, session, call):
        sandbox = server.sandbox
        refused = sandbox.request("POST", "/sessions")
        self.assertEqual(refused.status, 503)
        self.assertIn("draining", refused.json()["detail"])
        self.assertGreater(int(refused.headers["retry-after"]), 0)
        health = sandbox.request("GET", "/health")
        self.assertEqual((health.status, health.json()["status"], health.json()["session_count"]), (200, "draining", 1))
        self.assertEqual(sandbox.request("GET", "/ready").status, 404)
        call.join(30)
        self.assertEqual(self.result.stdout, "42")
        self.assertEqual(session.code("print(x)").stdout, "42")
        # An interpreter that ends is replaced, too.
        session.code("import os; os._exit(3)")
        self.assertEqual(session.code("print('again')").stdout, "again")
        self.assertEqual(session.put(b"1", "f").status, 201)
        self.assertEqual(session.delete().status, 204)
        self.assertEqual(sandbox.health()["session_count"], 0)

    def session_with_a_call(self, sandbox):
        session = sandbox.create()
        session.code("x = 42")

        def run():
            self.result = session.code("import time; time.sleep(1.5); print(x)")

        call = threading.Thread(target=run)
        call.start()
        time.sleep(0.3)
        return session, call

    def test_a_request_drains(self):
        with running() as server:
            self.assertEqual(server.sandbox.request("GET", "/ready").json(), {"status": "ok"})
            session, call = self.session_with_a_call(server.sandbox)
            for _ in range(2):
                answer = server.sandbox.request("POST", "/admin/drain")
                self.assertEqual((answer.status, answer.json()), (200, {"status": "draining", "session_count": 1}))
            self.check_draining(server, session, call)

    def test_a_signal_to_the_process_that_was_started_drains(self):
        with running() as server:
            session, call = self.session_with_a_call(server.sandbox)
            server.process.send_signal(signal.SIGUSR1)
            wait_for(lambda: server.sandbox.health()["status"] == "draining", 5, "draining in /health")
            self.check_draining(server, session, call)
            self.assertIsNone(server.process.poll())


class WhoMayDrain(ServerTestCase):
    def test_web_pages_and_other_kinds_of_content_may_not(self):
        for field in ("Origin: http://localhost:%d" % self.server.port, "Sec-Fetch-Site: cross-site"):
            answer = self.sandbox.request("POST", "/admin/drain", b"{}", [field, "Content-Type: application/json"])
            self.assertEqual(answer.status, 403)
        self.assertEqual(self.sandbox.request("POST", "/admin/drain", b"a=1", ["Content-Type: text/plain"]).status, 422)
        for body in (b"[null, null]", b"1", b"{", b"\xff"):
            self.assertEqual(self.sandbox.request("POST", "/admin/drain", body, ["Content-Type: application/json"]).status, 422)
        self.assertEqual(self.sandbox.request("GET", "/admin/drain").status, 405)
        self.assertEqual(self.sandbox.health()["status"], "ok")
        self.new_session()


class NodeLabel(unittest.TestCase):
    def test_every_id_begins_with_the_label_of_the_operator(self):
        for given, label in (("0A7f", "0a7f"), ("3", "0003")):
            with running({"SANDBOX_NODE_ID": given, "SANDBOX_POOL_SIZE": "2"}) as server:
                ids = [server.sandbox.create().id for _ in range(4)]
            self.assertEqual({id[:8] for id in ids}, {"sbx_" + label})
            self.assertEqual(len({id[8:] for id in ids}), 4)

    def test_without_one_it_is_another_at_every_start(self):
        labels = []
        for _ in range(3):  # that all three are the same by chance: 1 in 2 ** 32
            with running({"SANDBOX_POOL_SIZE": "1"}) as server:
                labels.append(server.sandbox.create().id[4:8])
        self.assertGreater(len(set(labels)), 1)


if __name__ == "__main__":
    unittest.main()
