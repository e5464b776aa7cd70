# SPDX-License-Identifier: Apache-2.0
"""Lives of sessions: each a few random actions, among them hostile ones, and then the end, in one of several ways."""

import json
import random
import socket
import struct

from harness import SLOWNESS
from sandboxclient.sandbox import Session

# Beyond the call's own time: its interrupt, the rebuild of its jail, the wait for a processor.
GRACE = 25 * SLOWNESS
ABUSE = (
    ("code", "while True: pass", 1),
    ("code", "hog = []\nwhile True: hog.append(bytearray(8 << 20))", 5),
    ("code", "import os\nos._exit(3)", 5),
    ("code", "import os\nos.kill(-1, 9)", 5),
    ("code", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", 2),
    ("code", "import os\nos.closerange(0, 256)", 3),
    ("code", "import os\nfor f in range(3, 64):\n    try: os.write(f, b'garbage' * 100)\n    except OSError: pass", 3),
    ("code", "import threading, time\nfor _ in range(500): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", 3),
    ("code", "import os\nfor i in range(100_000): os.close(os.open('f%d' % i, os.O_CREAT))", 3),
    ("code", "import ctypes\nctypes.string_at(0)", 5),
    ("bash", ":(){ :|:& };:", 2),
    ("bash", "yes", 1),
    ("bash", "head -c 50M /dev/zero", 5),
    ("bash", "for i in 1 2 3 4 5 6 7 8; do head -c 20M /dev/zero > f$i; done", 10),
    ("bash", "trap '' TERM INT HUP; while :; do sleep 1; done", 1),
    ("bash", "(setsid sh -c 'while :; do :; done' &) ; kill -STOP $$", 1),
    ("bash", "rm -rf /workspace/* /workspace/.[a-z]* ; chmod 0 /workspace; mkfifo /tmp/p; true", 5),
)


class Life:
    """One session from its lease to its end, in one thread."""

    def __init__(self, sandbox, report, dice):
        self.sandbox, self.report, self.dice = sandbox, report, dice

    def live(self):
        leave = self.dice.random() < 0.1  # to the idle timeout
        response = self.sandbox.request_json("POST", "/sessions", {"idle_timeout_seconds": 2} if leave else {})
        if response.status == 503:
            self.report.count("refused leases")
            self.report.refused.append(response.json()["detail"])
            self.report.over.wait(0.2)
            return
        if response.status != 201:
            self.report.violated("POST /sessions answered %r" % response)
            return
        self.report.count("lives")
        self.session = Session(self.sandbox, response.json())
        for _ in range(self.dice.randint(1, 6)):
            if self.report.over.is_set():
                break
            self.dice.choice((self.calculate, self.calculate, self.shell, self.files, self.edit, self.abuse, self.abuse, self.vanish))()
        if not leave or self.report.over.is_set():
            answer = self.session.delete()
            if answer.status not in (204, 404):
                self.report.violated("DELETE answered %r" % answer)

    def call(self, tool, source, seconds):
        """A call that is answered in its time, with a status that exists for it. None when it was not run."""
        result = getattr(self.session, tool)(source, seconds)
        self.report.count("calls")
        if result.status not in (200, 404, 503):
            self.report.violated("%s %r was answered %r" % (tool, source[:60], result))
        if result.wall > seconds + GRACE:
            self.report.violated("%s %r took %.1f s of %d: %r" % (tool, source[:60], result.wall, seconds, result))
        if len(result.stdout) + len(result.stderr) > 3 << 20:
            self.report.violated("%s %r answered with %d bytes" % (tool, source[:60], len(result.stdout)))
        return result if result.status == 200 else None

    def right(self, result, expected):
        """What succeeded is right. It need not succeed: a kill may have come in between."""
        if result and result.return_code == 0 and result.stdout.strip() != expected:
            self.report.violated("expected %r of %r" % (expected, result))

    def calculate(self):
        number = self.dice.randrange(10**9)
        first = self.call("code", "x = %d\nprint(x * 2)" % number, 20)
        self.right(first, str(number * 2))
        if first and first.return_code == 0:  # the variable is still there, unless the interpreter was killed meanwhile
            self.right(self.call("code", "print(x + 1)", 20), str(number + 1))

    def shell(self):
        number = self.dice.randrange(10**9)
        self.right(self.call("bash", "sleep 0.01; sleep 60 & echo $((%d + 1))" % number, 20), str(number + 1))

    def files(self):
        data = self.dice.randbytes(self.dice.choice((0, 10, 5000, 300_000)))
        put = self.session.put(data, "d/up")
        got = self.session.get("d/up")
        self.report.count("files")
        if put.status == 200 and got.status == 200 and got.body != data:
            self.report.violated("a file came back as something else: %d bytes for %d" % (len(got.body), len(data)))
        for name, answer in (("upload", put), ("download", got), ("list", self.session.list())):
            if answer.status >= 500 and answer.status not in (503, 507):
                self.report.violated("%s answered %r" % (name, answer))

    def edit(self):
        created = self.session.edit("create", "e.txt", file_text="one\n")
        replaced = self.session.edit("str_replace", "e.txt", old_str="one", new_str="two")
        self.report.count("edits")
        for answer in (created, replaced):
            if answer.status not in (200, 404, 503):
                self.report.violated("an edit answered %r" % answer)

    def abuse(self):
        tool, source, seconds = self.dice.choice(ABUSE)
        self.report.count("abuse")
        self.call(tool, source, seconds)

    def vanish(self):
        """A client that asks and is gone before the answer: with a reset, which ends the call, or with a mere end of his stream, which
        may be that of a client who still listens."""
        reset = self.dice.random() < 0.5
        body = json.dumps({"tool": "code_execution", "input": {"code": "import time; time.sleep(%d)" % (60 if reset else 2)}}).encode()
        self.report.count("vanished clients")
        connection = self.sandbox.new_connection()
        connection.send(connection.head("POST", self.session.target + "/exec", len(body), ("Content-Type: application/json",)) + body)
        if reset:
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def work(sandbox, report, seed):
    dice = random.Random(seed)
    while not report.over.is_set():
        try:
            Life(sandbox, report, dice).live()
        except Exception as broken:  # a connection that breaks, an answer that is none
            report.violated("%s: %s" % (type(broken).__name__, broken))
