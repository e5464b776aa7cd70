# SPDX-License-Identifier: Apache-2.0
"""tools/bench tells what the machine itself takes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import SOURCE, ServerTestCase

WITH_FLOOR = ["bash true", "download 100 MB"]
WITHOUT = "editor create"


class Bench(ServerTestCase):
    def bench(self, *arguments):
        """The lines of the table, and the figures."""
        url = "http://%s:%d" % (self.server.host, self.server.port)
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / "figures"
            done = subprocess.run([sys.executable, SOURCE / "tools" / "bench", "--json", file, *arguments, url],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            return done.stdout.splitlines(), json.loads(file.read_text())

    def test_floors_stand_beside_what_is_measured(self):
        (head, *lines), figures = self.bench("--floors", "--only", ",".join([*WITH_FLOOR, WITHOUT]))
        self.assertTrue(head.endswith("floor of floor"), head)
        self.assertEqual(sorted(figures["floors"]), WITH_FLOOR)
        self.assertEqual(sorted(figures["results"]), sorted([*WITH_FLOOR, WITHOUT]))
        for name, floor in figures["floors"].items():
            [measured] = figures["results"][name]
            self.assertEqual((floor["unit"], floor["samples"]), (measured["unit"], measured["samples"]))
            self.assertGreater(floor["p50"], 0)
            [line] = [line for line in lines if line.startswith(name)]
            self.assertIn("%.3f" % floor["p50"], line)

    def test_without_floors_there_are_none(self):
        (head, line), figures = self.bench("--only", WITH_FLOOR[0])
        self.assertNotIn("floor", head + line)
        self.assertEqual((list(figures["results"]), figures["floors"]), ([WITH_FLOOR[0]], {}))


if __name__ == "__main__":
    unittest.main()
