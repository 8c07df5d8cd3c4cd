"""Requests that clients compress: served like plain ones, by every call, and bounded like them."""
import itertools
import queue
import unittest
import zlib

import grpc
import numpy as np
import tritonclient.grpc as triton
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon, wait_until
from models import synthetic, tensor
from streams import input_of
from raw_http2 import INFER, Connection, message_prefix

ENCODINGS = {"gzip": grpc.Compression.Gzip, "deflate": grpc.Compression.Deflate}
WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
KIB = 1 << 10
MESSAGE_BYTES = 1 << 20
LIMIT_S = 30
OK, INVALID, EXHAUSTED, UNIMPLEMENTED, INTERNAL = 0, 3, 8, 12, 13  # as on the wire
FIELDS_TOO_LARGE = "a request holds at most 128 KiB besides the contents of its tensors"
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"
METADATA = "/inference.GRPCInferenceService/ServerMetadata"
TOO_LARGE = "Received message larger than max (1048577 vs. 1048576)"
CONTROL_TOO_LARGE = "a request of this method has at most 262144 bytes"


def compressed(data, encoding):
    deflate = zlib.compressobj(9, zlib.DEFLATED, WINDOWS[encoding])
    return deflate.compress(data) + deflate.flush()


def unreadable(encoding, why):
    return f"the message cannot be inflated as {encoding}: {why}"


class Compressed(unittest.TestCase):
    """A daemon, and what goes to one of its addresses."""

    @staticmethod
    def address_of(daemon):
        return daemon.address

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("m"), synthetic("wide", [tensor("x", [-1])])],
            limits={"message": f"{MESSAGE_BYTES}B"}))
        cls.address = cls.address_of(cls.daemon)
        cls.stub = cls.enterClassContext(calls.stub(cls.address))
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.address))

    def tearDown(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(5)}))
        self.assertEqual(outcome.code, calls.OK, "a good request after it")

    def raw(self, body, encoding, path=INFER, marked=True):
        """How a call ends whose only message is of these bytes: its status, its text, its answer."""
        with Connection(self.address) as connection:
            connection.call({"grpc-encoding": encoding} if encoding else {}, path)
            connection.send(message_prefix(len(body), compressed=marked) + body, last=True)
            connection.wait_for_end()
            return connection.status(), connection.status_text(), connection.received[5:]


