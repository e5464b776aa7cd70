# SPDX-License-Identifier: Apache-2.0
"""container/haproxy.cfg as it stands, with Debian's HAProxy, before three servers in network namespaces of their own."""

import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from harness import SLOWNESS, SOURCE, Server, wait_for
from node_network import Node, enter_own_network
from sandboxclient import Connection, Sandbox

CONFIG = SOURCE / "container" / "haproxy.cfg"
SESSIONS = 300
LABELS = ("0001", "0002", "0003")
SETTINGS = {"SANDBOX_NO_AUTH": "1", "SANDBOX_POOL_SIZE": "4", "SANDBOX_RUNNER_MEMORY_MB": "256", "SANDBOX_PRELOAD": "json", "SANDBOX_WORKSPACE_MB": "16"}


class Proxy:
    """HAProxy with the shipped configuration, but for the nodes' addresses, and a socket to ask what it thinks of them."""

    def __init__(self, nodes, scratch):
        text, count = re.subn(r"node-(\d)\.rookery", lambda name: nodes[int(name[1]) - 1].address, CONFIG.read_text())
        assert count == len(nodes), "haproxy.cfg names %d nodes" % count
        (scratch / "haproxy.cfg").write_text(text)
        self.control = scratch / "control"
        (scratch / "control.cfg").write_text("global\n  stats socket %s level admin\n" % self.control)
        self.log = open(scratch / "haproxy.log", "wb+")
        self.process = subprocess.Popen(["haproxy", "-db", "-f", scratch / "haproxy.cfg", "-f", scratch / "control.cfg"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.sandbox = Sandbox("http://127.0.0.1:8080")

    def servers(self, column):
        """{"node-0001": "UP", ...} of one column of its statistics (HAProxy's management guide, 9.1)."""
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.control))
            control.sendall(b"show stat\n")
            rows = [line.split(",") for line in b"".join(iter(lambda: control.recv(65536), b"")).decode().splitlines()]
        at = rows[0].index(column)
        return {row[1]: row[at].split(" ")[0] for row in rows[1:] if row[0] == "nodes" and row[1].startswith("node-")}

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()


def node_of(session):
    return session.id[4:8]


def at_once(work, items, threads=12):
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


