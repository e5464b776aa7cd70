# SPDX-License-Identifier: Apache-2.0
"""Root file systems of other Debian releases and machines, made once and kept: where everybody may go, as images have to be."""

import contextlib
import fcntl
import os
import pathlib
import platform
import shutil
import subprocess

PLACE = pathlib.Path("/var/cache/rookery-test")
MINUTES = 10


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=MINUTES * 60)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(map(str, command)), done.stdout[-2000:]))
    return done.stdout


def mirror():
    """Where this machine's own packages come from."""
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    for line in run("apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)", "Created-By: Packages").splitlines():
        site, of, component = line.split()
        if (of, component) == (codename, "main"):
            return site
    raise AssertionError("apt knows no mirror of Debian %s: run apt-get update" % codename)


@contextlib.contextmanager
def locked(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def unpack(package, tree):
    # Not dpkg-deb --extract: it would replace a link /lib of the tree by a directory.
    run("sh", "-c", 'dpkg-deb --fsys-tarfile "$0" | tar -x --keep-directory-symlink -C "$1"', package, tree)


def packages(tree):
    return sorted((tree / "var/cache/apt/archives").glob("*.deb"))


def is_made(suite):
    return (PLACE / suite).is_dir()


def debian_tree(suite, include="python3", architecture=None):
    """The unpacked packages of a minimal Debian and of `include` (names with commas); nothing in it was configured or run."""
    name = suite if architecture is None else "%s-%s" % (suite, architecture)
    tree = PLACE / name
    with locked(PLACE / (name + ".lock")):
        if tree.is_dir():
            return tree
        unfinished = PLACE / (name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        options = [] if architecture is None else ["--arch=" + architecture]
        run("debootstrap", "--foreign", "--variant=minbase", "--include=" + include, *options, suite, unfinished, mirror())
        for package in packages(unfinished):
            unpack(package, unfinished)
        unfinished.chmod(0o755)
        os.rename(unfinished, tree)
    return tree


def copy_of(tree, name):
    """A tree of the same files (hard links) that may be changed by adding and removing some."""
    copy = PLACE / name
    shutil.rmtree(copy, ignore_errors=True)
    run("cp", "--archive", "--link", tree, copy)
    return copy
