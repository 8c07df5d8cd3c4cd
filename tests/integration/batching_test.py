"""Requests that are there together run together, and each gets its own answer."""
import unittest

import numpy as np

import calls
from daemon import Daemon, WITH_TORCH
from models import synthetic, tensor, torchscript


def batches_and_rows(daemon, model):
    return (daemon.metric("mpsd_batches_total", model=model),
            daemon.metric("mpsd_batch_rows_sum", model=model))


class Batching(unittest.TestCase):
    def check_mean_batch(self, daemon, model, outcomes, rows):
        for outcome in outcomes:
            self.assertEqual(outcome.code, calls.OK, outcome.text)
        batches, counted = batches_and_rows(daemon, model)
        self.assertEqual(counted, rows)
        self.assertGreater(counted / batches, 1.5, f"{rows} rows in {batches} batches")
        print(f"  {rows:.0f} rows in {batches:.0f} batches", flush=True)

    def test_concurrent_calls_share_batches(self):
        model = synthetic("echo", max_batch_size=16, parameters={"delay": "20ms"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            outcomes = calls.infer_all(stub, [calls.request("echo", {"x": calls.row_of(i)})
                                              for i in range(64)])
            self.check_mean_batch(daemon, "echo", outcomes, 64)
            for i, outcome in enumerate(outcomes):
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i))

    def test_requests_of_several_rows_share_batches_and_are_never_torn(self):
        model = synthetic("echo", max_batch_size=8, parameters={"delay": "20ms"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            sizes = [1 + i % 5 for i in range(60)]
            outcomes = calls.infer_all(
                stub, [calls.request("echo", {"x": calls.row_of(i, rows=rows)})
                       for i, rows in enumerate(sizes)])
            self.check_mean_batch(daemon, "echo", outcomes, sum(sizes))
            for i, (rows, outcome) in enumerate(zip(sizes, outcomes)):
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i, rows=rows))
            largest = daemon.metric("mpsd_batch_rows_bucket", le="8")
            self.assertEqual(largest, daemon.metric("mpsd_batch_rows_count"))

    def test_mixed_lengths_are_padded_into_one_batch_and_cut_back(self):
        pad = [{"input": "x", "dim": 0, "buckets": [8, 32], "value": -1,
                "outputs": [{"output": "OUTPUT0", "dim": 0}]}]
        model = synthetic("padded", [tensor("x", [-1])], max_batch_size=32, pad=pad,
                          outputs=[tensor("OUTPUT0", [-1])], parameters={"delay": "20ms"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            lengths = [1 + i % 32 for i in range(96)]
            outcomes = calls.infer_all(
                stub, [calls.request("padded", {"x": calls.row_of(i, width=length)})
                       for i, length in enumerate(lengths)])
            self.check_mean_batch(daemon, "padded", outcomes, 96)
            for i, (length, outcome) in enumerate(zip(lengths, outcomes)):
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i, width=length))
            # 32 lengths in two buckets: without padding no two of a length would ever meet
            # in fewer batches than there are lengths.
            self.assertLess(daemon.metric("mpsd_batches_total"), 32)

    def test_a_delay_waits_for_company(self):
        model = synthetic("echo", max_batch_size=4, batching={"max_delay": "5s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            outcomes = calls.infer_all(stub, [calls.request("echo", {"x": calls.row_of(i)})
                                              for i in range(8)])
            self.check_mean_batch(daemon, "echo", outcomes, 8)
            self.assertEqual(daemon.metric("mpsd_batches_total"), 2)

    def test_a_held_queue_waits_for_so_many(self):
        with Daemon([synthetic("echo")],
                    environment={"TRITONSERVER_DELAY_SCHEDULER": "8"}) as daemon, \
                calls.stub(daemon.address) as stub:
            requests = [calls.request("echo", {"x": calls.row_of(i)}) for i in range(8)]
            calls.infer_all(stub, requests)
            self.assertEqual(daemon.metric("mpsd_batches_total"), 1)
            calls.infer_all(stub, requests[:1])
            self.assertEqual(daemon.metric("mpsd_batches_total"), 2)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_torch_batches_answer_as_single_calls_do(self):
        rows = np.random.default_rng(3).random((64, 1, 1024), dtype=np.float32)
        with Daemon([torchscript("mlp", "mlp_1024x6")]) as daemon, \
                calls.stub(daemon.address) as stub:
            messages = [calls.request("mlp", {"input": row}) for row in rows]
            outcomes = calls.infer_all(stub, messages)
            self.check_mean_batch(daemon, "mlp", outcomes, 64)
            for message, outcome in zip(messages[:8], outcomes):
                alone = calls.arrays(calls.infer(stub, message).response)["output"]
                np.testing.assert_allclose(calls.arrays(outcome.response)["output"], alone,
                                           rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
