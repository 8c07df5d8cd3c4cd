"""Clients that send a byte now and then, many of them, and finish nothing that they begin."""
import contextlib
import itertools
import selectors
import socket
import threading
import time

from raw_http2 import DATA, Connection, message_prefix

PREFACE = Connection.preface()
HEADERS_FRAME = Connection.request_headers(1)
MESSAGE_BYTES = 4096
MESSAGE = message_prefix(MESSAGE_BYTES) + b"\x0a\x7f" + bytes(MESSAGE_BYTES - 2)

# What each kind sends at once, and what it sends piece by piece.
KINDS = {
    "handshake": (b"", [bytes([byte]) for byte in PREFACE + HEADERS_FRAME]),
    "headers": (PREFACE, [bytes([byte]) for byte in HEADERS_FRAME]),
    "body": (PREFACE + HEADERS_FRAME,
             [Connection.frame(DATA, 0, 1, bytes([byte])) for byte in MESSAGE]),
}


class _One:
    def __init__(self, address, kind):
        self.socket = socket.create_connection(address, 30)
        self.kind = kind
        at_once, pieces = KINDS[kind]
        self.socket.sendall(at_once)
        self.socket.setblocking(False)
        self.pieces = iter(pieces)


class Tricklers:
    """So many connections, kind after kind, each of which sends a piece every `period_s`, as long
    as the `with` statement lasts. They read what comes and say nothing to it. With `again` one that
    the server has ended begins anew."""

    def __init__(self, address, count, period_s=1.0, kinds=tuple(KINDS), again=False):
        host, port = address.rsplit(":", 1)
        self._address = (host, int(port))
        self._count = count
        self._period_s = period_s
        self._kinds = itertools.cycle(kinds)
        self._again = again
        self._selector = selectors.DefaultSelector()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._lock = threading.Lock()
        self._open = []
        self.ended = []  # the kinds of those that the server has ended

    def __enter__(self):
        for _ in range(self._count):
            self._connect(next(self._kinds))
        self._thread.start()
        return self

    def __exit__(self, *unused):
        self._stop.set()
        self._thread.join()
        for one in self._open:
            one.socket.close()
        self._selector.close()

    def open_count(self):
        with self._lock:
            return len(self._open)

    def _connect(self, kind):
        one = _One(self._address, kind)
        self._selector.register(one.socket, selectors.EVENT_READ, one)
        with self._lock:
            self._open.append(one)

    def _run(self):
        """Each in its turn, evenly over the period."""
        turn = 0
        began = time.monotonic()
        while not self._stop.is_set():
            self._read()
            due = int((time.monotonic() - began) * self._count / self._period_s)
            with self._lock:
                now = [self._open[i % len(self._open)] for i in range(turn, due)
                       if self._open][:self._count]
            turn = due
            for one in now:
                # One whose buffer is full, or that has just ended, or has said all, says nothing.
                with contextlib.suppress(OSError, StopIteration):
                    one.socket.send(next(one.pieces))
            self._stop.wait(0.005)

    def _read(self):
        for key, _ in self._selector.select(0):
            try:
                piece = key.data.socket.recv(65536)
            except BlockingIOError:
                continue
            except OSError:
                piece = b""
            if not piece:
                self._end(key.data)

    def _end(self, one):
        self._selector.unregister(one.socket)
        one.socket.close()
        with self._lock:
            self._open.remove(one)
            self.ended.append(one.kind)
        if self._again:
            self._connect(one.kind)
