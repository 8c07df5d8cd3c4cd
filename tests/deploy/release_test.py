#!/usr/bin/env python3
"""`./run release` makes a tag only where everything is there that a release needs."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/setup/release.sh"
CHANGES = "# Changes\n\n## 1.2.3 (2026-01-31)\n\n- a\n\n## 0.2.0 (unreleased)\n"


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "CMakeLists.txt").write_text("project(mpsd VERSION 1.2.3 LANGUAGES CXX)\n")
        (self.folder / "CHANGELOG.md").write_text(CHANGES)
        self.key = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "key"
        self.key.touch()
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(["git", *names, *words], cwd=self.folder, check=True, text=True,
                              capture_output=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a", "--allow-empty")

    def release(self, *words, package="git describe --exact-match", key=None):
        """The exit code, and all that is said. `package` stands for ./run's own."""
        line = f'set -euo pipefail; . "{SCRIPT}"; package() {{ {package}; }}; release "$@"'
        names = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER")
                 for what in ("NAME", "EMAIL")}
        done = subprocess.run(["bash", "-c", line, "bash", *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, **names, "MPSD_MINISIGN_KEY": str(key or self.key)})
        return done.returncode, done.stdout

    def refused(self, said, *words, **options):
        before = self.git("tag")
        code, text = self.release(*words, **options)
        self.assertEqual(code, 1, text)
        self.assertIn(said, text)
        self.assertEqual(self.git("tag"), before)

    def test_a_release_is_tagged_before_it_is_packaged(self):
        code, text = self.release("1.2.3", "--tested")
        self.assertEqual(code, 0, text)
        self.assertTrue(text.startswith("v1.2.3\n"), text)
        self.assertIn("git push origin HEAD v1.2.3", text)
        self.assertEqual(self.git("cat-file", "-t", "v1.2.3"), "tag\n")
        self.refused("a tag v1.2.3 already", "1.2.3", "--tested")

    def test_each_thing_that_is_missing_has_its_text(self):
        self.refused("as 1.2.3", "v1.2.3", "--tested")
        self.refused("as 1.2.3")
        self.refused("another version than 1.2.4", "1.2.4", "--tested")
        self.refused("./run test --all", "1.2.3")
        self.refused("MPSD_MINISIGN_KEY", "1.2.3", "--tested", key="/none")
        (self.folder / "new").touch()
        self.refused("no commit has", "1.2.3", "--tested")

    def test_the_change_log_needs_a_date(self):
        (self.folder / "CMakeLists.txt").write_text("project(mpsd VERSION 0.2.0 LANGUAGES CXX)\n")
        self.commit()
        self.refused("## 0.2.0 (YYYY-MM-DD)", "0.2.0", "--tested")

    def test_without_packages_there_is_no_tag(self):
        self.refused("the tag is gone", "1.2.3", "--tested", package="false")


if __name__ == "__main__":
    unittest.main(verbosity=2)
