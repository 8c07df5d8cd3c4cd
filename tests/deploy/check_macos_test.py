#!/usr/bin/env python3
"""`./run check-macos`: which versions of libtorch it takes, and in which order; which names a binary
may leave open."""
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "cmake/macos/check.sh"
IMPORTS = ROOT / "cmake/macos/imports.py"
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
        stand_in.write_text('#!/bin/sh\necho "${3-all} ${4-default}${5:+ $5}" >>asked\n'
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

    def test_all_ends_with_the_newest_libraries_where_they_are(self):
        newest = self.folder / ".deps/distros/newest"
        newest.mkdir(parents=True)
        (newest / ".complete").touch()
        code, asked = self.checks("--all")
        self.assertEqual((code, asked[-1]), (0, "all  .deps/distros/newest"))
        self.assertEqual(len(asked), len(wheels()) + 1)

    def test_one_that_fails_ends_it(self):
        code, asked = self.checks("--all", fails_at=wheels()[1][0])
        self.assertNotEqual(code, 0)
        self.assertEqual(len(asked), 2)

    def test_another_word_is_refused(self):
        self.assertEqual(self.checks("--every"), (2, []))


OPEN = 0xFE  # the ordinal of a name that is bound to no library
OF_LIBRARY = 1


def binary_with(names):
    """A binary for macOS arm64 that imports these names: (name, ordinal)."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name, _ in names)
    symbols, at = b"", 1
    for name, ordinal in names:
        symbols += struct.pack("<IBBHQ", at, 1, 0, ordinal << 8, 0)
        at += len(name) + 1
    begin = 32 + 24
    return (struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 2, 1, 24, 0, 0)
            + struct.pack("<IIIIII", 2, 24, begin, len(names), begin + len(symbols), len(strings))
            + symbols + strings)


class OpenNames(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))

    def refused(self, *names, front_end=False):
        """The names that the check refuses, of those that a binary leaves open."""
        binary = self.folder / "mpsd"
        binary.write_bytes(binary_with([*((name, OPEN) for name in names),
                                        ("_dispatch_sync_f", OF_LIBRARY)]))
        c_names = self.folder / "c_names"
        c_names.write_text("SSL_new@@OPENSSL_3.0.0\ndeflate\ngrpc_slice_unref@@Base\n")
        done = subprocess.run(
            ["python3", IMPORTS, *(["--front-end", c_names] if front_end else []), binary],
            text=True, capture_output=True, timeout=60, check=False)
        refused = re.findall(r"^  undefined: (\S+)$", done.stdout, re.M)
        self.assertEqual(done.returncode, 1 if refused else 0, done.stderr)
        return refused

    def test_the_runtime_and_abseil_may_stay_open(self):
        self.assertEqual(self.refused("__ZNSt3__16threadD1Ev", "___cxa_throw",
                                      "__ZN4absl5MutexD1Ev"), [])

    def test_a_definition_of_our_own_that_is_missing_is_named(self):
        missing = "__ZN4mpsd8platform9CreateBellEv"
        for front_end in (False, True):
            self.assertEqual(self.refused("__ZN4absl5MutexD1Ev", missing, front_end=front_end),
                             [missing])

    def test_a_function_that_only_linux_has_is_named(self):
        self.assertEqual(self.refused("_memfd_create", "_epoll_wait", front_end=True),
                         ["_epoll_wait", "_memfd_create"])

    def test_only_the_front_end_leaves_its_libraries_open(self):
        names = ["__ZN4grpc13ServerBuilderD1Ev", "__ZTVN6google8protobuf7MessageE",
                 "__ZNK10prometheus7Counter5ValueEv", "__ZN6spdlog6loggerD1Ev",
                 "__ZN8simdjson3dom6parserD1Ev", "_SSL_new", "_deflate", "_grpc_slice_unref"]
        self.assertEqual(self.refused(*names, front_end=True), [])
        self.assertEqual(self.refused(*names), sorted(names))

    def test_a_namespace_that_only_sounds_like_a_librarys_is_named(self):
        name = "__ZN4mpsd4grpc4CallEv"
        self.assertEqual(self.refused(name, front_end=True), [name])


if __name__ == "__main__":
    unittest.main(verbosity=2)
