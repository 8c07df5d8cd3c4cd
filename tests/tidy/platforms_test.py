#!/usr/bin/env python3
"""A platform has files of its own, *_linux.cc and *_macos.cc; shared ones ask not where they are."""
import re
import sys

import tree

ASKS = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*?\b(__APPLE__|__MACH__|__linux__"
                  r"|__linux|linux|TARGET_OS_\w+)\b", re.MULTILINE)
OWN = re.compile(r"_(?:linux|macos)\.(?:h|cc)$")
FOLDERS = ("proto", "server", "worker", "client", "load_tests")


def check(root):
    complaints = []
    for path, text in tree.sources(root, FOLDERS):
        if OWN.search(path.name):
            continue
        for match in ASKS.finditer(text):
            complaints.append(f"{path}:{tree.line_of(text, match.start())}: '{match[1]}' outside "
                              "of *_linux and *_macos files")
    return complaints


def self_test():
    def planted(text, *wanted, name="proto/base/a.cc"):
        tree.expect(check, {name: text}, *wanted)

    planted("#if defined(MPSD_WITH_TORCH)\n#endif\n// __APPLE__ and __linux__ are asked nowhere\n")
    planted("int a;\n#if defined(__APPLE__)\n#endif\n", "proto/base/a.cc:2: '__APPLE__'")
    planted("#ifdef __linux__\n#endif\n", "proto/base/a.cc:1: '__linux__'")
    planted("#if A\n#elif B || TARGET_OS_OSX\n#endif\n", "proto/base/a.cc:2: 'TARGET_OS_OSX'")
    planted("#include <linux/futex.h>\n")
    planted("#ifdef __linux__\n#endif\n", name="proto/base/a_linux.cc")
    planted("#ifdef __APPLE__\n#endif\n", name="worker/sandbox/a_macos.h")
    planted("#ifdef __linux__\n#endif\n", name="tests/base/a_test.cc")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
