"""gRPC's calls at an address of HTTP: real clients, as they are at the address of gRPC."""
import pathlib
import tempfile
import threading
import unittest

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tritonclient.grpc import service_pb2

import calls
import rich_status
from calls import OK, request, row_of
from certificates import Authority
from daemon import Daemon, wait_until
from models import repeating, synthetic, tensor
from streams import Stream

WIDE = 4 << 20  # elements: 16 MiB in FP32
LIMIT_S = 30
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"


SEQUENCES = {"states": [{"input": "y", "output": "OUTPUT0", "told": True}]}


def names_of_services(channel):
    """What reflection tells, by both of its versions."""
    question = reflection_pb2.ServerReflectionRequest(list_services="")
    talk = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
    newer = channel.stream_stream(
        REFLECTION, request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
    found = []
    for method in (talk, newer):
        answers = list(method(iter([question, question]), timeout=LIMIT_S))
        found.append([{service.name for service in answer.list_services_response.service}
                      for answer in answers])
    return found


class GrpcOnHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        models = [synthetic("m"), synthetic("w"), synthetic("wide", [tensor("x", [-1])]),
                  repeating("repeating"), synthetic("sums", [tensor("x", [1]), tensor("y", [1])],
                                                    sequences=SEQUENCES),
                  synthetic("slow", parameters={"delay": "2s"}, max_batch_size=1)]
        cls.daemon = cls.enterClassContext(Daemon(models, limits={"message": "64MiB"},
                                                  model_control="explicit"))
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
        self.assertEqual({model.name for model in index.models},
                         {"m", "repeating", "slow", "sums", "w", "wide"})
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

    def test_streams_by_tritonclient(self):
        with Stream(self.daemon.http) as stream:
            for i in range(300):
                stream.ask("m", {"x": row_of(i)}, request_id=str(i))
            for i in range(300):
                answer = stream.answer()
                self.assertEqual(answer.get_response().id, str(i))
                np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), row_of(i))
            stream.ask("m", {"x": row_of(1, width=3)})
            self.assertIsNotNone(stream.next()[1])
            stream.ask("m", {"x": row_of(7)})
            np.testing.assert_array_equal(stream.answer().as_numpy("OUTPUT0"), row_of(7))
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end")

    def test_large_tensors_in_a_stream(self):
        sent = np.arange(WIDE, dtype=np.float32).reshape(1, WIDE)
        with Stream(self.daemon.http) as stream:
            for i in range(3):
                stream.ask("wide", {"x": sent + np.float32(i)})
            for i in range(3):
                np.testing.assert_array_equal(stream.answer().as_numpy("OUTPUT0"), sent + i)

    def test_several_answers_to_a_request(self):
        elements = list(range(100, 600))
        arrays = {"IN": np.array(elements, np.int32), "WAIT": np.zeros(1, np.uint32),
                  "DELAY": np.zeros(len(elements), np.uint32)}
        with Stream(self.daemon.http) as stream:
            stream.ask("repeating", arrays, enable_empty_final_response=True)
            got = [int(stream.answer().as_numpy("OUT")[0]) for _ in elements]
            self.assertEqual(got, elements)
            last = stream.answer().get_response()
            self.assertEqual(len(last.outputs), 0)
            self.assertTrue(last.parameters["triton_final_response"].bool_param)

    def test_a_cancelled_stream_leaves(self):
        with Stream(self.daemon.http) as stream:
            for _ in range(8):
                stream.ask("slow", {"x": row_of(1)})
            wait_until(lambda: self.daemon.metric("mpsd_open_calls") >= 1, LIMIT_S, "the stream")
            stream.cancel()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end")

    def test_a_sequence_by_stream(self):
        with Stream(self.daemon.http) as stream:
            for i in range(5):
                stream.ask("sums", {"x": np.array([[i]], np.float32)}, sequence_id=9,
                           sequence_start=i == 0, sequence_end=i == 4)
            before = [float(stream.answer().as_numpy("OUTPUT1")[0][0]) for _ in range(5)]
        self.assertEqual(before, [0, 0, 1, 2, 3])

    def test_a_watch_and_reflection(self):
        with grpc.insecure_channel(self.daemon.http) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(service="w"), timeout=60)
            self.assertEqual(next(watch).status, SERVING)
            self.stub.RepositoryModelUnload(
                service_pb2.RepositoryModelUnloadRequest(model_name="w"), timeout=30)
            self.assertEqual(next(watch).status, NOT_SERVING)
            watch.cancel()
            for answers in names_of_services(channel):
                self.assertEqual(len(answers), 2)
                for names in answers:
                    self.assertIn("inference.GRPCInferenceService", names)

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

    def test_tls(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        authority = Authority(folder, "authority")
        certificate, key = authority.issue("server")
        tls = {"http": ["127.0.0.1:0"], "certificate": str(certificate), "key": str(key)}
        with Daemon([synthetic("m")], listen_more={"tls": tls}) as daemon:
            address = daemon.http_listeners[1]
            with Stream(address, ssl=True, root_certificates=str(authority.pem)) as stream:
                for i in range(100):
                    stream.ask("m", {"x": row_of(i)})
                for i in range(100):
                    np.testing.assert_array_equal(stream.answer().as_numpy("OUTPUT0"), row_of(i))
            credentials = grpc.ssl_channel_credentials(authority.pem.read_bytes())
            with grpc.secure_channel(address, credentials) as channel:
                watch = health_pb2_grpc.HealthStub(channel).Watch(
                    health_pb2.HealthCheckRequest(), timeout=60)
                self.assertEqual(next(watch).status, SERVING)
                self.assertEqual(len(names_of_services(channel)[0]), 2)
                # The watch does not hold up the stop.
                daemon.terminate()
                with self.assertRaises(grpc.RpcError) as caught:
                    while True:
                        next(watch)
                self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertEqual(caught.exception.details(), "Server exiting")
            self.assertEqual(daemon.wait(), 0)

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
