# SPDX-License-Identifier: Apache-2.0
"""What a container gives in the recommended way: four capabilities, and cgroups that are mounted read-only.

A fifth one is needed here only, where the process may be in the root of a hierarchy: that has mode 0555."""

import os
import pathlib
import signal
import tempfile

import process_tree
from harness import BINARY, ServerTestCase, free_port, running, wait_for

START = r"""#!/bin/sh
exec unshare --mount sh -c '
  for point in $(sed -n "s/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2\? .*/\1/p" /proc/self/mountinfo); do
    mount -o remount,bind,ro "$point" || exit 70
  done
  exec setpriv --inh-caps=-all --bounding-set=-all,+chown,+setuid,+setgid,+setpcap,+dac_override "$@"' sh @BINARY@ "$@"
"""


class LeastPrivileges(ServerTestCase):
    settings = {"SANDBOX_RUNNER_MEMORY_MB": "192", "SANDBOX_RUNNER_PIDS": "24", "SANDBOX_PRELOAD": "json", "TELEMETRY_ENABLED": "1",
                "TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:%d" % free_port(), "TELEMETRY_METRICS_INTERVAL": "1"}

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="rookery-test-")
        cls.addClassCleanup(directory.cleanup)
        program = pathlib.Path(directory.name) / "start"
        program.write_text(START.replace("@BINARY@", str(BINARY)))
        program.chmod(0o755)
        cls.context = running(cls.settings, binary=program)
        cls.server = cls.context.__enter__()
        cls.sandbox = cls.server.sandbox

    def test_the_cgroups_it_was_given_are_read_only(self):
        mounts = [line for line in process_tree.mounts(self.server.pid) if " - cgroup" in line]
        self.assertTrue(mounts)
        self.assertEqual([line for line in mounts if "ro" not in line.split()[5].split(",")], [])

    def test_a_session_works_and_its_limits_hold(self):
        self.prints("import sys; print(6 * 7)", "42")
        self.assertEqual(self.session.code("x = bytearray(300 << 20)", 100).field("limit"), "memory")
        self.assertEqual(self.session.bash("for i in $(seq 40); do sleep 5 & done; wait", 100).field("limit"), "pids")

    def test_its_processes_are_in_cgroups_below_its_own(self):
        self.assertTrue(self.server.cgroups)
        for path in self.server.cgroups:
            self.assertTrue(path.is_dir(), path)

    def test_telemetry_needs_no_more_and_comes_back(self):
        for number in (1, 2):
            wait_for(lambda number=number: self.server.log().count("telemetry cannot be exported at the moment") == number, 30, "an attempt")
            if number == 1:
                os.kill(self.server.role("exporter"), signal.SIGKILL)
