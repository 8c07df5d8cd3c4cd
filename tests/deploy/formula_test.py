#!/usr/bin/env python3
"""deploy/homebrew: the tap that tap.sh makes, and its formula as far as a host without Homebrew goes.

formula_test.py BINARIES LIBTORCH
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BINARIES, LIBTORCH = map(pathlib.Path, sys.argv[1:3])


def run(*words, **more):
    return subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=300,
                          check=False, **more)


# pip download ... -d FOLDER torch==VERSION, without a network.
PIP = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -d ] && folder=$2; shift; done
echo wheel >"$folder/torch-${1#torch==}-cp311-cp311-macosx_11_0_arm64.whl"
"""
# The pinned checksum of such a wheel, and the right one of everything else.
SHA256SUM = """#!/bin/sh
case $1 in *-macosx_*.whl) echo "{pinned}  $1" ;; *) exec {real} "$@" ;; esac
"""


def make_tap(folder, *url, sha=None):
    """tap.sh with stand-ins for what needs a network; its result, and the formula's file."""
    programs = folder.parent / f"{folder.name}-programs"
    programs.mkdir()
    shown = sha or pinned("mac_torch_sha")
    for name, text in (("python3", PIP), ("sha256sum", SHA256SUM.format(
            pinned=shown, real=shutil.which("sha256sum")))):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return run(ROOT / "deploy/homebrew/tap.sh", folder, *url,
               env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})


def packages(name):
    """One list of packages.sh."""
    text = (ROOT / "cmake/setup/packages.sh").read_text()
    return set(re.search(rf"^{name}=\((.*?)\)", text, re.M | re.S)[1].split())


def pinned(name):
    text = (ROOT / "cmake/setup/libtorch.sh").read_text()
    return re.search(rf"^{name}=(\S+)$", text, re.M)[1]


@unittest.skipUnless((ROOT / ".git").exists(), "no git: the sources are not a clone")
class Tap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-tap-"))
        cls.folder = pathlib.Path(folder).resolve()
        cls.tap = cls.folder / "tap"
        made = make_tap(cls.tap)
        assert made.returncode == 0, made.stderr
        cls.formula = pathlib.Path(made.stdout.strip())
        cls.text = cls.formula.read_text()
        (cls.archive,) = cls.tap.glob("*.tar.gz")

    def field(self, name):
        return re.search(rf'^  {name} "(.*)"$', self.text, re.M)[1]

    def test_nothing_is_left_to_fill_in(self):
        self.assertNotRegex(self.text, r"@[A-Z0-9_]+@")

    def test_the_formula_names_the_archive_and_its_checksum(self):
        self.assertEqual(self.field("url"), f"file://{self.archive}")
        said = run("sha256sum", self.archive).stdout.split()[0]
        self.assertEqual(self.field("sha256"), said)
        self.assertIn(f"VERSION {self.field('version')} ", (ROOT / "CMakeLists.txt").read_text())

    def test_the_build_is_told_its_version_and_commit(self):
        """The archive has no git, without which a build calls itself ~dev."""
        stamp = run(ROOT / "cmake/version.sh").stdout.strip()
        self.assertIn(f'"-DMPSD_STAMP={stamp}"', self.text)

    def test_the_archive_has_the_sources_in_one_folder(self):
        with tarfile.open(self.archive) as archive:
            names = archive.getnames()
        top = f"mpsd-{self.field('version')}"
        self.assertEqual({name.split("/")[0] for name in names}, {top})
        self.assertIn(f"{top}/server/main.cc", names)

    def test_another_place_of_the_archive_is_named(self):
        url = "https://example.org/releases"
        text = pathlib.Path(make_tap(self.folder / "other", url).stdout.strip()).read_text()
        self.assertIn(f'url "{url}/{self.archive.name}"', text)
        self.assertIn(f'url "{url}/torch-{pinned("version")}-cp311', text)
        self.assertIn(f'homepage "{url}"', text)

    def test_a_place_is_named_as_it_is_written(self):
        url = r"https://example.org/get?a=1&b=2|3\4"
        text = pathlib.Path(make_tap(self.folder / "odd", url).stdout.strip()).read_text()
        self.assertIn(f'homepage "{url}"', text)
        self.assertIn(f'url "{url}/{self.archive.name}"', text)
        self.assertIn(f'url "{url}/torch-', text)

    def test_of_several_wheels_it_takes_the_pinned_one(self):
        tap = self.folder / "several"
        tap.mkdir()
        other = tap / f"torch-{pinned('version')}-cp311-cp311-manylinux_2_28_x86_64.whl"
        other.write_text("another one")
        made = make_tap(tap)
        self.assertEqual(made.returncode, 0, made.stderr)
        text = pathlib.Path(made.stdout.strip()).read_text()
        self.assertEqual(text.count("macosx_11_0_arm64.whl"), 1)
        self.assertNotIn("manylinux", text)

    def test_another_wheel_than_the_pinned_one_is_refused(self):
        made = make_tap(self.folder / "wrong", sha="0" * 64)
        self.assertEqual(made.returncode, 1)
        self.assertIn("is the pinned wheel", made.stderr)
        self.assertFalse((self.folder / "wrong/Formula/mpsd.rb").exists())

    def test_brew_can_tap_it(self):
        said = run("git", "-C", self.tap, "ls-tree", "--name-only", "-r", "HEAD").stdout
        self.assertEqual(said, "Formula/mpsd.rb\n")

    @unittest.skipUnless(shutil.which("ruby"), "there is no ruby")
    def test_ruby_can_read_it(self):
        self.assertEqual(run("ruby", "-wc", self.formula).stdout, "Syntax OK\n")
        broken = self.folder / "broken.rb"
        broken.write_text(self.text.replace("def install", "def install("))
        self.assertNotEqual(run("ruby", "-wc", broken).returncode, 0)


