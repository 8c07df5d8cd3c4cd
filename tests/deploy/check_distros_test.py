#!/usr/bin/env python3
"""`./run check-distros` on a host that cannot make chroots."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "cmake/distros/check.sh"


class CheckDistros(unittest.TestCase):
    def test_names_the_package_that_is_missing(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        for name in ("dirname", "mkdir"):
            os.symlink(shutil.which(name), f"{folder}/{name}")
        done = subprocess.run([shutil.which("bash"), CHECK, folder], env={"PATH": folder},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "debootstrap is missing; install it with: apt-get install "
                         "debootstrap\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
