# SPDX-License-Identifier: Apache-2.0
"""Runs one unittest module; the last line of the output is its result as JSON. Called by python_tests.py."""

import json
import pathlib
import sys
import unittest
import warnings


class Result(unittest.TextTestResult):
    """Counts each test once, however many of its subtests failed, and each failed class set-up as one."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.broken, self.reasons, self.finished = set(), [], 0

    def note(self, test, error):
        self.broken.add(getattr(test, "test_case", test).id())
        self.reasons.append("failed: %s\n%s" % (test, self._exc_info_to_string(error, test)[-4000:]))

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.note(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reasons.append("skipped: %s: %s" % (test, reason))

    def stopTest(self, test):
        super().stopTest(test)
        self.finished += 1


def main(directory, module):
    warnings.simplefilter("ignore", ResourceWarning)
    sys.path[:0] = [directory, str(pathlib.Path(directory).parent / "integration"), str(pathlib.Path(__file__).resolve().parents[1])]
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Result, warnings="ignore").run(suite)
    in_tests = sum(not name.startswith(("setUpClass", "tearDownClass", "setUpModule")) for name in result.broken)
    skipped_classes = sum("setUpClass" in str(test) for test, _ in result.skipped)
    skipped = len(result.skipped)
    passed = result.finished - in_tests - (skipped - skipped_classes)
    print(json.dumps({"passed": max(0, passed), "failed": len(result.broken), "skipped": skipped, "reasons": result.reasons}))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
