"""The bounds that keep one client from taking what belongs to all."""
import contextlib
import os
import pathlib
import signal
import socket
import tempfile
import threading
import time
import unittest
import zlib

import grpc
import numpy as np
from tritonclient.grpc import service_pb2_grpc

import calls
import procfs
from daemon import BIN, KEEP_LITTLE, Daemon, wait_until
from models import synthetic, tensor
from raw_http2 import DATA, END_STREAM, INFER, STREAM_INFER, Connection, message_prefix

INVALID = grpc.StatusCode.INVALID_ARGUMENT
EXHAUSTED = 8  # as on the wire
MIB = 1 << 20
MOST_GROWTH_BYTES = 200 * MIB
MOST_INFLATED_BYTES = 256 * MIB + MOST_GROWTH_BYTES // 4  # limits.buffered, and a little more
TOO_LARGE = "Received message larger than max (67108865 vs. 67108864)"
NO_ROOM = "too many compressed messages are being inflated"
LIMIT_S = 30
WATCH = "/grpc.health.v1.Health/Watch"


class Peak:
    """The most resident memory that the daemon had inside the `with` statement, less what it had
    before."""

    def __init__(self, daemon):
        self._status = f"/proc/{daemon.pid}/status"
        self._stop = threading.Event()
        self._before = self._most = self._resident()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def _resident(self):
        with open(self._status, encoding="ascii") as file:
            line = next(line for line in file if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def _watch(self):
        while not self._stop.wait(0.002):
            self._most = max(self._most, self._resident())

    def __enter__(self):
        self._watcher.start()
        return self

    def __exit__(self, *unused):
        self._stop.set()
        self._watcher.join()

    @property
    def growth_bytes(self):
        return self._most - self._before


# In FP32: more than 4 MiB, at most a batch of pictures.
LARGE = 5 * MIB // 4
FIELDS_TOO_LARGE = (grpc.StatusCode.RESOURCE_EXHAUSTED,
                    "a request holds at most 128 KiB besides the contents of its tensors")


def bomb_of(inflated_bytes):
    """A gzip member of so many zeros."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    piece = bytes(MIB)
    return b"".join(deflate.compress(piece) for _ in range(inflated_bytes // MIB)) + \
        deflate.flush()


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("m"), synthetic("large", [tensor("x", [LARGE])], max_batch_size=0)],
            environment=KEEP_LITTLE))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def tearDown(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(5)}))
        self.assertEqual(outcome.code, calls.OK, "a good request after it")

    def test_a_gzip_bomb(self):
        """To each kind of call, and several at a time. Nothing is inflated beyond the limit, and where
        several are inflated at a time, as with many cores, no more than there is room for."""
        bomb = bomb_of(1 << 30)
        self.assertLess(len(bomb), 2 * MIB)
        paths = (INFER, STREAM_INFER, "/inference.GRPCInferenceService/ServerMetadata") * 3
        said_of_all = []
        with Peak(self.daemon) as peak, contextlib.ExitStack() as stack:
            connections = [stack.enter_context(Connection(self.daemon.address)) for _ in paths]
            for connection, path in zip(connections, paths, strict=True):
                connection.call({"grpc-encoding": "gzip"}, path)
                connection.send(message_prefix(len(bomb), compressed=True) + bomb[:-1])
            for connection in connections:
                connection.send(bomb[-1:], last=True)
            for connection, path in zip(connections, paths, strict=True):
                connection.wait_for_end()
                in_band = path == STREAM_INFER
                self.assertEqual(connection.status(), 0 if in_band else EXHAUSTED)
                said = connection.received.decode() if in_band else connection.status_text()
                said_of_all.append(said)
        self.assertTrue(any(TOO_LARGE in said for said in said_of_all))
        inflates_several = "inflate-1" in procfs.threads(self.daemon.pid)  # starts when it is needed
        for said in said_of_all:
            self.assertTrue(TOO_LARGE in said or (inflates_several and NO_ROOM in said), said)
        print(f"  {len(paths)} bombs of {len(bomb) >> 10} KiB: {peak.growth_bytes >> 20} MiB",
              flush=True)
        self.assertLess(peak.growth_bytes,
                        MOST_INFLATED_BYTES if inflates_several else MOST_GROWTH_BYTES)

    def test_a_message_of_a_gibibyte(self):
        """gRPC looks at a message's size when it has all of it; what all connections together may
        have it buffer is bounded, in messages of the largest size."""
        daemon = self.enterContext(Daemon([synthetic("m")]))
        piece = bytes(MIB)
        sent = 0
        with Peak(daemon) as peak, Connection(daemon.address) as connection:
            connection.call({})
            going = connection.send(message_prefix(1 << 30))
            while going and sent < 1 << 30:
                going = connection.send(piece)
                sent += len(piece)
            if going:
                connection.send(b"", last=True)
            connection.wait_for_end()
        with calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(5)}))
            self.assertEqual(outcome.code, calls.OK, "a good request after it")
        print(f"  {sent >> 20} MiB sent: {peak.growth_bytes >> 20} MiB", flush=True)
        self.assertLess(peak.growth_bytes, MOST_GROWTH_BYTES)

    def test_expired_on_arrival(self):
        before = self.daemon.metric("mpsd_batches_total")
        message = calls.request("m", {"x": calls.row_of(1)}).SerializeToString()
        with Connection(self.daemon.address) as connection:
            connection.call({"grpc-timeout": "1n"})
            time.sleep(0.1)  # gRPC counts in milliseconds: it ends a little late
            connection.send(message_prefix(len(message)) + message, last=True)
            connection.wait_for_end()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "its end")
        self.assertEqual(self.daemon.metric("mpsd_batches_total"), before)

    def test_what_comes_late_is_not_even_read(self):
        """What is read of these is no request. gRPC, which counts in milliseconds, lets calls pass
        that have a nanosecond; of so many at once some are late by the time that they are seen."""
        late = {"code": "DEADLINE_EXCEEDED"}
        for path in (INFER, STREAM_INFER):
            before = self.daemon.metric("mpsd_refused_requests_total", **late)

            def some_are_told(path=path, before=before):
                self.send_at_once(path, b"\xff" * 20, 64)
                return self.daemon.metric("mpsd_refused_requests_total", **late) > before

            wait_until(some_are_told, LIMIT_S, f"a late request of {path}")

    def send_at_once(self, path, body, count):
        """So many calls over one connection, each of which has a nanosecond."""
        frames = []
        for stream in range(1, 2 * count, 2):
            frames.append(Connection.request_headers(stream, {"grpc-timeout": "1n"}, path))
            frames.append(Connection.frame(DATA, END_STREAM, stream,
                                           message_prefix(len(body)) + body))
        with Connection(self.daemon.address) as connection:
            connection.send_frames(*frames)
            connection.wait_for_end()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "their end")

    def test_names_that_are_no_utf8(self):
        bad = b"\xff\xfe"
        request = b"\x0a\x02" + bad
        with grpc.insecure_channel(self.daemon.address) as channel:
            for method, body in (("ModelInfer", request), ("ModelMetadata", request),
                                 ("ModelReady", request), ("ModelConfig", request),
                                 ("ModelStatistics", request)):
                call = channel.unary_unary(f"/inference.GRPCInferenceService/{method}")
                with self.assertRaises(grpc.RpcError) as raised:
                    call(body, timeout=LIMIT_S)
                self.assertEqual(raised.exception.code(), INVALID, method)
            stream = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            answer, = stream(iter([request]), timeout=LIMIT_S)
            self.assertIn(b"the bytes are not a ModelInferRequest", answer)

    def test_names_of_all_lengths(self):
        for length in (129, 1 << 16, MIB):
            outcome = calls.infer(self.stub, calls.request("n" * length, {"x": calls.row_of(1)}))
            if length < MIB:
                self.assertEqual(outcome.code, grpc.StatusCode.NOT_FOUND)
            else:
                self.assertEqual((outcome.code, outcome.text), FIELDS_TOO_LARGE)

    def test_parameters_are_bounded_together(self):
        parameters = {f"p{i}": "x" * 1000 for i in range(200)}
        outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(1)},
                                                       parameters=parameters))
        self.assertEqual((outcome.code, outcome.text), FIELDS_TOO_LARGE)

    def test_typed_contents_as_large_as_a_message(self):
        message = calls.request("large", {})
        values = np.arange(LARGE, dtype=np.float32)
        message.inputs.add(name="x", datatype="FP32", shape=[LARGE]).contents.fp32_contents.extend(
            values.tolist())
        outcome = calls.answered(self.stub, message)
        np.testing.assert_array_equal(next(iter(calls.arrays(outcome.response).values())), values)

    def test_typed_contents_that_would_take_much_memory(self):
        """A byte each on the wire, and eight in memory."""
        message = calls.request("m", {})
        count = 20 * MIB
        message.inputs.add(name="x", datatype="INT64",
                           shape=[count]).contents.int64_contents.extend(bytes(count))
        with Peak(self.daemon) as peak:
            outcome = calls.infer(self.stub, message)
        self.assertEqual((outcome.code, outcome.text), (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            f"the typed contents take {8 * count} bytes of memory, more than {64 * MIB}; "
            "raw_input_contents take no more than they are"))
        self.assertLess(peak.growth_bytes, 100 * MIB)

    def test_limits_are_told(self):
        for name, value in (("message_bytes", 64 * MIB), ("buffered_bytes", 128 * MIB),
                            ("request_field_bytes", 128 << 10),
                            ("connections", 1024), ("tensors", 64),
                            ("connection_streams", 128), ("rank", 8), ("batch_rows", 1024),
                            ("timeout_seconds", 300), ("client_region_bytes", 0)):
            self.assertEqual(self.daemon.metric("mpsd_limit", limit=name), value, name)


class UnreadAnswers(unittest.TestCase):
    WIDTH = 1 << 16  # of a row: 256 KiB
    REQUESTS = 64

    def test_a_stream_that_is_not_read_holds_so_much_and_no_more(self):
        models = [synthetic("m", [tensor("x", [self.WIDTH])], max_batch_size=1), synthetic("n")]
        limits = {"unread_copies": "4MiB"}
        messages = [calls.request("m", {"x": calls.row_of(i, self.WIDTH)}, request_id=str(i))
                    for i in range(self.REQUESTS)]
        # The client's library then reads little ahead of a client that does not read.
        options = [*calls.CHANNEL_OPTIONS, ("grpc.http2.lookahead_bytes", 64 << 10),
                   ("grpc.http2.bdp_probe", 0)]
        with Daemon(models, limits=limits) as daemon, calls.stub(daemon.address) as other, \
                grpc.insecure_channel(daemon.address, options=options) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            stream = stub.ModelStreamInfer(iter(messages), timeout=LIMIT_S)
            wait_until(lambda: daemon.metric("mpsd_requests_total", model="m") == self.REQUESTS,
                       LIMIT_S, "the end of all requests")
            held = daemon.metric("mpsd_unread_copy_bytes")
            self.assertLessEqual(held, 4 * MIB)
            self.assertGreater(held, 0)
            outcome = calls.infer(other, calls.request("n", {"x": calls.row_of(5)}))
            self.assertEqual(outcome.code, calls.OK, "others go on")
            refused = 0
            for i, answer in enumerate(stream):
                self.assertEqual(answer.infer_response.id, str(i))
                if answer.error_message:
                    self.assertIn("have not been read", answer.error_message)
                    refused += 1
                else:
                    values = calls.arrays(answer.infer_response)["OUTPUT0"]
                    self.assertTrue((values == i).all(), i)
            self.assertEqual(i + 1, self.REQUESTS)
            self.assertEqual(daemon.metric("mpsd_requests_total", code="RESOURCE_EXHAUSTED"),
                             refused)
            self.assertGreater(refused, 0)
            wait_until(lambda: daemon.metric("mpsd_unread_copy_bytes") == 0, LIMIT_S, "no copies")


    def test_those_that_never_read_do_not_keep_others_out(self):
        """Two streams that nobody reads take all the room there is for copies. A third one waits for
        the first of them to be cut, and no longer. A unary call needs no copy."""
        models = [synthetic("m", [tensor("x", [self.WIDTH])], max_batch_size=1)]
        limits = {"unread_copies": "4100KiB"}  # two clients leave less than an answer
        messages = [calls.request("m", {"x": calls.row_of(i, self.WIDTH)}) for i in range(64)]
        options = [*calls.CHANNEL_OPTIONS, ("grpc.http2.lookahead_bytes", 64 << 10),
                   ("grpc.http2.bdp_probe", 0)]
        with Daemon(models, limits=limits) as daemon, calls.stub(daemon.address) as other:
            streams = []
            for _ in range(2):
                channel = self.enterContext(grpc.insecure_channel(daemon.address, options=options))
                stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
                streams.append(stub.ModelStreamInfer(iter(messages), timeout=2 * LIMIT_S))
            wait_until(lambda: daemon.metric("mpsd_requests_total", model="m") == 2 * 64, LIMIT_S,
                       "the end of all requests")
            self.assertEqual(calls.infer(other, messages[0]).code, calls.OK)

            def error_by_stream():
                return next(other.ModelStreamInfer(iter(messages[:1]))).error_message
            self.assertIn("have not been read", error_by_stream())
            wait_until(lambda: error_by_stream() == "", LIMIT_S, "room")
            self.assertEqual(daemon.metric("mpsd_unread_connections_total"), 1)
            daemon.wait_logged('"connection_cut".*"unread answers"')
            for stream in streams:
                stream.cancel()


class Connections(unittest.TestCase):
    def connect(self, address):
        channel = grpc.insecure_channel(address, options=calls.CHANNEL_OPTIONS)
        self.addCleanup(channel.close)
        return channel

    def is_served(self, channel):
        stub = calls.service_pb2_grpc.GRPCInferenceServiceStub(channel)
        outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(1)}), limit_s=5)
        self.assertIn(outcome.code, (calls.OK, grpc.StatusCode.UNAVAILABLE))
        return outcome.code == calls.OK

    def open(self, address):
        """A connection with a call that stays open."""
        connection = self.enterContext(Connection(address))
        connection.call({}, path=WATCH)
        connection.send(message_prefix(0))
        return connection

    def idle(self, count, family, address):
        """So many connections that say nothing."""
        sockets = []
        for _ in range(count):
            one = socket.socket(family)
            self.addCleanup(one.close)
            one.settimeout(LIMIT_S)
            one.connect(address)
            sockets.append(one)
        return sockets

    def test_there_are_no_more_than_allowed(self):
        """A host has its share of them; those that have a call stay."""
        with Daemon([synthetic("m")], limits={"connections": 8}) as daemon:
            open_calls = [self.open(daemon.address) for _ in range(4)]
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 4, LIMIT_S, "the calls")
            self.assertFalse(self.is_served(self.connect(daemon.address)))
            self.assertGreater(daemon.metric("mpsd_refused_connections_total"), 0)
            self.assertEqual(daemon.metric("mpsd_displaced_connections_total"), 0)
            self.assertEqual(daemon.metric("mpsd_connections"), 4)
            open_calls.pop().close()
            wait_until(lambda: daemon.metric("mpsd_connections") == 3, LIMIT_S, "its end")
            self.assertTrue(self.is_served(self.connect(daemon.address)))
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 3, LIMIT_S, "the call's end")
            for call in open_calls:
                call.close()

    def test_one_host_that_is_idle_locks_nobody_out(self):
        """Neither itself nor others, neither over TCP nor by a Unix socket, over gRPC or HTTP."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = f"{folder}/grpc.sock"
        limits = {"connections": 64, "http_connections": 64}
        with Daemon([synthetic("m")], listen=[f"unix:{path}"], limits=limits) as daemon:
            host, port = daemon.address.rsplit(":", 1)
            http = daemon.http.rsplit(":", 1)
            of_grpc = self.idle(80, socket.AF_INET, (host, int(port)))
            of_unix = self.idle(80, socket.AF_UNIX, path)
            of_http = self.idle(80, socket.AF_INET, (http[0], int(http[1])))
            for address in (daemon.address, f"unix:{path}"):
                wait_until(lambda at=address: self.is_served(self.connect(at)), LIMIT_S, address)
            self.assertGreaterEqual(daemon.metric("mpsd_displaced_connections_total") +
                                    daemon.metric("mpsd_refused_connections_total"), 3 * (80 - 32))
            daemon.wait_logged('"connection_displaced"')
            for sockets in (of_grpc, of_unix, of_http):
                while sockets[0].recv(4096):  # the server's greeting, and then the end
                    pass

    def test_one_that_had_a_call_outlives_those_that_had_none(self):
        with Daemon([synthetic("m")], limits={"connections": 32}) as daemon:
            served = self.connect(daemon.address)
            self.assertTrue(self.is_served(served))
            host, port = daemon.address.rsplit(":", 1)
            self.idle(60, socket.AF_INET, (host, int(port)))
            # One more than those about to end is refused.
            wait_until(lambda: daemon.metric("mpsd_displaced_connections_total") +
                       daemon.metric("mpsd_refused_connections_total") >= 45, LIMIT_S,
                       "the places of those before")
            connections = daemon.metric("mpsd_connections")
            self.assertTrue(self.is_served(served))
            self.assertLessEqual(daemon.metric("mpsd_connections"), connections, "it is the same")

    def test_they_leave_the_descriptors_that_a_new_worker_needs(self):
        """Where descriptors are few: a worker that dies is replaced at its first start."""
        binaries = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = binaries / "mpsd"
        program.write_text(f'#!/bin/sh\nulimit -n 160\nexec {BIN}/mpsd "$@"\n')
        program.chmod(0o755)
        with Daemon([synthetic("m")], binaries=binaries) as daemon:
            for address in (daemon.address, daemon.http):
                host, port = address.rsplit(":", 1)
                self.idle(300, socket.AF_INET, (host, int(port)))
            os.kill(daemon.workers()[0], signal.SIGKILL)
            daemon.wait_logged('"worker_died"')
            wait_until(lambda: self.is_served(self.connect(daemon.address)), LIMIT_S, "an answer")
            self.assertNotIn("Too many open files", daemon.log())
            self.assertEqual(daemon.log().count('"event":"worker_died"'), 1)

    def test_those_that_come_and_go_are_not_added_up(self):
        with Daemon([synthetic("m")], limits={"connections": 4}) as daemon:
            for _ in range(20):
                with grpc.insecure_channel(daemon.address,
                                           options=calls.CHANNEL_OPTIONS) as channel:
                    self.assertTrue(self.is_served(channel))
                wait_until(lambda: daemon.metric("mpsd_connections") == 0, LIMIT_S, "its end")
            self.assertEqual(daemon.metric("mpsd_refused_connections_total"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
