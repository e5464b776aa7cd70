# SPDX-License-Identifier: Apache-2.0
"""What rookery does with cgroup v2: made for the guest of machine.py, whose only hierarchy it is."""

import contextlib
import os
import pathlib
import signal
import subprocess
import unittest

import process_tree
from harness import BINARY, SLOWNESS, Server, free_port, plain_environment, running, wait_for

ROOT = pathlib.Path("/sys/fs/cgroup")
NEEDED = "+memory +pids +cpu"
SMALL = {"SANDBOX_POOL_SIZE": "1", "SANDBOX_SPAWN": "fork"}


@contextlib.contextmanager
def scope(name, controllers=NEEDED):
    """A cgroup as `systemd-run --scope -p Delegate=yes` makes one, and a program that execs a command in there alone."""
    (ROOT / "cgroup.subtree_control").write_text(NEEDED)
    group = ROOT / name
    group.mkdir()
    launcher = pathlib.Path("/run/in-" + name)
    launcher.write_text('#!/bin/sh\necho $$ > %s/cgroup.procs && exec %s "$@"\n' % (group, BINARY))
    launcher.chmod(0o755)
    try:
        yield group, launcher
    finally:
        left = [str(path) for path in group.rglob("*") if path.is_dir()]
        for path in sorted(left, reverse=True):
            os.rmdir(path)
        group.rmdir()
        assert not left, "left behind in %s: %s" % (name, left)


def directories(group):
    return [path.name for path in group.iterdir() if path.is_dir()]


def number(path):
    text = path.read_text().strip()
    return text if text == "max" else int(text.split()[0])


class OwnScope(unittest.TestCase):
    """Rookery as the only process of a cgroup that is not the root of the hierarchy."""

    def test_limits_are_the_kernels_and_all_is_gone_at_the_end(self):
        with scope("one") as (group, launcher):
            with running({**SMALL, "SANDBOX_RUNNER_MEMORY_MB": "300", "SANDBOX_RUNNER_PIDS": "50", "SANDBOX_RUNNER_CPU_MILLIS": "500"}, binary=launcher) as server:
                own, = [group / name for name in directories(group)]
                self.assertEqual((group / "cgroup.procs").read_text(), "", "only leaves hold processes")
                self.assertEqual((own / "cgroup.procs").read_text(), "")
                inside = {int(pid) for pid in (own / "self" / "cgroup.procs").read_text().split()}
                for role in ("warden", "server"):
                    self.assertIn(server.role(role), inside)
                with server.sandbox.create() as session:
                    session.bash("sleep 321 & true", 30)
                    sleeper = next(pid for pid in server.tree() if "sleep 321" in process_tree.title(pid))
                    cgroup, = process_tree.cgroup_directories(sleeper)
                    self.assertEqual(cgroup.parent, own)
                    self.assertEqual(number(cgroup / "memory.max"), 300 << 20)
                    self.assertEqual(number(cgroup / "memory.swap.max"), 0)
                    self.assertEqual(number(cgroup / "pids.max"), 50)
                    self.assertEqual((cgroup / "cpu.max").read_text().split(), ["50000", "100000"])
                    self.assertEqual(set(os.listdir(cgroup)) & {"s-0", "self"}, set(), "no cgroups below a session's")
                    # Every process of the jail, however it was started.
                    jail = process_tree.namespace(sleeper, "pid")
                    for pid in server.tree():
                        if process_tree.namespace(pid, "pid") == jail:
                            self.assertEqual(process_tree.cgroup_directories(pid), [cgroup])
                    self.assertEqual(session.bash("cat /proc/self/cgroup", 30).stdout, "0::/\n")
            self.assertEqual(directories(group), [])
            self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [], "as it was found")

    def test_check_tries_a_jail_there_and_leaves_it_as_it_was(self):
        with scope("check") as (group, launcher):
            done = subprocess.run([launcher, "check"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * SLOWNESS, env=plain_environment({}))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertRegex(done.stdout, r"(?m)^trial +ok ")
            self.assertEqual(directories(group), [])
            self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [])

    def test_what_was_enabled_already_stays_enabled(self):
        before = (ROOT / "cgroup.subtree_control").read_text().split()
        with running(SMALL), running(SMALL) as second:
            self.assertEqual(second.sandbox.health()["status"], "ok")
        self.assertLessEqual(set(before), set((ROOT / "cgroup.subtree_control").read_text().split()))

    def test_two_servers_in_the_root_end_in_any_order(self):
        first = Server(SMALL).wait_until_ready()
        second = Server(SMALL).wait_until_ready()
        try:
            for server in (first, second):
                known = server.identities()
                self.assertEqual(server.stop(), 0, server.notable_log())
                self.assertEqual(server.remains(known), [])
        finally:
            first.clean_up()
            second.clean_up()

    def test_a_killed_supervisor_takes_everything_along_and_the_next_start_clears_up(self):
        with scope("crash") as (group, launcher):
            root = pathlib.Path("/run/crash-sessions")
            server = Server(SMALL, root=root, binary=launcher).wait_until_ready()
            session = server.sandbox.create()
            session.bash("sleep 99 & true", 30)
            known = [entry for entry in server.identities() if entry[0] != server.pid]
            os.kill(server.pid, signal.SIGKILL)
            server.process.wait()
            wait_for(lambda: not any(process_tree.is_alive(*entry) for entry in known), 5, "the end of every process")
            self.assertEqual(len(directories(group)), 1)
            with running(SMALL, root=root) as fresh:  # from the root of the hierarchy: found by its record
                self.assertEqual(fresh.sandbox.health()["session_count"], 0)
                self.assertEqual(directories(group), [])
            server.clean_up()

    def test_a_killed_warden_leaves_nothing(self):
        with scope("warden") as (group, launcher):
            server = Server(SMALL, binary=launcher).wait_until_ready()
            server.sandbox.create().bash("sleep 98 & true", 30)
            known = server.identities()
            os.kill(server.role("warden"), signal.SIGKILL)
            self.assertEqual(server.process.wait(20 * SLOWNESS), 128 + signal.SIGKILL)
            self.assertEqual([entry for entry in server.remains(known) if not entry.startswith("directory")], [])
            self.assertEqual(directories(group), [])
            server.clean_up()


