# SPDX-License-Identifier: Apache-2.0
import re
import threading
import time

from harness import ServerTestCase, wait_for


class Leasing(ServerTestCase):
    def test_handle_has_id_times_and_limits_in_force(self):
        handle = self.session.handle
        self.assertRegex(handle["session_id"], "^sbx_[0-9a-f]{24,60}$")
        self.assertEqual((handle["idle_timeout_seconds"], handle["max_lifetime_seconds"]), (900, 7200))
        self.assertLess(abs(handle["created_at"] - time.time()), 30)

    def test_hints_are_kept_or_lowered_never_raised(self):
        session = self.new_session(idle_timeout_seconds=5, max_lifetime_seconds=10**12, image="none:1")
        self.assertEqual(session.handle["idle_timeout_seconds"], 5)
        self.assertEqual(session.handle["max_lifetime_seconds"], 7200)

    def test_ids_do_not_repeat(self):
        ids = {self.new_session().id for _ in range(20)}
        self.assertEqual(len(ids), 20)

    def test_malformed_ids_name_no_session(self):
        for name in ("..", "%2e%2e", "sbx_", "x" * 10_000, "sbx_%00", "%ff", self.session.id.upper(), self.session.id + "%00x",
                     self.session.id[:-1], self.session.id + "0"):
            response = self.sandbox.request("GET", "/sessions/" + name)
            self.assertIn(response.status, (400, 404, 414, 422), name[:50])

    def test_every_thread_of_clients_gets_a_session_of_its_own(self):
        found = []

        def live(number):
            with self.sandbox.create() as session:
                session.code("n = %d" % number)
                found.append(int(session.code("print(n)").stdout) == number)

        threads = [threading.Thread(target=live, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 12)

    def test_health_counts_sessions(self):
        before = self.sandbox.health()["session_count"]
        session = self.new_session()
        self.assertEqual(self.sandbox.health()["session_count"], before + 1)
        session.delete()
        self.assertEqual(self.sandbox.health()["session_count"], before)


class Ending(ServerTestCase):
    settings = {"SANDBOX_SESSION_GC_INTERVAL": "1"}

    def gone(self, session):
        return self.sandbox.request("GET", session.target).status == 404

    def test_delete_twice_is_no_error_and_every_use_afterwards_is_404(self):
        session = self.sandbox.create()
        session.put(b"x", "f")
        self.assertEqual([session.delete().status for _ in range(2)], [204, 204])
        self.assertEqual([session.code("1").status, session.list().status, session.get("f").status, session.put(b"", "g").status],
                         [404] * 4)

    def test_delete_answers_a_running_call_at_once(self):
        session = self.sandbox.create()
        session.code("1")
        results = []
        calls = [threading.Thread(target=lambda: results.append(session.code("import time; time.sleep(60)", 90))),
                 threading.Thread(target=lambda: results.append(session.code("print('queued')", 90)))]
        for call in calls:
            call.start()
            time.sleep(0.4)
        start = time.monotonic()
        session.delete()
        for call in calls:
            call.join(20)
        self.assertLess(time.monotonic() - start, 5)
        for result in results:
            self.assertIn(result.status, (200, 404))
            if result.status == 200:
                self.assertEqual(result.return_code, -1)
                self.assertTrue(result.stderr)
        self.assertEqual(len(results), 2)

    def test_two_deletes_at_once_during_a_call(self):
        session = self.sandbox.create()
        call = threading.Thread(target=session.code, args=("import time; time.sleep(30)", 60))
        call.start()
        time.sleep(0.3)
        answers = []
        deletes = [threading.Thread(target=lambda: answers.append(session.delete().status)) for _ in range(4)]
        for delete in deletes:
            delete.start()
        for thread in deletes + [call]:
            thread.join(15)
        self.assertEqual(answers, [204] * 4)
        self.assertEqual(session.code("1").status, 404)

    def test_idle_session_is_reclaimed_after_its_reported_timeout(self):
        session = self.sandbox.create(idle_timeout_seconds=2)
        self.assertFalse(self.gone(session))
        wait_for(lambda: self.sandbox.health()["session_count"] == 0, 8, "idle reclaim")
        self.assertTrue(self.gone(session))

    def test_activity_puts_the_reclaim_off(self):
        session = self.new_session(idle_timeout_seconds=3)
        for _ in range(8):
            time.sleep(0.7)
            self.assertEqual(session.list().status, 200)
        self.prints("print(1)", "1", session)

    def test_a_call_longer_than_the_idle_timeout_is_not_reclaimed(self):
        session = self.new_session(idle_timeout_seconds=1)
        self.prints("import time; time.sleep(4); x = 3", "", session)
        self.prints("print(x)", "3", session)

    def test_lifetime_ends_a_session_in_use(self):
        session = self.sandbox.create(max_lifetime_seconds=2)
        session.code("1")
        wait_for(lambda: session.list().status == 404, 8, "end of lifetime")

    def test_reading_the_handle_shows_the_last_activity(self):
        session = self.session
        first = session.info().json()["last_activity_at"]
        time.sleep(0.02)
        session.code("1")
        self.assertGreater(session.info().json()["last_activity_at"], first)


class Documents(ServerTestCase):
    def test_openapi_lists_the_routes(self):
        paths = self.sandbox.request("GET", "/openapi.json").json()["paths"]
        for path in ("/sessions", "/sessions/{session_id}/exec", "/sessions/{session_id}/files", "/health"):
            self.assertIn(path, paths)

    def test_errors_carry_a_detail_and_nothing_of_the_host(self):
        for method, target in (("GET", "/x"), ("PUT", "/health"), ("GET", "/sessions/unknown"), ("POST", "/sessions/x/exec")):
            response = self.sandbox.request(method, target, b"{}" if method == "POST" else None)
            self.assertIn("detail", response.json())
            self.assertIsNone(re.search(rb"/var/|/tmp/|/work|rookery-test|pid", response.body), response.body)
