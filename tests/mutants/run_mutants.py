#!/usr/bin/env python3
"""Says of each mutant which unit test kills it, or that it survives; survivors fail.

run_mutants.py [FOLDER...] [--count N [--seed S]] [--jobs N] [-- CMAKE-OPTIONS...]

FOLDER takes the mutants below these folders alone. --count N draws N mutants, the same ones for the
same seed. build/mutants gets a copy of the tree in which all mutants are compiled; MPSD_MUTANT=NAME
makes a process of that build one of them.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import mutants

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build/mutants"
# A mutant may take so many times as long as no mutant, and so many seconds more: the machine may
# have become busy.
TIMES_AS_LONG, MORE_SECONDS = 5, 30


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def write_if_changed(path, content):
    """Keeps the time of a file that stays the same, so that it isn't compiled again."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def tracked_files():
    """Those that git knows, and new ones that it would not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [file for file in listed.split("\0") if (ROOT / file).is_file()]


def copy_tree(all_mutants):
    """The repository's files, with the mutants in them."""
    of_file = collections.defaultdict(list)
    for mutant in all_mutants:
        of_file[mutant.file].append(mutant)
    files = tracked_files()
    for file in files:
        content = (ROOT / file).read_bytes()
        if file in of_file:
            content = mutants.mutated(content.decode(), of_file[file]).encode()
        write_if_changed(TREE / file, content)
        (TREE / file).chmod((ROOT / file).stat().st_mode)
    remove_others(set(files))
    if not (TREE / ".deps").exists():
        (TREE / ".deps").symlink_to(ROOT / ".deps")


def remove_others(files):
    """A source that is gone must not be compiled."""
    for folder, folders, names in os.walk(TREE):
        inside = pathlib.Path(folder).relative_to(TREE)
        if inside == pathlib.Path("."):
            folders[:] = [name for name in folders if name not in ("build", ".deps")]
        for name in names:
            if str(inside / name) not in files:
                (TREE / inside / name).unlink()


def build(tests, jobs, cmake_options):
    say(f"build of {len(tests)} unit tests")
    start = time.monotonic()
    subprocess.run(["cmake", "--preset", "release", "-DMPSD_TESTS=ON", "--log-level=WARNING",
                    *cmake_options], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    # All mutants that do not compile are told at once.
    subprocess.run(["cmake", "--build", TREE / "build/release", "-j", str(jobs), "--target", *tests,
                    "--", "-k", "0"], check=True, stdout=sys.stderr)
    say(f"build: {time.monotonic() - start:.0f} s")


def run_test(test, mutant, limit):
    """The test that fails, or None if all pass. `limit` is in seconds."""
    environment = {**os.environ, "MPSD_MUTANT": mutant}
    folder = TREE / "build/release"
    process = subprocess.Popen([folder / "tests" / test, "--gtest_fail_fast"], cwd=folder,
                               env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, ending = process.communicate(timeout=limit)[0], ", which crashed"
    except subprocess.TimeoutExpired:
        ending = ", which did not end"
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0]
    return failure(output.decode(errors="replace"), process.returncode, ending)


def failure(output, returncode, ending):
    """The test that failed by GoogleTest's lines; the one that ran last if no line says so."""
    if returncode == 0:
        return None
    failed = re.search(r"^\[  FAILED  \] (\w\S*\.[^\s,]+)", output, re.MULTILINE)
    if failed:
        return failed[1]
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    return (begun[-1] if begun else "the start of the program") + ending


class Runs:
    """The unit tests of one build, two or more at a time."""

    def __init__(self, jobs):
        self.executor = concurrent.futures.ThreadPoolExecutor(jobs)
        self.limits = {}  # of each binary that passes without a mutant

    def run_without_mutant(self, tests):
        """Complaints about binaries that fail as they are."""
        def run(test):
            start = time.monotonic()
            failed = run_test(test, "", 600)
            return failed, time.monotonic() - start

        complaints = []
        for test, (failed, seconds) in zip(tests, self.executor.map(run, tests)):
            if failed:
                complaints.append(f"{test} fails without a mutant: {failed}")
            else:
                self.limits[test] = seconds * TIMES_AS_LONG + MORE_SECONDS
        return complaints

    def killer(self, mutant):
        for test in mutant.tests:
            failed = run_test(test, mutant.name, self.limits[test])
            if failed:
                return failed
        return None

    def run(self, chosen):
        """Prints which test kills each mutant, and returns the survivors."""
        survivors = []
        for mutant, killer in zip(chosen, self.executor.map(self.killer, chosen)):
            if killer is None:
                survivors.append(mutant)
            print(f"{mutant.name}: {'killed by ' + killer if killer else 'SURVIVED'}", flush=True)
        return survivors


def print_table(chosen, survivors):
    count = collections.Counter(os.path.dirname(mutant.file) for mutant in chosen)
    survived = collections.Counter(os.path.dirname(mutant.file) for mutant in survivors)
    print(f"\n{'folder':<40}{'mutants':>8}{'killed':>8}{'survived':>10}")
    for folder in sorted(count):
        print(f"{folder:<40}{count[folder]:>8}{count[folder] - survived[folder]:>8}"
              f"{survived[folder]:>10}")


def choose(all_mutants, folders, count, seed):
    below = [mutant for mutant in all_mutants
             if not folders or any(mutant.file.startswith(folder.rstrip("/") + "/")
                                   for folder in folders)]
    if count is None or count >= len(below):
        return below
    drawn = set(random.Random(seed).sample(range(len(below)), count))
    return [mutant for index, mutant in enumerate(below) if index in drawn]


def arguments():
    parser = argparse.ArgumentParser(prog="./run mutants", allow_abbrev=False)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="such as server/pool/batch")
    parser.add_argument("--count", type=int, help="so many of them, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    given, cmake_options = sys.argv[1:], []
    if "--" in given:
        given, cmake_options = given[:given.index("--")], given[given.index("--") + 1:]
    return parser.parse_args(given), cmake_options


def main():
    options, cmake_options = arguments()
    complaints = mutants.check(ROOT)
    all_mutants = mutants.read(ROOT) if not complaints else []
    chosen = choose(all_mutants, options.folders, options.count, options.seed)
    if not complaints and not chosen:
        complaints = ["there is no mutant in " + ", ".join(options.folders)]
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 2
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    copy_tree(all_mutants)
    build(tests, options.jobs, cmake_options)
    runs = Runs(options.jobs)
    say(f"{len(tests)} unit tests without a mutant")
    complaints = runs.run_without_mutant(tests)
    if complaints:
        print("\n".join(complaints))
        return 1
    say(f"{len(chosen)} mutants")
    survivors = runs.run(chosen)
    print_table(chosen, survivors)
    print(f"\n{len(chosen) - len(survivors)} passed, {len(survivors)} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
