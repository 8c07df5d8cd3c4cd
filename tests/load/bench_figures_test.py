#!/usr/bin/env python3
"""Tests of the arithmetic behind load_tests/bench/bench.py."""

import os
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
LOAD_TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../load_tests")
sys.path[:0] = [f"{LOAD_TESTS}/bench", f"{LOAD_TESTS}/pictures"]
import bench_figures as figures  # noqa: E402
import bench_pictures  # noqa: E402
import bench_rows  # noqa: E402
import bench_sweeps  # noqa: E402
import random_bert  # noqa: E402

BEFORE = """# HELP mpsd_batch_rows Rows of each batch.
# TYPE mpsd_batch_rows histogram
mpsd_batch_rows_count{model="mlp",version="1"} 10
mpsd_batch_rows_sum{model="mlp",version="1"} 100
mpsd_batch_rows_bucket{model="mlp",version="1",le="1"} 3
mpsd_timeout_wakeups_total{model="mlp",version="1"} 1
mpsd_timeout_wakeups_total{model="other",version="1"} 2
mpsd_open_calls 7
"""
AFTER = BEFORE.replace("} 100", "} 420").replace("_count{model=\"mlp\",version=\"1\"} 10",
                                               "_count{model=\"mlp\",version=\"1\"} 20")


class Figures(unittest.TestCase):
    def test_median_and_spread(self):
        self.assertEqual(figures.median([3, 1, 2]), 2)
        self.assertEqual(figures.median([1, 2, 3, 10]), 2.5)
        self.assertIsNone(figures.median([]))
        self.assertEqual(figures.spread([90, 100, 120]), 0.3)
        self.assertEqual(figures.spread([5]), 0)

    def test_metric_sums_what_the_model_has(self):
        self.assertEqual(figures.metric(BEFORE, "mpsd_timeout_wakeups_total"), 3)
        self.assertEqual(figures.metric(BEFORE, "mpsd_timeout_wakeups_total", "other"), 2)
        self.assertEqual(figures.metric(BEFORE, "mpsd_open_calls"), 7)
        self.assertEqual(figures.metric(BEFORE, "mpsd_batch_rows"), 0)

    def test_mean_batch_is_of_the_run_alone(self):
        self.assertEqual(figures.mean_batch(BEFORE, AFTER, "mlp"), 32)
        self.assertIsNone(figures.mean_batch(BEFORE, BEFORE, "mlp"))

    def test_bare_rate_between_two_sizes(self):
        rates = {1: 100.0, 2: 200.0, 4: 200.0}  # batches take 10, 10 and 20 ms
        self.assertEqual(figures.bare_rate(rates, 2), 200)
        self.assertAlmostEqual(figures.bare_rate(rates, 3), 3 / 0.015)
        self.assertEqual(figures.bare_rate(rates, 9), 200)

    def test_mixed_rate_is_the_mean_of_times(self):
        self.assertAlmostEqual(figures.mixed_rate([100, 50]), 2 / (0.01 + 0.02))

    def test_rows_are_met_at_the_target_and_not_beyond(self):
        self.assertTrue(figures.at_least("T1", "q", [70], [100], 0.7).met)
        self.assertFalse(figures.at_least("T1", "q", [69], [100], 0.7).met)
        self.assertTrue(figures.at_most("T2", "q", [135], [100], 1.35).met)
        self.assertFalse(figures.at_most("T2", "q", [136], [100], 1.35).met)
        self.assertFalse(figures.at_most("T2", "nothing was measured", [0], [100], 1.35).met)
        self.assertFalse(figures.at_least("T1", "no ceiling", [5], [0], 0.7).met)

    def test_each_round_is_held_to_its_own_ceiling(self):
        # A machine that was twice as fast in the second round, and slow for its ceiling alone.
        row = figures.at_least("T1", "q", [80, 160, 85], [100, 200, 50], 0.8)
        self.assertEqual((row.measured, row.ceiling, row.ratio), ("85.0", "100.0", "0.80"))
        self.assertTrue(row.met)
        self.assertEqual(row.range, "0.80 to 1.70")
        with self.assertRaises(ValueError):
            figures.paired_ratio([1, 2], [1])

    def test_a_ratio_of_medians_that_differs_stands_beside(self):
        # The rounds' ratios are 0.5, 1 and 1.5; the medians' is 1.5.
        self.assertEqual(figures.ratio_text([50, 150, 150], [100, 150, 100]),
                         "1.00 (1.50 of the medians)")
        self.assertEqual(figures.ratio_text([100, 109, 109], [100, 109, 100]), "1.00")

    def test_the_range_is_of_the_rounds(self):
        self.assertEqual(figures.range_text([3, 1, 2]), "1.00 to 3.00")
        self.assertEqual(figures.range_text([3]), "–")
        self.assertEqual(figures.alone("–", "q", [1000, 2000], "1,500 /s").range, "1,000 to 2,000")
        row = figures.beside("–", "q", [5, 6], [0, 6])
        self.assertEqual((row.ratio, row.range, row.met), ("–", "–", None))

    def test_a_forecast_may_be_off_to_both_sides(self):
        for measured, met in ((84, False), (86, True), (114, True), (116, False)):
            self.assertEqual(figures.within("–", "q", measured, 100, 0.15).met, met)
        self.assertFalse(figures.within("–", "q", 1, 0, 0.15).met)

    def test_jain_is_1_for_equal_shares(self):
        self.assertEqual(figures.jain([3, 3]), 1)
        self.assertEqual(figures.jain([3, 0]), 0.5)
        self.assertEqual(figures.jain([0, 0]), 0)

    def test_failed_loads_are_named_below_it(self):
        self.assertEqual(figures.failures([]), "")
        failed = [{"errors": {"INTERNAL": 2}, "wrong": 1, "command": ["mpsd-bench", "--json"]}]
        self.assertEqual(figures.failures(failed),
                         "\nfailed: {'INTERNAL': 2}, 1 wrong: mpsd-bench --json\n")

    def test_table_says_what_is_not_met(self):
        text = figures.table([figures.at_least("T1", "q", [1], [100], 0.7), figures.Row("–", "r", "5")])
        self.assertIn("NOT MET", text.splitlines()[2])
        self.assertTrue(text.splitlines()[3].endswith("| –       |"))
        self.assertEqual(len({len(line) for line in text.splitlines()}), 1)


