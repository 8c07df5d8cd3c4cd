"""Clients that flood: each connection is cut, and others are served."""
import concurrent.futures
import socket
import ssl
import struct
import tempfile
import time
import unittest

import calls
from certificates import Authority
from daemon import KEEP_LITTLE, Daemon, wait_until
from models import synthetic
from raw_http2 import DATA, HEADERS, PING, RST_STREAM, SETTINGS, STREAM_INFER, WINDOW_UPDATE, \
    Connection

PRIORITY, CONTINUATION, UNKNOWN = 2, 9, 77
WATCH = "/grpc.health.v1.Health/Watch"
MIB = 1 << 20
LIMIT_S = 60
# Memory of a flood until it is cut.
MOST_GROWTH = 20 * MIB
# Enough that even a slow daemon under a sanitizer exceeds it.
FEW_RESETS = {"resets": 1000}
TLS_CLIENTS = 4


def resets(first_stream, count=1000, path=WATCH):
    """Calls that are cancelled as soon as they are there."""
    return b"".join(
        Connection.request_headers(stream, path=path) +
        Connection.frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
        for stream in range(first_stream, first_stream + 2 * count, 2))


def same(frame):
    """That frame again and again."""
    block = frame * (MIB // len(frame))
    while True:
        yield block


def rapid_reset(path=WATCH):
    stream = 1
    while True:
        yield resets(stream, path=path)
        stream += 2000


def late_reset():
    """Calls that are cancelled when they have been open for a while, and others have begun."""
    ahead = range(1, 1)
    for first in range(1, 1 << 31, 100):
        streams = range(first, first + 100, 2)
        yield b"".join([Connection.request_headers(stream, path=WATCH) for stream in streams] +
                       [Connection.frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
                        for stream in ahead])
        time.sleep(0.01)
        ahead = streams


def endless_headers():
    """One call whose headers do not end."""
    field = b"\0\x04name\x7f\x80\x01" + b"x" * 255
    yield Connection.frame(HEADERS, 0, 1, Connection.request_headers(1)[9:])
    yield from same(Connection.frame(CONTINUATION, 0, 1, field * 60))


def made_reset():
    """Calls that the server has to cancel itself: their windows become too large."""
    for first in range(1, 1 << 31, 1000):
        yield b"".join(
            Connection.request_headers(stream, path=WATCH) +
            Connection.frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 0x7fffffff))
            for stream in range(first, first + 1000, 2))


def endless_block(payload):
    """One call whose headers do not end, by frames with that payload."""
    yield Connection.frame(HEADERS, 0, 1, Connection.request_headers(1)[9:])
    yield from same(Connection.frame(CONTINUATION, 0, 1, payload))


def dribble():
    """Answers that the server may send byte by byte only."""
    yield Connection.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    streams = range(1, 101, 2)
    yield b"".join(
        Connection.request_headers(stream, {":method": "GET", "content-type": "text/plain"},
                                   "/metrics") for stream in streams)
    yield from same(b"".join(Connection.frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1))
                             for stream in streams))


