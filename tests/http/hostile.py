# SPDX-License-Identifier: Apache-2.0
"""Sends raw bytes to a server and checks after each case what must hold whatever was sent."""

import json
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import process_tree  # noqa: E402
from harness import SLOWNESS, ServerTestCase  # noqa: E402
from sandboxclient.connection import parse_head  # noqa: E402

# What the server allows itself for a whole request head, and some room.
HEADER_SECONDS = 14 * SLOWNESS


class Answer:
    """What came back on one connection until it was closed or fell silent."""

    def __init__(self, data, closed):
        self.data, self.closed = data, closed
        self.responses = []  # (status, headers, body)
        rest = data
        while b"\r\n\r\n" in rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            status, headers, _ = parse_head(head)
            length = 0 if status < 200 or status == 204 else int(headers["content-length"])
            self.responses.append((status, headers, rest[:length]))
            rest = rest[length:]
        self.trailing = rest

    @property
    def statuses(self):
        return [status for status, _, _ in self.responses]


class HostileTestCase(ServerTestCase):
    settings = {"SANDBOX_POOL_SIZE": "2"}
    may_grow_mb = 32  # the server's resident memory, by one test

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.target = cls.sandbox.create()
        cls.server_pid = cls.server.role("server")

    def setUp(self):
        super().setUp()
        self.memory = process_tree.resident_kb(self.server_pid)

    def tearDown(self):
        self.check_invariants()
        super().tearDown()

    def check_invariants(self):
        start = time.monotonic()
        result = self.sandbox.new_connection().request(
            "POST", self.target.target + "/exec", json.dumps({"tool": "code_execution", "input": {"code": "print('still')"}}).encode(),
            ("Content-Type: application/json",))
        self.assertEqual(result.json()["result_block"]["content"]["stdout"], "still")
        self.assertLess(time.monotonic() - start, 1 * SLOWNESS)
        self.assertEqual(self.server.role("server"), self.server_pid)
        self.assertLess(process_tree.resident_kb(self.server_pid) - self.memory, self.may_grow_mb * 1024 * SLOWNESS)

    @property
    def host(self):
        return b"Host: 127.0.0.1:%d\r\n" % self.server.port

    def connect(self, seconds=20):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=seconds * SLOWNESS)
        self.addCleanup(connection.close)
        return connection

    def talk(self, *parts, finish=False, seconds=3, pause=0):
        """Sends the parts and reads until the server closes or is silent for `seconds`."""
        connection = self.connect()
        data, closed = b"", False
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            if finish:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        connection.settimeout(seconds * SLOWNESS)
        try:
            while True:
                part = connection.recv(65536)
                if not part:
                    closed = True
                    break
                data += part
        except socket.timeout:
            pass
        except ConnectionResetError:
            closed = True
        connection.close()
        answer = Answer(data, closed)
        for status, headers, body in answer.responses:
            self.assertTrue(100 <= status < 600)
            self.assertFalse([name for name in headers if name.startswith("access-control")], headers)
            if status >= 200:
                self.assertEqual(headers.get("x-content-type-options"), "nosniff")
            self.assertNotIn(b"rookery-test", body)
        self.assertEqual(answer.trailing, b"", "bytes behind the last response")
        return answer

    def refused(self, *parts, statuses=(400,), may_just_close=False, **options):
        """One error response, and then the connection is closed; nothing else on it is served."""
        answer = self.talk(*parts, **options)
        if may_just_close and not answer.responses:
            self.assertTrue(answer.closed, "neither answered nor closed")
            return answer
        self.assertEqual(len(answer.responses), 1, answer.data[:500])
        self.assertIn(answer.statuses[0], statuses, answer.data[:500])
        self.assertTrue(answer.closed, "the connection stays open")
        return answer

    MARK = "open('marks', 'a').write('x')"

    def exec_head(self, extra=b"", method=b"POST", version=b"HTTP/1.1", host=None):
        host = self.host if host is None else host
        return b"%s %s/exec %s\r\n%sContent-Type: application/json\r\n%s" % (method, self.target.target.encode(), version, host, extra)

    def exec_body(self, code=None):
        return json.dumps({"tool": "code_execution", "input": {"code": code or self.MARK}}).encode()

    def marks(self):
        response = self.target.get("marks")
        return len(response.body) if response.status == 200 else 0

    def assert_ran(self, times, action):
        before = self.marks()
        result = action()
        self.assertEqual(self.marks() - before, times, "calls that ran")
        return result
