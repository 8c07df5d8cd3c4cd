#!/usr/bin/env python3
"""The daemon as perf_analyzer and ghz measure it, next to the ceilings of this machine.

Null is the identity of [1,256] FP32; MLP is six layers of Linear(1024) and ReLU, one lane of one
thread, at most 64 rows a batch. The ceilings are the raw gRPC echo under mpsd-bench and the bare
loop. Everything is run in turn, round by round, for six seconds each. The best of the rounds is
printed, then the median. Missing clients are left out. Exit status 2 if the run failed.
"""

import argparse
import csv
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
from bench_figures import median  # noqa: E402
from bench_processes import ONE_THREAD, Daemon, Echo, run_json  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
ONE_LANE = {"processes": 1, "lanes": 1, "threads": 1}
NULL, MLP = "identity", "mlp"
COLUMNS = ((NULL, 1), (NULL, 64), (MLP, 64))  # model, calls open at a time
SIZES = {NULL: ("INPUT0", 256), MLP: ("input", 1024)}
WINDOWS = 3  # windows of perf_analyzer


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--clients", default=f"{ROOT}/.deps/clients")
    parser.add_argument("--models", default=f"{ROOT}/.deps/models")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6, help="of each load")
    return parser.parse_args()


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def request_bytes(model):
    """A ModelInferRequest with raw contents, as ghz sends it."""
    name, width = SIZES[model]
    tensor = field(1, name.encode()) + field(2, b"FP32") + field(3, varint(1) + varint(width))
    return field(1, model.encode()) + field(5, tensor) + field(
        7, struct.pack(f"<{width}f", *(i / width for i in range(width))))


def figures(rate, p50_ms, p99_ms):
    return {"rate": rate, "p50_ms": p50_ms, "p99_ms": p99_ms}


class Bench:
    """The clients; each runs one load and returns its figures."""

    def __init__(self, arguments, folder, daemon, echo):
        self._arguments = arguments
        self._folder = folder
        self._daemon = daemon
        self._echo = echo
        self._programs = {name: path for name in ("perf_analyzer", "ghz")
                          for path in sorted(glob.glob(f"{arguments.clients}/{name}-*/{name}"))}

    def loads(self):
        """{client: function that loads the daemon}, for the installed clients."""
        others = {"perf_analyzer": self.perf_analyzer, "ghz": self.ghz}
        return {"mpsd-bench": self.bench,
                **{name: others[name] for name in others if name in self._programs}}

    def own(self, target, model, concurrency, *more):
        name, width = SIZES[model]
        report, right = run_json(
            [f"{self._arguments.binaries}/mpsd-bench", "--json", "--target", target, "--model",
             model, "--input", f"{name}:FP32[1,{width}]", "--concurrency", str(concurrency),
             "--duration", f"{self._arguments.seconds * 1000:.0f}ms", "--warmup", "500ms", *more],
            self._arguments.seconds + 60)
        if not right:
            raise RuntimeError(f"calls failed: {report}")
        latency = report["latency_us"]
        return figures(report["throughput"], latency["p50"] / 1000, latency["p99"] / 1000)

    def echo(self, concurrency):
        return self.own(self._echo.address, NULL, concurrency, "--echo")

    def bench(self, model, concurrency):
        return self.own(self._daemon.grpc, model, concurrency)

    def run(self, command):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=self._arguments.seconds * WINDOWS + 120)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def perf_analyzer(self, model, concurrency):
        report = f"{self._folder}/perf.csv"
        self.run([self._programs["perf_analyzer"], "-m", model, "-u", self._daemon.grpc, "-i",
                  "grpc", "--concurrency-range", str(concurrency), "--measurement-interval",
                  f"{self._arguments.seconds * 1000 / WINDOWS:.0f}", "-r", str(WINDOWS), "-s", "999",
                  "-f", report])
        with open(report, newline="", encoding="utf-8") as file:
            row, = csv.DictReader(file)
        return figures(float(row["Inferences/Second"]), float(row["p50 latency"]) / 1000,
                       float(row["p99 latency"]) / 1000)

    def ghz(self, model, concurrency):
        body = f"{self._folder}/{model}.bin"
        with open(body, "wb") as file:
            file.write(request_bytes(model))
        report = json.loads(self.run(
            [self._programs["ghz"], "--insecure", "--proto", f"{ROOT}/proto/inference.proto",
             "--import-paths", ROOT, "--call", "inference.GRPCInferenceService.ModelInfer", "-B",
             body, "-c", str(concurrency), "-z", f"{self._arguments.seconds:g}s",
             "--duration-stop", "wait", "-O", "json", self._daemon.grpc]))
        if set(report["statusCodeDistribution"]) != {"OK"}:
            raise RuntimeError(f"calls failed: {report['statusCodeDistribution']}")
        latency = {at["percentage"]: at["latency"] / 1e6 for at in report["latencyDistribution"]}
        return figures(report["rps"], latency[50], latency[99])

    def bare_loop(self):
        """Rows a second of the model alone, by batch size."""
        report, _ = run_json(
            [f"{self._arguments.binaries}/mpsd-bare-loop", "--model", self._arguments.mlp, "--runs",
             "1", "--seconds", f"{self._arguments.seconds / 4:g}", "--batches", "1,32,64", "--input",
             "FP32[1024]"], 120, env=ONE_THREAD)
        return {int(rows): rate for rows, rate in report["samples_per_second"].items()}


