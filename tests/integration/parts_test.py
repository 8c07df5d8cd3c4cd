"""Requests of more rows than a batch, whose model's config lets them run in parts."""
import contextlib
import os
import signal
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.http as triton_http
import tritonclient.utils.shared_memory as shm

import calls
from daemon import Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, tensor, torchscript
from streams import input_of

CODE = grpc.StatusCode
LIMIT_S = 30
RANDOM = np.random.default_rng(34)


def parted(name, inputs=None, rows=100, **more):
    """In batches of 8."""
    return synthetic(name, inputs, max_request_rows=rows, **more)


def rows_of(rows, width=16):
    return RANDOM.random((rows, width), dtype=np.float32)


class Parts(unittest.TestCase):
    def serve(self, *models, **config):
        self.daemon = self.enterContext(Daemon(list(models), **config))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def call(self, model, sent, limit_s=LIMIT_S, **more):
        return calls.infer(self.stub, calls.request(model, {"x": sent}, **more), limit_s)

    def check_echo(self, outcome, sent):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"], sent)

    def check_refused(self, outcome, code, text):
        self.assertEqual(outcome.code, code, outcome.text)
        self.assertIn(text, outcome.text)

    def check_nothing_held(self):
        wait_until(lambda: self.daemon.metric("mpsd_step_copy_bytes") == 0, LIMIT_S, "the last end")


class Served(Parts):
    """One daemon for what changes nothing."""

    @classmethod
    def setUpClass(cls):
        chain = {"name": "chain", "max_batch_size": 60, "inputs": [tensor("x", [16])],
                 "outputs": [tensor("y", [16])],
                 "steps": [{"model": "m", "inputs": {"x": "x"}, "outputs": {"OUTPUT0": "t"}},
                           {"model": "m", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "y"}}]}
        cls.daemon = cls.enterClassContext(Daemon(
            [parted("m", placement=placement(2)), synthetic("plain"), chain,
             parted("words", [tensor("x", [2], "BYTES")]),
             parted("kept", response_cache="tenant"),
             parted("lengths", [tensor("x", [-1])], pad=[{"input": "x", "dim": 0,
                                                          "buckets": [8, 16]}])],
            limits={"client_shared_memory": "1MiB"}))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def test_rows_come_back_in_their_order(self):
        for rows in (1, 7, 8, 9, 16, 17, 99, 100):
            sent = rows_of(rows)
            outcome = self.call("m", sent)
            self.check_echo(outcome, sent)
            self.assertEqual(list(outcome.response.outputs[0].shape), [rows, 16])

    def test_each_part_is_a_batch_or_shares_one(self):
        def executed():
            stats = self.client.get_inference_statistics("m").model_stats[0]
            return stats.inference_count, stats.execution_count
        rows_before, batches_before = executed()
        self.check_echo(self.call("m", sent := rows_of(100)), sent)
        rows, batches = executed()
        self.assertEqual(rows - rows_before, 100)
        self.assertGreaterEqual(batches - batches_before, 13)

    def test_the_bound_is_named(self):
        self.check_refused(self.call("m", rows_of(101)), CODE.INVALID_ARGUMENT,
                           "batch-size must be <= 100 for 'm'")
        self.check_refused(self.call("plain", rows_of(9)), CODE.INVALID_ARGUMENT,
                           "batch-size must be <= 8 for 'plain'")

    def test_many_at_once(self):
        sent = [rows_of(1 + 13 * i % 100) for i in range(60)]
        outcomes = calls.infer_all(self.stub, [calls.request("m", {"x": rows}) for rows in sent])
        answered = 0
        for outcome, rows in zip(outcomes, sent, strict=True):
            if outcome.code == CODE.RESOURCE_EXHAUSTED:  # 256 parts may wait
                continue
            self.check_echo(outcome, rows)
            answered += 1
        self.assertGreater(answered, 20)
        self.check_nothing_held()

    def test_strings(self):
        sent = np.array([[f"row {i}", "x" * (37 * i)] for i in range(20)], dtype=object)
        made = input_of("x", sent, "BYTES")
        back = self.client.infer("words", [made]).as_numpy("OUTPUT0")
        self.assertEqual([[text.decode() for text in row] for row in back], sent.tolist())

    def test_padded_lengths(self):
        sent = rows_of(30, 11)
        self.assertEqual(self.call("lengths", sent).code, calls.OK)

    def test_over_http_and_in_regions(self):
        sent = rows_of(50)
        with contextlib.closing(triton_http.InferenceServerClient(self.daemon.http)) as client:
            made = triton_http.InferInput("x", [50, 16], "FP32")
            made.set_data_from_numpy(sent, binary_data=False)
            np.testing.assert_array_equal(client.infer("m", [made]).as_numpy("OUTPUT0"), sent)
        key = f"/mpsd-test-parts-{os.getpid()}"
        handle = shm.create_shared_memory_region("parts", key, 2 * sent.nbytes)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        shm.set_shared_memory_region(handle, [sent])
        self.client.register_system_shared_memory("parts", key, 2 * sent.nbytes)
        self.addCleanup(self.client.unregister_system_shared_memory, "parts")
        made = triton.InferInput("x", [50, 16], "FP32")
        made.set_shared_memory("parts", sent.nbytes)
        wanted = triton.InferRequestedOutput("OUTPUT0")
        wanted.set_shared_memory("parts", sent.nbytes, offset=sent.nbytes)
        self.client.infer("m", [made], outputs=[wanted])
        back = shm.get_contents_as_numpy(handle, np.float32, [50, 16], offset=sent.nbytes)
        np.testing.assert_array_equal(back, sent)

    def test_a_kept_answer_is_the_whole_one(self):
        sent = rows_of(30)
        for _ in range(2):
            self.check_echo(self.call("kept", sent), sent)
        self.assertEqual(self.daemon.metric("mpsd_cache_hits_total", model="kept"), 1)

    def test_steps_of_a_model_may_be_in_parts(self):
        sent = rows_of(60)
        outcome = self.call("chain", sent)
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        np.testing.assert_array_equal(calls.arrays(outcome.response)["y"], sent)
        self.check_nothing_held()


