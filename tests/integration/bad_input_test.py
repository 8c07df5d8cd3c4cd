"""Each wrong request gets its code and names its place, raw and typed, and harms no other request.

tests/server/admit and tests/server/bodies/grpc pin the texts.
"""
import unittest

import grpc
import numpy as np

import calls
from calls import request, row_of
from daemon import Daemon
from models import synthetic, tensor

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
THREE = [tensor(name, [4]) for name in "ABC"]
ROW = {"x": row_of(1)}
SIXTEEN = {"fp32_contents": [1] * 16}


def raw(*shape, dtype=np.float32, model="m"):
    return request(model, {"x": np.zeros(shape, dtype)})


def typed(datatype="FP32", shape=(1, 16), model="m", **contents):
    message = request(model, {})
    sent = message.inputs.add(name="x", datatype=datatype, shape=shape)
    for field, values in contents.items():
        getattr(sent.contents, field).extend(values)
    return message


def three(names="ABC", rows=1, raw_entries=None, **more_rows):
    """A row of each of these inputs of "three", or more; of the first `raw_entries` alone bytes."""
    message = request("three", {
        name: np.zeros((more_rows.get(name, rows), 4), np.float32)
        for name in dict.fromkeys(names)})
    for name in names[len(message.inputs):]:
        message.inputs.add().CopyFrom(message.inputs[names.index(name)])
        message.raw_input_contents.append(message.raw_input_contents[names.index(name)])
    if raw_entries is not None:
        del message.raw_input_contents[raw_entries:]
    return message


def changed(change, message=None):
    """A good request, or `message`, after a change."""
    message = message or request("m", ROW)
    change(message)
    return message


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
        outcome = calls.infer(self.stub, request("m", {"x": row_of(5)}))
        self.assertEqual(outcome.code, calls.OK, "a good request after it")

    def check(self, *cases, code=INVALID):
        """Each is (place, message, ...): refused with a text that names the place."""
        for place, *messages in cases:
            for number, message in enumerate(messages):
                with self.subTest(place=place, number=number):
                    outcome = calls.infer(self.stub, message)
                    self.assertEqual(outcome.code, code, outcome.text)
                    self.assertIn(place, outcome.text)

    def test_unknown_models_and_versions(self):
        self.check(("'nobody'", request("nobody", ROW)),
                   ("'m' version 99", request("m", ROW, version="99")), code=NOT_FOUND)
        self.check(*((f"'{version}'", request("m", ROW, version=version))
                     for version in ("1abc", " 1", "one", "-1")))

    def test_names(self):
        self.check(("['B','C']", three("A")),
                   ("input 'y'", request("m", {"y": row_of(1)})),
                   ("input 'A'", three("ABA")),
                   ("output 'nothing'", request("m", ROW, outputs=["nothing"])),
                   ("output 'OUTPUT0'", request("m", ROW, outputs=["OUTPUT0", "OUTPUT0"])))

    def test_types_and_shapes(self):
        self.check(
            ("'INT32'", raw(1, 16, dtype=np.int32), typed("INT32", int_contents=[1] * 16)),
            ("'FP31'", typed("FP31", **SIXTEEN)),
            ("[1,15]", raw(1, 15), typed(shape=(1, 15), fp32_contents=[1] * 15)),
            ("input 'x'", raw(16), raw(1, 1, 16), raw(*[1] * 20)),
            ("[-1,16]", typed(shape=(-1, 16), **SIXTEEN)),
            ("input 'x' has no shape", typed(shape=(), fp32_contents=[1])),
            ("'x'", raw(0, 16), typed(shape=(1, 2**62, 4), **SIXTEEN),
             typed(shape=(1, -2), **SIXTEEN), typed(shape=(-5, 16), **SIXTEEN)),
            ("at most 8", raw(1, 9, model="padded")))

    def test_batches(self):
        self.check(("input 'B'", three(rows=2, B=1)),
                   ("<= 8 for 'm'", raw(9, 16), typed(shape=(2**62, 16), **SIXTEEN),
                    typed(shape=(2**63 - 1, 16), **SIXTEEN)))

    def test_data(self):
        def of(count):
            return changed(lambda message: message.raw_input_contents.__setitem__(0, b"\0" * count))

        def more(count):
            return changed(lambda message: message.raw_input_contents.extend([b"more"] * count))

        self.check(*((f"'x' for model 'm'. Expected 64, got {count}", of(count))
                     for count in (0, 63, 65, 128)),
                   ("Expected 64, got 60", typed(fp32_contents=[1] * 15)),
                   ("find data for input tensor 'x'", typed(), typed(fp32_contents=[])),
                   ("contents field", changed(
                       lambda message: message.inputs[0].contents.fp32_contents.extend([1] * 16))),
                   ("'INT32'", typed(int_contents=[1] * 16)),
                   ("got 2", more(1)), ("got 101", more(100)),
                   *((f"input tensor '{'ABC'[count]}'", three(raw_entries=count))
                     for count in (2, 1, 0)))

    def test_bounds(self):
        """The batch dim is not counted among eight."""
        many = [f"x{i}" for i in range(65)]
        self.check(
            ("at most 64 tensors", request("m", {name: np.zeros((1, 1), np.float32)
                                                 for name in many}),
             request("m", ROW, outputs=many)),
            ("more than 8 dimensions", raw(*[1] * 10, model="eight")),
            ("input 'x' is larger", *(
                typed(shape=shape, model="eight", **SIXTEEN)
                for shape in ([1] + [2**62] * 8, [1, 4, 2**62, 1, 1, 1, 1, 1, 1]))))
        self.check(("", raw(2 << 18)), code=grpc.StatusCode.RESOURCE_EXHAUSTED)
        calls.answered(self.stub, raw(*[1] * 9, model="eight"))

    def test_bytes_that_are_no_message(self):
        with grpc.insecure_channel(self.daemon.address) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            for junk in (b"\xff" * 50, b"\x0a\x7f", b"\x3a\xff\xff\xff\xff\x0f", b"\x0b"):
                with self.assertRaises(grpc.RpcError) as raised:
                    call(junk, timeout=10)
                self.assertEqual(raised.exception.code(), INVALID)

    def test_parameters(self):
        self.check(*((f"'{name}", request("m", ROW, parameters={name: value}))
                     for name, value in (("priority", "high"), ("timeout", "soon"))),
                   ("'triton_'", request("m", ROW, parameters={"triton_x": 1})))
        good = request("m", ROW, parameters={"mine": "x", "priority": 1, "flag": True})
        self.assertEqual(calls.infer(self.stub, good).code, calls.OK)

    def test_the_id_stands_before_what_is_about_the_tensors(self):
        for message, lead in ((raw(1, 15), "[request id: q] unexpected shape"),
                              (request("m", ROW, outputs=["z"]), "unexpected inference output")):
            message.id = "q"
            self.assertTrue(calls.infer(self.stub, message).text.startswith(lead))

    def test_other_methods(self):
        with grpc.insecure_channel(self.daemon.address) as channel:
            with self.assertRaises(grpc.RpcError) as raised:
                channel.unary_unary("/inference.GRPCInferenceService/Nothing")(b"", timeout=10)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.ModelMetadata(calls.service_pb2.ModelMetadataRequest(name="nobody"))
        self.assertEqual(raised.exception.code(), NOT_FOUND)


if __name__ == "__main__":
    unittest.main(verbosity=2)
