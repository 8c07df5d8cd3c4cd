"""Each wrong request gets its code and its text, raw and typed, and harms no other request."""
import unittest

import grpc
import numpy as np

import calls
from daemon import Daemon
from models import synthetic, tensor

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
THREE = [tensor(name, [4]) for name in "ABC"]
FP32 = np.float32


def zeros(*shape, dtype=FP32):
    return np.zeros(shape, dtype)


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("m"), synthetic("three", THREE), synthetic("whole", max_batch_size=0),
             synthetic("eight", [tensor("x", [-1] * 8)]),
             synthetic("padded", [tensor("x", [-1])], pad=[
                 {"input": "x", "dim": 0, "buckets": [8]}], outputs=[tensor("OUTPUT0", [-1])])],
            limits={"message": "1MiB"}))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def tearDown(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(5)}))
        self.assertEqual(outcome.code, calls.OK, "a good request after it")

    def check(self, message, code, text, names_request=False):
        """Refused so. Only what is about the tensors themselves names the request's id too."""
        outcome = calls.infer(self.stub, message)
        self.assertEqual((outcome.code, outcome.text), (code, text))
        message.id = "q"
        outcome = calls.infer(self.stub, message)
        prefix = "[request id: q] " if names_request else ""
        self.assertEqual((outcome.code, outcome.text), (code, prefix + text))

    def check_tensor(self, message, text):
        self.check(message, INVALID, text, names_request=True)

    def typed(self, model="m", name="x", datatype="FP32", shape=(1, 16), **contents):
        message = calls.request(model, {})
        tensor_message = message.inputs.add(name=name, datatype=datatype, shape=shape)
        for field, values in contents.items():
            getattr(tensor_message.contents, field).extend(values)
        return message

    # Names.

    def test_unknown_model(self):
        self.check(calls.request("nobody", {"x": calls.row_of(1)}), NOT_FOUND,
                   "Request for unknown model: 'nobody' is not found")

    def test_unknown_version(self):
        self.check(calls.request("m", {"x": calls.row_of(1)}, version="99"), NOT_FOUND,
                   "Request for unknown model: 'm' version 99 is not found")

    def test_bad_version(self):
        for version in ("1abc", " 1", "one"):
            self.check(calls.request("m", {"x": calls.row_of(1)}, version=version), INVALID,
                       f"failed to get model version from specified version string '{version}'")

    def test_negative_version(self):
        self.check(calls.request("m", {"x": calls.row_of(1)}, version="-1"), INVALID,
                   "invalid model version specified '-1'")

    def test_missing_inputs(self):
        self.check_tensor(calls.request("three", {"A": zeros(1, 4)}),
                          "expected 3 inputs but got 1 inputs for model 'three'. Got input(s) "
                          "['A'], but missing required input(s) ['B','C']. Please provide all "
                          "required input(s).")

    def test_unknown_input(self):
        self.check(calls.request("m", {"y": calls.row_of(1)}), INVALID,
                   "unexpected inference input 'y' for model 'm'")

    def test_duplicate_input(self):
        message = calls.request("three", {"A": zeros(1, 4), "B": zeros(1, 4)})
        message.inputs.add().CopyFrom(message.inputs[0])
        message.raw_input_contents.append(message.raw_input_contents[0])
        self.check_tensor(message, "input 'A' already exists in request")

    def test_unknown_output(self):
        self.check(calls.request("m", {"x": calls.row_of(1)}, outputs=["nothing"]), INVALID,
                   "unexpected inference output 'nothing' for model 'm'")

    def test_duplicate_output(self):
        self.check(calls.request("m", {"x": calls.row_of(1)}, outputs=["OUTPUT0", "OUTPUT0"]),
                   INVALID, "output 'OUTPUT0' already exists in request")

    # Types and shapes.

    def test_wrong_datatype_raw(self):
        self.check_tensor(calls.request("m", {"x": zeros(1, 16, dtype=np.int32)}),
                          "inference input 'x' data-type is 'INT32', but model 'm' expects 'FP32'")

    def test_wrong_datatype_typed(self):
        self.check_tensor(self.typed(datatype="INT32", int_contents=[1] * 16),
                          "inference input 'x' data-type is 'INT32', but model 'm' expects 'FP32'")

    def test_no_such_datatype(self):
        self.check_tensor(self.typed(datatype="FP31", fp32_contents=[1] * 16),
                          "inference input 'x' data-type is 'FP31', but model 'm' expects 'FP32'")

    def test_wrong_shape_raw(self):
        self.check_tensor(calls.request("m", {"x": zeros(1, 15)}),
                          "unexpected shape for input 'x' for model 'm'. Expected [-1,16], got "
                          "[1,15].")

    def test_wrong_shape_typed(self):
        self.check_tensor(self.typed(shape=(1, 15), fp32_contents=[1] * 15),
                          "unexpected shape for input 'x' for model 'm'. Expected [-1,16], got "
                          "[1,15].")

    def test_wrong_rank(self):
        for shape in ((16,), (1, 1, 16), (1,) * 20):
            outcome = calls.infer(self.stub, calls.request("m", {"x": zeros(*shape)}))
            self.assertEqual(outcome.code, INVALID)
            self.assertIn("input 'x'", outcome.text)

    def test_unspecified_dim(self):
        self.check_tensor(self.typed(shape=(-1, 16), fp32_contents=[1] * 16),
                          "All input dimensions should be specified for input 'x' for model 'm', "
                          "got [-1,16]")

    def test_no_batch_dim(self):
        message = self.typed(shape=(), fp32_contents=[1])
        self.check_tensor(message, "input 'x' has no shape but model requires batch dimension for "
                          "'m'")

    def test_batches_disagree(self):
        message = calls.request("three", {"A": zeros(2, 4), "B": zeros(1, 4), "C": zeros(2, 4)})
        self.check_tensor(message, "input 'B' batch size does not match other inputs for 'three'")

    def test_batch_too_large(self):
        self.check_tensor(calls.request("m", {"x": zeros(9, 16)}),
                          "inference request batch-size must be <= 8 for 'm'")

    def test_batch_of_nothing(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": zeros(0, 16)}))
        self.assertEqual(outcome.code, INVALID, outcome.text)

    def test_products_that_overflow(self):
        for shape in ((1, 2**62, 4), (2**63 - 1, 16), (1, -2), (-5, 16)):
            outcome = calls.infer(self.stub, self.typed(shape=shape, fp32_contents=[1] * 16))
            self.assertEqual(outcome.code, INVALID, outcome.text)

    def test_a_length_beyond_the_largest_bucket(self):
        outcome = calls.infer(self.stub, calls.request("padded", {"x": zeros(1, 9)}))
        self.assertEqual(outcome.code, INVALID)
        self.assertIn("at most 8", outcome.text)

    # Bytes.

    def test_byte_count_raw(self):
        for count in (0, 63, 65, 128):
            message = calls.request("m", {"x": calls.row_of(1)})
            message.raw_input_contents[0] = b"\0" * count
            self.check_tensor(message, "input byte size mismatch for input 'x' for model 'm'. "
                              f"Expected 64, got {count}")

    def test_byte_count_typed(self):
        self.check_tensor(self.typed(fp32_contents=[1] * 15),
                          "input byte size mismatch for input 'x' for model 'm'. Expected 64, "
                          "got 60")

    def test_no_data(self):
        for message in (self.typed(), self.typed(fp32_contents=[])):
            self.check(message, INVALID,
                       "unable to find data for input tensor 'x' for model 'm' in request.")

    def test_raw_and_typed_both(self):
        message = calls.request("m", {"x": calls.row_of(1)})
        message.inputs[0].contents.fp32_contents.extend([1] * 16)
        self.check(message, INVALID, "contents field must not be specified when using "
                   "raw_input_contents for 'x' for model 'm'")

    def test_wrong_typed_field(self):
        self.check(self.typed(int_contents=[1] * 16), INVALID,
                   "unexpected explicit tensor data for input tensor 'x' for model 'm' of type "
                   "'INT32', expected datatype 'FP32'")

    def test_too_many_raw_contents(self):
        for count in (1, 100):
            message = calls.request("m", {"x": calls.row_of(1)})
            message.raw_input_contents.extend([b"more"] * count)
            self.check_tensor(message, f"expected 1 raw input contents but got {1 + count} for "
                              "model 'm'")

    def test_too_few_raw_contents(self):
        message = calls.request("three", {name: zeros(1, 4) for name in "ABC"})
        for name in "CBA":
            del message.raw_input_contents[-1]
            self.check(message, INVALID, f"unable to find data for input tensor '{name}' for model "
                       "'three' in request.")
            message.id = ""

    def test_too_many_tensors(self):
        text = "a request has at most 64 tensors for model 'm'"
        self.check_tensor(calls.request("m", {f"x{i}": zeros(1, 1) for i in range(65)}), text)
        self.check_tensor(calls.request("m", {"x": calls.row_of(1)},
                                        outputs=[f"x{i}" for i in range(65)]), text)

    def test_rank_nine(self):
        """The batch dim is not counted."""
        self.check_tensor(calls.request("eight", {"x": zeros(*[1] * 10)}),
                          "input 'x' has more than 8 dimensions for model 'eight'")
        self.assertEqual(calls.infer(self.stub, calls.request("eight", {"x": zeros(*[1] * 9)})).code,
                         calls.OK)

    def test_dims_of_two_to_the_62nd(self):
        for shape in ([1] + [2**62] * 8, [1, 4, 2**62, 1, 1, 1, 1, 1, 1]):
            self.check_tensor(self.typed("eight", shape=shape, fp32_contents=[1] * 16),
                              "input 'x' is larger than any tensor can be for model 'eight'")
        self.check_tensor(self.typed(shape=(2**62, 16), fp32_contents=[1] * 16),
                          "inference request batch-size must be <= 8 for 'm'")

    def test_message_too_large(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": zeros(2 << 18)}))
        self.assertEqual(outcome.code, grpc.StatusCode.RESOURCE_EXHAUSTED)

    def test_bytes_that_are_no_message(self):
        with grpc.insecure_channel(self.daemon.address) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            for junk in (b"\xff" * 50, b"\x0a\x7f", b"\x3a\xff\xff\xff\xff\x0f", b"\x0b"):
                with self.assertRaises(grpc.RpcError) as raised:
                    call(junk, timeout=10)
                self.assertEqual(raised.exception.code(), INVALID)

    # Parameters and methods.

    def test_parameter_types(self):
        row = {"x": calls.row_of(1)}
        self.check(calls.request("m", row, parameters={"priority": "high"}), INVALID,
                   "invalid value type for 'priority' parameter, expected int64_param or "
                   "uint64_param.")
        self.check(calls.request("m", row, parameters={"timeout": "soon"}), INVALID,
                   "invalid value type for 'timeout' parameter, expected int64_param.")
        self.check(calls.request("m", row, parameters={"triton_x": 1}), INVALID,
                   "parameter keys starting with 'triton_' are reserved for Triton usage. Only the "
                   "following keys starting with 'triton_' are allowed: "
                   "triton_enable_empty_final_response")

    def test_other_parameters_pass(self):
        message = calls.request("m", {"x": calls.row_of(1)},
                                parameters={"mine": "x", "priority": 1, "flag": True})
        self.assertEqual(calls.infer(self.stub, message).code, calls.OK)

    def test_unknown_method(self):
        with grpc.insecure_channel(self.daemon.address) as channel:
            with self.assertRaises(grpc.RpcError) as raised:
                channel.unary_unary("/inference.GRPCInferenceService/Nothing")(b"", timeout=10)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_metadata_of_an_unknown_model(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.ModelMetadata(calls.service_pb2.ModelMetadataRequest(name="nobody"))
        self.assertEqual((raised.exception.code(), raised.exception.details()),
                         (NOT_FOUND, "Request for unknown model: 'nobody' is not found"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
