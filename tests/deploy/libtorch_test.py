#!/usr/bin/env python3
"""`cmake/setup/libtorch.sh` and `./run serve --cuda`: what is fetched, where it lies, what is refused.

The wheels are stand-ins of a few bytes, which have the pinned ones' hashes by a stand-in sha256sum.
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
SCRIPT = ROOT / "cmake/setup/libtorch.sh"
WHEELS = ROOT / "cmake/setup/libtorch_wheels.txt"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

# pip download ... -d FOLDER NAME==VERSION, and everything else as it is.
PYTHON = """
import os, sys, zipfile
if sys.argv[1:4] != ["-m", "pip", "download"]:
    os.execv(os.environ["REAL_PYTHON"], ["python3", *sys.argv[1:]])
name, version = sys.argv[-1].split("==")
with open(os.environ["FETCHED"], "a") as fetched:
    fetched.write(name + "\\n")
inside = {"torch": ["torch/include/a.h", "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so",
                    "torch/lib/libtorch_python.so"],
          "nvidia-cuda-runtime": ["nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/include/b.h"]}
folder = sys.argv[sys.argv.index("-d") + 1]
with zipfile.ZipFile(f"{folder}/{name}.whl", "w") as wheel:
    for path in inside.get(name, [f"nvidia/{name}/lib/lib{name}.so.1"]):
        wheel.writestr(path, name)
"""


def pins():
    """(list, wheel, SHA-256) of every wheel that the script names in a list."""
    for key, wheels in re.findall(r"^(\w+_wheels)='(.*?)'$", SCRIPT.read_text(), re.M | re.S):
        for name, sha in re.findall(r"^(\S+)==\S+ \S+\n([0-9a-f]{64})$", wheels, re.M):
            yield key, name, sha


class Libtorch(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-libtorch-"))
        self.folder = pathlib.Path(folder)
        self.deps = self.folder / "deps"
        programs = self.folder / "programs"
        programs.mkdir()
        self.hashes = {name: sha for key, name, sha in pins() if not key.startswith("aarch64")}
        self.known = self.folder / "hashes"
        self.know()
        self.write(programs / "python3", f"#!{sys.executable}\n{PYTHON}")
        self.write(programs / "sha256sum", f"""#!/bin/sh
