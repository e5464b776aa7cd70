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


# The neighbour's calls before each abuse, for comparison: what is normal on this machine at this time.
QUIET_CALLS = 40
# Scheduling alone makes single calls this slow now and then; a normal 99th percentile below it is not taken as one.
NOISE_SECONDS = 0.010 * SLOWNESS
# How often an abuse is tried before its slow neighbour counts.
ATTEMPTS = 3
# What a program that an abuse leaves running may print into the calls that follow, as a line.
NOISE = "noise"


def percentile(waits, hundredths):
    return sorted(waits)[min(len(waits) - 1, len(waits) * hundredths // 100)]


def slower(watched, normal):
    return watched > 3 * max(normal, NOISE_SECONDS)


class Neighbour:
    """An innocent session that answers a small call all the time; keeps the waits of it, before and during an abuse."""

    def __init__(self, sandbox):
        self.sandbox, self.quiet, self.waits, self.failures = sandbox, [], [], []
        self.done = threading.Event()
        self.session = sandbox.create()
        self.session.code("import time")
        for _ in range(QUIET_CALLS):
            self.call(self.quiet)
            time.sleep(0.01)

    def __enter__(self):
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def work(self):
        self.call(self.waits)
        while not self.done.wait(0.02):
            self.call(self.waits)

    def call(self, waits):
        result = self.session.code("print(1)", 20)
        waits.append(result.wall)
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

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.quiet, cls.waits = [], []  # of all neighbours of this class

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.compare_neighbours()

    @classmethod
    def compare_neighbours(cls):
        """Over all abuses of the class, which gives enough calls for a 99th percentile: neighbours notice nothing."""
        if len(cls.waits) < 200:
            return
        normal, watched = percentile(cls.quiet, 99), percentile(cls.waits, 99)
        print("neighbours of %s: p99 %.1f ms of %d calls, normally %.1f ms of %d" % (cls.__name__, watched * 1e3, len(cls.waits), normal * 1e3, len(cls.quiet)))
        assert not slower(watched, normal), "neighbours' p99 is %.1f ms, normally %.1f ms" % (watched * 1e3, normal * 1e3)

    def abuse(self, source, seconds=3, tool="code", check=None, recovers=True):
        """Runs hostile code with everything around it watched; again when its neighbour was slow, because what the abuse
        causes comes again and what else happens on the machine does not. Gives the call's result."""
        best = None
        for _ in range(ATTEMPTS):
            result, neighbour = self.abuse_once(source, seconds, tool, check, recovers)
            if best is None or percentile(neighbour.waits, 99) < percentile(best.waits, 99):
                best = neighbour
            self.quiet.extend(neighbour.quiet)
            if not slower(percentile(best.waits, 99), percentile(self.quiet, 99)):
                break
        self.waits.extend(best.waits)
        return result

    def abuse_once(self, source, seconds, tool, check, recovers):
        """(the call's result, the neighbour that was there meanwhile)"""
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
        self.assertLess(percentile(neighbour.waits, 90), self.SLOWEST_NEIGHBOUR, "neighbour's calls")
        self.assertEqual(self.server.role("server"), server_pid)
        self.assertLess(process_tree.resident_kb(server_pid) - memory, 32 * 1024 * SLOWNESS)
        return result, neighbour

    def recovered(self, session):
        """The next call works within reasonable time, whatever the one before did."""
        def works():
            result = session.code("print('plain', 1 + 1)", 10)
            own = [line for line in result.stdout.split("\n") if line != NOISE]
            return (own, result.return_code) == (["plain 2"], 0) or self.seen.append(result)

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
