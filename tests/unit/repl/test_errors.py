# SPDX-License-Identifier: Apache-2.0
"""Return codes, tracebacks, and exceptions that resist being shown."""
import unittest

from harness import DriverTest, VERSION

LIMIT = 80 * 1024


class ReturnCodes(DriverTest):
    def test_sys_exit(self):
        for argument, code in (("", 0), ("None", 0), ("0", 0), ("3", 3), ("True", 1), ("300", 300), ("-1", -1),
                               ("10**30", 2**31 - 1), ("-10**30", -2**31)):
            result = self.run_cell(f"import sys\nsys.exit({argument})")
            self.assertEqual((result.code, result.out, result.err), (code, "", ""), argument)
        self.assertEqual(self.run_cell("raise SystemExit").code, 0)
        self.ok("exit()")
        self.works()

    def test_sys_exit_with_text(self):
        result = self.fails("import sys\nsys.exit('message')")
        self.assertEqual(result.err, "message\n")
        self.fails("import sys\nsys.exit(('a', 1))", "('a', 1)\n")
        self.works()

    def test_sys_exit_with_a_hostile_code(self):
        self.fails("class C:\n    def __str__(self): raise ValueError\nraise SystemExit(C())")
        self.fails("class X(SystemExit):\n    code = property(lambda self: 1/0)\nraise X(1)")
        self.works()

    def test_sys_exit_in_a_thread(self):
        self.ok("import sys, threading\nt = threading.Thread(target=sys.exit, args=(5,)); t.start(); t.join(); print('on')", "on\n")

    def test_base_exceptions(self):
        self.fails("class Q(BaseException): pass\nraise Q('q')", "Q: q")
        self.fails("raise KeyboardInterrupt", "KeyboardInterrupt")
        self.fails("raise GeneratorExit", "GeneratorExit")
        self.works()

    def test_errno_of_an_uncaught_os_error(self):
        self.assertEqual(self.fails("open('nowhere')", "FileNotFoundError").errno, 2)
        self.assertEqual(self.fails("raise OSError(28, 'full')", "OSError: [Errno 28] full").errno, 28)
        self.assertEqual(self.fails("raise OSError('no number')").errno, 0)
        self.assertEqual(self.fails("raise MemoryError").errno, 12)
        self.assertEqual(self.fails("1/0").errno, 0)
        self.assertEqual(self.fails("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
                                    "with open('f', 'wb', buffering=0) as f:\n    f.write(b'x'*1000); f.write(b'x')").errno, 27)


class Tracebacks(DriverTest):
    def test_frames_of_two_cells_with_their_lines(self):
        self.ok("def half(v):\n    return v / 0\n")
        result = self.fails("half(3)")
        lines = [line for line in result.err.split("\n") if not line.strip(" ^~") == ""]
        self.assertEqual(lines, [
            "Traceback (most recent call last):", '  File "<cell 2>", line 1, in <module>', "    half(3)",
            '  File "<cell 1>", line 2, in half', "    return v / 0", "ZeroDivisionError: division by zero"])

    def test_syntax_error_with_caret(self):
        result = self.fails("x = 1\ny = (\n")
        self.assertIn('  File "<cell 1>", line 2\n    y = (\n        ^\n' if VERSION >= (3, 10) else "SyntaxError", result.err)
        self.assertNotIn("Traceback", result.err)
        self.works()

    def test_syntax_error_in_evaluated_text_shows_its_caller(self):
        self.fails("eval('1 +')", 'File "<cell 1>", line 1, in <module>', 'File "<string>", line 1', "SyntaxError")

    def test_library_frames_are_shown(self):
        self.fails("import json\njson.loads('{')", "json/decoder.py", "JSONDecodeError")

    def test_chained_exceptions(self):
        self.fails("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('v') from e",
                   "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause", "ValueError: v")
        self.fails("try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError('v')", "During handling of the above")
        result = self.fails("try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError('v') from None", "ValueError: v")
        self.assertNotIn("ZeroDivision", result.err)

    def test_notes_groups_and_suggestions(self):
        if VERSION >= (3, 11):
            self.fails("e = ValueError('v'); e.add_note('a note'); raise e", "a note")
            self.fails("raise ExceptionGroup('g', [ValueError(1), ExceptionGroup('h', [KeyError('k')])])",
                       "| ExceptionGroup: g (2 sub-exceptions)", "ValueError: 1", "KeyError: 'k'")
            self.fails("raise ExceptionGroup('g', [ValueError(i) for i in range(40)])", "ValueError: 14", "and 25 more exceptions")
            self.fails("raise ExceptionGroup('g', [ExceptionGroup('h', [ValueError(i) for i in range(15)]) for _ in range(15)])", "[not shown]")
        if VERSION >= (3, 12):
            self.fails("variable = 1\nvariabel", "Did you mean: 'variable'")

    def test_recursion_is_folded(self):
        result = self.fails("def f(): f()\nf()", "RecursionError")
        self.assertLess(len(result.err), 5000)
        self.assertIn("Previous line repeated", result.err)
        result = self.fails("import sys\nsys.setrecursionlimit(20000)\ndef a(n): return b(n-1) if n else 1/0\ndef b(n): return a(n)\na(8000)", "ZeroDivisionError")
        self.assertLess(len(result.err), LIMIT)

    def test_a_long_message_is_cut_in_the_middle(self):
        result = self.fails("raise ValueError('a' * 10_000_000 + 'the end')", "ValueError: aaa", "the end", "characters left out")
        self.assertLess(len(result.err), LIMIT)

    def test_undecodable_text_in_a_message(self):
        self.fails("raise ValueError('x\\ud800y')", "x\\ud800y")

    def test_old_sources_are_dropped(self):
        self.ok("def f(): return 1/0")
        for _ in range(3):
            self.ok("#" * 4_000_000)
        self.fails("f()", "def f(): return 1/0")
        for _ in range(2):
            self.ok("#" * 4_000_000)
        result = self.fails("f()", 'File "<cell 1>", line 1, in f', "ZeroDivisionError")
        self.assertNotIn("def f", result.err)


