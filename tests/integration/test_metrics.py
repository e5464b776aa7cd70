# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

from harness import SOURCE, ServerTestCase, wait_for
from test_logs import FOREIGN_CALL, FORGED_ANSWER

# tools/test unpacks Debian's prometheus there, without installing it: no service is started.
PROMTOOL = os.environ.get("ROOKERY_PROMTOOL") or shutil.which("promtool")
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")


def parse(text):
    """{(name, labels as a sorted tuple): value} of Prometheus' text format."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        pairs = tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
        assert (name, pairs) not in found, "twice: " + line
        found[name, pairs] = float(value)
    return found


class MetricsCase(ServerTestCase):
    def text(self):
        response = self.sandbox.request("GET", "/metrics")
        self.assertEqual((response.status, response.headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        return response.body.decode()

    def value(self, name, **labels):
        return parse(self.text()).get((name, tuple(sorted(labels.items()))))

    def grows(self, action, name, by=1, **labels):
        """`action` makes this number grow by exactly `by`; a request counts when its answer has left, so a moment later."""
        before = self.value(name, **labels) or 0
        action()
        wait_for(lambda: (self.value(name, **labels) or 0) >= before + by, 5, "%s %r to grow from %s" % (name, labels, before))
        self.assertEqual(self.value(name, **labels), before + by)


class Metrics(MetricsCase):
    settings = {"SANDBOX_SESSION_GC_INTERVAL": "1", "SANDBOX_MAX_SESSIONS": "5", "SANDBOX_SPAWN": "fork"}

    def test_promtool_has_nothing_to_say(self):
        if not PROMTOOL:
            self.skipTest("no promtool: Debian's package prometheus could not be downloaded")
        self.session.code("1")
        self.sandbox.request("GET", "/nowhere")
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=self.text(), capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_promtool_would_notice(self):
        if not PROMTOOL:
            self.skipTest("no promtool: Debian's package prometheus could not be downloaded")
        done = subprocess.run([PROMTOOL, "check", "metrics"], input="# TYPE x counter\nx 1\n", capture_output=True, text=True, timeout=30)
        self.assertNotEqual(done.returncode, 0)

    def test_sessions_are_counted_by_what_became_of_them(self):
        self.grows(lambda: self.sandbox.create().delete(), "rookery_sessions_created_total")
        self.grows(lambda: self.sandbox.create().delete(), "rookery_sessions_ended_total", reason="deleted")
        self.grows(lambda: self.sandbox.create(idle_timeout_seconds=1), "rookery_sessions_ended_total", reason="idle")
        self.grows(lambda: self.sandbox.create(max_lifetime_seconds=1), "rookery_sessions_ended_total", reason="lifetime")
        self.grows(lambda: self.sandbox.create().delete(), "rookery_lease_duration_seconds_count")
        self.grows(lambda: self.sandbox.create().delete(), "rookery_session_lifetime_seconds_count")
        with self.sandbox.create():
            self.assertEqual(self.value("rookery_sessions"), self.sandbox.health()["session_count"])
        self.assertEqual(self.value("rookery_sessions_max"), 5)
        self.assertGreaterEqual(self.value("rookery_jails"), self.value("rookery_sessions"))

    def test_sessions_that_are_not_given_are_counted(self):
        held = [self.new_session() for _ in range(5 - int(self.value("rookery_sessions")))]
        with self.assertRaises(RuntimeError):
            self.grows(self.sandbox.create, "rookery_leases_refused_total", reason="capacity")
        self.assertGreaterEqual(self.value("rookery_leases_refused_total", reason="capacity"), 1)
        for session in held:
            session.delete()

    def test_calls_are_counted_by_tool_and_outcome(self):
        session = self.session

        def call(tool, outcome, action):
            self.grows(action, "rookery_calls_total", tool=tool, outcome=outcome)

        call("code_execution", "ok", lambda: session.code("1"))
        call("code_execution", "error", lambda: session.code("1/0"))
        call("code_execution", "timeout", lambda: session.code("while True: pass", timeout=1))
        call("code_execution", "crashed", lambda: session.code("import os; os._exit(3)"))
        call("bash_code_execution", "ok", lambda: session.bash("true"))
        call("bash_code_execution", "error", lambda: session.bash("false"))
        call("text_editor_code_execution", "ok", lambda: session.edit("create", "f", file_text="x"))
        call("text_editor_code_execution", "error", lambda: session.edit("view", "none"))
        self.grows(lambda: session.bash("true"), "rookery_call_duration_seconds_count", tool="bash_code_execution")
        self.grows(lambda: session.bash("true"), "rookery_call_queue_wait_seconds_count")

    def test_durations_are_of_the_right_size(self):
        name, labels = "rookery_call_duration_seconds_sum", {"tool": "code_execution"}
        before = self.value(name, **labels)
        waited = self.value("rookery_call_queue_wait_seconds_sum")
        session = self.session
        session.code("1")
        calls = [threading.Thread(target=session.code, args=("import time; time.sleep(0.5)",)) for _ in range(2)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        wait_for(lambda: self.value(name, **labels) - before >= 1, 5, "a second of calls")
        self.assertLess(self.value(name, **labels) - before, 8)
        self.assertGreaterEqual(self.value("rookery_call_queue_wait_seconds_sum") - waited, 0.3)

    def test_limits_and_restarts_are_counted(self):
        session = self.session
        self.grows(lambda: session.code("while True: pass", timeout=1), "rookery_limit_hits_total", limit="wall_clock")
        self.grows(lambda: session.bash("yes | head -c 3000000"), "rookery_limit_hits_total", limit="output")
        self.grows(lambda: session.code("import os; os._exit(1)"), "rookery_interpreter_restarts_total")
        self.assertEqual(self.value("rookery_zygote_starts_total"), 1)

    def test_violations_are_counted(self):
        session = self.session
        self.grows(lambda: session.code(FOREIGN_CALL), "rookery_policy_violations_total", kind="seccomp_kill")
        before = self.value("rookery_policy_violations_total", kind="forged_message")
        session.code(FORGED_ANSWER)
        self.assertGreater(self.value("rookery_policy_violations_total", kind="forged_message"), before)
        self.grows(lambda: session.get("../x"), "rookery_policy_violations_total", kind="path_outside")
        self.grows(lambda: session.edit("view", "../x"), "rookery_policy_violations_total", kind="path_outside")
        self.grows(lambda: self.sandbox.request("GET", "/health", None, ("Origin: http://x",)), "rookery_policy_violations_total", kind="cross_site_request")

    def test_requests_bytes_connections_and_threads(self):
        self.grows(self.sandbox.health, "rookery_http_requests_total", route="health", code="200")
        self.grows(lambda: self.sandbox.request("GET", "/none"), "rookery_http_requests_total", route="none", code="404")
        self.grows(self.sandbox.health, "rookery_http_request_duration_seconds_count", route="health")
        received, sent = self.value("rookery_http_received_bytes_total"), self.value("rookery_http_sent_bytes_total")
        self.session.put(bytes(2_000_000), "big")
        self.session.get("big")
        self.assertGreater(self.value("rookery_http_received_bytes_total"), received + 2_000_000)
        self.assertGreater(self.value("rookery_http_sent_bytes_total"), sent + 2_000_000)
        self.assertGreaterEqual(self.value("rookery_http_connections"), 1)
        self.assertGreaterEqual(self.value("rookery_http_threads"), 1)
        self.assertGreaterEqual(self.value("rookery_http_requests_in_flight"), 1)

    def test_memory_of_sessions(self):
        self.session.code("block = bytearray(200_000_000)")
        values = parse(self.text())  # all of one moment
        most, total = values[("rookery_session_memory_max_bytes", ())], values[("rookery_sessions_memory_bytes", ())]
        self.assertGreater(most, 200_000_000)
        self.assertLess(most, 400_000_000)
        self.assertGreaterEqual(total, most)
        self.assertGreaterEqual(self.value("rookery_sessions_processes"), 2)

    def test_every_query_of_the_dashboard_names_metrics_that_exist(self):
        self.session.code("1")
        self.sandbox.health()
        known = {name for name, _ in parse(self.text())}
        dashboard = json.loads((pathlib.Path(SOURCE) / "container" / "grafana-dashboard.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
        self.assertGreater(len(queries), 15)
        for query in queries:
            names = set(re.findall(r"\b(?:rookery|process)_\w+", query))
            self.assertTrue(names, query)
            self.assertLessEqual(names, known, query)

    def test_no_metric_is_missing_from_the_dashboard(self):
        text = (pathlib.Path(SOURCE) / "container" / "grafana-dashboard.json").read_text()
        for family in re.findall(r"^# TYPE (\S+)", self.text(), re.M):
            self.assertIn(family, text)


class Listing(MetricsCase):
    def test_a_session_tells_operators_how_it_is(self):
        session = self.session
        session.code("open('file', 'w').write('x' * 1_000_000)")
        status = session.info().json()
        self.assertEqual((status["state"], status["calls"], status["image"]), ("idle", 1, "default"))
        self.assertGreaterEqual(status["workspace_bytes"], 1_000_000)
        self.assertGreater(status["memory_bytes"], 1_000_000)
        self.assertGreaterEqual(status["processes"], 2)
        call = threading.Thread(target=session.bash, args=("sleep 2; true",))
        call.start()
        wait_for(lambda: session.info().json()["state"] == "running", 2, "running")
        call.join()
        self.assertEqual(session.info().json()["calls"], 2)

    def test_numbers_stay_right_when_the_jail_is_built_again(self):
        session = self.session
        session.bash("kill -9 -1; true")
        session.code("1")
        wait_for(lambda: session.info().json()["processes"] >= 2, 5, "init and interpreter among the processes")

    def test_pages_hold_every_session_once_and_no_whole_id(self):
        made = [self.new_session() for _ in range(7)]
        seen, after = [], 0
        while after is not None:
            page = self.sandbox.request("GET", "/sessions?limit=3&after=%d" % after).json()
            self.assertLessEqual(len(page["sessions"]), 3)
            seen += [entry["session_id"] for entry in page["sessions"]]
            after = page.get("next")
        self.assertEqual(seen, [session.id[:12] for session in made])
        for number in ("0", "1001", "-1", "x", "1.0", ""):
            self.assertEqual(self.sandbox.request("GET", "/sessions?limit=" + number).status, 422, number)
        self.assertEqual(self.sandbox.request("GET", "/sessions?after=18446744073709551616").status, 422)
        self.assertEqual(self.sandbox.request("GET", "/sessions?after=18446744073709551615").json(), {"sessions": []})


class PlainDirectories(MetricsCase):
    settings = {"SANDBOX_WORKSPACE": "dir"}

    def test_a_size_that_is_not_known_is_left_out(self):
        status = self.session.info().json()
        self.assertNotIn("workspace_bytes", status)
        self.assertEqual(status["state"], "idle")
