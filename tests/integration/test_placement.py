# SPDX-License-Identifier: Apache-2.0
"""Where threads run, seen from outside: a call and its answer may share a processor for a moment, and nobody stays pinned."""

import concurrent.futures
import os
import pathlib
import time
import unittest

from harness import ServerTestCase, wait_for

CPUS = len(os.sched_getaffinity(0))


class Placement(ServerTestCase):
    def pinned(self, role=None):
        """{(pid, thread)} below the server, or of one of its processes, that may run on fewer processors than this test."""
        found = set()
        for pid in [self.server.role(role)] if role else self.server.tree():
            for task in pathlib.Path("/proc/%d/task" % pid).glob("*"):
                try:
                    if len(os.sched_getaffinity(int(task.name))) < CPUS:
                        found.add((pid, int(task.name)))
                except ProcessLookupError:
                    pass
        return found

    def nobody_stays_pinned(self):
        wait_for(lambda: not self.pinned(), 5, "every thread may run everywhere")

    def watch(self, role, work):
        """[(before, after)]: the times around each look that saw a thread of the process pinned while `work` ran."""
        pool = concurrent.futures.ThreadPoolExecutor(1)
        worked = pool.submit(work)
        seen = []
        while not worked.done():
            before = time.monotonic()
            if self.pinned(role):
                seen.append((before, time.monotonic()))
            time.sleep(0.001)
        pool.shutdown()
        worked.result()
        return seen

    def test_brief_calls_one_after_another(self):
        session = self.session

        def work():
            for number in range(300):
                session.code("print(%d)" % number)

        self.assertEqual(bool(self.watch("server", work)), CPUS > 1)
        self.nobody_stays_pinned()
        self.prints("import os; print(len(os.sched_getaffinity(0)))", str(CPUS))

    def test_a_call_that_takes_its_time_is_free_to_move(self):
        session = self.session
        session.code("import time")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            call = pool.submit(session.code, "time.sleep(2)")
            time.sleep(1)
            self.assertEqual(self.pinned(), set())
            self.assertEqual(call.result().return_code, 0)

    def test_a_transfer_after_a_call_is_free_to_move(self):
        session = self.session
        self.assertEqual(session.put(bytes(50_000_000), "file").status, 201)
        transfers = []

        def work():
            for _ in range(5):
                session.code("1")
                connection = session.sandbox.connection  # the call's own, and so its thread
                connection.send(connection.head("GET", session.target + "/files?path=file", None))
                connection.buffer = connection.receive()
                began = time.monotonic()
                self.assertEqual(len(connection.read_response("GET").body), 50_000_000)
                transfers.append((began, time.monotonic()))

        seen = self.watch("server", work)
        self.assertEqual(len(transfers), 5)
        self.assertEqual([look for look in seen for began, ended in transfers if began < look[0] and look[1] < ended], [])
        self.nobody_stays_pinned()

    def test_many_clients(self):
        sessions = [self.new_session() for _ in range(4)]

        def work(session):
            for number in range(100):
                result = session.code("print(%d)" % number)
                self.assertEqual(result.stdout, str(number))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(work, sessions))
        self.nobody_stays_pinned()


if __name__ == "__main__":
    unittest.main()