class Hostile(DriverTest):
    def bounded(self, source, *expected, **options):
        result = self.fails(source, *expected, **options)
        self.assertLess(len(result.err), LIMIT)
        self.works()
        return result

    def test_str_that_raises(self):
        self.bounded("class E(Exception):\n    def __str__(self): raise ValueError\nraise E()", "E: <")

    def test_str_that_raises_exit(self):
        self.bounded("class E(Exception):\n    def __str__(self): raise SystemExit(5)\nraise E()", "E")

    def test_str_that_sleeps_is_interrupted(self):
        self.assertLess(self.bounded("import time\nclass E(Exception):\n    def __str__(self): time.sleep(600)\nraise E()", "E",
                                     interrupt_after=0.3).seconds, 3)

    def test_str_that_returns_nonsense(self):
        self.bounded("class E(Exception):\n    def __str__(self): return 5\nraise E()", "E")

    def test_attributes_that_raise(self):
        self.bounded("class E(Exception):\n    def __getattribute__(self, n): raise ValueError(n)\nraise E('x')", "E")
        self.bounded("class M(type):\n    def __getattribute__(c, n): raise ValueError(n)\nclass E(Exception, metaclass=M): pass\nraise E('x')", "E: x")
        self.bounded("class E(OSError):\n    errno = property(lambda s: 1/0)\nraise E(1, 'x')", "E")
        self.bounded("class E(Exception):\n    __cause__ = property(lambda s: s)\n    __context__ = 5\nraise E('x')", "E")
        self.bounded("class E(Exception):\n    __class__ = int\nraise E('x')", "E")

    def test_deep_chain(self):
        self.bounded("e = None\nfor i in range(100000):\n    n = ValueError(i); n.__cause__ = e; e = n\nraise e",
                     "ValueError: 99999", "earlier exceptions of the chain are not shown", timeout=20)

    def test_chain_cycle(self):
        self.bounded("a = ValueError('a'); b = ValueError('b'); a.__cause__ = b; b.__cause__ = a\nraise a", "ValueError: a", "ValueError: b")

    @unittest.skipIf(VERSION < (3, 11), "exception groups came with Python 3.11")
    def test_deep_and_wide_groups(self):
        self.bounded("g = ValueError('leaf')\nfor i in range(3000): g = ExceptionGroup('g', [g])\nraise g", "ExceptionGroup: g", timeout=20)
        self.bounded("raise ExceptionGroup('g', [ValueError(i) for i in range(300000)])", "ExceptionGroup: g", timeout=20)

    def test_deeply_nested_source(self):
        self.bounded("x = " + "(" * 500 + ")" * 500)
        self.bounded("exec('1' + '(' * 500)")
        self.bounded("+".join(["1"] * 3) + " +")

    def test_warnings_as_errors_while_compiling(self):
        self.ok("import warnings; warnings.simplefilter('error')")
        self.bounded("x = '\\d'", "SyntaxError")


if __name__ == "__main__":
    unittest.main()
