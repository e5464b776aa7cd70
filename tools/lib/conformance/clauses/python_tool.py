# SPDX-License-Identifier: Apache-2.0
from ..registry import clause, equal, expect, succeeds


def runs(sandbox, *steps):
    """Runs (source, expected stdout) pairs in one session; None expects any output."""
    with sandbox.create() as session:
        for source, wanted in steps:
            succeeds(session.code(source, 30), wanted)


@clause("code_execution", "variables, imports and files persist across calls")
def stateful(sandbox):
    runs(sandbox, ("import math; x = 20", ""), ("y = x + 1", ""), ("print(math.floor(y + .5))", "21"),
         ("open('f', 'w').write('kept')", None), ("print(open('f').read())", "kept"))


@clause("code_execution", "sessions do not share variables or files")
def separate(sandbox):
    with sandbox.create() as one, sandbox.create() as two:
        one.code("secret = 1; open('secret', 'w').write('1')")
        succeeds(two.code("import os; print('secret' in globals(), os.listdir('.'))"), "False []")


@clause("code_execution", "one trailing newline is stripped, all else is exact")
def trailing_newline(sandbox):
    runs(sandbox, ("print(2)", "2"), ("print('a\\n')", "a\n"), ("print('x', end='')", "x"), ("print(' y ')", " y "))


@clause("code_execution", "a last expression is not echoed")
def no_echo(sandbox):
    runs(sandbox, ("1 + 1", ""), ("x = 5; x", ""))


@clause("code_execution", "a traceback shows the user's frames with their source lines and nothing of the server")
def traceback_text(sandbox):
    with sandbox.create() as session:
        succeeds(session.code("def half(v):\n    return v / 0\n"))
        result = session.code("a = 1\nhalf(3)")
        equal(result.return_code, 1)
        for part in ("Traceback (most recent call last)", "return v / 0", "half(3)", "line 2", "ZeroDivisionError"):
            expect(part in result.stderr, part, "not in", result.stderr)
        equal(result.stderr.count("File "), 2, "frames in " + result.stderr)
        succeeds(session.code("import inspect; print(inspect.getsource(half), end='')"), "def half(v):\n    return v / 0\n"[:-1])


@clause("code_execution", "a syntax error is a failed run that shows the line")
def syntax_error(sandbox):
    with sandbox.create() as session:
        result = session.code("x = 1\nfor for")
        equal(result.return_code, 1)
        expect("SyntaxError" in result.stderr and "for for" in result.stderr, result)


@clause("code_execution", "sys.exit gives its status, or its text and 1, and the interpreter lives on")
def sys_exit(sandbox):
    with sandbox.create() as session:
        session.code("kept = 1")
        for source, code, text in (("sys.exit(3)", 3, ""), ("sys.exit()", 0, ""), ("sys.exit(0)", 0, ""),
                                   ("sys.exit('the reason')", 1, "the reason"), ("raise SystemExit(4)", 4, "")):
            result = session.code("import sys\n" + source)
            equal((result.return_code, result.stderr), (code, text), source)
        succeeds(session.code("print(kept)"), "1")


@clause("code_execution", "output of subprocesses, C code and bare descriptors is caught, in order")
def output_in_order(sandbox):
    with sandbox.create() as session:
        result = session.code(
            "import ctypes, os, subprocess\nprint('1')\nsubprocess.run(['sh', '-c', 'echo 2; echo err >&2'])\n"
            "os.system('echo 3')\nos.write(1, b'4\\n')\nlibc = ctypes.CDLL(None)\nlibc.puts(b'5')\nlibc.fflush(None)\nprint('6')")
        equal((result.stdout, result.stderr, result.return_code), ("1\n2\n3\n4\n5\n6", "err", 0))


@clause("code_execution", "sys.stdout.buffer and a binary write work")
def binary_stdout(sandbox):
    runs(sandbox, ("import sys\nsys.stdout.buffer.write(b'bin\\n'); sys.stdout.flush()", "bin"))


@clause("code_execution", "standard input is empty")
def empty_stdin(sandbox):
    with sandbox.create() as session:
        result = session.code("n = 7\nname = input('who? ')", 10)
        expect(result.return_code == 1 and "EOFError" in result.stderr and "who? " in result.stdout, result)
        expect(result.wall < 3, "took", result.wall)
        succeeds(session.code("import sys; print(n, repr(sys.stdin.read()))", 10), "7 ''")


