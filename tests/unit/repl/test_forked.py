# SPDX-License-Identifier: Apache-2.0
"""A process that imports the driver first and forks interpreters later, as the zygote does."""
import unittest

from harness import REPL_DIR, Driver, DriverTest

ZYGOTE = """
import os, sys
sys.path.insert(0, {directory!r})
import driver
sys.path.pop(0)
driver.warm_up()
import json
serve = driver.prepare()
if os.fork() == 0:
    serve(3)
os.close(3)
os._exit(os.WEXITSTATUS(os.wait()[1]))
"""


class ForkedDriver(Driver):
    arguments = ["-I", "-B", "-c", ZYGOTE.format(directory=REPL_DIR)]


class Forked(DriverTest):
    def setUp(self):
        self.driver = ForkedDriver()
        self.addCleanup(self.driver.close)
        # Closing the channel ends the fork, and with it the process that waits for it.
        self.addCleanup(self.driver.channel.close)

    def test_cells_run_as_in_a_fresh_interpreter(self):
        self.ok("import sys, __main__\nprint(__name__, sys.argv, 'driver' in sys.modules, 'json' in globals(), 'json' in sys.modules)",
                "__main__ [''] False False True\n")
        self.ok("x = 1")
        self.fails("def f(): return x / 0\nf()", 'File "<cell 3>", line 1, in f', "def f(): return x / 0")
        self.ok("import warnings; warnings.warn('w')", "", "<cell 4>:1: UserWarning: w\n  import warnings; warnings.warn('w')\n")
        self.ok("import asyncio; print(await asyncio.sleep(0, 'slept'))", "slept\n")
        self.ok("import inspect; print(inspect.getsource(f))", "def f(): return x / 0\n\n")


if __name__ == "__main__":
    unittest.main()
