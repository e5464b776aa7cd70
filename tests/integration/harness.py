# SPDX-License-Identifier: Apache-2.0
"""Starts a real `rookery serve` for the tests, and checks at the end that it stopped well and left nothing."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools" / "lib"))

import process_tree  # noqa: E402
from sandboxclient import Connection, Sandbox  # noqa: E402

try:
    import openapi_check
except ImportError:
    openapi_check = None  # outside the tests' environment; tools/test then counts that as skipped

BINARY = pathlib.Path(os.environ.get("ROOKERY_BINARY", SOURCE / "build" / "rookery"))
START_SECONDS = 60
STOP_SECONDS = 20
# How much longer than on a plain build everything may take; tools/test sets it for sanitizers.
SLOWNESS = float(os.environ.get("ROOKERY_TEST_SLOWNESS", "1"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, seconds, what):
    """Polls until `condition()` is true and gives its value. Throws AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds * SLOWNESS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("not within %s s: %s" % (seconds, what))
        time.sleep(0.02)


def plain_environment(settings):
    kept = {k: v for k, v in os.environ.items()
            if k in ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
    return {**kept, "SANDBOX_SPAWN": os.environ.get("ROOKERY_TEST_SPAWN", ""), **settings}


class DocumentedResponses:
    """Fails the request whose response is not as src/contract/openapi.json says, and keeps count for those of threads."""

    def __init__(self):
        self.problems = []

    def __call__(self, method, target, response):
        try:
            openapi_check.rookery().check(method, target, response)
        except AssertionError as error:
            self.problems.append("%s %s answered %r: %s" % (method, target[:200], response, error))
            raise AssertionError(self.problems[-1]) from error


Connection.observer = DocumentedResponses() if openapi_check else None


class Server:
    """One `rookery serve` with a sessions root of its own, on a free loopback port if not told otherwise.

    `enter`: a command that executes what follows it, elsewhere (nsenter)."""

    def __init__(self, settings=None, root=None, binary=BINARY, arguments=(), host="127.0.0.1", port=None, enter=()):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="rookery-test-"))
        self.scratch.chmod(0o755)  # the warden's own uid has to come through
        self.root = pathlib.Path(root or self.scratch / "sessions")
        self.host, self.port = host, port or free_port()
        self.log_path = self.scratch / "log"
        environment = plain_environment({"SANDBOX_SESSIONS_ROOT": str(self.root), **(settings or {})})
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*enter, binary, "serve", "--listen", "%s:%d" % (self.host, self.port), *arguments], env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.pid = self.process.pid
        self.sandbox = Sandbox("http://%s:%d" % (self.host, self.port))

    def log(self):
        return self.log_path.read_text(errors="replace")

    def notable_log(self):
        """The end of the log without the line of every request."""
        lines = [line for line in self.log().splitlines() if not re.search(r" (?:INFO|DEBUG) ", line)]
        return "\n".join(lines[-30:])

    def wait_until_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError("rookery ended with %d:\n%s" % (self.process.returncode, self.log()))
            return "rookery ready on " in self.log()

        try:
            wait_for(ready, START_SECONDS, "ready line of rookery; its log:\n" + self.log())
        except AssertionError:
            self.kill()
            raise
        self.cgroups = process_tree.rookery_cgroups(self.role("warden") or self.pid)
        return self

    def tree(self):
        return process_tree.tree(self.pid)

    def role(self, name):
        """The pid of the process with this title, or None."""
        return next((pid for pid in self.tree() if process_tree.title(pid) == "rookery: " + name), None)

    def identities(self):
        return [(pid, process_tree.start_time(pid)) for pid in self.tree()]

    def stop(self):
        """SIGTERM. Gives the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS * SLOWNESS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("did not stop within %d s of SIGTERM:\n%s" % (STOP_SECONDS, self.notable_log()))

    def kill(self):
        """Ends every process of the tree at once; for the end of a failed test."""
        for pid, _ in self.identities():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def remains(self, identities):
        """What is still there of a server that ended: a list of texts."""
        found = ["process %d %s" % (pid, process_tree.title(pid))
                 for pid, started in identities if process_tree.is_alive(pid, started)]
        found += ["cgroup %s" % path for path in getattr(self, "cgroups", ()) if path.exists()]
        found += ["mount " + line for line in process_tree.mounts("self") if str(self.root) in line]
        if self.root.is_dir():
            found += ["directory %s" % path for path in self.root.iterdir() if path.is_dir()]
        return found

    def clean_up(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.scratch, ignore_errors=True)


def new_server(settings, **options):
    """On this machine, or in a container where tests/container says which way."""
    if "ROOKERY_TEST_WAY" not in os.environ:
        return Server(settings, **options)
    sys.path.insert(0, str(SOURCE / "tests" / "container"))
    from container_server import ContainerServer

    return ContainerServer(settings, **options)


@contextlib.contextmanager
def running(settings=None, **options):
    """A server that is ready; at the end it must stop with status 0 and leave nothing."""
    server = new_server(settings, **options)
    try:
        server.wait_until_ready()
        yield server
        known = server.identities()
        status = server.stop()
        assert status == 0, "exit status %d\n%s" % (status, server.notable_log())
        remains = server.remains(known)
        assert not remains, "left behind: %s" % remains
        if Connection.observer:
            problems, Connection.observer.problems = Connection.observer.problems, []
            assert not problems, problems
    finally:
        server.clean_up()


class ServerTestCase(unittest.TestCase):
    """One server for all tests of a class, configured by `settings`; `self.session` is fresh in every test."""

    settings: dict = {}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("rookery serve needs to be started as root")
        cls.context = running(cls.settings)
        cls.server = cls.context.__enter__()
        cls.sandbox = cls.server.sandbox

    @classmethod
    def tearDownClass(cls):
        cls.context.__exit__(None, None, None)

    def new_session(self, **hints):
        session = self.sandbox.create(**hints)
        self.addCleanup(session.delete)
        return session

    @property
    def session(self):
        if getattr(self, "_session", None) is None:
            self._session = self.new_session()
        return self._session

    def prints(self, source, stdout, session=None, **options):
        """Runs `source`, which must succeed, be silent on stderr and print exactly this."""
        result = (session or self.session).code(source, **options)
        self.assertEqual((result.status, result.stderr, result.return_code), (200, "", 0), result)
        self.assertEqual(result.stdout, stdout)
        return result

    def shell(self, command, session=None, **options):
        """Runs `command`, which must succeed. Gives its output."""
        result = (session or self.session).bash(command, **options)
        self.assertEqual((result.status, result.return_code), (200, 0), result)
        return result.stdout

    def assert_alive(self, session=None):
        self.prints("print('alive', 1 + 1)", "alive 2", session)
