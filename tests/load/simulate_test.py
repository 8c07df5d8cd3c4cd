#!/usr/bin/env python3
"""Tests of mpsd-simulate: loads of which the outcome can be reckoned by hand.

  simulate_test.py PROGRAM
"""

import json
import subprocess
import sys
import unittest

PROGRAM = ""
# Batches of one take 1 ms, of two 1.5 ms, and rows cost the same from four on.
CURVE = ("--curve", "1=1ms,4=2.5ms,8=5ms", "--noise", "0")


def run(*flags):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=60, check=False)


def simulated(*flags):
    done = run(*CURVE, *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Simulate(unittest.TestCase):
    def test_one_client_has_one_batch_after_another(self):
        outcome = simulated("--clients", "1", "--max-batch", "4")
        self.assertAlmostEqual(outcome["throughput"], 1000, delta=10)
        self.assertAlmostEqual(outcome["latency_us"]["p50"], 1000, delta=10)
        self.assertEqual(outcome["mean_batch"], 1)

    def test_the_time_outside_counts_between_two_requests(self):
        outcome = simulated("--clients", "1", "--return", "1ms")
        self.assertAlmostEqual(outcome["throughput"], 500, delta=25)
        self.assertAlmostEqual(outcome["latency_us"]["p50"], 1000, delta=10)

    def test_the_door_lets_one_pass_at_a_time(self):
        outcome = simulated("--clients", "64", "--max-batch", "64", "--door", "2ms")
        self.assertAlmostEqual(outcome["throughput"], 500, delta=25)

    def test_full_batches_are_what_a_lane_can_do(self):
        outcome = simulated("--rate", "8000", "--deadline", "50ms", "--max-batch", "4")
        self.assertAlmostEqual(outcome["goodput"], 1600, delta=80)
        self.assertGreater(outcome["refused"], 5000)
        lanes = simulated("--rate", "8000", "--deadline", "50ms", "--max-batch", "4", "--lanes", "3")
        self.assertAlmostEqual(lanes["goodput"], 4800, delta=240)

    def test_sizes_between_and_beyond_the_measured_ones(self):
        self.assertAlmostEqual(simulated("--rate", "8000", "--max-batch", "2")["throughput"],
                               2 / 0.0015, delta=20)
        self.assertAlmostEqual(simulated("--rate", "8000", "--max-batch", "16")["throughput"],
                               1600, delta=20)

    def test_an_eager_pool_answers_too_late_in_overload(self):
        flags = ("--rate", "8000", "--deadline", "15ms", "--max-batch", "4")
        self.assertLess(simulated(*flags, "--eager")["goodput"], 200)
        self.assertGreater(simulated(*flags)["goodput"], 1400)

    def test_the_same_seed_gives_the_same_outcome(self):
        flags = ("--rate", "1000", "--seed")
        self.assertEqual(simulated(*flags, "3"), simulated(*flags, "3"))
        self.assertNotEqual(simulated(*flags, "3"), simulated(*flags, "4"))

    def test_the_bound_of_all_schedules(self):
        def most(*flags):
            return simulated(*flags, "--max-batch", "4", "--duration", "4s", "--clairvoyant")

        full = most("--rate", "8000", "--deadline", "50ms")
        self.assertAlmostEqual(full["offered"], 8000, delta=250)
        self.assertAlmostEqual(full["goodput"], 1600, delta=10)  # four in 2.5 ms
        single = most("--rate", "8000", "--deadline", "1200us")
        # No two are answered in time, and now and then nobody is there.
        self.assertLess(single["goodput"], 1000)
        self.assertGreater(single["goodput"], 950)
        self.assertEqual(most("--rate", "8000", "--deadline", "900us")["goodput"], 0)
        few = most("--rate", "100", "--deadline", "50ms")
        self.assertEqual(few["goodput"], few["offered"])

    def test_wrong_flags_are_refused(self):
        for flags, words in ((("--rate", "1"), "--curve"),
                             ((*CURVE,), "--clients or --rate"),
                             (("--curve", "2=1ms", "--rate", "1"), "a batch of 1 is missing"),
                             (("--curve", "1=1", "--rate", "1"), "'1'"),
                             (("--curve", "x=1ms", "--rate", "1"), "not ROWS=TIME"),
                             ((*CURVE, "--rate", "1", "--clients", "1"), "excludes"),
                             ((*CURVE, "--rate", "1", "--lanes", "0"), "--lanes"),
                             ((*CURVE, "--rate", "1", "--clairvoyant"), "--deadline"),
                             ((*CURVE, "--rate", "1", "--deadline", "1ms", "--lanes", "1",
                               "--clairvoyant"), "--lanes")):
            done = run(*flags)
            self.assertNotEqual(done.returncode, 0, flags)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