@unittest.skipUnless(os.geteuid() == 0, "network namespaces and rookery need root")
class ManyNodes(unittest.TestCase):
    """One story, in the order of an operator's day; each step needs those before it."""

    @classmethod
    def setUpClass(cls):
        Connection.observer = None  # HAProxy has answers of its own, which openapi.json does not tell
        enter_own_network()
        scratch = tempfile.TemporaryDirectory(prefix="rookery-nodes-")
        cls.addClassCleanup(scratch.cleanup)
        cls.nodes, cls.servers = [], []
        for number, label in enumerate(LABELS, 1):
            cls.nodes.append(Node(number))
            cls.addClassCleanup(cls.nodes[-1].close)
            cls.servers.append(Server({**SETTINGS, "SANDBOX_NODE_ID": label}, host=cls.nodes[-1].address, port=8080, enter=cls.nodes[-1].enter))
            cls.addClassCleanup(cls.end_of, cls.servers[-1])
        for server in cls.servers:
            server.wait_until_ready()
        cls.proxy = Proxy(cls.nodes, pathlib.Path(scratch.name))
        cls.addClassCleanup(cls.proxy.close)
        cls.client = cls.proxy.sandbox
        wait_for(lambda: set(cls.states().values()) == {"UP"}, 20, "HAProxy to find all nodes")

    @staticmethod
    def end_of(server):
        if server.process.poll() is None:
            server.stop()
        server.clean_up()

    @classmethod
    def states(cls):
        try:
            return cls.proxy.servers("status")
        except OSError:
            if cls.proxy.process.poll() is not None:
                raise AssertionError("HAProxy ended:\n" + cls.proxy.said()) from None
            return {}

    def works(self, session):
        """A call reaches the session: its variable is there. Gives what was wrong, or None."""
        result = session.code("print(mine)", 60)
        return None if (result.status, getattr(result, "stdout", None)) == (200, session.id) else "%s: %r" % (session.id, result)

    def all_work(self, sessions):
        self.assertEqual([wrong for wrong in at_once(self.works, sessions) if wrong], [])

    def test_1_new_sessions_spread_evenly(self):
        def create(_):
            session = self.client.create()
            result = session.code("mine = %r" % session.id, 60)
            return session if result.status == 200 and result.return_code == 0 else repr(result)

        made = at_once(create, range(SESSIONS))
        self.assertEqual([session for session in made if isinstance(session, str)], [])
        type(self).sessions = made
        counts = collections.Counter(map(node_of, made))
        self.assertEqual(set(counts), set(LABELS))
        for label in LABELS:
            # HAProxy goes by the requests that run at the moment, so that a node that is slow for a while gets fewer.
            self.assertLessEqual(abs(counts[label] - SESSIONS / 3), SESSIONS / 10, counts)
        for server, label in zip(self.servers, LABELS):
            self.assertEqual(server.sandbox.health()["session_count"], counts[label])

    def test_2_every_call_of_a_session_reaches_its_node(self):
        for _ in range(2):
            self.all_work(self.sessions)
        for session in self.sessions[:30]:
            data = os.urandom(200_000)
            self.assertEqual(session.put(data, "f").status, 201)
            self.assertEqual(session.get("f").body, data)
            self.assertEqual(session.bash("wc -c < f").stdout.strip(), "200000")
            self.assertEqual(session.names(), ["f"])
            self.assertEqual(session.info().json()["session_id"], session.id)
            statuses = [Sandbox("http://%s:8080" % node.address).request("GET", session.target).status for node in self.nodes]
            self.assertEqual(statuses, [200 if label == node_of(session) else 404 for label in LABELS])

    def test_3_a_busy_node_gets_fewer_new_sessions(self):
        busy = [session for session in self.sessions if node_of(session) == "0002"][:10]
        calls = [threading.Thread(target=session.code, args=("import time; time.sleep(%d)" % (8 * SLOWNESS), 60)) for session in busy]
        for call in calls:
            call.start()
        wait_for(lambda: self.requests_of("node-0002") >= 10, 20, "the calls to run")
        placed = [self.client.create() for _ in range(12)]
        self.assertEqual(collections.Counter(map(node_of, placed))["0002"], 0)
        for session in placed:
            session.delete()
        for call in calls:
            call.join()

    def requests_of(self, name):
        """How many it serves at the moment."""
        return int(self.proxy.servers("scur")[name])

    def end(self, server):
        """As a crash or the kernel's out-of-memory killer would: the warden's end is everything's."""
        os.kill(server.role("warden"), signal.SIGKILL)
        self.assertEqual(server.process.wait(20), 128 + signal.SIGKILL)

    def test_4_what_is_not_for_clients_stays_behind_the_proxy(self):
        for target in ("/admin/drain", "/ready", "/%61dmin/drain", "//admin/drain", "/sessions/../admin/drain", "/", "/Sessions"):
            self.assertEqual(self.client.request("POST", target).status, 404, target)
        # Nor may another machine that comes past the proxy drain a node.
        self.assertEqual(self.servers[0].sandbox.request("POST", "/admin/drain").status, 403)
        wait_for(lambda: "policy violation kind=remote_drain" in self.servers[0].log(), 10, "a word about it")
        self.assertEqual([server.sandbox.health()["status"] for server in self.servers], ["ok"] * 3)
        log = self.proxy.said()
        self.assertIn("node=0001", log)
        self.assertNotIn(self.sessions[0].id, log)

    def test_5_a_drained_node_loses_no_session_and_gets_none(self):
        done, wrong = threading.Event(), []

        def keep_calling():
            while not done.is_set():
                wrong.extend(filter(None, map(self.works, self.sessions[:9])))

        caller = threading.Thread(target=keep_calling)
        caller.start()
        self.servers[0].process.send_signal(signal.SIGUSR1)
        wait_for(lambda: self.servers[0].sandbox.health()["status"] == "draining", 20, "the signal to come through")
        # From the first moment on, before HAProxy knows: the refusal sends the request on to another node.
        placed = [self.client.create() for _ in range(20)]
        wait_for(lambda: self.states()["node-0001"] != "UP", 20, "HAProxy to see it")
        placed += [self.client.create() for _ in range(20)]
        self.assertEqual({node_of(session) for session in placed}, {"0002", "0003"})
        self.assertEqual(self.states()["node-0001"], "NOLB")
        self.all_work(self.sessions)
        done.set()
        caller.join()
        self.assertEqual(wrong, [])
        for session in placed:
            self.assertEqual(session.delete().status, 204)

    def test_6_a_node_that_dies_loses_its_own_sessions_only(self):
        others = [session for session in self.sessions if node_of(session) != "0002"]
        lost = [session for session in self.sessions if node_of(session) == "0002"]
        in_flight = []
        call = threading.Thread(target=lambda: in_flight.append(lost[0].code("import time; time.sleep(30)", 60)))
        call.start()
        wait_for(lambda: self.requests_of("node-0002") >= 1, 20, "the call to run")
        done, wrong = threading.Event(), []

        def keep_calling():
            while not done.is_set():
                wrong.extend(filter(None, map(self.works, others[::20])))

        caller = threading.Thread(target=keep_calling)
        caller.start()
        time.sleep(0.2)
        self.end(self.servers[1])
        at_first = at_once(lambda session: session.code("print(1)", 60).status, lost)
        self.assertEqual(set(at_first), {404})
        call.join(60)
        # Its jail may end a moment before its server does, which then still says so.
        if in_flight[0].status not in (502, 404):
            self.assertEqual((in_flight[0].status, in_flight[0].return_code), (200, -1))
        done.set()
        caller.join()
        self.assertEqual(wrong, [])
        wait_for(lambda: self.states()["node-0002"] == "DOWN", 20, "HAProxy to see that it is gone")
        for session in lost[:20]:
            for answer in (session.info(), session.list(), session.put(b"x", "f")):
                self.assertEqual((answer.status, answer.json()), (404, {"detail": "session not found"}))
        self.all_work(others)
        # One node is drained and one dead.
        self.assertEqual({node_of(self.client.create()) for _ in range(10)}, {"0003"})

    def test_7_without_any_node_the_answer_is_an_error_of_the_contract(self):
        for number in (0, 2):
            self.end(self.servers[number])
        wait_for(lambda: "UP" not in self.states().values() and "NOLB" not in self.states().values(), 20, "HAProxy to see that all are gone")
        answer = self.client.request("POST", "/sessions")
        self.assertEqual((answer.status, answer.json()), (503, {"detail": "no node can take this at the moment"}))
        self.assertEqual(answer.headers["retry-after"], "1")


if __name__ == "__main__":
    unittest.main()
