"""Tensors in memory that clients have registered, whichever kind of memory it is."""
import unittest

import numpy as np
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

ROW_BYTES = 64  # 16 of FP32
REGION_BYTES = 1 << 16


def rows(value, count=1):
    return np.full((count, 16), value, np.float32)


class RegionClient:
    """A client on a connection of its own, `client`, with one region, `name`, for inputs and outputs."""

    def infer(self, model="m", shape=(1, 16), at=0, out=None, region=None, byte_size=None,
              out_bytes=None, datatype="FP32", **more):
        size = byte_size if byte_size is not None else int(np.prod(shape)) * 4
        tensor_input = triton.InferInput("x", list(shape), datatype)
        tensor_input.set_shared_memory(region or self.name, size, at)
        outputs = None
        if out is not None:
            outputs = [triton.InferRequestedOutput("OUTPUT0")]
            outputs[0].set_shared_memory(region or self.name, out_bytes or size, out)
        return self.client.infer(model, [tensor_input], outputs=outputs, **more)


class RegionCase(unittest.TestCase):
    SECRETS = ()  # which no text to a client may hold

    def refused(self, code, text, call, *arguments, **more):
        with self.assertRaises(InferenceServerException) as caught:
            call(*arguments, **more)
        self.assertIn(text, caught.exception.message())
        self.assertEqual(caught.exception.status(), f"StatusCode.{code}")
        for secret in self.SECRETS:
            self.assertNotIn(secret, caught.exception.message())


class RegionsAsTheyAreMeant:
    """Tests of a RegionCase that has client() and a daemon with models "m" and "two"."""

    def test_inputs_and_outputs(self):
        client = self.client()
        for value in range(5):
            client.put(rows(value, 3))
            result = client.infer(shape=(3, 16), out=4096)
            self.assertTrue((client.get((3, 16), 4096) == value).all())
            output = result.get_output("OUTPUT0")
            self.assertEqual(list(output.shape), [3, 16])
            self.assertEqual(output.parameters["shared_memory_region"].string_param, "region")
            self.assertEqual(output.parameters["shared_memory_byte_size"].int64_param, 192)
            self.assertEqual(output.parameters["shared_memory_offset"].int64_param, 4096)
            self.assertEqual(list(result.get_response().raw_output_contents), [b""])

    def test_either_alone(self):
        client = self.client()
        client.put(rows(7))
        self.assertTrue((client.infer().as_numpy("OUTPUT0") == 7).all())
        tensor_input = triton.InferInput("x", [1, 16], "FP32")
        tensor_input.set_data_from_numpy(rows(8))
        output = triton.InferRequestedOutput("OUTPUT0")
        output.set_shared_memory("region", ROW_BYTES, 128)
        client.client.infer("m", [tensor_input], outputs=[output])
        self.assertTrue((client.get((1, 16), 128) == 8).all())

    def test_raw_entries_are_those_of_the_other_inputs(self):
        client = self.client()
        client.put(np.full((1, 4), 3, np.float32))
        a, b = (triton.InferInput(name, [1, 4], "FP32") for name in "ab")
        a.set_shared_memory("region", 16)
        b.set_data_from_numpy(np.full((1, 4), 4, np.float32))
        result = client.client.infer("two", [a, b])
        self.assertTrue((result.as_numpy("OUTPUT0") == 3).all())
        self.assertTrue((result.as_numpy("OUTPUT1") == 4).all())