class RandomBert(unittest.TestCase):
    def test_has_the_size_of_minilm(self):
        shapes = random_bert.tensor_shapes(random_bert.CONFIG).values()
        parameters = sum(shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in shapes)
        self.assertAlmostEqual(parameters / 1e6, 22.6, delta=0.1)


class Rows(unittest.TestCase):
    def test_a_closed_loop_is_held_to_the_bare_loop_at_its_batch(self):
        bench = figures.Samples()
        bench.samples = {"mlp_c16": [{"throughput": 85, "bare_same": 100, "p50_us": 1}],
                         "mlp_c256": [{"throughput": 94, "bare_same": 100, "p50_us": 1}]}
        rows = bench_rows.closed_loop_rows(bench)
        self.assertEqual([(row.number, row.met) for row in rows], [("S1", True), ("S1", False)])
        self.assertIn("at 16 rows", rows[0].quantity)
        self.assertIn("at 64 rows", rows[1].quantity)

    def test_goodput_is_held_to_its_bound_its_peak_and_its_forecast(self):
        offered = {75: 70, 100: 90, 150: 81, 200: 82, 300: 80}
        sweep = bench_sweeps.Sweep("MLP", 15_000,
                                   [{"percent": percent, "goodput": good, "foretold": 93,
                                     "bound": 70 if percent == 75 else 100}
                                    for percent, good in offered.items()])
        rows = bench_rows.sweep_rows([sweep])
        self.assertEqual([row.met for row in rows[:4]], [True, True, True, False])
        self.assertEqual([row.met for row in rows[4:]], [False, True])
        self.assertEqual(bench_rows.sweep_rows([]), [])

    def test_micro_benchmarks_are_held_to_a_microsecond_and_json_to_nlohmann(self):
        bench = figures.Samples()
        self.assertEqual(bench_rows.micro_rows(bench), [])
        times = {name: 1000 for _, name in bench_rows.MICRO}
        bench.samples = {"micro": [{**times, "WriteAnswer": 10, "WriteAnswerByNlohmann": 50}]}
        self.assertEqual([row.met for row in bench_rows.micro_rows(bench)], [True] * 5)
        slower = {name: 1001 for name in times}
        bench.samples = {"micro": [{**slower, "WriteAnswer": 11, "WriteAnswerByNlohmann": 50}]}
        self.assertEqual([row.met for row in bench_rows.micro_rows(bench)], [False] * 5)

    def test_tenants_are_held_to_equal_shares_and_to_the_victim_alone(self):
        bench = figures.Samples()
        self.assertEqual(bench_rows.tenant_rows(bench), [])
        bench.samples = {"tenants": [{"shares": [1, 1.5], "alone_us": 10, "beside_us": 15}]}
        self.assertEqual([row.met for row in bench_rows.tenant_rows(bench)], [True, True])
        bench.samples = {"tenants": [{"shares": [1, 2], "alone_us": 10, "beside_us": 16}]}
        self.assertEqual([row.met for row in bench_rows.tenant_rows(bench)], [False, False])

    def test_streams_of_the_first_round_are_held_to_that_round(self):
        bench = figures.Samples()
        bench.samples = {"null_c64": [{"throughput": 100}, {"throughput": 500}],
                         "null_streams1_c64": [{"throughput": 130}, {"throughput": 650}],
                         "null_streams4_c64": [{"throughput": 140}]}
        rows = bench_rows.stream_rows(bench)
        self.assertEqual([(row.ratio, row.met) for row in rows], [("1.30", True), ("1.40", True)])
        self.assertIn("over 1 stream,", rows[0].quantity)
        self.assertIn("over 4 streams,", rows[1].quantity)

    def test_streams_stand_beside_the_echo_over_as_many_connections(self):
        bench = figures.Samples()
        bench.samples = {"null_c64": [{"throughput": 100}],
                         "null_streams4_c64": [{"throughput": 60}],
                         "null_streams16_c64": [{"throughput": 40}],
                         "echo_connections16_c64": [{"throughput": 50}]}
        rows = bench_rows.stream_rows(bench)
        self.assertEqual([(row.ratio, row.met) for row in rows],
                         [("0.60", False), ("0.40", False), ("0.80", None)])
        self.assertIn("echo over 16 connections", rows[2].quantity)

    def test_a_reload_may_fail_no_call(self):
        bench = figures.Samples()
        self.assertEqual(bench_rows.reload_rows(bench), [])
        for lost, swapped, refused, met in (({}, 2, 0, True), ({"INTERNAL": 1}, 2, 0, False),
                                            ({}, 0, 0, False), ({}, 2, 1, False)):
            bench.samples = {"reload": [{"failed": [{}, lost], "swapped": swapped, "refused": refused,
                                         "during_us": 15, "before_us": 10}]}
            self.assertEqual([row.met for row in bench_rows.reload_rows(bench)], [True, met])

    def test_memory_of_a_front_end_is_told_where_it_is_known(self):
        bench = figures.Samples()
        bench.samples = {"start": [{"ready_s": 1, "own_mb": 61}]}
        self.assertEqual([(row.number, row.met) for row in bench_rows.model_rows(bench)],
                         [("T13", True), ("T15", False)])
        bench.samples = {"start": [{"ready_s": 1, "own_mb": None}]}
        self.assertEqual([row.number for row in bench_rows.model_rows(bench)], ["T13"])

    def test_what_was_not_measured_is_named(self):
        rows = [figures.Row(number, "q", "1") for number in bench_rows.HERE if number != "T8"]
        missing = bench_rows.missing_rows(rows)
        self.assertEqual([row.number for row in missing[:-1]], ["T9", "T11", "T12", "T15", "T16"])
        self.assertEqual(missing[-1].measured, "T8")
        self.assertEqual({row.met for row in missing}, {None})
        self.assertIn("T1, T1s", bench_rows.missing_rows([])[-1].measured)
        for _, _, script in bench_rows.ELSEWHERE:
            if "/" in script:
                self.assertTrue(os.path.exists(f"{LOAD_TESTS}/../{script}"), script)


