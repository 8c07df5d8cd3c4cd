"""Tensors of strings, with Triton's own client: they come back as they went in."""
import struct
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon
from models import placement, synthetic, tensor
from streams import input_of

INVALID_ARGUMENT = grpc.StatusCode.INVALID_ARGUMENT
STRINGS = np.array([["", "a"], ["ünïcödé", "x" * 5000]], dtype=object)


def strings_of(name, array):
    made = triton.InferInput(name, list(array.shape), "BYTES")
    made.set_data_from_numpy(array)
    return made


def decoded(array):
    return np.vectorize(lambda element: element.decode(), otypes=[object])(array)


def element(text):
    return struct.pack("<I", len(text)) + text


def raw(model, dims, contents, request_id=""):
    message = service_pb2.ModelInferRequest(model_name=model, id=request_id)
    message.inputs.add(name="x", datatype="BYTES", shape=dims)
    message.raw_input_contents.append(contents)
    return message


class Strings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = [tensor("x", [2], "BYTES")]
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("text", text),
             synthetic("slow", text, parameters={"delay": "20ms"}, max_batch_size=16),
             synthetic("mixed", [tensor("T", [1], "BYTES"), tensor("N", [3])]),
             synthetic("warm", [tensor("x", [-1], "BYTES")], max_batch_size=0, warmup="all"),
             synthetic("two", text, placement=placement(processes=2, lanes=2))]))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def check_text(self, outcome, text):
        self.assertEqual(outcome.code, INVALID_ARGUMENT)
        self.assertEqual(outcome.text, text)

    def test_strings_come_back(self):
        answer = self.client.infer("text", [strings_of("x", STRINGS)])
        np.testing.assert_array_equal(decoded(answer.as_numpy("OUTPUT0")), STRINGS)
        self.assertEqual(answer.get_output("OUTPUT0").datatype, "BYTES")

    def test_bytes_that_are_no_text(self):
        sent = np.array([[bytes(range(256)), b"\0\0\0\0"]], dtype=object)
        answer = self.client.infer("text", [strings_of("x", sent)])
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), sent)

    def test_typed_contents(self):
        message = service_pb2.ModelInferRequest(model_name="text")
        message.inputs.add(name="x", datatype="BYTES", shape=[1, 2])
        message.inputs[0].contents.bytes_contents.extend([b"one", b""])
        outcome = calls.answered(self.stub, message)
        self.assertEqual(outcome.response.raw_output_contents[0], element(b"one") + element(b""))

    def test_a_model_without_batch_dim_and_with_any_length(self):
        for count in (0, 1, 100):
            sent = np.array([f"s{i}" * i for i in range(count)], dtype=object)
            answer = self.client.infer("warm", [strings_of("x", sent)])
            self.assertEqual(answer.as_numpy("OUTPUT0").tolist(), [s.encode() for s in sent])

    def test_beside_a_tensor_of_numbers(self):
        texts = np.array([["a"], ["bcd"]], dtype=object)
        numbers = input_of("N", np.arange(6, dtype=np.float32).reshape(2, 3))
        answer = self.client.infer("mixed", [numbers, strings_of("T", texts)])
        np.testing.assert_array_equal(decoded(answer.as_numpy("OUTPUT0")), texts)
        self.assertEqual(answer.as_numpy("OUTPUT1").ravel().tolist(), list(range(6)))

    def test_a_large_tensor_in_many_slices(self):
        sent = np.array([["p" * 3_000_001, "q" * 1_500_003]], dtype=object)
        answer = self.client.infer("text", [strings_of("x", sent)])
        np.testing.assert_array_equal(decoded(answer.as_numpy("OUTPUT0")), sent)

    def check_each_gets_its_own(self, model):
        texts = [(f"call {i}".encode() * (i % 7), str(i).encode()) for i in range(96)]
        outcomes = calls.all_answered(self.stub, [
            raw(model, [1, 2], b"".join(map(element, pair))) for pair in texts])
        for pair, outcome in zip(texts, outcomes, strict=True):
            self.assertEqual(outcome.response.raw_output_contents[0],
                             b"".join(map(element, pair)))

    def test_requests_share_batches_and_get_their_own_strings(self):
        self.check_each_gets_its_own("slow")
        batches = self.daemon.metric("mpsd_batches_total", model="slow")
        self.assertLess(batches, 96 / 1.5, "they were not batched")

    def test_several_workers_and_lanes(self):
        self.check_each_gets_its_own("two")

    def test_malformed_strings(self):
        whole = element(b"ab") + element(b"c")
        self.check_text(calls.infer(self.stub, raw("text", [1, 2], element(b"ab"), "7")),
                        "[request id: 7] expected 2 string elements for inference input 'x' for "
                        "model 'text', got 1")
        self.check_text(calls.infer(self.stub, raw("text", [1, 2], whole + element(b""))),
                        "unexpected number of string elements 3 for inference input 'x' for "
                        "model 'text', expecting 2")
        for cut, text in ((whole[:-1], "incomplete string data"),
                          (whole[:-2], "incomplete string length indicator")):
            outcome = calls.infer(self.stub, raw("text", [1, 2], cut))
            self.assertEqual(outcome.code, INVALID_ARGUMENT)
            self.assertIn(text, outcome.text)
        outcome = calls.infer(self.stub, raw("text", [1, 2], struct.pack("<I", 0xFFFFFFFF)))
        self.assertIn("incomplete string data", outcome.text)
        self.check_text(calls.infer(self.stub, raw("text", [1, 3], whole)),
                        "unexpected shape for input 'x' for model 'text'. Expected [-1,2], "
                        "got [1,3].")

    def test_metadata(self):
        metadata = self.client.get_model_metadata("text", as_json=True)
        self.assertEqual(metadata["inputs"][0]["datatype"], "BYTES")


if __name__ == "__main__":
    unittest.main(verbosity=2)
