"""A collector that is down, refuses, or never answers: requests do not notice, and lost spans are counted.
Figures are not tried again, since the next message has the same sums."""
import concurrent.futures
import http.server
import socket
import threading
import unittest

import grpc

import calls
from daemon import Daemon, free_ports, wait_until
from models import synthetic

LIMIT_S = 30
FAILS = '"event":"collector_fails"'
WORKS = '"event":"collector_works"'
HELD = 2048 + 512  # requests whose spans wait or are on their way


def traced(collector, **more):
    return Daemon([synthetic("m")], trace={"collector": collector, "rate": 1, **more})


def infer(stub, count=1):
    requests = [calls.request("m", {"x": calls.row_of(1)}, f"r{i}") for i in range(count)]
    outcomes = calls.infer_all(stub, requests)
    assert {outcome.code for outcome in outcomes} == {calls.OK}, outcomes


class HttpCollector(http.server.ThreadingHTTPServer):
    """Answers with the codes, one after the other, and then with 200."""

    def __init__(self, *codes, port=0):
        super().__init__(("127.0.0.1", port), HttpCollector.Handler)
        self.codes = list(codes)
        self.bodies, self.figures = [], []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            bodies = {"/some/v1/traces": self.server.bodies, "/some/v1/metrics": self.server.figures}[self.path]
            assert self.headers["content-type"] == "application/x-protobuf"
            code = self.server.codes.pop(0) if self.server.codes else 200
            bodies.append(body)
            self.send_response(code)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass


class GrpcCollector:
    """Answers with the codes, one after the other, and then well."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.bodies = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        handler = grpc.unary_unary_rpc_method_handler(self._export)
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
            "opentelemetry.proto.collector.trace.v1.TraceService", {"Export": handler})])
        self.server_port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop(None).wait()

    def _export(self, body, context):
        self.bodies.append(body)
        if self.codes:
            context.abort(self.codes.pop(0), "as the test says")
        return b""


class Collectors(unittest.TestCase):
    def check_tries(self, scheme, collector, path=""):
        """The first answer bids try again, the second is a refusal, the third is well."""
        with collector, traced(f"{scheme}://127.0.0.1:{collector.server_port}{path}") as daemon, \
                calls.stub(daemon.address) as stub:
            infer(stub)
            wait_until(lambda: daemon.metric("mpsd_lost_traces_total") == 1, LIMIT_S, "the loss")
            self.assertEqual(len(collector.bodies), 2)
            self.assertEqual(*collector.bodies)
            infer(stub)
            daemon.wait_logged(WORKS)
            self.assertEqual(daemon.log().count(FAILS), 1)
            self.assertEqual(daemon.metric("mpsd_lost_traces_total"), 1)

    def test_refusals_over_http(self):
        self.check_tries("http", HttpCollector(503, 400), "/some")

    def test_refusals_over_grpc(self):
        codes = grpc.StatusCode
        self.check_tries("grpc", GrpcCollector(codes.UNAVAILABLE, codes.INVALID_ARGUMENT))

    def test_one_that_comes_later_gets_what_waits(self):
        port, = free_ports(1)
        with traced(f"http://127.0.0.1:{port}/some") as daemon, calls.stub(daemon.address) as stub:
            infer(stub)
            daemon.wait_logged(FAILS)
            with HttpCollector(port=port) as collector:
                daemon.wait_logged(WORKS)
                self.assertIn(b"r0", collector.bodies[0])
            self.assertEqual(daemon.metric("mpsd_lost_traces_total"), 0)

    def test_one_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
            for scheme in ("http", "grpc"):
                with traced(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}", metrics_interval="1s") as daemon, \
                        calls.stub(daemon.address) as stub:
                    infer(stub, HELD + 100)
                    self.assertGreaterEqual(daemon.metric("mpsd_lost_traces_total"), 100)

    def test_an_end_tells_the_last_spans(self):
        with HttpCollector() as collector:
            with traced(f"http://127.0.0.1:{collector.server_port}/some") as daemon, \
                    calls.stub(daemon.address) as stub:
                infer(stub, 20)
            self.assertIn(b"r19", b"".join(collector.bodies))

    def test_figures_go_on_after_refusals(self):
        with HttpCollector(503, 400) as collector, \
                traced(f"http://127.0.0.1:{collector.server_port}/some", metrics_interval="1s") as daemon:
            daemon.wait_logged(WORKS + '.*"what":"metrics"')
            self.assertEqual(daemon.log().count(FAILS), 1)
            self.assertEqual(len(collector.figures), 3)
            self.assertIn(b"mpsd_requests_total", collector.figures[-1])

    def test_an_end_tells_the_last_figures(self):
        with HttpCollector() as collector:
            with traced(f"http://127.0.0.1:{collector.server_port}/some", metrics_interval="1h") as daemon, \
                    calls.stub(daemon.address) as stub:
                wait_until(lambda: collector.figures, LIMIT_S, "the first figures")
                infer(stub)
            self.assertEqual(len(collector.figures), 2)

    def test_addresses_that_are_none(self):
        for wrong in ("localhost:4317", "http://localhost", "grpc://localhost:4317/x",
                      "ftp://localhost:1", "http://u@h:1", "http://h:1/?a", "grpcs:/h:1"):
            daemon = traced(wrong)
            with self.assertRaises(AssertionError):
                daemon.start()
            self.assertEqual(daemon.wait(), 78, wrong)
            self.assertIn("trace.collector", daemon.log())
            daemon.discard()

    def test_figures_need_a_collector_and_time(self):
        for collector, interval in (("", "15s"), ("http://localhost:4318", "1ms")):
            daemon = traced(collector, metrics_interval=interval)
            with self.assertRaises(AssertionError):
                daemon.start()
            self.assertEqual(daemon.wait(), 78)
            self.assertIn("trace.metrics_interval", daemon.log())
            daemon.discard()


if __name__ == "__main__":
    unittest.main(verbosity=2)
