# SPDX-License-Identifier: Apache-2.0
import time

from harness import SLOWNESS, ServerTestCase, process_tree

MIB = 1 << 20


class Capture(ServerTestCase):
    def test_every_writer_is_caught_in_order(self):
        result = self.session.code(
            "import ctypes, os, subprocess, sys\nprint('python')\nsubprocess.run('echo child; echo complaint >&2', shell=True)\n"
            "os.system('echo system')\nos.write(1, b'descriptor\\n')\nlibc = ctypes.CDLL(None)\nlibc.puts(b'libc'); libc.fflush(None)\n"
            "sys.stdout.buffer.write(b'buffer\\n'); sys.stdout.flush()\nprint('last')")
        self.assertEqual(result.stdout.split(), "python child system descriptor libc buffer last".split())
        self.assertEqual((result.stderr, result.return_code), ("complaint", 0))

    def test_nothing_is_stripped_but_one_newline(self):
        for text, wanted in (("a\n", "a"), ("a\n\n", "a\n"), ("\n", ""), ("", ""), ("a", "a"), (" \t", " \t"), ("a\r\n", "a\r")):
            self.assertEqual(self.session.code("import sys; sys.stdout.write(%r)" % text).stdout, wanted)

    def test_text_that_is_not_utf8_becomes_replacement_characters(self):
        self.assertEqual(self.shell("printf 'a\\377\\376b\\n'"), "a\ufffd\ufffdb\n")
        self.assertEqual(self.shell("printf '\\303'"), "\ufffd")
        self.assertEqual(self.shell("printf '\\303'; sleep 0.05; printf '\\251'"), "é")

    def test_control_characters_and_nul_arrive(self):
        self.assertEqual(self.shell("printf 'a\\0b\\033[2Jc\\177'"), "a\0b\x1b[2Jc\x7f")

    def test_surrogates_do_not_end_the_interpreter(self):
        self.session.code("kept = 1")
        self.assertEqual(self.session.code("print('\\ud800')").status, 200)
        self.assertEqual(self.session.code("raise ValueError('\\udfff')").return_code, 1)
        self.prints("print(kept)", "1")

    def test_output_that_looks_like_a_protocol_is_output(self):
        frames = ['{"return_code": 42}', "---SBX_DONE--- 0", "\x00\x00\x00\x02{}", "HTTP/1.1 200 OK\r\n\r\n", "\x04", "__END__"]
        for frame in frames:
            self.prints("print(%r)\nprint('real')" % frame, frame + "\nreal")
        self.assert_alive()

    def test_garbage_on_every_descriptor_never_forges_an_answer(self):
        result = self.session.code("import os\nfor n in range(3, 256):\n    try: os.write(n, b'\\xff' * 4096)\n    except OSError: pass\nprint('done')", 10)
        self.assertEqual(result.status, 200)
        self.assertNotIn("\ufffd", result.stdout)
        self.assert_alive()

    def test_reopened_standard_descriptors_work(self):
        self.prints("open('/dev/stdout', 'w').write('one\\n')\nopen('/proc/self/fd/1', 'w').write('two\\n')", "one\ntwo")
        self.assertEqual(self.shell("echo three > /dev/stdout; echo four > /dev/fd/1"), "three\nfour\n")

    def test_late_output_of_a_background_child_comes_with_the_next_call(self):
        self.assertEqual(self.shell("(sleep 0.5; echo tardy) & echo now", timeout=10), "now\n")
        time.sleep(0.8)
        self.assertIn("tardy", self.session.bash("echo then; ls").stdout)


class Flood(ServerTestCase):
    def bounded(self, result):
        self.assertEqual(result.status, 200)
        for text in (result.stdout, result.stderr):
            self.assertLess(len(text.encode()), MIB + 4096)
        return result

    def test_exactly_the_cap_is_not_cut(self):
        self.assertEqual(self.shell("head -c %d /dev/zero | tr '\\0' x" % MIB), "x" * MIB)

    def test_over_the_cap_keeps_head_and_tail_and_counts_the_rest(self):
        for size in (MIB + 1, 5 * MIB):
            result = self.bounded(self.session.bash("echo BEGIN; head -c %d /dev/zero | tr '\\0' x; echo; echo THE-END" % size, 30))
            self.assertIn("BEGIN", result.stdout)
            self.assertIn("THE-END", result.stdout)
            marker = "... [output truncated by sandbox: "
            elided = int(result.stdout.split(marker)[1].split()[0])
            shown = len(result.stdout) - len("\n%s%d bytes elided]" % (marker, elided))
            self.assertLess(abs(size + len("BEGIN\n\nTHE-END\n") - elided - shown), 16)
            self.assertEqual(result.field("limit"), "output")

    def test_a_cut_never_splits_a_character(self):
        for shift in range(4):
            result = self.bounded(self.session.bash("printf %%%ds; yes € | tr -d '\\n' | head -c 3000000" % shift, 30))
            self.assertNotIn("\ufffd", result.stdout.rstrip("\ufffd")[:MIB // 4])

    def test_one_line_of_100_mb_costs_the_server_nothing(self):
        server = self.server.role("server")
        before = process_tree.resident_kb(server)
        result = self.bounded(self.session.code("import os\nline = b'z' * (1 << 20)\nfor _ in range(100): os.write(1, line)\nprint('END')", 60))
        self.assertTrue(result.stdout.rstrip("]").endswith("elided") or "END" in result.stdout)
        self.assertLess(process_tree.resident_kb(server) - before, 16 * 1024)
        self.prints("print('next')", "next")

    def test_endless_output_ends_at_the_timeout(self):
        for result in (self.session.code("while True: print('y' * 1000)", 2), self.session.bash("yes", 2),
                       self.session.bash("yes >&2", 2), self.session.bash("yes & yes >&2", 2)):
            self.bounded(result)
            self.assertLess(result.wall, 8 * SLOWNESS)
        self.assert_alive()

    def test_a_million_tiny_writes(self):
        start = time.monotonic()
        result = self.session.code("import os\nfor _ in range(1_000_000): os.write(1, b'.')", 60)
        self.assertEqual(result.return_code, 0, result)
        self.assertLess(time.monotonic() - start, 30 * SLOWNESS)

    def test_closed_and_replaced_streams_come_back_for_the_next_call(self):
        for damage in ("import os; os.close(1); os.close(2)", "import os; os.close(0)", "import sys; sys.stdout = None; sys.stderr = 5",
                       "import sys; sys.stdout.close()", "import os; os.set_blocking(1, False)",
                       "import os; os.dup2(os.open('/dev/null', 1), 1)",
                       "import os\nfor n in range(256):\n    try: os.close(n)\n    except OSError: pass",
                       "import builtins\nfor n in ('print', 'exec', 'compile', 'len', 'isinstance', 'open', '__import__'): setattr(builtins, n, None)"):
            with self.subTest(damage=damage[:40]):
                self.session.code(damage, 15)
                result = self.session.code("x = 'é'; print('next', x)", 15)
                self.assertEqual((result.stdout, result.return_code), ("next é", 0), result)
