#!/usr/bin/env python3
"""Processes are made by platform::Spawn alone: a forked child must not touch a device."""
import re
import sys

import tree

FORK = re.compile(r"(?<![\w.])(?:::)?v?fork\s*\(\s*\)|(?<![\w.])(?:popen|system)\s*\(")
SPAWN = re.compile(r"\bposix_spawnp?\s*\(")
MAY_SPAWN = ("proto/base/platform_linux.cc", "proto/base/platform_macos.cc")
FOLDERS = ("proto", "server", "worker", "client")
COMMENT = re.compile(r"//[^\n]*")


def check(root):
    complaints = []
    for path, text in tree.sources(root, FOLDERS):
        code = COMMENT.sub("", text)
        for match in FORK.finditer(code):
            complaints.append(f"{path}:{tree.line_of(code, match.start())}: '{match[0]}'")
        if str(path) in MAY_SPAWN:
            continue
        for match in SPAWN.finditer(code):
            complaints.append(f"{path}:{tree.line_of(code, match.start())}: '{match[0]}' outside of "
                              "platform::Spawn")
    return complaints


def self_test():
    def planted(text, *wanted, name="worker/a.cc"):
        tree.expect(check, {name: text}, *wanted)

    planted("int main() { return 0; }\n// never a fork()\n")
    planted("pid_t pid = fork();\n", "worker/a.cc:1: 'fork()'")
    planted("pid_t pid = ::vfork();\n", "worker/a.cc:1")
    planted('FILE* f = popen("ls", "r");\n', "worker/a.cc:1")
    planted("posix_spawn(&pid, path);\n", "outside of platform::Spawn")
    planted("posix_spawn(&pid, path);\n", name="proto/base/platform_linux.cc")
    planted("int forks = CountForks(); a.fork();\n")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
