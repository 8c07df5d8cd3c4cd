#!/usr/bin/env python3
"""Has the compiler read every source of a configured build, with warnings as errors, and makes no
object: what newer headers no longer have, and call deprecated, in a fraction of a build's time.

syntax_only.py BUILD JOBS [PATTERN]      PATTERN: only sources whose path it is found in

One deprecation is borne: newer Abseils want a reference where the one of Debian 12 takes a pointer.
"""
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

DEPRECATED = re.compile(r"warning: .*\bdeprecated\b.*")
BORNE = "Use the constructor that takes a reference instead"


def reading(command):
    """The command that compiles a source, as one that only reads it."""
    words = shlex.split(command)
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD", "-Wno-deprecated-declarations"):
            kept.append(word)
    return kept + ["-fsyntax-only", "-O0", "-Werror", "-Wno-error=deprecated-declarations"]


def refused_by(code, output):
    """Whether the compiler refused a source, or warned of what is not borne."""
    return code != 0 or any(BORNE not in line for line in DEPRECATED.findall(output))


def read(entry):
    start = time.monotonic()
    done = subprocess.run(reading(entry["command"]), cwd=entry["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return entry["file"], done.returncode, done.stdout, time.monotonic() - start


def main(build, jobs, pattern=""):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    wanted = [entry for entry in commands if re.search(pattern, entry["file"])]
    if not wanted:
        sys.exit(f"syntax_only.py: no source of {build} has '{pattern}' in its path")
    refused = 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for path, code, output, seconds in pool.map(read, wanted):
            if refused_by(code, output):
                refused += 1
                print(f"== {path} ({seconds:.0f} s)\n{output}", flush=True)
    print(f"{len(wanted)} sources read, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
