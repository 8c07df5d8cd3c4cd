#!/usr/bin/env python3
"""Plain English in comments and pages: no file has more faults than the table beside this test allows.

english_test.py [--update] [--list PATH]
A fault is a sentence that a reader has to read twice (FAULTS below). The table `english_faults.tsv`
holds how many each file had; a file without a row has none. --update writes the table anew, and is
for a change that made files better. --list shows the faults of the files whose path begins so.
"""
import collections
import re
import sys

import tree

TABLE = "tests/tidy/english_faults.tsv"
MOST_WORDS = 30  # of a sentence
MOST_PARAGRAPH_WORDS = 120
HANGING = re.compile(r"\b(?:of which|of those|of it|that of|those of|of whom)\b", re.I)
OPENING = re.compile(r"(?:who|what|those|whoever|of)\b(?! course)", re.I)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"(\[])")
WORD = re.compile(r"[A-Za-z][\w'’-]*")
COMMENT = re.compile(r"^\s*//+( *)(.*)$")
DIAGRAM_SPACES = 3  # in front of an example, a table or a drawing in a comment
TRAILING = re.compile(r'^(?:[^"\n]|"(?:[^"\\]|\\.)*")*?\S\s*//+ ?(.*)$')
CODE = re.compile(r"`[^`]*`")


def paragraphs_of_source(text):
    """(line, paragraph) of each comment; one behind code is a paragraph of its own."""
    block, start = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        whole = COMMENT.match(line)
        if whole and whole[2].strip() and len(whole[1]) < DIAGRAM_SPACES:
            start = start or number
            block.append(whole[2].strip())
            continue
        if block:
            yield start, " ".join(block)
            block, start = [], 0
        if not whole and "//" in line:
            behind = TRAILING.match(line)
            if behind:
                yield number, behind[1].strip()
    if block:
        yield start, " ".join(block)


def paragraphs_of_page(text):
    """(line, paragraph) of a page: list items and cells of tables are paragraphs, code is none."""
    block, start, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
            bare = ""
        begins = re.match(r"(?:[-*]|\d+\.)\s+(.*)", bare)
        if fenced or not bare or bare[0] in "#|" or begins:
            if block:
                yield start, " ".join(block)
            block, start = [], 0
        if fenced or not bare or bare[0] == "#":
            continue
        if bare[0] == "|":
            for cell in bare.strip("|").split("|"):
                yield number, cell.strip()
            continue
        start = start or number
        block.append(begins[1] if begins else bare)


def faults_of(paragraph):
    """What a reader stumbles over in one paragraph."""
    plain = CODE.sub("code", re.sub(r"\]\([^)]*\)", "]", paragraph))
    found = []
    if len(WORD.findall(plain)) > MOST_PARAGRAPH_WORDS:
        found.append(f"a paragraph of more than {MOST_PARAGRAPH_WORDS} words")
    for sentence in SENTENCE_END.split(plain):
        opening = OPENING.match(sentence.lstrip("*_([\"'"))
        if opening and not sentence.rstrip("*_)\"'").endswith("?"):
            found.append(f"begins with '{opening[0]}'")
        if len(HANGING.findall(sentence)) > 1:
            found.append("hangs on more than one 'of which', 'of those', 'of it', 'that of'")
        if len(WORD.findall(sentence)) > MOST_WORDS:
            found.append(f"a sentence of more than {MOST_WORDS} words")
    return found


def read(root):
    """({path: [(line, fault)]}, {top folder: [words, faults]}) of all sources and pages."""
    faults, rates = {}, collections.defaultdict(lambda: [0, 0])
    for file in tree.files(root, ".h", ".cc", ".md"):
        path = file.relative_to(root).as_posix()
        paragraphs = paragraphs_of_page if path.endswith(".md") else paragraphs_of_source
        found, words = [], 0
        for line, paragraph in paragraphs(file.read_text()):
            words += len(WORD.findall(paragraph))
            found += [(line, fault) for fault in faults_of(paragraph)]
        rate = rates[path.split("/")[0] if "/" in path else "."]
        rate[0] += words
        rate[1] += len(found)
        if found:
            faults[path] = found
    return faults, rates


def allowed(root):
    table = root / TABLE
    if not table.exists():
        return {}
    rows = (line.split("\t") for line in table.read_text().splitlines())
    return {path: int(count) for path, count in rows}


def check(root, **more):
    faults, rates = read(root)
    if more.get("list"):
        return [f"{path}:{line}: {fault}" for path, found in faults.items()
                if path.startswith(more["list"]) for line, fault in found]
    if more.get("update"):
        (root / TABLE).write_text("".join(f"{path}\t{len(found)}\n" for path, found in faults.items()))
    limits = allowed(root)
    complaints = []
    for path, found in faults.items():
        limit = limits.get(path, 0)
        if len(found) > limit:
            complaints.append(f"{path}: {len(found)} faults, {limit} are allowed: "
                              + "; ".join(f"line {line} {fault}" for line, fault in found))
    for folder, (words, count) in sorted(rates.items()):
        print(f"{folder}: {words} words, {1000 * count / max(words, 1):.1f} faults per 1,000")
    return complaints


def self_test():
    def planted(text, *wanted, name="a.cc", **more):
        tree.expect(check, {name: text, **more}, *wanted)

    planted("// The lane waits for a batch. It then runs the batch.\nint a = 1;  // rows so far\n")
    planted("// Who waits is woken.\n", "a.cc: 1 faults, 0 are allowed: line 1 begins with 'Who'")
    planted("// What is a lane? A thread.\n")
    planted("int64_t wait_ns;  // of its request\n", "begins with 'of'")
    planted('const char* url = "http://of/it";\n')
    planted("// The lane has it.\n// Those wait.\n", "line 1 begins with 'Those'")
    planted("// Of it the sum of those, and that of it.\n", "begins with 'Of'; line 1 hangs on")
    planted("// The lane" + " and the lane" * 10 + ".\n", "a sentence of more than 30")
    planted("// The lane" + ". The lane" * 70 + ".\n", "a paragraph of more than 120")
    planted("# Who\n\n```\nWho waits.\n```\n\n- What waits.\n", "line 7 begins", name="a.md")
    planted("| a | Those wait. |\n", "line 1 begins", name="a.md")
    planted("// So:\n//\n//   what waits   who sleeps\n//\n// It runs.\n")
    planted("// Who waits.\n", **{TABLE: "a.cc\t1\n"})
    planted("// Who waits.\n// Who sleeps.\n", "2 faults, 1 are allowed", **{TABLE: "a.cc\t1\n"})


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, {"update": "write the table anew"},
                       list="show faults of PATH"))
