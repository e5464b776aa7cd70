# SPDX-License-Identifier: Apache-2.0
"""A machine whose AppArmor keeps user namespaces for programs with a profile or CAP_SYS_ADMIN: made for the guest of machine.py, with
Ubuntu's kernel and kernel.apparmor_restrict_unprivileged_userns=1."""

import subprocess

from harness import SLOWNESS, free_port, plain_environment
from ordinary_user import ordinary_user
from test_user_namespaces import SMALL, StartTestCase

SETTING = "kernel.apparmor_restrict_unprivileged_userns"
WEAKER = {**SMALL, "SANDBOX_ALLOW_WEAKER": "no-cgroup"}


def refusal_of(user):
    """What is said to an ordinary user whose start must fail."""
    command = [user.launcher(), "serve", "--listen", "127.0.0.1:%d" % free_port()]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * SLOWNESS, env=plain_environment(WEAKER))
    if done.returncode != 1:
        raise AssertionError("status %d: %s" % (done.returncode, done.stderr))
    return done.stderr


class Restricted(StartTestCase):
    def test_this_is_the_machine_it_is_about(self):
        as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        self.assertNotEqual(subprocess.run([*as_nobody, *mount], capture_output=True).returncode, 0)
        self.assertEqual(subprocess.run(mount, capture_output=True).returncode, 0)

    def test_a_start_by_root_is_exempt(self):
        self.assertEqual(self.jail_of_a_session(), "nested")

    def test_an_ordinary_user_is_told_what_keeps_him_from_it(self):
        with ordinary_user(subordinate_ids=True) as user:
            self.assertIn(SETTING, refusal_of(user))
