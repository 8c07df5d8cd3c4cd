"""Just enough HTTP/2 to send a server what no gRPC client would send."""
import collections
import socket
import struct
import urllib.parse

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, PADDED, ACK = 1, 4, 8, 1
FRAME_BYTES = 16384
INFER = "/inference.GRPCInferenceService/ModelInfer"
STREAM_INFER = "/inference.GRPCInferenceService/ModelStreamInfer"


def literal(name, value):
    """A header, neither indexed nor compressed. Both parts are shorter than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Connection:
    """One connection with one call at a time. Ends with the `with` statement."""

    def __init__(self, address, limit_s=30):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), limit_s)
        self._buffer = b""
        self._window = self._initial_window = 65535
        self._stream_window = 0
        self.ended = False  # the server has ended the call, or the connection
        self.received = b""  # the data of its answers
        self.of_stream = collections.defaultdict(bytes)  # the same by stream
        self._decoder = hpack.Decoder()
        self.headers = {}  # headers and trailers that came
        self._socket.sendall(self.preface())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._socket.close()

    @classmethod
    def preface(cls):
        """What a client begins with."""
        return PREFACE + cls.frame(SETTINGS, 0, 0, b"")

    @classmethod
    def request_headers(cls, stream, headers=None, path=INFER):
        """The start of a call; `headers`: {name: value} besides those that every call has."""
        fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "test",
                  "te": "trailers", "content-type": "application/grpc", **(headers or {})}
        block = b"".join(literal(name, value) for name, value in fields.items())
        return cls.frame(HEADERS, END_HEADERS, stream, block)

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
            struct.pack(">I", stream) + payload

    def call(self, headers, path=INFER, stream=1):
        """Starts a call; `headers`: {name: value} besides those that every call has."""
        self._stream_window = self._initial_window
        self._socket.sendall(self.request_headers(stream, headers, path))

    def send(self, data, stream=1, last=False):
        """Sends what the server takes of it; False when it has ended the call before the end."""
        sent = 0
        while sent < len(data) or (last and not data):
            while not self.ended and min(self._window, self._stream_window) <= 0:
                self.take()
            if self.ended:
                return False
            step = min(FRAME_BYTES, self._window, self._stream_window, len(data) - sent)
            at_end = last and sent + step == len(data)
            try:
                self._socket.sendall(self.frame(DATA, END_STREAM if at_end else 0, stream,
                                                data[sent:sent + step]))
            except OSError:
                self.ended = True
                return False
            sent += step
            self._window -= step
            self._stream_window -= step
            self._take_what_is_there()
            if not data:
                break
        return True

    def send_frames(self, *frames):
        """Sends them as they are, without a look at how much the server takes."""
        self._socket.sendall(b"".join(frames))

    def wait_for_end(self):
        while not self.ended:
            self.take()

    def _take_what_is_there(self):
        self._socket.setblocking(False)
        try:
            while not self.ended:
                self.take()
        except BlockingIOError:
            pass
        finally:
            self._socket.setblocking(True)
            self._socket.settimeout(30)

    def _read(self, count):
        while len(self._buffer) < count:
            try:
                piece = self._socket.recv(65536)
            except BlockingIOError:
                raise
            except OSError:
                piece = b""
            if not piece:
                self.ended = True
                return False
            self._buffer += piece
        return True

    def take(self):
        """Takes one frame of the server's."""
        if not self._read(9):
            return
        length = int.from_bytes(self._buffer[:3], "big")
        if not self._read(9 + length):
            return
        kind, flags, stream = self._buffer[3], self._buffer[4], \
            int.from_bytes(self._buffer[5:9], "big") & 0x7fffffff
        payload, self._buffer = self._buffer[9:9 + length], self._buffer[9 + length:]
        if kind == SETTINGS and not flags & ACK:
            self._settings(payload)
        elif kind == PING and not flags & ACK:
            self._socket.sendall(self.frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            step = int.from_bytes(payload, "big") & 0x7fffffff
            if stream == 0:
                self._window += step
            else:
                self._stream_window += step
        elif kind == DATA:
            self.received += payload
            self.of_stream[stream] += payload
            self.ended = bool(flags & END_STREAM)
        elif kind == HEADERS:
            self.headers.update(self._decoder.decode(payload))
            self.ended = bool(flags & END_STREAM)
        elif kind in (RST_STREAM, GOAWAY):
            self.ended = True

    def status(self):
        """The code of the ended call."""
        return int(self.headers["grpc-status"])

    def status_text(self):
        """What its status says besides."""
        return urllib.parse.unquote(self.headers.get("grpc-message", ""))

    def _settings(self, payload):
        for i in range(0, len(payload), 6):
            name, value = struct.unpack(">HI", payload[i:i + 6])
            if name == 4:  # the window of a stream
                self._stream_window += value - self._initial_window
                self._initial_window = value
        self._socket.sendall(self.frame(SETTINGS, ACK, 0, b""))


def message_prefix(length, compressed=False):
    """What stands before a gRPC message."""
    return bytes([1 if compressed else 0]) + struct.pack(">I", length)
