#!/usr/bin/env python3
"""The cost of changing models while they serve: T14 (reload under load) and T15 (memory).

Needs tritonclient: run it with .deps/venv/bin/python. Exit status 0 if both are met, 1 if one is
not, 2 if the run itself failed.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
from bench_processes import Daemon, children  # noqa: E402
from bench_reloads import INTERVAL_S, RATE, Reloads, load, model, outcomes  # noqa: E402
import tritonclient.grpc as triton  # noqa: E402

MB = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin")
    parser.add_argument("--rounds", type=int, default=5, help="of T14, each without and with reloads")
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--rate", type=float, default=RATE, help="calls a second, Poisson arrivals")
    parser.add_argument("--interval", type=float, default=INTERVAL_S, help="seconds between two reloads")
    parser.add_argument("--cycles", type=int, default=1000, help="of T15: loads and unloads")
    return parser.parse_args()


def reload_under_load(arguments, folder):
    """Measures T14; returns whether it is met."""
    before, during, reloads = [], [], 0
    with Daemon(arguments.binaries, folder, [model("m")]) as daemon:
        def one():
            return load(arguments.binaries, daemon, arguments.seconds, arguments.rate)

        for _ in range(arguments.rounds):
            before.append(one())
            with Reloads(daemon, f"{folder}/mpsd.json", arguments.interval) as running:
                during.append(one())
            reloads += running.count
        done, refused = outcomes(daemon)
    failed = sum(count for part in before + during for count in part["failed"].values())
    answered = sum(part["answered"] for part in before + during)
    before, during = ([part["p99_us"] for part in parts] for parts in (before, during))
    ratio = statistics.median(during) / statistics.median(before)
    print(f"T14  {reloads} reloads asked for, {done} generations swapped in, {refused} refused, under "
          f"{arguments.rate:.0f} calls/s: {failed} of {answered} calls failed; p99 "
          f"{statistics.median(before):.0f} us before, {statistics.median(during):.0f} us during: "
          f"{ratio:.2f} x (at most 1.5; rounds {min(during):.0f} to {max(during):.0f} us)")
    return failed == 0 and done > 0 and refused == 0 and ratio <= 1.5


def footprint(pid):
    """The process's memory, without the segments."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file)
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass
    def kib(key):
        return int(status[key].split()[0])
    return {"MB": (kib("RssAnon") + kib("RssFile")) * 1024 / MB, "segments_MB":
            kib("RssShmem") * 1024 / MB, "descriptors": len(links), "memfds":
            sum("memfd:" in link for link in links), "threads": int(status["Threads"]),
            "workers": len(children(pid))}


def text(figures):
    return ", ".join(f"{value:.1f} {name}" if name.endswith("MB") else f"{value} {name}"
                     for name, value in figures.items())


def wait_for_end(daemon):
    end = time.monotonic() + 30
    while children(daemon.pid) and time.monotonic() < end:
        time.sleep(0.05)


def load_and_unload(arguments, folder):
    """Measures T15; returns whether it is met."""
    with Daemon(arguments.binaries, folder, [model("m")], name="cycles",
                model_control="explicit") as daemon:
        idle = footprint(daemon.pid)
        print(f"T15  idle with one model: {text(idle)} (at most 60 MB)", flush=True)
        client = triton.InferenceServerClient(daemon.grpc)
        client.unload_model("m")
        at = []
        for cycle in range(1, arguments.cycles + 1):
            client.load_model("m")
            client.unload_model("m")
            if cycle in (arguments.cycles // 10, arguments.cycles):
                wait_for_end(daemon)
                at.append(footprint(daemon.pid))
                print(f"T15  after {cycle} loads and unloads: {text(at[-1])}", flush=True)
    early, late = at
    flat = (late["MB"] <= early["MB"] * 1.05 + 1 and late["descriptors"] <= early["descriptors"] and
            late["memfds"] == 0 and late["workers"] == 0 and
            # gRPC's own threads come and go. A leak of one thread a cycle would make hundreds.
            late["threads"] <= early["threads"] + 4)
    print(f"T15  {'flat' if flat else 'NOT FLAT'}")
    return flat and idle["MB"] <= 60


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mpsd-bench-") as folder:
        met = [reload_under_load(arguments, folder), load_and_unload(arguments, folder)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        print(f"reload_bench: {error}", file=sys.stderr)
        sys.exit(2)
