#!/usr/bin/env python3
"""libmpsd-driver-guard, put in front of a program that knows nothing of it.

guard_library_test.py PROGRAM LIBRARY
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM, LIBRARY = map(pathlib.Path, sys.argv[1:3])
NO_RUNTIME = 77


def run(program=PROGRAM, guarded=True, **environment):
    if guarded:
        environment["LD_PRELOAD"] = str(LIBRARY)
    return subprocess.run([program], text=True, capture_output=True, timeout=100, check=False,
                          env={**os.environ, **environment})


def lost(done):
    return int(re.fullmatch(r"lost (-?\d+)\n", done.stdout)[1])


class GuardLibrary(unittest.TestCase):
    def setUp(self):
        if run(guarded=False).returncode == NO_RUNTIME:
            self.skipTest("there is no Objective-C runtime")

    def test_without_it_the_program_loses_counts(self):
        self.assertGreater(lost(run(guarded=False)), 0)

    def test_with_it_never(self):
        for _ in range(5):
            self.assertEqual(lost(run()), 0)

    def test_it_says_nothing_unless_it_is_asked(self):
        self.assertEqual(run().stderr, "")
        self.assertEqual(run(MPSD_DRIVER_GUARD_REPORT="").stderr, "")

    def test_its_report_says_that_it_holds_and_how_often_it_was_called(self):
        first, last = run(MPSD_DRIVER_GUARD_REPORT="1").stderr.splitlines()
        self.assertEqual(first, "mpsd-driver-guard: held")
        self.assertEqual(last, "mpsd-driver-guard: held, 16000 calls")

    def test_a_program_without_metal_runs_on_and_hears_why_there_is_no_guard(self):
        done = run("/bin/true", MPSD_DRIVER_GUARD_REPORT="1")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "mpsd-driver-guard: missing: Metal has no device here\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
