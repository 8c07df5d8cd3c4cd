#!/usr/bin/env python3
"""Words that have no place in the repository, and the comments that a header must have."""
import re
import sys

import tree

TEXT = (".h", ".cc", ".proto", ".cmake", ".txt", ".sh", ".py", ".md", ".json", ".yaml", ".yml",
        ".toml", ".service", ".plist", ".rb", ".cfg", ".conf", "/run", "Dockerfile")

# Each is written so that it does not match itself.
FORBIDDEN = [
    (r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b", "unfinished work belongs in no file"),
    (r"^\s*(?://|#|\*)\s*[-=*#~]{8,}\s*$", "a banner"),
    (r"@auth[o]r|\b(?:Auth[o]r|Created b[y]|Copyrigh[t])\b\s*[:(]", "authorship is in the history"),
    (r"(?<![\w.])/wor[k]/|(?<![\w.])/roo[t]/|(?<![\w.])/hom[e]/\w|/tm[p]/b-", "a machine's path"),
    (r"\b(?:pyp[i]|npmj[s]|gola[n]g|crate[s])\.(?:org|com|io)\b|pythonhoste[d]|de[b]\.debian\.org"
     r"|--index-ur[l]|--extra-index-ur[l]", "the name of a registry's host"),
    (r"(?i)\bsub-?agen[t]s?\b|\bthe lead enginee[r]\b|\bthis sessio[n]'s\b|\bthe brie[f]\b",
     "a word of how the work was organised"),
]

THREAD_SAFETY = re.compile(r"thread-safe|thread-compatible|lives on", re.IGNORECASE)
CLASS = re.compile(
    r"((?:^//[^\n]*\n)*)(?:^template\s*<[^;{]*>\s*\n)?^class\s+(?:ABSL_\w+(?:\([^)]*\))?\s+|"
    r"alignas\([^)]*\)\s+)?(\w+)\b[^;{(]*\{", re.MULTILINE)


def check_words(path, text):
    complaints = []
    for pattern, why in FORBIDDEN:
        for match in re.finditer(pattern, text, re.MULTILINE):
            line = tree.line_of(text, match.start())
            complaints.append(f"{path}:{line}: '{match[0].strip()}': {why}")
    return complaints


def check_header(path, text):
    complaints = []
    if not re.search(r"^#pragma once$", text, re.MULTILINE):
        complaints.append(f"{path}:1: no #pragma once")
    for match in CLASS.finditer(text):
        line = tree.line_of(text, match.start(2))
        if not match[1]:
            complaints.append(f"{path}:{line}: class {match[2]} has no comment")
        elif not THREAD_SAFETY.search(match[1]):
            complaints.append(f"{path}:{line}: class {match[2]} does not say which threads may use "
                              "it (Thread-safe, Thread-compatible or Lives on ...)")
    return complaints


def check(root):
    complaints = []
    for file in tree.files(root):
        path = file.relative_to(root)
        if not ("/" + str(path)).endswith(TEXT):
            continue
        text = file.read_text()
        complaints += check_words(path, text)
        if path.suffix == ".h":
            complaints += check_header(path, text)
    return complaints


def self_test():
    def planted(text, *wanted, name="a.cc"):
        tree.expect(check, {name: text}, *wanted)

    planted("// What comes to do next is clear.\n")
    planted("// TO" + "DO: later\n", "unfinished work")
    planted("# FIX" + "ME\n", "a.sh:1", name="a.sh")
    planted("//" + "=" * 20 + "\n", "banner")
    planted("| --- | --- |\n---\n", name="a.md")
    planted("// Auth" + "or: somebody\n", "authorship")
    planted("see /wor" + "k/main\n", "machine's path", name="a.md")
    planted("docs/wo" + "rk/home is fine, /ho" + "me alone too\n", name="a.md")
    planted("https://pyp" + "i.org/simple\n", "registry", name="a.md")
    planted("text\nfor a sub" + "agent\n", "a.md:2", name="a.md")
    planted("exec x # /roo" + "t/x\n", "machine's path", name="run")
    planted("int a;\n", "no #pragma once", name="a.h")
    head = "#pragma once\n"
    planted(head + "// A queue. Thread-safe.\nclass A {\n};\n", name="a.h")
    planted(head + "// A queue.\n//\n// Lives on the lane's thread.\nclass A final : B {};\n",
            name="a.h")
    planted(head + "class A;\nenum class B { kC };\nstruct D {};\n", name="a.h")
    planted(head + "class A {\n};\n", "class A has no comment", name="a.h")
    planted(head + "// A queue.\nclass A : public B {\n};\n", "does not say which", name="a.h")
    planted(head + "// A queue.\ntemplate <typename T>\nclass A {\n};\n", "a.h:4: class A",
            name="a.h")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
