# SPDX-License-Identifier: Apache-2.0
"""The image in a container, with the interface of harness.Server, so that tests of a server run against it as they are."""

import itertools
import os
import pathlib
import subprocess
import tempfile

import engine
import process_tree
import ways
from harness import SLOWNESS, STOP_SECONDS, Sandbox, Server, free_port

IMAGE = os.environ.get("ROOKERY_TEST_IMAGE", "rookery:test")
counter = itertools.count()


def can_be_privileged():
    """Whether the engine can grant every capability."""
    return engine.docker("run", "--rm", "--privileged", "--entrypoint", "true", IMAGE, check=False)[0] == 0


def arguments_of(way):
    if way == "privileged" and not can_be_privileged():
        return ways.NEARLY_PRIVILEGED
    return ways.WAYS[way]


class ContainerServer(Server):
    def __init__(self, settings=None, way=None, more=()):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="rookery-test-"))
        self.root = self.scratch / "sessions"  # the container's is not among the host's files
        self.log_path = self.scratch / "log"
        self.port = free_port()
        self.name = "rookery-test-%d-%d" % (os.getpid(), next(counter))
        command = [engine.DOCKER, "run", "--rm", "--name", self.name, "-p", "127.0.0.1:%d:8080" % self.port]
        command += arguments_of(way or os.environ["ROOKERY_TEST_WAY"]) + list(more)
        for name, value in (settings or {}).items():
            command += ["-e", "%s=%s" % (name, value)]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*map(str, command), IMAGE], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.sandbox = Sandbox("http://127.0.0.1:%d" % self.port)

    @property
    def pid(self):
        """The supervisor, as the host numbers it."""
        if not hasattr(self, "known_pid"):
            self.known_pid = engine.inspect(self.name)["State"]["Pid"]
        return self.known_pid

    def wait_until_ready(self):
        super().wait_until_ready()
        self.container_cgroups = [path for path in process_tree.cgroup_directories(self.pid) if "docker" in str(path)]
        return self

    def stop(self):
        """`docker stop`. Gives the exit status of the container."""
        engine.docker("stop", self.name, timeout=STOP_SECONDS * SLOWNESS, check=False)
        return self.process.wait(STOP_SECONDS * SLOWNESS)

    def kill(self):
        engine.docker("rm", "-f", self.name, check=False)
        self.process.wait()

    def remains(self, identities):
        found = super().remains(identities)
        return found + ["cgroup %s" % path for path in getattr(self, "container_cgroups", ()) if path.exists()]
