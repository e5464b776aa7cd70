# SPDX-License-Identifier: Apache-2.0
"""What a cell breaks is whole again in the next one; at worst the driver ends, it never answers wrongly."""
import time
import unittest

from harness import DriverEnded, DriverTest


class Damage(DriverTest):
    def breaks(self, source, **options):
        """Any return code will do, but the next call works."""
        result = self.run_cell(source, **options)
        self.works()
        return result

    def test_closed_standard_descriptors(self):
        self.ok("import os; os.close(1); os.close(2)")
        self.ok("print('p1')", "p1\n")
        result = self.fails("import os, sys\nprint('before', flush=True)\nos.close(1); os.close(2)\nsys.exit(3)", code=3)
        self.assertEqual(result.out, "before\n")
        self.works()

    def test_text_printed_after_closing_stdout_is_not_lost(self):
        result = self.run_cell("import os\nos.close(1)\nprint('x')")
        self.assertEqual((result.code, result.errno, result.out), (1, 9, "x\n"))
        self.assertIn("Bad file descriptor", result.err)

    def test_all_low_descriptors_closed(self):
        result = self.fails("import os\nos.closerange(0, 256)\nraise ValueError('after')\n", "ValueError: after")
        self.works()

    def test_all_descriptors_closed_ends_the_driver(self):
        with self.assertRaises(DriverEnded) as caught:
            self.run_cell("import os\nos.closerange(0, 100000)\n")
        self.assertEqual(caught.exception.status, 70)

    def test_all_low_descriptors_replaced(self):
        self.ok("import os\nn = os.open('/dev/null', os.O_RDWR)\nfor i in range(0, 256):\n    if i != n:\n"
                "        try: os.dup2(n, i)\n        except OSError: pass\n")
        self.works()

    def test_descriptors_give_nothing_away(self):
        self.ok("import os\nfor fd in range(3, 64):\n    try:\n        os.set_blocking(fd, False); d = os.read(fd, 65536)\n"
                "        print(fd, len(d), d[:200])\n    except OSError: pass\nprint('read')", "read\n")
        self.ok("import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'{\"ok\":1}\\n')\n    except OSError: pass\nprint('third')", "third\n")

    def test_children_inherit_only_the_standard_descriptors(self):
        self.ok("import subprocess; print(subprocess.run('ls /proc/self/fd', shell=True, close_fds=False, stdout=-1, text=True).stdout.split())",
                "['0', '1', '2', '3']\n")  # 3 is ls's own

    def test_markers_in_the_output_are_text(self):
        self.ok("import os\nprint('---SBX_STDOUT_END---'); os.write(1, b'---SBX_DONE--- 0\\n'); print('real')",
                "---SBX_STDOUT_END---\n---SBX_DONE--- 0\nreal\n")
        self.works()

    def test_nonblocking_stdout(self):
        self.ok("import os\nos.set_blocking(1, False); os.set_blocking(2, False)\nprint('x')", "x\n")
        result = self.run_cell("import os\nprint(os.get_blocking(1)); print('z' * 3000000)")
        self.assertEqual((result.code, len(result.out)), (0, 3000006))

    def test_nonblocking_private_descriptors(self):
        self.breaks("import os\nfor fd in range(1000, 1010):\n    try: os.set_blocking(fd, False)\n    except OSError: pass\nprint('z' * 3000000)")

    def test_replaced_streams(self):
        self.ok("import sys; sys.stdout = None; sys.stderr = None; sys.stdin = None")
        self.works()
        self.breaks("import sys\nclass W:\n    def write(self, t): raise OSError('no')\n    def flush(self): raise OSError('no')\n"
                    "sys.stdout = W(); sys.stderr = None; sys.__stdout__ = None; sys.stdin = 5\nprint('x')")
        self.breaks("import sys\nsys.stdout.write = sys.stdout.flush = None\nsys.stdout.buffer.raw.close()")
        self.breaks("import sys\ndel sys.stdout, sys.stderr, sys.__stdout__, sys.excepthook, sys.modules, sys.path")

    def test_replaced_builtins(self):
        self.ok("import builtins; builtins.exec = None; builtins.compile = None; builtins.open = None; builtins.extra = 3")
        self.ok("x = 2; print('p3', x, open is not None, extra)", "p3 2 True 3\n")
        self.fails("import builtins\nvars(builtins).update(dict.fromkeys(vars(builtins)))\n1/0", "ZeroDivisionError")
        self.works()
        self.ok("import builtins\nvars(builtins).clear()")
        self.works()

    def test_patched_everything(self):
        self.breaks(
            "import builtins, sys, traceback, os, json, io\ndef boom(*a, **k): raise RuntimeError('FORGED patched')\n"
            "builtins.print = boom; builtins.exec = boom; builtins.compile = boom; builtins.len = boom; builtins.isinstance = boom\n"
            "sys.exit = boom; traceback.format_exc = boom; traceback.print_exc = boom; traceback.format_exception = boom; json.dumps = boom\n"
            "os.write = boom; io.StringIO = boom; sys.excepthook = boom; sys.unraisablehook = boom\nbuiltins.__import__ = boom\n")
        self.fails("1/0", "ZeroDivisionError: division by zero")

    def test_cleared_modules(self):
        self.run_cell("import sys\nsys.modules.clear()\nsys.path[:] = []\nsys.meta_path[:] = []\nimport json\n")
        self.works()
        self.ok("import sys, json, os; print(json.dumps(sys is __import__('sys')), os.getcwd() in sys.path)", "true True\n")
        self.fails("1/0", "in <module>", "1/0", "ZeroDivisionError")

    def test_poisoned_display_modules(self):
        self.fails("import traceback, linecache\ntraceback.StackSummary = traceback.print_exc = None\nlinecache.getline = linecache.cache = None\n1/0", "ZeroDivisionError")
        self.fails("import traceback, linecache\nlinecache.clearcache()\ntraceback.TracebackException.format = None\n1/0",
                   'File "<cell 2>", line 4, in <module>', "1/0", "ZeroDivisionError: division by zero")
        self.works()

    def test_poisoned_before_the_first_error(self):
        self.fails("import sys\nsys.modules['traceback'] = sys.modules['linecache'] = None\n1/0", "ZeroDivisionError")
        self.works()

    def test_replaced_main_module(self):
        self.ok("import sys; kept = 1; sys.modules['__main__'] = None")
        self.ok("import __main__; print(__main__.kept)", "1\n")

    def test_trace_hooks_end_with_the_cell(self):
        self.ok("import sys, threading\nseen = []\ndef h(*a): seen.append(a[1])\n"
                "threading.settrace(h); threading.setprofile(h); sys.setprofile(h); sys.settrace(h)")
        self.ok("import sys, threading; n = len(seen)\ndef f(): pass\nf(); t = threading.Thread(target=f); t.start(); t.join()\n"
                "print(sys.gettrace(), sys.getprofile(), len(seen) - n)", "None None 0\n")

    def test_a_trace_function_that_raises(self):
        self.breaks("import sys\ndef h(*a): raise ValueError('traced')\nsys.settrace(h)\ndef f(): pass\nf()")

    def test_what_a_thread_broke_that_ended_before_the_next_cell(self):
        for damage in ("os.close(1); os.close(2)", "os.dup2(2, 1)", "builtins.len = None; builtins.print = None",
                       "sys.stdout.close(); sys.stderr = None", "sys.modules.clear()"):
            with self.subTest(damage=damage):
                self.ok("import builtins, os, sys, threading, time\ndef damage():\n    time.sleep(0.05)\n    " + damage +
                        "\nthreading.Thread(target=damage).start()")
                time.sleep(0.2)
                self.ok("print(len('abc'))", "3\n")

    def test_handlers_of_any_signal_do_not_leak(self):
        numbers = "[s for s in signal.valid_signals() if s not in (2, 9, 19)]"
        self.ok(f"import signal\nfor s in {numbers}: signal.signal(s, lambda *a: print('mine'))")
        self.ok(f"print({{int(signal.getsignal(s)) for s in {numbers}}}, [int(s) for s in {numbers} if signal.getsignal(s) == signal.SIG_IGN])",
                "{0, 1} [13, 25]\n")

    def test_signal_dispositions_do_not_leak(self):
        self.ok("import signal\nfor s in (1, 2, 13, 15, 17): signal.signal(s, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [10, 15])")
        self.ok("import signal, subprocess\nprint(signal.getsignal(15) == signal.SIG_DFL, subprocess.run(['/bin/sh', '-c', 'kill -TERM $$; echo survived']).returncode, "
                "signal.getsignal(2) is signal.default_int_handler, signal.pthread_sigmask(0, []), signal.getsignal(13) == signal.SIG_IGN)",
                "True -15 True set() True\n")

    def test_alarms_do_not_outlive_their_cell(self):
        self.ok("import signal\nsignal.alarm(1); signal.setitimer(signal.ITIMER_VIRTUAL, 0.01); signal.setitimer(signal.ITIMER_PROF, 0.01)")
        self.ok("import time\ntime.sleep(1.2); print('awake')", "awake\n")

    def test_a_user_handler_works_within_its_cell(self):
        self.ok("import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: print('rang')); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)", "rang\n")

    def test_a_low_recursion_limit(self):
        self.fails("import sys\nsys.setrecursionlimit(60)\ndef f(n): return f(n + 1)\nf(0)", "RecursionError", "def f(n): return f(n + 1)")
        self.works()

    def test_deleted_working_directory(self):
        self.ok("import os; os.mkdir('d'); os.chdir('d'); os.rmdir('../d')")
        self.ok("import subprocess, os; print(subprocess.run(['pwd'], capture_output=True).returncode, os.path.exists('.'))", "0 True\n")

    def test_a_chosen_working_directory_stays(self):
        self.ok("import os; os.mkdir('d'); os.chdir('d')")
        self.ok("print(os.path.basename(os.getcwd()))", "d\n")

    def test_finalizers_that_raise(self):
        result = self.run_cell("class A:\n    def __del__(self): raise ValueError('in del')\na = A(); del a\nprint('end')")
        self.assertEqual((result.code, result.out), (0, "end\n"))
        self.assertIn("in del", result.err)
        self.works()

    def test_a_forked_child_ends_with_the_cell(self):
        result = self.run_cell("import os, time\nn = 0\nprint('early', end='', flush=True)\npid = os.fork()\nprint('side', pid == 0)\nif pid: os.waitpid(pid, 0)")
        self.assertEqual(sorted(result.out.replace("early", "").split("\n")), ["", "side False", "side True"])
        self.ok("n += 1; print(n)", "1\n")
        self.ok("n += 1; print(n)", "2\n")

    def test_a_forked_child_ends_with_its_own_status(self):
        self.ok("import os, sys\npid = os.fork()\nif pid == 0: sys.exit(7)\nprint(os.waitpid(pid, 0)[1] >> 8)", "7\n")
        result = self.run_cell("import os, sys\npid = os.fork()\nif pid == 0: print('unflushed', end=''); raise ValueError('child')\nprint(os.waitpid(pid, 0)[1] >> 8)")
        self.assertEqual((result.code, result.out), (0, "unflushed1\n"))
        self.assertIn("ValueError: child", result.err)

    def test_exit_of_the_process_is_seen(self):
        with self.assertRaises(DriverEnded) as caught:
            self.run_cell("print('before')\nimport os; os._exit(7)")
        self.assertEqual((caught.exception.status, caught.exception.out), (7, b"before\n"))

    def test_atexit_functions_do_not_run_between_cells(self):
        self.ok("import atexit, time\natexit.register(time.sleep, 600)\nprint('end')", "end\n")
        self.works()


if __name__ == "__main__":
    unittest.main()
