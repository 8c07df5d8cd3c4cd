"""A call's way through a real daemon, with Triton's own client, which knows nothing of mpsd."""
import unittest

import numpy as np
import tritonclient.grpc as triton

import calls
from daemon import Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, tensor, torchscript

RANDOM = np.random.default_rng(7)


def input_of(name, array):
    made = triton.InferInput(name, list(array.shape), calls.DATATYPES[array.dtype.name])
    made.set_data_from_numpy(array)
    return made


def random_rows(rows, *dims):
    return RANDOM.random((rows, *dims), dtype=np.float32)


class SyntheticPath(unittest.TestCase):
    """No torch: every byte that comes back is the one that was sent."""

    @classmethod
    def setUpClass(cls):
        several = [tensor("INPUT0", [4]), tensor("INPUT1", [2, 3], "INT64"),
                   tensor("INPUT2", [5], "UINT8")]
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("echo"), synthetic("several", several),
             synthetic("whole", max_batch_size=0)],
            listen=["unix:mpsd.sock"]))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def test_infer_gives_the_same_bytes_back(self):
        for rows in (1, 3, 8):
            sent = random_rows(rows, 16)
            answer = self.client.infer("echo", [input_of("x", sent)])
            self.assertEqual(answer.as_numpy("OUTPUT0").tobytes(), sent.tobytes())
            self.assertEqual(answer.as_numpy("OUTPUT0").shape, (rows, 16))

    def test_nan_and_infinity_pass_bit_exact(self):
        sent = np.frombuffer(np.array([0x7FC00001, 0xFFC12345, 0x7F800000, 0xFF800000] * 4,
                                      np.uint32).tobytes(), np.float32).reshape(1, 16)
        answer = self.client.infer("echo", [input_of("x", sent)])
        self.assertEqual(answer.as_numpy("OUTPUT0").tobytes(), sent.tobytes())

    def test_several_inputs_in_any_order(self):
        sent = {"INPUT2": RANDOM.integers(0, 255, (2, 5), np.uint8), "INPUT0": random_rows(2, 4),
                "INPUT1": RANDOM.integers(-9, 9, (2, 2, 3), np.int64)}
        answer = self.client.infer("several",
                                   [input_of(name, array) for name, array in sent.items()])
        for name, array in sent.items():
            back = answer.as_numpy(name.replace("INPUT", "OUTPUT"))
            np.testing.assert_array_equal(back, array)

    def test_only_the_requested_outputs_in_their_order(self):
        inputs = [input_of("INPUT0", random_rows(1, 4)),
                  input_of("INPUT1", np.zeros((1, 2, 3), np.int64)),
                  input_of("INPUT2", np.ones((1, 5), np.uint8))]
        wanted = [triton.InferRequestedOutput("OUTPUT2"), triton.InferRequestedOutput("OUTPUT0")]
        answer = self.client.infer("several", inputs, outputs=wanted).get_response()
        self.assertEqual([output.name for output in answer.outputs], ["OUTPUT2", "OUTPUT0"])
        self.assertEqual(answer.raw_output_contents[0], b"\1" * 5)

    def test_a_model_without_batch_dim(self):
        sent = random_rows(16)
        answer = self.client.infer("whole", [input_of("x", sent)])
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), sent)

    def test_typed_contents(self):
        message = calls.request("several", {"INPUT0": random_rows(1, 4),
                                            "INPUT1": np.zeros((1, 2, 3), np.int64),
                                            "INPUT2": np.zeros((1, 5), np.uint8)})
        del message.raw_input_contents[:]
        message.inputs[0].contents.fp32_contents.extend([1.5, -2, 0, 4])
        message.inputs[1].contents.int64_contents.extend(range(6))
        message.inputs[2].contents.uint_contents.extend([0, 1, 2, 254, 255])
        outcome = calls.answered(self.stub, message)
        back = calls.arrays(outcome.response)
        self.assertEqual(back["OUTPUT0"].tolist(), [[1.5, -2, 0, 4]])
        self.assertEqual(back["OUTPUT1"].ravel().tolist(), list(range(6)))
        self.assertEqual(back["OUTPUT2"].tolist(), [[0, 1, 2, 254, 255]])

    def test_ids_are_echoed_and_the_version_is_concrete(self):
        messages = [calls.request("echo", {"x": calls.row_of(i)}, request_id=f"id-{i}")
                    for i in range(32)]
        for i, outcome in enumerate(calls.infer_all(self.stub, messages)):
            self.assertEqual((outcome.code, outcome.response.id), (calls.OK, f"id-{i}"))
            self.assertEqual((outcome.response.model_name, outcome.response.model_version),
                             ("echo", "1"))
            np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                          calls.row_of(i))

    def test_live_ready_and_metadata(self):
        client = self.client
        self.assertTrue(client.is_server_live() and client.is_server_ready())
        self.assertTrue(client.is_model_ready("echo") and client.is_model_ready("echo", "1"))
        self.assertFalse(client.is_model_ready("echo", "2") or client.is_model_ready("nobody"))
        self.assertEqual(client.get_server_metadata().name, "mpsd")
        metadata = client.get_model_metadata("several", as_json=True)
        self.assertEqual((metadata["name"], metadata["versions"], metadata["platform"]),
                         ("several", ["1"], "synthetic"))
        self.assertEqual([(tensor["name"], tensor["datatype"], tensor["shape"])
                          for tensor in metadata["inputs"]],
                         [("INPUT0", "FP32", ["-1", "4"]), ("INPUT1", "INT64", ["-1", "2", "3"]),
                          ("INPUT2", "UINT8", ["-1", "5"])])
        whole = client.get_model_metadata("whole", as_json=True)
        self.assertEqual(whole["outputs"][0]["shape"], ["16"])

    def test_unix_socket(self):
        path = self.daemon.folder / "mpsd.sock"
        self.assertIn(f"unix:{path}", self.daemon.listeners)
        with triton.InferenceServerClient(f"unix:{path}") as client:
            sent = random_rows(2, 16)
            answer = client.infer("echo", [input_of("x", sent)])
            np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), sent)


