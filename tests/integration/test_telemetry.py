# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

import process_tree
from harness import SLOWNESS, ServerTestCase, free_port, running, wait_for

try:
    from otlp_receiver import Receiver, attributes
except ModuleNotFoundError:
    raise unittest.SkipTest("opentelemetry-proto is missing: run this through tools/test, which installs it from PyPI") from None

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SECRET = "Bearer very-secret-word"


def settings_for(receiver, **more):
    return {"TELEMETRY_ENABLED": "true", "TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:%d" % receiver.port, "TELEMETRY_METRICS_INTERVAL": "1", **more}


class Exported(ServerTestCase):
    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.settings = settings_for(cls.receiver, ENVIRONMENT="test", TELEMETRY_SERVICE_NAME="sandbox \u00fc",
                                    TELEMETRY_OTLP_HEADERS="authorization=Bearer%20very-secret-word, x-team=a%2Cb")
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.receiver.close()

    def tearDown(self):
        self.assertEqual(self.receiver.errors, [])

    def call(self, *headers):
        body = json.dumps({"tool": "bash_code_execution", "input": {"command": "sleep 0.2; exit 3"}}).encode()
        return self.sandbox.request("POST", self.session.target + "/exec", body, ("Content-Type: application/json", *headers))

    def spans_of(self, trace, count):
        return wait_for(lambda: (lambda found: found if len(found) >= count else None)(
            [span for span in self.receiver.spans() if span.trace_id.hex() == trace]), 10, "%d spans of %s" % (count, trace))

    def test_a_call_is_a_span_with_its_wait_and_execution_below_the_callers(self):
        before = time.time_ns()
        self.call("traceparent: 00-%s-%s-01" % (TRACE, PARENT), "X-Request-Id: traced")
        spans = {span.name: span for span in self.spans_of(TRACE, 3)}
        self.assertEqual(set(spans), {"POST /sessions/{session_id}/exec", "queue wait", "execution"})
        whole, execution = spans["POST /sessions/{session_id}/exec"], spans["execution"]
        self.assertEqual((whole.kind, whole.parent_span_id.hex()), (2, PARENT))
        for part in (spans["queue wait"], execution):
            self.assertEqual((part.kind, part.parent_span_id), (1, whole.span_id))
            self.assertLessEqual(whole.start_time_unix_nano, part.start_time_unix_nano)
            self.assertLessEqual(part.end_time_unix_nano, whole.end_time_unix_nano + 1_000_000)
        self.assertGreater(execution.end_time_unix_nano - execution.start_time_unix_nano, 150_000_000)
        self.assertLess(abs(whole.start_time_unix_nano - before), 5_000_000_000)
        told = attributes(whole.attributes)
        for key, value in {"http.request.method": "POST", "http.route": "/sessions/{session_id}/exec", "http.response.status_code": 200,
                           "rookery.request_id": "traced", "rookery.session_id": self.session.id[:12], "rookery.tool": "bash_code_execution",
                           "rookery.outcome": "error"}.items():
            self.assertEqual(told.get(key), value)
        log = wait_for(lambda: [r for r in self.receiver.logs() if r.trace_id.hex() == TRACE], 10, "log record of the trace")
        self.assertEqual((log[0].body.string_value, log[0].severity_text, log[0].severity_number), ("request", "INFO", 9))

    def test_a_lease_has_a_span_and_every_request_a_trace(self):
        self.new_session()
        lease = wait_for(lambda: [span for span in self.receiver.spans() if span.name == "lease"], 10, "span of a lease")[0]
        parents = [span for span in self.receiver.spans() if span.span_id == lease.parent_span_id]
        self.assertEqual([span.name for span in parents], ["POST /sessions"])
        self.assertEqual(parents[0].parent_span_id, b"")

    def test_what_the_caller_does_not_sample_is_not_exported(self):
        self.call("traceparent: 00-%s-%s-00" % ("f" * 32, PARENT))
        self.call("traceparent: 00-%s-%s-01" % ("e" * 32, PARENT))
        self.spans_of("e" * 32, 3)
        self.assertFalse([span for span in self.receiver.spans() if span.trace_id.hex() == "f" * 32])

    def test_metrics_are_those_of_the_metrics_route(self):
        self.call()
        text = self.sandbox.request("GET", "/metrics").body.decode()
        wanted = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        wait_for(lambda: wanted.keys() <= {metric.name for metric in self.receiver.metrics()}, 10, "all metrics")
        for metric in self.receiver.metrics():
            kind = metric.WhichOneof("data")
            self.assertEqual({"counter": "sum", "gauge": "gauge", "histogram": "histogram"}[wanted[metric.name]], kind)
            self.assertTrue(metric.description)
            for point in getattr(metric, kind).data_points:
                self.assertGreater(point.time_unix_nano, 10**18)
                if kind != "gauge":
                    self.assertEqual(getattr(metric, kind).aggregation_temporality, 2)
                    self.assertGreater(point.time_unix_nano, point.start_time_unix_nano)
                if kind == "histogram":
                    self.assertEqual(len(point.bucket_counts), len(point.explicit_bounds) + 1)
                    self.assertEqual(sum(point.bucket_counts), point.count)
                if kind == "sum":
                    self.assertTrue(metric.sum.is_monotonic)

    def test_resource_and_headers(self):
        self.call()
        wait_for(lambda: len({path for path, _ in self.receiver.requests}) == 3, 10, "all three signals")
        for resource in self.receiver.resources():
            self.assertEqual({key: resource[key] for key in ("service.name", "deployment.environment")},
                             {"service.name": "sandbox \u00fc", "deployment.environment": "test"})
            self.assertRegex(resource["service.version"], r"^\d+\.\d+\.\d+$")
        for _, headers in self.receiver.requests:
            self.assertEqual((headers.get("authorization"), headers.get("x-team")), (SECRET, "a,b"))

    def test_the_headers_are_in_no_process_that_shows_them(self):
        for pid in self.server.tree():
            for name in ("environ", "cmdline"):
                shown = (pathlib.Path("/proc") / str(pid) / name).read_bytes()
                self.assertNotIn(b"very-secret", shown, process_tree.title(pid))
        if SLOWNESS > 1:
            return  # a sanitizer keeps memory that was freed, and more of it than can be looked through
        # Nor do those know them that no client and no session must be able to ask.
        knowing = {process_tree.title(pid) for pid in self.server.tree() if b"very-secret" in process_tree.private_memory(pid)}
        self.assertIn("rookery: exporter", knowing)
        self.assertFalse({title for title in knowing if not title.endswith((": exporter", ": warden")) and " serve " not in title}, knowing)
        self.assertNotIn("very-secret", self.server.log())
        self.assertEqual(self.session.bash("env | grep -c secret").stdout.strip(), "0")

    def test_the_warden_and_the_zygote_are_heard_too(self):
        wait_for(lambda: {"server", "zygote"} <= {attributes(record.attributes)["role"] for record in self.receiver.logs()}, 10, "roles")

    def test_nothing_of_code_output_or_whole_ids_is_exported(self):
        with self.sandbox.create() as session:
            session.code("print('secret' + 'value')\nraise ValueError('secret' + 'value')")
            session.put(b"secretvalue", "secretvalue")
            session.get("secretvalue")
        wait_for(lambda: [r for r in self.receiver.logs() if r.body.string_value == "session ended"], 10, "end of a session")
        for message in [m for found in self.receiver.messages.values() for m in found]:
            self.assertNotIn("secretvalue", str(message))
            self.assertNotIn(session.id, str(message))

    def test_the_exporter_has_no_rights_and_one_way_in(self):
        pid = self.server.role("exporter")
        status = process_tree.status(pid)
        self.assertEqual({status[key] for key in ("CapEff", "CapPrm", "CapBnd", "CapAmb", "CapInh")}, {"0" * 16})
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"], status["Threads"]), ("1", "2", "2"))
        self.assertNotIn(status["Uid"].split()[0], {process_tree.status(self.server.role(name))["Uid"].split()[0] for name in ("warden", "server")})
        for kind in ("pid", "mnt", "ipc"):
            self.assertNotIn(process_tree.namespace(pid, kind), {process_tree.namespace(self.server.role(name), kind) for name in ("warden", "server")})
        targets = {fd: os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)}
        self.assertTrue(all(target.startswith("socket:") for fd, target in targets.items() if int(fd) > 2), targets)
        self.assertLessEqual(len(targets), 5, targets)  # standard ones, the channel, one connection
        self.assertEqual(sorted(os.listdir("/proc/%d/root" % pid)), sorted({"etc", "certificates.pem"} & set(os.listdir("/proc/%d/root" % pid))))


