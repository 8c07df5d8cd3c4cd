#!/usr/bin/env python3
"""Every source is formatted as .clang-format says, by the one version of clang-format we use."""
import pathlib
import subprocess
import sys

import tree

STYLE = ".clang-format"
# Another version breaks lines differently.
FORMATTER = pathlib.Path(__file__).resolve().parents[2] / ".deps/venv/bin/clang-format"


def check(root):
    if not FORMATTER.exists():
        return [f"{FORMATTER} is missing; ./run format fetches it"]
    files = [str(file) for file in tree.files(root, ".h", ".cc")]
    done = subprocess.run([FORMATTER, "--dry-run", "-Werror", *files], capture_output=True,
                          text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def self_test():
    style = "BasedOnStyle: Google\nColumnLimit: 100\n"
    tree.expect(check, {STYLE: style, "a.cc": "int a = 1;\n"})
    tree.expect(check, {STYLE: style, "a.cc": "int  a = 1;\n"}, "a.cc:1")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
