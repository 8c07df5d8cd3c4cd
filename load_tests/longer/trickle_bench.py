#!/usr/bin/env python3
"""The cost of trickling connections for a good client: its latency alone, and beside 500 of them.

Each sends a byte a second: of its handshake, of a call's headers, or of a message. If the daemon
ends one, it begins anew. The good client sends Poisson arrivals, and a closed loop of one, in turn
without and beside the others. Medians of the rounds are compared. Exit status 0: the p99 beside
them is less than twice the p99 alone; 1: it is not; 2: the run failed.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
sys.path.insert(0, f"{HERE}/../../tests/support")
from bench_figures import median, spread  # noqa: E402
from bench_processes import Daemon, run_json  # noqa: E402
from tricklers import Tricklers  # noqa: E402

MODEL = {"name": "identity", "format": "synthetic", "max_batch_size": 64,
         "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [256]}],
         "placement": {"processes": 1, "lanes": 1}}
TARGET = 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--period", type=float, default=1, help="seconds between their bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="of each load")
    parser.add_argument("--rate", type=float, default=1000, help="calls a second")
    return parser.parse_args()


def load(arguments, daemon, *how):
    """The good client's {p50, p99} in us; each call must be answered."""
    command = [f"{arguments.binaries}/mpsd-bench", "--json", "--target", daemon.grpc, "--model",
               "identity", "--input", "INPUT0:FP32[1,256]", "--duration",
               f"{arguments.seconds * 1000:.0f}ms", "--warmup", "500ms", "--verify-identity", *how]
    figures, _ = run_json(command, arguments.seconds + 60)
    if figures["errors"] or figures["wrong"] or not figures["answered"]:
        raise RuntimeError(f"calls failed: {figures}")
    return figures["latency_us"]


def measure(arguments, folder):
    """Returns {load: {tricklers: [latencies of a round]}}, and how many connections the daemon
    ended."""
    loads = {f"{arguments.rate:g} calls a second": ("--rate", f"{arguments.rate}"),
             "one call after the other": ("--concurrency", "1")}
    samples = {name: {False: [], True: []} for name in loads}
    ended = 0
    with Daemon(arguments.binaries, folder, [MODEL]) as daemon:
        for _ in range(arguments.rounds):
            for name, how in loads.items():
                for beside in (False, True):
                    with contextlib.ExitStack() as stack:
                        if beside:
                            tricklers = stack.enter_context(Tricklers(
                                daemon.grpc, arguments.connections, arguments.period, again=True))
                        samples[name][beside].append(load(arguments, daemon, *how))
                        if beside:
                            ended += len(tricklers.ended)
    return samples, ended


def main():
    arguments = parse_arguments()
    print(f"load average before: {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="mpsd-trickle-bench-") as folder:
        try:
            samples, ended = measure(arguments, folder)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
            print(f"trickle_bench: {error}", file=sys.stderr)
            return 2
    print(f"| a good client, 1 kB | alone: p50, p99 | beside {arguments.connections} that trickle |"
          " p99 to alone | range of p99, alone and beside | target | verdict |")
    print("|---|---|---|---|---|---|---|")
    met = True
    for name, sides in samples.items():
        p50, p99 = ({beside: median([latencies[key] for latencies in rounds])
                     for beside, rounds in sides.items()} for key in ("p50", "p99"))
        ranges = [spread([latencies["p99"] for latencies in sides[beside]]) * 100
                  for beside in (False, True)]
        ratio = p99[True] / p99[False]
        met = met and ratio < TARGET
        print(f"| {name} | {p50[False]:.0f}, {p99[False]:.0f} us | {p50[True]:.0f}, "
              f"{p99[True]:.0f} us | {ratio:.2f} | {ranges[0]:.0f}, {ranges[1]:.0f} % | < {TARGET} | "
              f"{'met' if ratio < TARGET else 'NOT MET'} |")
    print(f"connections that the daemon ended meanwhile: {ended}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
