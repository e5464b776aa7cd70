# SPDX-License-Identifier: Apache-2.0
import os
import threading
import time

import process_tree
from harness import ServerTestCase, wait_for

ROUNDS = int(os.environ.get("ROOKERY_TEST_LIVES", "200"))


class CleanUp(ServerTestCase):
    settings = {"SANDBOX_POOL_SIZE": "2", "SANDBOX_SESSION_GC_INTERVAL": "1"}

    def counts(self):
        """What a server with no sessions holds, once its pool is full again."""
        tree = self.server.tree()
        own = [pid for pid in tree if process_tree.title(pid).startswith("rookery")]
        warden = self.server.role("warden")
        return {
            "processes": len(tree),
            "descriptors": sum(process_tree.descriptors(pid) for pid in own),
            "mounts": len(process_tree.mounts(warden)),
            "cgroups": process_tree.count_directories(self.server.cgroups),
            "directories": process_tree.count_directories([self.server.root]),
        }

    def quiet(self):
        health = self.sandbox.health()
        return health["session_count"] == 0 and health["ready_sessions"] == int(self.settings["SANDBOX_POOL_SIZE"])

    def settled(self):
        seen = [None]

        def same_twice():
            now, before = self.counts(), seen[0]
            seen[0] = now
            time.sleep(0.3)
            return self.quiet() and now == before

        wait_for(same_twice, 20, "counts that stand still")
        return seen[0]

    def check_nothing_more(self, before):
        """A burst grows the pool for some seconds: what is left is what is there once that is over."""
        grown = {}

        def nothing_more():
            now = self.counts()
            grown.clear()
            grown.update({name: count for name, count in now.items() if count > before[name]})
            return self.quiet() and not grown

        try:
            wait_for(nothing_more, 40, "nothing but what was there before")
        except AssertionError:
            self.assertEqual(grown, {}, before)
            raise

    def live(self, number):
        session = self.sandbox.create(idle_timeout_seconds=2) if number % 5 == 4 else self.sandbox.create()
        session.code("open('f', 'w').write('x' * 100000)")
        session.bash("sleep 50 & mkdir -p d/e; mkfifo p")
        session.put(b"1" * 1000, "up")
        session.edit("create", "e.txt", file_text="x")
        session.get("f")
        if number % 5 != 4:  # the rest is left to the idle reclaim
            session.delete()

    def test_lives_of_sessions_leave_nothing(self):
        self.live(0)
        before = self.settled()
        memory = process_tree.resident_kb(self.server.role("server"))
        warden_memory = process_tree.resident_kb(self.server.role("warden"))
        numbers = iter(range(ROUNDS))
        lock = threading.Lock()

        def worker():
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                self.live(number)

        workers = [threading.Thread(target=worker) for _ in range(4)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
        self.check_nothing_more(before)
        self.assertLess(process_tree.resident_kb(self.server.role("server")) - memory, 16 * 1024)
        self.assertLess(process_tree.resident_kb(self.server.role("warden")) - warden_memory, 8 * 1024)

    def test_delete_ends_every_process_of_the_session_before_it_answers(self):
        session = self.new_session()
        session.bash("for i in 1 2 3 4 5; do setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' & done; (nohup sleep 99 &)")
        session.code("import os, signal\nfor _ in range(3):\n    if os.fork() == 0:\n        os.kill(os.getpid(), signal.SIGSTOP)\n")
        jail = next(process_tree.namespace(pid, "pid") for pid in self.server.tree() if "sleep 99" in process_tree.title(pid))
        started = [(pid, process_tree.start_time(pid)) for pid in self.server.tree() if process_tree.namespace(pid, "pid") == jail]
        self.assertGreater(len(started), 5)
        session.delete()
        self.assertEqual([pid for pid, when in started if process_tree.is_alive(pid, when)], [])

    def test_a_workspace_that_is_hard_to_remove_goes_too(self):
        session = self.new_session()
        session.code("import os\nd = '.'\nfor i in range(300):\n    d += '/' + 'n' * 10\n    try: os.mkdir(d)\n    except OSError: break\n"
                     "open(b'\\xff\\n', 'w'); os.mkdir('locked'); open('locked/f', 'w'); os.chmod('locked', 0)\n"
                     "for i in range(20_000): open('f%d' % i, 'w').close()", 60)
        start = time.monotonic()
        self.assertEqual(session.delete().status, 204)
        self.assertLess(time.monotonic() - start, 3)

    def test_an_idle_server_does_not_burn_the_processor(self):
        for _ in range(5):
            self.new_session().code("1")
        time.sleep(1)
        tree = self.server.tree()
        ticks = lambda: sum(int(f[11]) + int(f[12]) for f in map(process_tree.stat_fields, tree) if len(f) > 12)
        before = ticks()
        time.sleep(3)
        self.assertLessEqual(ticks() - before, 6)  # hundredths of a second in three seconds


class DirectoryWorkspaces(CleanUp):
    """The same promises when workspaces are plain directories."""

    settings = {**CleanUp.settings, "SANDBOX_WORKSPACE": "dir"}
