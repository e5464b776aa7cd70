# SPDX-License-Identifier: Apache-2.0
import errno
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import BINARY, SLOWNESS, free_port, plain_environment

LAUNCHER = pathlib.Path(__file__).with_name("with_failing_call.py")

# System calls of the set-up of server and jail. With (argument, value): only calls where it has that value, so that one
# step fails and those before it do not.
STEPS = (
    ("clone3",), ("mount",), ("umount2",), ("move_mount",), ("mount_setattr",), ("pivot_root",), ("chdir",), ("close_range",),
    ("setgroups",), ("setresgid",), ("setresuid",), ("capset",), ("prlimit64",), ("sethostname",), ("landlock_add_rule",),
    ("landlock_restrict_self",), ("seccomp", 0, 1),  # SECCOMP_SET_MODE_FILTER
    ("unshare", 0, 0x02000000),  # CLONE_NEWCGROUP
    ("ioctl", 1, 0x8914),  # SIOCSIFFLAGS: loopback
    ("prctl", 0, 1),       # PR_SET_PDEATHSIG
    ("prctl", 0, 24),      # PR_CAPBSET_DROP
    ("prctl", 0, 28),      # PR_SET_SECUREBITS
    ("prctl", 0, 38),      # PR_SET_NO_NEW_PRIVS
)
# What a jail tries to undo before it is used: a drop that did nothing is noticed, although the kernel called it a success.
DROPS = (("setgroups",), ("setresuid",), ("setresgid",), ("capset",), ("seccomp", 0, 1), ("prctl", 0, 24), ("prctl", 0, 38))


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class FailingSteps(unittest.TestCase):
    """A step of the set-up that fails ends the start, in both spawn modes, with a sentence, and nothing stays behind."""

    def refused(self, error, step, spawn):
        call, *condition = step
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            os.chmod(place, 0o755)
            settings = {"SANDBOX_SESSIONS_ROOT": place + "/sessions", "SANDBOX_SPAWN": spawn, "SANDBOX_POOL_SIZE": "1"}
            done = subprocess.run([sys.executable, LAUNCHER, str(error), call, *map(str, condition), BINARY, "serve", "--listen", "127.0.0.1:%d" % free_port()],
                                  env=plain_environment(settings), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30 * SLOWNESS)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertNotIn("ready", done.stdout)
            self.assertRegex(done.stderr, r"(?:rookery:|CRITICAL|AddressSanitizer) \w.{10}")
            self.assertNotIn("terminate called", done.stderr)
            self.assertEqual([path for path in pathlib.Path(place, "sessions").glob("*") if path.is_dir()], [])
            record = pathlib.Path(place, "sessions", ".rookery-cgroups")
            self.assertEqual([path for path in record.read_text().split() if os.path.exists(path)] if record.exists() else [], [])
            self.assertNotIn(place, pathlib.Path("/proc/mounts").read_text())

    def test_a_step_that_fails_ends_the_start(self):
        for step in STEPS:
            for spawn in ("fork", "exec"):
                with self.subTest(step=step, spawn=spawn):
                    self.refused(errno.EPERM, step, spawn)

    def test_a_drop_that_only_seems_to_succeed_ends_the_start(self):
        for step in DROPS:
            for spawn in ("fork", "exec"):
                with self.subTest(step=step, spawn=spawn):
                    self.refused(0, step, spawn)

    def test_the_launcher_itself_changes_nothing(self):
        done = subprocess.run([sys.executable, LAUNCHER, "1", "ptrace", BINARY, "check"], env=plain_environment({}), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30 * SLOWNESS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