class Unary(Compressed):
    def test_tritonclient(self):
        values = np.arange(60 * KIB, dtype=np.float32).reshape(1, -1) // KIB
        tensor_input = triton.InferInput("x", values.shape, "FP32")
        tensor_input.set_data_from_numpy(values)
        with triton.InferenceServerClient(self.address) as client:
            for encoding in ENCODINGS:
                answer = client.infer("wide", [tensor_input], request_id=encoding,
                                      compression_algorithm=encoding)
                np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), values)
                self.assertEqual(answer.get_response().id, encoding)

    def test_the_same_answer_as_to_the_plain_message(self):
        body = calls.request("m", {"x": calls.row_of(5)}, request_id="q").SerializeToString()
        plain = self.raw(body, None, marked=False)
        self.assertEqual(plain[0], OK)
        for encoding in ENCODINGS:
            self.assertEqual(self.raw(compressed(body, encoding), encoding), plain)
            self.assertEqual(self.raw(body, encoding, marked=False), plain,
                             "a plain message of a call with compressed ones")

    def answer(self, body, headers, marked):
        """The headers, the flag and the message of a good answer."""
        with Connection(self.address) as connection:
            connection.call(headers)
            connection.send(message_prefix(len(body), compressed=marked) + body, last=True)
            connection.wait_for_end()
            self.assertEqual(connection.status(), OK)
            return connection.headers, connection.received[0], connection.received[5:]

    def test_the_answer_to_a_compressed_message(self):
        """It is compressed likewise where the client reads that."""
        body = calls.request("wide", {"x": np.zeros((1, KIB), np.float32)}).SerializeToString()
        plain = self.raw(body, None, marked=False)[2]
        for encoding in ENCODINGS:
            sent = compressed(body, encoding)
            reads = {"grpc-encoding": encoding, "grpc-accept-encoding": "identity, deflate,gzip"}
            headers, flag, message = self.answer(sent, reads, True)
            self.assertEqual((headers["grpc-encoding"], flag), (encoding, 1))
            self.assertLess(len(message), len(plain))
            self.assertEqual(zlib.decompress(message, WINDOWS[encoding]), plain)
            reads_plain = {"grpc-encoding": encoding, "grpc-accept-encoding": "identity"}
            for unread in (self.answer(body, reads, False), self.answer(sent, reads_plain, True),
                           self.answer(sent, {"grpc-encoding": encoding}, True)):
                self.assertNotIn("grpc-encoding", unread[0])
                self.assertEqual(unread[1:], (0, plain))

    def test_an_empty_message(self):
        for encoding in ENCODINGS:
            for body in (b"", compressed(b"", encoding)):
                status, text, answer = self.raw(body, encoding, METADATA)
                self.assertEqual((status, text), (OK, ""))
                self.assertIn(b"mpsd", answer)

    def test_what_cannot_be_inflated(self):
        request = calls.request("m", {"x": calls.row_of(5)}).SerializeToString()
        other = {"gzip": "deflate", "deflate": "gzip"}
        for encoding in ENCODINGS:
            good = compressed(request, encoding)
            damaged = good[:-2] + bytes([good[-2] ^ 1]) + good[-1:]
            wrong = "incorrect length check" if encoding == "gzip" else "incorrect data check"
            for body, why in ((good[:-1], "it ends too early"), (good[:1], "it ends too early"),
                              (good + b"x", "bytes follow its end"),
                              (good + good, "bytes follow its end"), (damaged, wrong),
                              (request, "incorrect header check"),
                              (compressed(request, other[encoding]), "incorrect header check")):
                for path in (INFER, METADATA):
                    self.assertEqual(self.raw(body, encoding, path)[:2],
                                     (INVALID, unreadable(encoding, why)))

    def test_another_encoding(self):
        """gRPC 1.51 forgets a name that it does not know, and takes the bytes as plain ones."""
        self.assertIn(self.raw(zlib.compress(b"x"), "zstd")[0], (INVALID, UNIMPLEMENTED))

    def test_a_message_is_as_large_as_it_is_inflated(self):
        """A field that the protocol does not know brings it to its size, which ModelInfer looks at
        when all of it is there."""
        good = calls.request("m", {"x": calls.row_of(5)}).SerializeToString()
        head = b"\xc2\x3e"  # field 1000, whose length takes three bytes
        for encoding in ENCODINGS:
            for size, ends in ((MESSAGE_BYTES, ((EXHAUSTED, FIELDS_TOO_LARGE),
                                                (EXHAUSTED, CONTROL_TOO_LARGE))),
                               (MESSAGE_BYTES + 1, ((EXHAUSTED, TOO_LARGE),) * 2)):
                left = size - len(good) - len(head) - 3
                count = bytes([left & 0x7f | 0x80, left >> 7 & 0x7f | 0x80, left >> 14 & 0x7f])
                body = good + head + count + bytes(left)
                self.assertEqual(len(body), size)
                for path, end in zip((INFER, METADATA), ends, strict=True):
                    self.assertEqual(self.raw(compressed(body, encoding), encoding, path)[:2], end)


class UnaryAtHttp(Unary):
    """The same calls at an address of HTTP, which says more of what it refuses."""

    @staticmethod
    def address_of(daemon):
        return daemon.http

    def test_another_encoding(self):
        for name in ("zstd", "GZIP"):
            with Connection(self.address) as connection:
                connection.call({"grpc-encoding": name})
                connection.wait_for_end()
                self.assertEqual(connection.status(), UNIMPLEMENTED)
                self.assertEqual(connection.headers["grpc-accept-encoding"],
                                 "identity, deflate, gzip")

    def test_a_compressed_message_without_an_encoding(self):
        for encoding in (None, "identity"):
            for path in (INFER, METADATA):
                self.assertEqual(self.raw(compressed(b"", "gzip"), encoding, path)[0], INTERNAL)


