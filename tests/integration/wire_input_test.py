"""Requests as bytes that no client library of ours would make: pieces, unknown fields, bad text."""
import unittest

import grpc
import numpy as np
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon
from models import synthetic, tensor
from raw_http2 import (DATA, END_STREAM, PADDED, SETTINGS, WINDOW_UPDATE, Connection,
                       message_prefix)

INFER = "/inference.GRPCInferenceService/ModelInfer"
INVALID = grpc.StatusCode.INVALID_ARGUMENT
LIMIT_S = 30
NUMBER, LENGTH = 0, 2  # wire types
WINDOW = (1 << 24).to_bytes(4, "big")
WINDOW_OF_STREAMS = b"\0\4" + WINDOW  # a setting
NOT_UTF8 = b"\xff\xfe"


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A field of a message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3 | NUMBER) + varint(value)
    return varint(number << 3 | LENGTH) + varint(len(value)) + value


# Field numbers that no message of the protocol has, with all four wire types.
UNKNOWN = field(1000, 7) + field(1001, b"what is this") + varint(1002 << 3 | 1) + bytes(8) + \
    varint(1003 << 3 | 5) + bytes(4)


class WireInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([
            synthetic("m"), synthetic("words", [tensor("x", [-1], "BYTES")]),
            synthetic("wide", [tensor("x", [-1])])]))
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.daemon.address))

    def infer(self, body):
        """The answer to a request of these bytes."""
        call = self.channel.unary_unary(INFER)
        return service_pb2.ModelInferResponse.FromString(call(body, timeout=LIMIT_S))

    def test_unknown_fields_are_passed_over(self):
        """At every level, before and behind what is known."""
        row = calls.row_of(3).tobytes()
        tensor_input = (UNKNOWN + field(1, b"x") + field(2, b"FP32") + UNKNOWN +
                        field(3, varint(1) + varint(16)) +
                        field(4, UNKNOWN + field(1, b"mine") + field(2, UNKNOWN + field(2, 5))) +
                        UNKNOWN)
        output = UNKNOWN + field(1, b"OUTPUT0") + UNKNOWN
        answer = self.infer(UNKNOWN + field(1, b"m") + field(3, b"an id") + UNKNOWN +
                            field(5, tensor_input) + UNKNOWN + field(6, output) + UNKNOWN +
                            field(7, row) + UNKNOWN)
        self.assertEqual((answer.id, list(answer.raw_output_contents)), ("an id", [row]))

    def test_text_that_is_no_utf8(self):
        """Wherever a request has text."""
        row = calls.row_of(3).tobytes()
        shape = field(3, varint(1) + varint(16))

        def request(model=b"m", version=b"", request_id=b"", key=b"key", name=b"x",
                    datatype=b"FP32", output=b"OUTPUT0"):
            return (field(1, model) + field(2, version) + field(3, request_id) +
                    field(4, field(1, key) + field(2, field(2, 1))) +
                    field(5, field(1, name) + field(2, datatype) + shape) +
                    field(6, field(1, output)) + field(7, row))

        self.assertEqual(list(self.infer(request()).raw_output_contents), [row])
        for place in ("model", "version", "request_id", "key", "name", "datatype", "output"):
            with self.assertRaises(grpc.RpcError, msg=place) as raised:
                self.infer(request(**{place: NOT_UTF8}))
            self.assertEqual((raised.exception.code(), raised.exception.details()),
                             (INVALID, "the bytes are not a ModelInferRequest"), place)

    def test_in_pieces_of_every_size(self):
        """Lengths of fields, and of BYTES elements, lie across slices."""
        words = [b"", b"a", b"of two lengths", bytes(300)]
        raw = b"".join(len(word).to_bytes(4, "little") + word for word in words)
        message = service_pb2.ModelInferRequest(model_name="words", id="pieces")
        message.inputs.add(name="x", datatype="BYTES", shape=[1, len(words)])
        message.raw_input_contents.append(raw)
        body = message.SerializeToString()
        body = message_prefix(len(body)) + body
        for size in (1, 2, 3, 5, 7, 64):
            pieces = [body[i:i + size] for i in range(0, len(body), size)]
            with Connection(self.daemon.address) as connection:
                connection.call({})
                connection.send_frames(*(Connection.frame(DATA, 0, 1, piece) for piece in pieces),
                                       Connection.frame(DATA, END_STREAM, 1, b""))
                connection.wait_for_end()
            answer = service_pb2.ModelInferResponse.FromString(connection.received[5:])
            self.assertEqual((answer.id, list(answer.raw_output_contents)), ("pieces", [raw]), size)

    def test_large_tensors_in_frames_of_every_form(self):
        """Their bytes go from the socket to where a worker reads them, where frames come in order."""
        bodies = []
        for seed in (1, 2):
            values = np.random.default_rng(seed).random((1, 120_000), np.float32)
            body = calls.request("wide", {"x": values}, request_id=str(seed)).SerializeToString()
            bodies.append((message_prefix(len(body)) + body, values.tobytes()))

        def padded(frame):
            return bytes([200]) + frame + bytes(200)

        for size, flags, form in ((16_384, 0, bytes), (16_383, 0, bytes), (1_000, 0, bytes),
                                  (16_183, PADDED, padded), (1_000, PADDED, padded)):
            frames = [[Connection.frame(DATA, flags | END_STREAM * (at + size >= len(body)), stream,
                                        form(body[at:at + size]))
                       for at in range(0, len(body), size)]
                      for stream, (body, _) in zip((1, 3), bodies)]
            behind = b"".join(frames[0] + frames[1])
            turns = b"".join(frame for pair in zip(*frames) for frame in pair)
            for order, sent in (("behind", behind), ("turns", turns)):
                with self.subTest(size=size, flags=flags, order=order), \
                        Connection(self.daemon.address) as connection:
                    connection.send_frames(Connection.frame(SETTINGS, 0, 0, WINDOW_OF_STREAMS),
                                           Connection.frame(WINDOW_UPDATE, 0, 0, WINDOW))
                    connection.take()  # the server's settings: windows are large from then on
                    for stream in (1, 3):
                        connection.call({}, stream=stream)
                    for at in range(0, len(sent), 77_777):
                        connection.send_frames(sent[at:at + 77_777])
                    for _ in bodies:
                        connection.ended = False
                        connection.wait_for_end()
                    answers = [service_pb2.ModelInferResponse.FromString(
                        connection.of_stream[stream][5:]) for stream in (1, 3)]
                    self.assertEqual([list(answer.raw_output_contents) for answer in answers],
                                     [[raw] for _, raw in bodies])


if __name__ == "__main__":
    unittest.main(verbosity=2)
