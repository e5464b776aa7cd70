# SPDX-License-Identifier: Apache-2.0
"""A session misbehaves while a neighbour is watched; afterwards everything that must still hold is checked."""

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import process_tree  # noqa: E402
from harness import SLOWNESS, ServerTestCase, wait_for  # noqa: E402

# How long a call may take beyond its own time limit.
GRACE = 6 * SLOWNESS


class Neighbour:
    """An innocent session that answers a small call all the time; keeps the waits of it."""

    def __init__(self, sandbox):
        self.sandbox, self.waits, self.failures = sandbox, [], []
        self.done = threading.Event()
        self.session = sandbox.create()
        self.session.code("import time")

    def __enter__(self):
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def work(self):
        while not self.done.wait(0.05):
            result = self.session.code("print(1)", 20)
            self.waits.append(result.wall)
            if (result.stdout, result.return_code) != ("1", 0):
                self.failures.append(result)

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        self.session.delete()


class AbuseTestCase(ServerTestCase):
    settings = {"SANDBOX_RUNNER_MEMORY_MB": "256", "SANDBOX_WORKSPACE_MB": "128", "SANDBOX_POOL_SIZE": "2", "SANDBOX_RUNNER_FSIZE_MB": "64",
                "SANDBOX_WORKSPACE_INODES": "20000"}
    SLOWEST_NEIGHBOUR = 1.0 * SLOWNESS

    def abuse(self, source, seconds=3, tool="code", check=None, recovers=True):
        """Runs hostile code with everything around it watched. Gives the call's result."""
        server_pid = self.server.role("server")
        memory = process_tree.resident_kb(server_pid)
        session = self.sandbox.create()
        with Neighbour(self.sandbox) as neighbour:
            result = getattr(session, tool)(source, seconds)
            self.assertEqual(result.status, 200, result)
            self.assertLess(result.wall, seconds + GRACE, result)
            self.assertLess(len(result.stdout) + len(result.stderr), 3 << 20)
            if check:
                check(session, result)
            if recovers:
                self.recovered(session)
            jail = self.jail_of(session)
            start = time.monotonic()
            self.assertEqual(session.delete().status, 204)
            self.assertLess(time.monotonic() - start, 5 * SLOWNESS)
        self.assertEqual([pid for pid, when in jail if process_tree.is_alive(pid, when)], [], "processes outlive DELETE")
        self.assertEqual(neighbour.failures, [])
        slow = sorted(neighbour.waits)[int(len(neighbour.waits) * 0.9)] if neighbour.waits else 0
        self.assertLess(slow, self.SLOWEST_NEIGHBOUR, "neighbour's calls")
        self.assertEqual(self.server.role("server"), server_pid)
        self.assertLess(process_tree.resident_kb(server_pid) - memory, 32 * 1024 * SLOWNESS)
        return result

    def recovered(self, session):
        """The next call works within reasonable time, whatever the one before did."""
        def works():
            result = session.code("print('plain', 1 + 1)", 10)
            return (result.stdout, result.return_code) == ("plain 2", 0) or self.seen.append(result)

        self.seen = []
        try:
            wait_for(works, 5, "a call that works")
        except AssertionError:
            raise AssertionError("does not recover: %s" % self.seen[-1])

    def jail_of(self, session):
        """(pid, start time) of every process of the session's jail."""
        mark = "sleep 4%s" % session.id[-6:].translate(str.maketrans("abcdef", "123456"))
        session.bash("%s >/dev/null 2>&1 </dev/null & true" % mark, 10)
        tree = self.server.tree()
        space = next((process_tree.namespace(pid, "pid") for pid in tree if mark in process_tree.title(pid)), None)
        return [(pid, process_tree.start_time(pid)) for pid in tree if space and process_tree.namespace(pid, "pid") == space]
