#!/usr/bin/env python3
"""The table of faults in tests/crash/README.md: every row is there, and every test it names exists."""
import fnmatch
import re
import sys

import tree

TABLE = "tests/crash/README.md"
ROWS = set(range(1, 34))

ROW = re.compile(r"^\| (\d+(?:, \d+)*) [^|]*\| (.*) \|$", re.MULTILINE)
MENTION = re.compile(r"`([^`]+)`")
PYTHON_TEST = re.compile(r"^    def (test_\w+)\(", re.MULTILINE)
CPP_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)


def tests_of(root, name):
    """The tests in tests/NAME.py or tests/NAME.cc; None when there is no such file."""
    python, cpp = root / f"tests/{name}.py", root / f"tests/{name}.cc"
    if python.is_file():
        return set(PYTHON_TEST.findall(python.read_text()))
    if cpp.is_file():
        return {".".join(names) for names in CPP_TEST.findall(cpp.read_text())}
    return None


def check_row(root, where, text):
    """What is wrong with the tests that a row names: a file, then some of its tests."""
    complaints, tests, count = [], None, 0
    for name in MENTION.findall(text):
        if "/" in name:
            tests = tests_of(root, name)
            if tests is None:
                complaints.append(f"{where}: there is no tests/{name}.py or .cc")
        elif tests is not None and not fnmatch.filter(tests, name):
            complaints.append(f"{where}: there is no test {name}")
        else:
            count += tests is not None
    if count == 0:
        complaints.append(f"{where}: it names no test that exists")
    return complaints


def check(root):
    complaints, seen = [], set()
    text = (root / TABLE).read_text()
    for match in ROW.finditer(text):
        numbers = {int(number) for number in re.findall(r"\d+", match[1])}
        seen |= numbers
        complaints += check_row(root, f"{TABLE}:{tree.line_of(text, match.start())}", match[2])
    missing = sorted(ROWS - seen)
    if missing:
        complaints.append(f"{TABLE}: no row of fault {', '.join(map(str, missing))}")
    return complaints


def self_test():
    suites = {"tests/crash/a_test.py": "class A:\n    def test_one(self):\n        pass\n",
              "tests/shm/b_test.cc": "TEST_F(Ring, Wraps) {\n}\n"}
    whole = "".join(f"| {number} it | `crash/a_test` `test_one` |\n" for number in sorted(ROWS))

    def planted(table, *wanted):
        tree.expect(check, {**suites, TABLE: table}, *wanted)

    planted(whole)
    planted(whole + "| 6, 7 memory | `shm/b_test` `Ring.Wraps`; `crash/a_test` `test_o*` |\n")
    planted(whole + "| 6 memory | `shm/b_test` `Ring.Turns` |\n", "no test Ring.Turns", "names no")
    planted(whole + "| 6 memory | `crash/a_test` `test_one`, `test_two` |\n", "no test test_two")
    planted(whole + "| 6 memory | `crash/c_test` `test_one` |\n", "no tests/crash/c_test", "names no")
    planted(whole + "| 6 memory | `crash/a_test` |\n", "names no test")
    planted(whole.replace("| 5 it", "| 17 it"), "no row of fault 5")
    planted(whole.replace("| 5 it", "| 4, 5 it"))


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
