"""A lane without a batch keeps its model warm, and no request is the worse for it."""
import time
import unittest

import calls
import numpy as np
from daemon import WITH_TORCH, Daemon, wait_until
from models import synthetic, torchscript

RUNS = "mpsd_keep_warm_runs_total"


def requests(daemon):
    return (daemon.metric("mpsd_requests_total"), daemon.metric("mpsd_batches_total"))


class KeepWarm(unittest.TestCase):
    def wait_for_runs(self, daemon, count):
        wait_until(lambda: daemon.metric(RUNS) >= count, 20, f"{count} runs")

    def test_it_runs_the_model_and_counts_no_request(self):
        with Daemon([synthetic("m", keep_warm="1s")]) as daemon:
            before = requests(daemon)
            self.wait_for_runs(daemon, 2)
            self.assertEqual(requests(daemon), before)

    def test_without_the_key_it_runs_nothing(self):
        with Daemon([synthetic("m"), synthetic("other", keep_warm="1s")]) as daemon:
            self.wait_for_runs(daemon, 2)
            self.assertEqual(daemon.metric(RUNS, model="m"), 0)

    def test_batches_take_its_place(self):
        with Daemon([synthetic("m", keep_warm="4s")]) as daemon:
            with calls.Load(daemon.address, "m") as load:
                time.sleep(6)
            self.assertGreater(load.answered(), 10)
            self.assertEqual(daemon.metric(RUNS), 0)

    def test_a_request_waits_for_one_run_at_most(self):
        model = synthetic("m", keep_warm="1s", parameters={"delay": "2s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            self.wait_for_runs(daemon, 1)
            for _ in range(2):
                # The next run begins one or two seconds after the last.
                time.sleep(2.2)
                began = time.monotonic()
                (outcome,) = calls.infer_all(
                    stub, [calls.request("m", {"x": np.ones((1, 16), dtype=np.float32)})])
                self.assertEqual(outcome.code, calls.OK, outcome.text)
                self.assertLess(time.monotonic() - began, 3 * 2, "its own run, and less than two")
                self.wait_for_runs(daemon, daemon.metric(RUNS) + 1)

    def test_a_model_that_takes_no_zeros_serves_and_is_left_alone(self):
        model = synthetic("m", keep_warm="1s", parameters={"throw_if": "0"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_logged("is not kept warm")
            (outcome,) = calls.infer_all(
                stub, [calls.request("m", {"x": np.ones((1, 16), dtype=np.float32)})])
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            self.assertEqual(daemon.metric(RUNS), 0)
            self.assertEqual(daemon.log().count("is not kept warm"), 1)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_of_torch_too(self):
        with Daemon([torchscript("m", "mlp_256x512x4", keep_warm="1s")]) as daemon:
            self.wait_for_runs(daemon, daemon.metric("mpsd_workers_ready"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
