# SPDX-License-Identifier: Apache-2.0
import os
import signal
import tempfile
import time
import unittest

import process_tree
from harness import Server, ServerTestCase, running, wait_for


class JailTestCase(ServerTestCase):
    settings = {"SANDBOX_POOL_SIZE": "0"}

    def of(self, session, marker):
        """The host's pids of processes of this session whose command line has the marker."""
        session.bash("sleep 12.%s >/dev/null 2>&1 & true" % marker)
        sleeper = wait_for(lambda: [p for p in self.server.tree() if "12." + marker in process_tree.title(p)], 5, "sleeper")[0]
        namespace = process_tree.namespace(sleeper, "pid")
        return [p for p in self.server.tree() if process_tree.namespace(p, "pid") == namespace]


class SessionCrash(JailTestCase):
    """The death of a process of one jail is noticed by that session only."""

    def test_killed_interpreter_is_replaced(self):
        victim, other = self.new_session(), self.new_session()
        other.code("kept = 1")
        victim.code("open('f', 'w').close(); import os")
        inner = int(victim.code("print(os.getpid())").stdout)
        for pid in self.of(victim, "1"):
            if process_tree.status(pid).get("NSpid", "-").split()[-1] == str(inner):
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: victim.code("print('back')").stdout == "back", 10, "a new interpreter")
        self.assertEqual(victim.names(), ["f"])
        self.prints("print(kept)", "1", other)

    def test_killed_init_costs_its_own_session_only(self):
        victim, other = self.new_session(), self.new_session()
        other.code("kept = 1")
        victim.code("1")
        init = [p for p in self.of(victim, "2") if process_tree.status(p).get("NSpid", "-").split()[-1] == "1"]
        self.assertEqual(len(init), 1)
        os.kill(init[0], signal.SIGKILL)
        time.sleep(0.3)
        self.assertIn(victim.code("print(1)").status, (200, 404, 410, 503))
        self.prints("print(kept)", "1", other)
        with self.sandbox.create() as fresh:
            self.prints("print('new')", "new", fresh)

    def test_init_killed_during_a_call_answers_that_call(self):
        import threading
        victim = self.new_session()
        pids = self.of(victim, "3")
        results = []
        call = threading.Thread(target=lambda: results.append(victim.code("import time; time.sleep(30)", 60)))
        call.start()
        time.sleep(0.5)
        for pid in pids:
            if process_tree.status(pid).get("NSpid", "-").split()[-1] == "1":
                os.kill(pid, signal.SIGKILL)
        call.join(10)
        self.assertFalse(call.is_alive())
        self.assertEqual(results[0].status, 200)
        self.assertNotEqual(results[0].return_code, 0)


class LateDiscovery(JailTestCase):
    """A jail that is found dead only when a call is sent to it."""

    def found_dead(self, session):
        inner = session.code("import os; print(os.getpid())").stdout
        by_inner = {process_tree.status(pid).get("NSpid", "-").split()[-1]: pid for pid in self.of(session, "9")}
        os.kill(by_inner["1"], signal.SIGSTOP)  # so that it does not tell
        os.kill(by_inner[inner], signal.SIGKILL)
        wait_for(lambda: not process_tree.is_alive(by_inner[inner]), 5, "the interpreter's end")

    def test_the_call_runs_in_a_new_one_and_tells(self):
        session = self.new_session()
        session.code("open('kept', 'w').close(); lost = 1")
        self.found_dead(session)
        result = session.code("print('lost' in globals())")
        self.assertEqual((result.status, result.stdout, result.return_code), (200, "False", 0), result)
        self.assertTrue(result.field("interpreter_restarted"))
        self.assertFalse(session.code("1").field("interpreter_restarted"))
        self.assertEqual(session.names(), ["kept"])


class SessionsRoot(ServerTestCase):
    def test_only_root_lists_the_sessions(self):
        root = os.stat(self.server.root)
        self.assertEqual((root.st_mode & 0o777, root.st_gid), (0o750, 0))
        self.assertNotEqual(root.st_uid, 0)


class PoolCrash(ServerTestCase):
    settings = {"SANDBOX_POOL_SIZE": "2"}

    def of_jails(self):
        """[init, interpreter] of each jail that waits for a lease."""
        tree = self.server.tree()
        inits = [pid for pid in tree if process_tree.title(pid).startswith("rookery: init")]
        return [[init] + [pid for pid in tree if process_tree.stat_fields(pid)[1:2] == [str(init)]] for init in inits]

    def test_a_process_killed_before_the_lease_takes_its_jail_out_of_the_pool(self):
        def whole():
            jails = self.of_jails()
            return jails if len(jails) == 2 and all(len(jail) == 2 for jail in jails) and self.sandbox.health()["ready_sessions"] == 2 else None

        for place in (1, 0):
            before = wait_for(whole, 20, "a full pool")
            os.kill(before[0][place], signal.SIGKILL)
            wait_for(lambda: whole() and before[0] not in self.of_jails(), 20, "another jail in its place")
            for session in (self.new_session(), self.new_session()):
                result = session.code("print('first')")
                self.assertEqual((result.stdout, bool(result.field("interpreter_restarted"))), ("first", False), result)
                session.delete()


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class ServerCrash(unittest.TestCase):
    """kill -9 of one process: the rest ends, and the next start finds a clean place."""

    def crash(self, choose):
        with tempfile.TemporaryDirectory(prefix="rookery-test-") as place:
            os.chmod(place, 0o755)
            root = os.path.join(place, "sessions")
            server = Server({"SANDBOX_POOL_SIZE": "2"}, root=root)
            try:
                server.wait_until_ready()
                session = server.sandbox.create()
                session.bash("echo data > f; (setsid sleep 98 &)")
                session.code("import threading, time; threading.Thread(target=time.sleep, args=(97,)).start()")
                known = server.identities()
                os.kill(choose(server), signal.SIGKILL)
                status = server.process.wait(20)
                wait_for(lambda: not any(process_tree.is_alive(*one) for one in known), 10, "end of every process")
                self.assertNotEqual(status, 0)
            finally:
                server.clean_up()
            with running({"SANDBOX_POOL_SIZE": "2"}, root=root) as again:
                self.assertEqual(again.sandbox.health()["session_count"], 0)
                with again.sandbox.create() as fresh:
                    self.assertEqual(fresh.code("import os; print(os.listdir('.'))").stdout, "[]")
                before = process_tree.count_directories([again.root])
                self.assertLessEqual(before, 6 * 4)

    def test_server_process(self):
        self.crash(lambda server: server.role("server"))

    def test_warden(self):
        self.crash(lambda server: server.role("warden"))

    def test_first_process(self):
        self.crash(lambda server: server.pid)

    def test_all_at_once(self):
        def all_but_one(server):
            for pid in server.tree():
                if pid != server.pid:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            return server.pid

        self.crash(all_but_one)

    def test_zygote_death_heals(self):
        with running({"SANDBOX_SPAWN": "fork"}) as server:
            zygote = wait_for(lambda: server.role("zygote"), 30, "a zygote")
            os.kill(zygote, signal.SIGKILL)
            for _ in range(8):
                with server.sandbox.create() as session:
                    self.assertEqual(session.code("print(1)").stdout, "1")
            wait_for(lambda: server.role("zygote"), 30, "a new zygote")