class Parallel(unittest.TestCase):
    def run_at_once(self, where, calls_at_once):
        """That many batches run at the same time, and every answer is right."""
        model = synthetic("slow", max_batch_size=1, parameters={"delay": "2s"}, placement=where)
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            futures = [stub.ModelInfer.future(calls.request("slow", {"x": calls.row_of(i)}))
                       for i in range(calls_at_once)]
            wait_until(lambda: daemon.metric("mpsd_running_batches") == calls_at_once, 20,
                       f"{calls_at_once} batches at once")
            for i, future in enumerate(futures):
                outcome = calls.answer_of(future)
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i))

    def test_several_workers(self):
        self.run_at_once(placement(processes=3), 3)

    def test_several_lanes(self):
        self.run_at_once(placement(lanes=3), 3)

    def test_several_workers_of_several_lanes(self):
        self.run_at_once(placement(processes=2, lanes=2), 4)

    def test_two_models_do_not_wait_for_one_another(self):
        slow = synthetic("slow", parameters={"delay": "4s"})
        with Daemon([slow, synthetic("quick")]) as daemon, calls.stub(daemon.address) as stub:
            waiting = stub.ModelInfer.future(calls.request("slow", {"x": calls.row_of(1)}))
            for i in range(50):
                calls.answered(stub, calls.request("quick", {"x": calls.row_of(i)}))
            self.assertFalse(waiting.done(), "the quick model waited for the slow one")
            self.assertEqual(calls.outcome_of(waiting).code, calls.OK)


@unittest.skipUnless(WITH_TORCH, "built without torch")
class TorchPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = ["identity", "conv", "two_outputs", "transformer"]
        cls.daemon = cls.enterClassContext(Daemon(
            [torchscript(name) for name in names] + [torchscript("mlp", "mlp_256x512x4")]))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))

    def infer(self, model, array):
        answer = self.client.infer(model, [input_of("input", array)])
        return {output.name: answer.as_numpy(output.name)
                for output in answer.get_response().outputs}

    def check_alone_and_in_batch(self, model, rows):
        """A row's answer is the same alone, again, and in company."""
        together = self.infer(model, rows)["output"]
        self.assertEqual(together.shape[0], rows.shape[0])
        self.assertTrue(np.isfinite(together).all() and together.any())
        for i, row in enumerate(rows):
            alone = self.infer(model, row[None])["output"]
            np.testing.assert_array_equal(self.infer(model, row[None])["output"], alone)
            np.testing.assert_allclose(together[i], alone[0], rtol=1e-5, atol=1e-5)

    def test_identity_is_bit_exact(self):
        sent = random_rows(5, 256)
        self.assertEqual(self.infer("identity", sent)["output"].tobytes(), sent.tobytes())

    def test_mlp(self):
        self.check_alone_and_in_batch("mlp", random_rows(8, 256) - 0.5)

    def test_conv(self):
        self.check_alone_and_in_batch("conv", random_rows(4, 3, 32, 32))

    def test_transformer_of_any_length(self):
        for length in (1, 7, 33):
            self.check_alone_and_in_batch("transformer", random_rows(3, length, 64))

    def test_two_outputs(self):
        sent = random_rows(3, 16)
        answer = self.infer("two_outputs", sent)
        np.testing.assert_array_equal(answer["double"], sent * 2)
        np.testing.assert_allclose(answer["sum"], sent.sum(axis=1, keepdims=True), rtol=1e-5)

    def test_one_of_two_outputs(self):
        wanted = [triton.InferRequestedOutput("sum")]
        answer = self.client.infer("two_outputs", [input_of("input", random_rows(1, 16))],
                                   outputs=wanted)
        self.assertEqual([output.name for output in answer.get_response().outputs], ["sum"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
