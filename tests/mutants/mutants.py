"""The mutants of tests/mutants/*.txt: how they are read, checked and put into a tree.

A data file is named for the top folder whose sources it mutates. An entry is a block of lines:

    # Why this fault matters, if that is not plain.
    batch.token_budget.counts_the_largest_row
    server/pool/batch/token_budget.cc server_pool_batch_test
    - rows * «std::max(longest, tokens)» > budget
    + tokens

The first line is the mutant's name. The second names the source and the unit tests that have to
notice. The text behind "- " stands in the source exactly once; a blank may also be a line's end
there. The mutant replaces the part between « and », or all of the text if it has no marks. A part
that ends with ; or } is made of statements, any other is an expression. A "+" with nothing behind
it leaves statements out. A part that is an expression is whole: of `a - b < c` that is `a - b` or
all of it, and not `b < c`.
"""
import dataclasses
import pathlib
import re

INCLUDE = '#include "tests/mutants/is_mutant.h"\n'
NO_EXPRESSION = re.compile(r"(?:if|for|while|return)\b|[<>=/%|?:,.]")
DECLARATION = re.compile(r"(?:const|auto)\b")
NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


class FormatError(Exception):
    pass


@dataclasses.dataclass
class Mutant:
    name: str
    file: str
    tests: list
    before: str  # in the source, in front of the mutated part
    old: str
    after: str  # behind it
    new: str
    where: str  # file and line of the entry

    @property
    def is_statement(self):
        return self.old.endswith((";", "}"))

    def places(self, text):
        """The (begin, end) of the mutated part wherever the anchor stands in `text`."""
        pattern = "(?={}({}){})".format(*(r"\s+".join(re.escape(word) for word in part.split(" "))
                                        for part in (self.before, self.old, self.after)))
        return [match.span(1) for match in re.finditer(pattern, text)]

    def choice(self, old):
        """The text that replaces `old`, which is the mutated part as the source has it."""
        if self.is_statement:
            return f'{{ if (::mpsd::IsMutant("{self.name}")) {{ {self.new} }} else {{ {old} }} }}'
        return f'(::mpsd::IsMutant("{self.name}") ? ({self.new}) : ({old}))'


def parse_entry(lines, where):
    """The mutant of one block of lines."""
    if len(lines) != 4 or not lines[2].startswith("- ") or not lines[3].startswith("+"):
        raise FormatError(f"{where}: not a name, a file with tests, a '- ' line and a '+' line")
    file, *tests = lines[1].split()
    marked, new = lines[2][2:], lines[3][1:].strip()
    if "«" not in marked:
        return Mutant(lines[0], file, tests, "", marked, "", new, where)
    parts = re.fullmatch(r"([^«»]*)«([^«»]+)»([^«»]*)", marked)
    if not parts:
        raise FormatError(f"{where}: not one part between « and »")
    return Mutant(lines[0], file, tests, *parts.groups(), new, where)


def parse(text, path):
    mutants, block = [], []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line.rstrip())
        elif block:
            mutants.append(parse_entry(block, f"{path}:{number - len(block)}"))
            block = []
    return mutants


def read(root):
    """All mutants of the tree, in the order of their files."""
    return [mutant for path in sorted((root / "tests/mutants").glob("*.txt"))
            for mutant in parse(path.read_text(), path.relative_to(root))]


def unit_tests(root):
    """The names of the unit tests' binaries."""
    return {name for path in (root / "tests").rglob("CMakeLists.txt")
            for name in re.findall(r"mpsd_test\(\s*(\w+)", path.read_text())}


def check_form(mutant, tests):
    """Complaints about an entry that need no source."""
    top = pathlib.PurePath(mutant.where.split(":")[0]).stem
    if not NAME.fullmatch(mutant.name):
        yield f"the name {mutant.name} is not of the form folder.noun.what"
    if not mutant.file.startswith(top + "/"):
        yield f"{mutant.file} does not lie in {top}"
    if not mutant.tests:
        yield f"{mutant.name} names no unit test"
    for test in mutant.tests:
        if test not in tests:
            yield f"there is no unit test {test}"
    if mutant.new == mutant.old:
        yield f"{mutant.name} changes nothing"
    for text in (mutant.old, mutant.new):
        if any(text.count(pair[0]) != text.count(pair[1]) for pair in ("()", "{}", "[]")):
            yield f"{mutant.name}: a bracket of '{text}' stands alone"
    if not mutant.is_statement and NO_EXPRESSION.match(mutant.old):
        yield f"{mutant.name}: '{mutant.old}' is no expression"
    if mutant.is_statement and DECLARATION.match(mutant.old):
        yield f"{mutant.name}: '{mutant.old}' declares what the next lines need"
    if mutant.is_statement != (not mutant.new or mutant.new.endswith((";", "}"))):
        yield f"{mutant.name} has a statement on one side and an expression on the other"


def check(root):
    """Complaints about the mutants of the tree: each fits its source, in a line of its own."""
    try:
        all_mutants = read(root)
    except FormatError as error:
        return [str(error)]
    complaints, names, lines, tests = [], set(), set(), unit_tests(root)
    for mutant in all_mutants:
        found = list(check_form(mutant, tests))
        if mutant.name in names:
            found.append(f"{mutant.name} is there twice")
        names.add(mutant.name)
        source = root / mutant.file
        text = source.read_text() if source.is_file() else ""
        places = mutant.places(text)
        if len(places) != 1:
            found.append(f"{mutant.name}: its text stands {len(places)} times in {mutant.file}")
        for begin, end in places[:1]:
            first, last = (text.count("\n", 0, offset) + 1 for offset in (begin, end))
            found += [f"{mutant.name} is a second mutant of line {line} of {mutant.file}"
                      for line in range(first, last + 1) if (mutant.file, line) in lines]
            lines.update((mutant.file, line) for line in range(first, last + 1))
        complaints += [f"{mutant.where}: {complaint}" for complaint in found]
    return complaints


def mutated(text, mutants):
    """A source's text with a choice at the place of each of its mutants."""
    places = sorted(((mutant.places(text)[0], mutant) for mutant in mutants),
                    key=lambda place: place[0], reverse=True)
    for (begin, end), mutant in places:
        text = text[:begin] + mutant.choice(text[begin:end]) + text[end:]
    first = re.search(r"^#include ", text, re.MULTILINE)
    return text[:first.start()] + INCLUDE + text[first.start():]