@unittest.skipUnless(shutil.which("ruby"), "there is no ruby")
@unittest.skipUnless((ROOT / ".git").exists(), "no git: the sources are not a clone")
class Formula(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-formula-"))
        work = pathlib.Path(folder).resolve()
        made = make_tap(work / "tap")
        (archive,) = (work / "tap").glob("*.tar.gz")
        with tarfile.open(archive) as sources:
            sources.extractall(work)
        (cls.source,) = work.glob("mpsd-*")
        # The wheel's two folders that are needed, of this host's libtorch.
        cls.wheel, cls.prefix = work / "wheel", work / "prefix"
        (cls.wheel / "torch").mkdir(parents=True)
        for name in ("include", "lib"):
            (cls.wheel / "torch" / name).symlink_to(LIBTORCH / name)
        done = run("ruby", HERE / "formula_stub.rb", made.stdout.strip(), cls.source, cls.wheel,
                   cls.prefix)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.said = json.loads(done.stdout)

    def test_its_dependencies_are_those_of_run_serve(self):
        wanted = {what for what, *_ in self.said["depends_on"]} - {"arch", "macos"}
        self.assertEqual(wanted, packages("brew_serve_packages"))
        self.assertIn(["arch", "arm64"], self.said["depends_on"])

    def test_libtorch_is_the_one_that_run_fetches(self):
        libtorch = self.said["resources"]["libtorch"]
        self.assertEqual(libtorch["sha256"], pinned("mac_torch_sha"))
        self.assertIn(f"/torch-{pinned('version')}-", libtorch["url"])
        self.assertTrue((self.source / "libtorch/lib").samefile(LIBTORCH / "lib"))

    def test_cmake_takes_every_option_and_knows_every_target(self):
        configure, build, install = self.said["commands"]
        self.assertEqual(configure[:3], ["cmake", "-S", "."])
        self.assertEqual(build[:2], ["cmake", "--build"])
        self.assertEqual(install, ["cmake", "--install", "build"])
        # Homebrew passes this one to everybody.
        unused = re.findall(r"not used by the project:\s+((?:\s+\w+\n)+)", self.said["output"])
        self.assertEqual(" ".join(unused).split(), ["BUILD_TESTING"])
        for program in ("mpsd", "mpsd-worker", "mpsd-worker-synthetic", "mpsd-device-copier"):
            self.assertRegex(self.said["output"], rf"Linking CXX executable bin/{program}\n")

    def test_what_is_installed_is_built(self):
        rules = (self.source / "build/cmake_install.cmake").read_text()
        targets = set(re.findall(r"/build/bin/(mpsd[\w-]*)\"", rules))
        self.assertEqual(targets, {"mpsd", "mpsd-worker", "mpsd-worker-synthetic",
                                   "mpsd-device-copier"})
        self.assertIn(f"{self.source}/libtorch/lib/", rules)

    def test_the_worker_looks_for_libtorch_beside_itself_alone(self):
        rules = (self.source / "build/build.ninja").read_text()
        link = re.search(r"^build bin/mpsd-worker: .*?\n\n", rules, re.M | re.S)[0]
        self.assertEqual(re.findall(r"-Wl,-rpath,(\S+)", link), [r'"\$$ORIGIN/../lib/mpsd"'])

    def test_the_service_serves_the_config_that_was_installed(self):
        service = self.said["service"]
        config = self.prefix / "etc/mpsd/mpsd.json"
        self.assertEqual(service["run"], [f"{self.prefix}/opt/mpsd/bin/mpsd", "serve", "--config",
                                          str(config)])
        self.assertIs(service["keep_alive"], True)
        self.assertEqual(service["process_type"], "interactive")
        checked = run(BINARIES / "mpsd", "check", config)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_the_drain_ends_before_launchd_kills(self):
        text = (self.prefix / "etc/mpsd/mpsd.json").read_text()
        drain_s = int(re.search(r'"drain_timeout": "(\d+)s"', text)[1])
        self.assertLess(drain_s, 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
