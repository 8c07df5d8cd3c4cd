#!/usr/bin/env python3
"""`./run check-macos`: which versions of libtorch it takes, and in which order."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "cmake/macos/check.sh"
WHEELS = ROOT / "cmake/macos/libtorch_wheels.txt"


def wheels():
    return [tuple(line.split()) for line in WHEELS.read_text().splitlines()
            if not line.startswith("#")]


class CheckMacos(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))

    def test_each_wheel_is_pinned_once(self):
        for version, sha in wheels():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$")
            self.assertRegex(sha, r"^[0-9a-f]{64}$")
        for column in zip(*wheels()):
            self.assertEqual(len(set(column)), len(column))

    def test_the_first_is_what_a_mac_is_served_with(self):
        text = (ROOT / "cmake/setup/libtorch.sh").read_text()
        served = tuple(re.search(rf"^{name}=(\S+)$", text, re.M)[1]
                       for name in ("version", "mac_torch_sha"))
        self.assertEqual(wheels()[0], served)

    def test_an_unknown_version_is_named_and_nothing_is_fetched(self):
        done = subprocess.run([CHECK, self.folder / "cache", "1", "worker", "1.0.0"], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no libtorch 1.0.0 in ", done.stderr)
        self.assertEqual(list((self.folder / "cache").iterdir()), [])

    def checks(self, *arguments, fails_at="none"):
        """(exit code, the versions that were asked for), with a stand-in for check.sh."""
        shutil.copy(ROOT / "run", self.folder / "run")
        shutil.copytree(ROOT / "cmake/setup", self.folder / "cmake/setup", dirs_exist_ok=True)
        (self.folder / "cmake/macos").mkdir(exist_ok=True)
        shutil.copy(WHEELS, self.folder / "cmake/macos")
        stand_in = self.folder / "cmake/macos/check.sh"
        stand_in.write_text('#!/bin/sh\necho "${3-all} ${4-default}" >>asked\n'
                            f'[ "${{4-}}" != {fails_at} ]\n')
        stand_in.chmod(0o755)
        asked = self.folder / "asked"
        asked.write_text("")
        # Installed packages are none of this test's business.
        packages = self.folder / "cmake/setup/packages.sh"
        packages.write_text(packages.read_text() + "\nneed_packages() { :; }\n")
        done = subprocess.run(["bash", "run", "check-macos", *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, check=False)
        return done.returncode, asked.read_text().splitlines()

    def test_without_all_the_first_is_enough(self):
        self.assertEqual(self.checks(), (0, ["all default"]))

    def test_all_goes_on_with_the_worker_alone(self):
        others = [f"worker {version}" for version, _ in wheels()[1:]]
        self.assertEqual(self.checks("--all"), (0, ["all default", *others]))

    def test_one_that_fails_ends_it(self):
        code, asked = self.checks("--all", fails_at=wheels()[1][0])
        self.assertNotEqual(code, 0)
        self.assertEqual(len(asked), 2)

    def test_another_word_is_refused(self):
        self.assertEqual(self.checks("--every"), (2, []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
