#!/usr/bin/env python3
"""The config that `mpsd tune` finds, beside the best config that a person finds by trying.

By hand: each placement of processes, lanes and threads that fills the cores, and the one that
leaves a core to the front end. Then the best three with a quarter and four times the rows of a
batch. Each is measured by `mpsd bench --slo`. Then the best config by hand and the tuned one are
measured in turn, round by round, and their medians compared. Exit status 0 if the tuned config
serves at least as much, within the difference of the rounds; 1 if it does not, 2 if the run failed.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
from bench import model_file  # noqa: E402
from bench_figures import median, spread  # noqa: E402
from bench_processes import Daemon, run_json  # noqa: E402

BEST_BY_HAND = 3  # placements that are tried with other batches
MOST_ROWS = 1024  # a config takes no more
# Flags for the requests of `bench` and `tune` where arbitrary numbers do not fit.
INPUTS = {"mlp": [], "minilm": ["--input", "input_ids=0..20000", "--input", "attention_mask=1"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin")
    parser.add_argument("--models", default=f"{HERE}/../../.deps/models")
    parser.add_argument("--model", choices=("mlp", "minilm"), default="mlp")
    parser.add_argument("--slo", default="p99=20ms")
    parser.add_argument("--seconds", type=float, default=1.5, help="of each load")
    parser.add_argument("--budget", default="5m", help="of the search of `tune`")
    parser.add_argument("--rounds", type=int, default=3, help="of the comparison at the end")
    parser.add_argument("--json", metavar="FILE", help="write all that was found there")
    return parser.parse_args()


def stanza_of(arguments, folder):
    """The model as a user writes it, with the placement left to mpsd."""
    name = {"mlp": "mlp_1024x6.pt", "minilm": "minilm"}[arguments.model]
    path = model_file(arguments, folder, name)
    return {"name": arguments.model, "path": path, "device": "cpu", "max_batch_size": 64}


def powers_to(most):
    return [2 ** n for n in range(most.bit_length())]


def placements(cores):
    """The placements (processes, lanes, threads) that fill the cores, and lanes on all cores but
    one."""
    spared = [(1, cores - 1, 1)] if cores > 2 else []
    return spared + [(processes, lanes, cores // (processes * lanes))
                     for processes in powers_to(cores) for lanes in powers_to(cores // processes)]


def with_placement(stanza, placement, rows):
    changed = copy.deepcopy(stanza)
    changed["placement"] = dict(zip(("processes", "lanes", "threads"), placement))
    changed["max_batch_size"] = rows
    return changed


class Contest:
    """One run, in a folder of its own."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.found = {}  # {config's text: [requests a second]}

    def knee(self, stanza):
        """How many requests a second the config serves within the SLO; 0: none."""
        with Daemon(self.arguments.binaries, self.folder, [stanza]) as daemon:
            report, _ = run_json([f"{self.arguments.binaries}/mpsd", "bench", stanza["name"],
                                  "--address", daemon.grpc, "--slo", self.arguments.slo,
                                  "--clients", "16", "--seconds", str(self.arguments.seconds),
                                  "--json", *INPUTS[stanza["name"]]], 180)
        rate = report["knee"]["answered"] if report["knee"] else 0
        self.found.setdefault(text_of(stanza), []).append(rate)
        print(f"{text_of(stanza):36} {rate:9.1f} /s", flush=True)
        return rate

    def by_hand(self, stanza):
        """The best config of a person's grid."""
        rows = stanza["max_batch_size"]
        tried = []
        for placement in placements(len(os.sched_getaffinity(0))):
            config = with_placement(stanza, placement, rows)
            tried.append((self.knee(config), placement, config))
        tried.sort(key=lambda entry: -entry[0])
        for _, placement, _ in tried[:BEST_BY_HAND]:
            for more in (max(rows // 4, 1), min(rows * 4, MOST_ROWS)):
                config = with_placement(stanza, placement, more)
                tried.append((self.knee(config), placement, config))
        return max(tried, key=lambda entry: entry[0])[2]

    def tuned(self, stanza):
        """The stanza that `mpsd tune` writes, verified by itself; and its report."""
        config, output = f"{self.folder}/given.json", f"{self.folder}/tuned.json"
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"models": [stanza]}, file)
        report, verified = run_json(
            [f"{self.arguments.binaries}/mpsd", "tune", stanza["name"], "--config", config,
             "--slo", self.arguments.slo, "--seconds", str(self.arguments.seconds), "--budget",
             self.arguments.budget, "--output", output, "--json", *INPUTS[stanza["name"]]], 1200)
        if report["best"] is None:
            raise RuntimeError("no candidate of tune meets the SLO")
        seen = report["verified"]
        print(f"tune: {len(report['candidates'])} candidates; verified at "
              f"{seen['offered']:.0f} /s: p99 {seen['p99_ms']:.1f} ms, "
              f"{'holds' if verified else 'DOES NOT HOLD'}", flush=True)
        with open(output, encoding="utf-8") as file:
            return json.load(file)["models"][0], report

    def compare(self, hand, tuned):
        """The knees of both configs, measured in turn."""
        if text_of(hand) == text_of(tuned):
            return [1.0], [1.0]
        rounds = [(self.knee(hand), self.knee(tuned)) for _ in range(self.arguments.rounds)]
        return [pair[0] for pair in rounds], [pair[1] for pair in rounds]


def text_of(stanza):
    placement = stanza.get("placement", {})
    shape = " x ".join(str(placement.get(key, "auto")) for key in ("processes", "lanes", "threads"))
    return f"{shape}, batch {stanza['max_batch_size']}"


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mpsd-tune-bench-") as folder:
        contest = Contest(arguments, folder)
        try:
            stanza = stanza_of(arguments, folder)
            tuned, report = contest.tuned(stanza)
            hand = contest.by_hand(stanza)
            print("in turn, by hand and tuned:")
            of_hand, of_tuned = contest.compare(hand, tuned)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
            print(f"tune_bench: {error}", file=sys.stderr)
            return 2
    ratio = median(of_tuned) / median(of_hand)
    noise = max(spread(of_hand), spread(of_tuned)) / 2
    as_good = ratio >= 1 - noise
    print(f"by hand {text_of(hand)}; tuned {text_of(tuned)}: {ratio:.2f} of it "
          f"(± {noise:.0%}): {'as good' if as_good else 'NOT AS GOOD'}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"found": contest.found, "tune": report, "hand": of_hand, "tuned": of_tuned},
                      file, indent=1)
    return 0 if as_good else 1


if __name__ == "__main__":
    sys.exit(main())
