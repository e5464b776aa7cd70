# SPDX-License-Identifier: Apache-2.0
"""container/rookery.service, and an ordinary user's start with a delegated cgroup, under systemd: made for the guest of machine.py."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import process_tree
from harness import BINARY, SLOWNESS, SOURCE, Sandbox, free_port, wait_for
from ordinary_user import ordinary_user

ROOT = pathlib.Path("/sys/fs/cgroup")
SESSIONS = pathlib.Path("/var/lib/rookery/sessions")


def systemctl(*arguments, check=True):
    done = subprocess.run(["systemctl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120 * SLOWNESS)
    if check and done.returncode != 0:
        log = subprocess.run(["journalctl", "--no-pager", "-n", "20", "-u", "rookery"], capture_output=True, text=True).stdout
        raise AssertionError("systemctl %s: %s\n%s" % (" ".join(arguments), done.stderr, log))
    return done.stdout.strip()


def main_pid():
    return int(systemctl("show", "--property", "MainPID", "--value", "rookery"))


class Service(unittest.TestCase):
    """The unit as it is shipped."""

    @classmethod
    def setUpClass(cls):
        shutil.copy(BINARY, "/usr/local/bin/rookery")
        shutil.copy(SOURCE / "container" / "rookery.service", "/etc/systemd/system")
        cls.port = free_port()
        cls.token = pathlib.Path("/etc/rookery-token")
        cls.token.write_text("first\n")
        cls.token.chmod(0o600)
        pathlib.Path("/etc/default/rookery").write_text("SANDBOX_LISTEN=127.0.0.1:%d\nSANDBOX_AUTH_TOKEN_FILE=%s\nSANDBOX_POOL_SIZE=1\nSANDBOX_PRELOAD=json\n"
                                                        "SANDBOX_RUNNER_MEMORY_MB=200\nSANDBOX_RUNNER_PIDS=40\n" % (cls.port, cls.token))
        systemctl("daemon-reload")

    def setUp(self):
        systemctl("start", "rookery")  # comes back when it is ready
        self.addCleanup(systemctl, "stop", "rookery")

    def ask(self, method, target, token="first", value=None):
        body = None if value is None else json.dumps(value).encode()
        headers = ("Authorization: Bearer " + token, "Content-Type: application/json")
        return Sandbox("http://127.0.0.1:%d" % self.port).request(method, target, body, headers)

    def session(self):
        return self.ask("POST", "/sessions").json()["session_id"]

    def run_code(self, session, code):
        return self.ask("POST", "/sessions/%s/exec" % session, value={"tool": "code_execution", "input": {"code": code}}).json()

    def test_it_is_ready_with_every_strength_and_its_limits_hold(self):
        health = self.ask("GET", "/health").json()
        self.assertEqual((health["jail"], health.get("weaker")), ("nested", None))
        session = self.session()
        self.assertEqual(self.run_code(session, "x = bytearray(1 << 30)")["limit"], "memory")
        self.assertEqual(self.run_code(session, "import socket; socket.socket(); print(6 * 7)")["result_block"]["content"]["stdout"], "42")
        for pid in process_tree.tree(main_pid()):
            if process_tree.in_host_user_namespace(pid):
                self.assertEqual(int(process_tree.status(pid)["CapPrm"], 16), 0, process_tree.title(pid))

    def test_reload_reads_the_token_file_again(self):
        self.token.write_text("second\n")
        self.addCleanup(self.token.write_text, "first\n")
        systemctl("reload", "rookery")
        wait_for(lambda: self.ask("POST", "/sessions", "second").status == 201, 10, "the new token")
        self.assertEqual(self.ask("POST", "/sessions").status, 401)

    def test_stop_leaves_nothing(self):
        self.session()
        tree = [(pid, process_tree.start_time(pid)) for pid in process_tree.tree(main_pid())]
        systemctl("stop", "rookery")
        self.assertEqual(systemctl("show", "--property", "Result", "--value", "rookery"), "success")
        self.assertEqual([pid for pid, when in tree if process_tree.is_alive(pid, when)], [])
        self.assertFalse((ROOT / "system.slice" / "rookery.service").exists())
        self.assertEqual(list(SESSIONS.iterdir()), [])

    def test_a_crash_is_followed_by_a_clean_start(self):
        before, session = main_pid(), self.session()
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: main_pid() not in (0, before) and systemctl("is-active", "rookery", check=False) == "active", 60, "another start")
        self.assertEqual(self.ask("GET", "/sessions/" + session).status, 404)
        self.assertEqual(self.run_code(self.session(), "print(6 * 7)")["result_block"]["content"]["stdout"], "42")

    def test_systemd_accepts_every_line_of_it(self):
        done = subprocess.run(["systemd-analyze", "--man=no", "verify", "/etc/systemd/system/rookery.service"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


@contextlib.contextmanager
def manager_of(user):
    """A user's own manager, as a login starts it. Gives the variables that lead to it."""
    systemctl("start", "user@%d.service" % user.uid)
    try:
        yield ["HOME=%s" % user.home, "PATH=%s" % os.environ["PATH"], "XDG_RUNTIME_DIR=/run/user/%d" % user.uid]
    finally:
        systemctl("stop", "user@%d.service" % user.uid)


class Delegated(unittest.TestCase):
    def test_an_ordinary_user_with_a_manager_of_his_own_has_every_strength(self):
        with ordinary_user(subordinate_ids=True) as user, manager_of(user) as variables:
            port = free_port()
            server = subprocess.Popen(["setpriv", "--reuid=%d" % user.uid, "--regid=%d" % user.gid, "--init-groups", "env", "-i", *variables, "SANDBOX_POOL_SIZE=0",
                                       "SANDBOX_PRELOAD=json", "SANDBOX_RUNNER_MEMORY_MB=200", "systemd-run", "--user", "--scope", "-p", "Delegate=yes", user.place / "rookery",
                                       "serve", "--listen", "127.0.0.1:%d" % port],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                said = []
                while not any("ready on" in line for line in said):
                    said.append(server.stdout.readline())
                    self.assertTrue(said[-1], "".join(said))
                sandbox = Sandbox("http://127.0.0.1:%d" % port)
                self.assertIsNone(sandbox.health().get("weaker"))
                with sandbox.create() as session:
                    self.assertEqual(session.code("x = bytearray(1 << 30)", 100).field("limit"), "memory")
            finally:
                server.terminate()
                server.communicate(timeout=60 * SLOWNESS)
            self.assertEqual(server.returncode, 0)
