"""A kept HTTP connection with at most one request inside; for clients of one thread."""

import re
import select
import socket
import time

PATIENCE_S = 60  # longest wait for an answer on any connection


def answer_body(data):
    """The body of an answer that has come whole, else None. Any status but 200 is an error."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head, rest = data[:end].lower(), data[end + 4:]
    length = re.search(rb"\r\ncontent-length: *(\d+)", head)
    if length:
        body = bytes(rest[:int(length[1])])
        whole, spare = len(body) == int(length[1]), len(rest) > int(length[1])
    elif b"\r\ntransfer-encoding: chunked" in head:
        body, size = joined_chunks(rest)
        whole, spare = size > 0, size and len(rest) > size
    else:
        raise RuntimeError(f"an answer without a length: {bytes(data[:200])}")
    if not whole:
        return None
    if data.split(b" ", 2)[1] != b"200" or spare:
        raise RuntimeError(f"a wrong answer: {bytes(data[:400])}")
    return body


def joined_chunks(data):
    """A chunked body and where it ends; 0 if more has to come."""
    body, begin = b"", 0
    while (end := data.find(b"\r\n", begin)) >= 0:
        size = int(data[begin:end], 16)
        begin = end + 2 + size + 2
        if len(data) < begin:
            break
        if size == 0:
            return body, begin
        body += data[end + 2:end + 2 + size]
    return b"", 0


class Connection:
    """A kept connection with at most one request inside."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.index = self.begin = 0
        self._data = bytearray()

    def send(self, index, request):
        """Sends a whole request; `index` is its place among several."""
        self._data = bytearray()
        self.index = index
        self.begin = time.perf_counter()
        self.socket.sendall(request)

    def is_closed(self):
        """Whether the server has closed the idle connection: nothing else can come."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def receive(self):
        """Takes the bytes that have come. Returns the answer's body once it is whole."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise RuntimeError(f"the server closed a connection after {bytes(self._data[:200])}")
        self._data += piece
        return answer_body(self._data)