class Faults(Parts):
    def test_a_bad_row_ends_the_request_and_no_other(self):
        self.serve(parted("m", parameters={"throw_if": "666"}))
        sent, good = rows_of(50), rows_of(50)
        sent[33] = 666
        outcomes = calls.infer_all(self.stub, [calls.request("m", {"x": rows})
                                               for rows in (sent, good)])
        self.assertEqual(outcomes[0].code, CODE.INTERNAL)
        self.check_echo(outcomes[1], good)
        self.check_nothing_held()

    def test_a_killed_worker_costs_nothing(self):
        self.serve(parted("m", parameters={"delay": "300ms"}, placement=placement(2)))
        self.daemon.wait_all_serving()
        victim = self.daemon.ps()["m"]["workers"][0]["pid"]
        sent = rows_of(64)
        future = self.stub.ModelInfer.future(calls.request("m", {"x": sent}))
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="m") >= 2, LIMIT_S,
                   "both workers at work")
        os.kill(victim, signal.SIGKILL)
        self.check_echo(calls.outcome_of(future), sent)
        self.assertGreater(self.daemon.metric("mpsd_dispatched_again_total", model="m"), 0)

    def test_a_deadly_row_is_found(self):
        self.serve(parted("m", parameters={"crash_if": 666}))
        sent = rows_of(20)
        sent[17] = 666
        self.check_refused(self.call("m", sent), CODE.INTERNAL, "request crashed its worker")
        self.check_refused(self.call("m", sent), CODE.INTERNAL, "request crashed its worker")
        self.daemon.wait_all_serving()
        self.check_echo(self.call("m", good := rows_of(20)), good)

    def test_the_deadline_is_one_for_all_parts(self):
        self.serve(parted("m", parameters={"delay": "200ms"}, placement=placement()))
        outcome = self.call("m", rows_of(80), parameters={"timeout": 500_000})
        # Once a batch has shown that the rest comes too late, the rest is not computed.
        self.assertIn(outcome.code, (CODE.DEADLINE_EXCEEDED, CODE.RESOURCE_EXHAUSTED), outcome.text)
        self.check_nothing_held()
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="m") == 0, LIMIT_S,
                   "the lane's last batch")
        self.check_echo(self.call("m", sent := rows_of(9)), sent)

    def test_a_client_that_leaves_ends_all_parts(self):
        self.serve(parted("m", parameters={"delay": "200ms"}, placement=placement()))
        future = self.stub.ModelInfer.future(calls.request("m", {"x": rows_of(100)}))
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="m") == 1, LIMIT_S,
                   "the first part")
        future.cancel()
        wait_until(lambda: self.daemon.metric("mpsd_queued_requests", model="m") == 0, LIMIT_S,
                   "the last part's end")
        wait_until(lambda: self.daemon.metric("mpsd_requests_total", model="m",
                                              code="CANCELLED") == 1, LIMIT_S, "the ending")
        self.check_nothing_held()

    def test_a_full_queue_refuses_the_whole(self):
        """Five parts of nine places fit, and not two requests of five."""
        self.serve(parted("m", rows=1000, parameters={"delay": "300ms"}, placement=placement(),
                          queue={"requests": 9}))
        self.check_refused(self.call("m", rows_of(41)), CODE.INVALID_ARGUMENT,
                           "batch-size must be <= 40 for 'm'")
        messages = [calls.request("m", {"x": rows_of(40)}) for _ in range(6)]
        outcomes = calls.infer_all(self.stub, messages)
        full = [outcome for outcome in outcomes if outcome.code != calls.OK]
        self.assertTrue(0 < len(full) < 6)
        for outcome in full:
            self.check_refused(outcome, CODE.RESOURCE_EXHAUSTED, "Exceeds maximum queue size")
        self.check_nothing_held()

    def test_rows_that_wait_for_others_are_bounded(self):
        width = 64 << 10
        self.serve(parted("m", [tensor("x", [width])], max_batch_size=1, rows=8,
                          placement=placement()), limits={"step_tensors": "1MiB"})
        self.check_refused(self.call("m", rows_of(5, width)), CODE.RESOURCE_EXHAUSTED,
                           "too many bytes of answers wait")
        self.check_echo(self.call("m", sent := rows_of(4, width)), sent)
        self.check_nothing_held()

    def test_reloads_lose_no_request(self):
        self.serve(parted("m", parameters={"delay": "5ms"}))
        stopping = threading.Event()
        wrong = []

        def keep_calling():
            with calls.stub(self.daemon.address) as a_stub:
                while not stopping.is_set():
                    sent = rows_of(60)
                    outcome = calls.infer(a_stub, calls.request("m", {"x": sent}))
                    is_right = outcome.code == calls.OK and (
                        calls.arrays(outcome.response)["OUTPUT0"] == sent).all()
                    if not is_right:
                        wrong.append(outcome.text)

        threads = [threading.Thread(target=keep_calling) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for delay in ("4ms", "5ms", "6ms"):
                self.daemon.write_config([parted("m", parameters={"delay": delay})])
                self.daemon.reload()
        finally:
            stopping.set()
            for thread in threads:
                thread.join(2 * LIMIT_S)
        self.assertEqual(wrong, [])


@unittest.skipUnless(WITH_TORCH, "built without libtorch")
class Torch(Parts):
    def test_a_module_gives_what_it_gives_row_by_row(self):
        self.serve(torchscript("m", "mlp_256x512x4", max_request_rows=1000,
                               placement=placement(2)))
        sent = rows_of(300, 256)
        whole = calls.arrays(self.infer(sent).response)
        for first in range(0, 300, 50):
            part = calls.arrays(self.infer(sent[first:first + 50]).response)
            for name, rows in part.items():
                np.testing.assert_allclose(whole[name][first:first + 50], rows, atol=1e-5)

    def infer(self, sent):
        with contextlib.closing(triton.InferenceServerClient(self.daemon.address)) as client:
            name = client.get_model_metadata("m").inputs[0].name
        outcome = calls.answered(self.stub, calls.request("m", {name: sent}))
        return outcome


if __name__ == "__main__":
    unittest.main()