grep "^$(basename "$1" .whl) " {self.known} | cut -d' ' -f2
""")
        self.write(programs / "uname",
                   '#!/bin/sh\n[ $1 = -s ] && echo Linux || echo "${MACHINE-x86_64}"\n')
        self.fetched = self.folder / "fetched"
        self.environment = {
            "PATH": f"{programs}:{SYSTEM_PATH}", "FETCHED": str(self.fetched),
            "REAL_PYTHON": sys.executable}

    @staticmethod
    def write(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def know(self, **changed):
        lines = {**self.hashes, **{name.replace("_", "-"): sha for name, sha in changed.items()}}
        self.known.write_text("".join(f"{name} {sha}\n" for name, sha in lines.items()))

    def know_torch(self, version_and_machine):
        line = rf"^{re.escape(version_and_machine)} (\S+) "
        self.know(torch=re.search(line, WHEELS.read_text(), re.M)[1])

    def run_script(self, *kind):
        """The names of what is fetched; the script's exit code and texts."""
        self.fetched.write_text("")
        done = subprocess.run(["bash", str(SCRIPT), str(self.deps), *kind], capture_output=True,
                              text=True, env=self.environment, timeout=60, check=False)
        return set(self.fetched.read_text().split()), done

    def files(self):
        return {str(path.relative_to(self.deps)) for path in self.deps.rglob("*") if path.is_file()}

    def test_the_cpu_needs_four_wheels(self):
        fetched, done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fetched, {"torch", "nvidia-cuda-runtime", "nvidia-cuda-crt",
                                   "nvidia-cuda-cupti"})
        self.assertEqual(self.files(), {
            "libtorch/.complete-2.11.0-headers", "libtorch/cuda-include/b.h", "libtorch/include/a.h", "libtorch/lib/libtorch_cpu.so",
            "libtorch/lib/libcudart.so.13"})
        self.assertEqual(self.run_script()[0], set(), "it is there already")

    def test_arm_has_wheels_of_its_own_fetched_there_or_elsewhere(self):
        own = {name: sha for key, name, sha in pins() if key == "aarch64_wheels"}
        self.assertEqual(set(own), {"torch", "nvidia-cuda-runtime", "nvidia-cuda-crt",
                                    "nvidia-cuda-cupti"})
        self.know(**own)
        fetched, done = self.run_script("cpu", "aarch64")
        self.assertEqual((fetched, done.returncode), (set(own), 0), done.stderr)
        shutil.rmtree(self.deps)
        self.environment["MACHINE"] = "aarch64"
        for kind in ("cuda", "2.7.1"):
            fetched, done = self.run_script(kind)
            self.assertEqual((fetched, done.returncode), (set(), 1))
            self.assertIn("is known for Linux-aarch64", done.stderr)
        self.assertEqual(self.run_script()[0], set(own))

    def test_cuda_needs_all_of_them_where_the_libraries_look(self):
        self.run_script()
        fetched, done = self.run_script("cuda")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fetched, {name for name in self.hashes if not name.endswith("-cu12")})
        self.assertEqual(len(fetched), 17)
        self.assertLessEqual({"libtorch/lib/libtorch_cuda.so", "libtorch/lib/libtorch_cpu.so",
                              "nvidia/cu13/lib/libcudart.so.13",
                              "nvidia/nvidia-cublas/lib/libnvidia-cublas.so.1"}, self.files())
        self.assertNotIn("libtorch/lib/libtorch_python.so", self.files())
        self.assertEqual(self.run_script("cuda")[0], set(), "it is there already")
        self.assertEqual(self.run_script()[0], set(), "and is enough for the cpu")

    def test_another_version_lies_beside_it(self):
        self.run_script()
        self.know_torch("2.9.1 x86_64")
        fetched, done = self.run_script("2.9.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fetched, {"torch", "nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12",
                                   "nvidia-cuda-cupti-cu12"})
        self.assertLessEqual({"libtorch/lib/libtorch_cpu.so", "libtorch-2.9.1/lib/libtorch_cpu.so",
                              "libtorch-2.9.1/include/a.h"}, self.files())
        self.assertEqual(self.run_script("2.9.1")[0], set(), "it is there already")

    def test_another_version_for_arm_brings_the_cuda_that_it_has(self):
        cuda = {"nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cupti"}
        self.hashes.update({name: sha for key, name, sha in pins() if key == "aarch64_wheels"})
        for version, others in (("2.9.1", set()), ("2.15.0", cuda)):
            self.know_torch(f"{version} aarch64")
            fetched, done = self.run_script(version, "aarch64")
            self.assertEqual((fetched, done.returncode), ({"torch"} | others, 0), done.stderr)
            self.assertIn(f"libtorch-{version}/lib/libtorch_cpu.so", self.files())

    def test_a_version_that_is_not_pinned_is_refused(self):
        fetched, done = self.run_script("2.7.1")
        self.assertEqual((fetched, done.returncode), (set(), 1))
        self.assertIn("no libtorch 2.7.1 is known", done.stderr)

    def test_another_wheel_than_the_pinned_one_is_refused(self):
        self.run_script()
        before = self.files()
        self.know(nvidia_cublas="0" * 64)
        _, done = self.run_script("cuda")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'nvidia-cublas==13.1.0.3' is not the pinned wheel", done.stderr)
        self.assertLessEqual(before, self.files())


class Run(unittest.TestCase):
    def setup_says(self, *arguments, cuda=False):
        """What need_libtorch() does in a bare folder for these arguments of `./run serve`."""
        with tempfile.TemporaryDirectory(prefix="mpsd-run-") as folder:
            if cuda:
                (pathlib.Path(folder) / ".deps/libtorch").mkdir(parents=True)
                (pathlib.Path(folder) / ".deps/libtorch/.complete-2.11.0-cuda").touch()
            script = f"""set -euo pipefail
. {ROOT}/cmake/setup/steps.sh; . {ROOT}/cmake/setup/packages.sh; . {ROOT}/cmake/setup/serve.sh
mkdir -p cmake/setup; touch cmake/setup/libtorch.sh
bash() {{ echo "$*"; }}
need_libtorch "$(libtorch_kind "$@")" """
            done = subprocess.run(["bash", "-c", script, "run", *arguments], cwd=folder, text=True,
                                  env={"PATH": os.environ["PATH"]}, capture_output=True,
                                  timeout=60, check=True)
            return done.stdout + done.stderr

    def test_cuda_is_fetched_when_it_is_asked_for_and_the_size_comes_first(self):
        text = self.setup_says("--cuda")
        self.assertIn("== fetch libtorch with CUDA: 2.5 GB to download", text)
        self.assertIn("cmake/setup/libtorch.sh .deps cuda", text)

    def test_the_cpu_is_the_default(self):
        self.assertIn("cmake/setup/libtorch.sh .deps cpu", self.setup_says("--config", "x"))

    def test_what_was_fetched_with_cuda_stays_so(self):
        self.assertIn("cmake/setup/libtorch.sh .deps cuda", self.setup_says(cuda=True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
