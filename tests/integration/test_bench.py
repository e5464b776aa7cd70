# SPDX-License-Identifier: Apache-2.0
"""tools/bench tells what the machine itself takes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import SOURCE, ServerTestCase

MEASURES = ["bash true", "download 100 MB"]


class Bench(ServerTestCase):
    def test_floors_stand_beside_what_is_measured(self):
        url = "http://%s:%d" % (self.server.host, self.server.port)
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / "figures"
            done = subprocess.run([sys.executable, SOURCE / "tools" / "bench", "--floors", "--only", ",".join(MEASURES), "--json", file, url],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            figures = json.loads(file.read_text())
        self.assertEqual(sorted(figures["floors"]), MEASURES)
        head, *lines = done.stdout.splitlines()
        self.assertTrue(head.endswith("floor of floor"), head)
        for name, line in zip(MEASURES, lines, strict=True):
            [measured], floor = figures["results"][name], figures["floors"][name]
            self.assertEqual((floor["unit"], floor["samples"]), (measured["unit"], measured["samples"]))
            self.assertGreater(floor["p50"], 0)
            self.assertIn("%.3f" % floor["p50"], line)


if __name__ == "__main__":
    unittest.main()
