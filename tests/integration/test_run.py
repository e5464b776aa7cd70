# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BINARY, SLOWNESS, plain_environment, wait_for


@unittest.skipUnless(os.geteuid() == 0, "rookery run needs to be started as root")
class Run(unittest.TestCase):
    """`rookery run`: one program in one jail, without a server."""

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="rookery-test-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.left_before = self.left()

    def tearDown(self):
        self.assertEqual(self.left(), self.left_before, "left behind in /tmp")

    @staticmethod
    def left():
        return sorted(path.name for path in pathlib.Path("/tmp").glob("rookery-run-*"))

    def run_it(self, *arguments, given=None, settings=None):
        return subprocess.run([BINARY, "run", *map(str, arguments)], env=plain_environment(settings or {}), input=given, cwd=self.place,
                              stdin=subprocess.DEVNULL if given is None else None, capture_output=True, text=True, timeout=60 * SLOWNESS)

    def outcome(self, *arguments, **options):
        done = self.run_it(*arguments, **options)
        return done.returncode, done.stdout, done.stderr

    def test_python_as_text_as_a_file_and_from_stdin(self):
        self.assertEqual(self.outcome("-c", "print(6 * 7)"), (0, "42\n", ""))
        (self.place / "program.py").write_text("import sys\nprint('out'); print('err', file=sys.stderr)\n")
        self.assertEqual(self.outcome("program.py"), (0, "out\n", "err\n"))
        self.assertEqual(self.outcome("-", given="print('piped')"), (0, "piped\n", ""))

    def test_bash(self):
        self.assertEqual(self.outcome("--tool", "bash", "-c", "echo $((6 * 7)); exit 3"), (3, "42\n", ""))

    def test_it_ends_with_the_status_of_the_program(self):
        self.assertEqual(self.outcome("-c", "import sys; sys.exit(7)")[0], 7)
        status, _, err = self.outcome("-c", "1 / 0")
        self.assertEqual(status, 1)
        self.assertIn("ZeroDivisionError", err)
        self.assertEqual(self.outcome("--tool=bash", "-c", "kill -USR1 $$")[0], 128 + signal.SIGUSR1)

    def test_files_go_in_and_come_out(self):
        (self.place / "in").mkdir()
        (self.place / "in" / "numbers.txt").write_text("3\n1\n2\n")
        (self.place / "other.txt").write_text("other")
        out = self.place / "results" / "new"
        command = "sort numbers.txt > sorted.txt; mkdir -p deep/er; cat other.txt > deep/er/copy; ln -s /etc/passwd link; mkfifo pipe; echo no > .hidden"
        self.assertEqual(self.outcome("--tool=bash", "--file", "in/numbers.txt", "--file", "other.txt", "--out", out, "-c", command), (0, "", ""))
        found = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if not path.is_dir()}
        self.assertEqual(found, {"sorted.txt": "1\n2\n3\n", "deep/er/copy": "other"})

    def test_output_that_is_larger_than_a_pipe_and_files_that_are_large(self):
        out = self.place / "out"
        done = self.run_it("--out", out, "-c", "import sys\nsys.stdout.write('x' * 3_000_000)\nopen('big', 'wb').write(b'y' * 20_000_000)")
        self.assertEqual((done.returncode, len(done.stdout), done.stderr), (0, 3_000_000, ""))
        self.assertEqual((out / "big").stat().st_size, 20_000_000)

    def test_output_comes_as_it_is_printed(self):
        with subprocess.Popen([BINARY, "run", "--tool=bash", "-c", "echo first; sleep 3; echo second"], env=plain_environment({}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "first\n")
            early = time.monotonic()
            self.assertEqual(process.stdout.readline(), "second\n")
            self.assertGreater(time.monotonic() - early, 1.5)
        self.assertEqual(process.returncode, 0)

    def test_time_and_limits(self):
        status, out, err = self.outcome("--timeout", "1", "-c", "print('so far', flush=True)\nwhile True: pass")
        self.assertEqual((status, out), (124, "so far\n"))
        self.assertIn("timed out after 1s", err)
        status, _, err = self.outcome("--runner-memory-mb", "64", "-c", "x = bytearray(1 << 30)")
        self.assertIn(status, (1, 137))
        self.assertIn("sandbox limit", err)

    def test_the_jail_is_the_servers(self):
        program = ("import os, socket\nprint(os.getuid(), os.getcwd(), sorted(os.listdir('/workspace')))\n"
                   "try: socket.create_connection(('1.1.1.1', 53), 2)\nexcept OSError as error: print(type(error).__name__)\n"
                   "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapEff', 'Seccomp:', 'NoNewPrivs'))])\n"
                   "print(len([name for name in os.listdir('/proc') if name.isdigit()]) < 5)\n")
        status, out, err = self.outcome("-c", program)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines(), ["1000 /workspace []", "OSError", "['0000000000000000', '1', '2']", "True"])

    def test_in_an_image(self):
        """The machine's own root as one, which shows more of it than the default image does."""
        look = ("-c", "import os; print(os.path.exists('/var/lib'))")
        for arguments, seen in (((), "False"), (("--image", "default"), "False"), (("--image", "whole"), "True")):
            self.assertEqual(self.outcome(*arguments, *look, settings={"SANDBOX_IMAGES": "whole=/"}), (0, seen + "\n", ""))

    def test_beside_a_zygote(self):
        self.assertEqual(self.outcome("--spawn", "fork", "-c", "print('forked')"), (0, "forked\n", ""))

    def test_interrupt(self):
        with subprocess.Popen([BINARY, "run", "-c", "print('on', flush=True)\nimport time\ntime.sleep(100)"], env=plain_environment({}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "on\n")
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60 * SLOWNESS)
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - started, 10 * SLOWNESS)

    def test_nobody_reads_any_more(self):
        process = subprocess.Popen([BINARY, "run", "--timeout", "100", "-c", "while True: print('x' * 1000)"], env=plain_environment({}),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.read(1000)
        process.stdout.close()
        wait_for(lambda: process.poll() is not None, 30, "the end of rookery run after its reader went away")

    def test_what_cannot_be_run_is_status_125(self):
        for arguments, words in ((["missing.py"], "missing.py"), ([], "one program"), (["-c", "1", "--file", "missing"], "missing"),
                                 (["-c", "1", "--file", "/dev/null"], "no regular file"), (["-c", "1", "--tool", "perl"], "python, bash"),
                                 (["-c", "1", "--max-sessions", "x"], "--max-sessions"), (["-c", "1", "--python", "/nonexistent"], "SANDBOX_PYTHON"),
                                 (["-c", "1", "--out", "/dev/null/x"], "--out"), (["-c", "1", "--image", "other"], "SANDBOX_IMAGES")):
            with self.subTest(arguments=arguments):
                status, out, err = self.outcome(*arguments)
                self.assertEqual((status, out), (125, ""))
                self.assertIn(words, err)