class Refused(unittest.TestCase):
    """A start that fails says why, and leaves the hierarchy as it was."""

    def serve(self, launcher, **settings):
        return subprocess.run([launcher, "serve", "--listen", "127.0.0.1:%d" % free_port()], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60 * SLOWNESS, env=plain_environment({"SANDBOX_SESSIONS_ROOT": "/run/refused", **settings}))

    def test_beside_another_process(self):
        with scope("shared") as (group, launcher):
            other = subprocess.Popen(["sleep", "1000"])
            try:
                (group / "cgroup.procs").write_text(str(other.pid))
                done = self.serve(launcher)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("only process of its cgroup", done.stderr)
                self.assertEqual(directories(group), [])
                self.assertEqual((group / "cgroup.procs").read_text().split(), [str(other.pid)])
                self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [])
            finally:
                other.kill()
                other.wait()
                wait_for(lambda: not (group / "cgroup.procs").read_text(), 5, "an empty cgroup")

    def test_without_the_controllers(self):
        with scope("poor") as (group, launcher):
            (group / "cgroup.subtree_control").write_text("+pids")
            inner = group / "inner"
            inner.mkdir()
            launcher.write_text(launcher.read_text().replace("%s/cgroup.procs" % group, "%s/cgroup.procs" % inner))
            done = self.serve(launcher)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("memory cpu", done.stderr)
            self.assertIn("systemd-run", done.stderr)
            self.assertEqual(directories(inner), [])
            inner.rmdir()
            (group / "cgroup.subtree_control").write_text("-pids")

    def test_after_the_delegation(self):
        with scope("late") as (group, launcher):
            done = self.serve(launcher, SANDBOX_PYTHON="/nonexistent/python3")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(directories(group), [])
            self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [])

    def test_where_no_cgroup_may_be_made(self):
        with scope("full") as (group, launcher):
            for limit, inside in (("cgroup.max.descendants", 0), ("cgroup.max.descendants", 1)):
                (group / limit).write_text(str(inside))
                done = self.serve(launcher)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.startswith("rookery: "), done.stderr)
                self.assertEqual(directories(group), [])
                self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [])
