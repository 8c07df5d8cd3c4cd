#!/usr/bin/env python3
"""Runs cases on a patched backend that the thread sanitizer watches. It must find nothing.

run_races.py STOCK PATCHED BUILD

STOCK and PATCHED are folders with sources, BUILD is a build folder of tests/metal/backend with the
sanitizer. Then the allocator loses its edits, and the sanitizer must notice. PATCHED is as before
at the end.
"""
import os
import pathlib
import re
import subprocess
import sys

import run_mutants
from run_cases import PATIENT, Case, continuing

SECONDS = 400  # the sanitizer makes a case ten times as long
REPORT = 6000  # characters of what a case that fails has said
HERE = pathlib.Path(__file__).resolve().parent
CASES = [Case("copies", 8, 20), Case("device-waits", 4, 10), Case("freed-buffers", 8, 20),
         Case("waits-for-others", 4, 10), Case("layers", 8, 10), Case("convolutions", 4, 5),
         Case("attention", 4, 5), Case("churn", 4, 5), Case("trims-in-blocks", 2, 5),
         Case("events", 1, 10), Case("patience", 40, 2, PATIENT), Case("forks", 4, 5),
         Case("views", 4, 20), Case("shared-streams", 4, 10, continuing("none")),
         Case("freed-beside-trims", 4, 5)]
CONTROL = Case("freed-buffers", 8, 50)


def options():
    named = {"suppressions": HERE / "races.supp", "exitcode": 66, "report_thread_leaks": 0,
             "external_symbolizer_path": "/usr/bin/llvm-symbolizer-19"}
    return ":".join(f"{name}={value}" for name, value in named.items())


def watch(build, case):
    """(whether it passed, the sanitizer's reports or the last line) of one case."""
    command = [build / "metal_cases", case.name, str(case.threads), str(case.rounds)]
    # libtorch's own threads are OpenMP's, whose barriers the sanitizer does not see.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TSAN_OPTIONS": options(),
                   **case.environment, "LD_LIBRARY_PATH": f"{build / 'patched'}:{build}"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=environment, errors="replace")
    except subprocess.TimeoutExpired:
        return False, [f"no end within {SECONDS} s"]
    if done.returncode != 0:
        print(done.stderr[-REPORT:])
    reports = re.findall(r"^SUMMARY: ThreadSanitizer: (.*)$", done.stderr, re.MULTILINE)
    return done.returncode == 0, reports or done.stdout.splitlines()[-1:]


def is_of_the_allocator(edit):
    # Its header's edit stays, and so one file is compiled.
    return edit.name == "buffer-stream" and edit.path.endswith(".mm")


def finds_the_mutant(stock, patched, build):
    """Whether the sanitizer notices that the allocator's edits are gone."""
    run_mutants.write(run_mutants.texts_without(stock, is_of_the_allocator), patched)
    try:
        passed, reports = watch(build, CONTROL) if run_mutants.build(build) else (True, [])
    finally:
        run_mutants.write(run_mutants.texts_without(stock, lambda edit: False), patched)
        run_mutants.build(build)
    races = [report for report in reports if report.startswith("data race")]
    print(f"without buffer-stream: {CONTROL}: {len(races)} races: {races[:1]}", flush=True)
    return not passed and bool(races)


def main():
    stock, patched, build = (pathlib.Path(path) for path in sys.argv[1:])
    surprises = 0
    for case in CASES:
        passed, reports = watch(build, case)
        surprises += not passed
        print(f"{case}: {'passed' if passed else 'FAILED'}: {reports}", flush=True)
    surprises += not finds_the_mutant(stock, patched, build)
    print(f"{surprises} surprises")
    sys.exit(1 if surprises else 0)


if __name__ == "__main__":
    main()