def floods():
    """Each kind, from its beginning."""
    return {
        "PRIORITY": same(Connection.frame(PRIORITY, 0, 3, bytes(5))),
        "PING": same(Connection.frame(PING, 1, 0, bytes(8))),
        "SETTINGS": same(Connection.frame(SETTINGS, 1, 0, b"")),
        "WINDOW_UPDATE": same(Connection.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
        "no known kind": same(Connection.frame(UNKNOWN, 0, 0, b"")),
        "DATA without bytes": same(Connection.frame(DATA, 0, 1, b"")),
        "rapid reset": rapid_reset(),
        "rapid reset of streams": rapid_reset(STREAM_INFER),
        "late reset": late_reset(),
        "endless headers": endless_headers(),
        "PING that asks": same(Connection.frame(PING, 0, 0, bytes(8))),
        "SETTINGS that asks": same(Connection.frame(SETTINGS, 0, 0, b"")),
        "made reset": made_reset(),
        "CONTINUATION without bytes": endless_block(b""),
        "headers without a name": endless_block(b"\0\0\0" * 100),
        "dribble": dribble(),
    }


def send_all(sender, blocks, most_bytes, limit_s):
    """How many bytes of the blocks the server took, each of them as soon as it is there."""
    sender.settimeout(LIMIT_S)
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sender.sendall(Connection.preface())
    until = time.monotonic() + limit_s
    sent = 0
    try:
        for block in blocks:
            if sent >= most_bytes or time.monotonic() > until:
                break
            sender.sendall(block)
            sent += len(block)
    except OSError:
        pass
    return sent


def is_closed(sender):
    """Whether the server ends the connection; takes what it has sent before."""
    try:
        while sender.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def connector(address):
    """Makes connections to the address."""
    host, port = address.rsplit(":", 1)
    return lambda: socket.create_connection((host, int(port)), LIMIT_S)


class Floods(unittest.TestCase):
    def resident(self, daemon):
        return daemon.metric("process_resident_memory_bytes")

    def check(self, daemon, connect):
        """Of each kind: the server cuts it by itself, after little, and keeps little of it. Some
        kinds end the connection before they are a flood, and are not counted."""
        with calls.stub(daemon.address) as stub:
            message = calls.request("m", {"x": calls.row_of(1)})
            self.assertEqual(calls.infer(stub, message).code, calls.OK)
            before = self.resident(daemon)
            for name, blocks in floods().items():
                with self.subTest(name), connect() as sender:
                    send_all(sender, blocks, 256 * MIB, 20)
                    self.assertTrue(is_closed(sender))
                    self.assertEqual(calls.infer(stub, message).code, calls.OK)
                    self.assertLess(self.resident(daemon) - before, MOST_GROWTH)
            daemon.wait_logged('"connection_cut".*"resets"')

    def test_a_flood_is_cut_and_others_are_served(self):
        daemon = self.enterContext(
            Daemon([synthetic("m")], limits=FEW_RESETS, environment=KEEP_LITTLE))
        self.check(daemon, connector(daemon.address))

    def test_a_flood_over_tls_is_cut_and_others_are_served(self):
        daemon, connect = self.serve_tls(limits=FEW_RESETS)
        self.check(daemon, connect)

    def test_a_client_that_cancels_much_is_not_cut(self):
        """Two hundred cancelled calls at once: as of a client whose deadlines pass."""
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            with connector(daemon.address)() as sender:
                send_all(sender, [resets(1, 200)], MIB, 20)
                sender.sendall(Connection.frame(PING, 0, 0, b"are here"))
                seen = b""
                while b"are here" not in seen:
                    piece = sender.recv(65536)
                    self.assertTrue(piece, "it was cut")
                    seen += piece
            self.assertEqual(daemon.metric("mpsd_flooding_connections_total"), 0)
            self.assertEqual(
                calls.infer(stub, calls.request("m", {"x": calls.row_of(1)})).code, calls.OK)

    def serve_tls(self, **config):
        """A daemon, and what makes a connection over TLS to it."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        authority = Authority(folder, "authority")
        certificate, key = authority.issue("mpsd")
        listen = {"tls": {"grpc": ["127.0.0.1:0"], "certificate": str(certificate),
                          "key": str(key)}}
        daemon = self.enterContext(Daemon([synthetic("m")], listen_more=listen,
                                          environment=KEEP_LITTLE, **config))
        context = ssl.create_default_context(cafile=str(authority.pem))
        context.set_alpn_protocols(["h2"])
        host, port = daemon.listeners[-1].split()[0].rsplit(":", 1)

        def connect():
            plain = socket.create_connection((host, int(port)), LIMIT_S)
            return context.wrap_socket(plain, server_hostname="localhost")
        return daemon, connect

    def test_cancelled_calls_of_several_clients_over_tls(self):
        """From several clients at once: each is cut, little is kept of what they have sent, and
        calls of others end meanwhile."""
        daemon, connect = self.serve_tls(limits=FEW_RESETS)
        with calls.stub(daemon.address) as stub, calls.Load(daemon.address, "m", 1) as load:
            message = calls.request("m", {"x": calls.row_of(1)})
            self.assertEqual(calls.infer(stub, message).code, calls.OK)
            before = self.resident(daemon)

            def flood(sender):
                with sender:
                    send_all(sender, rapid_reset(), 64 * MIB, 20)
                    self.assertTrue(is_closed(sender))
            with concurrent.futures.ThreadPoolExecutor(TLS_CLIENTS) as pool:
                floods = [pool.submit(flood, connect()) for _ in range(TLS_CLIENTS)]
                answered = load.answered()
                wait_until(lambda: load.answered() > answered, LIMIT_S, "an answer to others")
                for one in floods:
                    one.result()
            wait_until(lambda: daemon.metric("mpsd_flooding_connections_total") == TLS_CLIENTS,
                       LIMIT_S, "their count")
            self.assertLess(self.resident(daemon) - before, MOST_GROWTH)
            daemon.wait_logged('"connection_cut".*"resets"')


if __name__ == "__main__":
    unittest.main(verbosity=2)
