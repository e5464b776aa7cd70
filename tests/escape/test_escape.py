# SPDX-License-Identifier: Apache-2.0
"""Sends the checks into a session as code and turns each printed line into one judged promise."""

import ctypes
import json
import os
import pathlib
import re
import socket
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import process_tree  # noqa: E402
from harness import SLOWNESS, ServerTestCase, wait_for  # noqa: E402

HERE = pathlib.Path(__file__).parent
SECRET = "rookery-test-secret-7c1d"
MARK = "sleep 4711.25"


class Escape(ServerTestCase):
    """No promise is open, for an interpreter forked from the zygote."""

    given_up: tuple = ()  # promises that such a server does not make

    seconds = int(110 * SLOWNESS)  # for all checks of a module
    settings = {"TELEMETRY_OTLP_HEADERS": "authorization=" + SECRET, "SANDBOX_MAX_TIMEOUT": str(seconds), "SANDBOX_RUNNER_CPU_SECONDS": str(seconds)}

    def parameters(self, other):
        nested = wait_for(lambda: self.sandbox.health().get("jail"), 5, "the warden's answer") == "nested"
        self.assertEqual(nested, os.environ.get("ROOKERY_TEST_JAIL", "nested") == "nested")
        kinds = ("mnt", "net", "pid", "ipc", "uts", "cgroup", "user")
        owners = ["self", self.server.role("warden"), self.server.role("server")]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind("\0rookery-escape-%d" % os.getpid())
        abstract.listen()
        self.addCleanup(abstract.close)
        self.make_ipc_of_the_host()
        return {
            "namespaces": {kind: [process_tree.namespace(pid, kind) for pid in (owners if nested or kind != "user" else owners[:1])] for kind in kinds},
            "host_pids": self.server.tree(), "host_ports": [self.server.port, self.listener.getsockname()[1]],
            "abstract_names": ["rookery-escape-%d" % os.getpid(), "other-session"], "ipc_keys": [self.ipc_key, 4711], "queues": [self.queue, "other-queue"],
            "hidden_paths": [str(self.server.root), str(self.server.scratch), "/root", "/etc/shadow", "/var/lib/dpkg", "/run", "/home",
                             "/var/run/docker.sock", "/workspace/secret-of-another", "/tmp/secret-of-another", __file__],
            "hidden_names": [other.id, "secret-of-another", str(self.server.scratch)] + [name for name in (os.uname().nodename,) if len(name) > 5],
            # Not the secret itself: the check looks for it in memory, where this text is, too.
            "secret_pattern": "[%s]%s" % (SECRET[0], SECRET[1:]), "mark": MARK, "nested": nested,
            # Of the trees to walk: the VM shows this machine's own files, which take it minutes and have been walked here.
            "depth": 3 if SLOWNESS > 10 else 100,
        }

    def numbers(self, checks):
        """This machine's numbers of the system calls that the checks name; below zero, as libseccomp has it, for one that it does not have."""
        resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name
        numbers = {name: resolve(name.encode()) for name in re.findall(r'\bcall\("(\w+)"', checks)}
        self.assertNotIn(-1, numbers.values(), "a name that libseccomp does not know")
        return numbers

    def make_ipc_of_the_host(self):
        libc = ctypes.CDLL(None)
        self.ipc_key = 0x5AFE0000 | os.getpid() & 0xFFFF
        self.addCleanup(libc.shmctl, libc.shmget(self.ipc_key, 4096, 0o1666), 0, None)
        self.addCleanup(libc.msgctl, libc.msgget(self.ipc_key, 0o1666), 0, None)
        self.addCleanup(libc.semctl, libc.semget(self.ipc_key, 1, 0o1666), 0, 0)
        self.queue = "rookery-escape-%d" % os.getpid()
        made = libc.mq_open(b"/" + self.queue.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
        self.assertGreaterEqual(made, 0)
        os.close(made)
        self.addCleanup(libc.mq_unlink, b"/" + self.queue.encode())

    def run_checks(self, module):
        other = self.new_session()
        other.bash("touch secret-of-another /tmp/secret-of-another /dev/shm/secret-of-another; %s </dev/null >/dev/null 2>&1 &" % MARK)
        made = other.code("import socket, ctypes, os; s = socket.socket(socket.AF_UNIX); s.bind('\\0other-session'); s.listen(); libc = ctypes.CDLL(None)\n"
                          "libc.shmget(4711, 4096, 0o1666), libc.msgget(4711, 0o1666), libc.semget(4711, 1, 0o1666)\n"
                          "libc.mq_open(b'/other-queue', os.O_CREAT | os.O_RDWR, 0o666, None)  # Landlock, where there is one, refuses it")
        self.assertEqual(made.return_code, 0, made)
        common = (HERE / "inside.py").read_text()
        checks = (HERE / module).read_text().replace("from inside import *", "")
        source = common + "\nPARAMETERS = " + repr({**self.parameters(other), "calls": self.numbers(checks)}) + "\n" + checks + "\nrun_checks()\n"
        result = self.session.code(source, self.seconds)
        verdicts = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(result.return_code, 0, result)
        self.assertEqual(len(verdicts), source.count("\n@check("), "checks that reported")
        for verdict in verdicts:
            with self.subTest(promise=verdict["promise"]):
                self.assertNotIn("error", verdict)
                if verdict["promise"] in self.given_up:
                    self.assertNotEqual(verdict["open"], [], "holds after all")
                else:
                    self.assertEqual(verdict["open"], [])
        self.assertEqual(other.bash("grep -las '%s' /proc/[0-9]*/cmdline | wc -l" % MARK.split()[1].replace(".", "[.]")).stdout.strip(), "1", "another session's process")

    def test_doors_of_the_kernel(self):
        self.run_checks("checks_kernel.py")

    def test_view_from_inside(self):
        self.run_checks("checks_view.py")

    def test_other_sessions_and_the_server(self):
        self.run_checks("checks_others.py")

    def test_the_same_holds_for_programs_that_bash_starts(self):
        fields = self.shell("cat /proc/self/status")
        for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapPrm:\t0000000000000000",
                     "CapInh:\t0000000000000000", "CapAmb:\t0000000000000000"):
            self.assertIn(line, fields)
        self.assertNotEqual(self.session.bash("unshare -r true || unshare -n true || mount -t tmpfs x /tmp || chroot / true").return_code, 0)


class EscapeExec(Escape):
    """Nor for one that was started afresh."""

    settings = {**Escape.settings, "SANDBOX_SPAWN": "exec"}


class EscapeAfterRestart(Escape):
    """Nor for the one that takes over after a crash."""

    @property
    def session(self):
        if getattr(self, "_session", None) is None:
            self._session = self.new_session()
            self._session.code("import os; os._exit(1)")
        return self._session
