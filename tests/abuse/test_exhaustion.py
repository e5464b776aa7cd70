# SPDX-License-Identifier: Apache-2.0
"""Programs that take all there is of something."""

from watched import AbuseTestCase


class Processes(AbuseTestCase):
    def test_fork_bomb_in_python(self):
        self.abuse("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")

    def test_fork_bomb_in_bash(self):
        self.abuse(":(){ :|:& };:; wait", tool="bash")

    def test_fork_bomb_that_ends_its_parents(self):
        self.abuse("import os\nwhile True:\n    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass")

    def test_forks_that_leave_the_session_and_ignore_signals(self):
        self.abuse("import os, signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
                   "for _ in range(60):\n    try:\n        if os.fork() == 0:\n            os.setsid()\n            while True: time.sleep(1)\n    except OSError: break\ntime.sleep(30)")

    def test_thread_bomb(self):
        self.abuse("import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n    except RuntimeError: time.sleep(0.1)")

    def test_zombies_that_nobody_reaps(self):
        self.abuse("import os, time\nfor _ in range(500):\n    try:\n        if os.fork() == 0: os._exit(0)\n    except OSError: break\ntime.sleep(1)")

    def test_busy_processes_on_every_core(self):
        self.abuse("import multiprocessing as mp\ndef burn():\n    while True: pass\nps = [mp.Process(target=burn) for _ in range(32)]\n[p.start() for p in ps]\n[p.join() for p in ps]")

    def test_stopped_processes(self):
        self.abuse("import os, signal, time\nfor _ in range(20):\n    if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP); os._exit(0)\ntime.sleep(30)")

    def test_children_that_hold_the_output_open(self):
        self.abuse("(setsid sh -c 'while :; do echo noise; sleep 0.01; done') & (sleep 100 &) & echo started", tool="bash")


class Memory(AbuseTestCase):
    def killed_or_told(self, _, result):
        self.assertNotEqual(result.return_code, 0, result)

    def test_one_large_allocation(self):
        self.abuse("x = bytearray(2 << 30)", 20, check=self.killed_or_told)

    def test_a_list_that_grows_fast(self):
        self.abuse("x = []\nwhile True: x.append(bytearray(1 << 20))", 20, check=self.killed_or_told)

    def test_a_list_that_grows_slowly(self):
        self.abuse("x = []\nwhile True: x.append('y' * 5000)", 20, check=self.killed_or_told)

    def test_children_that_grow_together(self):
        self.abuse("import os\nfor _ in range(8): os.fork()\nx = []\nwhile True: x.append(bytearray(1 << 20))", 5)

    def test_memory_files_and_shared_memory(self):
        self.abuse("import os\nfds = []\nwhile True:\n    fd = os.memfd_create('m'); fds.append(fd); os.ftruncate(fd, 1 << 24)\n    os.pwrite(fd, bytes(1 << 24), 0)", 20, check=self.killed_or_told)
        self.abuse("head -c 1G /dev/zero > /dev/shm/x; head -c 1G /dev/zero > /tmp/x; echo end", 20, tool="bash")

    def test_memory_in_pipes_and_sockets(self):
        self.abuse("import os, socket\nkeep = []\ntry:\n    while True:\n        a, b = socket.socketpair(); keep += [a, b]; a.setblocking(False)\n        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)\n"
                   "        try:\n            while True: a.send(bytes(65536))\n        except BlockingIOError: pass\nexcept OSError as e: print(e)", 10)

    def test_decompression_and_regular_expressions(self):
        self.abuse("import zlib\nd = zlib.decompressobj()\nz = zlib.compress(bytes(1 << 29))\nx = zlib.decompress(z) * 4", 20)
        self.abuse("import re\nre.match('(a+)+$', 'a' * 40 + 'b')")


class Disk(AbuseTestCase):
    def test_full_workspace_tmp_and_shm(self):
        for place in (".", "/tmp", "/dev/shm"):
            self.abuse("i = 0\ntry:\n    while True:\n        open('%s/f%%d' %% i, 'wb').write(bytes(1 << 22)); i += 1\nexcept OSError as e: print('errno', e.errno)" % place, 20)

    def test_all_inodes(self):
        self.abuse("import os\ni = 0\ntry:\n    while True: os.close(os.open('i%d' % i, os.O_CREAT)); i += 1\nexcept OSError as e: print(e.errno)", 30,
                   check=lambda _, result: self.assertEqual(result.stdout, "28"))

    def test_sparse_and_preallocated_files(self):
        def check(session, _):
            self.assertEqual(session.list().status, 200)
            self.assertIn(session.get("sparse").status, (200, 400, 404, 413))

        self.abuse("import os\nfd = os.open('sparse', os.O_CREAT | os.O_RDWR)\nfor s in (1 << 62, 1 << 40, 1 << 24):\n    try: os.ftruncate(fd, s); break\n    except OSError: pass\n"
                   "try: os.posix_fallocate(fd, 0, 1 << 40)\nexcept OSError as e: print(e.errno)", 20, check=check)

    def test_space_of_deleted_files_that_are_held_open(self):
        self.abuse("import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import os, time\\nf = open(\"gone\", \"wb\", 0); os.unlink(\"gone\")\\ntry:\\n  while True: f.write(bytes(1 << 20))\\nexcept OSError: pass\\ntime.sleep(600)'],"
                   " start_new_session=True)\ntime.sleep(1)", 10)

    def test_deep_trees_and_very_many_files(self):
        self.abuse("import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')", 20)
        self.abuse("import os\nfor i in range(15_000): open('f%d' % i, 'w').close()", 60)

    def test_descriptors(self):
        self.abuse("import os\ntry:\n    while True: os.open('/dev/null', os.O_RDONLY)\nexcept OSError as e: print(e.errno)", 10,
                   check=lambda _, result: self.assertEqual(result.stdout, "24"))
        self.abuse("import os, time\nfor _ in range(30):\n    if os.fork() == 0:\n        try:\n            while True: os.open('/dev/null', os.O_RDONLY)\n        except OSError: time.sleep(30)\ntime.sleep(1)", 10)


class VeryManyFiles(AbuseTestCase):
    settings = {**AbuseTestCase.settings, "SANDBOX_WORKSPACE_INODES": "262144", "SANDBOX_RUNNER_MEMORY_MB": "1024", "SANDBOX_WORKSPACE_MB": "512"}

    def test_200_000_files(self):
        def check(session, result):
            self.assertEqual((result.return_code, result.stdout), (0, "200000"), result)
            self.assertEqual(session.list().status, 200)
            session.edit("view", ".")

        self.abuse("import os\nfor d in range(100):\n    os.mkdir('d%d' % d)\n    for i in range(2000): os.close(os.open('d%d/f%d' % (d, i), os.O_CREAT))\nprint(sum(len(n) for _, _, n in os.walk('.')))", 60, check=check)
