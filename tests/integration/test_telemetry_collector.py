# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import free_port, running, wait_for

VERSION = "v0.165.0"
DISTRIBUTION = """
dist: {name: otelcol, output_path: %s}
receivers: [{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver VERSION}]
exporters: [{gomod: go.opentelemetry.io/collector/exporter/debugexporter VERSION}]
""".replace("VERSION", VERSION)
CONFIGURATION = """
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [debug]}
    metrics: {receivers: [otlp], exporters: [debug]}
    logs: {receivers: [otlp], exporters: [debug]}
"""


def go_version():
    """(major, minor) of the machine's Go, or None."""
    if not shutil.which("go"):
        return None
    found = re.search(r"go(\d+)\.(\d+)", subprocess.run(["go", "version"], capture_output=True, text=True).stdout)
    return tuple(map(int, found.groups())) if found else None


@unittest.skipUnless(os.environ.get("ROOKERY_TEST_LONG"), "a real collector is built with --long only")
class RealCollector(unittest.TestCase):
    """What the OpenTelemetry Collector prints of what it understood."""

    @classmethod
    def setUpClass(cls):
        if (go_version() or (0, 0)) < (1, 25):
            raise unittest.SkipTest("no Go 1.25 or later to build the collector with")
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="rookery-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        environment = {**os.environ, "GOBIN": str(cls.place), "GOFLAGS": "-mod=mod"}
        subprocess.run(["go", "install", "go.opentelemetry.io/collector/cmd/builder@" + VERSION], env=environment, check=True, timeout=900)
        (cls.place / "distribution.yaml").write_text(DISTRIBUTION % (cls.place / "out"))
        subprocess.run([cls.place / "builder", "--config", cls.place / "distribution.yaml"], env=environment, check=True, timeout=900)

    def test_understands_spans_metrics_and_logs(self):
        port, output = free_port(), self.place / "output"
        (self.place / "collector.yaml").write_text(CONFIGURATION % port)
        with open(output, "wb") as sink:
            collector = subprocess.Popen([self.place / "out" / "otelcol", "--config", self.place / "collector.yaml"], stdout=sink, stderr=sink)
        self.addCleanup(collector.wait)
        self.addCleanup(collector.kill)
        wait_for(lambda: "Everything is ready" in output.read_text(), 60, "the collector")
        with running({"TELEMETRY_ENABLED": "1", "TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:%d" % port, "TELEMETRY_METRICS_INTERVAL": "1"}) as server:
            with server.sandbox.create() as session:
                session.code("print(1)")
            for words in (r"Name +: POST /sessions/\{session_id\}/exec", r"Name +: queue wait", r"Name +: lease", r"Kind +: Server", r"rookery\.tool: Str\(code_execution\)",
                          r"Name: rookery_calls_total", r"IsMonotonic: true", r"AggregationTemporality: Cumulative", r"DataType: Histogram", r"DataType: Gauge",
                          r"Body: Str\(session ended\)", r"SeverityText: INFO", r"service\.name: Str\(rookery\)", r"deployment\.environment: Str\(production\)"):
                wait_for(lambda words=words: re.search(words, output.read_text()), 30, words)
        self.assertNotRegex(output.read_text(), r"\terror\t")
