# SPDX-License-Identifier: Apache-2.0
"""Started by an ordinary user: what holds as ever, what is weaker, and that each weaker thing has to be allowed by name."""

import contextlib
import os
import unittest

import process_tree
import test_jail
from harness import SLOWNESS, Server, free_port, running, wait_for
from ordinary_user import FIRST_SUBORDINATE, SUBORDINATE_COUNT, ordinary_user

ROLES = ("warden", "server", "zygote")


class AsUser:
    """A server that an ordinary user started, on a machine that gave him no cgroup."""

    subordinate_ids = True
    allowed = "no-cgroup"

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("accounts are made by root")
        cls.stack = contextlib.ExitStack()
        cls.user = cls.stack.enter_context(ordinary_user(cls.subordinate_ids))
        settings = {"SANDBOX_ALLOW_WEAKER": cls.allowed, "SANDBOX_RUNNER_MEMORY_MB": "300", "SANDBOX_RUNNER_PIDS": "48", "TELEMETRY_ENABLED": "1",
                    "TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:%d" % free_port(), "TELEMETRY_METRICS_INTERVAL": "1", **cls.settings}
        try:
            cls.server = cls.stack.enter_context(running(settings, root=cls.user.home / "sessions", binary=cls.user.launcher()))
        except BaseException:
            cls.stack.close()
            raise
        cls.sandbox = cls.server.sandbox

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()


class Promises(AsUser):
    def test_no_process_has_a_capability_on_the_machine_or_is_root(self):
        self.session.bash("sleep 77 & true")
        for pid in self.server.tree():
            status = process_tree.status(pid)
            self.assertNotIn("0", status["Uid"].split(), process_tree.title(pid))
            if process_tree.namespace(pid, "user") == process_tree.namespace("self", "user"):
                self.assertEqual(int(status["CapEff"], 16), 0, process_tree.title(pid))

    def test_nobody_else_lists_the_sessions(self):
        self.assertEqual(os.stat(self.server.root).st_mode & 0o777, 0o700)

    def test_what_is_missing_is_told(self):
        self.assertEqual(self.sandbox.health()["weaker"], self.allowed)
        ready = next(line for line in self.server.log().splitlines() if "ready on http://" in line)
        for word in self.allowed.split(","):
            self.assertIn(word, ready)

    def test_telemetry_is_exported(self):
        status = process_tree.status(self.server.role("exporter"))
        self.assertEqual((status["CapEff"], status["NoNewPrivs"], status["Seccomp"]), ("0" * 16, "1", "2"))
        wait_for(lambda: "telemetry cannot be exported at the moment" in self.server.log(), 20, "an attempt: nobody listens there")

    def test_memory_of_a_process_is_bounded_by_rlimits(self):
        result = self.session.code("x = bytearray(1 << 30)", 20)
        self.assertIn("MemoryError", result.stderr)
        self.assert_alive()

    def test_processes_are_bounded_by_rlimits(self):
        result = self.session.code("import os, time\ntry:\n    for _ in range(200):\n        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
                                   "except OSError as e: print('refused', e.errno)", 20)
        self.assertEqual(result.stdout, "refused 11", result)
        self.assertEqual(self.new_session().code("import os\np = os.fork()\nif p == 0: os._exit(7)\nprint(os.waitpid(p, 0)[1] >> 8)").stdout, "7")

    def test_calls_end_in_time_and_everything_with_them(self):
        session = self.new_session()
        result = session.bash("(setsid sleep 876 &); while :; do :; done", 1)
        self.assertTrue(result.field("timed_out"))
        self.assertLess(result.wall, 8 * SLOWNESS)
        session.delete()
        self.assertFalse([pid for pid in self.server.tree() if "sleep 876" in process_tree.title(pid)])


class WithSubordinateIds(Promises, test_jail.Inside):
    """Everything that is promised of a jail, and ids that are nobody's."""

    def test_ids_are_subordinate_ones_and_each_its_own(self):
        self.session.code("1")
        uids = {}
        for pid in self.server.tree():
            uids.setdefault(int(process_tree.status(pid)["Uid"].split()[0]), []).append(process_tree.title(pid))
        for uid in uids:
            self.assertTrue(FIRST_SUBORDINATE <= uid < FIRST_SUBORDINATE + SUBORDINATE_COUNT, uids)
        self.assertNotEqual(*[process_tree.status(self.server.role(role))["Uid"] for role in ("warden", "server")])
        inits = [titles for titles in uids.values() if any("init" in title for title in titles)]
        self.assertGreater(len(inits), 1)
        for titles in inits:
            self.assertEqual(len([title for title in titles if "init" in title]), 1, "one session an id")

    def test_the_users_groups_are_given_up(self):
        for pid in self.server.tree():
            self.assertEqual(process_tree.status(pid)["Groups"].split(), [], process_tree.title(pid))


