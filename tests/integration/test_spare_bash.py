# SPDX-License-Identifier: Apache-2.0
"""The first bash of a session is started for its call; later ones have been started ahead. Nobody may notice."""
import time
import unittest

from harness import SLOWNESS, ServerTestCase, wait_for

COMMANDS = (
    "echo $0 $# $- \"$BASH_EXECUTION_STRING\"; shopt -o | sort",
    "env | sort; declare -p | grep -v -E 'BASHPID|PPID|RANDOM|SRANDOM|SECONDS|EPOCH|_=|BASH_ARGV'",
    "pwd; umask; ulimit -a; cat; echo end of input",
    "ls -l /proc/self/fd | sed 's/.* \\([0-9]*\\) -> /\\1 /; s/\\[[0-9]*\\]//; s/[0-9]* *\\/proc.*//'",
    "tr '\\0' '|' < /proc/$$/environ | grep -c LD_PRELOAD; tr '\\0' ' ' < /proc/self/environ | wc -w",
    "if then fi",
    "echo one\nno_such_command\nexit 3",
    "trap",
    "kill -9 $$",
    "f() { return 7; }; f; echo $?; cat <<X\nhere $((1 + 1))\nX",
    "printf '%s' 'ü \\x00'; echo $LINENO >&2",
    ": " + "x" * 100000 + "\necho $LINENO; ls /proc/self/fd | wc -l",
    "tr '\\0' ' ' < /proc/$$/cmdline | tr -s ' '",
)


class SpareBash(ServerTestCase):
    def answer(self, session, command):
        result = session.bash(command)
        return result.return_code, result.stdout, result.stderr

    def spare(self, session):
        """The pids, inside the jail, of the model and the bash that waits, the latter last; nothing without one."""
        code = ("import os\nfor name in os.listdir('/proc'):\n"
                "    if name.isdigit() and b'waits for its command' in open('/proc/' + name + '/cmdline', 'rb').read(): print(name)")
        return sorted(map(int, session.code(code).stdout.split()))

    def waiting(self, session):
        return wait_for(lambda: len(self.spare(session)) == 2, 10, "a bash that waits")

    def seconds(self, session):
        start = time.monotonic()
        session.bash("true")
        return time.monotonic() - start

    def test_a_command_has_the_same_answer_from_either(self):
        for command in COMMANDS:
            with self.subTest(command=command[:60]):
                first = self.answer(self.new_session(), command)
                session = self.new_session()
                session.bash("true")
                self.waiting(session)
                self.assertEqual(self.answer(session, command), first)

    def test_none_is_made_before_the_first_call_of_bash(self):
        session = self.new_session()
        self.assertEqual(self.spare(session), [])
        session.bash("true")
        self.waiting(session)

    def test_a_session_that_ends_or_stops_it_only_loses_the_head_start(self):
        for which in (slice(0, 1), slice(1, 2), slice(0, 2)):
            session = self.new_session()
            session.bash("true")
            for signal in ("SIGKILL", "SIGSTOP", "SIGTERM", "SIGKILL", "SIGKILL"):
                for pid in self.spare(session)[which]:
                    session.code("import os, signal; os.kill(%s, signal.%s)" % (pid, signal))
                with self.subTest(which=which, signal=signal):
                    self.assertEqual(self.answer(session, "echo $((40 + 2)); exit 5"), (5, "42\n", ""))

    def test_bash_is_fast_after_everything_was_ended(self):
        session = self.new_session()
        session.bash("true")
        self.waiting(session)
        self.assertNotEqual(session.bash("sleep 100", timeout_seconds=1).return_code, 0)
        self.assertEqual(self.answer(session, "echo again"), (0, "again\n", ""))
        self.waiting(session)

    def test_it_is_no_process_that_a_call_left_behind(self):
        """Output of what bash left running is waited for: not so for one that only waits."""
        session = self.new_session()
        session.bash("true")
        self.waiting(session)
        self.assertLess(min(self.seconds(session) for _ in range(10)), 0.02 * SLOWNESS)


if __name__ == "__main__":
    unittest.main()
