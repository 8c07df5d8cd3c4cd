#!/usr/bin/env python3
"""Six hours of mpsd-scaling: by the forecast the fewest hosts answer, and few requests are late.

  scaling_test.py PROGRAM
"""
import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()


class Scaling(unittest.TestCase):
    def test_the_forecast_takes_the_fewest_hosts(self):
        done = subprocess.run([PROGRAM, "--hours", "6"], capture_output=True, text=True, timeout=100, check=True)
        days = json.loads(done.stdout)
        forecast = days.pop("mpsd_replicas_needed")
        self.assertEqual(len(days), 6)
        self.assertLess(forecast["missed"], 0.05)
        self.assertLess(forecast["host_hours"], 0.6 * min(day["host_hours"] for day in days.values()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
