#!/usr/bin/env python3
"""Runs the cases of metal_cases on a stock and on a patched backend, and says what differs.

run_cases.py BUILD GUARD

BUILD is a build folder of tests/metal/backend, GUARD the library of the driver's guard. A patched
backend passes each case. A stock one passes with one thread, and must fail where threads touch its
one stream outside of its queue.
"""
import os
import pathlib
import subprocess
import sys

SECONDS = 120
SEEDS = 5  # a race needs its luck


class Case:
    """One run of metal_cases: threads, rounds, and what the environment says."""

    def __init__(self, name, threads, rounds, environment=None):
        self.name = name
        self.threads = threads
        self.rounds = rounds
        self.environment = environment or {}

    def __str__(self):
        settings = "".join(f", {name}={value}" for name, value in self.environment.items())
        return f"{self.name}, {self.threads} x {self.rounds}{settings}"


def continuing(which):
    return {"MPS_COMMIT_AND_CONTINUE": which}


PATIENT = {"MPS_STREAM_WAIT_MS": "-1"}
RACE = {"MPSD_STANDIN_DRIVER_RACE": "1"}
LAYER_NORM_RACE = {"MPSD_STANDIN_LAYER_NORM_RACE": "1"}
BLOCK_THREADS = {"MPSD_STANDIN_BLOCK_THREADS": "1"}
ONE_THREAD = [Case("copies", 1, 50), Case("layers", 1, 50), Case("convolutions", 1, 20),
              Case("attention", 1, 20), Case("layer-norms", 1, 20), Case("events", 1, 5)]
THREADS = [Case("copies", 4, 50), Case("copies", 31, 20), Case("device-waits", 4, 25),
           Case("freed-buffers", 8, 50), Case("waits-for-others", 4, 25), Case("layers", 8, 25),
           Case("layers", 8, 25, continuing("main")), Case("layers", 8, 25, continuing("none")),
           Case("kept-buffers", 8, 50, continuing("none")), Case("continues", 4, 10),
           Case("continues", 4, 10, continuing("main")),
           Case("continues", 4, 10, continuing("none")), Case("own-queues", 4, 5),
           Case("convolutions", 8, 25),
           Case("attention", 8, 25), Case("layer-norms", 8, 25), Case("many-shapes", 2, 700),
           Case("churn", 8, 15), Case("trims-in-blocks", 2, 20), Case("events", 1, 20),
           Case("untimed-events", 1, 2), Case("exhaustion", 33, 1),
           Case("patience", 40, 3, PATIENT), Case("guards", 4, 20), Case("forks", 4, 10),
           Case("kernel-blocks", 4, 5, BLOCK_THREADS), Case("views", 8, 40),
           Case("shared-streams", 8, 50, continuing("none")),
           Case("layer-norms", 8, 25, LAYER_NORM_RACE), Case("freed-beside-trims", 4, 25)]
# A wait for the device works on the stream from outside of its queue. Operators enter the queue, and
# so one stream bears them from any number of threads. The last ones ask for what only a pool has.
FAILS_ON_STOCK = [Case("device-waits", 8, 50), Case("waits-for-others", 4, 25),
                  Case("many-shapes", 1, 700), Case("own-queues", 4, 5), Case("guards", 4, 20),
                  Case("exhaustion", 33, 1)]
# A fault of the driver, which the stand-in has on demand.
WITH_RACE = [Case("copies", 8, 50, RACE), Case("layers", 8, 25, RACE)]


def run(build, kind, case, seed=1, **more):
    """(whether it passed, its last line) of one case, which may crash or hang."""
    command = [build / "metal_cases", case.name, str(case.threads), str(case.rounds)]
    environment = {**os.environ, "MPSD_STANDIN_SEED": str(seed), **case.environment, **more,
                   "LD_LIBRARY_PATH": f"{build / kind}:{build}"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=environment, errors="replace")
    except subprocess.TimeoutExpired:
        return False, f"no end within {SECONDS} s"
    if done.returncode < 0:
        return False, f"signal {-done.returncode}"
    lines = done.stdout.splitlines()
    return done.returncode == 0, lines[-1] if lines else done.stderr[-300:]


def judge(what, cases, outcome, wanted):
    """The number of cases that did not end as `wanted` says of their names."""
    surprises = 0
    for case in cases:
        passed, line = outcome(case)
        is_expected = passed == wanted(case.name)
        surprises += not is_expected
        verdict = ("passed" if passed else "failed") + ("" if is_expected else ", UNEXPECTED")
        print(f"{what}: {case}: {verdict}: {line}", flush=True)
    return surprises


def main():
    build, guard = (pathlib.Path(path) for path in sys.argv[1:])

    def stock(case):
        return run(build, "stock", case)

    def stock_of_any_seed(case):
        outcomes = (run(build, "stock", case, seed) for seed in range(1, SEEDS + 1))
        return next((outcome for outcome in outcomes if not outcome[0]), (True, "all seeds"))

    def patched(case):
        return run(build, "patched", case)

    def guarded(case):
        return run(build, "patched", case, LD_PRELOAD=str(guard))

    surprises = judge("stock", ONE_THREAD, stock, lambda name: True)
    surprises += judge("stock", FAILS_ON_STOCK, stock_of_any_seed, lambda name: False)
    surprises += judge("patched", ONE_THREAD + THREADS, patched, lambda name: True)
    surprises += judge("without the guard", WITH_RACE, patched, lambda name: False)
    surprises += judge("with the guard", WITH_RACE, guarded, lambda name: True)
    print(f"{surprises} surprises")
    sys.exit(1 if surprises else 0)


if __name__ == "__main__":
    main()
