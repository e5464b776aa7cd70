# SPDX-License-Identifier: Apache-2.0
"""schemathesis makes requests from openapi.json, valid and not, and judges every answer by it."""

import os
import pathlib
import subprocess
import sys
import unittest

from harness import running

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 600 if os.environ.get("ROOKERY_TEST_LONG") else 60
# Sessions that nobody releases end soon, so that capacity lasts; what they run ends soon as well.
SETTINGS = {"SANDBOX_SESSION_MAX_LIFETIME": "20", "SANDBOX_MAX_SESSIONS": "1000", "SANDBOX_MAX_TIMEOUT": "2", "SANDBOX_RUNNER_MEMORY_MB": "256"}


class Answers(unittest.TestCase):
    def check(self, phases, seconds, *options):
        with running(SETTINGS) as server:
            url = "http://127.0.0.1:%d" % server.port
            command = [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml",
                       "run", url + "/openapi.json", "--url", url, "--max-time", str(seconds), "--no-color", *options]
            run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 cwd=server.scratch, timeout=seconds + 240)
        self.assertEqual(run.returncode, 0, run.stdout[-12000:])
        # Its own last words also count warnings, such as that many of the sessions it asked for were gone.
        self.assertNotRegex(run.stdout, r"\d+ (failed|errored)")
        for phase in phases:
            self.assertRegex(run.stdout, r"(?s)%s \(in .*?\d+ passed" % phase, run.stdout[-4000:])

    def test_are_as_the_description_says(self):
        self.check(("Examples", "Coverage", "Fuzzing", "Stateful"), SECONDS, "--exclude-operation-id", "drain")

    def test_of_a_draining_node_are_as_the_description_says(self):  # apart, because it leases no more sessions
        self.check(("Examples", "Coverage", "Fuzzing"), SECONDS // 6, "--include-operation-id", "drain")
