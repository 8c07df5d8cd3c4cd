"""OpenTelemetry's collector takes the daemon's spans, over HTTP and over gRPC."""
import json
import socket
import subprocess
import unittest

from programs import calls, client
from daemon import Daemon, free_ports, wait_until
from models import synthetic

LIMIT_S = 30
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT_ID = "00f067aa0ba902b7"
CONFIG = """
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:%d"}, http: {endpoint: "127.0.0.1:%d"}}}}
exporters: {file: {path: "%s"}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [file]}}
"""


class Collector:
    """`with Collector(program, folder) as collector:` has one that writes spans into a file."""

    def __init__(self, program, folder):
        self.ports = dict(zip(("grpc", "http"), free_ports(2)))
        self._file = folder / "spans.json"
        self._config = folder / "collector.yaml"
        self._config.write_text(CONFIG % (self.ports["grpc"], self.ports["http"], self._file))
        self._program = program
        self._process = None

    def __enter__(self):
        self._process = subprocess.Popen([self._program, f"--config=file:{self._config}"],
                                         stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()

    def resources(self):
        """All resourceSpans of the file."""
        if not self._file.exists():
            return []
        lines = self._file.read_text().split("\n")[:-1]
        return [resource for line in lines for resource in json.loads(line)["resourceSpans"]]

    def spans(self):
        return [span for resource in self.resources() for scope in resource["scopeSpans"]
                for span in scope["spans"]]


class OtelCollector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = client("otel_collector")

    def check_spans(self, protocol):
        daemon = Daemon([synthetic("m")])
        with Collector(self.program, daemon.folder) as collector:
            trace = {"collector": f"{protocol}://127.0.0.1:{collector.ports[protocol]}"}
            daemon.write_config(daemon.config["models"], trace=trace)
            with daemon, calls.stub(daemon.address) as stub:
                call = stub.ModelInfer.future(
                    calls.request("m", {"x": calls.row_of(1)}, "seventeen"), timeout=LIMIT_S,
                    metadata=[("traceparent", f"00-{TRACE_ID}-{PARENT_ID}-01")])
                self.assertEqual(calls.outcome_of(call).code, calls.OK)
                wait_until(lambda: len(collector.spans()) >= 5, LIMIT_S, "five spans")
                self.assertEqual(daemon.metric("mpsd_lost_traces_total"), 0)
                self.check_tree(collector.spans())
                resource, = collector.resources()
                attributes = {attribute["key"]: attribute["value"]["stringValue"]
                              for attribute in resource["resource"]["attributes"]}
                self.assertEqual((attributes["service.name"], attributes["host.name"]),
                                 ("mpsd", socket.gethostname()))

    def check_tree(self, spans):
        whole, *stages = spans
        self.assertEqual([span["name"] for span in spans],
                         ["request", "queue", "dispatch", "execute", "respond"])
        self.assertEqual((whole["traceId"], whole["parentSpanId"], whole["kind"]),
                         (TRACE_ID, PARENT_ID, 2))
        self.assertEqual(whole["status"], {"code": 1})
        self.assertIn({"key": "request_id", "value": {"stringValue": "seventeen"}},
                      whole["attributes"])
        self.assertEqual({stage["parentSpanId"] for stage in stages}, {whole["spanId"]})
        self.assertEqual(stages[0]["startTimeUnixNano"], whole["startTimeUnixNano"])
        self.assertEqual(stages[-1]["endTimeUnixNano"], whole["endTimeUnixNano"])

    def test_over_http(self):
        self.check_spans("http")

    def test_over_grpc(self):
        self.check_spans("grpc")


if __name__ == "__main__":
    unittest.main(verbosity=2)
