"""Slow and idle connections: they keep nobody waiting, and each limit ends what it is there for."""
import collections
import contextlib
import http.client
import json
import socket
import ssl
import struct
import tempfile
import time
import unittest

import grpc
import hpack
from tritonclient.grpc import service_pb2

import calls
from certificates import Authority
from daemon import Daemon, wait_until
from models import synthetic, tensor
from raw_http2 import ACK, DATA, END_STREAM, GOAWAY, HEADERS, INFER, PING, SETTINGS, \
    STREAM_INFER, WINDOW_UPDATE, Connection, message_prefix
from tricklers import Tricklers

MANY = 500
LIMIT_S = 60
MOST_STREAMS = 3  # SETTINGS_MAX_CONCURRENT_STREAMS
INITIAL_WINDOW = 4  # SETTINGS_INITIAL_WINDOW_SIZE
SERVER_LIVE = "/inference.GRPCInferenceService/ServerLive"


def tell(model):
    """A request to the model, as the frame of a client takes it."""
    message = calls.request(model, {"x": calls.row_of(1)}).SerializeToString()
    return message_prefix(len(message)) + message


MESSAGE = tell("m")


def good_calls(test, stub, count=200):
    """That many at once, each of which is answered with its own bytes."""
    messages = [calls.request("m", {"x": calls.row_of(i)}) for i in range(count)]
    for i, outcome in enumerate(calls.infer_all(stub, messages)):
        test.assertEqual(outcome.code, calls.OK, outcome.text)
        test.assertTrue((calls.arrays(outcome.response)["OUTPUT0"] == i).all(), i)


