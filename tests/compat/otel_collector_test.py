"""OpenTelemetry's collector takes the daemon's spans and figures, over HTTP and over gRPC."""
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
exporters: {file/traces: {path: "%s"}, file/metrics: {path: "%s"}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file/traces]}
    metrics: {receivers: [otlp], exporters: [file/metrics]}
"""


class Collector:
    """`with Collector(program, folder) as collector:` has one that writes what it gets into files."""

    def __init__(self, program, folder):
        self.ports = dict(zip(("grpc", "http"), free_ports(2)))
        self._files = {kind: folder / f"{kind}.json" for kind in ("Spans", "Metrics")}
        self._config = folder / "collector.yaml"
        self._config.write_text(CONFIG % (*self.ports.values(), *self._files.values()))
        self._program = program
        self._process = None

    def __enter__(self):
        self._process = subprocess.Popen([self._program, f"--config=file:{self._config}"],
                                         stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()

    def resources(self, kind="Spans"):
        """All resourceSpans, or resourceMetrics, of the file."""
        if not self._files[kind].exists():
            return []
        lines = self._files[kind].read_text().split("\n")[:-1]
        return [resource for line in lines for resource in json.loads(line)[f"resource{kind}"]]

    def found(self, kind):
        """All of them: spans, or metrics."""
        return [one for resource in self.resources(kind) for scope in resource[f"scope{kind}"]
                for one in scope[kind.lower()]]

    def spans(self):
        return self.found("Spans")

    def figures(self, name):
        """What was last told of a metric: its kind with the points."""
        *_, last = [{}, *(metric for metric in self.found("Metrics") if metric["name"] == name)]
        return last


class OtelCollector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = client("otel_collector")

    def check_spans(self, protocol):
        daemon = Daemon([synthetic("m")])
        with Collector(self.program, daemon.folder) as collector:
            trace = {"collector": f"{protocol}://127.0.0.1:{collector.ports[protocol]}",
                     "metrics_interval": "1s"}
            daemon.write_config(daemon.config["models"], trace=trace)
            with daemon, calls.stub(daemon.address) as stub:
                call = stub.ModelInfer.future(
                    calls.request("m", {"x": calls.row_of(1)}, "seventeen"), timeout=LIMIT_S,
                    metadata=[("traceparent", f"00-{TRACE_ID}-{PARENT_ID}-01")])
                self.assertEqual(calls.outcome_of(call).code, calls.OK)
                wait_until(lambda: len(collector.spans()) >= 5, LIMIT_S, "five spans")
                self.assertEqual(daemon.metric("mpsd_lost_traces_total"), 0)
                self.check_tree(collector.spans())
                wait_until(lambda: self.has_figures(daemon, collector), LIMIT_S, "the figures of /metrics")
                resource, = collector.resources()
                attributes = {attribute["key"]: attribute["value"]["stringValue"]
                              for attribute in resource["resource"]["attributes"]}
                self.assertEqual((attributes["service.name"], attributes["host.name"]),
                                 ("mpsd", socket.gethostname()))

    def has_figures(self, daemon, collector):
        """Whether the collector knows of the request what /metrics says."""
        counted = collector.figures("mpsd_requests_total").get("sum", {"dataPoints": []})
        if [point["asDouble"] for point in counted["dataPoints"]] != [1]:
            return False
        self.assertEqual((counted["aggregationTemporality"], counted["isMonotonic"]), (2, True))
        labels = {label["key"]: label["value"]["stringValue"] for label in counted["dataPoints"][0]["attributes"]}
        self.assertEqual(labels, {"model": "m", "version": "1", "code": "OK"})
        stages = collector.figures("mpsd_stage_seconds")["histogram"]["dataPoints"]
        if len(stages) < 4:  # the answer is counted a moment before its last stage
            return False
        self.assertEqual({point["count"] for point in stages}, {"1"})
        self.assertEqual({sum(map(int, point["bucketCounts"])) for point in stages}, {1})
        self.assertEqual({len(point["bucketCounts"]) - len(point["explicitBounds"]) for point in stages}, {1})
        ready, = collector.figures("mpsd_workers_ready")["gauge"]["dataPoints"]
        self.assertEqual(ready["asDouble"], daemon.metric("mpsd_workers_ready"))
        return True

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
