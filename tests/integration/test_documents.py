# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import BINARY, SOURCE, Server, plain_environment, running, wait_for

MADE = BINARY.resolve().parent / "src" / "cli"


class Documents(unittest.TestCase):
    """What is made from the table of settings is well-formed, and does what it is for."""

    def silent(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_manual_page_has_no_warning(self):
        self.silent("groff", "-man", "-Tutf8", "-ww", "-z", MADE / "rookery.1")
        self.silent("mandoc", "-Tlint", "-Wwarning", MADE / "rookery.1")

    def test_manual_page_can_be_read(self):
        text = subprocess.run(["mandoc", "-Tascii", MADE / "rookery.1"], capture_output=True, text=True, check=True).stdout
        text = text.replace("_\b", "")
        plain = "".join(c for i, c in enumerate(text) if c != "\b" and (i + 1 == len(text) or text[i + 1] != "\b"))
        for words in ("rookery run", "--max-sessions N, SANDBOX_MAX_SESSIONS", "a whole number from 1 to 10000", "EXIT STATUS", "SIGHUP"):
            self.assertIn(words, plain)

    def completions(self, *words):
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rookery; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-u", "-c", script, MADE / "rookery.bash", *words], capture_output=True, text=True, cwd=SOURCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_completion(self):
        self.assertEqual(self.completions("rookery", "s"), ["serve"])
        self.assertEqual(set(self.completions("rookery", "")), {"serve", "check", "run", "config", "policy", "version", "--help"})
        self.assertEqual(self.completions("rookery", "serve", "--max-s"), ["--max-sessions"])
        self.assertEqual(self.completions("rookery", "serve", "--log-format", ""), ["text", "json"])
        self.assertEqual(self.completions("rookery", "run", "--tool", "b"), ["bash"])
        self.assertIn("README.md", self.completions("rookery", "run", "READ"))
        self.assertIn("README.md", self.completions("rookery", "serve", "--config", "READ"))
        self.assertEqual(self.completions("rookery", "policy", "--max"), [])
        self.assertNotIn("token-file", "".join(self.completions("rookery", "serve", "--auth-token=")))


class Service(unittest.TestCase):
    """The unit is one that systemd takes, and the supervisor says what Type=notify wants to hear."""

    def test_unit_is_valid(self):
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            unit = pathlib.Path(place) / "rookery.service"
            text = (SOURCE / "container" / "rookery.service").read_text()
            self.assertIn("ExecStart=/usr/local/bin/rookery serve\n", text)
            unit.write_text(text.replace("/usr/local/bin/rookery", str(BINARY.resolve())))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    @unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
    def test_ready_and_stopping_are_told(self):
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            for name in (place + "/notify", "@rookery-test-%d" % os.getpid()):
                with self.subTest(name=name), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                    manager.bind(name.replace("@", "\0", 1))
                    manager.settimeout(60)
                    server = Server({"NOTIFY_SOCKET": name})
                    self.addCleanup(server.clean_up)
                    self.assertEqual(manager.recv(100), b"READY=1")
                    server.wait_until_ready()
                    for pid in server.tree()[1:]:
                        self.assertNotIn(b"NOTIFY_SOCKET", pathlib.Path("/proc/%d/environ" % pid).read_bytes())
                    self.assertEqual(server.stop(), 0)
                    self.assertEqual(manager.recv(100), b"STOPPING=1")

    @unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
    def test_a_socket_that_is_none(self):
        for name in ("relative", "/nonexistent/notify"):
            done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0"], env=plain_environment({"NOTIFY_SOCKET": name}),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(name, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
    def test_signals_that_a_reload_sends_end_nothing(self):
        with running() as server:
            server.process.send_signal(signal.SIGHUP)
            wait_for(lambda: server.sandbox.health()["status"] == "ok", 10, "health after SIGHUP")
