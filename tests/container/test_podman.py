# SPDX-License-Identifier: Apache-2.0
"""The recommended way with Podman, started by root and by an ordinary user. Its storage is the test's own."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import container_server
import data_science
import engine
import process_tree
import ways
from harness import SOURCE, Sandbox, free_port, wait_for
from ordinary_user import ordinary_user

# Without CAP_SYS_RESOURCE Podman cannot give more open files and processes than this.
LIMITS = ["--ulimit", "nofile=8192:8192", "--ulimit", "nproc=4096:4096"]
# As Podman says it.
LEAST = [text.replace("systempaths=unconfined", "unmask=ALL") for text in ways.LEAST]


IMAGE = "localhost/" + container_server.IMAGE


def setUpModule():
    if not shutil.which("podman"):
        raise unittest.SkipTest("there is no podman: apt-get install podman")


def storage(test_class):
    """A directory with the image in an archive, both for everybody to read; gone after the class."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="rookery-podman-", dir="/var/tmp"))
    test_class.addClassCleanup(shutil.rmtree, directory, ignore_errors=True)
    directory.chmod(0o755)
    engine.docker("save", "-o", directory / "image.tar", container_server.IMAGE, timeout=400)
    (directory / "image.tar").chmod(0o644)
    return directory


def run(*command, timeout=60):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, cwd="/")


class Podman(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = storage(cls)
        loaded = cls.podman("load", "-i", cls.directory / "image.tar", timeout=400)
        if loaded.returncode != 0:
            raise AssertionError(loaded.stderr)

    @classmethod
    def podman(cls, *arguments, timeout=60):
        return run("podman", "--root", cls.directory / "root", "--runroot", cls.directory / "run", *arguments, timeout=timeout)

    def test_the_recommended_way(self):
        port = free_port()
        started = self.podman("run", "-d", "--rm", "--name", "rookery-test", "--network", "host", "--no-healthcheck", *LIMITS, *LEAST,
                              IMAGE, "serve", "--listen", "127.0.0.1:%d" % port)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.podman, "rm", "-f", "rookery-test")
        sandbox = Sandbox("http://127.0.0.1:%d" % port)
        wait_for(lambda: "ready on" in self.logs(), 60, "the ready line; " + self.logs())
        lines = (SOURCE / "container" / "requirements.in").read_text().splitlines()
        with sandbox.create() as session:
            data_science.check(self, session, "\n".join(line for line in lines if "==" in line))
        self.assertEqual(sandbox.health()["jail"], "nested")
        start = time.monotonic()
        self.podman("stop", "rookery-test")
        self.assertLess(time.monotonic() - start, 3)

    def logs(self):
        done = self.podman("logs", "rookery-test")
        return done.stdout + done.stderr

    def test_a_plain_run_says_what_to_add(self):
        done = self.podman("run", "--rm", "--network", "none", "--no-healthcheck", *LIMITS, IMAGE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unmask=ALL", done.stderr)


class Rootless(unittest.TestCase):
    """An ordinary user's Podman. Here with cgroup v1, which gives users no cgroups."""

    @classmethod
    def setUpClass(cls):
        cls.directory = storage(cls)
        cls.user = cls.enterClassContext(ordinary_user(subordinate_ids=True))
        cls.own = cls.directory / "own"
        (cls.own / "run").mkdir(parents=True)
        shutil.copy(ways.PROFILE, cls.own)
        for path in (cls.own, cls.own / "run", cls.own / ways.PROFILE.name):
            os.chown(path, cls.user.uid, cls.user.gid)
        cls.addClassCleanup(cls.end_podman)
        loaded = cls.podman("load", "-i", cls.directory / "image.tar", timeout=400)
        if loaded.returncode != 0:
            raise AssertionError(loaded.stderr)

    @classmethod
    def podman(cls, *arguments, timeout=60):
        return run("setpriv", "--reuid", cls.user.uid, "--regid", cls.user.gid, "--init-groups", "env", "-i", "PATH=" + os.environ["PATH"],
                   "HOME=%s" % cls.user.home, "XDG_RUNTIME_DIR=%s" % (cls.own / "run"), "podman", "--root", cls.own / "root", "--runroot", cls.own / "run/podman",
                   "--cgroup-manager", "cgroupfs", "--events-backend", "file", *arguments, timeout=timeout)

    @classmethod
    def end_podman(cls):
        cls.podman("unshare", "rm", "-rf", cls.own / "root", timeout=400)
        # One process of this user is left, which keeps his user namespace.
        for name in filter(str.isdigit, os.listdir("/proc")):
            if process_tree.status(name).get("Uid", "").split("\t")[0] == str(cls.user.uid):
                os.kill(int(name), signal.SIGKILL)
                wait_for(lambda: not process_tree.is_alive(name), 10, "the end of Podman's own process")

    def arguments(self):
        return ["--network", "host", "--no-healthcheck", "--ulimit", "nofile=4096:4096",
                *[text.replace(str(ways.PROFILE), str(self.own / ways.PROFILE.name)) for text in LEAST]]

    def test_without_cgroups_when_that_is_allowed(self):
        port = free_port()
        started = self.podman("run", "-d", "--rm", "--name", "rookery-test", *self.arguments(), "-e", "SANDBOX_ALLOW_WEAKER=no-cgroup", IMAGE,
                              "serve", "--listen", "127.0.0.1:%d" % port)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.podman, "rm", "-f", "rookery-test")
        wait_for(lambda: "ready on" in self.podman("logs", "rookery-test").stdout, 60, "the ready line")
        sandbox = Sandbox("http://127.0.0.1:%d" % port)
        self.assertEqual((sandbox.health()["jail"], sandbox.health()["weaker"]), ("nested", "no-cgroup"))
        lines = (SOURCE / "container" / "requirements.in").read_text().splitlines()
        with sandbox.create() as session:
            data_science.check(self, session, "\n".join(line for line in lines if "==" in line))

    def test_else_it_says_what_is_needed(self):
        done = self.podman("run", "--rm", *self.arguments(), IMAGE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("a delegated cgroup v2", done.stderr)
        self.assertIn("SANDBOX_ALLOW_WEAKER=no-cgroup", done.stderr)
