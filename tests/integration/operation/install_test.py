"""`cmake --install`: what lies in the prefix serves, without the build and its folders."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import calls
import numpy as np
from daemon import BIN, WITH_TORCH, Daemon, mpsd
from models import synthetic, torchscript

PROGRAMS = {"mpsd", "mpsd-worker", "mpsd-device-copier"}


def install(component, prefix, **environment):
    """One part of the build, into the prefix."""
    subprocess.run(["cmake", "--install", str(BIN.parent), "--prefix", str(prefix), "--component",
                    component], check=True, timeout=60, stdout=subprocess.DEVNULL,
                   env={**os.environ, **environment})


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-prefix-"))
        cls.prefix = pathlib.Path(folder).resolve()
        install("mpsd", cls.prefix)
        if WITH_TORCH:
            # As links: a copy is hundreds of megabytes.
            install("libtorch", cls.prefix, CMAKE_INSTALL_MODE="ABS_SYMLINK")

    def test_the_programs_lie_together(self):
        expected = PROGRAMS | ({"mpsd-worker-synthetic"} if WITH_TORCH else set())
        expected |= {path.name for path in BIN.glob("libmpsd-*.so")}
        self.assertEqual({path.name for path in (self.prefix / "bin").iterdir()}, expected)
        said = mpsd("--version", binaries=self.prefix / "bin").stdout
        self.assertRegex(said, r"^mpsd \d+\.\d+\.\d+\S*\ncommit \S+\nlibtorch \S+\nbuild \S.*\n$")

    def test_a_model_is_served_by_the_worker_of_the_prefix(self):
        with Daemon([synthetic("m")], binaries=self.prefix / "bin") as daemon:
            (worker,) = daemon.ps()["m"]["workers"]
            program = os.readlink(f"/proc/{worker['pid']}/exe")
            self.assertEqual(pathlib.Path(program).parent, self.prefix / "bin")
            self.assertEqual(worker["runtime"], "synthetic")
            self.assertEqual(worker["driver_guard"], "none")
            self.assertEqual(worker["input_memory"], "none")
            self.assertEqual(daemon.metric("mpsd_runtime_info", model="m", runtime="synthetic"), 1)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_libtorch_is_the_one_of_the_prefix(self):
        models = [torchscript("m", "mlp_256x512x4")]
        with Daemon(models, binaries=self.prefix / "bin") as daemon:
            (worker,) = daemon.ps()["m"]["workers"]
            self.assertRegex(worker["runtime"], r"^torch \d+\.\d+\.\d+$")
            self.assertEqual(worker["runtime_kind"], "stock")
            folder = pathlib.Path(os.path.normpath(worker["runtime_path"])).parent
            self.assertEqual(folder, self.prefix / "lib/mpsd")
            text = mpsd("ps", "--address", daemon.address, binaries=self.prefix / "bin").stdout
            self.assertRegex(text, r"cpu +torch \S+ stock +\d")
            rows = np.ones((1, 256), dtype=np.float32)
            with calls.stub(daemon.address) as stub:
                (outcome,) = calls.infer_all(stub, [calls.request("m", {"input": rows})])
            self.assertEqual(outcome.code, calls.OK, outcome.text)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_the_worker_looks_beside_itself_first_and_never_where_it_is_started(self):
        said = subprocess.run(["readelf", "-d", str(self.prefix / "bin/mpsd-worker")], text=True,
                              capture_output=True, check=True, timeout=60).stdout
        (path,) = re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", said)
        folders = path.split(":")
        self.assertEqual(folders[0], "$ORIGIN/../lib/mpsd")
        self.assertTrue(all(folder.startswith(("$ORIGIN/", "/")) for folder in folders), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
