# SPDX-License-Identifier: Apache-2.0
"""What a cell sees, and that its variables stay."""
import resource
import subprocess
import unittest

from harness import MAX_PAYLOAD, PYTHON, RUN_CODE, Driver, DriverTest, memory_file


class Cells(DriverTest):
    def test_variables_stay_between_cells(self):
        self.ok("x = 41")
        self.ok("print(x + 1)", "42\n")

    def test_a_last_expression_is_not_echoed(self):
        self.ok("1 + 1")

    def test_an_empty_cell_succeeds(self):
        self.ok("")
        self.ok("\n\n# nothing\n")

    def test_code_runs_in_a_real_main_module(self):
        self.ok("import __main__, sys, builtins\n"
                "print(__name__, __main__ is sys.modules['__main__'], vars(__main__) is globals(), __builtins__ is builtins)\n"
                "print(hasattr(__main__, '__file__'), '__file__' in globals())",
                "__main__ True True True\nFalse False\n")

    def test_globals_hold_no_driver_names(self):
        self.ok("print(sorted(n for n in globals() if not n.startswith('__')))", "[]\n")

    def test_driver_modules_are_not_importable_or_listed(self):
        self.ok("import sys\n"
                "print([n for n in sys.modules if 'rookery' in n or n == 'driver'], [p for p in sys.path if 'repl' in p and 'test' not in p])\n"
                "try: import _rookery\nexcept ImportError: print('no')", "[] []\nno\n")

    def test_argv_path_and_environment_look_fresh(self):
        self.ok("import sys, os\nprint(sys.argv, sys.path[-1] == os.getcwd(), sys.path[0] != os.getcwd())\n"
                "print([k for k in os.environ if k.startswith('ROOKERY')])", "[''] True True\n[]\n")

    def test_workspace_modules_are_importable(self):
        self.ok("open('mymod.py','w').write('X = 41')\nimport mymod; print(mymod.X + 1)", "42\n")

    def test_workspace_modules_do_not_shadow_the_standard_library(self):
        self.ok("for n in ('json','os','random','traceback','linecache','ast','asyncio','warnings'):\n"
                "    _ = open(n + '.py','w').write('print(\"FORGED\")')")
        self.ok("import random, json; print(json.dumps(1))", "1\n")
        result = self.fails("1/0", "ZeroDivisionError")
        self.assertNotIn("FORGED", result.out)

    def test_deleted_names_of_the_module_come_back(self):
        self.ok("globals().clear()")
        self.ok("print(__name__, len([1]))", "__main__ 1\n")

    def test_future_imports_hold_for_later_cells(self):
        self.ok("from __future__ import annotations")
        self.ok("def f(a: nowhere): pass\nprint(f.__annotations__)", "{'a': 'nowhere'}\n")

    def test_classes_pickle(self):
        self.ok("import pickle\nclass P: pass\nprint(type(pickle.loads(pickle.dumps(P()))).__name__)", "P\n")

    def test_dataclasses_and_doctest_work(self):
        self.ok("from dataclasses import dataclass\n@dataclass\nclass D:\n    x: int = 3\nprint(D())", "D(x=3)\n")
        self.ok("import doctest\ndef f():\n    '''\n    >>> f()\n    4\n    '''\n    return 4\nprint(doctest.testmod())",
                "TestResults(failed=0, attempted=1)\n")

    def test_getsource_of_functions_and_classes(self):
        self.ok("def half(v):\n    return v / 0\n\nclass A:\n    def m(self): return 1\n\nclass B:\n    x = 1\n")
        self.ok("class A2(A):\n    y = 2")
        self.ok("import inspect; print(inspect.getsource(half), inspect.getsource(A), inspect.getsource(B), inspect.getsource(A2), "
                "inspect.getsource(A.m), sep='|')",
                "def half(v):\n    return v / 0\n|class A:\n    def m(self): return 1\n|class B:\n    x = 1\n|class A2(A):\n    y = 2\n|    def m(self): return 1\n\n")

    def test_large_source_arrives_by_descriptor(self):
        text = "x = '" + "é" * MAX_PAYLOAD + "'\nprint(len(x))"
        self.ok(text, f"{MAX_PAYLOAD}\n")

    def test_too_large_source_is_an_error(self):
        self.fails("#" * (5 << 20), "OSError", "File too large")
        self.works()

    def test_large_source_with_no_descriptor_left_is_an_error(self):
        self.ok("import os\nheld = []\ntry:\n    while True: held.append(os.open('/dev/null', 0))\nexcept OSError: pass")
        result = self.fails("#" * (MAX_PAYLOAD + 1), "Too many open files")
        self.assertEqual(result.errno, 24)
        self.works()

    def test_malformed_packets_are_dropped(self):
        driver = self.driver
        driver.send_packet(RUN_CODE, b"print('bad')", magic=1)
        driver.send_packet(RUN_CODE, b"print('bad')", length=3)
        driver.send_packet(RUN_CODE + 1, b"print('bad')")
        driver.channel.send(b"x" * 70000)
        driver.send_packet(RUN_CODE, b"print('one')", [memory_file(b"print('two')") for _ in range(3)])
        self.assertEqual(driver.result().out, "one\n")
        self.works()

    def test_source_with_byte_order_mark_and_carriage_returns(self):
        self.ok("\ufeffx = 1\r\nprint(x)\rprint(2)", "1\n2\n")

    def test_invalid_source_text_is_an_error(self):
        self.fails(b"x = '\xff'", "UnicodeDecodeError")
        self.fails("x = 'a\x00b'\nexec('1' + '(' * 500)\n", "null bytes")
        self.works()

    def test_open_files_limit_is_lowered(self):
        self.ok("import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))", "(256, 256)\n")

    def test_a_failed_cell_keeps_no_objects_alive(self):
        self.fails("class Big:\n    def __del__(self): print('freed')\ndef f():\n    big = Big()\n    1/0\nf()", "ZeroDivisionError")
        self.ok("import gc; print(sum(type(o).__name__ == 'Big' for o in gc.get_objects()))", "0\n")

    def test_help_and_introspection_of_the_main_module(self):
        self.ok("import inspect, __main__\ntry: inspect.getfile(__main__)\nexcept TypeError: print('no file')", "no file\n")
        self.ok("class C: 'doc of C'\nimport pydoc; print('doc of C' in pydoc.render_doc(C), type(__main__).__name__)", "True module\n")

    def test_start_up_is_cheap(self):
        # In processor time, against a bare interpreter: a busy machine changes both.
        def cost(run):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

        bare = min(cost(lambda: subprocess.run([PYTHON, "-I", "-B", "-c", "pass"], check=True)) for _ in range(5))
        ours = min(cost(lambda: Driver().close()) for _ in range(5))
        self.assertLess(ours, 2 * bare + 0.03)

    def test_the_channel_closing_ends_the_driver(self):
        self.driver.channel.close()
        self.assertEqual(self.driver.wait(), 0)


class Echo(DriverTest):
    environment = {"ROOKERY_ECHO": "1"}

    def test_last_expression_is_shown(self):
        self.ok("1 + 1", "2\n")
        self.ok("None")
        self.ok("x = 5; x", "5\n")
        self.ok("1 + 1;")
        self.ok("(1 +\n 1) ; # no")
        self.ok("'a;b' # ;", "'a;b'\n")
        self.ok("x = 7")
        self.ok("import asyncio\nawait asyncio.sleep(0, 'slept')", "'slept'\n")

    def test_a_failing_repr_is_an_error(self):
        self.fails("class R:\n    def __repr__(self): raise ValueError('no repr')\nR()", "ValueError: no repr")
        self.works()


if __name__ == "__main__":
    unittest.main()
