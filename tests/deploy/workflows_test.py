#!/usr/bin/env python3
"""The workflows of .github: actionlint finds no fault, and they call what the repository has."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/compat"))
from fetched import client  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCRIPTS = [ROOT / "deploy/launchd/check.sh", ROOT / "deploy/homebrew/check.sh"]


def commands():
    """(file, line) of what the steps run."""
    for file in WORKFLOWS:
        for line in file.read_text().splitlines():
            if re.match(r"\s+(?:- )?(?:run: )?(?:\./run |deploy/|build/release/)", line):
                yield file, line.strip().removeprefix("- ").removeprefix("run: ")


class Workflows(unittest.TestCase):
    def test_actionlint_finds_no_fault(self):
        done = subprocess.run([client("actionlint"), "-no-color", *WORKFLOWS], cwd=ROOT, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_they_call_verbs_of_run(self):
        usage = subprocess.run([ROOT / "run", "help"], text=True, capture_output=True,
                               timeout=60, check=True).stdout
        known = {tuple(words.split()) for words in re.findall(
            r"^  ([a-z][a-z-]*(?: --[a-z]+)?)(?= |$)", usage, re.M)}
        called = [line.split() for _, line in commands() if line.startswith("./run ")]
        self.assertGreater(len(called), 4)
        for words in called:
            switch = [word for word in words[2:3] if word.startswith("--")]
            self.assertIn((words[1], *switch), known, words)

    def test_they_call_scripts_that_are_there(self):
        for file, line in commands():
            if line.startswith("deploy/"):
                self.assertIn(ROOT / line.split()[0], SCRIPTS, file)

    def test_a_push_never_reaches_a_mac_of_somebodys(self):
        text = (ROOT / ".github/workflows/macos.yml").read_text()
        (where,) = re.findall(r"runs-on: (.*)", text)
        self.assertRegex(where, r"^\$\{\{ fromJSON\(inputs\.where == 'self-hosted' && ")

    def test_bash_can_read_the_scripts(self):
        for script in SCRIPTS:
            done = subprocess.run(["bash", "-n", script], text=True, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(script.stat().st_mode & 0o100, script)


if __name__ == "__main__":
    unittest.main(verbosity=2)
