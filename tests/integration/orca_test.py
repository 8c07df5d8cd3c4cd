"""Load reports, in the forms that balancers read."""
import base64
import json
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest
import urllib.request

import grpc
from google.protobuf import descriptor_pb2, message_factory

import calls
from daemon import ROOT, Daemon, wait_until
from models import synthetic

STREAM = "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics"
FORMAT = "endpoint-load-metrics-format"


def messages(folder):
    """The classes of OrcaLoadReport and of its request."""
    described = pathlib.Path(folder) / "orca.pb"
    subprocess.run(["protoc", f"--proto_path={ROOT}", "--include_imports",
                    f"--descriptor_set_out={described}", "proto/orca.proto"], check=True)
    files = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
    named = message_factory.GetMessages(files.file)
    return (named["xds.data.orca.v3.OrcaLoadReport"],
            named["xds.service.orca.v3.OrcaLoadReportRequest"])


class Orca(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.Report, cls.Request = messages(folder.name)

    def setUp(self):
        model = synthetic("m", parameters={"delay": "20ms"})
        self.daemon = self.enterContext(Daemon([model]))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def infer(self):
        return calls.infer(self.stub, calls.request("m", {"x": calls.row_of(1)}))

    def reports(self, channel, seconds=1):
        request = self.Request()
        request.report_interval.seconds = seconds
        stream = channel.unary_stream(STREAM, request_serializer=self.Request.SerializeToString,
                                      response_deserializer=self.Report.FromString)
        return stream(request, timeout=60)

    def test_a_subscriber_learns_of_the_load(self):
        with grpc.insecure_channel(self.daemon.address) as channel:
            reports = self.reports(channel)
            self.assertEqual(next(reports).rps_fractional, 0)
            def is_told():
                for _ in range(5):
                    self.infer()
                report = next(reports)
                return report.rps_fractional > 1 and report.named_metrics["load.m"] > 0.01
            wait_until(is_told, 30, "requests and load in a report")
            report = next(reports)
            self.assertGreater(report.application_utilization, 0)
            self.assertGreater(report.mem_utilization, 0)
            self.assertLess(report.mem_utilization, 1)
            reports.cancel()

    def trailer(self, model, *headers):
        """The report beside a call's answer. gRPC's library keeps that trailer to itself, so curl calls."""
        message = calls.request(model, {"x": calls.row_of(1)}).SerializeToString()
        told = subprocess.run(
            ["curl", "-sS", "--http2-prior-knowledge", "-D", "-", "-o", "/dev/null", "--data-binary", "@-",
             "-H", "content-type: application/grpc", "-H", "te: trailers", *headers,
             f"http://{self.daemon.address}/inference.GRPCInferenceService/ModelInfer"],
            input=b"\0" + len(message).to_bytes(4, "big") + message, capture_output=True, check=True,
            timeout=30).stdout.decode()
        found = re.search(r"^endpoint-load-metrics-bin: (\S+)", told, re.M)
        return found and self.Report.FromString(base64.b64decode(found[1]))

    def test_a_call_that_asks_gets_a_trailer(self):
        asks = ("-H", f"{FORMAT}: BIN")
        self.assertIn("load.m", self.trailer("m", *asks).named_metrics)
        self.assertIn("load.m", self.trailer("nobody", *asks).named_metrics)
        self.assertIsNone(self.trailer("m"))

    def test_http_has_headers(self):
        for form, read in (("TEXT", str), ("JSON", json.loads)):
            request = urllib.request.Request(f"http://{self.daemon.http}/v2/models/m", headers={FORMAT: form})
            with urllib.request.urlopen(request, timeout=10) as answer:
                told = answer.headers["endpoint-load-metrics"]
            self.assertEqual(told.split(" ", 1)[0], form)
            self.assertIn("load.m", str(read(told.split(" ", 1)[1])))

    def test_subscribers_that_never_read_cost_nothing(self):
        def fields(*pairs):
            return b"".join(b"\x10" + bytes([len(name)]) + name.encode() + bytes([len(value)]) +
                            value.encode() for name, value in pairs)
        head = fields((":method", "POST"), (":scheme", "http"), (":path", STREAM),
                      (":authority", "localhost"), ("content-type", "application/grpc"))
        host, port = self.daemon.address.rsplit(":", 1)
        silent = []
        for _ in range(50):
            one = self.enterContext(socket.create_connection((host, int(port)), timeout=10))
            one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\6\4\0\0\0\0\0" +
                        # a window of no byte: nobody can be told anything
                        b"\0\4\0\0\0\0" + len(head).to_bytes(3, "big") + b"\1\4\0\0\0\1" + head +
                        b"\0\0\5\0\1\0\0\0\1" + b"\0" * 5)
            silent.append(one)
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") >= 50, 30, "subscribers")
        with grpc.insecure_channel(self.daemon.address) as channel:
            reports = self.reports(channel)
            for _ in range(3):
                next(reports)  # those who read are told on
            self.assertEqual(self.infer().code, calls.OK)
            reports.cancel()
        for one in silent:
            one.close()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, 30, "no call")


if __name__ == "__main__":
    unittest.main(verbosity=2)