@clause("code_execution", "text that looks like a protocol is plain output")
def no_forgery(sandbox):
    runs(sandbox, ("print('---SBX_STDOUT_END---'); print('tail')", "---SBX_STDOUT_END---\ntail"),
         ("import os; os.write(1, b'---SBX_DONE--- 0\\n'); print('real')", "---SBX_DONE--- 0\nreal"),
         ("print('second')", "second"))


@clause("code_execution", "invalid UTF-8 and lone surrogates never break the answer")
def strange_text(sandbox):
    with sandbox.create() as session:
        succeeds(session.code("import os; os.write(1, b'a\\xff\\xfeb\\n')"), "a��b")
        result = session.code("print('\\ud800')", 20)
        equal(result.status, 200)
        succeeds(session.code("print('next')", 20), "next")


@clause("code_execution", "multiprocessing, pickling of own classes and asyncio work as in a script")
def like_a_script(sandbox):
    runs(sandbox, ("import pickle\nclass P: pass\nprint(type(pickle.loads(pickle.dumps(P()))).__name__)", "P"),
         ("import multiprocessing as mp\ndef sq(n): return n * n\nwith mp.get_context('fork').Pool(2) as p: print(p.map(sq, [1, 2, 3]))", "[1, 4, 9]"),
         ("from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as e: print(list(e.map(sq, [2, 3])))", "[4, 9]"),
         ("import asyncio\nasync def f(): return 3\nprint(asyncio.run(f()))", "3"))


@clause("code_execution", "top-level await works and keeps one loop across calls")
def top_level_await(sandbox):
    runs(sandbox, ("import asyncio\nawait asyncio.sleep(0.01)\nprint('a')", "a"),
         ("t = asyncio.ensure_future(asyncio.sleep(0.05, 'done'))", ""), ("print(await t)", "done"))


@clause("code_execution", "a module written or uploaded to the workspace can be imported")
def workspace_modules(sandbox):
    with sandbox.create() as session:
        succeeds(session.code("open('own.py', 'w').write('X = 41')\nimport own; print(own.X + 1)"), "42")
        session.put(b"def g(): return 7\n", "helper.py")
        succeeds(session.code("import helper; print(helper.g())"), "7")


@clause("code_execution", "an interpreter that ends by itself answers with its own status and says so")
def hard_exit(sandbox):
    with sandbox.create() as session:
        session.code("open('f', 'w').write('1'); v = 1")
        result = session.code("print('before')\nimport os; os._exit(7)")
        equal((result.return_code, result.stdout), (7, "before"), "exit status and output")
        expect(result.field("interpreter_restarted") is True and result.stderr, result.raw)
        succeeds(session.code("import os; print('v' in globals(), os.path.exists('f'))"), "False True")
        result = session.code("import ctypes; ctypes.string_at(0)", 20)
        expect(result.return_code in (-11, 139) and "SIGSEGV" in result.stderr, result)


@clause("code_execution", "damage to the runner's own names and descriptors does not reach the next call")
def self_damage(sandbox):
    with sandbox.create() as session:
        for damage in ("import os; os.close(1); os.close(2)", "import sys; sys.stdout = sys.stderr = sys.stdin = None",
                       "import builtins; builtins.exec = builtins.compile = builtins.open = None",
                       "import os; os.chdir('/'); os.environ.clear()", "import sys; sys.modules.clear(); sys.path.clear()"):
            session.code(damage, 20)
            succeeds(session.code("print('fine')", 20), "fine")


@clause("code_execution", "the working directory and home are the workspace")
def workspace_is_home(sandbox):
    with sandbox.create() as session:
        session.put(b"1", "marker")
        succeeds(session.code("import os; print(os.listdir('.'), os.path.samefile('.', os.path.expanduser('~')), os.path.exists('/workspace/marker'))"),
                 "['marker'] True True")
        succeeds(session.code("print(os.path.samefile('/var/sandbox/sessions/%s/workspace', '/workspace'))" % session.id), "True")