class Trouble(unittest.TestCase):
    def value(self, server, signal, result):
        text = server.sandbox.request("GET", "/metrics").body.decode()
        return float(re.search(r'^rookery_telemetry_records_total\{signal="%s",result="%s"\} (\S+)$' % (signal, result), text, re.M)[1])

    def test_refusals_for_the_moment_are_tried_again(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with receiver.lock:
            receiver.answers = [(429, {"Retry-After": "1"}), (503, {}), (502, {}), (504, {"Retry-After": "0"})]
        with running(settings_for(receiver)) as server:
            server.sandbox.request("GET", "/health", None, ("traceparent: 00-%s-%s-01" % (TRACE, PARENT),))
            wait_for(lambda: [span for span in receiver.spans() if span.trace_id.hex() == TRACE], 30, "the span, in the end")
            for signal in ("traces", "logs"):
                self.assertEqual((self.value(server, signal, "failed"), self.value(server, signal, "dropped")), (0, 0))
            wait_for(lambda: self.value(server, "traces", "exported") > 0, 10, "count")
            self.assertIn("telemetry cannot be exported at the moment", server.log())
        self.assertEqual(receiver.errors, [])

    def test_a_wait_that_is_asked_for_is_kept(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with receiver.lock:
            receiver.answers = [(503, {"Retry-After": "3"})]
        with running(settings_for(receiver)) as server:
            wait_for(lambda: receiver.requests, 20, "the first request")
            start = time.monotonic()
            wait_for(lambda: len(receiver.requests) > 1, 20, "the second one")
            self.assertGreater(time.monotonic() - start, 2.5)
            self.assertEqual(server.sandbox.health()["status"], "ok")

    def test_what_the_receiver_will_never_take_is_given_up_and_counted(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with receiver.lock:
            receiver.answers = [(400, {})] * 3
        with running(settings_for(receiver)) as server:
            wait_for(lambda: sum(self.value(server, signal, "failed") for signal in ("traces", "metrics", "logs")) > 0, 20, "lost records")
            wait_for(lambda: self.value(server, "metrics", "exported") > 0, 20, "later ones")
            self.assertIn("telemetry is lost", server.log())

    def test_nobody_there_costs_records_and_no_time(self):
        settings = {"TELEMETRY_ENABLED": "1", "TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:%d" % free_port(), "LOG_LEVEL": "WARNING"}
        with running(settings) as server:
            slowest = 0
            for _ in range(9500):
                start = time.monotonic()
                server.sandbox.health()
                slowest = max(slowest, time.monotonic() - start)
            self.assertLess(slowest, 2)
            wait_for(lambda: self.value(server, "traces", "dropped") > 0, 20, "dropped spans")
            self.assertLess(process_tree.resident_kb(server.role("exporter")), 100_000 if SLOWNESS == 1 else 300_000)

    def test_what_happened_last_still_arrives(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with running(settings_for(receiver)) as server:
            server.sandbox.create()
        bodies = {record.body.string_value for record in receiver.logs()}
        self.assertLessEqual({"session created", "session ended", "server stops"}, bodies)
        ended = [point.as_double for metric in receiver.metrics() if metric.name == "rookery_sessions_ended_total"
                 for point in metric.sum.data_points if attributes(point.attributes)["reason"] == "shutdown"]
        self.assertEqual(max(ended), 1)

    def test_an_exporter_that_is_killed_is_started_again(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)

        def metric(server, name):
            return float(re.search(r"^%s (\S+)$" % name, server.sandbox.request("GET", "/metrics").body.decode(), re.M)[1])

        def traced(server, trace):
            """A request that is traced like this arrives at the receiver."""
            server.sandbox.request("GET", "/health", None, ("traceparent: 00-%s-%s-01" % (trace, PARENT),))
            wait_for(lambda: [span for span in receiver.spans() if span.trace_id.hex() == trace], 30, "the span of %s" % trace)

        def held(server):
            return len(os.listdir("/proc/%d/fd" % server.role("warden")))

        with running(settings_for(receiver, SANDBOX_POOL_SIZE="2")) as server:
            traced(server, "1" * 32)
            wait_for(lambda: self.value(server, "traces", "exported") > 0, 20, "count")
            before, seen = self.value(server, "traces", "exported"), set()
            wait_for(lambda: server.sandbox.health()["ready_sessions"] == 2, 20, "a full pool")
            descriptors, tree = held(server), len(server.tree())
            for number in (1, 2):
                killed = wait_for(lambda: server.role("exporter"), 20, "an exporter")
                seen.add(killed)
                os.kill(killed, 9)
                wait_for(lambda number=number: server.log().count("the exporter ended unexpectedly; another is started") == number, 10, "word of it")
                self.assertEqual(metric(server, "rookery_telemetry_exporter_up"), 0)
                with server.sandbox.create() as session:
                    self.assertEqual(session.code("print(1)").stdout, "1")
                traced(server, str(number + 1) * 32)  # it waited in the channel, or came later
                self.assertEqual([metric(server, "rookery_telemetry_exporter_" + name) for name in ("up", "restarts_total")], [1, number])
            self.assertNotIn(server.role("exporter"), seen)
            self.assertRegex(server.log(), r"WARNING .*the exporter ended unexpectedly")
            self.assertGreaterEqual(self.value(server, "traces", "exported"), before)  # goes on where the others were
            wait_for(lambda: len(server.tree()) == tree, 20, "as many processes as before")
            wait_for(lambda: held(server) <= descriptors, 20, "as few descriptors as before")
            self.assertEqual(process_tree.status(server.role("exporter"))["Seccomp"], "2")
        self.assertEqual(receiver.errors, [])

    def test_what_an_exporter_had_when_it_was_killed_is_counted(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with receiver.lock:
            receiver.answers = [(503, {"Retry-After": "3600"})] * 3  # so that all of it waits
        with running(settings_for(receiver)) as server:
            wait_for(lambda: receiver.requests, 20, "the first request")
            for _ in range(50):
                server.sandbox.request("GET", "/health", None, ("traceparent: 00-%s-%s-01" % (TRACE, PARENT),))
            time.sleep(1)  # the exporter takes them out of the channel
            self.assertEqual(self.value(server, "traces", "dropped"), 0)
            with receiver.lock:
                receiver.answers.clear()
            os.kill(server.role("exporter"), 9)
            dropped = wait_for(lambda: self.value(server, "traces", "dropped"), 20, "the spans it had")
            # A slow exporter leaves some of them to the next one.
            wait_for(lambda: dropped + sum(span.trace_id.hex() == TRACE for span in receiver.spans()) >= 50, 30, "all spans, dropped or exported")
            wait_for(lambda: self.value(server, "metrics", "exported") > 0, 30, "later records")
        self.assertEqual(receiver.errors, [])

    def test_unusable_destinations_are_refused_at_the_start(self):
        from harness import BINARY, plain_environment

        for name, value in (("TELEMETRY_OTLP_ENDPOINT", "localhost:4318"), ("TELEMETRY_OTLP_ENDPOINT", "http://"), ("TELEMETRY_OTLP_ENDPOINT", "ftp://x"),
                            ("TELEMETRY_OTLP_ENDPOINT", "http://u:p@x"), ("TELEMETRY_OTLP_ENDPOINT", "http://x:0"), ("TELEMETRY_OTLP_ENDPOINT", "http://x/?a"),
                            ("TELEMETRY_OTLP_HEADERS", "novalue"), ("TELEMETRY_OTLP_HEADERS", "a b=c"), ("TELEMETRY_OTLP_HEADERS", "a=%0a"), ("TELEMETRY_ENABLED", "maybe")):
            done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:%d" % free_port()], env=plain_environment({name: value}), capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, (name, value, done.stderr))
            self.assertIn(name, done.stderr)


class Https(unittest.TestCase):
    def setUp(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl program to make certificates with")
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="rookery-test-"))
        self.place.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.place)
        for name in ("ours", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                            "-keyout", self.place / (name + ".key"), "-out", self.place / (name + ".pem")], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.place / "ours.pem", self.place / "ours.key")
        self.receiver = Receiver(context)
        self.addCleanup(self.receiver.close)

    def settings(self, authority):
        return {"TELEMETRY_ENABLED": "1", "TELEMETRY_OTLP_ENDPOINT": "https://localhost:%d" % self.receiver.port, "TELEMETRY_METRICS_INTERVAL": "1",
                "TELEMETRY_OTLP_CERTIFICATE": str(self.place / (authority + ".pem"))}

    def test_goes_to_a_receiver_whose_certificate_is_good(self):
        with running(self.settings("ours")):
            wait_for(self.receiver.metrics, 20, "metrics by https")
        self.assertEqual(self.receiver.errors, [])

    def test_does_not_go_to_another_one(self):
        with running(self.settings("other")) as server:
            wait_for(lambda: "telemetry cannot be exported" in server.log(), 20, "a complaint")
            self.assertEqual(self.receiver.requests, [])


class Silence(unittest.TestCase):
    """In a network namespace of its own, whose every packet is seen: what leaves has to pass its one interface."""

    def packets(self, *arguments):
        script = pathlib.Path(__file__).with_name("watch_packets.py")
        done = subprocess.run([sys.executable, "-B", script, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return json.loads(done.stdout)

    def test_without_telemetry_not_one_packet_leaves(self):
        self.assertEqual(self.packets(), {"exporter": False, "to_clients": True, "others": []})

    def test_with_telemetry_the_same_watch_sees_it(self):
        seen = self.packets("TELEMETRY_ENABLED=1", "TELEMETRY_OTLP_ENDPOINT=http://10.9.8.7:4318")
        self.assertTrue(seen["exporter"])
        self.assertIn("10.9.8.7:4318", " ".join(seen["others"]))
