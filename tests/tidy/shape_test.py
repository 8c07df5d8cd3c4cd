#!/usr/bin/env python3
"""Functions of at most 70 lines, lines of at most 100 columns."""
import re
import sys

import tree

MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100

NOISE = re.compile(
    r'R"(?P<tag>\w*)\((?:.|\n)*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
    r"|//[^\n]*|/\*(?:.|\n)*?\*/|^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
FUNCTION_END = re.compile(
    r"\)\s*(?:const|noexcept|override|final|mutable|&&?|->[^{};]*|ABSL_\w+(?:\([^()]*\))?|\s)*$"
    r"|\)\s*:\s[^;]*[)}]\s*$")
INITIALIZER = re.compile(r"\)\s*(?:noexcept\s*)?:\s[^;]*\w\s*$")


def blank(text):
    """`text` with comments, strings and preprocessor lines blanked, every line kept in place."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


class Scanner:
    """Walks the braces of one file and collects the functions that stand outside of others."""

    def __init__(self, text):
        self.code = blank(text)
        self.functions = []  # (first line, last line, head)
        self.blocks = []     # the open braces: (begin, head) of a function, None for others
        self.constructor = None  # where a constructor began whose initializers have braces

    def run(self):
        start = 0
        for match in re.finditer(r"[{};]", self.code):
            if match[0] == "{":
                self.open(start, match.start())
            elif match[0] == "}" and self.blocks:
                self.close(match.start())
            else:
                self.constructor = None
            start = match.end()
        return self.functions

    def open(self, start, at):
        head = self.code[start:at]
        if any(self.blocks):
            self.blocks.append(None)
            return
        if self.constructor is not None and re.search(r"(^|[)])\s*$", head):
            start, head = self.constructor, self.code[self.constructor:at]
        elif self.constructor is None and not FUNCTION_END.search(head):
            self.constructor = start if INITIALIZER.search(head) else None
            self.blocks.append(None)
            return
        elif self.constructor is not None:
            self.blocks.append(None)
            return
        self.constructor = None
        self.blocks.append((start + len(head) - len(head.lstrip()), head.strip()))

    def close(self, at):
        block = self.blocks.pop()
        if block is not None:
            lines = [tree.line_of(self.code, offset) for offset in (block[0], at)]
            self.functions.append((*lines, block[1]))


def check(root):
    complaints = []
    for file in tree.files(root, ".h", ".cc"):
        path, text = file.relative_to(root), file.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                complaints.append(f"{path}:{number}: {len(line)} columns")
        for first, last, head in Scanner(text).run():
            if last - first + 1 > MAX_FUNCTION_LINES:
                name = re.sub(r"\s+", " ", head)[:60]
                complaints.append(f"{path}:{first}: {last - first + 1} lines: {name}")
    return complaints


def self_test():
    def body(lines):
        return "".join(f"  Step({i});\n" for i in range(lines))

    def planted(text, *wanted):
        tree.expect(check, {"server/a.cc": text}, *wanted)

    planted("void F() {\n" + body(68) + "}\n")
    planted("void F() {\n" + body(69) + "}\n", "a.cc:1: 71 lines: void F()")
    planted("namespace x {\n" + "void F();\n" * 100 + "}\n")
    planted("class A {\n" + "  int F() const { return 1; }\n" * 100 + "};\n")
    planted("class A {\n  int F() const override {\n" + body(80) + "  }\n};\n", "a.cc:2: 82 lines")
    planted("A::A(int b) : b_(b), c_{b} {\n" + body(80) + "}\n", "82 lines")
    planted("auto F() -> absl::Status {\n" + body(80) + "}\n", "82 lines")
    planted("TEST(A, B) {\n  auto f = [] {\n" + body(70) + "  };\n}\n", "a.cc:1: 74 lines: TEST")
    planted('void F() { Say("{"); }\n' + "int a;\n" * 80 + "void G() {}\n")
    planted("const char* k = R\"({)\";\n" + "int a;\n" * 80 + "void G() {}\n")
    planted("void F() { a = 1'000'000; b = '{'; }\n" + "int a;\n" * 80 + "void G() {}\n")
    planted("#define OPEN {\n// {\n" + "int a;\n" * 80 + "void G() {}\n")
    planted("int " + "a" * 96 + ";\n", "a.cc:1: 101 columns")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
