# SPDX-License-Identifier: Apache-2.0
"""Docker Compose, built from its Go module once and kept: Debian's is too old for systempaths=unconfined."""

import json
import pathlib
import shutil
import subprocess
import tempfile

from debian_tree import PLACE, locked

MODULE, VERSION = "github.com/docker/compose/v2", "v2.15.1"  # which the Go of Debian 12 can build
MINUTES = 30


def go(*arguments, cwd="/"):
    done = subprocess.run(["go", *map(str, arguments)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=MINUTES * 60)
    if done.returncode != 0:
        raise AssertionError("go %s: %s" % (arguments[0], (done.stdout + done.stderr)[-2000:]))
    return done.stdout


def program():
    """Its path."""
    built = PLACE / ("docker-compose-" + VERSION)
    with locked(PLACE / "docker-compose.lock"):
        if not built.exists():
            with tempfile.TemporaryDirectory(prefix="rookery-compose-", dir="/var/tmp") as scratch:
                # Its go.mod replaces modules, with which `go install` builds nothing of another module.
                source = pathlib.Path(scratch) / "source"
                shutil.copytree(json.loads(go("mod", "download", "-json", MODULE + "@" + VERSION))["Dir"], source)
                for directory in (source, *filter(pathlib.Path.is_dir, source.rglob("*"))):
                    directory.chmod(0o755)
                go("build", "-ldflags=-s -w", "-o", source / "built", "./cmd", cwd=source)
                shutil.copy(source / "built", built.with_suffix(".new"))
                built.with_suffix(".new").rename(built)
    return built
