# SPDX-License-Identifier: Apache-2.0
"""The image with Docker as on Ubuntu, whose AppArmor keeps user namespaces for programs with a profile or CAP_SYS_ADMIN: made for the guest
of machine.py. ROOKERY_TEST_LAYERS and ROOKERY_TEST_APPARMOR as in test_image.py; ROOKERY_TEST_UNPRIVILEGED is Ubuntu's own profile for the
user namespaces of others, compiled."""

import pathlib
import shutil
import subprocess

from harness import BINARY, Server
from ordinary_user import ordinary_user
from test_image import ImageTestCase, load, run, ways
from test_restricted import WEAKER, refusal_of

SETTING = pathlib.Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


class RestrictedImage(ImageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        load("ROOKERY_TEST_UNPRIVILEGED", "unprivileged_userns (enforce)\n")

    def test_this_is_the_machine_it_is_about(self):
        self.assertEqual(SETTING.read_text(), "1\n")
        as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "--user"]
        done = subprocess.run([*as_nobody, "cat", "/proc/self/attr/apparmor/current"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "unprivileged_userns (enforce)\n", done.stderr)
        self.assertNotEqual(subprocess.run([*as_nobody, "--map-root-user", "true"], capture_output=True).returncode, 0)

    def test_the_recommended_run_is_refused_with_both_ways_to_go_on(self):
        status, output = run(ways.SECURITY, check=False)
        self.assertEqual(status, 1, output)
        for part in ("--security-opt apparmor=rookery", "--cap-add SYS_ADMIN", "apparmor_restrict_unprivileged_userns"):
            self.assertIn(part, output)

    def test_with_our_profile(self):
        load("ROOKERY_TEST_APPARMOR", "rookery (unconfined)\n")
        list(self.works("least", more=["--security-opt", "apparmor=rookery"], label="rookery (unconfined)"))

    def test_an_ordinary_user_needs_our_profile_as_well(self):
        installed = pathlib.Path("/usr/local/bin/rookery")
        with ordinary_user(subordinate_ids=True) as user:
            self.assertIn(SETTING.name, refusal_of(user))
            load("ROOKERY_TEST_APPARMOR", "rookery (unconfined)\n")
            shutil.copy(BINARY, installed)
            (user.place / "rookery").unlink()
            (user.place / "rookery").symlink_to(installed)
            server = Server(WEAKER, root=user.home / "sessions", binary=user.launcher())
            self.addCleanup(server.clean_up)
            with server.wait_until_ready().sandbox.create() as session:
                self.assertEqual(session.code("print(6 * 7)", 60).stdout, "42")
            self.assertEqual(server.stop(), 0)

    def test_with_sys_admin(self):
        list(self.works("least", more=["--cap-add", "SYS_ADMIN"]))

    def test_privileged(self):
        list(self.works("privileged"))
