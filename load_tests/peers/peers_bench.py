#!/usr/bin/env python3
"""The daemon beside other servers of PyTorch models, with the same model, clients and cores.

null returns 256 numbers as they came; mlp is six layers of Linear(1024) and ReLU. Each server has
one process for the model with one thread for it, and batches of at most 64. The servers run one
after the other, in each round; medians are compared. Exit status 2 when the run failed.
"""

import argparse
import http.client
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
import bench_http  # noqa: E402
from bench_figures import failures, median  # noqa: E402
from bench_processes import ONE_THREAD, Daemon, Process, free_port, run_json  # noqa: E402


@dataclass(frozen=True)
class Model:
    """A model that all servers serve."""

    name: str
    input: str
    output: str
    width: int
    file: str = ""


MODELS = (Model("identity", "INPUT0", "OUTPUT0", 256),
          Model("mlp", "input", "output", 1024, "mlp_1024x6.pt"))


@dataclass(frozen=True)
class Peer:
    """A server, and the ways into it that are measured."""

    title: str
    script: str  # empty: the daemon
    ways: tuple
    own_path: str = "/predict"


OURS = Peer("mpsd", "", ("json", "binary", "grpc"))
PEERS = (OURS,
         Peer("Triton, a model in Python (PyTriton)", "pytriton", ("json", "binary", "grpc")),
         Peer("MLServer", "mlserver", ("json", "grpc")),
         Peer("LitServe", "litserve", ("own",)),
         Peer("Ray Serve", "ray", ("own",)),
         Peer("TorchServe", "torchserve", ("own",), "/predictions/{}"))
WAYS = {"own": "HTTP, its own JSON", "json": "HTTP, the protocol's JSON",
        "binary": "HTTP, the protocol's binary tensors", "grpc": "gRPC"}
CLIENTS = (1, 64)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--models", default=f"{ROOT}/.deps/models")
    parser.add_argument("--peers", default=f"{ROOT}/.deps/peers",
                        help="a folder with a Python environment for each server")
    parser.add_argument("--only", help="these servers: mpsd, and names of folders there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each load")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    arguments = parser.parse_args()
    arguments.pin = None
    return arguments


def request_of(peer, model, way):
    """An inference of one row, as it goes over HTTP."""
    if way == "own":
        body = json.dumps({"input": bench_http.numbers(model.width)}).encode()
        return bench_http.HttpRequest(peer.own_path.format(model.name), body,
                                      {"Content-Type": "application/json"})
    if way == "json":
        return bench_http.json_request(model.name, model.width, model.input)
    return bench_http.binary_request(model.name, model.width, True, model.input)


def answer_of(server, peer, model, way):
    """The numbers that a server answers."""
    body = request_of(peer, model, way).ask(server.http)
    if way == "binary":
        return struct.unpack(f"<{model.width}f", body[-4 * model.width:])
    output = json.loads(body)
    return output["output"] if way == "own" else output["outputs"][0]["data"]


class PeerProcess(Process):
    """Another server with one model, answering."""

    def __init__(self, arguments, folder, peer, model):
        self.http, self.grpc = (f"127.0.0.1:{free_port()}" for _ in range(2))
        command = [f"{arguments.peers}/{peer.script}/bin/python", f"{HERE}/{peer.script}_server.py",
                   "--name", model.name, "--input", model.input, "--output", model.output,
                   "--width", str(model.width), "--http", self.http.rpartition(":")[2], "--grpc",
                   self.grpc.rpartition(":")[2], "--folder", tempfile.mkdtemp(dir=folder)]
        if model.file:
            command += ["--path", os.path.abspath(f"{arguments.models}/{model.file}")]
        begin = time.monotonic()
        super().__init__(command, f"{folder}/{peer.script}.log", {**os.environ, **ONE_THREAD})
        try:
            self.wait_for(lambda: answers(self, peer, model), 120, "answer", poll_s=0.2)
        except RuntimeError:
            self.stop()
            raise
        self.ready_s = time.monotonic() - begin


def answers(server, peer, model):
    """Whether a server answers already."""
    try:
        return bool(answer_of(server, peer, model, peer.ways[0]))
    except (RuntimeError, OSError, http.client.HTTPException):
        return False


def start(arguments, folder, peer, model):
    """The server with the model, ready."""
    if peer.script:
        return PeerProcess(arguments, folder, peer, model)
    config = {"name": model.name, "max_batch_size": 64,
              "placement": {"processes": 1, "lanes": 1, "threads": 1}}
    if model.file:
        config |= {"path": os.path.abspath(f"{arguments.models}/{model.file}"), "device": "cpu"}
    else:
        config |= {"format": "synthetic",
                   "inputs": [{"name": model.input, "datatype": "FP32", "shape": [model.width]}]}
    return Daemon(arguments.binaries, folder, [config])


