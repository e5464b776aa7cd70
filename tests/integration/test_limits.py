# SPDX-License-Identifier: Apache-2.0
import time

from harness import SLOWNESS, ServerTestCase


# Enough for what the other tests here do, also where the processor is emulated.
CPU_SECONDS = int(3 * min(SLOWNESS, 15))


class MemoryLimit(ServerTestCase):
    """Without a limit on processor time that an emulated processor reaches before the memory is full."""

    settings = {"SANDBOX_RUNNER_MEMORY_MB": "256"}

    def test_memory_ends_the_call_and_is_named(self):
        for run, source in ((self.session.code, "hog = []\nwhile True: hog.append(bytearray(8 << 20))"),
                            (self.session.bash, "python3 -c 'x = bytearray(1 << 30)'; exit 9"),
                            (self.session.bash, "head -c 1G /dev/zero | tail")):
            with self.subTest(source=source[:30]):
                result = run(source, 110)
                self.assertEqual(result.status, 200)
                self.assertNotEqual(result.return_code, 0)
                if "MemoryError" not in result.stderr:
                    self.assertEqual(result.field("limit"), "memory", result)
                    self.assertIn("sandbox limit", result.stderr)
                self.assert_alive()


class Limits(ServerTestCase):
    settings = {"SANDBOX_RUNNER_MEMORY_MB": "256", "SANDBOX_RUNNER_FSIZE_MB": "16", "SANDBOX_WORKSPACE_MB": "64",
                "SANDBOX_WORKSPACE_INODES": "4096", "SANDBOX_RUNNER_PIDS": "48", "SANDBOX_RUNNER_NOFILE": "128",
                "SANDBOX_RUNNER_CPU_SECONDS": str(CPU_SECONDS)}

    def test_a_large_reservation_that_is_not_touched_is_allowed(self):
        self.prints("import mmap; m = mmap.mmap(-1, 1 << 32); print(len(m) >> 30)", "4")

    def test_memory_held_by_files_counts_and_is_given_back(self):
        result = self.session.bash("head -c 200M /dev/zero > /dev/shm/x; echo $?; rm -f /dev/shm/x", 30)
        self.assertEqual(result.status, 200)
        self.assert_alive()

    def test_a_file_over_the_size_limit_is_refused_or_ends_the_writer(self):
        result = self.session.bash("head -c 20M /dev/zero > big", 30)
        self.assertNotEqual(result.return_code, 0)
        self.assertEqual(result.field("limit"), "file_size", result)
        result = self.session.code("with open('big', 'wb') as f:\n    for _ in range(20): f.write(bytes(1 << 20))", 30)
        self.assertNotEqual(result.return_code, 0)
        self.assertEqual(result.field("limit"), "file_size", result)
        self.assert_alive()

    def test_a_full_workspace_is_enospc_with_all_output_kept(self):
        result = self.session.bash("for i in 1 2 3 4 5 6 7 8; do head -c 10M /dev/zero > f$i || break; done; echo still-here", 30)
        self.assertIn("still-here", result.stdout)
        self.assertIn("No space left", result.stderr)
        self.assertEqual(result.field("limit"), "workspace", result)
        self.prints("print('out works')", "out works")
        self.prints("import os\nfor i in range(1, 9): os.path.exists('f%d' % i) and os.remove('f%d' % i)\n"
                    "open('a', 'w').write('again')\nprint(open('a').read())", "again")

    def test_workspace_tmp_and_shm_share_one_budget(self):
        session = self.new_session()
        total = int(session.bash("for d in /workspace /tmp /dev/shm; do for i in 1 2 3 4 5 6; do head -c 15M /dev/zero > $d/f$i; done; done 2>/dev/null;"
                                 " cat /workspace/f* /tmp/f* /dev/shm/f* | wc -c", 60).stdout)
        self.assertLessEqual(total, (64 + 65) << 20)

    def test_inodes_are_bounded(self):
        session = self.new_session()
        result = session.code("import os\nn = 0\ntry:\n    while n < 100_000:\n        os.close(os.open('i%d' % n, os.O_CREAT)); n += 1\n"
                              "except OSError as e: print(n, e.errno)", 60)
        count, error = map(int, result.stdout.split())
        self.assertEqual(error, 28)
        self.assertLess(count, 4200)
        self.assert_alive(session)

    def test_processes_are_bounded_and_named(self):
        result = self.session.code("import os, time\ntry:\n    for _ in range(200):\n        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
                                   "except OSError as e: print('refused', e.errno)", 20)
        self.assertIn("refused 11", result.stdout)
        self.assertEqual(result.field("limit"), "pids", result)

    def test_fork_bomb_ends_with_its_call(self):
        session = self.new_session()
        start = time.monotonic()
        session.bash(":(){ :|:& };:", 3)
        session.code("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", 3)
        self.assertLess(time.monotonic() - start, 20 * SLOWNESS)
        self.assert_alive(session)

    def test_descriptors_are_bounded_and_the_error_is_still_reported(self):
        result = self.session.code("import os\ntry:\n    while True: os.open('/dev/null', os.O_RDONLY)\nexcept OSError as e: print(e.errno)\nraise ValueError('after')")
        self.assertEqual(result.stdout, "24")
        self.assertIn("ValueError: after", result.stderr)
        self.assert_alive()

    def test_cpu_seconds_are_counted_per_call(self):
        busy = "import time\nt = time.process_time()\nwhile time.process_time() - t < 1.5: pass\nprint('ok')"
        for _ in range(4):
            self.prints(busy, "ok", timeout=30)
        result = self.session.code("while True: pass", 110)
        self.assertEqual(result.field("limit"), "cpu", result)
        self.assertIn("sandbox limit (cpu)", result.stderr)
        self.assertLess(result.wall, 20 * SLOWNESS)
        self.assert_alive()

    def test_cpu_of_children_counts(self):
        result = self.session.bash("for i in 1 2 3; do (while :; do :; done) & done; wait", 60)
        self.assertIn(result.field("limit"), ("cpu", "wall_clock"), result)
        self.assertLess(result.wall, 20 * SLOWNESS)

    def test_one_core_at_most(self):
        result = self.session.code("import os, time\nused = sum(os.times()[:4]); start = time.monotonic()\npids = [os.fork() for _ in range(1)]\n"
                                   "t = time.process_time()\nend = start + 1\nwhile time.monotonic() < end: pass\n"
                                   "if pids[0] == 0: os._exit(0)\nos.waitpid(pids[0], 0)\nprint(sum(os.times()[:4]) - used)", 20)
        self.assertLess(float(result.stdout), 1.6)

    def test_neighbours_keep_their_latency(self):
        hog, neighbour = self.new_session(), self.new_session()
        neighbour.code("1")
        hog.bash("for i in 1 2 3 4 5 6; do (while :; do :; done) & done", 2)
        waits = [neighbour.code("print(1)").wall for _ in range(40)]
        hog.delete()
        self.assertLess(sorted(waits)[36], 0.5 * SLOWNESS)
