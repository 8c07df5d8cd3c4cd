"""What a worker finds out of its model, and what becomes of it: demotion, split batches, inspect."""
import json
import os
import socket
import subprocess
import tempfile
import unittest

import numpy as np

import calls
from daemon import BIN, Daemon, WITH_TORCH, mpsd
from hostile_worker import receive, send
from models import placement, torchscript


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Lanes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-lanes-"))
        subprocess.run([str(BIN / "mpsd-make-models"), cls.folder, "--faulty"], check=True)

    def faulty(self, name, **more):
        return {"name": name, "path": f"{self.folder}/{name}.pt", "device": "cpu", **more}

    def test_lanes_that_disturb_each_other_become_one(self):
        model = self.faulty("racy", placement=placement(lanes=4))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            self.assertEqual(daemon.metric("mpsd_worker_lane_demotions_total"), 1)
            self.assertEqual(daemon.ps()["racy"]["workers"][0]["lanes"], 1)
            daemon.wait_logged("other answers than alone")
            rows = [np.full((1, 64), i, np.float32) for i in range(32)]
            outcomes = calls.all_answered(
                stub, [calls.request("racy", {"input": row}) for row in rows])
            for row, outcome in zip(rows, outcomes):
                (answer,) = calls.arrays(outcome.response).values()
                np.testing.assert_array_equal(answer, row)

    def test_lanes_that_do_not_are_kept(self):
        model = torchscript("transformer", placement=placement(lanes=2))
        with Daemon([model]) as daemon:
            self.assertEqual(daemon.metric("mpsd_worker_lane_demotions_total"), 0)
            self.assertEqual(daemon.ps()["transformer"]["workers"][0]["lanes"], 2)

    def report_of(self, **order):
        """What a worker without a daemon reports that is told to load "racy" with four lanes."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            worker = subprocess.Popen([BIN / "mpsd-worker"], stderr=subprocess.DEVNULL, pass_fds=(3,),
                                      preexec_fn=lambda: os.dup2(theirs.fileno(), 3))
            theirs.close()
            send(ours, {"type": "load", "model": "racy", "format": "torchscript", "sandbox": "off",
                        "path": f"{self.folder}/racy.pt", "device": "cpu", "warmup": "none",
                        "epoch": 1, "lanes": 4, "threads": 1, "cores": 1, "parameters": {},
                        "spec": {}, **order})
            report = json.loads(receive(ours))
        worker.wait(60)
        return report

    def test_lanes_that_a_process_before_has_compared_are_not_compared_again(self):
        self.assertEqual(self.report_of()["lanes"], 1)
        self.assertEqual(self.report_of(lanes_compared=True)["lanes"], 4)

    def test_only_the_rows_fail_that_the_model_throws_for(self):
        with Daemon([torchscript("throws")]) as daemon, calls.stub(daemon.address) as stub:
            rows = [np.full((1, 16), np.nan if i % 16 == 3 else i, np.float32) for i in range(64)]
            outcomes = calls.infer_all(
                stub, [calls.request("throws", {"input": row}) for row in rows])
            for i, outcome in enumerate(outcomes):
                if i % 16 == 3:
                    self.assertIn("the input holds a NaN", outcome.text)
                else:
                    self.assertEqual(outcome.code, calls.OK, f"row {i}: {outcome.text}")

    def test_a_module_in_training_mode_is_not_served_unasked(self):
        asked = self.faulty("training", parameters={"training_mode": "evaluate"})
        with Daemon([asked]) as daemon:
            self.assertEqual(daemon.ps()["training"]["state"], "ready")
        done = mpsd("inspect", f"{self.folder}/training.pt")
        self.assertEqual(done.returncode, 66)
        self.assertIn("it was saved in training mode", done.stderr)

    def test_what_init_writes_is_served(self):
        config = f"{self.folder}/init.json"
        file = torchscript("transformer")["path"]
        done = mpsd("inspect", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("layer_norm 4", "attention 2", "linear 8", "FP32", "[-1,64]"):
            self.assertIn(text, done.stdout)
        done = mpsd("init", file, "--config", config)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(config, encoding="utf-8") as written:
            (model,) = json.load(written)["models"]
        with Daemon([{**model, "device": "cpu"}]) as daemon:
            self.assertEqual(daemon.ps()["transformer"]["state"], "ready")

    def test_a_file_that_is_no_model_is_told(self):
        done = mpsd("inspect", __file__)
        self.assertEqual(done.returncode, 66)
        self.assertIn("it is no TorchScript archive", done.stderr)


if __name__ == "__main__":
    unittest.main()
