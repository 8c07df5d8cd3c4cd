"""ModelStatistics is exact as soon as an answer is there, and ModelConfig says how a model is served."""
import concurrent.futures
import unittest

import grpc
import numpy as np
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic, tensor

NOT_FOUND = grpc.StatusCode.NOT_FOUND


class Statistics(unittest.TestCase):
    def serve(self, *models, **more):
        daemon = self.enterContext(Daemon(list(models), **more))
        return daemon, self.enterContext(calls.stub(daemon.address))

    def statistics(self, stub, name="m", version=""):
        answer = stub.ModelStatistics(
            service_pb2.ModelStatisticsRequest(name=name, version=version))
        self.assertEqual(len(answer.model_stats), 1)
        return answer.model_stats[0]

    def check_sums(self, statistics):
        """What must hold at any time."""
        infer = statistics.inference_stats
        for stage in (infer.queue, infer.compute_input, infer.compute_infer, infer.compute_output):
            self.assertEqual(stage.count, infer.success.count)
        stages = (infer.queue.ns + infer.compute_input.ns + infer.compute_infer.ns +
                  infer.compute_output.ns)
        self.assertLessEqual(stages, infer.success.ns)
        executions = sum(batch.compute_infer.count for batch in statistics.batch_stats)
        self.assertEqual(executions, statistics.execution_count)
        rows = sum(batch.batch_size * batch.compute_infer.count
                   for batch in statistics.batch_stats)
        self.assertGreaterEqual(rows, statistics.inference_count)
        return rows

    def test_nothing_yet(self):
        _, stub = self.serve(synthetic("m"))
        statistics = self.statistics(stub)
        self.assertEqual((statistics.name, statistics.version), ("m", "1"))
        self.assertEqual(statistics.inference_count, 0)
        self.assertEqual(statistics.execution_count, 0)
        self.assertEqual(statistics.last_inference, 0)
        self.assertEqual(len(statistics.batch_stats), 0)

    def test_each_answer_is_counted_when_it_is_there(self):
        _, stub = self.serve(synthetic("m"))
        for count in range(1, 30):
            rows = 1 + count % 3
            self.assertEqual(calls.infer(stub, calls.request(
                "m", {"x": calls.row_of(1, rows=rows)})).code, calls.OK)
            statistics = self.statistics(stub)
            self.assertEqual(statistics.inference_stats.success.count, count)
            self.assertEqual(statistics.execution_count, count)
        self.assertEqual(self.check_sums(statistics), statistics.inference_count)
        self.assertEqual(statistics.inference_count, sum(1 + i % 3 for i in range(1, 30)))
        self.assertEqual({batch.batch_size for batch in statistics.batch_stats}, {1, 2, 3})
        self.assertGreater(statistics.last_inference, 1.5e12)  # ms since the epoch
        self.assertEqual(len(statistics.response_stats), 0)

    def test_many_at_once_add_up(self):
        _, stub = self.serve(synthetic("m", placement=placement(processes=2)))
        message = calls.request("m", {"x": calls.row_of(1)})
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            outcomes = list(pool.map(lambda _: calls.infer(stub, message), range(400)))
        self.assertTrue(all(outcome.code == calls.OK for outcome in outcomes))
        statistics = self.statistics(stub)
        self.assertEqual(statistics.inference_stats.success.count, 400)
        self.assertEqual(statistics.inference_count, 400)
        self.assertEqual(self.check_sums(statistics), 400)

    def test_refused_by_validation_is_counted_nowhere(self):
        _, stub = self.serve(synthetic("m"))
        outcome = calls.infer(stub, calls.request("m", {"x": np.zeros((1, 15), np.float32)}))
        self.assertEqual(outcome.code, grpc.StatusCode.INVALID_ARGUMENT)
        statistics = self.statistics(stub)
        self.assertEqual(statistics.inference_stats.fail.count, 0)
        self.assertEqual(statistics.execution_count, 0)

    def test_a_model_that_throws(self):
        """Fail 1, execution 1, its batch 1, no inference."""
        _, stub = self.serve(synthetic("m", parameters={"throw_if": "7"}))
        outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(7, rows=2)}))
        self.assertEqual(outcome.code, grpc.StatusCode.INTERNAL)
        statistics = self.statistics(stub)
        infer = statistics.inference_stats
        self.assertEqual((infer.fail.count, infer.success.count), (1, 0))
        self.assertGreater(infer.fail.ns, 0)
        self.assertEqual((statistics.execution_count, statistics.inference_count), (1, 0))
        self.assertEqual([(batch.batch_size, batch.compute_infer.count)
                          for batch in statistics.batch_stats], [(2, 1)])

    def test_an_answer_that_could_not_be_given(self):
        """The model has answered; that its client asked for classes of what has none is no failure
        of the model, and nothing is counted twice."""
        daemon, stub = self.serve(synthetic("m", [tensor("x", [4], "BOOL")]))
        message = calls.request("m", {"x": np.ones((1, 4), bool)}, outputs=["OUTPUT0"])
        message.outputs[0].parameters["classification"].int64_param = 2
        outcome = calls.infer(stub, message)
        self.assertEqual(outcome.code, grpc.StatusCode.INVALID_ARGUMENT, outcome.text)
        infer = self.statistics(stub).inference_stats
        self.assertEqual((infer.success.count, infer.fail.count), (1, 0))
        self.assertEqual(daemon.metric("mpsd_requests_total", code="INVALID_ARGUMENT"), 1)
        self.assertEqual(daemon.metric("mpsd_requests_total"), 1)

    def test_late_in_the_queue(self):
        """A request that was admitted and ran out of time failed, and executed nothing."""
        daemon, stub = self.serve(synthetic("m", parameters={"delay": "2s"}, max_batch_size=1))
        first = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}), timeout=30)
        wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 20, "the first one to run")
        message = calls.request("m", {"x": calls.row_of(2)}, parameters={"timeout": 50_000})
        self.assertEqual(calls.infer(stub, message).code, grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertEqual(calls.outcome_of(first).code, calls.OK)
        statistics = self.statistics(stub)
        self.assertEqual(statistics.inference_stats.fail.count, 1)
        self.assertEqual(statistics.inference_stats.success.count, 1)
        self.assertEqual(statistics.execution_count, 1)

    def test_all_models(self):
        _, stub = self.serve(synthetic("a"), synthetic("b"))
        answer = stub.ModelStatistics(service_pb2.ModelStatisticsRequest())
        self.assertEqual([statistics.name for statistics in answer.model_stats], ["a", "b"])

    def test_unknown_model_and_version(self):
        _, stub = self.serve(synthetic("m"))
        for name, version in (("nobody", ""), ("m", "99")):
            with self.assertRaises(grpc.RpcError) as raised:
                self.statistics(stub, name, version)
            self.assertEqual(raised.exception.code(), NOT_FOUND)

    def test_the_memory_of_the_workers(self):
        _, stub = self.serve(synthetic("m"))

        def usage():
            return list(self.statistics(stub).memory_usage)
        memory = wait_until(usage, 30, "the workers' memory")
        self.assertEqual(memory[0].type, "CPU")
        self.assertGreater(memory[0].byte_size, 1 << 20)

    # ModelConfig.

    def test_config(self):
        _, stub = self.serve(synthetic(
            "m", [tensor("x", [16]), tensor("y", [-1], "INT64")], max_batch_size=8,
            placement=placement(processes=2, lanes=3), batching={"max_delay": "3ms"},
            queue={"requests": 77}, parameters={"delay": "1ms"}))
        config = stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertEqual((config.name, config.max_batch_size), ("m", 8))
        self.assertEqual([(tensor.name, tensor.data_type, list(tensor.dims))
                          for tensor in config.input], [("x", 11, [16]), ("y", 9, [-1])])
        self.assertEqual(config.output[0].name, "OUTPUT0")
        self.assertEqual(config.instance_group[0].count, 6)
        self.assertEqual(config.instance_group[0].Kind.Name(config.instance_group[0].kind),
                         "KIND_CPU")
        self.assertEqual(config.dynamic_batching.max_queue_delay_microseconds, 3000)
        self.assertEqual(config.dynamic_batching.default_queue_policy.max_queue_size, 77)
        self.assertEqual(config.version_policy.latest.num_versions, 1)
        self.assertEqual(config.parameters["delay"].string_value, "1ms")
        self.assertFalse(config.model_transaction_policy.decoupled)
        self.assertTrue(config.backend)

    def test_config_without_a_batch_dim(self):
        _, stub = self.serve(synthetic("m", max_batch_size=0))
        config = stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertEqual(config.max_batch_size, 0)
        self.assertFalse(config.HasField("dynamic_batching"))

    def test_config_of_an_unknown_model(self):
        _, stub = self.serve(synthetic("m"))
        with self.assertRaises(grpc.RpcError) as raised:
            stub.ModelConfig(service_pb2.ModelConfigRequest(name="nobody"))
        self.assertEqual((raised.exception.code(), raised.exception.details()),
                         (NOT_FOUND, "Request for unknown model: 'nobody' is not found"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