class Arriving(unittest.TestCase):
    """Large requests are admitted before their tensors are whole."""
    WIDTH = 1 << 17  # of a row: 512 KiB

    def setUp(self):
        model = synthetic("wide", [tensor("x", [self.WIDTH])], max_batch_size=4)
        limits = {"drain_timeout": "1s"}
        self.daemon = self.enterContext(Daemon([model, synthetic("m")], limits=limits))
        self.stub = self.enterContext(calls.stub(self.daemon.address))
        row = calls.row_of(7, self.WIDTH)
        message = calls.request("wide", {"x": row}).SerializeToString()
        self.bytes = message_prefix(len(message)) + message

    def begin(self):
        """Half of a request is there."""
        connection = self.enterContext(Connection(self.daemon.address))
        connection.call({})
        for stream in (0, 1):  # room for the answer
            connection.send_frames(Connection.frame(WINDOW_UPDATE, 0, stream, b"\0\x10\0\0"))
        connection.send(self.bytes[:len(self.bytes) // 2])
        return connection

    def begin_http(self):
        """A socket of HTTP/1.1 that has sent half of a request, and the other half."""
        row = calls.row_of(7, self.WIDTH).tobytes()
        text = json.dumps({
            "inputs": [{"name": "x", "shape": [1, self.WIDTH], "datatype": "FP32",
                        "parameters": {"binary_data_size": len(row)}}],
            "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]}).encode()
        host, port = self.daemon.http.split(":")
        client = self.enterContext(socket.create_connection((host, int(port)), timeout=LIMIT_S))
        client.sendall(b"POST /v2/models/wide/infer HTTP/1.1\r\nHost: localhost\r\n"
                       b"Inference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n"
                       % (len(text), len(text) + len(row)) + text + row[:len(row) // 2])
        return client, row[len(row) // 2:]

    def others_are_served(self):
        for value in range(8):
            request = calls.request("wide", {"x": calls.row_of(value, self.WIDTH)})
            outcome = calls.answered(self.stub, request, limit_s=LIMIT_S)
            self.assertTrue((calls.arrays(outcome.response)["OUTPUT0"] == value).all())

    def nothing_is_left(self):
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "no open call")
        self.assertEqual(self.daemon.metric("mpsd_queued_requests", model="wide"), 0)

    def test_halves_keep_nobody_waiting(self):
        halves = [self.begin() for _ in range(20)]
        self.others_are_served()
        for half in halves:
            half.send(self.bytes[len(self.bytes) // 2:], last=True)
        for half in halves:
            half.wait_for_end()
            self.assertEqual(half.headers.get("grpc-status"), "0", half.headers)
            answer = service_pb2.ModelInferResponse.FromString(half.received[5:])
            self.assertTrue((calls.arrays(answer)["OUTPUT0"] == 7).all())
        self.nothing_is_left()

    def test_halves_of_http_keep_nobody_waiting(self):
        halves = [self.begin_http() for _ in range(20)]
        self.others_are_served()
        for client, rest in halves:
            client.sendall(rest)
        for client, _ in halves:
            reply = http.client.HTTPResponse(client)
            reply.begin()
            body = reply.read()
            self.assertEqual(reply.status, 200, body)
            head = int(reply.getheader("Inference-Header-Content-Length"))
            self.assertEqual(body[head:], calls.row_of(7, self.WIDTH).tobytes())
        self.nothing_is_left()

    def test_clients_of_http_that_leave_leave_nothing(self):
        for client, _ in [self.begin_http() for _ in range(20)]:
            client.close()
        self.others_are_served()
        self.nothing_is_left()

    def test_clients_that_leave_leave_nothing(self):
        for half in [self.begin() for _ in range(20)]:
            half.close()
        self.others_are_served()
        self.nothing_is_left()

    def test_a_body_of_another_length_is_refused(self):
        for rest in (self.bytes[len(self.bytes) // 2:-1], self.bytes[len(self.bytes) // 2:] + b"x"):
            half = self.begin()
            half.send(rest, last=True)
            half.wait_for_end()
            self.assertEqual(half.headers.get("grpc-status"), "3", half.headers)
        self.others_are_served()
        self.nothing_is_left()

    def test_a_model_may_go_meanwhile(self):
        half = self.begin()
        self.daemon.write_config([synthetic("m")])
        self.assertTrue(self.daemon.reload()["ok"])
        half.send(self.bytes[len(self.bytes) // 2:], last=True)
        half.wait_for_end()
        self.assertIn(half.headers.get("grpc-status"), ("0", "5", "14"), half.headers)
        self.nothing_is_left()

    def test_a_stop_does_not_wait_for_the_rest(self):
        self.begin()
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)


class Trickling(unittest.TestCase):
    def test_five_hundred_keep_nobody_waiting(self):
        """A good client is answered beside them, and so is a slow one that ends what it began.
        Those that do not finish their handshake are cut off, and no others; when the rest goes,
        nothing of it is left."""
        limits = {"handshake_timeout": "3s"}
        with Daemon([synthetic("m")], limits=limits) as daemon, calls.stub(daemon.address) as stub:
            good_calls(self, stub, 1)
            slow = Connection(daemon.address)
            slow.call({})
            slow.send(MESSAGE[:20])
            with Tricklers(daemon.address, MANY) as tricklers:
                # A slow machine cuts some off before the last one has come.
                wait_until(lambda: daemon.metric("mpsd_connections") + len(tricklers.ended) ==
                           MANY + 2, LIMIT_S, "all of them")
                with calls.Load(daemon.address, "m", callers=4) as load:
                    for _ in range(3):
                        good_calls(self, stub)
                    wait_until(lambda: len(tricklers.ended) >= (MANY + 2) // 3, LIMIT_S,
                               "the end of those that trickle their handshake")
                    good_calls(self, stub)
                endings = collections.Counter(outcome.code for outcome in load.outcomes)
                self.assertEqual(endings, {calls.OK: load.started})
                self.assertEqual(set(tricklers.ended), {"handshake"})
                self.assertEqual(tricklers.open_count(), MANY - len(tricklers.ended))
                with calls.stub(daemon.address) as fresh:
                    good_calls(self, fresh, 10)
            wait_until(lambda: daemon.metric("mpsd_connections") == 2, LIMIT_S, "their end")
            self.assertEqual(daemon.metric("mpsd_refused_connections_total"), 0)
            answered = daemon.metric("mpsd_requests_total", code="OK")
            slow.send(MESSAGE[20:], last=True)
            slow.wait_for_end()
            slow.close()
            self.assertEqual(daemon.metric("mpsd_requests_total"), answered + 1)
            self.assertEqual(daemon.metric("mpsd_requests_total", code="OK"), answered + 1)
            good_calls(self, stub)

    def test_more_than_may_be_open(self):
        """Their host has half of the connections. Those beyond it are closed, and who is inside is
        served."""
        with Daemon([synthetic("m")], limits={"connections": 200}) as daemon, \
                calls.stub(daemon.address) as stub:
            good_calls(self, stub, 1)
            with Tricklers(daemon.address, MANY, kinds=("headers", "body")) as tricklers:
                wait_until(lambda: tricklers.open_count() <= 99, LIMIT_S, "the limit")
                good_calls(self, stub)
                self.assertEqual(tricklers.open_count(), 99)
                self.assertEqual(daemon.metric("mpsd_connections"), 100)
                self.assertGreaterEqual(daemon.metric("mpsd_refused_connections_total") +
                                        daemon.metric("mpsd_displaced_connections_total"),
                                        MANY - 99)
            wait_until(lambda: daemon.metric("mpsd_connections") == 1, LIMIT_S, "their end")
            with calls.stub(daemon.address) as fresh:
                good_calls(self, fresh, 10)

    def test_a_stop_waits_for_them_no_longer_than_it_may(self):
        """They neither end what they began nor answer a GOAWAY; an answer that is inside is given."""
        model = synthetic("m", parameters={"delay": "3s"})
        with Daemon([model], limits={"drain_timeout": "6s"}) as daemon, \
                calls.stub(daemon.address) as stub, Tricklers(daemon.address, MANY):
            inside = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "the batch")
            daemon.terminate()
            self.assertEqual(calls.outcome_of(inside).code, calls.OK)
            self.assertEqual(daemon.wait(), 0)


class Handshakes(unittest.TestCase):
    MOST = 400
    QUARTER = MOST // 4

    def test_those_that_do_not_end_leave_room_to_others(self):
        """Beyond a quarter of the connections the oldest make room, not idle clients."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        authority = Authority(folder, "authority")
        certificate, key = authority.issue("server")
        tls = {"http": ["127.0.0.1:0"], "certificate": str(certificate), "key": str(key)}
        with Daemon([synthetic("m")], listen_more={"tls": tls},
                    limits={"http_connections": self.MOST, "handshake_timeout": "0"}) as daemon:
            host, port = daemon.http_listeners[1].split(":")
            context = ssl.create_default_context(cafile=str(authority.pem))
            idle = [http.client.HTTPSConnection(host, int(port), context=context)
                    for _ in range(3)]
            for client in idle:
                self.addCleanup(client.close)
                self.check_answered(client)
            with contextlib.ExitStack() as half_open:
                def begin():
                    return half_open.enter_context(
                        socket.create_connection((host, int(port)), LIMIT_S))

                def displaced():
                    return daemon.metric("mpsd_displaced_connections_total")

                def one_more_displaces(wanted):
                    newcomer = begin()
                    if displaced() >= wanted:
                        return True
                    newcomer.close()  # the oldest is not old enough
                    return False
                for _ in range(self.QUARTER):
                    begin()
                for _ in range(self.QUARTER // 2):
                    wanted = displaced() + 1
                    wait_until(lambda wanted=wanted: one_more_displaces(wanted), LIMIT_S,
                               "one to end")
                for client in idle:
                    self.check_answered(client)
                self.assertLess(daemon.metric("mpsd_http_connections"), self.QUARTER * 5 // 4)
                self.assertEqual(daemon.metric("mpsd_refused_connections_total"), 0)

    def check_answered(self, client):
        client.request("GET", "/v2/models/m/ready")
        answer = client.getresponse()
        self.assertEqual((answer.status, answer.will_close), (200, False))
        answer.read()
        self.assertIsNotNone(client.sock)


class Frames:
    """A connection at the level of frames, whose other side is asked nothing and told nothing."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), LIMIT_S)
        self._socket.sendall(Connection.preface())
        self._file = self._socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.close()
        self._socket.close()

    def send(self, *frame):
        self._socket.sendall(Connection.frame(*frame))

    def call(self, stream, path=STREAM_INFER):
        """Opens a call that the server has from its headers on, as it has a ModelStreamInfer."""
        self._socket.sendall(Connection.request_headers(stream, path=path))

    def next(self, *kinds):
        """The next frame of these kinds: (kind, flags, stream, payload); None at the end, which
        is what is waited for where there are no kinds."""
        while True:
            try:
                head = self._file.read(9)
            except ConnectionError:
                return None
            if len(head) < 9:
                return None
            payload = self._file.read(int.from_bytes(head[:3], "big"))
            if head[3] in kinds:
                return head[3], head[4], int.from_bytes(head[5:9], "big"), payload


class Idle(unittest.TestCase):
    def serve(self, **limits):
        daemon = self.enterContext(Daemon([synthetic("m")], limits=limits))
        return daemon, self.enterContext(calls.stub(daemon.address))

    def test_who_does_not_answer_is_cut_off(self):
        """Keepalive: a client that is asked whether it lives, and answers, stays."""
        daemon, stub = self.serve(keepalive="1s")
        with Frames(daemon.address) as silent, Frames(daemon.address) as alive:
            silent.call(1)
            alive.call(1)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 2, LIMIT_S, "both")
            began = time.monotonic()
            asked = 0
            while daemon.metric("mpsd_connections") == 2:
                ping = alive.next(PING)
                self.assertIsNotNone(ping, "one that answers was cut off")
                if not ping[1] & ACK:
                    asked += 1
                    alive.send(PING, ACK, 0, ping[3])
                self.assertLess(time.monotonic() - began, LIMIT_S, "one that is silent stays")
            self.assertGreater(asked, 1)
            self.assertIsNone(silent.next())
            good_calls(self, stub)

    def test_one_without_a_call_is_closed(self):
        daemon, stub = self.serve(connection_idle="3s")
        good_calls(self, stub, 10)
        with Frames(daemon.address) as idle, Frames(daemon.address) as busy:
            busy.call(1)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 1, LIMIT_S, "the busy one")
            self.assertIsNotNone(idle.next(GOAWAY))
            wait_until(lambda: daemon.metric("mpsd_connections") == 1, LIMIT_S, "both idle ones")
            self.assertEqual(daemon.metric("mpsd_open_calls"), 1)
        with calls.stub(daemon.address) as fresh:
            good_calls(self, fresh, 10)

    def test_an_old_one_is_asked_to_end(self):
        daemon, stub = self.serve(connection_age="1s")
        with Frames(daemon.address) as old:
            old.call(1)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 1, LIMIT_S, "its call")
            for _ in range(20):
                good_calls(self, stub, 10)
            self.assertIsNotNone(old.next(GOAWAY))
            self.assertEqual(daemon.metric("mpsd_open_calls"), 1, "it may finish what is inside")


class Open(unittest.TestCase):
    """Calls that stay open, on connections that take no answer: their window is 0."""

    PER_CONNECTION = 128

    def open_calls(self, daemon, model, count):
        """Starts that many; they end with the test."""
        frames = None
        for i in range(count):
            if i % self.PER_CONNECTION == 0:
                frames = self.enterContext(Frames(daemon.address))
                frames.send(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 0))
                frames.send(SETTINGS, ACK, 0, b"")
            stream = 2 * (i % self.PER_CONNECTION) + 1
            frames.call(stream, INFER)
            frames.send(DATA, END_STREAM, stream, tell(model))

    def open_count(self, daemon, count):
        wait_until(lambda: daemon.metric("mpsd_open_calls") == count, LIMIT_S, "the calls")

    def test_answers_that_nobody_takes_keep_nobody_from_calling(self):
        many = 9 * self.PER_CONNECTION
        models = [synthetic("m", queue={"requests": many}), synthetic("other")]
        with Daemon(models) as daemon, calls.stub(daemon.address) as stub:
            self.open_calls(daemon, "m", many)
            wait_until(lambda: daemon.metric("mpsd_requests_total", code="OK") == many, LIMIT_S,
                       "their answers")
            good_calls(self, stub)
            self.open_count(daemon, many)
            self.doCleanups()
            self.open_count(daemon, 0)

    def test_a_stream_that_takes_no_answer_is_cut_off(self):
        """30 s after its deadline, though no other call wakes the server; its neighbour stays."""
        with Daemon([synthetic("m")], limits={"default_deadline": "1s"}) as daemon, \
                calls.stub(daemon.address) as stub:
            frames = self.enterContext(Frames(daemon.address))
            frames.send(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 0))
            frames.send(SETTINGS, ACK, 0, b"")
            for stream in (1, 3):
                frames.call(stream)
            for _ in range(20):
                frames.send(DATA, 0, 1, tell("m"))
            wait_until(lambda: daemon.metric("mpsd_requests_total", code="OK") == 20, LIMIT_S,
                       "its answers")
            self.open_count(daemon, 2)
            wait_until(lambda: daemon.metric("mpsd_untaken_answers_total") == 1, LIMIT_S, "the cut")
            self.open_count(daemon, 1)
            decoder, trailers, fields = hpack.Decoder(), (HEADERS, 0, 0, b""), {}
            while not trailers[1] & END_STREAM:
                trailers = frames.next(HEADERS)
                fields = dict(decoder.decode(trailers[3]))
            self.assertEqual(trailers[2], 1)
            self.assertEqual(fields["grpc-message"], "the stream's answers were not read in time")
            frames.send(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 65535))
            frames.send(DATA, END_STREAM, 3, tell("m"))
            self.assertEqual(frames.next(DATA)[2], 3)
            good_calls(self, stub)
            self.doCleanups()
            self.open_count(daemon, 0)

    def test_models_that_do_not_answer_keep_no_other_from_answering(self):
        """Five of them, each with a full queue, as with one client that means no harm."""
        slow = [synthetic(f"slow{i}", parameters={"delay": "8s"}) for i in range(5)]
        with Daemon([synthetic("m"), *slow]) as daemon, calls.stub(daemon.address) as stub:
            for model in slow:
                self.open_calls(daemon, model["name"], 256)
            self.open_count(daemon, 5 * 256)
            good_calls(self, stub)
            self.doCleanups()
            self.open_count(daemon, 0)

    def test_calls_beyond_the_share_of_a_model_are_refused_at_once(self):
        with Daemon([synthetic("m"), synthetic("other")], limits={"calls": 300}) as daemon, \
                calls.stub(daemon.address) as stub:
            self.open_calls(daemon, "other", 120)
            self.open_count(daemon, 100)
            refused = calls.infer(stub, calls.request("other", {"x": calls.row_of(1)}))
            self.assertEqual(refused.code, grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertEqual(refused.text, "too many calls to this model are open")
            good_calls(self, stub, 50)
            self.assertEqual(daemon.metric("mpsd_refused_calls_total"), 21)
            self.doCleanups()
            self.open_count(daemon, 0)
            calls.answered(stub, calls.request("other", {"x": calls.row_of(1)}))


class Calls(unittest.TestCase):
    def test_calls_without_a_message_keep_nobody_from_calling(self):
        many = 100
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            with Frames(daemon.address) as silent:
                for i in range(many):
                    silent.call(2 * i + 1, SERVER_LIVE)
                wait_until(lambda: daemon.metric("mpsd_open_calls") == many, LIMIT_S, "them all")
                answer = stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=LIMIT_S)
                self.assertTrue(answer.live)
                good_calls(self, stub, 20)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "their end")

    def test_more_calls_than_a_connection_may_have(self):
        with Daemon([synthetic("m")], limits={"streams": 4}) as daemon, \
                calls.stub(daemon.address) as stub:
            with Frames(daemon.address) as greedy:
                said = greedy.next(SETTINGS)[3]
                self.assertIn(struct.pack(">HI", MOST_STREAMS, 4),
                              [said[i:i + 6] for i in range(0, len(said), 6)])
                greedy.send(SETTINGS, ACK, 0, b"")
                for stream in (1, 3, 5, 7):
                    greedy.call(stream)
                wait_until(lambda: daemon.metric("mpsd_open_calls") == 4, LIMIT_S, "four calls")
                greedy.send(DATA, END_STREAM, 1, b"")  # a stream without a request
                wait_until(lambda: daemon.metric("mpsd_open_calls") == 3, LIMIT_S, "its end")
                greedy.call(9)
                wait_until(lambda: daemon.metric("mpsd_open_calls") == 4, LIMIT_S, "one more")
                greedy.call(11)
                self.assertIsNone(greedy.next(), "what was told is broken: the connection ends")
                wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "its calls")
            good_calls(self, stub, 20)  # a client within its bounds waits for its turn

    def test_more_metadata_than_a_call_may_have(self):
        with Daemon([synthetic("m")], limits={"metadata": "2KiB"}) as daemon, \
                calls.stub(daemon.address) as stub:
            message = calls.request("m", {"x": calls.row_of(1)})
            with self.assertRaises(grpc.RpcError) as raised:
                stub.ModelInfer(message, metadata=[("much", "x" * 4096)], timeout=LIMIT_S)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertEqual(daemon.metric("mpsd_batches_total"), 0)
            try:
                stub.ModelInfer(message, metadata=[("little", "x" * 512)], timeout=LIMIT_S)
            except grpc.RpcError as error:  # gRPC may end an overloaded connection
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                stub.ModelInfer(message, metadata=[("little", "x" * 512)], timeout=LIMIT_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
