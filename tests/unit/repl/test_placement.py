# SPDX-License-Identifier: Apache-2.0
"""The processor that a request names is where the driver waits for the next one, for a moment, and nothing more."""
import os
import time
import unittest

from harness import DriverTest

CPUS = sorted(os.sched_getaffinity(0))
ALLOWED = "import os; print(sorted(os.sched_getaffinity(0)))"


class Placement(DriverTest):
    def run_on(self, cpu, source=ALLOWED):
        self.driver.send(source, cpu=cpu)
        result = self.driver.result()
        self.assertEqual((result.code, result.err), (0, ""), result)
        return result.out

    def waits_on(self):
        return sorted(os.sched_getaffinity(self.driver.pid))

    def settles_on(self, cpus):
        deadline = time.monotonic() + 5
        while self.waits_on() != cpus and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.waits_on(), cpus)

    def test_cells_may_use_every_processor(self):
        for cpu in (CPUS[-1], CPUS[0], None, CPUS[-1]):
            self.assertEqual(self.run_on(cpu), f"{CPUS}\n")
        self.settles_on(CPUS)
        self.assertEqual(self.run_on(None), f"{CPUS}\n")

    def test_it_waits_where_the_server_does(self):
        seen = set()
        for _ in range(100):  # the moment may be over before this process looks
            self.run_on(CPUS[-1], "1")
            for _ in range(20):
                seen.add(tuple(self.waits_on()))
                time.sleep(0.0005)
        self.assertIn((CPUS[-1],), seen)
        self.assertLessEqual(seen, {(CPUS[-1],), tuple(CPUS)})
        self.settles_on(CPUS)

    def test_without_a_processor_it_waits_anywhere(self):
        for _ in range(20):
            self.run_on(None, "1")
            self.assertEqual(self.waits_on(), CPUS)

    def test_what_a_cell_chose_stays(self):
        self.run_on(CPUS[-1], "import os; os.sched_setaffinity(0, {%d})" % CPUS[0])
        for _ in range(3):
            self.assertEqual(self.run_on(CPUS[-1]), f"{CPUS[:1]}\n")
        self.settles_on(CPUS[:1])

    def test_threads_go_on_where_they_may(self):
        self.run_on(CPUS[-1], "import os, threading, time\nseen = []\n"
                    "def look():\n    while len(seen) < 100:\n        seen.append(len(os.sched_getaffinity(0)))\n        time.sleep(0.0005)\n"
                    "threading.Thread(target=look).start()")
        time.sleep(0.5)
        self.assertEqual(self.run_on(CPUS[-1], "print(set(seen))"), "{%d}\n" % len(CPUS))

    def test_a_processor_that_is_none_changes_nothing(self):
        for cpu in (1023, 1024, 65534):
            self.assertEqual(self.run_on(cpu), f"{CPUS}\n")
            self.assertEqual(self.waits_on(), CPUS)


if __name__ == "__main__":
    unittest.main()
