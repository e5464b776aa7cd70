# SPDX-License-Identifier: Apache-2.0
"""`rookery check`, which tries what it promises."""
import pathlib
import re
import subprocess
import unittest

from harness import BINARY, plain_environment


def check(*arguments, **settings):
    done = subprocess.run([BINARY, "check", *arguments], env=plain_environment(settings), capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Check(unittest.TestCase):
    def left_over(self):
        return {path.name for path in pathlib.Path("/tmp").glob("rookery-run-*")}

    def test_a_jail_is_tried_and_nothing_of_it_is_left(self):
        before = self.left_over()
        status, rows, _ = check()
        self.assertEqual(status, 0, rows)
        self.assertRegex(rows, r"(?m)^trial +ok +a jail was made, Python ran in it")
        self.assertLessEqual(self.left_over(), before)

    def test_a_trial_that_fails_is_told_with_its_reason(self):
        status, rows, _ = check(SANDBOX_RUNNER_MEMORY_MB="64", SANDBOX_SPAWN="exec", SANDBOX_PYTHON="/bin/false")
        self.assertEqual(status, 1, rows)
        self.assertRegex(rows, r"(?m)^(trial|python) +MISSING +.+")
        self.assertIn("rookery cannot serve here", rows)

    def test_the_steps_of_a_set_up_are_timed(self):
        status, rows, errors = check("--timing")
        self.assertEqual(status, 0, errors)
        times = dict(re.findall(r"(?m)^  (\S.*?) +(\d+\.\d{3})$", rows))
        for step in ("warden: clone3, with the new namespaces", "jail: proc, masked", "jail: limits, capabilities, Landlock, seccomp",
                     "warden: interpreter, until it is ready"):
            self.assertGreater(float(times[step]), 0, step)
        warden = sum(float(time) for step, time in times.items() if step.startswith("warden: "))
        self.assertAlmostEqual(warden, float(times["total"]), delta=float(times["total"]) / 2)


if __name__ == "__main__":
    unittest.main()
