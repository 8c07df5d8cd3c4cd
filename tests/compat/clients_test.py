"""Clients that are programs: grpcurl, ghz, grpc_health_probe, perf_analyzer, as they are."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import calls  # noqa: E402
from daemon import Daemon  # noqa: E402
from models import synthetic, tensor  # noqa: E402
from tritonclient.grpc import service_pb2  # noqa: E402

CLIENTS = pathlib.Path(os.environ.get("MPSD_CLIENTS") or ROOT / ".deps/clients")
INFER = "inference.GRPCInferenceService/ModelInfer"


def client(name):
    """The program; skips the test where it is not."""
    found = sorted(CLIENTS.glob(f"{name}-*/{name}"))
    if not found:
        raise unittest.SkipTest(f"{name} is not in {CLIENTS}; tests/compat/fetch_clients.sh "
                                "fetches it where its registry can be reached")
    return str(found[-1])


def run(*command, limit_s=120, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    assert done.returncode == code, f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([
            synthetic("identity", [tensor("INPUT0", [256])], max_batch_size=64),
            synthetic("small", [tensor("x", [2])])]))
        cls.address = cls.daemon.address
        cls.stub = cls.enterClassContext(calls.stub(cls.address))

    def success_count(self, name="identity"):
        answer = self.stub.ModelStatistics(service_pb2.ModelStatisticsRequest(name=name))
        return answer.model_stats[0].inference_stats.success.count

    # grpcurl: reflection alone.

    def test_grpcurl_lists_and_describes(self):
        grpcurl = client("grpcurl")
        services = run(grpcurl, "-plaintext", self.address, "list").split()
        self.assertIn("inference.GRPCInferenceService", services)
        self.assertIn("grpc.health.v1.Health", services)
        methods = run(grpcurl, "-plaintext", self.address, "list",
                      "inference.GRPCInferenceService").split()
        self.assertEqual(len(methods), 20)
        text = run(grpcurl, "-plaintext", self.address, "describe", "inference.ModelInferRequest")
        self.assertIn("repeated bytes raw_input_contents = 7;", text)

    def test_grpcurl_calls(self):
        grpcurl = client("grpcurl")
        request = {"model_name": "small", "id": "7", "inputs": [
            {"name": "x", "datatype": "FP32", "shape": [1, 2],
             "contents": {"fp32_contents": [1, 2]}}]}
        answer = json.loads(run(grpcurl, "-plaintext", "-d", json.dumps(request), self.address,
                                INFER))
        self.assertEqual((answer["modelName"], answer["id"]), ("small", "7"))
        self.assertEqual(answer["rawOutputContents"], ["AACAPwAAAEA="])
        answer = json.loads(run(grpcurl, "-plaintext", self.address,
                                "inference.GRPCInferenceService/ServerReady"))
        self.assertEqual(answer, {"ready": True})
        two = json.dumps(request) + json.dumps({**request, "model_name": "nobody"})
        answers = run(grpcurl, "-plaintext", "-d", two, self.address,
                      "inference.GRPCInferenceService/ModelStreamInfer")
        self.assertIn("AACAPwAAAEA=", answers)
        self.assertIn("Request for unknown model: 'nobody' is not found", answers)

    # ghz: load by reflection.

    def test_ghz(self):
        ghz = client("ghz")
        before = self.success_count("small")
        request = {"model_name": "small", "inputs": [
            {"name": "x", "datatype": "FP32", "shape": [1, 2],
             "contents": {"fp32_contents": [1, 2]}}]}
        report = json.loads(run(ghz, "--insecure", "--call", INFER.replace("/", "."), "-d",
                                json.dumps(request), "-n", "2000", "-c", "16", "-O", "json",
                                self.address))
        self.assertEqual(report["statusCodeDistribution"], {"OK": 2000})
        self.assertEqual(self.success_count("small") - before, 2000)

    # grpc_health_probe.

    def test_health_probe(self):
        probe = client("grpc_health_probe")
        for service in ("", "identity", "inference.GRPCInferenceService"):
            run(probe, f"-addr={self.address}", f"-service={service}")
        run(probe, f"-addr={self.address}", "-service=nobody", code=3)

    # perf_analyzer.

    def analyze(self, *flags, count=500):
        """Its report and its one row. Client and server count the same requests, to the last."""
        program = client("perf_analyzer")
        file = self.daemon.folder / "perf.csv"
        before = self.success_count()
        text = run(program, "-m", "identity", "-u", self.address, "-i", "grpc", "-f", str(file),
                   "--request-count", str(count), *flags, limit_s=110)
        print(text, flush=True)
        self.assertEqual(self.success_count() - before, count)
        for line in (f"Request count: {count}", f"Inference count: {count}",
                     f"Successful request count: {count}"):
            self.assertIn(line, text)
        with open(file, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(len(rows), 1)
        return rows[0]

    def check_breakdown(self, row):
        """The server's stages are there, and fit into what the client saw."""
        stages = sum(float(row[f"Server {stage}"]) for stage in
                     ("Queue", "Compute Input", "Compute Infer", "Compute Output"))
        self.assertGreater(stages, 0)
        self.assertLess(stages, float(row["p99 latency"]))

    def test_perf_analyzer_concurrency(self):
        for concurrency in ("1", "4"):
            row = self.analyze("--concurrency-range", concurrency)
            self.assertEqual(row["Concurrency"], concurrency)
            self.check_breakdown(row)

    def test_perf_analyzer_request_rate(self):
        row = self.analyze("--request-rate-range", "100", count=200)
        self.assertEqual(float(row["Request Rate"]), 100)
        self.check_breakdown(row)

    def test_perf_analyzer_streaming(self):
        self.check_breakdown(self.analyze("--concurrency-range", "4", "--streaming", "-a"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
