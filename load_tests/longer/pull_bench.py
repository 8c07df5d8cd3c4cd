#!/usr/bin/env python3
"""The rate of `mpsd pull` beside curl's, on one large file over loopback.

The tests' own hub serves the file to each in turn, round by round: to curl alone, to curl with
openssl beside it, which computes the hash of what arrives, and to mpsd, which checks the hash.
Medians of the rounds are compared. Exit status 1 if the goal is missed, 2 if the run failed.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [f"{HERE}/../bench", f"{HERE}/../../tests/support"]
from bench_figures import median, spread  # noqa: E402
from fake_hub import COMMIT, FakeHub  # noqa: E402

GOAL = 0.8
WEIGHTS = "model.safetensors"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--folder", help="where the file is written; else a temporary folder")
    return parser.parse_args()


def commands(binaries, url, folder):
    """{name: the command that fetches the file into the folder}."""
    fetch = ["curl", "-sSfL", f"{url}/ORG/NAME/resolve/{COMMIT}/{WEIGHTS}"]
    hashed = 'set -o pipefail; file=$1; shift; "$@" | tee "$file" | openssl sha256'
    return {"curl": [*fetch, "-o", f"{folder}/file"],
            "curl, openssl sha256": ["bash", "-c", hashed, "-", f"{folder}/file", *fetch],
            "mpsd pull": [f"{binaries}/mpsd", "pull", "ORG/NAME"]}


def seconds(name, arguments, url):
    """How long the command of that name takes, with nothing left to write from before."""
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="mpsd-pull-") as folder:
        environment = {"PATH": os.environ["PATH"], "HF_HOME": folder, "HF_ENDPOINT": url}
        os.sync()
        begin = time.monotonic()
        subprocess.run(commands(arguments.binaries, url, folder)[name], check=True,
                       env=environment, stdout=subprocess.DEVNULL, timeout=600)
        return time.monotonic() - begin


def measure(arguments):
    """{name: [MB a second of each round]}."""
    files = {"config.json": b"{}", WEIGHTS: random.randbytes(10**6) * arguments.megabytes}
    rates = {}
    with FakeHub(files) as hub:
        hub.entry(WEIGHTS)  # the hub knows the hash before it is asked
        for _ in range(arguments.rounds):
            for name in commands("", "", ""):
                rate = arguments.megabytes / seconds(name, arguments, hub.url)
                rates.setdefault(name, []).append(rate)
    return rates


def main():
    try:
        rates = measure(parse_arguments())
    except (OSError, subprocess.SubprocessError) as error:
        print(f"pull_bench: {error}", file=sys.stderr)
        return 2
    curl = median(rates["curl"])
    print("| | MB/s | spread | of curl's |\n|---|---|---|---|")
    for name, values in rates.items():
        print(f"| {name} | {median(values):,.0f} | {spread(values):.2f} | {median(values) / curl:.2f} |")
    return 0 if median(rates["mpsd pull"]) >= GOAL * curl else 1


if __name__ == "__main__":
    sys.exit(main())
