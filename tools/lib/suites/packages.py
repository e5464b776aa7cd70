# SPDX-License-Identifier: Apache-2.0
"""A virtual environment with the packages of the container image, for tests/legit: made once and kept as long as the list is the same."""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys

# Not in the clone: the warden, who is no root by then, has to come through all directories above.
CACHE = pathlib.Path("/var/cache/rookery-test")


def interpreter(requirements):
    """The environment's python3. Throws subprocess.CalledProcessError, with pip's output, when it cannot be made."""
    name = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    place = CACHE / ("venv-" + name)
    CACHE.mkdir(mode=0o755, parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            run("/usr/bin/python3", "-m", "venv", place)
            run(place / "bin" / "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-r", requirements)
            (place / "complete").touch()
    return place / "bin" / "python3"


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                   text=True, umask=0o022)
