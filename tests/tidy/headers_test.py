#!/usr/bin/env python3
"""A name of the standard library comes from its header: one that this file includes, or ours.

A header of the library may include another one, and does not in its next version: then a source
that compiled for years no longer does.
"""
import re
import sys

import tree

FOLDERS = ("proto", "text", "server", "worker", "copier", "client", "load_tests", "tests")
# The headers that are missed most often, and names that only they declare.
NAMES = {
    "algorithm": r"std::(?:sort|min|max|find_if|any_of|all_of|clamp|count_if|lower_bound)\(",
    "array": r"std::array<",
    "atomic": r"std::atomic\b",
    "cerrno": r"\berrno\b",
    "chrono": r"std::chrono\b",
    "cmath": r"std::(?:isfinite|isnan|sqrt|log|exp|ceil|floor|lround)\(",
    "cstdint": r"\bu?int(?:8|16|32|64)_t\b",
    "cstdlib": r"std::(?:getenv|strtol|strtod|abort)\(",
    "cstring": r"std::(?:mem(?:cpy|cmp|set|move)|strlen)\(",
    "deque": r"std::deque<",
    "functional": r"std::function<",
    "limits": r"std::numeric_limits<",
    "map": r"std::map<",
    "memory": r"std::(?:unique_ptr|shared_ptr|make_unique|make_shared)<",
    "optional": r"std::optional<",
    "string": r"std::(?:string|to_string)\b",
    "thread": r"std::thread\b",
    "vector": r"std::vector<",
}
PATTERNS = {header: re.compile(pattern) for header, pattern in NAMES.items()}
INCLUDE = re.compile(r'^#include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def brought(path, texts, known):
    """The headers that the file at `path` includes, itself or through files of ours."""
    if path not in known:
        known[path] = set()  # while it is made, for files that include each other
        direct = set(INCLUDE.findall(texts[path]))
        known[path] = direct.union(*(brought(name, texts, known) for name in direct & texts.keys()))
    return known[path]


def check(root):
    complaints, known = [], {}
    texts = {str(path): text for path, text in tree.sources(root, FOLDERS)}
    for path, text in texts.items():
        code, headers = COMMENT_OR_TEXT.sub("", text), brought(path, texts, known)
        if any(name.endswith(".pb.h") for name in headers):  # written for many libraries
            headers = headers | {"cstdint", "string", "memory"}
        for header, pattern in PATTERNS.items():
            match = None if header in headers else pattern.search(code)
            if match:
                complaints.append(f"{path}:{tree.line_of(code, match.start())}: '{match[0]}' "
                                  f"without <{header}>")
    return complaints


def self_test():
    def planted(files, *wanted):
        tree.expect(check, files, *wanted)

    planted({"server/a.cc": '#include <cstdint>\nuint32_t x;  // a std::vector<int>\nP("errno");\n'})
    planted({"server/a.cc": "\nuint32_t x;\n"}, "server/a.cc:2: 'uint32_t' without <cstdint>")
    planted({"text/a.h": "#include <string>\n",
             "text/a.cc": '#include "text/a.h"\nstd::string x;\nint64_t y;\n'},
            "text/a.cc:3: 'int64_t' without <cstdint>")
    planted({"server/a.cc": '#include "proto/a.pb.h"\nuint64_t x;\nstd::vector<int> y;\n'},
            "server/a.cc:3: 'std::vector<' without <vector>")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
