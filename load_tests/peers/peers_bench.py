#!/usr/bin/env python3
"""The daemon beside other servers of PyTorch models, with the same model, clients and cores.

identity returns its 256 numbers; mlp is six layers of Linear(1024) and ReLU; minilm is
all-MiniLM-L6-v2 over rows of 16 tokens, as TorchScript. Each server has one process with one thread
for the model, and batches of at most 64. In each round the servers run one after the other, the
daemon last. The daemon also runs closed loops of more clients, to find its rate within each
server's p99, and each server's load. Medians are compared. Exit status 2 if the run failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
import bench_http  # noqa: E402
from bench_figures import failures  # noqa: E402
from bench_processes import ONE_THREAD, run_json  # noqa: E402
from exports import export  # noqa: E402
from open_loop import OpenLoop, arrivals  # noqa: E402
from peer_requests import IDENTITY, MINILM, MLP, whole_request  # noqa: E402
from peer_rows import (FEW, LOOP, LOOP_WAY, MANY, Figures, closed_table, equal_table,  # noqa: E402
                       our_way)
from peer_servers import OTHERS, OURS, start  # noqa: E402
from text_loads import quantile  # noqa: E402

MORE_CLIENTS = (16, 128, 256)  # for the daemon; more would not fit its queue
EQUAL_LOAD = 0.7    # part of the other server's closed-loop rate
EQUAL_CALLS = 400   # least number of calls for a p99
LONGEST_EQUAL_S = 8
SEED = 1


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--models", default=f"{ROOT}/.deps/models")
    parser.add_argument("--peers", default=f"{ROOT}/.deps/peers",
                        help="a folder with a Python environment for each server")
    parser.add_argument("--only", help="mpsd beside these servers alone: names of folders there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each load")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    arguments = parser.parse_args()
    arguments.pin = None
    return arguments


def find_models(arguments):
    """The models of this run, with their files in `arguments.files`. Names and leaves out a model
    whose file cannot be made here."""
    arguments.files = {MLP.name: os.path.abspath(f"{arguments.models}/{MLP.file}"),
                       MINILM.name: os.path.abspath(f"{arguments.peers}/networks/{MINILM.file}")}
    if not os.path.exists(f"{arguments.peers}/sentence-transformers/bin/python"):
        print(f"left out: {MINILM.name}: sentence-transformers, which makes its file, is not in "
              f"{arguments.peers}", file=sys.stderr)
        return (IDENTITY, MLP)
    export(arguments, "export_rows.py", os.path.abspath(f"{arguments.models}/minilm"),
           arguments.files[MINILM.name])
    return (IDENTITY, MLP, MINILM)


class Run(bench_http.HttpLoads):
    """The loads of one server after the other."""

    def __init__(self, arguments, folder, models):
        self.arguments, self.folder, self.models = arguments, folder, models
        self.failed = []
        self.reference = {}  # by model: the first server's answer
        self.figures = Figures()

    def check(self, server, peer, model):
        """Checks that the answers equal the first server's."""
        for way in peer.ways:
            if way == "grpc":
                continue
            numbers = peer.ask(server, way, model)
            wanted = self.reference.setdefault(model.name, numbers)
            if len(numbers) != len(wanted) or any(
                    abs(a - b) > 1e-3 for a, b in zip(numbers, wanted)):
                raise RuntimeError(f"{peer.title}: an answer of {model.name} that is not another "
                                   f"server's: {numbers[:3]} for {wanted[:3]}")

    def generate(self, server, model, *flags):
        """A load over gRPC."""
        command = [f"{self.arguments.binaries}/mpsd-bench", "--json", "--target", server.grpc,
                   "--model", model.name, "--input", model.generator_input(), "--warmup", "500ms",
                   "--verify-near", *flags]
        report, _ = run_json(command, 120)
        not_sent = report.get("not_sent", 0)  # in an open loop the last call may be late
        if report["errors"] or report["wrong"] or not_sent > 1:
            self.failed.append({"command": command, "wrong": report["wrong"],
                                "errors": report["errors"] | {"not sent": not_sent}})
        return {"throughput": report["throughput"], "p50_us": report["latency_us"]["p50"],
                "p99_us": report["latency_us"]["p99"]}

    def closed_loop(self, server, peer, model, way, clients):
        """Its report."""
        if way == "grpc":
            return self.generate(server, model, "--concurrency", str(clients), "--duration",
                                 f"{self.arguments.seconds * 1000:.0f}ms")
        return self.wrk(server.http, peer.request(way, model), clients, server.pid)

    def open_loop(self, server, peer, model, way, rate):
        """The report of an open loop: `rate` calls a second at random times."""
        seconds = min(max(self.arguments.seconds, EQUAL_CALLS / rate), LONGEST_EQUAL_S)
        if way == "grpc":
            report = self.generate(server, model, "--rate", f"{rate:.2f}", "--duration",
                                   f"{seconds * 1000:.0f}ms", "--seed", str(SEED))
            return {"rate": rate, "p99_us": report["p99_us"]}
        request = whole_request(server.http, peer.request(way, model))
        with OpenLoop(server.http, request) as loop:
            latencies = sorted(loop.run(arrivals(rate, max(int(rate * seconds), 1), SEED)))
        return {"rate": rate, "p99_us": 1e6 * quantile(latencies, 0.99)}

    def add_closed(self, server, peer, model, way, clients):
        """Measures a closed loop; returns its answers a second."""
        report = self.closed_loop(server, peer, model, way, clients)
        self.figures.closed.setdefault((way, model.name, peer.title, clients), []).append(report)
        return report["throughput"]

    def add_equal(self, server, peer, model, way, other, rate):
        """Measures this server under the load of `other`."""
        self.figures.equal.setdefault((way, model.name, other.title, peer.title), []).append(
            self.open_loop(server, peer, model, our_way(way) if peer is OURS else way, rate))

    def measure_other(self, peer, model):
        """Measures all ways into one server with one model; returns the loads for the daemon."""
        loads = []
        with self.started(peer, model) as server:
            self.check(server, peer, model)
            for way in peer.ways:
                self.add_closed(server, peer, model, way, FEW)
                rate = EQUAL_LOAD * self.add_closed(server, peer, model, way, MANY)
                self.add_equal(server, peer, model, way, peer, rate)
                loads.append((way, peer, rate))
        return loads

    def measure_ours(self, model, loads):
        """Measures all ways into the daemon, also under the others' loads."""
        with self.started(OURS, model) as server:
            self.check(server, OURS, model)
            for way in OURS.ways:
                for clients in (FEW, MANY, *MORE_CLIENTS):
                    self.add_closed(server, OURS, model, way, clients)
            for way, other, rate in loads:
                self.add_equal(server, OURS, model, way, other, rate)

    def measure_loop(self, model):
        """Measures the model without a server."""
        if not model.file:
            return
        report, _ = run_json(
            [f"{self.arguments.binaries}/mpsd-bare-loop", "--model",
             self.arguments.files[model.name], "--input", model.loop_input(), "--batches",
             f"{FEW},{MANY}", "--runs", "1", "--seconds", str(self.arguments.seconds)], 120,
            env=ONE_THREAD)
        for rows in (FEW, MANY):
            self.figures.closed.setdefault((LOOP_WAY, model.name, LOOP, rows), []).append(
                {"throughput": report["samples_per_second"][str(rows)], "p50_us": 0, "p99_us": 0})

    def started(self, peer, model):
        """The server, ready."""
        server = start(self.arguments, self.folder, peer, model)
        print(f"  {peer.title}, {model.name}: ready after {server.ready_s:.1f} s",
              file=sys.stderr, flush=True)
        return server

    def round(self, others):
        """Everything, once."""
        for model in self.models:
            self.measure_loop(model)
            loads = [load for peer in others for load in self.measure_other(peer, model)]
            self.measure_ours(model, loads)


