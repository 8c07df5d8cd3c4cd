#!/usr/bin/env python3
"""Every source is formatted as .clang-format says, by the one version of clang-format we use."""
import shutil
import subprocess
import sys

import tree

STYLE = ".clang-format"


def program():
    """clang-format 14; another version breaks lines differently."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True,
                                             text=True, check=True).stdout:
            return path
    return None


def check(root):
    formatter = program()
    if formatter is None:
        return ["clang-format 14 is not installed"]
    files = [str(file) for file in tree.files(root, ".h", ".cc")]
    done = subprocess.run([formatter, "--dry-run", "-Werror", *files], capture_output=True,
                          text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def self_test():
    style = "BasedOnStyle: Google\nColumnLimit: 100\n"
    tree.expect(check, {STYLE: style, "a.cc": "int a = 1;\n"})
    tree.expect(check, {STYLE: style, "a.cc": "int  a = 1;\n"}, "a.cc:1")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
