#!/usr/bin/env python3
"""The house's weight: lines, files and words of comments by top folder are as in the table.

weight_test.py [--update]
The table `weight.tsv` holds each number, rounded up to a whole STEP. A change that grows past a
number raises it in the same commit, and says in the commit's body what the user gets for it. A
change that shrinks below a step lowers it. --update writes the table anew.
"""
import collections
import sys

import english_test
import tree

TABLE = "tests/tidy/weight.tsv"
SOURCES = (".h", ".cc", ".py")
KINDS = ("lines", "files", "words of comments")
STEP = (200, 5, 500)  # so that a small change does not touch the table


def weights(root):
    """{top folder: [a number of each kind]} of the sources, as they are."""
    found = collections.defaultdict(lambda: [0] * len(KINDS))
    for file in tree.files(root, *SOURCES):
        path = file.relative_to(root)
        if len(path.parts) == 1:
            continue
        text = file.read_text()
        # Python's comments and docstrings count as lines alone.
        paragraphs = english_test.paragraphs_of_source(text) if path.suffix != ".py" else ()
        words = sum(len(english_test.WORD.findall(paragraph)) for _, paragraph in paragraphs)
        for kind, count in enumerate((text.count("\n"), 1, words)):
            found[path.parts[0]][kind] += count
    return dict(found)


def rounded_up(numbers):
    return [-(-number // step) * step for number, step in zip(numbers, STEP, strict=True)]


def read_table(root):
    rows = [line.split("\t") for line in (root / TABLE).read_text().splitlines()]
    return {folder: [int(number) for number in numbers] for folder, *numbers in rows}


def check(root, **more):
    found = weights(root)
    if more.get("update"):
        (root / TABLE).write_text("".join(
            "\t".join([folder, *map(str, rounded_up(numbers))]) + "\n"
            for folder, numbers in sorted(found.items())))
    table = read_table(root)
    nothing = [0] * len(KINDS)
    complaints = []
    for folder in sorted(found.keys() | table.keys()):
        numbers = found.get(folder, nothing)
        for kind, limit, number, now in zip(KINDS, table.get(folder, nothing), numbers,
                                            rounded_up(numbers), strict=True):
            if now > limit:
                complaints.append(
                    f"{folder}: {number} {kind}, the table allows {limit}: raise it with --update, "
                    "and say in the commit's body what the user gets for it")
            elif now < limit:
                complaints.append(f"{folder}: {number} {kind}, the table still allows {limit}: "
                                  "lower it with --update")
    return complaints


def self_test():
    def planted(row, *wanted, **files):
        tree.expect(check, {TABLE: row, **files}, *wanted)

    small = {"server/a.cc": "// The lane waits.\nint a = 1;\n",
             "server/a_test.py": "# No word counts.\n"}
    planted("server\t200\t5\t500\n", **small)
    planted("server\t200\t5\t500\n", "server: 201 lines, the table allows 200: raise it",
            **{"server/a.cc": "// The lane waits.\n" + "\n" * 200})
    planted("server\t200\t5\t500\n", "server: 6 files, the table allows 5",
            **{f"server/{name}.cc": "int a;  // a word\n" for name in "abcdef"})
    planted("server\t200\t5\t500\n", "server: 501 words of comments, the table allows 500",
            **{"server/a.cc": "// " + "word " * 501 + "\n"})
    planted("server\t400\t5\t500\n", "server: 3 lines, the table still allows 400: lower it",
            **small)
    planted("", "new: 1 lines", "new: 1 files", "new: 3 words of comments",
            **{"new/a.h": "// It is new.\n"})
    planted("old\t200\t5\t0\n", "old: 0 lines", "old: 0 files")
    planted("", **{"alone.py": "a = 1\n", "server/notes.md": "a\n"})


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, {"update": "write the table anew"}))
