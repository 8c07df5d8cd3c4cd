#!/usr/bin/env python3
"""Tests of load_tests/lab: scenarios and their faults, commands, bars, traces. Starts nothing."""

import collections
import copy
import os
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
LOAD_TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../load_tests")
sys.path[:0] = [f"{LOAD_TESTS}/{folder}" for folder in ("lab", "bench", "pictures")]
import lab_bars  # noqa: E402
import lab_loads  # noqa: E402
import lab_pictures  # noqa: E402
import lab_scenario  # noqa: E402
import make_trace  # noqa: E402
from lab_scenario import ScenarioFault  # noqa: E402

MODEL = {"name": "m", "format": "synthetic", "max_batch_size": 4,
         "parameters": {"delay": "2ms", "delay_per_row": "500us"}}
TEXT = {
    "title": "A scenario",
    "models": [MODEL, {"name": "real", "path": "real.pt", "max_batch_size": 4}],
    "loads": {"clients": {"model": "m", "inputs": ["x:FP32[1]"], "clients": 8},
              "calls": {"model": "m", "inputs": ["x:FP32[1]"], "deadline": "20ms",
                        "rate": {"times": 1, "of": "full/clients"}}},
    "phases": [{"name": "full", "loads": {"clients": {}}},
               {"name": "more", "loads": {"calls": {}}, "sweep": [0.5, 2]}],
    "bars": [{"what": "w", "figure": "goodput", "of": "more@2/calls", "to": "full/clients",
              "at_least": 0.9}],
}


def changed(path, value):
    """TEXT with another value at a path of keys and indices; None takes it away."""
    text = copy.deepcopy(TEXT)
    place = text
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return text


def parsed(text=None):
    return lab_scenario.parse("s", text or copy.deepcopy(TEXT))


def report(goodput, offered=None, throughput=None, p99=10.0, wrong=0, errors=None):
    """What mpsd-bench prints, as far as bars look at it."""
    result = {"goodput": goodput, "throughput": goodput if throughput is None else throughput,
              "wrong": wrong, "errors": errors or {}, "mean_batch": None,
              "latency_us": {"p50": p99 / 2, "p90": p99, "p99": p99, "p99_9": p99}}
    return result if offered is None else {**result, "offered": offered}


