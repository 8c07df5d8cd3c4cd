#!/usr/bin/env python3
"""deploy/packages: what packages hold, made of stand-ins for the programs and for libtorch.

packages_test.py [BINARIES]: with the folder of mpsd, it checks the config too
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "deploy/packages"
BINARIES = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None

# `cmake --build` makes the program, `cmake --install BUILD --component NAME --prefix PREFIX` installs.
CMAKE = """#!/usr/bin/env bash
set -eu
case $1 in
  --build) mkdir -p "$2/bin" && cp "$STAND_IN/mpsd" "$2/bin/mpsd" ;;
  --install)
    case $4 in
      mpsd) install -D -m 755 /bin/true "$6/bin/mpsd" ;;
      client) install -D -m 644 "$STAND_IN/mpsd" "$6/include/mpsd/client/client.h" ;;
    esac ;;
esac
"""
MPSD = """#!/bin/sh
case "$1 $*" in
  help*) printf 'Subcommands:\\n  serve      run the daemon\\n' ;;
  "man man --into"*)
    for page in mpsd.1 mpsd-serve.1 mpsd.json.5; do echo ".TH $page" >"$3/$page"; done
    ;;
  completion*) echo "complete $2" ;;
esac
"""


def text_of(name):
    return (ROOT / name).read_text()


def said(*words, **more):
    return subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=120,
                          check=True, **more).stdout


class Clone:
    """A folder with what make.sh reads, and the packages that it made there."""

    def __init__(self, folder):
        self.root, self.out = folder / "clone", folder / "out"
        for name in ("deploy/packages", "deploy/systemd", "cmake"):
            shutil.copytree(ROOT / name, self.root / name)
        for name in ("CMakeLists.txt", "LICENSE"):
            shutil.copy(ROOT / name, self.root)
        programs = folder / "programs"
        programs.mkdir()
        for name, text in (("cmake", CMAKE), ("mpsd", MPSD)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        libraries = folder / "libtorch/lib"
        libraries.mkdir(parents=True)
        names = re.search(r"^libtorch_files=\((.*)\)", text_of("deploy/packages/common.sh"), re.M)[1]
        for name in names.split():
            shutil.copy("/bin/true", libraries / name)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}",
                            "STAND_IN": str(programs), "MPSD_LIBTORCH": str(libraries.parent),
                            "MPSD_STAMP": "9.8.7 0123456789ab", "SOURCE_DATE_EPOCH": "1000000000"}

    def make(self, *kinds):
        return subprocess.run([self.root / "deploy/packages/make.sh", self.out, *kinds], text=True,
                              env=self.environment, capture_output=True, timeout=120, check=False)

    def deb(self, package):
        (found,) = self.out.glob(f"{package}_*.deb")
        return found


@unittest.skipUnless(shutil.which("dh_builddeb"), "there is no debhelper")
class Debs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-packages-")))
        cls.clone = Clone(cls.folder)
        made = cls.clone.make("deb", "client")
        assert made.returncode == 0, made.stdout + made.stderr

    def contents(self, package):
        listed = said("dpkg-deb", "-c", self.clone.deb(package)).splitlines()
        self.assertEqual({line.split()[1] for line in listed}, {"root/root"})
        return {line.split()[5][1:] for line in listed if not line.endswith("/")}

    def field(self, package, name):
        return said("dpkg-deb", "-f", self.clone.deb(package), name).strip()

    def test_the_daemon_and_what_surrounds_it(self):
        contents = self.contents("mpsd")
        self.assertLessEqual(
            {"/usr/bin/mpsd", "/etc/mpsd/mpsd.json", "/usr/lib/sysusers.d/mpsd.conf",
             "/usr/lib/tmpfiles.d/mpsd.conf", "/usr/share/doc/mpsd/copyright",
             "/usr/share/doc/mpsd/examples/cuda.conf", "/usr/share/man/man1/mpsd.1.gz",
             "/usr/share/man/man1/mpsd-serve.1.gz", "/usr/share/man/man5/mpsd.json.5.gz",
             "/usr/share/bash-completion/completions/mpsd", "/usr/share/zsh/vendor-completions/_mpsd",
             "/usr/share/fish/vendor_completions.d/mpsd.fish"}, contents)
        self.assertTrue(any(name.endswith("/systemd/system/mpsd.service") for name in contents))
        self.assertFalse([name for name in contents if name.startswith("/usr/lib/mpsd/")])

    def test_the_unit_is_that_of_deploy_with_the_packages_folders_and_user(self):
        said("dpkg-deb", "-x", self.clone.deb("mpsd"), self.folder / "tree")
        (unit,) = (self.folder / "tree").rglob("mpsd.service")
        lines = unit.read_text().splitlines()
        self.assertNotIn("/usr/local", unit.read_text())
        changed = set(text_of("deploy/systemd/mpsd.service").splitlines()) - set(lines)
        self.assertEqual({line for line in changed if "/usr/local" not in line}, {
            "DynamicUser=yes",
            "# systemd uses the user of this name, or makes one while the service runs."})
        self.assertIn("User=mpsd", lines)
        # A bare host has no /bin/kill.
        self.assertIn("ExecReload=/bin/kill -HUP $MAINPID", lines)
        self.assertIn("procps", self.field("mpsd", "Depends").split(", "))

    def test_libtorch_has_a_version_that_the_daemon_insists_on(self):
        version = re.search(r"^version=(\S+)$", text_of("cmake/setup/libtorch.sh"), re.M)[1]
        self.assertEqual(self.field("mpsd-libtorch-cpu", "Version"), version)
        depends = self.field("mpsd", "Depends").split(", ")
        self.assertIn(f"mpsd-libtorch-cpu (= {version})", depends)
        self.assertTrue(any(one.startswith("libc6 ") for one in depends), depends)
        self.assertIn("/usr/lib/mpsd/libtorch_cpu.so", self.contents("mpsd-libtorch-cpu"))

    def test_the_version_names_the_distribution(self):
        distribution = said("sh", "-c", '. /etc/os-release; echo "$ID$VERSION_ID"').strip()
        for package in ("mpsd", "libmpsd-client-dev"):
            self.assertEqual(self.field(package, "Version"), f"9.8.7-1~{distribution}")

    def test_the_config_is_the_operators(self):
        control = self.folder / "control"
        said("dpkg-deb", "-e", self.clone.deb("mpsd"), control)
        self.assertEqual((control / "conffiles").read_text().split(), ["/etc/mpsd/mpsd.json"])
        postinst = (control / "postinst").read_text()
        for word in ("systemd-sysusers", "systemd-tmpfiles", "daemon-reload"):
            self.assertIn(word, postinst)

    def test_an_upgrade_does_not_stop_the_service(self):
        control = self.folder / "control"
        said("dpkg-deb", "-e", self.clone.deb("mpsd"), control)
        self.assertRegex((control / "prerm").read_text(), r'"\$1" = remove \].*\n.*stop')
        postinst = (control / "postinst").read_text()
        self.assertIn("mpsd upgrade", postinst)
        self.assertNotIn("_dh_action=restart", postinst)

    def test_the_sums_are_those_of_every_file(self):
        names = said("sha256sum", "--check", "SHA256SUMS", cwd=self.clone.out).splitlines()
        self.assertEqual(len(names), len(list(self.clone.out.iterdir())) - 1)

    def test_another_folder_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-packages-in-another-folder-") as folder:
            other = Clone(pathlib.Path(folder))
            other.make("deb", "client")
            sums = [clone.out / "SHA256SUMS" for clone in (self.clone, other)]
            self.assertEqual(sums[0].read_text(), sums[1].read_text())


class PostInstallation(unittest.TestCase):
    """debian/mpsd.postinst beside stand-ins for the programs that it calls."""

    def calls(self, *arguments, active=True, code=0):
        """What it calls, and what it says on stderr."""
        with tempfile.TemporaryDirectory(prefix="mpsd-postinst-") as folder:
            programs = pathlib.Path(folder)
            for name, end in (("systemctl", 0 if active else 3), ("mpsd", code),
                              ("deb-systemd-invoke", 1)):
                program = programs / name
                program.write_text(f'#!/bin/sh\necho {name} "$@" >>{folder}/calls\nexit {end}\n')
                program.chmod(0o755)
            done = subprocess.run(["/bin/sh", PACKAGES / "debian/mpsd.postinst", *arguments], text=True,
                                  env={"PATH": folder}, capture_output=True, timeout=60, check=True)
            made = programs / "calls"
            return made.read_text().splitlines() if made.exists() else [], done.stderr

    def test_the_daemon_hands_over_at_an_upgrade_alone(self):
        asked = ["systemctl is-active --quiet mpsd.service"]
        upgrade = ["mpsd upgrade --config /etc/mpsd/mpsd.json"]
        self.assertEqual(self.calls("configure", "1.0"), (asked + upgrade, ""))
        self.assertEqual(self.calls("configure", "1.0", active=False), (asked, ""))
        self.assertEqual(self.calls("configure", ""), ([], ""))
        self.assertEqual(self.calls("abort-upgrade", "1.0"), ([], ""))

    def test_one_that_cannot_hand_over_is_restarted(self):
        calls, _ = self.calls("configure", "1.0", code=70)
        self.assertEqual(calls[2:], ["deb-systemd-invoke restart mpsd.service"])

    def test_one_whose_successor_fails_serves_on(self):
        for code in (1, 75, 78):
            calls, said_so = self.calls("configure", "1.0", code=code)
            self.assertEqual(len(calls), 2)
            self.assertIn("the old version serves on", said_so)


class Sources(unittest.TestCase):
    def test_every_kind_is_a_function_in_its_file_and_in_the_help(self):
        lists = re.findall(r"^(?:all|named)_kinds=\((.*?)\)", text_of("deploy/packages/common.sh"), re.M)
        kinds = [kind for words in lists for kind in words.split()]
        self.assertEqual(sorted(kinds), sorted(path.stem for path in PACKAGES.glob("kinds/*.sh")))
        told = re.search(r"^  package \[KIND….*?^  bench", text_of("run"), re.M | re.S)[0]
        for kind in kinds:
            self.assertIn(f"make_{kind}() {{", text_of(f"deploy/packages/kinds/{kind}.sh"))
            self.assertRegex(told, rf"\b{kind}\b")

    def test_an_unknown_kind_is_named(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-packages-") as folder:
            made = Clone(pathlib.Path(folder)).make("rpm")
        self.assertEqual(made.returncode, 2)
        self.assertIn("no kind 'rpm'", made.stderr)

    def test_a_machine_that_nothing_is_made_for_is_named(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-packages-") as folder:
            clone = Clone(pathlib.Path(folder))
            clone.environment["MPSD_ARCH"] = "riscv64"
            made = clone.make("deb")
        self.assertEqual(made.returncode, 2)
        self.assertIn("packages for riscv64 cannot be made", made.stderr)

    def test_the_folders_of_the_unit_are_made_and_purged(self):
        unit = text_of("deploy/systemd/mpsd.service")
        made = re.findall(r"^d (\S+) (\d+) mpsd mpsd", text_of("deploy/packages/mpsd.tmpfiles"), re.M)
        wanted = [(f"/var/{folder}/" + re.search(rf"^{key}Directory=(.*)$", unit, re.M)[1],
                   re.search(rf"^{key}DirectoryMode=(.*)$", unit, re.M)[1])
                  for folder, key in (("lib", "State"), ("cache", "Cache"))]
        self.assertEqual(made, wanted)
        purged = text_of("deploy/packages/debian/mpsd.postrm")
        for folder, _ in made:
            self.assertIn(f" {folder} ", purged)
        self.assertTrue(text_of("deploy/packages/mpsd.sysusers").startswith("u mpsd "))

    def test_every_installed_header_finds_those_that_it_includes(self):
        rules = text_of("client/package/CMakeLists.txt")
        installed = set(re.findall(r"\b(?:client|proto)/[\w/]+\.h\b",
                                   re.search(r"^foreach\(header.*?\)$", rules, re.M | re.S)[0]))
        self.assertIn("client/client.h", installed)
        for header in installed:
            for name in re.findall(r'^#include "((?:client|proto)/.*)"', text_of(header), re.M):
                self.assertIn(name, installed, header)

    @unittest.skipUnless(BINARIES, "no BINARIES")
    def test_the_config_is_right_and_serves_nothing(self):
        checked = said(BINARIES / "mpsd", "check", PACKAGES / "mpsd.json")
        self.assertIn("0 models", checked)

    def test_the_bill_names_what_libtorch_is_made_of(self):
        script = ROOT / "cmake/setup/libtorch.sh"
        sums = [self.bill_of(script, machine) for machine in ("x86_64", "aarch64")]
        self.assertNotEqual(*sums)

    def bill_of(self, script, machine):
        """The checksum of torch."""
        bill = json.loads(said("python3", PACKAGES / "sbom.py", "9.8.7", "abc", script, machine,
                               env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"}))
        self.assertEqual(bill["creationInfo"]["created"], "2001-09-09T01:46:40Z")
        parts = {part["name"]: part for part in bill["packages"]}
        self.assertEqual(set(parts), {"mpsd", "torch", "nvidia-cuda-runtime", "nvidia-cuda-cupti"})
        self.assertIn(parts["torch"]["checksums"][0]["checksumValue"], script.read_text())
        ids = {part["SPDXID"] for part in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in bill["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, ids)
        return parts["torch"]["checksums"][0]["checksumValue"]


class Same(unittest.TestCase):
    """deploy/packages/check/same.sh in a repository whose ./run makes a package of a line of text."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-same-")))
        (self.root / "deploy/packages/check").mkdir(parents=True)
        shutil.copy(PACKAGES / "check/same.sh", self.root / "deploy/packages/check")
        (self.root / ".gitignore").write_text("/build/\n/.deps/\n")
        self.git("init", "-q")

    def git(self, *words):
        said("git", "-C", self.root, "-c", "user.name=n", "-c", "user.email=n@localhost", *words)

    def compare(self, text):
        """What same.sh says where a package is `text`, as a shell expands it, and its exit code."""
        program = self.root / "run"
        program.write_text("#!/bin/bash\nmkdir -p build/packages\n"
                           f'echo "{text}" >build/packages/mpsd.deb\n')
        program.chmod(0o755)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "m")
        said(program, "package", cwd=self.root)
        return self.compare_again()

    def compare_again(self):
        done = subprocess.run([self.root / "deploy/packages/check/same.sh", "build/packages"], text=True,
                              cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=120, check=False)
        return done.returncode, done.stdout

    def test_the_same_bytes_pass(self):
        self.assertEqual(self.compare("text"), (0, "1 files are the same\n"))

    def test_a_package_that_knows_its_folder_is_named(self):
        code, text = self.compare("$PWD")
        self.assertEqual(code, 1, text)
        self.assertIn("mpsd.deb: FAILED", text)

    def test_the_second_package_is_compiled_without_a_cache(self):
        self.assertEqual(self.compare("${CCACHE_DISABLE-}")[0], 1)

    def test_a_change_that_no_commit_has_is_refused(self):
        self.compare("text")
        (self.root / "new").touch()
        code, text = self.compare_again()
        self.assertEqual(code, 1, text)
        self.assertIn("no commit has", text)


class Version(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-version-"))
        self.root = pathlib.Path(folder)
        (self.root / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/version.sh", self.root / "cmake")
        (self.root / "CMakeLists.txt").write_text("project(mpsd VERSION 9.8.7 LANGUAGES CXX)\n")

    def git(self, *words):
        return said("git", "-C", self.root, "-c", "user.name=n", "-c", "user.email=n@localhost",
                    *words).strip()

    def commit(self):
        self.git("commit", "-q", "--allow-empty", "-m", "m")
        return self.git("rev-parse", "--short=12", "HEAD")

    def version(self):
        return said(self.root / "cmake/version.sh").split()

    def test_without_git_it_is_that_of_cmake(self):
        self.assertEqual(self.version(), ["9.8.7~dev", "unknown"])

    def test_a_tag_is_the_version_and_commits_after_it_are_counted(self):
        self.git("init", "-q")
        first = self.commit()
        self.assertEqual(self.version(), ["9.8.7~dev", first])
        self.git("tag", "v9.8.7")
        self.assertEqual(self.version(), ["9.8.7", first])
        self.commit()
        third = self.commit()
        self.assertEqual(self.version(), [f"9.8.7+2.g{third}", third])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
