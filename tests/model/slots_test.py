#!/usr/bin/env python3
"""Verifies the model of the slot protocol, or shows that the verifier finds a bug in it.

slots_test.py              no error may be found
slots_test.py BUG REQUESTS KILLS ANSWERS
                           an error must be found with -DBUG_<BUG> in a model of this size
slots_test.py --transitions HEADER
                           the model's table of transitions is that of server/lanes/slot_state.h
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).with_name("slots.pml")
# Requests, kills and answers: few enough of each that every state is seen within seconds.
SIZES = [(3, 1, 0), (2, 2, 0), (1, 3, 0), (2, 1, 1), (1, 2, 1)]
SKIPPED = 77


def verify(folder, requests, kills, answers, bug=None):
    """The verifier's report on the model of this size."""
    define = [f"-DREQUESTS={requests}", f"-DKILLS={kills}", f"-DANSWERS={answers}"]
    define += [f"-DBUG_{bug}"] if bug else []
    generated = subprocess.run(["spin", *define, "-a", str(MODEL)], cwd=folder, check=False,
                               capture_output=True, text=True)
    if generated.returncode != 0 or "rror" in generated.stdout:
        sys.exit(f"spin does not take the model:\n{generated.stdout}{generated.stderr}")
    level = "-O0" if bug else "-O2"  # a bug is found sooner than an optimized verifier is compiled
    subprocess.run(["gcc", level, "-w", "-DSAFETY", "-DNOCLAIM", "-DCOLLAPSE", "-o", "pan",
                    "pan.c"], cwd=folder, check=True)
    report = subprocess.run(["./pan", "-m100000"], cwd=folder, check=False, capture_output=True,
                            text=True).stdout
    if "max search depth too small" in report or not re.search(r"errors: \d+", report):
        sys.exit(f"the search was not whole:\n{report}")
    return report


def errors(report):
    return int(re.search(r"errors: (\d+)", report)[1])


def verify_whole(folder):
    for requests, kills, answers in SIZES:
        size = f"{requests} requests, {kills} kills, {answers} answers"
        report = verify(folder, requests, kills, answers)
        if errors(report) > 0:
            trail = subprocess.run(["./pan", "-r"], cwd=folder, check=False, capture_output=True,
                                   text=True).stdout
            sys.exit(f"{size}:\n{report}\n{trail[-20000:]}")
        states = re.search(r"(\S+) states, stored", report)[1]
        print(f"{size}: {states} states, no error")


def find_bug(folder, bug, requests, kills, answers):
    if f"BUG_{bug}" not in MODEL.read_text():
        sys.exit(f"the model has no BUG_{bug}")
    report = verify(folder, requests, kills, answers, bug)
    if errors(report) == 0:
        sys.exit(f"BUG_{bug} was not found")
    print(re.search(r"pan:1: .*", report)[0])


def transitions_of_header(text):
    found, states = set(), []
    for line in re.search(r"MayGo\(.*?\n}", text, re.DOTALL)[0].splitlines():
        case = re.search(r"case SlotState::(\w+):", line)
        if case:
            states.append(case[1])
        targets = re.findall(r"to == SlotState::(\w+)", line)
        found |= {(state, target) for state in states for target in targets}
        if ";" in line:
            states = []
    return found


def transitions_of_model(text):
    body = re.search(r"inline Go\(inc, next\) {(.*?)\n}", text, re.DOTALL)[1]
    found = set()
    for part in body.split("slot_state[inc] == ")[1:]:
        state = re.match(r"\w+", part)[0]
        found |= {(state, target) for target in re.findall(r"next == (\w+)", part)}
    return found


def compare_transitions(header):
    theirs = transitions_of_header(pathlib.Path(header).read_text())
    ours = transitions_of_model(MODEL.read_text())
    if not theirs or theirs != ours:
        sys.exit(f"only in {header}: {sorted(theirs - ours)}; only in the model: "
                 f"{sorted(ours - theirs)}")
    print(f"{len(ours)} transitions, the same in both")


def main(arguments):
    if arguments[:1] == ["--transitions"]:
        compare_transitions(arguments[1])
        return 0
    if shutil.which("spin") is None:
        print("spin is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if arguments:
            find_bug(folder, *arguments)
        else:
            verify_whole(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