class SweptByFakes(bench_sweeps.SweepLoads):
    """Loads that only write down what was asked for, and a forecast that knows nothing."""

    def __init__(self):
        self.asked = []
        self.daemon = types.SimpleNamespace(unix="unix:/the.sock")

    def value(self, name, key):
        return {("minilm_c64", "throughput"): 200}[name, key]

    def load_daemon(self, first, *flags, target, **_):
        self.asked.append({**dict(zip(flags[::2], flags[1::2])), "client": (first, target)})
        return {"goodput": float(self.asked[-1]["--rate"]) / 2}

    def of_arrivals(self, rate, slo_us, loads):
        return {"goodput": rate + slo_us + len(loads)}

    def bound_of_arrivals(self, rate, slo_us):
        return rate - slo_us


class Sweeps(unittest.TestCase):
    def test_a_sweep_offers_shares_of_what_a_closed_loop_gets_under_one_deadline(self):
        loads = SweptByFakes()
        sweep = loads.sweep(bench_sweeps.MINILM, loads, 50_000)
        self.assertEqual([asked["--rate"] for asked in loads.asked],
                         ["100.0", "150.0", "180.0", "200.0", "250.0", "300.0", "400.0", "600.0"])
        self.assertEqual({(asked["--slo"], asked["--deadline"]) for asked in loads.asked},
                         {("50000us", "50000us")})
        self.assertEqual({asked["client"] for asked in loads.asked}, {("--frames", "unix:/the.sock")})
        self.assertEqual(sweep.at(150), {"percent": 150, "goodput": 150, "foretold": 50_301,
                                         "bound": -49_700})

    def test_deadlines_begin_with_five_times_a_row_alone(self):
        self.assertEqual(bench_sweeps.MLP.deadlines_us(1000), (5000, 15_000, 30_000))
        self.assertEqual(bench_sweeps.MINILM.deadlines_us(8000), (40_000, 120_000, 240_000))


class Page(unittest.TestCase):
    def test_has_the_table_the_sweeps_and_the_closed_loops(self):
        latency = {"p50": 1e3, "p90": 2e3, "p99": 4e3, "p99_9": 9e3}
        bench = figures.Samples()
        bench.samples = {f"mlp_c{count}": [{"throughput": count, "latency_us": latency}] * 2
                         for count in (1, 16)}
        points = [{"percent": percent, "offered": percent, "goodput": 50, "foretold": 60, "bound": 70,
                   "latency_us": latency} for percent in (50, 100)]
        with tempfile.TemporaryDirectory() as folder:
            bench_pictures.write(f"{folder}/page.html", bench, [figures.Row("T1", "q", "5")],
                                 [bench_sweeps.Sweep("MLP", 15_000, points)], "the head")
            with open(f"{folder}/page.html", encoding="utf-8") as file:
                text = file.read()
        for words in ("MLP: good answers under 15.0 ms", "foretold by the simulator", "the head", "p99.9",
                      "the most that any schedule reaches", "MLP: answers", "<td>T1</td>"):
            self.assertIn(words, text)
        self.assertEqual(text.count("<svg"), 4)


if __name__ == "__main__":
    unittest.main()
