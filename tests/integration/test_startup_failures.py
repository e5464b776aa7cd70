# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import resource
import socket
import subprocess
import tempfile
import unittest

from harness import BINARY, free_port, plain_environment, running


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class StartUpFailures(unittest.TestCase):
    """What cannot work is refused at start, with a sentence that says what and what to do."""

    def serve(self, settings=None, arguments=None, **options):
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            os.chmod(place, 0o755)
            environment = plain_environment({"SANDBOX_SESSIONS_ROOT": place + "/sessions", **(settings or {})})
            arguments = ["--listen", "127.0.0.1:%d" % free_port()] if arguments is None else arguments
            return subprocess.run([BINARY, "serve", *arguments], env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=30, **options)

    def refused(self, words, settings=None, arguments=None, status=None, **options):
        done = self.serve(settings, arguments, **options)
        self.assertIn(done.returncode, (1, 2) if status is None else (status,), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 20)

    def test_values_that_are_no_numbers_or_out_of_range(self):
        for name in ("SANDBOX_SESSION_IDLE_TIMEOUT", "SANDBOX_SESSION_MAX_LIFETIME", "SANDBOX_RUNNER_MEMORY_MB", "SANDBOX_MAX_SESSIONS",
                     "SANDBOX_RUNNER_NOFILE", "SANDBOX_RUNNER_MAX_OUTPUT_BYTES", "SANDBOX_SESSION_GC_INTERVAL", "SANDBOX_MAX_THREADS"):
            for value in ("many", "-1", "1.5", "99999999999999999999", "0x10", " 5", "0"):
                with self.subTest(name=name, value=value):
                    self.refused([name, value], {name: value}, status=2)

    def test_choices_name_what_is_allowed(self):
        self.refused(["SANDBOX_SPAWN", "exec", "fork"], {"SANDBOX_SPAWN": "magic"}, status=2)
        self.refused(["SANDBOX_WORKSPACE", "tmpfs", "dir"], {"SANDBOX_WORKSPACE": "nfs"}, status=2)
        self.refused(["LOG_LEVEL", "INFO"], {"LOG_LEVEL": "CHATTY"}, status=2)

    def test_empty_values_mean_the_default(self):
        with running({"SANDBOX_MAX_SESSIONS": "", "LOG_LEVEL": ""}) as server:
            self.assertEqual(server.sandbox.health()["max_sessions"], 256)

    def test_relative_root_is_refused(self):
        self.refused(["SANDBOX_SESSIONS_ROOT", "absolute"], {"SANDBOX_SESSIONS_ROOT": "sessions"}, status=2)

    def test_root_that_is_a_file(self):
        with tempfile.NamedTemporaryFile() as file:
            self.refused([file.name], {"SANDBOX_SESSIONS_ROOT": file.name}, status=1)

    def test_root_that_cannot_be_made(self):
        self.refused(["/proc/none"], {"SANDBOX_SESSIONS_ROOT": "/proc/none/sessions"}, status=1)

    def test_address_in_use(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            self.refused(["%d" % holder.getsockname()[1], "in use"], arguments=["--listen", "127.0.0.1:%d" % holder.getsockname()[1]], status=1)

    def test_addresses_that_are_none(self):
        for address in ("nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0x50", "127.0.0.1:70000", "256.0.0.1:80", ":", ""):
            with self.subTest(address=address):
                self.refused(["listen"], arguments=["--listen", address])

    def test_unknown_arguments_show_the_usage(self):
        self.refused(["--port", "--listen"], arguments=["--port", "80"], status=2)
        self.refused(["--listen"], arguments=["--listen"], status=2)

    def test_two_servers_cannot_share_a_sessions_root(self):
        with running() as server:
            self.refused([str(server.root)], {"SANDBOX_SESSIONS_ROOT": str(server.root)}, status=1)
            self.assertEqual(server.sandbox.health()["status"], "ok")

    def test_python_that_is_not_there(self):
        self.refused(["SANDBOX_PYTHON"], {"SANDBOX_PYTHON": "/nonexistent/python3"}, status=1)

    def test_closed_standard_descriptors_are_no_accident(self):
        done = subprocess.run(["sh", "-c", "exec %s version <&- 2>&-" % BINARY], stdout=subprocess.PIPE, text=True, timeout=10)
        self.assertEqual(done.returncode, 0)

    def test_check_prints_a_table_and_agrees_with_serve(self):
        done = subprocess.run([BINARY, "check"], capture_output=True, text=True, timeout=30, env=plain_environment({}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = done.stdout.lower()
        for word in ("user namespace", "cgroup", "seccomp", "landlock", "openat2", "python", "mount"):
            self.assertIn(word, text)

    def test_an_ordinary_user_without_anything_is_told_why(self):
        binary = pathlib.Path(BINARY).resolve()
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary, "serve", "--listen", "127.0.0.1:%d" % free_port()],
                              env=plain_environment({"SANDBOX_SESSIONS_ROOT": "/tmp/rookery-test-nobody"}), capture_output=True, text=True, timeout=30)
        if "Permission denied" in done.stderr and done.returncode == 127:
            self.skipTest("an ordinary user cannot reach %s" % binary)
        self.assertIn(done.returncode, (1, 2))
        self.assertTrue(done.stderr.startswith("rookery: "), done.stderr)


def allow_few(limit, most):
    return lambda: resource.setrlimit(limit, (most, most))


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class Inherited(unittest.TestCase):
    """What the server has from whoever started it: nothing of it reaches a session."""

    STATE = ("import subprocess\nprint(subprocess.run(['sh', '-c', 'umask; grep -E \"Sig(Blk|Ign)\" /proc/self/status'], capture_output=True, text=True).stdout.split())")
    USUAL = str(["0022", "SigBlk:", "0" * 16, "SigIgn:", "0" * 16])

    def works(self, shell):
        """`shell`: what goes before the program in a shell script."""
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            program = pathlib.Path(place) / "start"
            program.write_text('#!/bin/bash\n%s\nexec %s "$@"\n' % (shell, BINARY))
            program.chmod(0o755)
            for spawn in ("fork", "exec"):
                with running({"SANDBOX_SPAWN": spawn, "SANDBOX_POOL_SIZE": "0", "SANDBOX_PRELOAD": "json"}, binary=program) as server:
                    with server.sandbox.create() as session:
                        self.assertEqual(session.code(self.STATE).stdout, self.USUAL)
                        self.assertEqual(session.bash("umask; touch f").stdout, "0022\n")

    def test_umask(self):
        for value in ("077", "0", "777"):
            self.works("umask " + value)

    def test_ignored_signals(self):
        self.works("trap '' HUP INT QUIT TERM PIPE USR1 USR2 CHLD ALRM TSTP TTIN TTOU")

    def test_a_working_directory_that_is_gone(self):
        self.works("place=$(mktemp -d /tmp/rookery-test-gone.XXXXXX); cd $place; rmdir $place")

    def test_limits_that_are_too_low_are_named(self):
        for limit, most, name in ((resource.RLIMIT_NOFILE, 256, "RLIMIT_NOFILE"), (resource.RLIMIT_FSIZE, 4096, "RLIMIT_FSIZE"),
                                  (resource.RLIMIT_STACK, 1 << 20, "RLIMIT_STACK"), (resource.RLIMIT_NPROC, 200, "RLIMIT_NPROC")):
            with tempfile.TemporaryDirectory(prefix="rookery-test-") as root:
                done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:%d" % free_port()], preexec_fn=allow_few(limit, most),
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                      env=plain_environment({"SANDBOX_SESSIONS_ROOT": root}))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(name, done.stderr)
            self.assertIn("raise", done.stderr)
