# SPDX-License-Identifier: Apache-2.0
"""Programs that print without end or measure, and programs that do not end when they are told to."""

from watched import AbuseTestCase


class Output(AbuseTestCase):
    def cut(self, _, result):
        self.assertEqual(result.return_code, 0, result)
        self.assertEqual(result.field("limit"), "output", result)

    def test_endless_output(self):
        self.abuse("while True: print('y' * 1000)")
        self.abuse("yes", tool="bash")
        self.abuse("yes >&2", tool="bash")

    def test_endless_binary_output(self):
        self.abuse("cat /dev/urandom", tool="bash")
        self.abuse("import os\nwhile True: os.write(1, bytes(range(256)) * 256)")

    def test_one_line_of_100_mb(self):
        self.abuse("import sys; sys.stdout.write('x' * 100_000_000)", 30, check=self.cut)

    def test_a_million_tiny_writes(self):
        self.abuse("import os\nfor _ in range(1_000_000): os.write(1, b'x')", 60)
        self.abuse("import sys\nfor i in range(1_000_000): sys.stdout.write('x'); sys.stdout.flush()", 60)

    def test_output_of_many_writers_at_once(self):
        self.abuse("for i in $(seq 40); do yes $i & done; wait", tool="bash")


class Stubborn(AbuseTestCase):
    def ended(self, _, result):
        self.assertEqual((result.return_code, result.field("timed_out")), (-1, True), result)

    def test_an_interrupt_that_is_ignored_or_blocked(self):
        for source in ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
                       "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: pass",
                       "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
                       "trap '' INT TERM HUP QUIT; while :; do sleep 1; done"):
            with self.subTest(source=source[:40]):
                self.abuse(source, 1, tool="bash" if source.startswith("trap") else "code", check=self.ended)

    def test_loops_in_c_that_see_no_interrupt(self):
        for source in ("sum(range(10 ** 12))", "10 ** 10 ** 8", "import re; re.match('(a+)+$', 'a' * 60 + 'b')", "list(filter(None, iter(int, 1)))",
                       "import ctypes; ctypes.PyDLL(None).pause()", "import ctypes; ctypes.PyDLL(None).sleep(1000)"):
            with self.subTest(source=source):
                self.abuse(source, 1, check=self.ended)

    def test_a_program_that_stops_itself_or_is_stopped(self):
        self.abuse("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", 1, check=self.ended)
        self.abuse("kill -STOP $$", 1, tool="bash", check=self.ended)
        self.abuse("sleep 60 & kill -STOP $!; wait", 1, tool="bash", check=self.ended)

    def test_daemons_that_outlive_the_call(self):
        self.abuse("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.closerange(0, 1024)\n        while True: time.sleep(1)\n    os._exit(0)\nos.wait()")
        self.abuse("setsid nohup sh -c 'trap \"\" TERM HUP INT; while :; do :; done' >/dev/null 2>&1 & disown -a; echo started", tool="bash")

    def test_exceptions_that_raise_when_they_are_printed(self):
        for source in ("class E(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise E()",
                       "class E(Exception):\n    def __str__(self): return 5\nraise E()", "class M(type):\n    def __getattribute__(*a): raise KeyError\nclass E(Exception, metaclass=M): pass\nraise E()",
                       "class E(Exception):\n    def __getattribute__(self, n): raise SystemExit(0)\nraise E()", "class E(BaseException): pass\nE.__module__ = 7\nE.__qualname__ = 'x' * 10_000_000\nraise E()",
                       "import sys\nsys.excepthook = sys.unraisablehook = lambda *a: 1 / 0\nraise ValueError('x')"):
            with self.subTest(source=source[:60]):
                self.abuse(source, 5, check=lambda _, result: self.assertNotEqual(result.return_code, 0, result))
