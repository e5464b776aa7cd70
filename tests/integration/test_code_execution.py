# SPDX-License-Identifier: Apache-2.0
import time

from harness import ServerTestCase


class State(ServerTestCase):
    def test_variables_imports_and_functions_persist(self):
        self.prints("import math\ndef area(r): return math.pi * r * r\nr = 2", "")
        self.prints("print(round(area(r), 2))", "12.57")

    def test_a_failed_call_keeps_what_ran_before_the_failure(self):
        result = self.session.code("a = 1\nb = 1 / 0")
        self.assertEqual(result.return_code, 1)
        self.prints("print(a, 'b' in globals())", "1 False")

    def test_main_module_looks_like_a_script(self):
        self.prints("print(__name__)", "__main__")
        self.prints("import sys, __main__\nclass A: pass\nprint(__main__.A is A, A.__module__, sys.argv)", "True __main__ ['']")

    def test_no_names_of_the_runner_in_globals(self):
        self.prints("print(sorted(k for k in globals() if not k.startswith('__')))", "[]")

    def test_unused_modules_are_not_predefined(self):
        result = self.session.code("os.getpid()")
        self.assertIn("NameError", result.stderr)

    def test_working_directory_is_back_when_it_was_removed(self):
        self.session.code("import os; os.mkdir('d'); os.chdir('d'); os.rmdir('../d')")
        self.assertEqual(self.shell("echo ok"), "ok\n")
        self.prints("import subprocess; print(subprocess.run(['pwd'], capture_output=True).returncode)", "0")

    def test_a_forked_child_does_not_answer_later_calls(self):
        self.assertIn("side False", self.session.code("import os\nn = 0\npid = os.fork()\nprint('side', pid == 0)").stdout)
        for wanted in ("1", "2"):  # the child's own line may come late
            self.assertEqual(self.session.code("n += 1; print(n)").stdout.splitlines()[-1], wanted)

    def test_timers_signals_and_hooks_do_not_reach_the_next_call(self):
        self.session.code("import signal, sys\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.setrecursionlimit(10**6)")
        self.session.code("import sys\nsys.excepthook = None\nsys.displayhook = None")
        result = self.session.code("1/0")
        self.assertIn("ZeroDivisionError", result.stderr)
        self.prints("import signal, subprocess\n"
                    "print(subprocess.run(['sh', '-c', 'kill -TERM $$; echo no'], capture_output=True).returncode)", "-15")


class Failures(ServerTestCase):
    def test_traceback_has_source_lines_of_every_call_it_crosses(self):
        self.session.code("def outer(f):\n    return f()")
        result = self.session.code("def inner():\n    raise KeyError('k')\n\nouter(inner)")
        for line in ("return f()", "raise KeyError('k')", "outer(inner)", "KeyError: 'k'"):
            self.assertIn(line, result.stderr)
        self.assertEqual(result.stderr.count('  File "'), 3, result.stderr)

    def test_chained_and_grouped_exceptions_are_shown(self):
        result = self.session.code("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('x') from e")
        self.assertIn("direct cause", result.stderr)
        result = self.session.code("raise ExceptionGroup('g', [ValueError(1), TypeError(2)])")
        self.assertIn("TypeError", result.stderr)

    def test_syntax_error_points_at_the_place(self):
        result = self.session.code("ok = 1\nx = (1,\nif y")
        self.assertEqual(result.return_code, 1)
        self.assertIn("SyntaxError", result.stderr)
        self.assertNotIn("driver", result.stderr)
        self.prints("print('ok' in globals())", "False")

    def test_exit_statuses(self):
        for source, code in (("raise SystemExit", 0), ("raise SystemExit(9)", 9), ("raise SystemExit(True)", 1),
                             ("exit(2)", 2), ("quit()", 0)):
            self.assertEqual(self.session.code(source).return_code, code, source)
        result = self.session.code("import sys\nprint('out')\nsys.exit('why')")
        self.assertEqual((result.return_code, result.stdout, result.stderr), (1, "out", "why"))

    def test_exceptions_that_cannot_be_printed_still_answer(self):
        for body in ("def __str__(self): raise RuntimeError('no')", "def __str__(self): return 5",
                     "__repr__ = __str__ = None", "def __str__(self): raise SystemExit(3)"):
            result = self.session.code("class E(Exception):\n    %s\nraise E()" % body, 10)
            self.assertEqual((result.status, result.return_code), (200, 1), body)
        self.assert_alive()

    def test_deep_recursion_is_an_ordinary_error(self):
        result = self.session.code("def f(): f()\nf()", 20)
        self.assertEqual(result.return_code, 1)
        self.assertIn("RecursionError", result.stderr)
        self.assert_alive()

    def test_base_exceptions_are_failures_not_ends(self):
        self.session.code("kept = 1")
        for name in ("KeyboardInterrupt", "GeneratorExit", "BaseException"):
            result = self.session.code("raise %s" % name)
            self.assertEqual(result.return_code, 1)
            self.assertIn(name, result.stderr)
        self.prints("print(kept)", "1")

    def test_nul_and_surrogates_in_the_source_never_break_the_session(self):
        for source in ("print('a\0b')", "'\ud800'", "print('" + "(" * 3000):
            self.assertIn(self.session.code(source).status, (200, 400, 422), source[:20])
        self.assert_alive()