def chosen(arguments):
    """The other servers of this run; names and leaves out servers without an environment."""
    wanted = arguments.only.split(",") if arguments.only else None
    peers = []
    for peer in OTHERS:
        if wanted and peer.script not in wanted:
            continue
        if not os.path.exists(f"{arguments.peers}/{peer.script}/bin/python"):
            print(f"left out: {peer.title}: not in {arguments.peers}", file=sys.stderr)
            continue
        peers.append(peer)
    return peers


def samples(figures):
    """All measurements, for a file of JSON."""
    closed = [{"way": way, "model": model, "server": server, "clients": clients, "rounds": reports}
              for (way, model, server, clients), reports in figures.closed.items()]
    equal = [{"way": way, "model": model, "load_of": other, "server": server, "rounds": reports}
             for (way, model, other, server), reports in figures.equal.items()]
    return {"closed": closed, "equal": equal}


def main():
    """Runs all rounds and prints the tables."""
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mpsd-peers-") as folder:
        try:
            run = Run(arguments, folder, find_models(arguments))
            for index in range(arguments.rounds):
                print(f"round {index + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
                run.round(chosen(arguments))
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError, KeyError) as error:
            print(f"peers_bench: {error}", file=sys.stderr)
            return 2
    print(f"{closed_table(run.figures)}\n\n{equal_table(run.figures)}")
    print(failures(run.failed), end="")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(samples(run.figures), file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
