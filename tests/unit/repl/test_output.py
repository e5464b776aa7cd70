# SPDX-License-Identifier: Apache-2.0
"""What reaches stdout and stderr, and in which order."""
import unittest

from harness import DriverTest


class Output(DriverTest):
    def test_every_kind_of_output_arrives_in_order(self):
        self.ok("import os, subprocess, ctypes\nprint('a1')\nsubprocess.run(['sh','-c','echo b2; echo e3 >&2'])\n"
                "os.system('echo c4')\nos.write(1, b'd5\\n')\nlibc = ctypes.CDLL(None); libc.puts(b'f6'); libc.fflush(None)\nprint('g7')",
                "a1\nb2\nc4\nd5\nf6\ng7\n", "e3\n")

    def test_unflushed_c_output_belongs_to_its_call(self):
        self.ok("import ctypes; ctypes.CDLL(None).puts(b'from C')\nprint('from python')", "from python\nfrom C\n")
        self.works()

    def test_a_last_line_without_newline_arrives(self):
        self.ok("print('x', end='')", "x")
        self.ok("import sys; sys.stdout.write('y'); sys.stderr.write('z')", "y", "z")

    def test_binary_output_through_the_buffer(self):
        self.ok("import sys; sys.stdout.buffer.write(b'raw\\n'); print('text')", "raw\ntext\n")

    def test_input_ends_at_once_with_its_prompt_visible(self):
        self.ok("n = 7")
        result = self.fails("name = input('who? ')", "EOFError")
        self.assertEqual(result.out, "who? ")
        self.ok("print(n)", "7\n")
        self.ok("import sys; print(repr(sys.stdin.read()))", "''\n")
        self.ok("import sys; print(sys.stdin.readline() == '', list(sys.stdin))", "True []\n")
        self.ok("import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import sys; print(len(sys.stdin.read()))'], "
                "stdout=-1, text=True).stdout)", "0\n\n")

    def test_a_lone_surrogate_is_an_error_and_no_more(self):
        self.fails("print('x\\ud800y')", "UnicodeEncodeError")
        self.works()

    def test_undecodable_file_names_can_be_printed(self):
        self.ok("import os; print(os.fsdecode(b'caf\\xe9'))", "caf\ufffd\n")

    def test_large_output_is_complete(self):
        result = self.run_cell("print('BEGIN'); print('a'*20_000_000); print('THE-END')")
        self.assertEqual((len(result.out), result.out[-8:]), (20_000_000 + 15, "THE-END\n"))
        result = self.run_cell("import os\nfor _ in range(64): os.write(2, b'e'*1048576)\nprint('flooded')", timeout=30)
        self.assertEqual((result.out, len(result.err)), ("flooded\n", 64 << 20))

    def test_output_by_reopened_descriptor(self):
        self.ok("open('/proc/self/fd/1', 'w').write('via proc\\n')\nopen('/dev/stdout', 'w').write('via dev\\n')\nprint('plain')",
                "via proc\nvia dev\nplain\n")

    def test_a_wrapper_around_stdout_is_flushed(self):
        self.ok("import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('wrapped')", "wrapped\n")
        self.works()
        self.ok("import sys, codecs\nsys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)\nprint('wrapped é')", "wrapped é\n")
        self.works()

    def test_detached_and_closed_streams_come_back(self):
        self.ok("import sys\nb = sys.stdout.detach()\nsys.stderr.close()")
        self.works()
        self.ok("import sys; print('err', file=sys.stderr)", "", "err\n")
        self.ok("exit()")
        self.ok("import sys; print(sys.stdin.read() == '')", "True\n")

    def test_a_warning_shows_its_source_line(self):
        self.ok("import warnings\nwarnings.warn('careful')", "", "<cell 1>:2: UserWarning: careful\n  warnings.warn('careful')\n")

    def test_logging_keeps_its_stream_over_cells(self):
        self.ok("import logging; logging.warning('one')", "", "WARNING:root:one\n")
        self.ok("logging.warning('two')", "", "WARNING:root:two\n")

    def test_threads_write_between_cells(self):
        self.ok("import threading, time\ndef late():\n    time.sleep(0.2); print('late')\nthreading.Thread(target=late).start()")
        self.ok("time.sleep(0.4)", "late\n")


if __name__ == "__main__":
    unittest.main()
