# SPDX-License-Identifier: Apache-2.0
"""A Docker engine of the tests' own, started by hand, and calls to it. Images stay in its directory for the next run."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Debian's docker.io builds with BuildKit without a plug-in; a client elsewhere in PATH may not.
DOCKER = "/usr/bin/docker"
DOCKERD = shutil.which("dockerd") or "/usr/sbin/dockerd"
SLOWNESS = float(os.environ.get("ROOKERY_TEST_SLOWNESS", "1"))
START_SECONDS = 90 * SLOWNESS


class Unavailable(Exception):
    """No engine can start here; the text says why."""


def docker(*arguments, timeout=120, check=True):
    """(exit status, output and errors) of the client; with `check`, AssertionError where the status is not 0."""
    done = subprocess.run([DOCKER, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=timeout * SLOWNESS)
    if check and done.returncode != 0:
        raise AssertionError("docker %s: status %d\n%s" % (" ".join(map(str, arguments)), done.returncode, done.stdout[-3000:]))
    return done.returncode, done.stdout


def inspect(name):
    return json.loads(docker("inspect", name)[1])[0]


class Engine:
    """`directory` keeps its images. A context manager, in which DOCKER_HOST names it. Another engine's bridge, firewall rules and
    containers stay as they are; ports are passed on by Docker's own proxy."""

    def __init__(self, directory, options=(), number=0):
        self.directory, self.options = pathlib.Path(directory), list(options)
        self.bridge, self.network = "rookery-test%d" % number, "172.29.%d.1/24" % (83 + number)
        self.outer_host = os.environ.get("DOCKER_HOST")
        self.host = "unix://%s/docker.sock" % self.directory
        self.process = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("an engine has to be started by root")
        if not os.access(DOCKERD, os.X_OK):
            raise Unavailable("there is no %s: apt-get install docker.io" % DOCKERD)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.lock = open("/run/%s.lock" % self.bridge, "w")  # one engine at a time on this bridge
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.make_bridge()
        log = self.directory / "log"
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [DOCKERD, "--data-root", self.directory / "data", "--exec-root", self.directory / "exec", "-p", self.directory / "pid",
                 "-H", self.host, "--bridge", self.bridge, "--iptables=false", "--ip-forward=false", "--ip-masq=false",
                 "--containerd-namespace", self.bridge, "--containerd-plugins-namespace", self.bridge + "-plugins", *self.options],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        os.environ["DOCKER_HOST"] = self.host
        deadline = time.monotonic() + START_SECONDS
        while docker("version", check=False)[0] != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Unavailable("dockerd does not start:\n" + log.read_text(errors="replace")[-1500:])
            time.sleep(0.3)
        return self

    def __exit__(self, *_):
        left = docker("ps", "-aq", check=False)[1].split()
        if left:
            docker("rm", "-f", *left, check=False)
        docker("network", "prune", "-f", check=False)
        self.stop()

    def make_bridge(self):
        shutil.rmtree(self.directory / "exec", ignore_errors=True)
        (self.directory / "pid").unlink(missing_ok=True)
        self.remove_bridge()
        for command in (("link", "add", self.bridge, "type", "bridge"), ("addr", "add", self.network, "dev", self.bridge),
                        ("link", "set", self.bridge, "up")):
            done = subprocess.run(["ip", *command], capture_output=True, text=True)
            if done.returncode != 0:
                raise Unavailable("no bridge for containers: " + done.stderr.strip())

    def remove_bridge(self):
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.remove_bridge()
        self.lock.close()
        os.environ.pop("DOCKER_HOST", None)
        if self.outer_host:
            os.environ["DOCKER_HOST"] = self.outer_host
