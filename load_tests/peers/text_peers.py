#!/usr/bin/env python3
"""A model of texts on the daemon and on other servers, over HTTP, with the same client and cores.

The model is all-MiniLM-L6-v2 in FP32. All servers run at once, on the same two cores as the client,
and are measured one after the other in each round. Before the rounds each server must answer some
texts; the table says how far its numbers are from sentence-transformers'. Exit status 0: every
target is met; 1: one is not; 2: the run failed.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
import text_rows  # noqa: E402
from bench_figures import Samples, table  # noqa: E402
from exports import export  # noqa: E402
from text_loads import farthest, make_loads, mean_tokens  # noqa: E402
from text_servers import BARE, ENTRIES, MPSD, PLACED, bare_loop  # noqa: E402

FAILURES = (RuntimeError, OSError, subprocess.SubprocessError, KeyError, ValueError)
PHASES = {1: (text_rows.SHORT,), 2: (text_rows.SHORT, text_rows.MIXED, text_rows.MANY)}


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--model", default=f"{ROOT}/.deps/models/minilm", help="its folder")
    parser.add_argument("--peers", default=f"{ROOT}/.deps/peers",
                        help="a folder with a Python environment for each server")
    parser.add_argument("--only", help="servers whose titles begin with one of these, by commas")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3,
                        help="of each load, which then ends its pass over the texts")
    parser.add_argument("--minutes", type=float, default=8,
                        help="no round begins that is not expected to end by then")
    parser.add_argument("--seed", type=int, default=1, help="of the texts")
    parser.add_argument("--cores", default="0,1", help="those of all processes")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    arguments = parser.parse_args()
    arguments.exported = f"{arguments.peers}/minilm"
    return arguments


def export_onnx(arguments):
    """Makes a copy of the model's folder with an ONNX file, for servers that need one."""
    os.makedirs(arguments.exported, exist_ok=True)
    for name in os.listdir(arguments.model):
        with contextlib.suppress(FileExistsError):
            os.symlink(os.path.abspath(f"{arguments.model}/{name}"), f"{arguments.exported}/{name}")
    export(arguments, "export_onnx.py", arguments.model, f"{arguments.exported}/onnx/model.onnx")


