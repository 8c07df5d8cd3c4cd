"""The bounds that keep one client from taking what belongs to all."""
import threading
import time
import unittest
import zlib

import grpc

import calls
from daemon import Daemon, wait_until
from models import synthetic
from raw_http2 import Connection, message_prefix

INVALID = grpc.StatusCode.INVALID_ARGUMENT
MIB = 1 << 20
MOST_GROWTH_BYTES = 200 * MIB
LIMIT_S = 30


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


def bomb_of(inflated_bytes):
    """A gzip member of so many zeros."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    piece = bytes(MIB)
    return b"".join(deflate.compress(piece) for _ in range(inflated_bytes // MIB)) + \
        deflate.flush()


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([synthetic("m")]))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def tearDown(self):
        outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(5)}))
        self.assertEqual(outcome.code, calls.OK, "a good request after it")

    def test_a_gzip_bomb(self):
        bomb = bomb_of(1 << 30)
        self.assertLess(len(bomb), 2 * MIB)
        with Peak(self.daemon) as peak, Connection(self.daemon.address) as connection:
            connection.call({"grpc-encoding": "gzip"})
            connection.send(message_prefix(len(bomb), compressed=True) + bomb, last=True)
            connection.wait_for_end()
        print(f"  a bomb of {len(bomb) >> 10} KiB: {peak.growth_bytes >> 20} MiB", flush=True)
        self.assertLess(peak.growth_bytes, MOST_GROWTH_BYTES)

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
            time.sleep(0.1)  # gRPC counts in milliseconds: it ends some time after it was to end
            connection.send(message_prefix(len(message)) + message, last=True)
            connection.wait_for_end()
        wait_until(lambda: self.daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "its end")
        self.assertEqual(self.daemon.metric("mpsd_batches_total"), before)

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
            self.assertEqual(outcome.code, grpc.StatusCode.NOT_FOUND)

    def test_limits_are_told(self):
        for name, value in (("message_bytes", 64 * MIB), ("buffered_bytes", 128 * MIB),
                            ("connections", 1024), ("tensors", 64),
                            ("connection_streams", 128), ("rank", 8), ("batch_rows", 1024),
                            ("timeout_seconds", 300), ("client_region_bytes", 0)):
            self.assertEqual(self.daemon.metric("mpsd_limit", limit=name), value, name)


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

    def test_there_are_no_more_than_allowed(self):
        with Daemon([synthetic("m")], limits={"connections": 4}) as daemon:
            channels = [self.connect(daemon.address) for _ in range(4)]
            for channel in channels:
                self.assertTrue(self.is_served(channel))
            self.assertEqual(daemon.metric("mpsd_connections"), 4)
            self.assertFalse(self.is_served(self.connect(daemon.address)))
            self.assertGreater(daemon.metric("mpsd_refused_connections_total"), 0)
            self.assertEqual(daemon.metric("mpsd_connections"), 4)
            for channel in channels:
                self.assertTrue(self.is_served(channel), "those that are open stay")
            channels.pop().close()
            wait_until(lambda: daemon.metric("mpsd_connections") == 3, LIMIT_S, "its end")
            self.assertTrue(self.is_served(self.connect(daemon.address)))

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
