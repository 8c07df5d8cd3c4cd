"""gRPC's unary calls at an address of HTTP: real clients, as they are at the address of gRPC."""
import threading
import unittest

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tritonclient.grpc import service_pb2

import calls
import rich_status
from calls import OK, request, row_of
from daemon import Daemon, wait_until
from models import synthetic, tensor

WIDE = 4 << 20  # elements: 16 MiB in FP32


class GrpcOnHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        models = [synthetic("m"), synthetic("wide", [tensor("x", [-1])]),
                  synthetic("slow", parameters={"delay": "2s"}, max_batch_size=1)]
        cls.daemon = cls.enterClassContext(Daemon(models, limits={"message": "64MiB"}))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.http))

    def test_answers(self):
        outcomes = calls.infer_all(self.stub, [request("m", {"x": row_of(i)}, request_id=str(i))
                                               for i in range(200)])
        for i, outcome in enumerate(outcomes):
            self.assertEqual((outcome.code, outcome.response.id), (OK, str(i)), outcome.text)
            (array,) = calls.arrays(outcome.response).values()
            np.testing.assert_array_equal(array, row_of(i))

    def test_large_tensors(self):
        sent = np.arange(WIDE, dtype=np.float32).reshape(1, WIDE)
        np.testing.assert_array_equal(calls.only_array(self.stub, "wide", {"x": sent}), sent)

    def test_methods(self):
        self.assertTrue(self.stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=30).live)
        metadata = self.stub.ModelMetadata(service_pb2.ModelMetadataRequest(name="m"), timeout=30)
        self.assertEqual(metadata.inputs[0].name, "x")
        index = self.stub.RepositoryIndex(service_pb2.RepositoryIndexRequest(), timeout=30)
        self.assertEqual({model.name for model in index.models}, {"m", "slow", "wide"})
        with grpc.insecure_channel(self.daemon.http) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            self.assertEqual(health.Check(health_pb2.HealthCheckRequest(), timeout=30).status,
                             health_pb2.HealthCheckResponse.SERVING)

    def test_errors_are_those_of_the_other_door(self):
        with calls.stub(self.daemon.address) as other:
            for message in (request("nobody", {"x": row_of(1)}), request("m", {"y": row_of(1)}),
                            request("m", {"x": row_of(1, width=3)}),
                            service_pb2.ModelInferRequest()):
                ours, theirs = calls.infer(self.stub, message), calls.infer(other, message)
                self.assertNotEqual(ours.code, OK)
                self.assertEqual((ours.code, ours.text), (theirs.code, theirs.text))

    def test_an_unknown_method(self):
        with grpc.insecure_channel(self.daemon.http) as channel:
            with self.assertRaises(grpc.RpcError) as caught:
                channel.unary_unary("/a.B/C")(b"", timeout=30)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_a_deadline_passes(self):
        outcome = calls.infer(self.stub, request("slow", {"x": row_of(1)}), limit_s=0.5)
        self.assertEqual(outcome.code, grpc.StatusCode.DEADLINE_EXCEEDED)

    def test_a_cancelled_call_leaves(self):
        futures = [self.stub.ModelInfer.future(request("slow", {"x": row_of(1)}), timeout=60)
                   for _ in range(8)]
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") >= 8, 30, "the calls")
        for future in futures:
            future.cancel()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, 30, "the end of the calls")

    def test_many_connections(self):
        wrong = []

        def work(worker):
            with calls.stub(self.daemon.http) as stub:
                for i in range(50):
                    value = worker * 1000 + i
                    array = calls.only_array(stub, "m", {"x": row_of(value)})
                    if not (array == row_of(value)).all():
                        wrong.append(value)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_details_of_an_error(self):
        with Daemon([synthetic("m", parameters={"delay": "2s"}, max_batch_size=1,
                               queue={"requests": 1})]) as daemon, \
                calls.stub(daemon.http) as stub:
            held = [stub.ModelInfer.future(request("m", {"x": row_of(1)}), timeout=60)
                    for _ in range(16)]
            refused = wait_until(lambda: next((call for call in held if call.done()), None), 30,
                                 "a refusal")
            self.assertEqual(refused.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertGreater(rich_status.retry_delay_s(rich_status.status_of(refused)), 0)
            for call in held:
                call.cancel()


if __name__ == "__main__":
    unittest.main(verbosity=2)
