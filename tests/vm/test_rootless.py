# SPDX-License-Identifier: Apache-2.0
"""Started by an ordinary user in a cgroup v2 that was delegated to him, as `systemd-run --user --scope -p Delegate=yes` does."""

import os
import unittest

import process_tree
from harness import running
from ordinary_user import ordinary_user
from test_cgroup2 import SMALL, directories, number, scope


class Delegated(unittest.TestCase):
    def delegated_to(self, user, group):
        for name in ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
            os.chown(group / name, user.uid, user.gid)
        return user.launcher(cgroup=group)

    def limits_hold(self, subordinate_ids, allowed):
        with ordinary_user(subordinate_ids) as user, scope("user-%d" % subordinate_ids) as (group, _):
            settings = {**SMALL, "SANDBOX_ALLOW_WEAKER": allowed, "SANDBOX_RUNNER_MEMORY_MB": "200", "SANDBOX_RUNNER_PIDS": "40",
                        "SANDBOX_RUNNER_CPU_SECONDS": "60"}
            with running(settings, root=user.home / "sessions", binary=self.delegated_to(user, group)) as server:
                own, = [group / name for name in directories(group)]
                with server.sandbox.create() as session:
                    session.bash("sleep 321 & true", 60)
                    sleeper = next(pid for pid in server.tree() if "sleep 321" in process_tree.title(pid))
                    cgroup, = process_tree.cgroup_directories(sleeper)
                    self.assertEqual(cgroup.parent, own)
                    self.assertEqual((number(cgroup / "memory.max"), number(cgroup / "pids.max")), (200 << 20, 40))
                    result = session.code("x = bytearray(1 << 30)", 60)
                    self.assertEqual(result.field("limit"), "memory", result)
                    result = session.code("import os, time\ntry:\n    for _ in range(200):\n        if os.fork() == 0: time.sleep(90); os._exit(0)\n"
                                          "except OSError as e: print('refused', e.errno)", 60)
                    self.assertEqual(result.field("limit"), "pids", result)
                yield server, user
            self.assertEqual(directories(group), [])
            self.assertEqual((group / "cgroup.subtree_control").read_text().split(), [])

    def test_with_subordinate_ids_nothing_is_weaker(self):
        for server, _ in self.limits_hold(True, ""):
            self.assertNotIn("weaker", server.sandbox.health())

    def test_without_them_only_the_ids_are(self):
        for server, user in self.limits_hold(False, "shared-uid"):
            self.assertEqual(server.sandbox.health()["weaker"], "shared-uid")
            self.assertEqual({process_tree.status(pid)["Uid"].split()[0] for pid in server.tree()}, {str(user.uid)})