class Restart(ServerTestCase):
    def test_own_exit_status_and_notice_with_files_kept(self):
        self.session.code("open('f', 'w').write('1'); v = 1")
        result = self.session.code("print('before'); import os; os._exit(7)")
        self.assertEqual((result.return_code, result.stdout), (7, "before"))
        self.assertIs(result.field("interpreter_restarted"), True)
        self.assertIn("variables", result.stderr)
        self.prints("import os; print('v' in globals(), os.listdir('.'))", "False ['f']")

    def test_a_signal_is_named(self):
        for source, code, name in (("import ctypes; ctypes.string_at(0)", -11, "SIGSEGV"),
                                   ("import os; os.abort()", -6, "SIGABRT"),
                                   ("import os; os.kill(os.getpid(), 9)", -9, "SIGKILL")):
            result = self.session.code(source, 20)
            self.assertIn(result.return_code, (code, 128 - code), result)
            self.assertIn(name, result.stderr)

    def test_a_signal_is_named_of_an_interpreter_that_has_just_started(self):
        for _ in range(20):
            result = self.session.code("import os; os.abort()", 20)
            self.assertIn("SIGABRT", result.stderr, result)

    def test_no_core_file_is_left(self):
        self.session.code("import ctypes; ctypes.string_at(0)")
        self.assertEqual(self.session.names(), [])

    def test_replacing_the_interpreter_by_another_program_ends_with_that_program(self):
        result = self.session.code("import os; os.execv('/bin/sh', ['sh', '-c', 'echo replaced; exit 5'])", 15)
        self.assertEqual(result.status, 200)
        self.assertNotEqual(result.return_code, 0)
        self.assert_alive()

    def test_restart_does_not_import_the_workspace(self):
        self.session.code("for n in ('random', 'json', 'os', 'sitecustomize', 'usercustomize', 'socket', 'traceback', 'linecache'):\n"
                          "    open(n + '.py', 'w').write('open(\"/tmp/planted\", \"a\").write(\"x\"); print(\"PLANTED\")')")
        self.session.code("import os; os._exit(1)")
        result = self.session.code("print('clean')\nimport os.path; print(os.path.exists('/tmp/planted'))")
        self.assertEqual((result.return_code, result.stdout), (0, "clean\nFalse"), result)


class LikeAScript(ServerTestCase):
    def test_multiprocessing_spawn_and_pool(self):
        self.session.put(b"def sq(n): return n * n\n", "work.py")
        self.prints("import multiprocessing as mp, work\n"
                    "with mp.get_context('spawn').Pool(2) as p: print(p.map(work.sq, range(4)))", "[0, 1, 4, 9]", timeout=60)

    def test_the_interpreter_can_start_itself(self):
        self.prints("import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout, end='')", "42")

    def test_threads_and_executors(self):
        self.prints("from concurrent.futures import ThreadPoolExecutor as T\n"
                    "with T(4) as e: print(sum(e.map(lambda n: n * n, range(5))))", "30")

    def test_top_level_await_async_for_and_asyncio_run(self):
        self.prints("import asyncio\nasync def gen():\n    for i in range(3): yield i\n"
                    "print([x async for x in gen()])\nasync for x in gen(): print(x)", "[0, 1, 2]\n0\n1\n2")
        self.prints("async def f(): return 3\nprint(asyncio.run(f()))", "3")

    def test_standard_library_that_needs_the_kernel(self):
        self.prints("import sqlite3, ssl, hashlib, decimal, zoneinfo, tempfile, mmap, socket, selectors, subprocess, ctypes\n"
                    "print(sqlite3.connect(':memory:').execute('select 1').fetchone())\n"
                    "print(subprocess.run(['true'], close_fds=True).returncode, len(tempfile.mkdtemp()) > 0)", "(1,)\n0 True")

    def test_input_is_at_its_end_at_once(self):
        start = time.monotonic()
        result = self.session.code("input('name? ')", 20)
        self.assertIn("EOFError", result.stderr)
        self.assertEqual(result.stdout, "name? ")
        self.assertLess(time.monotonic() - start, 5)

    def test_imports_of_workspace_files(self):
        self.prints("open('own.py', 'w').write('X = 41')\nimport own; print(own.X + 1)", "42")

    def test_a_silent_success_has_an_empty_stderr(self):
        self.assertEqual(self.session.code("import warnings, json, decimal, asyncio").stderr, "")
