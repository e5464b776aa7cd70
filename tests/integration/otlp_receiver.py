# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP over HTTP that takes nothing but what OpenTelemetry's own messages can hold."""

import base64
import http.server
import json
import re
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}
ID_DIGITS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


def with_ids_as_bytes(value):
    """OTLP's JSON has ids in hexadecimal, where protobuf's has base64."""
    if isinstance(value, list):
        return [with_ids_as_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, item in value.items():
        if key in ID_DIGITS:
            assert re.fullmatch("[0-9a-f]{%d}" % ID_DIGITS[key], item) and item.strip("0"), "%s %r" % (key, item)
            item = base64.b64encode(bytes.fromhex(item)).decode()
        result[key] = with_ids_as_bytes(item)
    return result


def attributes(entries):
    names = [entry.key for entry in entries]
    assert len(names) == len(set(names)), "an attribute twice: %r" % names
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in entries}


class Receiver:
    """Listens on a free port of loopback; `answers` are (status, headers) for the next requests, then 200."""

    def __init__(self, tls=None):
        self.lock, self.requests, self.errors, self.answers = threading.Lock(), [], [], []
        self.messages = {path: [] for path in MESSAGES}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers = outer.take(self.path, dict(self.headers), body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "2")
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b"{}")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that goes away, as a killed one does
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def take(self, path, headers, body):
        with self.lock:
            self.requests.append((path, headers))
            status, extra = self.answers.pop(0) if self.answers else (200, {})
            if status != 200:
                return status, extra
            try:
                assert headers.get("Content-Type") == "application/json", headers
                message = json_format.Parse(json.dumps(with_ids_as_bytes(json.loads(body))), MESSAGES[path]())
                self.messages[path].append(message)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test has to see it
                self.errors.append("%s: %r in %r" % (path, error, body[:2000]))
                return 400, {}
            return 200, {}

    def resources(self):
        with self.lock:
            return [attributes(part.resource.attributes) for path, kind in (("/v1/traces", "resource_spans"), ("/v1/metrics", "resource_metrics"),
                    ("/v1/logs", "resource_logs")) for message in self.messages[path] for part in getattr(message, kind)]

    def spans(self):
        with self.lock:
            return [span for message in self.messages["/v1/traces"] for part in message.resource_spans for scope in part.scope_spans for span in scope.spans]

    def metrics(self):
        with self.lock:
            return [metric for message in self.messages["/v1/metrics"] for part in message.resource_metrics for scope in part.scope_metrics
                    for metric in scope.metrics]

    def logs(self):
        with self.lock:
            return [record for message in self.messages["/v1/logs"] for part in message.resource_logs for scope in part.scope_logs
                    for record in scope.log_records]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
