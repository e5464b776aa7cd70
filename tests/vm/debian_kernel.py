# SPDX-License-Identifier: Apache-2.0
"""Debian's stock kernel from its package, unpacked below a directory: nothing is installed."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

from debian_tree import mirror

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """This machine cannot boot one; says why."""


@contextlib.contextmanager
def apt_options(suite):
    """What makes apt look at another release of Debian; nothing for "", which is this machine's own."""
    if not suite:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="rookery-apt-") as scratch:
        directory = pathlib.Path(scratch)
        (directory / "lists" / "partial").mkdir(parents=True)
        (directory / "sources").write_text("deb [signed-by=%s] %s %s main\n" % (KEYS, mirror(), suite))
        options = ["Dir::Etc::SourceList=%s" % (directory / "sources"), "Dir::Etc::SourceParts=/dev/null", "Dir::State::Lists=%s" % (directory / "lists"),
                   "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache="]
        yield [word for option in options for word in ("-o", option)]


def run(*command, cwd="/"):
    return subprocess.run(list(map(str, command)), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def kernel(cache, suite=""):
    """The directory with what the package of `suite` holds; downloaded once. Throws Unavailable."""
    unpacked = cache / ("kernel-" + suite if suite else "kernel")
    if list(unpacked.glob("boot/vmlinuz-*")):
        return unpacked
    cache.mkdir(parents=True, exist_ok=True)
    with apt_options(suite) as options, tempfile.TemporaryDirectory(dir=cache) as scratch:
        if suite:
            run("apt-get", "update", "-q", *options)
        depends = run("apt-cache", "depends", *options, "linux-image-amd64")
        names = [line.split()[1] for line in depends.stdout.splitlines() if line.strip().startswith("Depends: linux-image-")]
        if not names:
            raise Unavailable("apt knows no package linux-image-amd64 " + suite)
        download = run("apt-get", "download", "-q", *options, names[0], cwd=scratch)
        packages = list(pathlib.Path(scratch).glob("*.deb"))
        if not packages:
            raise Unavailable("cannot download %s: %s" % (names[0], download.stderr.strip()[-300:]))
        subprocess.run(["dpkg-deb", "-x", packages[0], pathlib.Path(scratch) / "files"], check=True)
        shutil.rmtree(unpacked, ignore_errors=True)
        (pathlib.Path(scratch) / "files").rename(unpacked)
    return unpacked