class Streams(Compressed):
    def test_a_stream_of_tritonclient(self):
        for encoding in ENCODINGS:
            answers = queue.Queue()
            with triton.InferenceServerClient(self.daemon.address) as client:
                client.start_stream(lambda result, error, answers=answers: answers.put(
                    (result, error)), compression_algorithm=encoding)
                for value in range(20):
                    tensor_input = input_of("x", calls.row_of(value))
                    client.async_stream_infer("m", [tensor_input])
                for value in range(20):
                    result, error = answers.get(timeout=LIMIT_S)
                    self.assertIsNone(error)
                    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"),
                                                  calls.row_of(value))

    def test_every_kind_of_call(self):
        """Long names, so that it pays to compress them."""
        name = "n" * 100
        for compression in ENCODINGS.values():
            with self.assertRaises(grpc.RpcError) as raised:
                self.stub.ModelMetadata(service_pb2.ModelMetadataRequest(name=name),
                                        timeout=LIMIT_S, compression=compression)
            self.assertEqual(raised.exception.details(),
                             f"Request for unknown model: '{name}' is not found")
            self.assertEqual(self.stub.ServerMetadata(
                service_pb2.ServerMetadataRequest(), timeout=LIMIT_S,
                compression=compression).name, "mpsd")
            health = health_pb2_grpc.HealthStub(self.channel)
            with self.assertRaises(grpc.RpcError) as raised:
                health.Check(health_pb2.HealthCheckRequest(service=name), timeout=LIMIT_S,
                             compression=compression)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
            watch = health.Watch(health_pb2.HealthCheckRequest(service=name), timeout=LIMIT_S,
                                 compression=compression)
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
            watch.cancel()
            reflection = reflection_pb2_grpc.ServerReflectionStub(self.channel)
            question = reflection_pb2.ServerReflectionRequest(
                host=name, file_containing_symbol="inference.ModelInferRequest")
            answers = list(reflection.ServerReflectionInfo(iter([question] * 2), timeout=LIMIT_S,
                                                           compression=compression))
            self.assertEqual([len(answer.file_descriptor_response.file_descriptor_proto)
                              for answer in answers], [2, 2])

    def test_in_a_stream_one_request_fails(self):
        good = calls.request("m", {"x": calls.row_of(5)}, request_id="q").SerializeToString()
        bodies = [compressed(good, "gzip"), b"nonsense", compressed(bytes(MESSAGE_BYTES + 1), "gzip"),
                  compressed(good, "gzip")]
        with Connection(self.daemon.address) as connection:
            connection.call({"grpc-encoding": "gzip"}, STREAM)
            connection.send(b"".join(message_prefix(len(body), compressed=True) + body
                                     for body in bodies), last=True)
            connection.wait_for_end()
            self.assertEqual(connection.status(), OK)
            received = connection.received
        answers = []
        while received:
            size = int.from_bytes(received[1:5], "big")
            answers.append(service_pb2.ModelStreamInferResponse.FromString(received[5:5 + size]))
            received = received[5 + size:]
        self.assertEqual(sorted((answer.infer_response.id, answer.error_message)
                                for answer in answers),
                         sorted([("q", ""), ("q", ""), ("", TOO_LARGE),
                                 ("", unreadable("gzip", "incorrect header check"))]))

    def test_what_waits_is_counted(self):
        self.assertEqual(self.daemon.metric("mpsd_inflated_request_bytes"), 0)
        watch = health_pb2_grpc.HealthStub(self.channel).Watch(
            health_pb2.HealthCheckRequest(service="n" * (100 * KIB)), timeout=LIMIT_S,
            compression=grpc.Compression.Gzip)
        next(watch)
        self.assertGreater(self.daemon.metric("mpsd_inflated_request_bytes"), 100 * KIB)
        watch.cancel()


class Endings(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon([synthetic("m")],
                                               limits={"drain_timeout": "200ms"}))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def wait_with_bombs(self):
        """Connections whose messages take seconds to inflate, some of which have arrived."""
        bomb = compressed(bytes(65 * MESSAGE_BYTES), "gzip")
        addresses = itertools.cycle((self.daemon.address, self.daemon.http))
        connections = [self.enterContext(Connection(address))
                       for address in itertools.islice(addresses, 30)]
        for connection, path in zip(connections, itertools.cycle((INFER, STREAM, METADATA))):
            connection.call({"grpc-encoding": "gzip"}, path)
            connection.send(message_prefix(len(bomb), compressed=True) + bomb, last=True)
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") > 0, LIMIT_S, "a call")
        return connections

    def test_clients_that_vanish(self):
        for connection in self.wait_with_bombs():
            connection.close()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "their end")
        self.assertEqual(self.daemon.metric("mpsd_inflated_request_bytes"), 0)
        calls.answered(self.stub, calls.request("m", {"x": calls.row_of(5)}))

    def test_a_stop_while_messages_wait(self):
        self.wait_with_bombs()
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(20), 0)


class TurnedOff(unittest.TestCase):
    def test_a_compressed_request(self):
        daemon = self.enterContext(Daemon([synthetic("m")],
                                          limits={"compressed_requests": False}))
        for address, compression in itertools.product((daemon.address, daemon.http),
                                                      ENCODINGS.values()):
            stub = self.enterContext(calls.stub(address))
            for call, message in ((stub.ModelInfer, calls.request("m", {"x": calls.row_of(1)})),
                                  (stub.ServerMetadata, service_pb2.ServerMetadataRequest())):
                with self.assertRaises(grpc.RpcError) as raised:
                    call(message, timeout=LIMIT_S, compression=compression)
                self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
                call(message, timeout=LIMIT_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
