"""A model in Promela that SPIN verifies, in sizes that a test names, and the bugs planted in it."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


class SpinModel:
    """`parameters` are the macros that give a size; `sizes` have a number for each of them."""

    def __init__(self, path, parameters, sizes):
        self._path = pathlib.Path(path)
        self._parameters = parameters
        self._sizes = sizes

    def _verify(self, folder, size, bug=None):
        """The verifier's report on the model of this size."""
        define = [f"-D{name}={count}" for name, count in zip(self._parameters, size, strict=True)]
        define += [f"-DBUG_{bug}"] if bug else []
        generated = subprocess.run(["spin", *define, "-a", str(self._path)], cwd=folder,
                                   check=False, capture_output=True, text=True)
        if generated.returncode != 0 or "rror" in generated.stdout:
            sys.exit(f"spin does not take the model:\n{generated.stdout}{generated.stderr}")
        # To optimize the verifier takes longer than it saves.
        subprocess.run(["gcc", "-O0", "-w", "-DSAFETY", "-DNOCLAIM", "-DCOLLAPSE", "-o", "pan",
                        "pan.c"], cwd=folder, check=True)
        report = subprocess.run(["./pan", "-m100000"], cwd=folder, check=False,
                                capture_output=True, text=True).stdout
        if "max search depth too small" in report or not re.search(r"errors: \d+", report):
            sys.exit(f"the search was not whole:\n{report}")
        return report

    def _verify_whole(self, folder):
        for size in self._sizes:
            words = ", ".join(f"{count} {name.lower()}"
                              for name, count in zip(self._parameters, size, strict=True))
            report = self._verify(folder, size)
            if errors(report) > 0:
                trail = subprocess.run(["./pan", "-r"], cwd=folder, check=False,
                                       capture_output=True, text=True).stdout
                sys.exit(f"{words}:\n{report}\n{trail[-20000:]}")
            states = re.search(r"(\S+) states, stored", report)[1]
            print(f"{words}: {states} states, no error")

    def _find_bug(self, folder, bug, *size):
        if f"BUG_{bug}" not in self._path.read_text():
            sys.exit(f"the model has no BUG_{bug}")
        report = self._verify(folder, size, bug)
        if errors(report) == 0:
            sys.exit(f"BUG_{bug} was not found")
        print(re.search(r"pan:1: .*", report)[0])

    def _transitions(self, states):
        body = re.search(r"inline Go\(\w+, next\) {(.*?)\n}", self._path.read_text(), re.DOTALL)[1]
        found = set()
        for part in re.split(rf"{states}\[\w+\] == ", body)[1:]:
            state = re.match(r"\w+", part)[0]
            found |= {(state, target) for target in re.findall(r"next == (\w+)", part)}
        return found

    def compare_transitions(self, states, enum, header, left_out=()):
        """The table of the array `states` is that of the enum in the header, less some states."""
        theirs = {pair for pair in transitions_of_header(pathlib.Path(header).read_text(), enum)
                  if not set(pair) & set(left_out)}
        ours = self._transitions(states)
        if not theirs or theirs != ours:
            sys.exit(f"only in {header}: {sorted(theirs - ours)}; only in the model: "
                     f"{sorted(ours - theirs)}")
        print(f"{len(ours)} transitions, the same in both")

    def run(self, arguments):
        """Verifies the model, or finds the bug that the arguments name. The exit status."""
        if shutil.which("spin") is None:
            print("spin is not installed")
            return SKIPPED
        with tempfile.TemporaryDirectory() as folder:
            if arguments:
                self._find_bug(folder, *arguments)
            else:
                self._verify_whole(folder)
        return 0


def errors(report):
    return int(re.search(r"errors: (\d+)", report)[1])


def transitions_of_header(text, enum):
    found, states = set(), []
    for line in re.search(rf"MayGo\({enum} .*?\n}}", text, re.DOTALL)[0].splitlines():
        case = re.search(rf"case {enum}::(\w+):", line)
        if case:
            states.append(case[1])
        targets = re.findall(rf"to == {enum}::(\w+)", line)
        found |= {(state, target) for state in states for target in targets}
        if ";" in line:
            states = []
    return found
