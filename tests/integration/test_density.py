# SPDX-License-Identifier: Apache-2.0
"""Many sessions at once: what they cost while nobody uses them."""
import os
import time
import unittest

import process_tree
from harness import ServerTestCase

SESSIONS = 100
MANY = 500
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids):
    total = 0
    for pid in pids:
        fields = process_tree.stat_fields(pid)
        total += int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0
    return total / TICKS


class Density(ServerTestCase):
    settings = {"SANDBOX_MAX_SESSIONS": str(MANY + 1), "SANDBOX_SPAWN": "fork"}

    def test_sessions_that_nobody_uses_take_no_processor_time_and_little_memory(self):
        count = MANY if os.environ.get("ROOKERY_TEST_LONG") else SESSIONS
        self.prints("print(1)", "1")
        before = process_tree.pss_kb(self.server.tree())
        sessions = [self.new_session() for _ in range(count)]
        for session in sessions:
            self.prints("import json, csv, decimal; print(decimal.Decimal(1))", "1", session)
        self.assertLess((process_tree.pss_kb(self.server.tree()) - before) / count, 12_000)
        time.sleep(2)  # until the pool is full again
        tree = self.server.tree()
        self.assertGreater(len(tree), 2 * count)
        start, used = time.monotonic(), cpu_seconds(tree)
        time.sleep(6)
        self.assertLess((cpu_seconds(tree) - used) / (time.monotonic() - start), 0.005)
        self.assertEqual(self.sandbox.health()["session_count"], count + 1)


if __name__ == "__main__":
    unittest.main()
