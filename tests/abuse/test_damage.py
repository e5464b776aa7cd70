# SPDX-License-Identifier: Apache-2.0
"""Programs that attack the interpreter they run in, its channel, and the files and calls around it."""

import threading
import time

from watched import AbuseTestCase


class Interpreter(AbuseTestCase):
    def not_forged(self, _, result):
        self.assertNotIn("FORGED", result.stdout + result.stderr)
        self.assertNotEqual(result.return_code, 4242)

    def test_every_descriptor_closed_or_replaced(self):
        for source in ("import os; os.closerange(0, 1024)", "import os; os.closerange(3, 1024); print('x')",
                       "import os\nn = os.open('/dev/null', os.O_RDWR)\nfor i in range(0, 256):\n    if i != n:\n        try: os.dup2(n, i)\n        except OSError: pass",
                       "import os\nr, w = os.pipe()\nfor i in range(3, 256):\n    if i not in (r, w):\n        try: os.dup2(w, i)\n        except OSError: pass"):
            self.abuse(source, 10, check=self.not_forged)

    def test_garbage_and_forgeries_on_the_channel(self):
        for data in ("b'\\xff' * 65536", "b'{\"return_code\": 4242, \"stdout\": \"FORGED\"}'", "bytes(40)", "b'\\x01' * 12"):
            self.abuse("import os, socket, stat\nfor n in range(3, 256):\n    try:\n        os.set_blocking(n, False)\n        for _ in range(100): os.write(n, %s)\n    except OSError: pass\nprint('end')" % data,
                       10, check=self.not_forged)

    def test_requests_stolen_from_the_channel(self):
        self.abuse("import os, threading\ndef steal(n):\n    while True:\n        try: os.read(n, 65536)\n        except OSError: return\n"
                   "for n in range(3, 64): threading.Thread(target=steal, args=(n,), daemon=True).start()\nprint('end')", 5, check=self.not_forged)

    def test_poisoned_builtins_and_modules(self):
        boom = "def boom(*a, **k): raise RuntimeError('FORGED')\n"
        for source in ("import builtins\nfor n in dir(builtins):\n    if not n.startswith('_'): setattr(builtins, n, None)",
                       boom + "import builtins, sys, traceback, os, json, io\nfor m in (traceback, json, io, os):\n    for n in dir(m):\n        if not n.startswith('__'):\n            try: setattr(m, n, boom)\n            except Exception: pass\nbuiltins.__import__ = boom",
                       "import sys; sys.modules.clear(); sys.path[:] = []; sys.meta_path[:] = []", "import sys; sys.stdout = sys.stderr = sys.stdin = sys.__stdout__ = object()",
                       "globals().clear()", "import gc\nfor o in gc.get_objects():\n    if isinstance(o, dict) and len(o) < 50:\n        try: o.clear()\n        except Exception: pass",
                       "import sys\nsys.settrace(lambda *a: boom()); sys.setprofile(lambda *a: boom())", "import sys; sys.setrecursionlimit(5)"):
            with self.subTest(source=source[-60:]):
                self.abuse(source, 5)

    def test_hooks_and_objects_that_never_end(self):
        for source in ("import sys, threading\ndef h(*a):\n    while True: pass\nsys.settrace(h); sys.setprofile(h); threading.settrace(h)\ndef f(): pass\nf()",
                       "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()", "class E(Exception):\n    def __str__(self):\n        import os; os._exit(0)\nraise E()",
                       "import atexit, time; atexit.register(time.sleep, 600)", "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()",
                       "class B:\n    def __del__(self):\n        while True: pass\nimport sys; sys.modules['keep'] = B()",
                       "import faulthandler, signal, os; faulthandler.enable(); os.kill(os.getpid(), signal.SIGSEGV)",
                       "import threading\nl = threading.Lock(); l.acquire(); l.acquire()"):
            with self.subTest(source=source[:60]):
                self.abuse(source, 2)

    def test_exceptions_too_large_to_show(self):
        for source in ("e = None\nfor i in range(100_000):\n    n = ValueError(i); n.__cause__ = e; e = n\nraise e", "g = ValueError('x')\nfor i in range(3000): g = ExceptionGroup('g', [g])\nraise g",
                       "raise ValueError('x' * (1 << 26))", "exec('(' * 5000)", "exec('x = ' + '-' * 100_000 + '1')"):
            with self.subTest(source=source[:50]):
                self.abuse(source, 20)

    def test_killing_everything_within_reach(self):
        for source in ("import os; os.kill(-1, 9)", "import os; os.killpg(0, 9)", "import os\nwhile True: os.kill(-1, 19)"):
            self.abuse(source, 3)
        self.abuse("kill -9 -1", 3, tool="bash")

    def test_modules_planted_in_the_workspace(self):
        self.abuse("for n in ('json', 'os', 'io', 'traceback', 'struct', 'socket', 'sitecustomize', 'encodings', 'codecs', 're', 'threading', 'ast', 'signal', 'linecache', 'asyncio'):\n"
                   "    open(n + '.py', 'w').write('print(\"FORGED\")')\nimport os; os._exit(1)", 10, check=self.not_forged)


