"""perf_analyzer as it is, against identity and the MLP: rates, streams, the server's breakdown."""
import csv
import re
import unittest

import programs
from daemon import WITH_TORCH
from models import synthetic, tensor, torchscript
from programs import Statistics, run

MLP = "mlp_1024x6"
# Three windows of a second and of so many requests at least, stable or not.
WINDOWS = ("--measurement-mode", "count_windows", "--measurement-request-count", "100", "-r", "3",
           "-s", "999")
with_torch = unittest.skipUnless(WITH_TORCH, "torch is not in this build")
STAGES = ("Queue", "Compute Input", "Compute Infer", "Compute Output")


class PerfAnalyzer(programs.ProgramTest):
    program = "perf_analyzer"
    models = (synthetic("identity", [tensor("INPUT0", [256])], max_batch_size=64),
              *([torchscript(MLP, max_batch_size=64, warmup="smallest")] if WITH_TORCH else []))

    def analyze(self, *flags, model="identity"):
        """(what it printed, the rows of its report)."""
        file = self.daemon.folder / "perf.csv"
        text = run(self.client, "-m", model, "-u", self.address, "-i", "grpc", "-f", str(file),
                   *flags, limit_s=110)
        print(text, flush=True)
        with open(file, newline="", encoding="utf-8") as stream:
            return text, list(csv.DictReader(stream))

    def check_breakdown(self, table, column, values):
        """The server's stages are there, and fit into what the client saw."""
        self.assertEqual(sorted(float(row[column]) for row in table), values)
        for row in table:
            stages = [float(row[f"Server {stage}"]) for stage in STAGES]
            self.assertGreater(sum(stages), 0)
            self.assertLess(sum(stages), float(row["p99 latency"]))

    def check_exact(self, column, value, *flags, model="identity", count=500, rows=1):
        """Client and server count the same requests, to the last. What perf_analyzer says that the
        server did may lack the first few: it sends them, and then looks at the statistics."""
        statistics = Statistics(self.stub, model)
        text, table = self.analyze("-b", str(rows), "--request-count", str(count), *flags,
                                   model=model)
        statistics.check(self, count, rows=count * rows)
        self.assertIn(f"  Request count: {count}\n", text)
        told = {what: int(number) for what, number in re.findall(
            r"^ +(Successful request|Inference) count: (\d+)$", text, re.MULTILINE)}
        missed = count - told["Successful request"]
        self.assertIn(missed, range(count // 5), text)
        self.assertEqual(told["Inference"], rows * told["Successful request"])
        self.check_breakdown(table, column, [value])

    def check_range(self, column, values, *flags, model="identity"):
        """It can bound no range by a count, and looks at the server's statistics while requests
        are on their way: at the edges of its windows the two differ by a few."""
        statistics = Statistics(self.stub, model)
        text, table = self.analyze(*WINDOWS, *flags, model=model)
        clients, servers, inferences = (
            [int(count) for count in re.findall(rf"^ +{what} count: (\d+)$", text, re.MULTILINE)]
            for what in ("Request", "Successful request", "Inference"))
        self.assertEqual(len(clients), len(values), text)
        self.assertEqual(servers, inferences)
        for client, server in zip(clients, servers, strict=True):
            self.assertLess(abs(client - server), 20 + client / 5)
        total = statistics.counted()
        self.assertGreaterEqual(total["success"], max(sum(clients), sum(servers)))
        statistics.check(self, total["success"])
        self.check_breakdown(table, column, values)

    # Identity.

    def test_concurrency(self):
        self.check_exact("Concurrency", 4, "--concurrency-range", "4")

    def test_concurrency_range(self):
        self.check_range("Concurrency", [1, 5, 9], "--concurrency-range", "1:9:4")

    def test_request_rate(self):
        self.check_exact("Request Rate", 100, "--request-rate-range", "100", count=200)

    def test_request_rate_range(self):
        self.check_range("Request Rate", [100, 200], "--request-rate-range", "100:200:100")

    def test_streaming(self):
        self.check_exact("Concurrency", 4, "--concurrency-range", "4", "--streaming", "-a")

    def test_streaming_range(self):
        self.check_range("Concurrency", [2, 6], "--concurrency-range", "2:6:4", "--streaming", "-a")

    def test_batches(self):
        self.check_exact("Concurrency", 2, "--concurrency-range", "2", rows=8)

    def test_compressed(self):
        """Zeros, so that it pays."""
        for encoding in ("gzip", "deflate"):
            self.check_exact("Concurrency", 2, "--concurrency-range", "2", "--input-data", "zero",
                             "--grpc-compression-algorithm", encoding)

    def test_http_is_its_default(self):
        """No -i: JSON of the metadata, binary tensors. Client and server count the same."""
        statistics = Statistics(self.stub, "identity")
        text = run(self.client, "-m", "identity", "-u", self.daemon.http, "--request-count", "500",
                   "--concurrency-range", "4", limit_s=110)
        print(text, flush=True)
        statistics.check(self, 500, rows=500)
        self.assertIn("  Request count: 500\n", text)

    # The MLP.

    @with_torch
    def test_mlp_concurrency(self):
        self.check_range("Concurrency", [1, 8], "--concurrency-range", "1:8:7", model=MLP)
        self.check_exact("Concurrency", 4, "--concurrency-range", "4", model=MLP, rows=4)

    @with_torch
    def test_mlp_request_rate(self):
        self.check_range("Request Rate", [50, 100], "--request-rate-range", "50:100:50", model=MLP)
        self.check_exact("Request Rate", 50, "--request-rate-range", "50", model=MLP, count=100)

    @with_torch
    def test_mlp_streaming(self):
        self.check_exact("Concurrency", 4, "--concurrency-range", "4", "--streaming", "-a",
                         model=MLP, count=200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