class Run:
    """All servers through all loads."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.begin = time.monotonic()
        self.loads = make_loads(arguments.seed)
        self.samples = Samples()
        self.farthest = {}   # by title
        self.wanted = {}     # by texts: vectors of the first server
        self.left_out = {}   # why, by title
        self.rounds = {}     # by threads

    def say(self, text):
        """Prints a line on stderr."""
        print(f"{time.monotonic() - self.begin:5.0f} s  {text}", file=sys.stderr, flush=True)

    def leave_out(self, title, why):
        """Reports that a server is left out, and why. A failure of our own server ends the run."""
        if title in (MPSD, PLACED):
            raise RuntimeError(f"{title}: {why}")
        self.left_out[title] = str(why).strip()[-1000:]
        self.say(f"left out: {title}: {self.left_out[title]}")

    def export(self):
        """Exports ONNX; without it leaves out the servers that need it."""
        try:
            export_onnx(self.arguments)
        except FAILURES as error:
            for entry in ENTRIES:
                if entry.needs_onnx:
                    self.leave_out(entry.title, f"export_onnx.py: {error}")

    def chosen(self, threads):
        """The servers of a phase; names and leaves out servers that are not installed."""
        wanted = self.arguments.only.split(",") if self.arguments.only else [""]
        for entry in ENTRIES:
            if threads not in entry.threads or not entry.title.startswith(tuple(wanted)):
                continue
            if entry.title in self.left_out:
                continue
            program = f"{self.arguments.peers}/{entry.program}"
            if entry.program and not os.path.exists(program):
                self.leave_out(entry.title, f"there is no {program}")
                continue
            yield entry

    def start(self, entry, threads, stack):
        """Starts and checks the server; None if it does not start or answer."""
        server = None
        try:
            server = entry.start(self.arguments, self.folder, threads)
            stack.callback(server.stop)
            self.say(f"{entry.title}, threads: {threads}: ready after {server.ready_s:.1f} s")
            for name in PHASES[threads]:
                load = self.loads[name].sample()
                vectors = server.vectors(load)
                distance = farthest(vectors, self.wanted.setdefault(load.texts, vectors))
                self.farthest[entry.title] = max(distance, self.farthest.get(entry.title, 0))
        except FAILURES as error:
            self.leave_out(entry.title, error)
            return None
        return server

    def measure(self, servers, threads):
        """A round."""
        for name in PHASES[threads]:
            load = self.loads[name]
            for title, server in list(servers.items()):
                try:
                    figures = server.measure(load, self.arguments.seconds).figures()
                except FAILURES as error:
                    self.leave_out(title, error)
                    del servers[title]
                    continue
                self.samples.samples.setdefault((name, threads, title), []).append(figures)
            if name == text_rows.MIXED and MPSD in servers:
                self.measure_bare(servers[MPSD], load, threads)

    def measure_bare(self, mpsd, load, threads):
        """Measures the loop without a front end, right after the load that it is a ceiling for."""
        figures = bare_loop(self.arguments, mpsd, load)
        if figures:
            self.samples.samples.setdefault((load.name, threads, BARE), []).append(figures)
        elif BARE not in self.left_out:
            self.leave_out(BARE, "mpsd-lane-bench was not built, which comes with the tests")

    def phase(self, threads):
        """All rounds with this number of threads, as long as there is time."""
        with contextlib.ExitStack() as stack:
            servers = {}
            for entry in self.chosen(threads):
                server = self.start(entry, threads, stack)
                if server:
                    servers[entry.title] = server
            longest = 0
            for index in range(self.arguments.rounds):
                begin = time.monotonic()
                if index and begin + longest > self.begin + 60 * self.arguments.minutes:
                    self.say(f"no time for more than {index} of {self.arguments.rounds} rounds")
                    break
                self.say(f"threads: {threads}, round {index + 1} of {self.arguments.rounds}")
                self.measure(servers, threads)
                self.rounds[threads] = index + 1
                longest = max(longest, time.monotonic() - begin)

    def result(self, rows):
        """Everything, for a file of JSON."""
        with open(f"{HERE}/text_requirements.txt", encoding="utf-8") as file:
            versions = [line.split() for line in file if not line.startswith("#")]
        return {"cores": self.arguments.cores, "seed": self.arguments.seed,
                "seconds": self.arguments.seconds, "rounds": self.rounds,
                "run_seconds": time.monotonic() - self.begin,
                "mean_tokens": {name: mean_tokens(load) for name, load in self.loads.items()},
                "versions": {line[0]: line[1:] for line in versions},
                "left_out": self.left_out, "farthest": self.farthest,
                "rows": [asdict(row) for row in rows],
                "samples": [{"load": name, "threads": threads, "server": title, "rounds": rounds}
                            for (name, threads, title), rounds in self.samples.samples.items()]}


def main():
    """Runs all rounds and prints the tables."""
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which stops the servers
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in arguments.cores.split(",")})
    with tempfile.TemporaryDirectory(prefix="mpsd-texts-") as folder:
        run = Run(arguments, folder)
        try:
            run.export()
            for threads in PHASES:
                run.phase(threads)
        except FAILURES as error:
            print(f"text_peers: {error}", file=sys.stderr)
            return 2
    rows = text_rows.all_rows(run.samples, run.farthest)
    titles = [entry.title for entry in ENTRIES] + [BARE]
    print(text_rows.servers_table(run.samples, run.farthest, titles), table(rows), sep="\n\n")
    for title, why in run.left_out.items():
        print(f"\nleft out: {title}: {why.splitlines()[-1] if why else ''}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(run.result(rows), file, indent=1)
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
