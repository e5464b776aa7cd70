# SPDX-License-Identifier: Apache-2.0
from ..registry import clause, equal, expect, succeeds


@clause("bash_code_execution", "output is exact, trailing newlines included")
def exact(sandbox):
    with sandbox.create() as session:
        succeeds(session.bash("echo a; echo"), "a\n\n")
        succeeds(session.bash("printf 'no newline'"), "no newline")


@clause("bash_code_execution", "each call is a fresh shell in the workspace that shares its files with Python")
def fresh_shell(sandbox):
    with sandbox.create() as session:
        session.code("open('f', 'w').write('from python')")
        succeeds(session.bash("cat f; cd /tmp; export A=1"), "from python")
        succeeds(session.bash('echo "[$A]"; ls'), "[]\nf\n")


@clause("bash_code_execution", "the return code is the command's, or minus the signal that ended it")
def return_code(sandbox):
    with sandbox.create() as session:
        equal(session.bash("exit 42").return_code, 42)
        equal(session.bash("kill -9 $$").return_code, -9)
        equal(session.bash("kill -TERM $$").return_code, -15)
        result = session.bash("no-such-command")
        expect(result.return_code == 127 and "no-such-command" in result.stderr, result)


@clause("bash_code_execution", "standard input is empty")
def empty_stdin(sandbox):
    with sandbox.create() as session:
        result = session.bash('read x; echo "[$x]"; cat | wc -c', 10)
        equal((result.stdout, result.return_code), ("[]\n0\n", 0))
        expect(result.wall < 3, "took", result.wall)


@clause("bash_code_execution", "a call ends when its shell ends, not when the pipe closes")
def background_child(sandbox):
    with sandbox.create() as session:
        for command, wanted in (("sleep 30 & echo started", "started\n"), ("setsid sleep 30 >/dev/null & echo two", "two\n")):
            result = session.bash(command, 5)
            equal((result.stdout, result.return_code), (wanted, 0))
            expect(result.wall < 2, "took", result.wall)
        succeeds(session.bash("cat /proc/[0-9]*/comm | grep -c sleep"), "2\n")


@clause("bash_code_execution", "what a background child writes later is not lost")
def late_output(sandbox):
    import time

    with sandbox.create() as session:
        first = session.bash("(sleep 1; echo tardy) & echo now", 5)
        expect(first.wall < 0.9, "took", first.wall)
        time.sleep(1.3)
        later = session.bash("cat *.log 2>/dev/null; echo then", 5)
        expect("tardy" in later.stdout, later)


@clause("bash_code_execution", "the editor, Python and bash see one workspace")
def one_workspace(sandbox):
    with sandbox.create() as session:
        session.edit("create", "made.txt", file_text="by editor\n")
        succeeds(session.bash("cat made.txt; echo more >> made.txt"), "by editor\n")
        equal(bytes(session.get("made.txt").body), b"by editor\nmore\n")
