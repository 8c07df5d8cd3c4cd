#!/usr/bin/env python3
"""The mutants of tests/mutants fit the sources, so that ./run mutants can be run at any time."""
import pathlib
import sys

import tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutants"))
import mutants  # noqa: E402
import run_mutants  # noqa: E402


def check(root):
    return mutants.check(pathlib.Path(root))


def checks_the_form():
    source = ("#include <a>\nint F(int a, int b) {\n  if (a < b) return 1;\n"
              "  Go(\n      a); Go(b);\n}\n")
    files = {"server/a.cc": source, "tests/a/CMakeLists.txt": "mpsd_test(a_test FILES a_test.cc)\n"}
    good = "a.a.one\nserver/a.cc a_test\n- a < b\n+ a <= b\n"

    def planted(text, *wanted):
        tree.expect(check, {**files, "tests/mutants/server.txt": text}, *wanted)

    planted(good)
    planted("# Why.\n" + good + "\n\na.a.two\nserver/a.cc a_test\n- Go(b);\n+\n")
    planted(good.replace("a < b", "if («a < b») return"))
    planted(good.replace("a.a.one", "one"), "server.txt:1: the name one is not of the form")
    planted(good.replace("server/a", "server/b"), "stands 0 times in server/b.cc")
    planted(good.replace("a.cc", "b.h").replace("server", "worker"), "does not lie in server",
            "stands 0 times")
    planted(good.replace(" a_test", ""), "names no unit test")
    planted(good.replace("a_test", "b_test"), "there is no unit test b_test")
    planted(good.replace("a < b", "a"), "its text stands 4 times")
    planted(good.replace("a <= b", "a < b"), "changes nothing")
    planted(good.replace("a <= b", "a <= (b"), "a bracket of 'a <= (b' stands alone")
    planted(good.replace("a < b", "< b").replace("a <= b", "> b"), "'< b' is no expression")
    declares = {**files, "server/a.cc": "void F() {\n  const int a = 1;\n}\n",
                "tests/mutants/server.txt": "a.a.one\nserver/a.cc a_test\n- const int a = 1;\n+\n"}
    tree.expect(check, declares, "declares what the next lines need")
    planted(good.replace("a <= b", "return 0;"), "a statement on one side")
    planted(good + "\n" + good, "is there twice", "a second mutant of line 3")
    planted(good.replace("a < b", "«a < b"), "not one part between")
    planted(good.replace("+ ", "= "), "not a name, a file with tests")


def mutates():
    source = "// Text.\n#include <a>\nF(a < b);\nGo(\n    a);\n"
    found = mutants.parse("a.a.one\nserver/a.cc a\n- F(«a < b»)\n+ a <= b\n\n"
                          "a.a.two\nserver/a.cc a\n- Go( a);\n+\n", "server.txt")
    assert mutants.mutated(source, found) == (
        "// Text.\n" + mutants.INCLUDE + "#include <a>\n"
        'F((::mpsd::IsMutant("a.a.one") ? (a <= b) : (a < b)));\n'
        '{ if (::mpsd::IsMutant("a.a.two")) {  } else { Go(\n    a); } }\n'), "wrongly mutated"


def judges():
    begun = "[ RUN      ] A.B\n"
    failed = begun + "[  FAILED  ] A.B (0 ms)\n"
    passed = begun + "[       OK ] A.B (0 ms)\n"
    for output, returncode, killer in [
            (passed, 0, None), (failed, 1, "A.B"), (begun, -6, "A.B, which crashed"),
            (passed + begun.replace("B", "C"), -6, "A.C, which crashed"),
            ("", 127, "the start of the program, which crashed")]:
        assert run_mutants.failure(output, returncode, ", which crashed") == killer, output


def draws():
    entry = "a.a.m{0}\n{1}/a.cc a\n- a{0}\n+ b\n\n"
    found = mutants.parse("".join(entry.format(i, "server" if i < 8 else "serverless")
                                  for i in range(10)), "server.txt")
    assert len(run_mutants.choose(found, ["server/"], None, 1)) == 8, "drew from another folder"
    drawn = run_mutants.choose(found, [], 4, 7)
    assert len(drawn) == 4 and drawn == run_mutants.choose(found, [], 4, 7), "drew others"


def self_test():
    checks_the_form()
    mutates()
    judges()
    draws()


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
