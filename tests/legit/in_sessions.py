# SPDX-License-Identifier: Apache-2.0
"""Sessions whose interpreter has the packages of the container image; each test of a class runs in both spawn modes."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from harness import ServerTestCase  # noqa: E402


class LegitTestCase(ServerTestCase):
    settings = {"SANDBOX_PYTHON": os.environ.get("ROOKERY_TEST_PYTHON", ""), "SANDBOX_POOL_SIZE": "2"}
    spawn = "fork"

    @classmethod
    def setUpClass(cls):
        cls.settings = {**LegitTestCase.settings, **cls.settings, "SANDBOX_SPAWN": cls.spawn}
        super().setUpClass()

    def works(self, source, stdout="fine", seconds=60):
        """Runs the program, which must succeed, print this last, and be silent on stderr."""
        result = self.session.code(source, seconds)
        self.assertEqual((result.status, result.return_code, result.stderr), (200, 0, ""), result)
        self.assertEqual(result.stdout.splitlines()[-1:], [stdout])
        return result


def both_modes(tests, names):
    """A class for each spawn mode of the mixin `tests`, to be found by unittest in the module `names`."""
    for mode in ("fork", "exec"):
        name = tests.__name__ + mode.capitalize()
        names[name] = type(name, (tests, LegitTestCase), {"spawn": mode, "__module__": tests.__module__})
