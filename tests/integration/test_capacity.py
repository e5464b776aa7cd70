# SPDX-License-Identifier: Apache-2.0
import threading
import time

from harness import SLOWNESS, ServerTestCase, wait_for


class Capacity(ServerTestCase):
    settings = {"SANDBOX_MAX_SESSIONS": "6", "SANDBOX_POOL_SIZE": "2"}

    def create(self):
        return self.sandbox.request_json("POST", "/sessions", {})

    def test_one_session_more_than_the_bound_is_503_with_a_hint_when_to_retry(self):
        sessions = [self.new_session() for _ in range(6)]
        refused = self.create()
        self.assertEqual(refused.status, 503)
        self.assertRegex(refused.headers.get("retry-after", ""), "^[0-9]{1,6}$")
        self.assertIn("detail", refused.json())
        self.prints("print(1)", "1", sessions[0])
        sessions[3].delete()
        again = self.create()
        self.assertEqual(again.status, 201)
        self.sandbox.request("DELETE", "/sessions/" + again.json()["session_id"])

    def test_a_burst_leases_exactly_the_bound(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.create())) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        leased = [a.json()["session_id"] for a in answers if a.status == 201]
        self.assertEqual((len(leased), len(set(leased))), (6, 6))
        self.assertEqual({a.status for a in answers}, {201, 503})
        self.assertEqual(self.sandbox.health()["session_count"], 6)
        self.assertEqual(self.sandbox.health()["max_sessions"], 6)
        for name in leased:
            self.sandbox.request("DELETE", "/sessions/" + name)
        wait_for(lambda: self.sandbox.health()["session_count"] == 0, 5, "release of all")

    def test_ready_jails_do_not_count_as_sessions(self):
        self.assertEqual(self.sandbox.health()["session_count"], 0)


class Burst(ServerTestCase):
    settings = {"SANDBOX_POOL_SIZE": "2"}

    def ready(self):
        return self.sandbox.health()["ready_sessions"]

    def test_a_burst_grows_the_pool_for_a_while(self):
        wait_for(lambda: self.ready() == 2, 20, "a full pool")
        threads = [threading.Thread(target=self.new_session) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_for(lambda: self.ready() > 2, 20, "a grown pool")
        wait_for(lambda: self.ready() == 2, 30, "a pool of the usual size")


class Concurrency(ServerTestCase):
    settings = {"SANDBOX_MAX_THREADS": "64"}

    def test_running_calls_do_not_delay_health(self):
        sessions = [self.new_session() for _ in range(20)]
        calls = [threading.Thread(target=s.code, args=("import time; time.sleep(3)", 10)) for s in sessions]
        for call in calls:
            call.start()
        time.sleep(0.5)
        waits = []
        for _ in range(50):
            start = time.monotonic()
            self.assertEqual(self.sandbox.health()["status"], "ok")
            waits.append(time.monotonic() - start)
        for call in calls:
            call.join()
        self.assertLess(sorted(waits)[48], 0.1 * SLOWNESS)

    def test_beyond_the_bound_of_threads_answers_503_and_recovers(self):
        session = self.new_session()
        session.code("1")
        statuses = []
        calls = [threading.Thread(target=lambda: statuses.append(session.code("import time; time.sleep(0.05)", 10).status)) for _ in range(100)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertIn(200, statuses)
        self.assert_alive(session)

    def test_idle_connections_do_not_keep_others_out(self):
        idle = [self.sandbox.new_connection() for _ in range(400)]
        for connection in idle:
            connection.request("GET", "/health")
        start = time.monotonic()
        self.assert_alive()
        self.assertLess(time.monotonic() - start, 2 * SLOWNESS)
        self.assertEqual({c.request("GET", "/health").status for c in idle[::40]}, {200})
        for connection in idle:
            connection.close()

    def test_busy_sessions_do_not_starve_the_api(self):
        hogs = [self.new_session() for _ in range(4)]
        for hog in hogs:
            hog.bash("for i in 1 2 3 4; do (while :; do :; done) & done; sleep 0.1", 5)
        waits = []
        for _ in range(60):
            start = time.monotonic()
            self.sandbox.health()
            waits.append(time.monotonic() - start)
        start = time.monotonic()
        with self.sandbox.create() as fresh:
            fresh.code("1")
        created = time.monotonic() - start
        self.assertLess(sorted(waits)[58], 0.1 * SLOWNESS)
        self.assertLess(created, 2 * SLOWNESS)

    def test_stopping_lets_a_running_call_finish(self):
        from harness import running
        with running() as server:
            session = server.sandbox.create()
            session.code("1")
            results = []
            call = threading.Thread(target=lambda: results.append(session.code("import time; time.sleep(2); print('whole')", 30)))
            call.start()
            time.sleep(0.5)
            known = server.identities()
            self.assertEqual(server.stop(), 0)
            call.join(5)
            self.assertEqual(results[0].stdout, "whole")
            self.assertEqual(server.remains(known), [])
