#!/usr/bin/env python3
"""mpsd-lane-bars on the cpu: few rounds, a short soak, and how two lanes and processes scale.

  lane_bars_test.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
OPERATORS = {"linear", "addmm", "layer_norm", "sdpa", "attention", "mlp", "conv"}


def run(*flags):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=100, check=False)


class LaneBars(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-lane-bars-"))
        self.report = pathlib.Path(folder) / "report.json"

    def reported(self, *flags):
        """How the program ended, its report, and the bars of the report by name."""
        done = run(*flags, "--report", str(self.report))
        report = json.loads(self.report.read_text(encoding="utf-8"))
        return done, report, {bar["name"]: bar for bar in report["bars"]}

    def test_the_bars_pass_on_the_cpu(self):
        done, report, bars = self.reported("--only", "rounds,soak", "--rounds", "4x5", "--soak", "500",
                                           "--soak-lanes", "3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(report["verdict"], "PASS")
        self.assertEqual(report["host"]["device"], "cpu")
        self.assertRegex(report["host"]["libtorch"], r"^torch \d+\.\d+")
        self.assertEqual(report["host"]["kind"], "stock")
        self.assertIn("libtorch_cpu", report["host"]["library"])
        self.assertEqual(list(bars), ["4x5", "soak"])
        rounds, soak = bars["4x5"], bars["soak"]
        self.assertEqual(set(rounds["operators"]), OPERATORS)
        for counts in rounds["operators"].values():
            self.assertEqual((counts["cold"], counts["warm"]), (4, 20))
        self.assertEqual(set(soak["operators"]), OPERATORS)
        self.assertEqual((soak["lanes"], soak["wanted"], soak["counts"]["warm"]), (3, 500, 500))
        for bar in bars.values():
            self.assertEqual(bar["verdict"], "PASS")
            self.assertEqual((bar["counts"]["wrong"], bar["counts"]["failed"]), (0, 0))
            self.assertGreater(bar["rate"], 0)
        self.assertRegex(done.stdout, r"(?m)^soak +PASS ")
        self.assertIn(f"report: {self.report}", done.stdout)

    def test_lanes_and_processes_are_compared_with_one(self):
        done, _, bars = self.reported("--only", "threads,processes", "--counts", "1,2",
                                      "--seconds", "100ms")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(bars), 8)
        for kind in ("linear", "layer_norm"):
            for what in ("threads", "processes"):
                one, two = (bars[f"{kind}, {count} {what}"] for count in (1, 2))
                self.assertEqual(one["ratio"], 1)
                self.assertAlmostEqual(two["ratio"], two["rate"] / one["rate"], places=6)
                self.assertAlmostEqual(two["efficiency"], two["ratio"] / 2, places=6)
        self.assertEqual((bars["linear, 2 threads"]["processes"],
                          bars["linear, 2 threads"]["lanes"]), (1, 2))
        self.assertEqual((bars["linear, 2 processes"]["processes"],
                          bars["linear, 2 processes"]["lanes"]), (2, 1))

    def test_a_soak_whose_time_is_over_fails(self):
        done, report, bars = self.reported("--only", "soak", "--limit", "50ms", "--operators", "linear")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual((report["verdict"], bars["soak"]["verdict"]), ("FAIL", "FAIL"))
        self.assertRegex(bars["soak"]["why"], r"^the time was over after \d+ of 2000000 operations$")
        self.assertEqual(set(bars["soak"]["operators"]), {"linear"})

    def test_a_device_that_is_not_there_fails_each_bar(self):
        done, _, bars = self.reported("--device", "xpu", "--only", "rounds", "--rounds", "2x1,3x1")
        self.assertEqual(done.returncode, 1)
        for name in ("2x1", "3x1"):
            self.assertIn("built without xpu", bars[name]["why"])

    def test_wrong_words_are_named(self):
        for flags in (("--rounds", "33x1"), ("--rounds", "4"), ("--operators", "lstm"),
                      ("--only", "rest"), ("--soak", "0"), ("--limit", "long")):
            done = run(*flags)
            self.assertEqual(done.returncode, 64, flags)
            self.assertIn(flags[1], done.stderr)

    def test_the_last_device_counts(self):
        _, report, _ = self.reported("--device", "mps", "--device", "cpu", "--only", "rounds",
                                     "--rounds", "1x1")
        self.assertEqual(report["host"]["device"], "cpu")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
