# SPDX-License-Identifier: Apache-2.0
"""Accounts that are made for a test and removed again, and rookery started as one of them."""

import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from harness import BINARY

FIRST_SUBORDINATE = 0x68000000  # below those that rookery takes as root, above those of accounts
SUBORDINATE_COUNT = 65536


class User:
    def __init__(self, name, place):
        self.name, self.place = name, place
        entry = pwd.getpwnam(name)
        self.uid, self.gid, self.home = entry.pw_uid, entry.pw_gid, pathlib.Path(entry.pw_dir)

    def launcher(self, cgroup=None):
        """A program that runs rookery as this user, in the cgroup if one is given."""
        path = self.place / ("rookery-" + self.name)
        enter = "echo $$ > %s/cgroup.procs && " % cgroup if cgroup else ""
        path.write_text('#!/bin/sh\n%sexport HOME=%s && exec setpriv --reuid=%d --regid=%d --init-groups %s "$@"\n'
                        % (enter, self.home, self.uid, self.gid, self.place / "rookery"))
        path.chmod(0o755)
        return path

    def run(self, *arguments, seconds=60, **environment):
        return subprocess.run([self.launcher(), *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)


@contextlib.contextmanager
def ordinary_user(subordinate_ids, subordinate_count=SUBORDINATE_COUNT):
    """An account with a home directory that nobody else may enter, and with or without a range of subordinate ids."""
    name = "rookery-test-%d%s" % (os.getpid(), "s" if subordinate_ids else "")
    with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
        os.chmod(place, 0o755)
        shutil.copy(BINARY, place + "/rookery")
        # A system account gets no subordinate ids by itself.
        subprocess.run(["useradd", "--system", "--user-group", "--no-log-init", "--home-dir", place + "/home", name], check=True, stdout=subprocess.DEVNULL)
        try:
            if subordinate_ids:
                span = "%d-%d" % (FIRST_SUBORDINATE, FIRST_SUBORDINATE + subordinate_count - 1)
                subprocess.run(["usermod", "--add-subuids", span, "--add-subgids", span, name], check=True)
            entry = pwd.getpwnam(name)
            os.mkdir(place + "/home", 0o700)
            os.chown(place + "/home", entry.pw_uid, entry.pw_gid)
            yield User(name, pathlib.Path(place))
        finally:
            subprocess.run(["userdel", name], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
