# SPDX-License-Identifier: Apache-2.0
"""Builds the image for tests/container with an engine of the tests' own, as a program: it can go on beside other suites.

    image_build.py [--aside]     --aside: with the processor time that nobody else wants

Exit status 0: built; 1: not, the output says why; 2: no engine can start here, the output says why."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests" / "container"))

import engine  # noqa: E402

IMAGE = "rookery:test"
# Outside of the clone: a base, packages and compiled files serve the next clone, too.
DIRECTORY = pathlib.Path("/var/cache/rookery-test/engine")
KEPT = "6gb"
SECONDS = 2400
SHARES = pathlib.Path("/sys/fs/cgroup/cpu")
ASIDE = "rookery-image"


class Beside:
    """A build that has begun."""

    def __init__(self, aside):
        command = [sys.executable, "-B", __file__, *(["--aside"] if aside else [])]
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)

    def result(self):
        """(exit status, the end of the output), once it has ended."""
        status = self.process.wait()
        remove_group()
        self.output.seek(0)
        return status, self.output.read().decode(errors="replace")[-4000:]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.result()


def make_group():
    """Gives dockerd's options that put the containers of a build aside. With cgroup v2 they have a whole share."""
    if not os.access(SHARES / "cpu.shares", os.W_OK):
        return []
    (SHARES / ASIDE / "self").mkdir(parents=True, exist_ok=True)
    (SHARES / ASIDE / "cpu.shares").write_text("50")  # of 1024
    return ["--cgroup-parent", "/" + ASIDE]


def step_aside():
    """This process and what it starts from now on: not the engine, which gives up when it cannot start in some seconds."""
    os.nice(19)
    if (SHARES / ASIDE / "self").exists():
        (SHARES / ASIDE / "self" / "cgroup.procs").write_text(str(os.getpid()))


def remove_group():
    """In all hierarchies: the containers had it in each."""
    for group in SHARES.parent.glob("*/" + ASIDE):
        for directory in (group / "self", group / "buildkit", group):
            with contextlib.suppress(OSError):
                directory.rmdir()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        aside = "--aside" in sys.argv
        with engine.Engine(DIRECTORY, make_group() if aside else ()):
            if aside:
                step_aside()
            status = subprocess.run([SOURCE / "tools" / "image", IMAGE], stdin=subprocess.DEVNULL, timeout=SECONDS, env={**os.environ, "DOCKER": engine.DOCKER}).returncode
            engine.docker("builder", "prune", "-f", "--keep-storage", KEPT, check=False)
            return 1 if status else 0
    except engine.Unavailable as reason:
        print(reason)
        return 2


if __name__ == "__main__":
    sys.exit(main())
