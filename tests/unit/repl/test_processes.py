# SPDX-License-Identifier: Apache-2.0
"""multiprocessing with functions and classes of cells."""
import os
import unittest

from harness import DriverTest

DEFINITIONS = (
    "import multiprocessing as mp, math\nfrom dataclasses import dataclass\nBASE = 10\nTABLE: dict = {'a': [1, -2]}\n"
    "computed = len(open('/proc/self/stat').read())\nprint('side effect')\n"
    "@dataclass\nclass Box:\n    n: int\n"
    "def sq(n): return n*n + BASE\n"
    "def boxed(box): return Box(box.n + TABLE['a'][0])\n"
    "def fails(n): return undefined_name\n"
    "if __name__ == '__main__':\n    print('main')\n")


class Processes(DriverTest):
    def check(self, method):
        self.ok(DEFINITIONS, "side effect\nmain\n")
        self.ok("from multiprocessing import util\ntop = math.floor(2.5)")
        self.ok(f"with mp.get_context('{method}').Pool(2) as p: print(p.map(sq, [1,2,3]), p.map(boxed, [Box(4)]))",
                "[11, 14, 19] [Box(n=5)]\n")
        self.fails(f"with mp.get_context('{method}').Pool(1) as p: p.map(fails, [1])",
                   'File "<cell 1>"', "def fails(n): return undefined_name", "NameError")
        self.ok("def later(n): return n + BASE")
        self.ok(f"with mp.get_context('{method}').Pool(1) as p: print(p.map(later, [1]))", "[11]\n")
        self.works()

    def test_fork(self):
        self.check("fork")

    def test_spawn(self):
        self.check("spawn")
        self.assertEqual(sorted(os.listdir(self.driver.workspace)), [])

    def test_forkserver(self):
        self.check("forkserver")

    def test_process_pool_executor(self):
        self.ok("def sq(n): return n*n")
        self.ok("from concurrent.futures import ProcessPoolExecutor as PX\nwith PX(2) as ex: print(list(ex.map(sq, [2,3])))", "[4, 9]\n")

    def test_process_with_its_own_output(self):
        self.ok("import multiprocessing as mp\ndef f(): print('child')\np = mp.get_context('fork').Process(target=f); p.start(); p.join(); print(p.exitcode)", "child\n0\n")

    def test_an_unreachable_temp_directory_only_costs_spawn(self):
        self.ok("import os, __main__\nos.environ['TMPDIR'] = '/nonexistent'")
        self.fails("import multiprocessing as mp\ndef f(): pass\np = mp.get_context('spawn').Process(target=f); p.start(); p.join(); assert p.exitcode == 0, p.exitcode")
        self.works()


if __name__ == "__main__":
    unittest.main()