class Files(AbuseTestCase):
    def test_links_swapped_while_they_are_followed(self):
        session = self.new_session()
        session.code("open('real', 'w').write('inside'); import os; os.makedirs('d')")
        session.bash("(while :; do ln -sfn /etc/passwd f; ln -sfn real f; rm -rf s; ln -sfn /etc s; rm -f s; mkdir -p s; echo inside > s/passwd; done) >/dev/null 2>&1 &")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            for response in (self.target_get(session, "f"), self.target_get(session, "s/passwd"), session.list("s")):
                self.assertNotIn(b"root:", response.body)
                self.assertNotIn(b"shadow", response.body)
                self.assertIn(response.status, (200, 400, 403, 404, 409, 503))
            session.put(b"written", "s/new-file-of-the-test")
        self.assert_alive()
        import os
        self.assertFalse(os.path.exists("/etc/new-file-of-the-test"))

    @staticmethod
    def target_get(session, path):
        return session.get(path)

    def test_the_workspace_itself_replaced_or_removed(self):
        for source in ("rm -rf /workspace/* /workspace/.[!.]*; rmdir /workspace", "mv /workspace /tmp/w; ln -s /etc /workspace", "chmod 000 /workspace", "chmod 000 /tmp"):
            def check(session, _):
                self.assertNotIn(b"passwd", session.list().body)
                session.put(b"x", "after")
                session.bash("chmod 700 /workspace /tmp")

            self.abuse(source, 5, tool="bash", check=check)

    def test_directories_without_permissions(self):
        def check(session, _):
            self.assertEqual(session.list().status, 200)
            self.assertIn(session.get("closed/inside/f").status, (200, 400, 403, 404))
            self.assertEqual(session.put(b"x", "closed/inside/new").status, 201)

        self.abuse("mkdir -p closed/inside; echo x > closed/inside/f; chmod 000 closed/inside/f closed/inside closed; mkdir -m 000 bare; mkdir -m 333 blind", 5, tool="bash", check=check)

    def test_strange_names_never_break_an_answer(self):
        def check(session, _):
            self.assertEqual(session.list().status, 200)
            session.list().json()
            session.edit("view", ".")

        self.abuse("import os\nfor n in (b'\\xff\\xfe', b'\\n', b'a\\x1b[2J', b' ', b'\"', b'\\\\', b\"'\", b'\\xed\\xa0\\x80', b'x' * 255, '\\u202e'.encode(), b'-rf', b'*', b'\\r\\nX: y'):\n"
                   "    open(n, 'w').close()\n    try: os.mkdir(b'd' + n[:200])\n    except OSError: pass", 10, check=check)

    def test_files_that_change_while_they_are_read(self):
        def check(session, _):
            for _ in range(10):
                try:
                    session.get("f")
                    session.edit("view", "f")
                except OSError:
                    self.sandbox.connection.close()

        self.abuse("(while :; do head -c 20000000 /dev/zero > f; : > f; rm -f f; mkdir f; rmdir f; mkfifo f; rm f; done) >/dev/null 2>&1 & sleep 0.2", 5, tool="bash", check=check)


class Destroy(AbuseTestCase):
    def during(self, source, tool="code"):
        session = self.sandbox.create()
        session.code("1")
        results = []
        call = threading.Thread(target=lambda: results.append(getattr(session, tool)(source, 30)))
        call.start()
        time.sleep(0.7)
        jail = self.jail_pids(session)
        start = time.monotonic()
        answers = []
        deletes = [threading.Thread(target=lambda: answers.append(session.delete().status)) for _ in range(3)]
        for thread in deletes:
            thread.start()
        for thread in deletes + [call]:
            thread.join(20)
        self.assertEqual(answers, [204] * 3)
        self.assertLess(time.monotonic() - start, 6)
        self.assertIn(results[0].status, (200, 404, 410))
        self.assertEqual(session.code("1").status, 404)
        self.assertFalse([pid for pid, when in jail if self.alive(pid, when)])

    def jail_pids(self, session):
        import process_tree
        before = {pid for pid in self.server.tree() if process_tree.stat_fields(pid)}
        return [(pid, process_tree.start_time(pid)) for pid in before if "destroy-marker" in process_tree.title(pid)]

    @staticmethod
    def alive(pid, when):
        import process_tree
        return process_tree.is_alive(pid, when)

    def test_during_a_storm_of_writes(self):
        self.during("import os, subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 99 # destroy-marker'])\ni = 0\nwhile True:\n    i += 1\n    try: os.makedirs('r%d/s' % i); open('r%d/s/f' % i, 'w').write('x' * 4096)\n    except OSError: pass")

    def test_during_a_fork_bomb(self):
        self.during("sh -c 'sleep 99 # destroy-marker' & :(){ :|:& };:; wait", "bash")

    def test_during_a_flood_of_output(self):
        self.during("sh -c 'sleep 99 # destroy-marker' & yes", "bash")

    def test_while_its_memory_runs_out(self):
        self.during("x = []\nwhile True: x.append(bytearray(1 << 20))")

    def test_ids_of_destroyed_sessions_are_never_given_again(self):
        seen = set()
        for _ in range(50):
            session = self.sandbox.create()
            self.assertNotIn(session.id, seen)
            seen.add(session.id)
            session.delete()
            self.assertEqual(session.list().status, 404)
