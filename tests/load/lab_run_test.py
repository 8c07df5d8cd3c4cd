#!/usr/bin/env python3
"""Runs a small scenario of each kind of load by load_tests/lab/lab.py against a daemon.

Usage: lab_run_test.py FOLDER, where the binaries are. Figures are not looked at, only that they are
there: on a busy host a bar may be missed.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = f"{HERE}/../../load_tests/lab/lab.py"
BINARIES = os.path.abspath(sys.argv.pop(1))

INPUTS = ["x:FP32[1,8]"]
SCENARIO = {
    "title": "A little of everything",
    "models": [{"name": "m", "format": "synthetic", "max_batch_size": 4,
                "inputs": [{"name": "x", "datatype": "FP32", "shape": [8]}],
                "parameters": {"delay": "2ms"}}],
    "tenants": ["a", "b"],
    "trace": {"bin": "50ms", "make": {"functions": 5, "bins": 20, "calls": 5, "models": ["m"],
                                      "tenants": ["a", "b"], "seed": 3}},
    "loads": {
        "clients": {"model": "m", "inputs": INPUTS, "tenant": "a", "clients": 8, "streams": 2},
        "swarms": {"model": "m", "inputs": INPUTS, "tenant": "b", "rate": 100, "cv": 4,
                   "on": "100ms", "off": "100ms", "slo": "1s"},
        "trace": {"model": "m", "inputs": INPUTS, "tenant": "a", "trace": {"where": {"tenant": "a"}}},
        "calls": {"model": "m", "inputs": INPUTS, "tenant": "a", "deadline": "1s",
                  "rate": {"times": 0.1, "of": "all/clients"}}},
    "phases": [{"name": "all", "loads": {"clients": {}, "swarms": {}, "trace": {}}},
               {"name": "eager", "models": {"batching": {"max_delay": "1us"}},
                "loads": {"calls": {}}, "sweep": [1, 2]},
               {"name": "told", "loads": {"calls": {}}, "simulate": ["--eager"]}],
    "bars": [{"what": "what is offered", "figure": "offered", "of": "eager@2/calls",
              "to": "eager@1/calls", "at_least": 1},
             {"what": "simulated", "figure": "goodput", "of": "told/calls", "at_least": 1},
             {"what": "shares", "figure": "jain", "of": ["all/clients", "all/trace"],
              "at_least": 0.5},
             {"what": "knee", "figure": "knee", "of": "eager/calls", "at_least": 1}],
}


class LabRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_lab(self, scenario, *flags):
        with open(f"{self.folder}/little.json", "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        return subprocess.run([sys.executable, LAB, f"{self.folder}/little.json", "--binaries",
                               BINARIES, "--rounds", "1", "--seconds", "0.6", *flags],
                              capture_output=True, text=True, timeout=150, check=False)

    def test_every_load_is_answered_and_reported(self):
        done = self.run_lab(SCENARIO, "--json", f"{self.folder}/out.json", "--html",
                            f"{self.folder}/out.html")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        with open(f"{self.folder}/out.json", encoding="utf-8") as file:
            little = json.load(file)["scenarios"]["little"]
        reports, = little["rounds"]
        self.assertEqual(set(reports), {"all/clients", "all/swarms", "all/trace", "eager@1/calls",
                                        "eager@2/calls", "told/calls"})
        for name, report in reports.items():
            self.assertGreater(report["throughput"], 0, name)
            self.assertEqual((report["wrong"], report["errors"].get("CANCELLED", 0)), (0, 0), name)
        self.assertTrue(sum(reports["all/swarms"]["timeline"]["due"]))
        self.assertEqual(set(little["foretold"][0]), {"eager@1/calls", "eager@2/calls"})
        self.assertEqual([row["quantity"] for row in little["rows"]],
                         ["what is offered", "simulated", "shares", "knee",
                          "wrong answers; calls without an ending"])
        self.assertIn("| little", done.stdout)
        with open(f"{self.folder}/out.html", encoding="utf-8") as file:
            self.assertIn("little: A little of everything", file.read())

    def test_a_bar_that_is_missed_and_a_wrong_scenario_have_an_exit_status(self):
        phases = [{"name": "all", "loads": {"clients": {}}}]
        bar = {"what": "too much", "figure": "throughput", "of": "all/clients", "at_least": 1e9}
        done = self.run_lab({**SCENARIO, "phases": phases, "bars": [bar]})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("NOT MET", done.stdout)
        done = self.run_lab({**SCENARIO, "phases": []})
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no", done.stderr)


if __name__ == "__main__":
    unittest.main()
