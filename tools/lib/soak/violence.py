# SPDX-License-Identifier: Apache-2.0
"""What happens around the sessions of a soak: kills, hostile HTTP, and one innocent session that must not notice."""

import os
import random
import signal
import socket
import time

import process_tree
from harness import SLOWNESS

SLOWEST_WITNESS = 5 * SLOWNESS
HOSTILE = (
    b"GET / HTTP/1.1\r\n",
    b"\x16\x03\x01\x00\xff" * 50,
    b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000,
    b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{",
    b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n\r\n" + b"[" * 40_000,
    b"GET /sessions/sbx_../files?path=%00../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"DELETE /sessions/" + b"a" * 30_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


def processes_by_role(server, spared):
    """Interpreters and inits of jails but the spared one, and the zygotes."""
    found = {"interpreter": [], "init": [], "zygote": []}
    for pid in server.tree():
        title, parent = process_tree.title(pid), process_tree.stat_fields(pid)[1:2]
        if title.startswith("rookery: zygote"):
            found["zygote"].append(pid)
        elif process_tree.namespace(pid, "pid") == spared:
            continue
        elif title.startswith("rookery: init"):
            found["init"].append(pid)
        elif parent and process_tree.title(int(parent[0])).startswith("rookery: init") and "python" in title:
            found["interpreter"].append(pid)
    return found


def kill_at_random(server, spared, report, seed):
    dice = random.Random(seed)
    while not report.over.wait(dice.uniform(0.5, 3)):
        role = dice.choices(("interpreter", "init", "zygote"), (6, 3, 1))[0]
        victims = processes_by_role(server, spared)[role]
        if not victims:
            continue
        try:
            os.kill(dice.choice(victims), signal.SIGKILL)
            report.count("kills of " + role)
        except ProcessLookupError:
            pass  # it was quicker


def hostile_http(server, report, seed):
    dice = random.Random(seed)
    while not report.over.wait(dice.uniform(0.1, 0.6)):
        try:
            with socket.create_connection(("127.0.0.1", server.port), timeout=20 * SLOWNESS) as connection:
                connection.settimeout(0.2)
                connection.sendall(dice.choice(HOSTILE))
                connection.recv(65536)
        except OSError:
            pass  # refused, reset, or waiting for more: all of it is right
        report.count("hostile requests")


class Witness:
    """A session that nobody attacks: it keeps its variable, its file and its pace."""

    def __init__(self, server):
        self.server = server
        self.session = server.sandbox.create(idle_timeout_seconds=7000)
        self.session.code("count = 0")
        self.session.bash("sleep 54321 >/dev/null 2>&1 & true")
        sleeper = next(pid for pid in server.tree() if "sleep 54321" in process_tree.title(pid))
        self.namespace = process_tree.namespace(sleeper, "pid")
        self.waits = []

    def watch(self, report):
        roles = {role: self.server.role(role) for role in ("warden", "server")}
        expected = 0
        while not report.over.wait(0.2):
            try:
                expected += 1
                start = time.monotonic()
                result = self.session.code("count += 1\nprint(count)", 30)
                self.waits.append(time.monotonic() - start)
                if (result.status, result.stdout, result.stderr) != (200, str(expected), ""):
                    report.violated("the witness expected %d: %r" % (expected, result))
                    expected = int(result.stdout) if result.stdout.isdigit() else expected
                if self.waits[-1] > SLOWEST_WITNESS:
                    report.violated("the witness waited for %.1f s" % self.waits[-1])
                if self.server.sandbox.health()["status"] != "ok":
                    report.violated("/health")
                for role, pid in roles.items():
                    if self.server.role(role) != pid:
                        report.violated("the %s is another one" % role)
                        roles[role] = self.server.role(role)
            except Exception as broken:
                report.violated("the witness: %s: %s" % (type(broken).__name__, broken))
