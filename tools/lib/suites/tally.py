# SPDX-License-Identifier: Apache-2.0
"""How many tests passed, failed and were skipped, and why."""

import os
import re
import signal
import subprocess


class Tally:
    def __init__(self, passed=0, failed=0, skipped=0, reasons=()):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.reasons = list(reasons)  # one text a failed or skipped test

    def __add__(self, other):
        return Tally(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped,
                     self.reasons + other.reasons)

    def __str__(self):
        return "%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped)


def fail(reason):
    return Tally(failed=1, reasons=["failed: " + reason])


def skip(reason):
    return Tally(skipped=1, reasons=["skipped: " + reason])


def run(command, timeout, **options):
    """(exit status, output) of a command; a negative status is a signal, 124 a timeout."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **options)
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return 124, output + "\nnot finished within %d s" % timeout


def from_output(name, status, output):
    """Reads the summary of doctest or unittest; any other program is one test."""
    doctest = re.search(r"\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?", output)
    unittest = re.search(r"^Ran (\d+) tests? in", output, re.M)
    if doctest:
        total, passed, failed, skipped = (int(part or 0) for part in doctest.groups())
        tally = Tally(passed, failed, skipped)
    elif unittest:
        counts = {key: int(n) for key, n in re.findall(r"(failures|errors|skipped)=(\d+)", output.rsplit("\n\n", 1)[-1])}
        failed, skipped = counts.get("failures", 0) + counts.get("errors", 0), counts.get("skipped", 0)
        tally = Tally(max(0, int(unittest[1]) - failed - skipped), failed, skipped)
    else:
        tally = Tally(passed=1) if status == 0 else Tally(failed=1)
    if status != 0 and tally.failed == 0:
        tally.failed = 1
    if tally.failed:
        tally.reasons.append("failed: %s (exit status %d)\n%s" % (name, status, output[-4000:]))
    return tally
