#!/usr/bin/env python3
"""Passes ctest's output on and puts a table of suites in front of its closing lines.

ci_table.py BUILDS PRESETS <ctest's output
BUILDS has "preset<TAB>seconds" lines; PRESETS has "preset<TAB>tests" lines in ctest's order.
"""
import re
import sys
import time

RESULT = re.compile(r"\s*\d+/\d+ Test\s+#(\d+): (.+?)(?:  # GetParam\(\) = .*)? \.{2,}\s*(\**)(\w.*?)\s+([\d.]+) sec")
CLOSING = re.compile(r"\d+% tests passed")


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


class Table:
    """Counts results by (preset, suite)."""

    def __init__(self, presets):
        self.first_numbers = []
        number = 1
        for preset, tests in presets:
            self.first_numbers.append((number, preset))
            number += int(tests)
        self.rows = {}
        self.failed = []

    def preset_of(self, number):
        return [preset for first, preset in self.first_numbers if first <= number][-1]

    def add(self, match):
        number, name, outcome, seconds = int(match[1]), match[2], match[4], float(match[5])
        preset = self.preset_of(number)
        suite = {"macos": "check-macos"}.get(preset) or (
            "tidy" if name.startswith("tidy.") else "ctest")
        row = self.rows.setdefault((preset, suite), [0, 0.0])
        row[0] += 1
        row[1] += seconds
        if not outcome.startswith(("Passed", "Skipped")):
            self.failed.append(f"{preset}: {name}: {outcome}")

    def text(self, builds, wall_seconds):
        """The seconds of a suite are the sum of its tests', several of which run at a time."""
        lines = ["", f"{'suite':<14}{'preset':<10}{'tests':>6}{'seconds':>10}"]
        lines += [f"{'build':<14}{preset:<10}{'':>6}{float(s):>10.1f}" for preset, s in builds]
        for (preset, suite), (count, seconds) in sorted(self.rows.items()):
            lines.append(f"{suite:<14}{preset:<10}{count:>6}{seconds:>10.1f}")
        lines.append(f"{'all tests':<14}{'':<10}{'':>6}{wall_seconds:>10.1f}")
        lines += [f"failed in {failure}" for failure in self.failed]
        return "\n".join(lines + ["", ""])


def main(builds_path, presets_path):
    table, shown, start = Table(read_pairs(presets_path)), False, time.monotonic()
    for line in sys.stdin:
        match = RESULT.match(line)
        if match:
            table.add(match)
        if CLOSING.match(line) and not shown:
            shown = True
            print(table.text(read_pairs(builds_path), time.monotonic() - start))
        print(line, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
