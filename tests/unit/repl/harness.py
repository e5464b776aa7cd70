# SPDX-License-Identifier: Apache-2.0
"""Starts the driver outside any jail and speaks the server's side of its channel (src/wire/message.h).

Environment of the tests:
  ROOKERY_REPL_DIR     the built directory with driver.py and the extension; build/src/repl by default
  ROOKERY_TEST_PYTHON  the interpreter under test; the one that runs the tests by default
"""
import collections
import fcntl
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
REPL_DIR = os.path.abspath(os.environ.get("ROOKERY_REPL_DIR") or os.path.join(ROOT, "build", "src", "repl"))
PYTHON = os.environ.get("ROOKERY_TEST_PYTHON") or sys.executable
VERSION = tuple(map(int, subprocess.run(
    [PYTHON, "-I", "-c", "import sys; print(*sys.version_info[:2])"],
    stdout=subprocess.PIPE, check=True).stdout.split()))

MAGIC = 0x524b5731
HEADER = struct.Struct("=IHHQII")
RUN_CODE, REPL_READY, CODE_FINISHED = 64, 80, 81
MAX_PAYLOAD = 32 * 1024

Result = collections.namedtuple("Result", "code errno out err seconds")


class DriverEnded(Exception):
    def __init__(self, status, out, err):
        super().__init__(f"the driver ended with {status}; stdout {out[-500:]!r}; stderr {err[-2000:]!r}")
        self.status, self.out, self.err = status, out, err


class Driver:
    arguments = ["-I", "-B", os.path.join(REPL_DIR, "driver.py")]

    def __init__(self, **environment):
        self.workspace = tempfile.mkdtemp(prefix="rookery-repl-test-")
        self.temp = tempfile.mkdtemp(prefix="rookery-repl-tmp-")
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out, out_write = os.pipe()
        err, err_write = os.pipe()
        self.pipes = {1: out, 2: err}
        for fd in self.pipes.values():
            os.set_blocking(fd, False)
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)
        null = os.open("/dev/null", os.O_RDWR)
        variables = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": self.workspace,
            "TMPDIR": self.temp, "ROOKERY_WORKSPACE": self.workspace, **environment}
        # Above everything that is moved down to 0-3, so that no step overwrites another's source.
        sources = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (null, out_write, err_write, theirs.fileno())]
        self.started = time.perf_counter()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for number, fd in enumerate(sources):
                    os.dup2(fd, number)
                os.closerange(4, 4096)
                os.chdir(self.workspace)
                os.execve(PYTHON, [PYTHON, *self.arguments], variables)
            finally:
                os._exit(127)
        for fd in sources + [null, out_write, err_write]:
            os.close(fd)
        theirs.close()
        self.nonce = 0
        self.status = None
        try:
            reply, text = self.receive(20)
        except EOFError:
            captured = {1: b"", 2: b""}
            self._drain(captured)
            raise DriverEnded(self.wait(), captured[1], captured[2]) from None
        assert reply[:2] == (MAGIC, REPL_READY), (reply, text)
        self.start_seconds = time.perf_counter() - self.started

    def run(self, source, timeout=20, interrupt_after=None):
        """Runs a cell. interrupt_after: seconds, or a list of them, after which SIGINT is sent."""
        self.send(source)
        return self.result(timeout, interrupt_after)

    def send(self, source, cpu=None):
        """cpu: the processor that the server waits on."""
        self.nonce += 0x1_0000_0001
        data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        if len(data) <= MAX_PAYLOAD:
            self.send_packet(RUN_CODE, data, cpu=cpu)
        else:
            self.send_packet(RUN_CODE, b"", [memory_file(data)])

    def send_packet(self, kind, payload, descriptors=(), magic=MAGIC, length=None, nonce=None, cpu=None):
        header = HEADER.pack(magic, kind, 0 if cpu is None else cpu + 1, self.nonce if nonce is None else nonce,
                             len(payload) if length is None else length, 0)
        socket.send_fds(self.channel, [header + payload], list(descriptors))
        for fd in descriptors:
            os.close(fd)

    def result(self, timeout=20, interrupt_after=None):
        start = time.perf_counter()
        interrupts = [start + delay for delay in _list(interrupt_after)]
        captured = {1: b"", 2: b""}
        reply = None
        while reply is None:
            now = time.perf_counter()
            if now > start + timeout:
                raise TimeoutError(f"no answer; stdout {captured[1][-500:]!r}; stderr {captured[2][-2000:]!r}")
            if interrupts and now >= interrupts[0]:
                interrupts.pop(0)
                self.interrupt()
            wait = (min([start + timeout] + interrupts) - now) if interrupts else start + timeout - now
            ready, _, _ = select.select([self.channel, *self.pipes.values()], [], [], max(wait, 0))
            self._drain(captured)
            if self.channel in ready:
                try:
                    reply, payload = self.receive(0)
                except EOFError:
                    self._drain(captured)
                    raise DriverEnded(self.wait(), captured[1], captured[2]) from None
        self._drain(captured)
        assert reply[:2] == (MAGIC, CODE_FINISHED) and reply[3] == self.nonce, (reply, self.nonce)
        code, error = struct.unpack("=iI", payload)
        return Result(code, error, captured[1].decode("utf-8", "replace"), captured[2].decode("utf-8", "replace"),
                      time.perf_counter() - start)

    def receive(self, timeout):
        if not select.select([self.channel], [], [], timeout)[0]:
            raise TimeoutError("nothing on the channel")
        try:
            packet = self.channel.recv(HEADER.size + MAX_PAYLOAD)
        except ConnectionResetError:
            packet = b""
        if not packet:
            raise EOFError
        return HEADER.unpack_from(packet), packet[HEADER.size:]

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def wait(self):
        """The exit code, negative for a signal."""
        if self.status is None:
            status = os.waitpid(self.pid, 0)[1]
            self.status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        self.channel.close()
        for fd in self.pipes.values():
            os.close(fd)
        shutil.rmtree(self.workspace, ignore_errors=True)
        shutil.rmtree(self.temp, ignore_errors=True)

    def _drain(self, captured):
        for number, fd in self.pipes.items():
            while True:
                try:
                    data = os.read(fd, 1 << 20)
                except BlockingIOError:
                    break
                if not data:
                    break
                captured[number] += data


def memory_file(data):
    fd = os.memfd_create("cell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    fcntl.fcntl(fd, 1033, 0x1 | 0x2 | 0x4 | 0x8)  # F_ADD_SEALS: seal, shrink, grow, write
    return fd


def _list(value):
    return [] if value is None else sorted(value) if isinstance(value, list) else [value]


class DriverTest(unittest.TestCase):
    """A fresh driver for each test."""
    maxDiff = None
    environment = {}

    def setUp(self):
        self.driver = Driver(**self.environment)
        self.addCleanup(self.driver.close)

    def run_cell(self, source, **options):
        return self.driver.run(source, **options)

    def ok(self, source, out="", err="", **options):
        """The cell succeeds with exactly this output."""
        result = self.run_cell(source, **options)
        self.assertEqual((result.code, result.out, result.err), (0, out, err))
        return result

    def fails(self, source, *expected, code=1, **options):
        """The cell ends with the return code, and stderr contains the texts."""
        result = self.run_cell(source, **options)
        self.assertEqual(result.code, code, result)
        for text in expected:
            self.assertIn(text, result.err)
        self.assertNotIn(REPL_DIR, result.err)
        return result

    def works(self):
        """The next call behaves as if nothing had happened."""
        self.ok("print('plain', 1+1)", "plain 2\n")
