#!/usr/bin/env python3
"""Runs the cases of metal_cases on a stock and on a patched backend, and says what differs.

run_cases.py STOCK PATCHED

The two are build folders of tests/metal/backend. A patched backend passes each case. A stock one
passes with one thread, and must fail where threads touch its one stream outside of its queue.
"""
import os
import pathlib
import subprocess
import sys

SECONDS = 120
# Case, threads, rounds.
ONE_THREAD = [("copies", 1, 50), ("layers", 1, 50), ("layer-norms", 1, 20), ("events", 1, 5)]
THREADS = [("copies", 4, 50), ("copies", 31, 20), ("device-waits", 4, 25), ("freed-buffers", 8, 50),
           ("waits-for-others", 4, 25), ("layers", 8, 25), ("layer-norms", 8, 25), ("churn", 8, 15),
           ("events", 1, 20), ("untimed-events", 1, 2), ("exhaustion", 33, 1), ("guards", 4, 20)]
# A wait for the device works on the stream from outside of its queue. Operators enter the queue, and
# so one stream bears them from any number of threads.
FAILS_ON_STOCK = {"device-waits", "waits-for-others"}


def run(build, case, seed=1):
    """(whether it passed, its last line) of one case, which may crash or hang."""
    name, threads, rounds = case
    command = [build / "metal_cases", name, str(threads), str(rounds)]
    environment = dict(os.environ, MPSD_STANDIN_SEED=str(seed))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=environment, errors="replace")
    except subprocess.TimeoutExpired:
        return False, f"no end within {SECONDS} s"
    if done.returncode < 0:
        return False, f"signal {-done.returncode}"
    lines = done.stdout.splitlines()
    return done.returncode == 0, lines[-1] if lines else done.stderr[-300:]


def judge(kind, build, cases, wanted):
    """The number of cases that did not end as `wanted` says of their names."""
    surprises = 0
    for case in cases:
        passed, line = run(build, case)
        is_expected = passed == wanted(case[0])
        surprises += not is_expected
        verdict = ("passed" if passed else "failed") + ("" if is_expected else ", UNEXPECTED")
        print(f"{kind}, {case[1]} threads x {case[2]}: {verdict}: {line}", flush=True)
    return surprises


def main():
    stock, patched = (pathlib.Path(path) for path in sys.argv[1:])
    surprises = judge("stock", stock, ONE_THREAD, lambda name: True)
    surprises += judge("stock", stock, [case for case in THREADS if case[0] in FAILS_ON_STOCK],
                       lambda name: False)
    surprises += judge("patched", patched, ONE_THREAD + THREADS, lambda name: True)
    print(f"{surprises} surprises")
    sys.exit(1 if surprises else 0)


if __name__ == "__main__":
    main()
