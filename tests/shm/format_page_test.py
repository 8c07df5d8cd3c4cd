#!/usr/bin/env python3
"""Holds docs/shared-memory-format.md to the layout that the code has.

format_page_test.py FACTS LAYOUT PAGE
FACTS prints "name offset bytes" lines; LAYOUT is proto/shm/layout.h, of which no structure and no
field may be missing from what FACTS prints.
"""
import difflib
import pathlib
import re
import subprocess
import sys

STRUCT = re.compile(r"^### `(\w+)`: (\d+) bytes$")
FIELD = re.compile(r"^\| (\d+) \| (\d+) \| `(\w+)")
CONSTANT = re.compile(r"^\| `(k\w+)` \| (0x[0-9a-f]+|\d+) \|")


def of_page(text):
    lines, struct = [], None
    for line in text.splitlines():
        if line.startswith("#"):
            struct = None
        if match := STRUCT.match(line):
            struct = match[1]
            lines.append(f"{struct} 0 {match[2]}")
        elif (match := FIELD.match(line)) and struct:
            lines.append(f"{struct}.{match[3]} {match[1]} {match[2]}")
        elif match := CONSTANT.match(line):
            lines.append(f"{match[1]} {int(match[2], 0)} 0")
    return lines


def of_header(text):
    """The names of the structures and of their fields."""
    names = set()
    text = re.sub(r"//[^\n]*", "", text)
    for match in re.finditer(r"^struct (?:alignas\([^)]*\) )?(\w+) {(.*?)^};", text, re.M | re.S):
        names.add(match[1])
        for field in re.findall(r"(\w+)(?:\[[^\]]*\])?(?:\s*=[^;]*)?;", match[2]):
            names.add(f"{match[1]}.{field}")
    return names


def main(facts_program, layout, page):
    facts = subprocess.run([facts_program], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    known = {line.split()[0] for line in facts}
    faults = [f"{layout} has {name}, tests/shm/format_facts.cc does not print it"
              for name in sorted(of_header(pathlib.Path(layout).read_text()) - known)]
    said = of_page(pathlib.Path(page).read_text())
    faults += difflib.unified_diff(sorted(said), sorted(facts), page, "the code",
                                   lineterm="", n=0)
    print("\n".join(faults) or f"{len(facts)} facts, all of them as the page has them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
