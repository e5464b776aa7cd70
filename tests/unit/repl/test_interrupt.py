# SPDX-License-Identifier: Apache-2.0
"""SIGINT ends a cell and nothing else."""
import time
import unittest

from harness import DriverTest


class Interrupt(DriverTest):
    def interrupted(self, source, after=0.3, **options):
        result = self.fails(source, "KeyboardInterrupt", interrupt_after=after, **options)
        self.assertLess(result.seconds, 3)
        return result

    def test_variables_survive(self):
        self.ok("rows = list(range(1000)); import time")
        self.assertIn('File "<cell 2>", line 1', self.interrupted("time.sleep(60)").err)
        self.ok("print(len(rows))", "1000\n")

    def test_busy_loop(self):
        result = self.interrupted("print('so far')\nwhile True: pass")
        self.assertEqual(result.out, "so far\n")
        self.works()

    def test_waiting_for_a_child(self):
        self.interrupted("import subprocess; subprocess.run(['sleep','60'])")
        self.works()

    def test_waiting_for_a_lock(self):
        self.interrupted("import threading\nl = threading.Lock(); l.acquire(); l.acquire()")
        self.works()

    def test_user_handler_is_not_kept(self):
        self.ok("import signal; signal.signal(signal.SIGINT, lambda *a: None)")
        self.interrupted("import time; time.sleep(60)")

    def test_ignored_signal_is_not_kept(self):
        self.ok("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)")
        self.interrupted("import time; time.sleep(60)")

    def test_between_cells_it_is_dropped(self):
        for _ in range(20):
            self.driver.interrupt()
            self.works()
        time.sleep(0.05)
        self.driver.interrupt()
        time.sleep(0.05)
        self.works()

    def test_between_cells_with_threads_it_is_dropped(self):
        self.ok("import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()")
        for _ in range(20):
            self.driver.interrupt()
            self.works()

    def test_a_storm_never_shifts_an_answer(self):
        self.ok("import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()")
        for number in range(200):
            self.driver.send(f"for _ in range({number * 20}): pass\nprint({number})")
            for _ in range(number % 4):
                self.driver.interrupt()
            result = self.driver.result()
            if result.code == 0:
                self.assertEqual((result.out, result.err), (f"{number}\n", ""))
            else:
                self.assertEqual(result.code, 1)
                self.assertNotIn("rookery", result.err)
        self.works()

    def test_swallowed_interrupt_leaves_the_next_cell_alone(self):
        self.ok("import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('caught')", "caught\n", interrupt_after=0.2)
        self.works()

    def test_during_a_long_flush_of_the_users_stream(self):
        self.run_cell("import sys, time\nclass S:\n    def write(self, t): pass\n    def flush(self): time.sleep(60)\nsys.stdout = S()", interrupt_after=0.3)
        self.works()


if __name__ == "__main__":
    unittest.main()
