#!/usr/bin/env python3
"""The whole daemon with workers on mps, over the stand-in of Metal that a bare root holds.

MPSD_METAL_ROOT=FOLDER worker_test.py

The daemon is this clone's release build. Its workers are those of the root, with the libraries of
the root, and a patched or a stock libtorch. Each answer is compared with the cpu's.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import calls  # pylint: disable=wrong-import-position
import daemon  # pylint: disable=wrong-import-position
from models import huggingface, placement, torchscript  # pylint: disable=wrong-import-position

METAL = pathlib.Path(os.environ["MPSD_METAL_ROOT"]).resolve()
LIBRARIES = METAL / "usr/lib/x86_64-linux-gnu"
BACKENDS = METAL / "build/backend"
WORKERS = {"patched": "worker", "stock": "worker-stock"}  # folders below build
WIDTHS = {"mlp_256x512x4": 256, "mlp_1024x6": 1024}
ROWS = 40
daemon.START_LIMIT_S = 300  # lanes warm up by graphs that a cpu computes
SOAK_ROUNDS = int(os.environ.get("MPSD_METAL_SOAK", "10"))


def on_mps(processes=1, lanes=8):
    return {"device": "mps", "placement": placement(processes=processes, lanes=lanes)}


def binaries(folder, kind):
    """This clone's programs, with a worker for that kind of libtorch, in the root's libraries."""
    for program in daemon.SERVERS:
        if program != "mpsd-worker":
            daemon.link_or_copy(daemon.BIN / program, folder / program)
    paths = [BACKENDS / kind, BACKENDS, LIBRARIES, METAL / "usr/lib", LIBRARIES / "blas",
             LIBRARIES / "lapack"]
    worker = folder / "mpsd-worker"
    worker.write_text("#!/bin/sh\n"
                      f"export LLVM_PROFILE_FILE={METAL}/build/coverage/worker-%p%c.profraw\n"
                      f"exec {METAL}/lib64/ld-linux-x86-64.so.2 "
                      f"--library-path {':'.join(map(str, paths))} "
                      f"{METAL}/build/{WORKERS[kind]}/bin/mpsd-worker \"$@\"\n")
    worker.chmod(0o755)
    return folder


def beside_cpu(name, **places):
    """A model on mps, and the same on the cpu, whose answers are the right ones."""
    return [torchscript(name, **places), {**torchscript(name), "name": f"{name}-cpu"}]


class Worker(unittest.TestCase):
    def serve(self, models, kind="patched", **more):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-metal-"))
        return daemon.Daemon(models, binaries=binaries(pathlib.Path(folder), kind), **more)

    def check_answers(self, address, model, shape, rounds=1):
        """Requests at once, which become batches of all sizes, have the answers of the cpu."""
        with calls.stub(address) as stub:
            rows = [np.random.default_rng(i).standard_normal((1, *shape)).astype(np.float32)
                    for i in range(ROWS)]
            wanted = self.answers(stub, f"{model}-cpu", rows)
            for _ in range(rounds):
                for got, right in zip(self.answers(stub, model, rows), wanted):
                    np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)

    def answers(self, stub, model, rows):
        outcomes = calls.infer_all(stub, [calls.request(model, {"input": row}) for row in rows])
        for outcome in outcomes:
            self.assertEqual(outcome.code, calls.OK, outcome.text)
        return [next(iter(calls.arrays(outcome.response).values())) for outcome in outcomes]

    def check_rows(self, address, model, *shapes):
        """Requests of so many rows have the answers of the cpu, and each is a batch."""
        with calls.stub(address) as stub:
            for shape in shapes:
                rows = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
                (right,), (got,) = (self.answers(stub, name, [rows])
                                    for name in (f"{model}-cpu", model))
                np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)

    def check_rules(self, served):
        """A worker writes a line for a broken rule."""
        self.assertNotIn("metal stand-in: ", served.log())

    def test_networks_are_served_on_mps_with_eight_lanes(self):
        models = [model for name in WIDTHS for model in beside_cpu(name, **on_mps())]
        with self.serve(models) as served:
            for name, width in WIDTHS.items():
                (worker,) = served.ps()[name]["workers"]
                self.assertEqual(worker["lanes"], 8, served.log())
                self.assertEqual(worker["runtime_kind"], "patched", worker)
                self.assertEqual(worker["driver_guard"], "held", worker)
                self.assertEqual(worker["input_memory"], "in_place", worker)
                self.check_answers(served.address, name, (width,))
            self.check_rules(served)

    def test_two_processes_of_four_lanes_bear_a_soak(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps(processes=2, lanes=4))) as served:
            served.wait_all_serving()
            self.check_answers(served.address, name, (WIDTHS[name],), SOAK_ROUNDS)
            self.assertEqual([worker["lanes"] for worker in served.ps()[name]["workers"]], [4, 4])
            self.assertEqual(served.metric("mpsd_worker_restarts_total", model=name), 0)
            self.check_rules(served)

    def test_batches_of_any_rows_fit_a_bucket(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps(lanes=2))) as served:
            self.check_rows(served.address, name, *((rows, WIDTHS[name]) for rows in range(1, 33)))
            self.check_rules(served)

    def test_a_worker_with_enough_requests_is_replaced(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps(lanes=2), recycle={"requests": 50})) as served:
            (first,) = served.ps()[name]["workers"]
            def replaced():
                self.check_answers(served.address, name, (WIDTHS[name],))
                return served.metric("mpsd_worker_recycles_total", model=name) >= 1
            daemon.wait_until(replaced, daemon.START_LIMIT_S, "another worker")
            served.wait_logged("worker_replaced")
            self.check_answers(served.address, name, (WIDTHS[name],))
            self.assertNotIn(first["pid"], [one["pid"] for one in served.ps()[name]["workers"]])
            self.check_rules(served)

    def test_another_worker_answers_once_the_gpu_is_lost(self):
        name = "mlp_256x512x4"
        fault = "Caused GPU Address Fault Error (kIOGPUCommandBufferCallbackErrorPageFault)"
        with self.serve(beside_cpu(name, **on_mps()),
                        environment={"MPSD_STANDIN_FAULT": fault}) as served:
            (worker,) = served.ps()[name]["workers"]
            os.kill(worker["pid"], signal.SIGUSR1)
            self.check_answers(served.address, name, (WIDTHS[name],), 2)
            served.wait_logged(f"the device is lost: .*{re.escape(fault)}")
            self.assertEqual(served.metric("mpsd_worker_restarts_total", model=name), 1)
            self.check_rules(served)

    def test_a_batch_that_exceeds_the_memory_runs_in_parts(self):
        """Attention's scores take 128 MiB twice for eight rows, and 32 MiB twice for two rows."""
        name = "transformer"
        limits = {"PYTORCH_MPS_LOW_WATERMARK_RATIO": "0.015",
                  "PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.02"}  # of 8 GiB
        with self.serve(beside_cpu(name, **on_mps(lanes=1)), environment=limits) as served:
            self.check_rows(served.address, name, (8, 1024, 64), (8, 1024, 64))
            served.wait_logged("memory did not suffice for [48] rows")
            self.assertEqual(served.metric("mpsd_worker_restarts_total", model=name), 0)
            self.check_rules(served)

    def test_memory_that_is_unused_goes_back(self):
        """Attention's scores of 3,072 numbers take 144 MiB twice."""
        name = "transformer"
        with self.serve(beside_cpu(name, **on_mps(lanes=1))) as served:
            self.check_rows(served.address, name, (1, 3072, 64))
            daemon.wait_until(lambda: served.metric("mpsd_memory_trims_total", model=name) == 1,
                              60, "a trim")
            self.check_rows(served.address, name, (1, 3072, 64))
            self.check_rules(served)

    def test_inputs_are_copied_where_metal_takes_no_read_only_pages(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps(lanes=2)),
                        environment={"MPSD_STANDIN_REFUSES_READ_ONLY": "1"}) as served:
            served.wait_logged("inputs are copied to the gpu: Metal makes no buffer of this memory")
            (worker,) = served.ps()[name]["workers"]
            self.assertEqual(worker["input_memory"], "copied", worker)
            self.check_answers(served.address, name, (WIDTHS[name],))
            self.check_rules(served)

    def test_a_worker_names_its_devices(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-metal-") as folder:
            worker = binaries(pathlib.Path(folder), "patched") / "mpsd-worker"
            told = json.loads(subprocess.check_output([worker, "--devices"]))
        self.assertEqual(told["devices"], ["mps", "cpu"])

    def test_a_transformer_has_one_lane(self):
        with self.serve(beside_cpu("transformer", **on_mps())) as served:
            served.wait_logged("operators of layer_norm, attention allow one lane on mps")
            (worker,) = served.ps()["transformer"]["workers"]
            self.assertEqual(worker["lanes"], 1, served.log())
            self.check_answers(served.address, "transformer", (6, 64))
            self.check_rules(served)

    @unittest.skipUnless((daemon.MODELS / "minilm").is_dir(), "the folder is not there")
    def test_an_encoder_folder_gives_the_vectors_of_the_cpu(self):
        places = {"warmup": "smallest", **on_mps(lanes=1)}  # all shapes take minutes on a cpu
        models = [huggingface("minilm", **places),
                  {**huggingface("minilm", warmup="smallest"), "name": "minilm-cpu"}]
        ids = np.arange(1000, 1012).reshape(2, 6)
        mask = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
        texts = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with self.serve(models) as served, calls.stub(served.address) as stub:
            got, right = (calls.only_array(stub, name, texts) for name in ("minilm", "minilm-cpu"))
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
            self.check_rules(served)

    def test_a_worker_on_a_stock_libtorch_refuses_more_than_one_lane(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps()), kind="stock") as served:
            served.wait_logged("on mps a stock libtorch is safe with one lane only")
            (worker,) = served.ps()[name]["workers"]
            self.assertEqual(worker["lanes"], 1, served.log())
            self.assertEqual(worker["runtime_kind"], "stock", worker)
            self.assertEqual(worker["driver_guard"], "none", worker)
            self.check_answers(served.address, name, (WIDTHS[name],))
            self.check_rules(served)

    def test_the_guard_keeps_lanes_out_of_the_drivers_race(self):
        name = "mlp_256x512x4"
        with self.serve(beside_cpu(name, **on_mps()),
                        environment={"MPSD_STANDIN_DRIVER_RACE": "1"}) as served:
            self.check_answers(served.address, name, (WIDTHS[name],), 3)
            self.check_rules(served)


if __name__ == "__main__":
    unittest.main(verbosity=2)