class Run(bench_http.HttpLoads):
    """The loads of one server after the other."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.failed = []
        self.reference = {}  # of each model: what the first server answered
        self.samples = {}    # {(way, model, clients, server): [report of a round]}

    def check(self, server, peer, model, way):
        """The answer to a request must be what the first server answered."""
        numbers = answer_of(server, peer, model, way)
        wanted = self.reference.setdefault(model.name, numbers)
        if len(numbers) != len(wanted) or any(abs(a - b) > 1e-3 for a, b in zip(numbers, wanted)):
            raise RuntimeError(f"{server.command[1]}: a wrong answer of {model.name}: "
                               f"{len(numbers)} numbers, {numbers[:3]} for {wanted[:3]}")

    def load(self, server, peer, model, way, clients):
        """One load; the report has throughput, p50_us and p99_us."""
        if way != "grpc":
            self.check(server, peer, model, way)
            return self.wrk(server.http, request_of(peer, model, way), clients, server.pid)
        command = [f"{self.arguments.binaries}/mpsd-bench", "--json", "--target", server.grpc,
                   "--model", model.name, "--input", f"{model.input}:FP32[1,{model.width}]",
                   "--concurrency", str(clients), "--warmup", "500ms",
                   "--duration", f"{self.arguments.seconds * 1000:.0f}ms"]
        report, right = run_json(command, 120)
        if not right:
            self.failed.append({"command": command, "errors": report["errors"],
                                "wrong": report["wrong"]})
        return {"throughput": report["throughput"], "p50_us": report["latency_us"]["p50"],
                "p99_us": report["latency_us"]["p99"]}

    def measure(self, peer, model):
        """All ways into one server with one model."""
        with start(self.arguments, self.folder, peer, model) as server:
            print(f"  {peer.title}, {model.name}: ready after {server.ready_s:.1f} s",
                  file=sys.stderr, flush=True)
            for way in peer.ways:
                for clients in CLIENTS:
                    report = self.load(server, peer, model, way, clients)
                    key = (way, model.name, clients, peer.title)
                    self.samples.setdefault(key, []).append(report)

    def value(self, key, figure):
        """The median of the rounds."""
        return median([report[figure] for report in self.samples[key]])


def times(value):
    """How many times as much, or nothing where nothing is compared."""
    return f"{value:.1f}" if value else "–"


def ours_for(run, way, model, clients):
    """The daemon's answers a second over the way that a client of this one would take."""
    key = ("json" if way == "own" else way, model, clients, OURS.title)
    return run.value(key, "throughput") if key in run.samples else None


def table(run):
    """The figures in Markdown, by way and model."""
    lines = ["| way in | model | server | c=1, a second | p50 | mpsd has | c=64, a second | p50 | p99 "
             "| mpsd has |", "|" + "---|" * 10]
    cases = sorted({key[:2] + key[3:] for key in run.samples},
                   key=lambda case: (list(WAYS).index(case[0]), case[1], case[2] != OURS.title))
    for way, model, title in cases:
        cells = [WAYS[way], model, title]
        for clients in CLIENTS:
            key = (way, model, clients, title)
            rate = run.value(key, "throughput")
            cells += [f"{rate:,.0f}", f"{run.value(key, 'p50_us') / 1e3:.2f} ms"]
            if clients > 1:
                cells.append(f"{run.value(key, 'p99_us') / 1e3:.2f} ms")
            ours = ours_for(run, way, model, clients)
            cells.append("–" if title == OURS.title else f"{times(ours and ours / rate)} ×")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def chosen(arguments):
    """The servers of this run; one whose environment is missing is left out by name."""
    wanted = arguments.only.split(",") if arguments.only else None
    peers = []
    for peer in PEERS:
        if wanted and (peer.script or "mpsd") not in wanted:
            continue
        if peer.script and not os.path.exists(f"{arguments.peers}/{peer.script}/bin/python"):
            print(f"left out: {peer.title}: not in {arguments.peers}", file=sys.stderr)
            continue
        peers.append(peer)
    return peers


def main():
    """Runs all rounds and prints the table."""
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mpsd-peers-") as folder:
        run = Run(arguments, folder)
        try:
            for index in range(arguments.rounds):
                print(f"round {index + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
                for peer in chosen(arguments):
                    for model in MODELS:
                        run.measure(peer, model)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
            print(f"peers_bench: {error}", file=sys.stderr)
            return 2
    print(table(run))
    print(failures(run.failed), end="")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump([{"way": way, "model": model, "clients": clients, "server": title,
                        "rounds": reports}
                       for (way, model, clients, title), reports in run.samples.items()],
                      file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
