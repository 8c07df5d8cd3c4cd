"""What of worker/metal and worker/model/torch has run on mps: lines of each file, and the functions
that have not.

coverage.py PROFILES PROGRAM…

PROFILES is a folder of profiles, one of each process. The programs are those that the processes
ran. Processes that did not use mps, such as workers on the cpu, do not count. Nor do headers: the
linker may have taken another library's copy of a function, which counts nothing.
"""
import json
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path("/mpsd/worker")
FOLDERS = ("metal", "model/torch")
NOT_FOR_MPS = ("graph_recorder.cc", "recorded_runs.cc", "shared_weights.cc")  # cuda and the cpu alone
ON_MPS = "WaitForMpsStream"  # each process with the device calls it


def output(tool, *arguments):
    return subprocess.run([f"{tool}-19", *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def used_mps(profile):
    shown = output("llvm-profdata", "show", f"--function={ON_MPS}", "--counts", profile)
    return any(line.split(":")[1].strip() != "0" for line in shown.splitlines()
               if line.strip().startswith("Function count:"))


def export(folder, programs):
    profiles = [path for path in sorted(folder.glob("*.profraw")) if used_mps(path)]
    print(f"{len(profiles)} processes used mps")
    merged = folder / "all.profdata"
    output("llvm-profdata", "merge", "--sparse", "-o", merged, *profiles)
    objects = [f"--object={program}" for program in programs[1:]]
    return json.loads(output("llvm-cov", "export", programs[0], *objects, "--skip-branches",
                             f"--instr-profile={merged}", "--sources",
                             *(SOURCES / name for name in FOLDERS)))["data"][0]


def counts(path):
    return path.endswith(".cc") and not path.endswith(NOT_FOR_MPS)


def functions_that_never_ran(functions):
    """{file: [(line, name)]}, with one name for all instances of a template."""
    runs = {}
    for function in functions:
        path, place = function["filenames"][0], tuple(function["regions"][0][:2])
        name, count = runs.get((path, place), (function["name"].split(":")[-1], 0))
        runs[path, place] = name, count + function["count"]
    at, names = zip(*((at, name) for at, (name, count) in runs.items() if count == 0))
    never = {}
    for (path, (line, _)), name in zip(at, output("llvm-cxxfilt", "-p", *names).splitlines()):
        never.setdefault(path, []).append((line, name.replace("(anonymous namespace)::", "")))
    return never


def plain_names(missing):
    """Lines for functions, and for lambdas of functions that have run."""
    names = [(line, re.sub(r"^mpsd::|\[abi:cxx11\]|<\d+ul>", "", name)) for line, name in missing]
    for line, name in sorted(names):
        outer, parenthesis, _ = name.partition("(")
        if not parenthesis:
            yield f"{name}, line {line}"
        elif all(other != outer for _, other in names):
            yield f"a lambda of {outer}, line {line}"


def report(data):
    never = functions_that_never_ran(data["functions"])
    covered = total = 0
    for file in sorted(data["files"], key=lambda one: one["filename"]):
        path, lines = file["filename"], file["summary"]["lines"]
        if not counts(path):
            continue
        covered, total = covered + lines["covered"], total + lines["count"]
        name = pathlib.Path(path).relative_to(SOURCES)
        print(f"{name}: {lines['covered']} of {lines['count']} lines")
        for function in plain_names(never.get(path, [])):
            print(f"    never: {function}")
    print(f"{covered} of {total} lines ran on mps")


if __name__ == "__main__":
    report(export(pathlib.Path(sys.argv[1]), sys.argv[2:]))
