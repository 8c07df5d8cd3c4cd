#!/usr/bin/env python3
"""`./run build` on a fresh clone: with what tests need, but for the preset that is served."""
import unittest

import bare_run

CLONE = [["run", "CMakePresets.json", "./"], ["cmake/setup", "cmake/setup"],
         ["tests/requirements.txt", "tests/"]]
FOR_TESTS = {".stamp-venv", "venv"}


class RunBuild(unittest.TestCase):
    def check(self, *preset):
        complaints, made = bare_run.run(CLONE, "build", *preset)
        self.assertEqual(complaints, "")
        return made

    def test_release_is_for_serving(self):
        for preset in ((), ("release",)):
            self.assertFalse(FOR_TESTS & self.check(*preset))

    def test_others_are_for_tests(self):
        for preset in ("dev", "asan", "tsan", "crash"):
            self.assertLessEqual(FOR_TESTS, self.check(preset), preset)


if __name__ == "__main__":
    unittest.main(verbosity=2)
