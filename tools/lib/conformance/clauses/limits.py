# SPDX-License-Identifier: Apache-2.0
import time

from .. import shapes
from ..registry import clause, equal, expect, succeeds

MIB = 1 << 20


@clause("timeout", "a call that runs out of time says so, with return code -1 and its output so far", slow=True)
def timed_out(sandbox):
    with sandbox.create() as session:
        for result in (session.code("print('early', flush=True)\nimport time; time.sleep(60)", 2),
                       session.bash("echo early; sleep 60", 2)):
            equal((result.status, result.return_code), (200, -1))
            expect("timed out after 2s" in result.stderr, result)
            expect("early" in result.stdout, "partial output was lost:", result)
            expect(1.5 < result.wall < 6, "took", result.wall)


@clause("timeout", "variables survive where an interrupt suffices, and stderr says so", slow=True)
def state_survives(sandbox):
    with sandbox.create() as session:
        session.code("rows = list(range(1000)); import time")
        result = session.code("time.sleep(60)", 1)
        expect(result.return_code == -1 and "variables" in result.stderr.lower(), result)
        expect(not result.field("interpreter_restarted"), result.raw)
        succeeds(session.code("print(len(rows))"), "1000")


@clause("timeout", "where it does not, a fresh interpreter takes over, the files stay and the answer says so", slow=True)
def state_lost(sandbox):
    with sandbox.create() as session:
        session.code("base = 1; open('kept', 'w').write('1')")
        for stubborn in ("while True:\n    try: time.sleep(0.2)\n    except BaseException: pass", "sum(range(10**12))",
                         "signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"):
            result = session.code("import signal, time\n" + stubborn, 1)
            expect(result.return_code == -1 and result.wall < 6, result)
            expect(result.field("interpreter_restarted") is True, stubborn, result.raw)
            succeeds(session.code("import os; print('base' in globals(), os.listdir('.'))", 20), "False ['kept']")


@clause("timeout", "everything the call started ends with it", slow=True)
def children_end(sandbox):
    with sandbox.create() as session:
        start = time.monotonic()
        result = session.bash("sleep 31 & (setsid sleep 32 &) ; wait", 2)
        expect(result.return_code == -1 and time.monotonic() - start < 6, result)
        succeeds(session.bash("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 3[12] '; true"), "0\n")


@clause("output", "a stream is cut at 1 MiB with the number of bytes left out", slow=True)
def truncated(sandbox):
    with sandbox.create() as session:
        for result in (session.code("print('BEGIN'); print('a' * 20_000_000); print('THE-END')", 30),
                       session.bash("echo BEGIN; head -c 20000000 /dev/zero | tr '\\0' a; echo THE-END", 30)):
            equal(result.status, 200)
            expect(len(result.stdout.encode()) < MIB + 4096, len(result.stdout))
            expect("output truncated by sandbox" in result.stdout and "bytes elided" in result.stdout, result.stdout[-300:])
            expect("BEGIN" in result.stdout and "THE-END" in result.stdout, result.stdout[-100:])
        succeeds(session.code("print('next')"), "next")


@clause("output", "900 kB arrive whole")
def large(sandbox):
    with sandbox.create() as session:
        result = succeeds(session.code("print('é' * 450_000)"))
        equal(result.stdout, "é" * 450_000, "450,000 characters")


@clause("limits", "a call over the memory limit ends with the reason, and the session goes on", slow=True)
def memory(sandbox):
    with sandbox.create() as session:
        session.code("open('kept', 'w').write('1')")
        result = session.code("hog = []\nwhile True: hog.append(bytearray(16 << 20))", 60)
        expect(result.return_code != 0, result)
        if "MemoryError" not in result.stderr:
            expect("killed by sandbox limit (memory)" in result.stderr, result)
            equal(result.field("limit"), "memory", "limit")
        succeeds(session.code("import os; print(os.listdir('.'))", 20), "['kept']")


@clause("limits", "a file over the size limit cannot be written", slow=True)
def file_size(sandbox):
    with sandbox.create() as session:
        result = session.code("with open('big', 'wb') as f:\n    for _ in range(4096): f.write(bytes(1 << 20))", 60)
        expect(result.return_code != 0, result)
        succeeds(session.code("print('on')", 20), "on")


@clause("held sessions", "the idle reclaim that the handle reports really comes, and not before", slow=True)
def idle_reclaim(sandbox):
    session = sandbox.create(idle_timeout_seconds=3)
    equal(session.handle["idle_timeout_seconds"], 3)
    session.code("x = 1")
    time.sleep(1.5)
    equal(session.list().status, 200, "status well within the idle timeout")
    wait_until_gone(session, 3 + 40, by_listing=False)


@clause("held sessions", "a session ends at its lifetime even when it is used", slow=True)
def lifetime(sandbox):
    session = sandbox.create(max_lifetime_seconds=3)
    session.code("1")
    wait_until_gone(session, 3 + 40, by_listing=True)


@clause("held sessions", "a running call keeps the session from being idle", slow=True)
def busy_is_not_idle(sandbox):
    with sandbox.create(idle_timeout_seconds=2) as session:
        succeeds(session.code("x = 5\nimport time; time.sleep(4)", 30))
        succeeds(session.code("print(x)"), "5")


def wait_until_gone(session, seconds, by_listing):
    """A listing counts as activity, so an idle session is watched through /health only."""
    deadline = time.monotonic() + seconds
    if by_listing:
        while session.list().status != 404:
            expect(time.monotonic() < deadline, "still there after", seconds, "s")
            time.sleep(0.5)
        return
    time.sleep(4)
    while True:
        response = session.sandbox.request("GET", session.target)
        if response.status == 404:
            break
        expect(time.monotonic() < deadline, "still there after", seconds, "s")
        time.sleep(1)
    equal(session.list().status, 404, "ListFiles afterwards")
    shapes.error(session.exec({"tool": "code_execution", "input": {"code": "1"}}))
