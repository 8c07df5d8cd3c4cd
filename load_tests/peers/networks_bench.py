#!/usr/bin/env python3
"""Networks on the daemon, beside libtorch and ONNX Runtime in loops that have no server.

Encoders for texts of one length each, and dense layers. A network has one core and one thread; the
daemon's front end and its clients have another core. The loops run with several numbers of rows,
and the best counts. The daemon batches requests of one row from clients in closed loops. Each round
measures the three one after the other. Exit status 0: every target is met; 1: one is not; 2: the
run failed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
import text_client  # noqa: E402
from bench_figures import Samples, at_least, table  # noqa: E402
from bench_processes import ONE_THREAD, Daemon, children, pin, run_json  # noqa: E402
from exports import export  # noqa: E402
from text_loads import Load, text_of  # noqa: E402

LIBTORCH, ONNXRUNTIME = "libtorch in a loop", "ONNX Runtime in a loop"
TARGETS = {LIBTORCH: 0.95, ONNXRUNTIME: 0.9}
LONGEST = 512  # tokens, as many as the network has positions for
TOLD_TOKENS = "sentence_bert_config.json"  # the file with a lower limit
TEXT_CLIENTS = 32
ROW_CLIENTS = 128
ONE_LANE = {"processes": 1, "lanes": 1, "threads": 1}
MLP_INPUT = 1024


@dataclass(frozen=True)
class Network:
    """A network, and the loops' numbers of rows."""

    title: str
    rows: tuple
    tokens: int = 0  # tokens of each text; 0: dense layers
    texts: int = 0   # texts of a pass

    @property
    def dims(self):
        """The dims of a row."""
        return self.tokens or MLP_INPUT

    @property
    def inputs(self):
        """The inputs for mpsd-bare-loop."""
        return [f"INT64[{self.dims}]"] * 3 if self.tokens else [f"FP32[{self.dims}]"]


NETWORKS = (Network("all-MiniLM-L6-v2, 16 tokens", (1, 8, 32), 16, 256),
            Network("128 tokens", (1, 4, 16), 128, 128),
            Network("512 tokens", (1, 4), 512, 32),
            Network("six layers of 1024", (1, 16, 64)))


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--models", default=f"{ROOT}/.deps/models", help="their folder")
    parser.add_argument("--peers", default=f"{ROOT}/.deps/peers",
                        help="the folder with the Python environments of the other servers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of each load and loop")
    parser.add_argument("--cores", default="0,1", help="of front end and clients, of the network")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    arguments = parser.parse_args()
    arguments.front, arguments.core = ({int(core)} for core in arguments.cores.split(","))
    return arguments


def with_longest_texts(encoder, folder):
    """A copy of the encoder's folder that takes as many tokens as the network can."""
    target = f"{folder}/{text_client.MODEL}"
    shutil.copytree(encoder, target)
    with open(f"{target}/{TOLD_TOKENS}", "w", encoding="utf-8") as file:
        json.dump({"max_seq_length": LONGEST}, file)
    return target


class Run:
    """All networks, in rounds. Used in a `with` block, which ends the daemon."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.samples = Samples()
        encoder, layers = f"{arguments.models}/minilm", f"{arguments.models}/mlp_1024x6.pt"
        exported = f"{arguments.peers}/networks"
        for source, script, target in ((encoder, "export_script.py", "minilm.pt"),
                                       (encoder, "export_onnx.py", "minilm.onnx"),
                                       (layers, "export_mlp.py", "mlp.onnx")):
            export(arguments, script, os.path.abspath(source), f"{exported}/{target}")
        # A network's TorchScript and ONNX files, by whether it has tokens.
        self.files = {True: (f"{exported}/minilm.pt", f"{exported}/minilm.onnx"),
                      False: (layers, f"{exported}/mlp.onnx")}
        self.daemon = Daemon(arguments.binaries, folder, [
            {"name": text_client.MODEL, "path": with_longest_texts(encoder, folder),
             "placement": ONE_LANE},
            {"name": "mlp", "path": os.path.abspath(layers), "placement": ONE_LANE}])
        pin(self.daemon.pid, arguments.front)
        for pid in children(self.daemon.pid):
            pin(pid, arguments.core)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.stop()

    def served(self, network):
        """Rows a second of the daemon."""
        if not network.tokens:
            report, right = run_json(
                [f"{self.arguments.binaries}/mpsd-bench", "--json", "--target", self.daemon.grpc,
                 "--model", "mlp", "--concurrency", str(ROW_CLIENTS), "--warmup", "500ms",
                 "--duration", f"{self.arguments.seconds * 1000:.0f}ms",
                 "--input", f"input:FP32[1,{MLP_INPUT}]=-1..1"], 120)
            if not right:
                raise RuntimeError(f"mpsd-bench: {report['errors']}, {report['wrong']} wrong")
            return report["throughput"]
        draw = random.Random(1)
        texts = tuple(text_of(network.tokens, draw) for _ in range(network.texts))
        load = Load(network.title, network.title, texts, clients=TEXT_CLIENTS)
        text_client.ask(self.daemon.http, replace(load, texts=texts[:TEXT_CLIENTS]))  # warm
        return text_client.measure(self.daemon.http, load, self.arguments.seconds).figures()[
            "texts_a_second"]

    def loops(self, network):
        """The rows a second of both loops, each by its settings."""
        script, onnx = self.files[bool(network.tokens)]
        rows, seconds = ",".join(map(str, network.rows)), str(self.arguments.seconds)
        command = [f"{self.arguments.binaries}/mpsd-bare-loop", "--model", script, "--runs", "1",
                   "--seconds", seconds, "--batches", rows]
        for text in network.inputs:
            command += ["--input", text]
        yield LIBTORCH, run_json(command, 300, self.arguments.core, ONE_THREAD)
        yield ONNXRUNTIME, run_json([f"{self.arguments.peers}/onnxruntime/bin/python",
                                     f"{HERE}/onnxruntime_loop.py", onnx, seconds, rows,
                                     str(network.dims)], 300, self.arguments.core)

    def round(self):
        """Everything, once."""
        for network in NETWORKS:
            served = self.served(network)
            for title, (report, right) in self.loops(network):
                if not right:
                    raise RuntimeError(f"{title}: {report}")
                best = max(report["samples_per_second"].values())
                self.samples.samples.setdefault((network.title, title), []).append(
                    {"served": served, "best": best, "settings": report["samples_per_second"]})

    def rows(self):
        """The rows of the table."""
        return [at_least("–", f"{network}: the daemon to {title}",
                         self.samples.values((network, title), "served"),
                         self.samples.values((network, title), "best"), TARGETS[title], " /s")
                for network, title in self.samples.samples]


def main():
    """Runs all rounds and prints the table."""
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which stops the daemon
    pin(os.getpid(), arguments.front)
    try:
        with tempfile.TemporaryDirectory(prefix="mpsd-networks-") as folder:
            with Run(arguments, folder) as run:
                for _ in range(arguments.rounds):
                    run.round()
    except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
        print(f"networks_bench: {error}", file=sys.stderr)
        return 2
    rows = run.rows()
    print(table(rows))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": [asdict(row) for row in rows],
                       "samples": [{"network": network, "beside": title, "rounds": rounds}
                                   for (network, title), rounds in run.samples.samples.items()]},
                      file, indent=1)
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
