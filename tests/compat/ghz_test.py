"""ghz as it is: a bounded load, whose report and the server's statistics say the same."""
import json
import unittest

import programs
from programs import ROOT, SERVICE, Statistics, run, small_request
from models import synthetic, tensor

CALLS = 2000


class Ghz(programs.ProgramTest):
    program = "ghz"
    models = (*programs.ProgramTest.models,
              synthetic("identity", [tensor("INPUT0", [256])], max_batch_size=64))

    def load(self, request, *flags):
        return json.loads(run(self.client, "--insecure", "--call", f"{SERVICE}.ModelInfer", "-d",
                              json.dumps(request), "-n", str(CALLS), "-c", "16", "-O", "json",
                              *flags, self.address))

    def check_load(self, request, *flags):
        statistics = Statistics(self.stub, request["model_name"])
        report = self.load(request, *flags)
        self.assertEqual((report["count"], report["statusCodeDistribution"]), (CALLS, {"OK": CALLS}))
        statistics.check(self, CALLS)

    def test_by_reflection(self):
        self.check_load({"model_name": "identity", "inputs": [
            {"name": "INPUT0", "datatype": "FP32", "shape": [1, 256],
             "contents": {"fp32_contents": list(range(256))}}]})

    def test_by_our_files_over_many_connections(self):
        self.check_load(small_request(), "--proto", str(ROOT / "proto/inference.proto"),
                        "--import-paths", str(ROOT), "--connections", "4")

    def test_errors_are_told_and_not_counted(self):
        statistics = Statistics(self.stub, "small")
        wrong = small_request()
        wrong["inputs"][0]["shape"] = [1, 3]
        report = self.load(wrong)
        self.assertEqual(report["statusCodeDistribution"], {"InvalidArgument": CALLS})
        self.assertEqual(len(report["errorDistribution"]), 1)
        statistics.check(self, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