def measure(arguments, folder):
    """Returns {row of the table: {column: [figures of a round]}}, and the bare loop's rounds."""
    models = [{"name": NULL, "format": "synthetic", "max_batch_size": 64, "placement": ONE_LANE,
               "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [256]}]},
              {"name": MLP, "path": arguments.mlp, "max_batch_size": 64,"placement": ONE_LANE,
               "device": "cpu"}]
    samples, loops = {}, []
    with Daemon(arguments.binaries, folder, models) as daemon, \
            Echo(arguments.binaries, folder) as echo:
        bench = Bench(arguments, folder, daemon, echo)
        for _ in range(arguments.rounds):
            loops.append(bench.bare_loop())
            for concurrency in (1, 64):
                keep(samples, "raw gRPC echo, mpsd-bench", (NULL, concurrency),
                     bench.echo(concurrency))
            for name, load in bench.loads().items():
                for column in COLUMNS:
                    keep(samples, f"mpsd, {name}", column, load(*column))
    return samples, loops


def keep(samples, row, column, figures_of_a_round):
    samples.setdefault(row, {}).setdefault(column, []).append(figures_of_a_round)


def cell(rounds, key, better, text):
    """The best of the rounds, and their median."""
    if not rounds:
        return "–"
    values = [figures_of_a_round[key] for figures_of_a_round in rounds]
    return f"{text(better(values))} ({text(median(values))})"


def print_table(samples, loops):
    def milliseconds(value):
        return f"{value:.2f}" if value < 10 else f"{value:.1f}"

    def rate(value):
        return f"{value:,.0f}"

    print("| server, client | null c=1 p50, ms | null c=64, /s | MLP c=64, /s | MLP c=64 p99, ms |")
    print("|---|---|---|---|---|")
    loop = ", ".join(f"{rate(max(rates[rows] for rates in loops))} (b={rows})"
                     for rows in sorted(loops[0], reverse=True))
    print(f"| bare TorchScript loop, one thread | – | – | {loop} | – |")
    for row, columns in samples.items():
        print(f"| {row} | {cell(columns.get((NULL, 1)), 'p50_ms', min, milliseconds)} | "
              f"{cell(columns.get((NULL, 64)), 'rate', max, rate)} | "
              f"{cell(columns.get((MLP, 64)), 'rate', max, rate)} | "
              f"{cell(columns.get((MLP, 64)), 'p99_ms', min, milliseconds)} |")


def main():
    arguments = parse_arguments()
    arguments.mlp = os.path.abspath(f"{arguments.models}/mlp_1024x6.pt")
    print(f"load average before: {os.getloadavg()[0]:.2f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mpsd-clients-bench-") as folder:
        try:
            samples, loops = measure(arguments, folder)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError, ValueError) as error:
            print(f"clients_bench: {error}", file=sys.stderr)
            return 2
    print_table(samples, loops)
    return 0


if __name__ == "__main__":
    sys.exit(main())
