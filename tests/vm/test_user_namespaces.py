# SPDX-License-Identifier: Apache-2.0
"""Machines that keep user namespaces for root or count them: made for the guest of machine.py, whose settings it changes."""

import contextlib
import pathlib
import subprocess
import unittest

from harness import BINARY, SLOWNESS, free_port, plain_environment, running, wait_for

SETTINGS = pathlib.Path("/proc/sys")
SMALL = {"SANDBOX_POOL_SIZE": "0"}


@contextlib.contextmanager
def setting(name, value):
    before = (SETTINGS / name).read_text()
    (SETTINGS / name).write_text(value)
    try:
        yield
    finally:
        (SETTINGS / name).write_text(before)


class StartTestCase(unittest.TestCase):
    def jail_of_a_session(self, **settings):
        """The form of the jails of a server that starts here, seen to work."""
        with running({**SMALL, **settings}) as server:
            with server.sandbox.create() as session:
                result = session.code("import os; print(os.getuid() > 0, open('/proc/self/status').read().count('CapBnd:\\t0000000000000000'))", 60)
                self.assertEqual((result.stdout, result.return_code), ("True 1", 0), result)
                self.assertNotEqual(session.bash("unshare -r true", 60).return_code, 0)
            return wait_for(lambda: server.sandbox.health().get("jail"), 5, "the warden's answer")

    def refusal(self, **settings):
        done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:%d" % free_port()], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60 * SLOWNESS, env=plain_environment({**SMALL, "SANDBOX_SESSIONS_ROOT": "/run/refused", **settings}))
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr


class UserNamespaces(StartTestCase):
    def test_where_they_are_roots_jails_are_flat(self):
        with setting("kernel/unprivileged_userns_clone", "0"):
            self.assertEqual(self.jail_of_a_session(), "flat")
            self.assertIn("no jail can be built here", self.refusal(SANDBOX_JAIL_USERNS="nested"))
        self.assertEqual(self.jail_of_a_session(), "nested")

    def test_where_one_is_allowed_it_is_rookerys_own(self):
        def jail():
            try:
                return self.jail_of_a_session()
            except AssertionError as error:
                if "No space left on device" not in str(error):
                    raise
                return None  # the kernel frees namespaces some time after their last process

        with setting("user/max_user_namespaces", "1"):
            self.assertEqual(wait_for(jail, 3, "a namespace that is free"), "flat")

    def test_where_none_is_allowed_the_start_is_refused_with_the_reason(self):
        with setting("user/max_user_namespaces", "0"):
            self.assertIn("/proc/sys/user/max_user_namespaces", self.refusal())
