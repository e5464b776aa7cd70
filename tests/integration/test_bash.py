# SPDX-License-Identifier: Apache-2.0
import time

from harness import ServerTestCase, wait_for


class Bash(ServerTestCase):
    def test_output_is_byte_exact(self):
        self.assertEqual(self.shell("printf 'a\\n\\n'"), "a\n\n")
        self.assertEqual(self.shell("printf tail"), "tail")
        result = self.session.bash("echo out; echo err >&2; exit 5")
        self.assertEqual((result.stdout, result.stderr, result.return_code), ("out\n", "err\n", 5))

    def test_last_bytes_before_the_exit_are_never_lost(self):
        for number in range(60):
            self.assertEqual(self.shell("printf tail%d" % number), "tail%d" % number)

    def test_signals_are_negative_codes(self):
        for number in (1, 9, 15):
            self.assertEqual(self.session.bash("kill -%d $$" % number).return_code, -number)

    def test_each_call_is_a_fresh_shell_in_the_workspace(self):
        self.shell("cd /tmp; export A=1; alias x=y")
        self.assertEqual(self.shell('pwd; echo "[$A]"'), "/workspace\n[]\n")

    def test_home_and_path_are_set_and_python_is_found(self):
        self.assertEqual(self.shell("echo $HOME; python3 -c 'print(6 * 7)'"), "/workspace\n42\n")

    def test_standard_input_is_empty(self):
        self.assertEqual(self.shell("cat | wc -c; read x; echo \"[$x]\"", timeout=10), "0\n[]\n")

    def test_a_command_longer_than_one_argument_may_be(self):
        self.assertEqual(self.shell("echo begin; : " + "x" * 190_000 + "; echo end"), "begin\nend\n")

    def test_syntax_error_is_bashs_own(self):
        result = self.session.bash("if then")
        self.assertEqual(result.return_code, 2)
        self.assertIn("syntax error", result.stderr)

    def test_call_ends_with_the_shell_while_children_go_on(self):
        start = time.monotonic()
        self.assertEqual(self.shell("(sleep 1; echo done > marker) & echo started", timeout=20), "started\n")
        self.assertLess(time.monotonic() - start, 0.9)
        wait_for(lambda: self.session.names() == ["marker"], 10, "background child's file")

    def test_background_server_serves_the_next_call(self):
        self.session.put(b"hello", "page.txt")
        self.shell("python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &")
        self.prints("import time, urllib.request\nfor _ in range(100):\n    try:\n"
                    "        print(urllib.request.urlopen('http://127.0.0.1:8000/page.txt').read()); break\n"
                    "    except OSError: time.sleep(0.05)", "b'hello'")

    def test_python_and_bash_see_each_others_processes(self):
        self.shell("sleep 77 &")
        self.prints("import subprocess\nprint(subprocess.run('cat /proc/[0-9]*/cmdline | tr \"\\\\0\" \" \" | grep -c \"sleep 77\"',"
                    " shell=True, capture_output=True, text=True).stdout.strip())", "1")

    def test_descriptors_of_the_shell_are_the_standard_three(self):
        self.assertEqual(self.shell("ls /proc/self/fd | wc -l"), "4\n")
