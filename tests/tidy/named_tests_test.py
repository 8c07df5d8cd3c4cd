#!/usr/bin/env python3
"""Each test that the tables of tests/README.md, docs/systems.md and docs/macos.md name is there."""
import fnmatch
import re
import sys

import tree

PAGE = "tests/README.md"
FILE = re.compile(r"`(tests/[\w./]+_test\.(?:py|cc))`((?:,? `\w+`)*)")
LEAST_ROWS = 40
# `Suite.Name` and `Suite.*`; a parameterized suite stands as `All/Suite.Name/*`.
SYSTEMS, MACOS = "docs/systems.md", "docs/macos.md"
NAMED = re.compile(r"`(?:All/)?([A-Z]\w*\.[A-Z*][\w*]*)(?:/\*)?`")


def tests_of(text, suffix):
    """The names of the tests that a source file defines."""
    if suffix == ".py":
        return set(re.findall(r"^\s+def (test_\w+)\(", text, re.MULTILINE))
    return set(re.findall(r"^TEST(?:_F|_P)?\(\w+, (\w+)\)", text, re.MULTILINE))


def check_suites(root, page):
    if not (root / page).exists():
        return [f"{page}: is not there"]
    known = {".".join(names) for file in tree.files(root / "tests", ".cc")
             for names in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read_text(), re.M)}
    text = (root / page).read_text()
    return [f"{page}:{tree.line_of(text, match.start())}: there is no test {match[1]}"
            for match in NAMED.finditer(text) if not fnmatch.filter(known, match[1])]


def check_readme(root, least_rows):
    if not (root / PAGE).exists():
        return [f"{PAGE}: is not there"]
    text = (root / PAGE).read_text()
    complaints = []
    rows = 0
    for match in FILE.finditer(text):
        if not match[2]:
            continue
        rows += 1
        where = f"{PAGE}:{tree.line_of(text, match.start())}"
        path = root / match[1]
        if not path.exists():
            complaints.append(f"{where}: there is no {match[1]}")
            continue
        known = tests_of(path.read_text(), path.suffix)
        complaints += [f"{where}: {match[1]} has no test {name}"
                       for name in re.findall(r"`(\w+)`", match[2]) if name not in known]
    if rows < least_rows:
        complaints.append(f"{PAGE}: names tests in {rows} rows only")
    return complaints


def check(root, least_rows=LEAST_ROWS):
    return (check_readme(root, least_rows) + check_suites(root, SYSTEMS) +
            check_suites(root, MACOS))


def self_test():
    def planted(page, *wanted, systems="", macos=""):
        tree.expect(lambda root: check(root, least_rows=1),
                    {PAGE: page, SYSTEMS: systems, MACOS: macos, "tests/a_test.py": "class A:\n    def test_one(self):\n",
                     "tests/b_test.cc": "TEST_F(Bee, Two) {\n}\nTEST_P(Bees, Three) {\n"},
                    *wanted)

    planted("| x | `tests/a_test.py` `test_one` |\n| y | `tests/b_test.cc` `Two`, `Three` |\n")
    planted("| x | `tests/a_test.py` `test_two` |\n", "README.md:1: tests/a_test.py has no test")
    planted("| x | `tests/b_test.cc` `Two`, `Four` |\n", "has no test Four")
    planted("| x | `tests/c_test.cc` `Two` |\n", "there is no tests/c_test.cc")
    planted("nothing\n", "in 0 rows only")
    row = "| x | `tests/a_test.py` `test_one` |\n"
    planted(row, systems="`Bee.Two`, `Bee.T*`, `Bees.*`, `All/Bees.Three/*`; `Lane::RunHere`\n")
    planted(row, "docs/systems.md:2: there is no test Bee.Three", systems="\n`Bee.Three`\n")
    planted(row, "there is no test Wasps.*", systems="`Wasps.*`\n")
    planted(row, "docs/macos.md:1: there is no test Wasps.*", macos="`Wasps.*`\n")
    tree.expect(check, {"a.cc": ""}, "is not there", "is not there", "is not there")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
