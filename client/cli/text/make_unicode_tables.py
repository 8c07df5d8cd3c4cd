#!/usr/bin/env python3
"""Prints unicode_tables.inc: what BERT's tokenization needs of Unicode, below U+10000.

Run with: client/cli/text/make_unicode_tables.py > client/cli/text/unicode_tables.inc
"""
import unicodedata

LAST = 0xFFFF
SKIPPED = [(0xD800, 0xDFFF), (0x3100, 0xFDFF)]  # surrogates; Han, and Hangul, which has a rule


def code_points():
    return [c for c in range(LAST + 1) if not any(a <= c <= b for a, b in SKIPPED)]


def print_ranges(name, wanted):
    ranges = []
    for c in code_points():
        if not wanted(c):
            continue
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    print(f"constexpr Range {name}[] = {{")
    print_rows([f"{{0x{a:x}, 0x{b:x}}}," for a, b in ranges])
    print("};")


def print_rows(entries):
    row = ""
    for entry in entries:
        if len(row) + len(entry) + 1 > 98:
            print(" ", row.strip())
            row = ""
        row += entry + " "
    print(" ", row.strip())


def fold(c):
    """`c` decomposed, without accents, in lower case; None unless that is one character."""
    parts = [p for p in unicodedata.normalize("NFD", chr(c)) if unicodedata.category(p) != "Mn"]
    text = "".join(p.lower() for p in parts)
    return ord(text) if len(text) == 1 and ord(text) <= LAST else None


def print_folds():
    runs = []  # first, last, step, target of the first, step of the target
    last_target = 0
    for c in code_points():
        target = fold(c)
        if target is None or target == c:
            continue
        run = runs[-1] if runs else None
        if run and run[0] == run[1] and c - run[1] in (1, 2) and target - run[3] in (0, c - run[1]):
            run[1:] = [c, c - run[1], run[3], target - run[3]]
        elif run and run[0] != run[1] and c - run[1] == run[2] and target - last_target == run[4]:
            run[1] = c
        else:
            runs.append([c, c, 1, target, 0])
        last_target = target
    print("constexpr FoldRun kFolds[] = {")
    print_rows([f"{{0x{a:x}, 0x{b:x}, {s}, 0x{t:x}, {u}}}," for a, b, s, t, u in runs])
    print("};")


def main():
    print("// Written by make_unicode_tables.py; each table is sorted.")
    print_ranges("kPunctuation", lambda c: unicodedata.category(chr(c))[0] == "P")
    print_ranges("kAccents", lambda c: unicodedata.category(chr(c)) == "Mn")
    print_ranges("kControls", lambda c: unicodedata.category(chr(c)) in ("Cc", "Cf", "Co"))
    print_folds()


main()