class Scenarios(unittest.TestCase):
    def fault(self, path, value):
        with self.assertRaises(ScenarioFault) as raised:
            parsed(changed(path, value))
        return str(raised.exception)

    def test_all_that_are_here_can_be_read(self):
        names = lab_scenario.names_there()
        for kind in ("steady", "burst", "on_off", "trace", "two_tenants", "mixed", "overload",
                     "ablation"):
            self.assertIn(kind, names)
        for name in names:
            scenario = lab_scenario.read(name)
            self.assertEqual(scenario.name, name)
            self.assertTrue(scenario.bars)

    def test_a_sweep_is_a_phase_for_each_share(self):
        scenario = parsed()
        self.assertEqual([phase.name for phase in scenario.phases], ["full", "more@0.5", "more@2"])
        self.assertEqual([phase.loads["calls"]["rate"]["times"] for phase in scenario.phases[1:]],
                         [0.5, 2])
        self.assertEqual(list(scenario.sweeps()), ["more"])

    def test_a_phase_changes_its_own_models_and_loads_alone(self):
        scenario = parsed(changed(["phases", 1], {
            "name": "other", "loads": {"calls": {"rate": 7, "deadline": "1s"}},
            "models": {"parameters": {"delay": "1ms"}, "max_batch_size": 2}}) | {"bars": []})
        full, other = scenario.phases
        self.assertEqual(full.models[0], MODEL)
        self.assertEqual(other.models[0]["parameters"], {"delay": "1ms", "delay_per_row": "500us"})
        self.assertEqual([model["max_batch_size"] for model in other.models], [2, 2])
        self.assertEqual(other.loads["calls"]["rate"], 7)

    def test_faults_are_named(self):
        for path, value, words in (
                (["titel"], "x", "unknown key 'titel'"),
                (["bars"], None, "'bars' is missing"),
                (["loads", "clients", "rate"], 5, "has clients and rate"),
                (["loads", "clients", "clients"], None, "has none"),
                (["loads", "clients", "cv"], 4, "'cv' goes with 'rate' alone"),
                (["loads", "calls", "streams"], 4, "'streams' goes with 'clients' alone"),
                (["loads", "clients", "model"], "n", "no model 'n'"),
                (["loads", "clients", "tenant"], "t", "no tenant 't'"),
                (["tenants"], ["t"], "'tenant' is missing"),
                (["loads", "calls", "rate"], {"times": 1, "of": "more@0.5/calls"}, "has not run before"),
                (["phases", 0, "loads"], {"others": {}}, "no load 'others'"),
                (["phases", 1, "name"], "full", "no 'more@2/calls'"),
                (["phases", 0, "sweep"], [1], "needs loads with a rate"),
                (["phases", 1], {"name": "full"}, "the same name"),
                (["phases", 0, "simulate"], [], None),
                (["bars", 0, "figure"], "speed", "no figure 'speed'"),
                (["bars", 0, "figure"], "jain", "several loads"),
                (["bars", 0, "of"], ["full/clients"], "of one load"),
                (["bars", 0, "at_most"], 1, "one of at_least and at_most"),
                (["bars", 0, "of"], "full/calls", "no 'full/calls'"),
                (["bars", 0, "to"], "full/nobody", "no 'full/nobody'")):
            with self.subTest(path=path, value=value):
                if words is None:
                    parsed(changed(path, value))
                else:
                    self.assertIn(words, self.fault(path, value))

    def test_only_one_load_of_a_known_model_can_be_simulated(self):
        for change in ({"model": "real"}, {"model": ["m", "real"]}, {"streams": 2}):
            text = changed(["phases", 0], {"name": "full", "loads": {"clients": change},
                                          "simulate": []})
            with self.assertRaises(ScenarioFault):
                parsed(text)

    def test_a_file_that_is_none_is_named(self):
        with self.assertRaisesRegex(ScenarioFault, "no scenario 'nothing'; there are "):
            lab_scenario.read("nothing")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("{")
            file.flush()
            with self.assertRaisesRegex(ScenarioFault, "line 1"):
                lab_scenario.read(file.name)


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runner = lab_loads.LoadRunner("bin", self.folder.name, 3)
        self.daemon = types.SimpleNamespace(grpc="host:1", pid=5)

    def command(self, **changes):
        load = {key: value for key, value in {**TEXT["loads"]["calls"], **changes}.items()
                if value is not None}
        phase = lab_scenario.Phase("p", {"calls": load}, TEXT["models"])
        return self.runner.command(self.daemon, phase, "calls", {"full/clients": report(1000)}, 1)

    def value(self, command, flag):
        return command[command.index(flag) + 1]

    def test_a_rate_may_be_so_many_times_what_another_load_got(self):
        command = self.command(rate={"times": 1.5, "of": "full/clients"})
        self.assertEqual(self.value(command, "--rate"), "1500.000")
        self.assertEqual(self.value(self.command(rate=40), "--rate"), "40.000")

    def test_a_deadline_is_what_good_answers_keep_unless_it_says_otherwise(self):
        self.assertEqual(self.value(self.command(), "--slo"), "20ms")
        self.assertEqual(self.value(self.command(slo="5ms"), "--slo"), "5ms")
        self.assertNotIn("--slo", self.command(deadline=None))

    def test_bytes_are_checked_where_the_model_gives_back_what_it_gets(self):
        self.assertIn("--verify-identity", self.command())
        self.assertNotIn("--verify-identity", self.command(model="real"))
        self.assertNotIn("--verify-identity", self.command(model=["m", "real"]))

    def test_numbers_are_checked_where_a_network_makes_them(self):
        self.assertIn("--verify-near", self.command(model="real"))
        self.assertNotIn("--verify-near", self.command())
        self.assertNotIn("--verify-near", self.command(model=["m", "real"]))

    def test_arrivals_are_flags(self):
        command = self.command(cv=4, on="1s", off="3s", burst=2)
        for flag, value in (("--cv", "4"), ("--on", "1s"), ("--off", "3s"), ("--burst", "2")):
            self.assertEqual(self.value(command, flag), value)
        command = self.command(rate=None, deadline=None, clients=9, streams=3)
        self.assertEqual((self.value(command, "--concurrency"), self.value(command, "--streams")),
                         ("9", "3"))

    def test_a_trace_is_written_and_its_rows_are_chosen(self):
        make = {"functions": 3, "bins": 4, "calls": 20}
        command = self.command(rate=None, trace={"make": make, "bin": "50ms", "where": {"model": "m"}})
        self.assertEqual((self.value(command, "--bin"), self.value(command, "--where")),
                         ("50ms", "model=m"))
        with open(self.value(command, "--trace"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "bin,function,model,tenant,calls\n")

    def test_the_simulator_gets_the_models_curve(self):
        flags = lab_loads.model_flags({**MODEL, "batching": {"max_delay": "3ms"},
                                       "placement": {"processes": 2, "lanes": 3},
                                       "queue": {"requests": 9}})
        self.assertEqual(self.value(flags, "--curve"), "1=2500000ns,2=3000000ns,4=4000000ns")
        for flag, value in (("--max-batch", "4"), ("--lanes", "6"), ("--queue", "9"),
                            ("--max-delay", "3ms")):
            self.assertEqual(self.value(flags, flag), value)
        self.assertNotIn("--max-delay", lab_loads.model_flags(MODEL))

    def test_durations_are_read_as_configs_write_them(self):
        self.assertEqual([lab_loads.microseconds(text) for text in ("1.5ms", "200ns", "2s", "7us")],
                         [1500, 0.2, 2e6, 7])


class Bars(unittest.TestCase):
    def bar(self, **keys):
        return {"what": "w", **keys}

    def row(self, bar, *rounds):
        return lab_bars.bar_row(parsed(), bar, rounds)

    def test_a_ratio_is_of_the_same_round(self):
        rounds = [{"more@2/calls": report(good), "full/clients": report(full)}
                  for good, full in ((90, 100), (180, 200), (50, 100))]
        row = self.row(TEXT["bars"][0], *rounds)
        self.assertTrue(row.met)
        self.assertEqual((row.ratio, row.range), ("0.90", "0.50 to 0.90"))
        self.assertFalse(self.row({**TEXT["bars"][0], "at_least": 0.91}, *rounds).met)

    def test_a_figure_is_held_to_its_limit(self):
        rounds = [{"full/clients": report(10, p99=p99)} for p99 in (100, 120, 300)]
        bar = self.bar(figure="p99_us", of="full/clients", at_most=120)
        self.assertEqual((self.row(bar, *rounds).met, self.row(bar, *rounds).measured,
                          self.row(bar, *rounds).range), (True, "120.0 us", "100.0 to 300.0"))
        self.assertFalse(self.row({**bar, "at_most": 119}, *rounds).met)
        bar = self.bar(figure="good_share", of="full/clients", at_least=0.9)
        self.assertTrue(self.row(bar, {"full/clients": report(90, offered=100)}).met)
        self.assertFalse(self.row(bar, {"full/clients": report(89, offered=100)}).met)
        self.assertFalse(self.row(bar, {"full/clients": report(0, offered=0)}).met)
        late = {**report(99, offered=100), "good_share": 0.89}  # some are of calls due before
        self.assertFalse(self.row(bar, {"full/clients": late}).met)

    def test_jain_is_of_answers(self):
        bar = self.bar(figure="jain", of=["full/a", "full/b"], at_least=0.95)
        self.assertTrue(self.row(bar, {"full/a": report(10), "full/b": report(15)}).met)
        self.assertFalse(self.row(bar, {"full/a": report(10), "full/b": report(20)}).met)

    def test_the_knee_is_the_highest_load_that_is_answered_in_time(self):
        bar = self.bar(figure="knee", of="more/calls", to="full/clients", at_least=0.5)
        done = {"full/clients": report(100), "more@0.5/calls": report(49.6, offered=50),
                "more@2/calls": report(150, offered=200)}
        self.assertEqual(self.row(bar, done).ratio, "0.50")
        done["more@2/calls"] = report(199, offered=200)
        self.assertEqual(self.row(bar, done).ratio, "2.00")
        done = {**done, "more@0.5/calls": report(1, offered=50), "more@2/calls": report(1, offered=200)}
        self.assertFalse(self.row(bar, done).met)

    def test_wrong_answers_and_calls_without_an_ending_are_never_met(self):
        def honest(*reports):
            row, = lab_bars.honesty_rows(parsed(), [{str(index): one for index, one
                                                     in enumerate(reports)}])
            return row.met

        self.assertTrue(honest(report(1, errors={"RESOURCE_EXHAUSTED": 5}), report(1)))
        self.assertFalse(honest(report(1), report(1, wrong=1)))
        self.assertFalse(honest(report(1, errors={"CANCELLED": 1})))


class Pictures(unittest.TestCase):
    def test_a_scenario_has_its_sweep_its_time_and_its_figures(self):
        timeline = {"span_s": 0.1, "due": [], "good": [4, 5, 3], "other": []}
        done = {"full/clients": {**report(100), "timeline": timeline, "seconds": 0.3},
                "more@0.5/calls": report(50, offered=50),
                "more@2/calls": report(90, offered=200, errors={"RESOURCE_EXHAUSTED": 1234})}
        scenario = parsed()
        text = lab_pictures.section(scenario, [done], [done], lab_bars.rows_of(scenario, [done]))
        for words in ("full: good answers over time", "more: good answers over offered load, calls",
                      "more: latency over offered load, calls", "foretold by the simulator",
                      "1,234 RESOURCE_EXHAUSTED", "p99.9 ms"):
            self.assertIn(words, text)
        self.assertEqual(text.count("<svg"), 3)

    def test_a_window_has_its_whole_spans_whether_anything_happened_or_not(self):
        timeline = {"span_s": 0.5, "good": [4, 5, 1], "due": []}
        for seconds, values in ((1.2, [8, 10]), (2.1, [8, 10, 2, 0])):
            points = lab_pictures.per_second({"seconds": seconds, "timeline": timeline}, "good")
            self.assertEqual(points, [(0.25 + 0.5 * index, value)
                                      for index, value in enumerate(values)])


class Traces(unittest.TestCase):
    SHAPE = make_trace.Shape(functions=200, bins=600, calls=100, models=("a", "b"),
                             tenants=("x", "y"))

    def calls(self, key, **changes):
        """The calls by a column of the trace."""
        counts = collections.Counter()
        for row in make_trace.make(make_trace.Shape(**{**vars(self.SHAPE), **changes})):
            counts[row[key]] += row[4]
        return counts

    def test_has_as_many_calls_as_asked_for(self):
        for seed in range(1, 6):
            self.assertAlmostEqual(sum(self.calls(0, seed=seed).values()) / 600, 100, delta=25)

    def test_a_few_functions_have_most_of_the_calls(self):
        for seed in range(1, 6):
            counts = self.calls(1, seed=seed)
            top = sum(count for _, count in counts.most_common(20))
            self.assertGreater(top, 0.5 * sum(counts.values()))

    def test_rises_and_falls_with_the_day(self):
        counts = self.calls(0, seed=7, day=600)
        first, second = (sum(counts[index] for index in half)
                         for half in (range(300), range(300, 600)))
        self.assertGreater(first, 1.2 * second)

    def test_has_bursts_beyond_a_poisson_process(self):
        counts = self.calls(0, seed=2)
        mean = sum(counts.values()) / 600
        variance = sum((counts[index] - mean) ** 2 for index in range(600)) / 600
        self.assertGreater(variance, 5 * mean)

    def test_repeats_with_the_seed_and_differs_without(self):
        self.assertEqual(make_trace.make(self.SHAPE), make_trace.make(self.SHAPE))
        self.assertNotEqual(self.calls(0, seed=1), self.calls(0, seed=2))

    def test_is_of_all_models_and_tenants_bin_by_bin(self):
        rows = make_trace.make(self.SHAPE)
        self.assertEqual({row[2] for row in rows}, {"a", "b"})
        self.assertEqual({row[3] for row in rows}, {"x", "y"})
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        self.assertTrue(make_trace.csv(rows).startswith("bin,function,model,tenant,calls\n0,"))


if __name__ == "__main__":
    unittest.main()
