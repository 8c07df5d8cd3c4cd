"""Optional inputs: a request may leave them out, and runs with those that leave out the same."""
import unittest

import numpy as np
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon
from models import synthetic, tensor

INVALID = calls.grpc.StatusCode.INVALID_ARGUMENT
INPUTS = [tensor("INPUT0", [4]), {**tensor("INPUT1", [4]), "optional": True},
          {**tensor("INPUT2", [-1], "INT64"), "optional": True}]
# The inputs that a request leaves out: none, one, the other, both.
LEFT_OUT = ((), ("INPUT1",), ("INPUT2",), ("INPUT1", "INPUT2"))


class OptionalInputs(unittest.TestCase):
    def serve(self, *models):
        daemon = self.enterContext(Daemon(list(models)))
        return daemon, self.enterContext(calls.stub(daemon.address))

    def tensors(self, value, left_out, rows=1):
        every = {"INPUT0": calls.row_of(value, width=4, rows=rows),
                 "INPUT1": calls.row_of(value + 1000, width=4, rows=rows),
                 "INPUT2": np.full((rows, 3), value, dtype=np.int64)}
        return {name: array for name, array in every.items() if name not in left_out}

    def check(self, outcome, tensors, rows=1):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        answer = calls.arrays(outcome.response)
        for name, nothing in (("INPUT0", None), ("INPUT1", np.zeros((rows, 4), np.float32)),
                              ("INPUT2", np.zeros((rows, 0), np.int64))):
            np.testing.assert_array_equal(answer[name.replace("INPUT", "OUTPUT")],
                                          tensors.get(name, nothing))

    def test_each_gets_its_own_answer(self):
        """Sixty-four at once of four kinds, which share batches with their own kind alone."""
        daemon, stub = self.serve(synthetic("m", INPUTS, max_batch_size=16,
                                            parameters={"delay": "20ms"}))
        asked = [self.tensors(i, LEFT_OUT[i % 4], rows=1 + i % 3) for i in range(64)]
        outcomes = calls.infer_all(stub, [calls.request("m", tensors) for tensors in asked])
        for i, (outcome, tensors) in enumerate(zip(outcomes, asked)):
            self.check(outcome, tensors, rows=1 + i % 3)
        self.assertLess(daemon.metric("mpsd_batches_total", model="m"), 64)

    def test_every_input_may_be_optional(self):
        _, stub = self.serve(synthetic("m", [{**tensor("INPUT0", [4]), "optional": True}]),
                             synthetic("single", [{**tensor("INPUT0", [4]), "optional": True}],
                                       max_batch_size=0))
        for model, shape in (("m", (1, 4)), ("single", (4,))):
            outcome = calls.answered(stub, calls.request(model, {}))
            np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                          np.zeros(shape, np.float32))

    def test_a_required_input_is_missing(self):
        _, stub = self.serve(synthetic("m", INPUTS))
        outcome = calls.infer(stub, calls.request("m", self.tensors(1, ("INPUT0",))))
        self.assertEqual(outcome.code, INVALID)
        self.assertIn("expected number of inputs between 1 and 3 but got 2 inputs for model 'm'. "
                      "Got input(s) ['INPUT1','INPUT2'], but missing required input(s) ['INPUT0']. "
                      "Please provide all required input(s).", outcome.text)

    def test_clients_are_told(self):
        _, stub = self.serve(synthetic("m", INPUTS), synthetic("none"))
        config = stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertEqual([one.optional for one in config.input], [False, True, True])
        # tritonclient does not know the metadata field for properties, but keeps it.
        metadata = stub.ModelMetadata(service_pb2.ModelMetadataRequest(name="m"))
        self.assertIn(b"optional_inputs\x12\x0dINPUT1,INPUT2", metadata.SerializeToString())
        metadata = stub.ModelMetadata(service_pb2.ModelMetadataRequest(name="none"))
        self.assertNotIn(b"optional_inputs", metadata.SerializeToString())


if __name__ == "__main__":
    unittest.main(verbosity=2)
