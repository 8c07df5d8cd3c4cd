"""Compiled packages (.pt2) are served as TorchScript is, and leave nothing behind."""
import json
import os
import pathlib
import signal
import tempfile
import unittest

import numpy as np

import calls
import procfs
from daemon import Daemon, mpsd, wait_until
from models import placement

PACKAGES = pathlib.Path(os.environ.get("MPSD_PACKAGES", "nowhere"))
NO_PACKAGES = "there are no packages; ./run torch fetches what makes them"


def package(name="mlp", **more):
    return {"name": name, "path": str(PACKAGES / f"{name}.pt2"), "device": "cpu", **more}


@unittest.skipUnless((PACKAGES / ".complete").exists(), NO_PACKAGES)
class Packages(unittest.TestCase):
    def expected(self):
        """The answer to a row of halves, as Python gave it when the package was made."""
        return np.fromfile(PACKAGES / "mlp_expected.bin", np.float32)

    def check(self, outcome, rows=1):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        (answer,) = calls.arrays(outcome.response).values()
        np.testing.assert_allclose(answer, np.tile(self.expected(), (rows, 1)), atol=1e-5)

    def test_requests_are_batched(self):
        model = package(placement=placement(lanes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            halves = [calls.request("mlp", {"x": np.full((1 + i % 3, 16), 0.5, np.float32)})
                      for i in range(300)]
            for i, outcome in enumerate(calls.infer_all(stub, halves)):
                self.check(outcome, 1 + i % 3)
            self.assertLess(daemon.metric("mpsd_batches_total"), 300, "none had company")
            self.assertEqual(daemon.ps()["mlp"]["workers"][0]["lanes"], 2)

    def test_it_serves_in_the_strict_sandbox(self):
        """Its code is unpacked into the worker's folder and mapped from there."""
        model = package(sandbox="strict", placement=placement(lanes=2, threads=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            self.check(calls.infer(stub, calls.request(
                "mlp", {"x": np.full((1, 16), 0.5, np.float32)})))
            self.assertNotIn("sandbox:", daemon.log())

    def test_a_worker_that_is_killed_leaves_nothing_in_temporary_folders(self):
        def unpacked():
            return set(pathlib.Path(tempfile.gettempdir()).glob("*/data/aotinductor"))

        before = unpacked()
        with Daemon([package()]) as daemon, calls.stub(daemon.address) as stub:
            for _ in range(3):
                wait_until(lambda: daemon.ps()["mlp"]["ready"], 30, "a worker")
                (folder,) = daemon.temporary_folders()
                found = list((daemon.state_dir / "workers" / folder).glob("mpsd-package-*/*.so"))
                self.assertEqual(len(found), 1, "it is unpacked in the worker's own folder")
                os.kill(daemon.workers()[0], signal.SIGKILL)
                wait_until(lambda: not found[0].exists(), 30, "the end of its folder")
            wait_until(lambda: daemon.ps()["mlp"]["ready"], 30, "a worker")
            self.check(calls.infer(stub, calls.request(
                "mlp", {"x": np.full((1, 16), 0.5, np.float32)})))
        self.assertEqual(unpacked(), before)

    def test_a_package_brings_no_threads_of_its_own(self):
        # A number of threads that no other test's worker has.
        with Daemon([package(placement=placement(threads=5))]) as daemon:
            self.assertEqual(procfs.with_environment("OMP_THREAD_LIMIT", "5"), daemon.workers())

    def test_inspect_and_init(self):
        file = PACKAGES / "mlp.pt2"
        done = mpsd("inspect", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("aoti, on cpu", "batches of up to 64 rows", "layer_norm 1", "linear 2",
                     "parameters: 2.9 KiB FP32", "input   x     FP32  [16]"):
            self.assertIn(text, done.stdout)
        with tempfile.TemporaryDirectory(prefix="mpsd-init-") as folder:
            config = pathlib.Path(folder) / "config.json"
            done = mpsd("init", file, "--config", config)
            self.assertEqual(done.returncode, 0, done.stderr)
            (model,) = json.loads(config.read_text())["models"]
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            self.check(calls.infer(stub, calls.request(
                "mlp", {"x": np.full((1, 16), 0.5, np.float32)})))

    def test_without_metadata_the_stanza_is_printed(self):
        done = mpsd("inspect", PACKAGES / "no_metadata.pt2")
        self.assertEqual(done.returncode, 66)
        self.assertIn('"inputs": [{"name": "input", "datatype": "FP32"', done.stderr)
        done = mpsd("inspect", PACKAGES / "no_metadata.pt2", "--input", "x:FP32[-1,16]",
                    "--output", "y:FP32[-1,4]")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_for_another_device_or_machine(self):
        for name, text in (("other_device", "was compiled for cuda"),
                           ("other_machine", "was compiled for toaster64"),
                           ("truncated", "it is no .pt2 package, or is cut short")):
            with self.subTest(name):
                done = mpsd("inspect", PACKAGES / f"{name}.pt2")
                self.assertEqual(done.returncode, 66)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
