"""Shared memory that grows with the load and is given back, and what no one may take too much of."""
import os
import signal
import subprocess
import unittest

import grpc
import numpy as np

import calls
import procfs
from daemon import BIN, Daemon, wait_until
from models import placement, synthetic, tensor

MIB = 1 << 20
ANY = [tensor("x", [-1])]
RESOURCE_EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


def row_of_bytes(value, size):
    return calls.row_of(value, width=size // 4)[0]


def has_own_allocator():
    return "libasan" in subprocess.run(["ldd", BIN / "mpsd"], capture_output=True, text=True,
                                       check=True).stdout


def slab_bytes(daemon):
    return daemon.metric("mpsd_slab_segment_bytes")


class Growth(unittest.TestCase):
    def check_answers(self, sent, outcomes):
        for array, outcome in zip(sent, outcomes, strict=True):
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"], array)

    def test_segments_come_with_the_load_and_go_after_it(self):
        model = synthetic("m", ANY, max_batch_size=0, parameters={"delay": "1s"},
                          placement=placement(processes=2, lanes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            first = slab_bytes(daemon)
            files = procfs.memory_files(daemon.pid)
            size = int(first // 8)
            sent = [row_of_bytes(i, size) for i in range(32)]
            messages = [calls.request("m", {"x": array}) for array in sent]
            futures = [stub.ModelInfer.future(message, timeout=calls.LIMIT_S)
                       for message in messages]
            wait_until(lambda: slab_bytes(daemon) > first, 30, "a further segment")
            self.check_answers(sent, [calls.outcome_of(future) for future in futures])
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)
            wait_until(lambda: slab_bytes(daemon) == first, 20, "the end of the further segments")
            wait_until(lambda: procfs.memory_files(daemon.pid) == files, 30, "closed memory files")
            for worker in daemon.workers():
                self.assertLessEqual(procfs.memory_files(worker), files)
            # Once more, with segment numbers that were used before.
            self.check_answers(sent[:16], calls.infer_all(stub, messages[:16]))

    def test_a_request_larger_than_every_segment_is_served(self):
        model = synthetic("m", ANY, max_batch_size=0)
        with Daemon([model], limits={"message": "200MiB"}) as daemon, \
                calls.stub(daemon.address) as stub:
            first = slab_bytes(daemon)
            sent = row_of_bytes(7, int(first) + 64 * MIB)
            # The first worker cannot hold the answer, and the call waits for the next.
            for _ in range(2):
                self.check_answers([sent], [calls.infer(stub, calls.request("m", {"x": sent}))])
            self.assertEqual(daemon.metric("mpsd_worker_deaths_total"), 0)
            wait_until(lambda: slab_bytes(daemon) == first, 20, "the end of its segment")
            small = row_of_bytes(3, 4096)
            self.check_answers([small], [calls.infer(stub, calls.request("m", {"x": small}))])

    def test_a_worker_that_starts_later_has_every_segment(self):
        model = synthetic("m", ANY, max_batch_size=0, parameters={"delay": "300ms"},
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            first = slab_bytes(daemon)
            sent = [row_of_bytes(i, int(first // 8)) for i in range(40)]
            futures = [stub.ModelInfer.future(calls.request("m", {"x": array}), timeout=30)
                       for array in sent]
            wait_until(lambda: slab_bytes(daemon) > first, 30, "a further segment")
            victim = daemon.workers()[0]
            os.kill(victim, signal.SIGKILL)
            self.check_answers(sent, [calls.outcome_of(future) for future in futures])
            daemon.wait_all_serving()
            self.check_answers(sent[:24], calls.infer_all(stub, [
                calls.request("m", {"x": array}) for array in sent[:24]]))

    def test_the_budget_is_the_limit(self):
        model = synthetic("m", ANY, max_batch_size=0, parameters={"delay": "200ms"})
        with Daemon([model], limits={"shared_memory": "64MiB"}) as daemon, \
                calls.stub(daemon.address) as stub:
            first = slab_bytes(daemon)
            size = int(first // 4)
            outcomes = calls.infer_all(stub, [calls.request("m", {"x": row_of_bytes(i, size)})
                                              for i in range(200)], limit_s=60)
            refused = [outcome for outcome in outcomes if outcome.code != calls.OK]
            self.assertTrue(refused, "64 MiB held everything")
            for outcome in refused:
                self.assertEqual((outcome.code, outcome.text),
                                 (RESOURCE_EXHAUSTED, "Exceeds maximum queue size"))
            self.assertLess(len(refused), 200)
            wait_until(lambda: slab_bytes(daemon) == first, 20, "what it takes at rest")
            self.check_answers([row_of_bytes(1, size)], [
                calls.infer(stub, calls.request("m", {"x": row_of_bytes(1, size)}))])


class Own(unittest.TestCase):
    """Memory of the processes themselves, which they share with nobody."""

    def test_what_large_messages_took_is_given_back(self):
        model = synthetic("m", ANY, max_batch_size=0)
        with Daemon([model]) as daemon:
            if has_own_allocator():
                self.skipTest("the sanitizer has an allocator of its own, which keeps what it took")
            before = procfs.own_bytes(daemon.pid)
            with calls.stub(daemon.address) as stub:
                message = calls.request("m", {"x": row_of_bytes(1, 16 * MIB)})
                for _ in range(3):
                    calls.infer_all(stub, [message] * 32)
                taken = procfs.own_bytes(daemon.pid) - before
            # Memory below the watermark stays; the allocator returns nearly all of the rest.
            kept = max(taken // 3, 32 * MIB)
            wait_until(lambda: procfs.own_bytes(daemon.pid) <= before + kept, 60,
                       "the end of what the messages took")

    def test_a_synthetic_model_takes_nothing_of_libtorch(self):
        with Daemon([synthetic("m")]) as daemon:
            for worker in daemon.workers():
                self.assertFalse([name for name in procfs.mapped_files(worker) if "torch" in name])


class Many(unittest.TestCase):
    COUNT = 100

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic(f"m{index}", placement=placement()) for index in range(cls.COUNT)]))

    def test_all_serve(self):
        states = [model["state"] for model in self.daemon.ps().values()]
        self.assertEqual(states, ["ready"] * self.COUNT)
        self.assertEqual(len(self.daemon.workers()), self.COUNT)

    def test_a_worker_takes_little_of_its_own(self):
        if has_own_allocator():
            self.skipTest("the sanitizer takes memory of its own")
        own = sum(map(procfs.own_bytes, self.daemon.workers()))
        self.assertLess(own, self.COUNT * 4 * MIB)

    def test_the_metrics_of_idle_models_are_short(self):
        self.assertLess(len(self.daemon.get("/metrics")[1]), 400_000)


class Fitting(unittest.TestCase):
    def test_a_model_that_does_not_fit_keeps_no_other_from_serving(self):
        models = [synthetic("big", [tensor("x", [MIB])], max_batch_size=64), synthetic("m")]
        with Daemon(models, limits={"shared_memory": "128MiB"}) as daemon, \
                calls.stub(daemon.address) as stub:
            row = {"x": calls.row_of(1)}
            self.assertEqual(calls.infer(stub, calls.request("m", row)).code, calls.OK)
            daemon.wait_logged("model 'big' needs .* that limits.shared_memory allows")

    def test_open_dims_take_what_a_message_can_bring(self):
        open_dims = [tensor("a", [-1, -1, -1]), tensor("b", [-1, -1, -1])]
        with Daemon([synthetic("open", open_dims, max_batch_size=8)],
                    limits={"shared_memory": "256MiB"}) as daemon, \
                calls.stub(daemon.address) as stub:
            large = np.ones((1, 100, 100, 100), np.float32)  # 4 MB
            calls.answered(stub, calls.request("open", {"a": large, "b": large}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
