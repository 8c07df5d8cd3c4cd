#!/usr/bin/env python3
"""The whole daemon with workers on mps, over the stand-in of Metal that a bare root holds.

MPSD_METAL_ROOT=FOLDER worker_test.py

The daemon is this clone's release build. Its workers are those of the root, with the libraries of
the root, and a patched libtorch. Each answer is compared with the cpu's.
"""
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import calls  # pylint: disable=wrong-import-position
import daemon  # pylint: disable=wrong-import-position
from models import placement, torchscript  # pylint: disable=wrong-import-position

METAL = pathlib.Path(os.environ["MPSD_METAL_ROOT"]).resolve()
LIBRARIES = METAL / "usr/lib/x86_64-linux-gnu"
PATHS = [METAL / "build" / os.environ.get("MPSD_METAL_KIND", "patched"), LIBRARIES,
         METAL / "usr/lib", LIBRARIES / "blas", LIBRARIES / "lapack"]
PLACES = {"device": "mps", "placement": placement(lanes=8)}
WIDTHS = {"mlp_256x512x4": 256, "mlp_1024x6": 1024}


def binaries(folder):
    """This clone's programs, with a worker that runs in the root's libraries."""
    for program in daemon.SERVERS:
        if program != "mpsd-worker":
            daemon.link_or_copy(daemon.BIN / program, folder / program)
    worker = folder / "mpsd-worker"
    worker.write_text(f"#!/bin/sh\nexec {METAL}/lib64/ld-linux-x86-64.so.2 "
                      f"--library-path {':'.join(map(str, PATHS))} "
                      f"{METAL}/build/worker/bin/mpsd-worker \"$@\"\n")
    worker.chmod(0o755)
    return folder


class Worker(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-metal-"))
        self.binaries = binaries(pathlib.Path(folder))

    def serve(self, models, **more):
        return daemon.Daemon(models, binaries=self.binaries, **more)

    def check_answers(self, address, model, width):
        """The rows of batches of all sizes have the answers of the cpu."""
        with calls.stub(address) as stub:
            rows = [np.random.default_rng(i).standard_normal((1, width)).astype(np.float32)
                    for i in range(40)]
            answers = {}
            for name in (model, f"{model}-cpu"):
                outcomes = calls.infer_all(
                    stub, [calls.request(name, {"input": row}) for row in rows])
                for outcome in outcomes:
                    self.assertEqual(outcome.code, calls.OK, outcome.text)
                answers[name] = [next(iter(calls.arrays(outcome.response).values()))
                                 for outcome in outcomes]
            for got, wanted in zip(answers[model], answers[f"{model}-cpu"]):
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)

    def test_networks_are_served_on_mps_with_eight_lanes(self):
        models = []
        for name in WIDTHS:
            models.append(torchscript(name, **PLACES))
            models.append({**torchscript(name), "name": f"{name}-cpu"})
        with self.serve(models) as served:
            for name, width in WIDTHS.items():
                (worker,) = served.ps()[name]["workers"]
                self.assertEqual(worker["lanes"], 8, served.log())
                self.assertEqual(worker["driver_guard"], "held", worker)
                self.check_answers(served.address, name, width)
            self.assertNotIn("metal stand-in: ", served.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
