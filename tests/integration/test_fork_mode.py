# SPDX-License-Identifier: Apache-2.0
"""What interpreters that are forked from one zygote do not share, and how the zygote comes and goes."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import process_tree
from harness import ServerTestCase, running, wait_for

# A module like those that keep a generator, a secret or a name of their own.
KEEPER = """
import multiprocessing, random, ssl, tempfile, uuid
drawn = ssl.RAND_bytes(8)
own = random.Random(1)
class Other(random.Random): pass
hidden = {"deep": [Other(2)]}
name = tempfile.mktemp()
node = uuid.getnode()
counter = [0]
big = [str(i) * 50 for i in range(40000)]
"""
BROKEN = "raise RuntimeError('cannot be imported')\n"
THREADED = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
DRAWS = """
import keeper, random, secrets, ssl, tempfile, uuid, os, multiprocessing
print(ssl.RAND_bytes(8).hex()); print(ssl.RAND_bytes(8).hex())
print(keeper.own.random()); print(keeper.hidden["deep"][0].random()); print(random.random()); print(secrets.token_hex(8))
print(uuid.uuid4()); print(uuid.uuid1()); print(tempfile.mktemp()); print(os.urandom(8).hex())
print(bytes(multiprocessing.current_process().authkey).hex())
"""


def make_environment():
    """A virtual environment with the modules above, where a jail can show it."""
    base = pathlib.Path("/var/cache/rookery-test")
    base.mkdir(parents=True, exist_ok=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fork-mode-", dir=base))
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", directory], check=True)
    directory.chmod(0o755)
    packages = next(directory.glob("lib/python3*/site-packages"))
    for name, text in (("keeper", KEEPER), ("broken", BROKEN), ("threaded", THREADED)):
        (packages / (name + ".py")).write_text(text)
    return directory


class ForkMode(ServerTestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = make_environment()
        cls.addClassCleanup(shutil.rmtree, cls.environment)
        cls.settings = {"SANDBOX_PYTHON": str(cls.environment / "bin" / "python3"), "SANDBOX_SPAWN": "fork",
                        "SANDBOX_PRELOAD": "keeper broken json", "SANDBOX_POOL_SIZE": "2"}
        super().setUpClass()

    def lines(self, code, session=None):
        result = (session or self.new_session()).code(code)
        self.assertEqual(result.return_code, 0, result.stderr)
        return result.stdout.splitlines()

    def test_what_a_session_writes_to_a_library_stays_its_own(self):
        flag = "import ctypes; flag = ctypes.c_int.in_dll(ctypes.pythonapi, 'Py_OptimizeFlag'); print(flag.value)"
        private = "print(sum(' rw' in line and '.so' in line for line in open('/proc/self/maps')))"
        self.assertEqual(self.lines(private), ["0"])
        self.assertEqual(self.lines(flag + "; flag.value = 7"), ["0"])
        for _ in range(3):
            self.assertEqual(self.lines(flag), ["0"])

    def test_sessions_draw_nothing_alike(self):
        seen = [self.lines(DRAWS) for _ in range(6)]
        for drawn in zip(*seen):
            self.assertEqual(len(set(drawn)), len(seen), drawn)

    def test_it_looks_like_a_fresh_interpreter(self):
        self.assertEqual(self.lines("import sys, warnings\nprint(__name__, sys.argv, 'keeper' in globals(), 'json' in globals())\n"
                                    "print(sys.path[-1], len(sys.path_importer_cache) > 0)\nprint(any('keeper' in str(f) for f in warnings.filters))"),
                         ["__main__ [''] False False", "/workspace True", "False"])

    def test_what_one_session_changes_no_other_sees(self):
        first = self.new_session()
        self.lines("import keeper; keeper.counter[0] += 1; keeper.big[7] = 'changed'", first)
        self.assertEqual(self.lines("import keeper; print(keeper.counter[0], keeper.big[7] == '7' * 50)"), ["0 True"])
        self.assertEqual(self.lines("print(keeper.counter[0], keeper.big[7])", first), ["1 changed"])

    def test_the_heap_is_shared_until_it_is_written_to(self):
        code = ("import re\nprivate = shared = 0\nfor line in open('/proc/self/smaps'):\n"
                "    if re.match('[0-9a-f]+-', line): ours = '/memfd:rookery-zygote' in line; mode = line.split()[1]\n"
                "    elif ours and line.startswith('Anonymous:'): private += int(line.split()[1])\n"
                "    elif ours and line.startswith('Size:'): shared += int(line.split()[1]); assert mode == 'rw-p', mode\n"
                "print(private, shared)")
        private, shared = map(int, self.lines(code)[0].split())
        self.assertGreater(shared, 6000)
        self.assertLess(private, shared / 2)

    def test_what_was_preloaded_is_immortal_where_the_interpreter_knows_that(self):
        knows, function, constants, key, own = self.lines(
            "import sys, json\nclass Own: pass\nprint(sys.version_info >= (3, 12))\n"
            "for thing in (json.dumps, json.dumps.__code__.co_consts, next(k for k in vars(json) if k == 'dumps'), Own):\n"
            "    print(sys.getrefcount(thing) == sys.getrefcount(None))")
        self.assertEqual([function, constants, key], [knows] * 3)
        self.assertEqual(own, "False")

    def test_no_descriptor_of_the_zygote_comes_along(self):
        code = ("import os\nfor number in os.listdir('/proc/self/fd'):\n    try: print(os.readlink('/proc/self/fd/' + number))\n"
                "    except FileNotFoundError: pass")
        self.assertEqual([line for line in self.lines(code) if "memfd" in line or "rookery" in line], [])

    def test_a_broken_preload_is_left_out_and_told(self):
        self.assertIn("preload of broken failed", self.server.log())
        result = self.new_session().code("import broken")
        self.assertIn("cannot be imported", result.stderr)


class Zygotes(unittest.TestCase):
    def settings(self, **more):
        environment = make_environment()
        self.addCleanup(shutil.rmtree, environment)
        return {"SANDBOX_PYTHON": str(environment / "bin" / "python3"), "SANDBOX_SPAWN": "fork", "SANDBOX_POOL_SIZE": "2", **more}

    def test_a_preload_that_leaves_a_thread_is_refused_and_sessions_start_without(self):
        with running(self.settings(SANDBOX_PRELOAD="threaded")) as server:
            session = server.sandbox.create()
            self.assertEqual(session.code("print(1)").stdout, "1")
            session.delete()
            self.assertRegex(server.log(), "left 1 threads running; see SANDBOX_PRELOAD")

    def test_a_zygote_is_replaced_after_its_forks(self):
        with running(self.settings(SANDBOX_ZYGOTE_MAX_FORKS="4", SANDBOX_PRELOAD="json")) as server:
            first = wait_for(lambda: server.role("zygote"), 30, "a zygote")
            layouts = set()

            def another_layout():
                session = server.sandbox.create()
                maps = session.code("print(open('/proc/self/maps').read())").stdout
                session.delete()
                layouts.add(re.search("([0-9a-f]+)-.*libc", maps).group(1))
                return server.role("zygote") not in (None, first) and len(layouts) > 1

            wait_for(another_layout, 60, "an address layout that is not shared for ever")
            wait_for(lambda: process_tree.title(first) != "rookery: zygote", 30, "the end of the first zygote")
            self.assertGreater(len(layouts), 1, "an address layout that is shared for ever")


if __name__ == "__main__":
    sys.exit(unittest.main())
