"""Keys of a config.pbtxt that clients see: shapes of their own, labels, formats, the queue's timeout."""
import pathlib
import tempfile
import unittest

import numpy as np
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon, wait_until

IMAGE = """
backend: "identity"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 3, 2, 2 ] reshape { shape: [ 12 ] }
        format: FORMAT_NCHW }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4, 3 ] reshape { shape: [ 12 ] }
         label_filename: "labels.txt" }
"""
SCALAR = """
backend: "identity"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: 1 reshape {} }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1, 1 ] reshape {} }
"""
SLOW = """
backend: "identity"
max_batch_size: 1
input { name: "INPUT0" data_type: TYPE_FP32 dims: 1 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 1 }
instance_group { count: 1 kind: KIND_CPU }
dynamic_batching { default_queue_policy { default_timeout_microseconds: 1000000 } }
parameters { key: "execute_delay_ms" value { string_value: "3000" } }
"""


class Pbtxt(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def serve(self, text, **files):
        (self.root / "m/1").mkdir(parents=True)
        (self.root / "m/config.pbtxt").write_text(text)
        for name, content in files.items():
            (self.root / f"m/{name}.txt").write_text(content)
        daemon = self.enterContext(Daemon([], model_repository=str(self.root)))
        stub = self.enterContext(calls.stub(daemon.address))
        ready = service_pb2.ModelReadyRequest(name="m")
        wait_until(lambda: stub.ModelReady(ready).ready, 30, "the model")
        return stub

    def config(self, stub):
        return stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config

    def test_shapes_formats_and_labels(self):
        stub = self.serve(IMAGE, labels="cat\ndog\n")
        array = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
        outcome = calls.answered(stub, calls.request("m", {"INPUT0": array}))
        np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                      array.reshape(2, 4, 3))
        metadata = stub.ModelMetadata(service_pb2.ModelMetadataRequest(name="m"))
        self.assertEqual(list(metadata.inputs[0].shape), [-1, 3, 2, 2])
        self.assertEqual(list(metadata.outputs[0].shape), [-1, 4, 3])
        config = self.config(stub)
        self.assertEqual((list(config.input[0].dims), list(config.input[0].reshape.shape)),
                         ([3, 2, 2], [12]))
        self.assertEqual(config.input[0].format, config.input[0].FORMAT_NCHW)
        self.assertEqual(config.output[0].label_filename, "labels.txt")

        message = calls.request("m", {"INPUT0": -array}, outputs=["OUTPUT0"])
        message.outputs[0].parameters["classification"].int64_param = 3
        raw = calls.infer(stub, message).response.raw_output_contents[0]
        for text in (b"-0.000000:0:cat", b"-1.000000:1:dog", b"-2.000000:2", b"-12.000000:0:cat"):
            self.assertIn(len(text).to_bytes(4, "little") + text, raw)

        message = calls.request("m", {"INPUT0": array.reshape(2, 12)})
        self.assertIn("Expected [-1,3,2,2], got [2,12].", calls.infer(stub, message).text)

    def test_a_shape_without_dims(self):
        stub = self.serve(SCALAR)
        array = np.array([[1], [2]], dtype=np.float32)
        outcome = calls.answered(stub, calls.request("m", {"INPUT0": array}))
        np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                      array.reshape(2, 1, 1))
        self.assertTrue(self.config(stub).input[0].HasField("reshape"))

    def test_the_timeout_is_of_the_queue_alone(self):
        """What runs longer is answered; what waits longer is not."""
        stub = self.serve(SLOW)
        first = stub.ModelInfer.future(calls.request("m", {"INPUT0": calls.row_of(1, width=1)}))
        outcomes = {calls.infer(stub, calls.request("m", {"INPUT0": calls.row_of(2, width=1)})).text}
        self.assertEqual(calls.outcome_of(first).code, calls.OK)
        self.assertEqual(outcomes, {"Request timeout expired"})
        policy = self.config(stub).dynamic_batching.default_queue_policy
        self.assertEqual(policy.default_timeout_microseconds, 1_000_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
