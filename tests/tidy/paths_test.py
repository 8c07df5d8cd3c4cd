#!/usr/bin/env python3
"""The files, folders and classes that the pages name are there.

Looked at are the targets of links, `names in backticks` and the words of code blocks. A name with a
slash counts as ours when its first part is a folder of the repository's first two levels, or one
beside the page or beside a folder that the page lies in. `server/door/http_gate` may stand for
the file with its suffix, and `*` for anything. A source file's name without a folder has to be the
name of some file, and a name in the style of a class or a constant has to stand in some source.
"""
import fnmatch
import re
import sys

import tree

FENCE = re.compile(r"^ *```.*?^ *```[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
PATH = re.compile(r"\.{0,2}[\w*][\w.*-]*(?:/[\w.*-]+)+/?")
FILE = re.compile(r"[\w*][\w*-]*\.(?:h|cc|py|sh|cmake|pml)")
# InferTask, kMaxLanes; not what stands behind a slash, as ~/Library/LaunchAgents.
IDENTIFIER = re.compile(r"(?<![\w/])(?:k[A-Z]\w+|[A-Z][a-z]+[A-Z]\w*)\b")
SUFFIXES = ("", ".h", ".cc", ".py", ".sh", ".md", ".proto")
# Made when the repository is built or set up: `build/release/bin/mpsd`.
MADE = {"build", ".deps", "models"}


def words_of(text):
    """(offset, word) of each word that stands in a code block or in backticks."""
    for block in FENCE.finditer(text):
        for word in re.finditer(r"[^\s'\"`,;:()=]+", block[0]):
            yield block.start() + word.start(), word[0]
    outside = FENCE.sub(lambda block: " " * len(block[0]), text)
    for code in CODE.finditer(outside):
        for word in re.finditer(r"[^\s'\",;:()=]+", code[1]):
            yield code.start(1) + word.start(), word[0]


def is_there(base, name):
    pattern = name.rstrip("/")
    if "*" in pattern:
        return any(base.glob(pattern)) or any(base.glob(pattern + ".*"))
    return any((base / (pattern + suffix)).exists() for suffix in SUFFIXES)


def check_identifiers(page, text, identifiers):
    return [f"{page}:{tree.line_of(text, code.start())}: no source has the name {name}"
            for code in CODE.finditer(text) for name in IDENTIFIER.findall(code[1])
            if name not in identifiers]


def check_words(root, page, text, names):
    above = [folder for folder in (root / page).parents if root in folder.parents]
    bases = [root, *above, *tree.folders(root)]
    complaints = []
    for offset, word in words_of(text):
        word = word.rstrip(".")
        where = f"{page}:{tree.line_of(text, offset)}"
        if FILE.fullmatch(word):
            if not fnmatch.filter(names, word):
                complaints.append(f"{where}: no file is called {word}")
            continue
        first = word.split("/")[0]
        ours = PATH.fullmatch(word) and any(first and (base / first).is_dir() for base in bases)
        if ours and first not in MADE and not any(is_there(base, word) for base in bases):
            complaints.append(f"{where}: there is no {word}")
    return complaints


def check_links(root, page, text):
    complaints = []
    for link in LINK.finditer(text):
        target = link[1].split("#")[0]
        if target and "://" not in target and not (root / page).parent.joinpath(target).exists():
            complaints.append(f"{page}:{tree.line_of(text, link.start())}: a link to {target}, "
                              "which is not there")
    return complaints


def check(root):
    names = {file.name for file in tree.files(root)}
    identifiers = {name for file in tree.files(root, ".h", ".cc", ".proto", ".py")
                   for name in re.findall(r"\w+", file.read_text())}
    complaints = []
    for file in tree.files(root, ".md"):
        page, text = file.relative_to(root), file.read_text()
        complaints += check_words(root, page, text, names) + check_links(root, page, text)
        complaints += check_identifiers(page, text, identifiers)
    return complaints


def self_test():
    def planted(text, *wanted, page="README.md"):
        files = {"server/listen/a_guard.h": "class OneGuard;", "server/README.md": "",
                 "tests/crash/b_test.py": "", "run": ""}
        tree.expect(check, {page: text, **files}, *wanted)

    planted("`server/listen/a_guard.h`, `server/listen/a_guard`, `server/listen/`, `a_guard.h`\n")
    planted("`server/*/a_*`, `a_*.h`; `a/b` and `and/or.h` are not ours\n")
    planted("x\n`server/door/a_guard`\n", "README.md:2: there is no server/door/a_guard")
    planted("`server/*/c_*`\n", "there is no server/*/c_*")
    planted("see `c_guard.h`\n", "no file is called c_guard.h")
    planted("```\nx\ntests/crash/b_test.py --only server/x.h\n```\n", "README.md:3: there is")
    planted("```\nserver/x.h\n```\n`server/y.h`\n", "no server/x.h", "README.md:4: there is no ser")
    planted("./run and `build/bin/x.y/z`, `.deps/lib`\n")
    planted("`listen/a_guard`, `crash/b_test`\n")
    planted("`listen/b_guard`\n", "server/b.md:1: there is no listen/b_guard", page="server/b.md")
    planted("`d/b`, `d/c`\n", "there is no d/c", page="tests/crash/d/b.md")
    planted("`OneGuard`, `~/Library/LaunchAgents`, `KIND_CPU` and `Cat`\n")
    planted("x\n`OneGuard::Find`, `NoGuard`\n", "README.md:2: no source has the name NoGuard")
    planted("`kMost`\n", "README.md:1: no source has the name kMost")
    planted("[a](server/README.md#part), [b](#here), [c](https://a.b/c)\n")
    planted("[a](server/b.md)\n", "README.md:1: a link to server/b.md")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