class WithSubordinateIdsExec(WithSubordinateIds):
    settings = {"SANDBOX_SPAWN": "exec"}


class WithoutSubordinateIds(Promises, test_jail.Inside):
    """Everything that is promised of a jail's inside, under the user's own id."""

    subordinate_ids = False
    allowed = "shared-uid,no-cgroup"

    def test_the_id_is_the_users(self):
        self.session.code("1")
        self.assertEqual({process_tree.status(pid)["Uid"].split()[0] for pid in self.server.tree()}, {str(self.user.uid)})


@unittest.skipUnless(os.geteuid() == 0, "accounts are made by root")
class Refused(unittest.TestCase):
    """Nothing is weaker that was not allowed by name."""

    def refused(self, user, words, **settings):
        done = user.run("serve", "--listen", "127.0.0.1:%d" % free_port(), SANDBOX_SESSIONS_ROOT=str(user.home / "sessions"), **settings)
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 5)

    def test_without_subordinate_ids(self):
        with ordinary_user(False) as user:
            self.refused(user, ["/etc/subuid", "--add-subuids", "SANDBOX_ALLOW_WEAKER=shared-uid"], SANDBOX_ALLOW_WEAKER="no-cgroup")

    def test_without_a_cgroup(self):
        with ordinary_user(True) as user:
            # As rookery tells a container; this machine may have been made from an image.
            how = "--userns=host" if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv") else "systemd-run --user"
            self.refused(user, ["cgroup", how, "SANDBOX_ALLOW_WEAKER=no-cgroup"], SANDBOX_ALLOW_WEAKER="shared-uid")

    def test_flat_jails_under_one_id(self):
        with ordinary_user(False) as user:
            self.refused(user, ["flat", "shared-uid"], SANDBOX_ALLOW_WEAKER="shared-uid,no-cgroup", SANDBOX_JAIL_USERNS="flat")

    def test_more_sessions_than_ids(self):
        with ordinary_user(True, subordinate_count=12000) as user:
            self.refused(user, ["SANDBOX_MAX_SESSIONS=9000", "ids"], SANDBOX_ALLOW_WEAKER="no-cgroup", SANDBOX_MAX_SESSIONS="9000")

    def test_names_that_are_none(self):
        with ordinary_user(False) as user:
            done = user.run("serve", SANDBOX_ALLOW_WEAKER="everything")
            self.assertEqual(done.returncode, 2)
            self.assertIn("shared-uid and no-cgroup", done.stderr)

    def test_check_tells_what_is_missing_and_what_is_weaker(self):
        for subordinate, allowed, status, words in (
                (True, "", 1, ["%d subordinate ones" % SUBORDINATE_COUNT, "MISSING", "SANDBOX_ALLOW_WEAKER=no-cgroup"]),
                (True, "no-cgroup", 0, ["no-cgroup: rlimits alone", "rookery can serve here"]),
                (False, "no-cgroup", 1, ["--add-subuids", "SANDBOX_ALLOW_WEAKER=shared-uid"]),
                (False, "no-cgroup,shared-uid", 0, ["shared-uid: every process", "rookery can serve here"])):
            with self.subTest(subordinate=subordinate, allowed=allowed), ordinary_user(subordinate) as user:
                done = user.run("check", SANDBOX_ALLOW_WEAKER=allowed)
                self.assertEqual(done.returncode, status, done.stdout)
                for word in words:
                    self.assertIn(word, done.stdout)

    def test_sessions_root_is_in_the_users_state_directory_by_default(self):
        with ordinary_user(True) as user:
            server = Server({"SANDBOX_ALLOW_WEAKER": "no-cgroup", "SANDBOX_SESSIONS_ROOT": ""}, binary=user.launcher())
            try:
                server.wait_until_ready()
                self.assertTrue((user.home / ".local/state/rookery/sessions").is_dir())
                self.assertEqual(server.stop(), 0)
            finally:
                server.clean_up()
