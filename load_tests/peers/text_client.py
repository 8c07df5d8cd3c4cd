"""A cheap client of /v1/embeddings: one thread, requests encoded beforehand."""

import json
import resource
import selectors
import time

from kept_connection import PATIENCE_S, Connection
from text_loads import Report

MODEL = "minilm"


def encode_request(address, texts):
    """A whole HTTP request, for one text or several."""
    body = json.dumps({"model": MODEL, "input": texts[0] if len(texts) == 1 else texts}).encode()
    return (f"POST /v1/embeddings HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def vectors_of(body):
    """The vectors of OpenAI's list, in the order of the texts."""
    entries = sorted(json.loads(body)["data"], key=lambda entry: entry["index"])
    return [entry["embedding"] for entry in entries]


class Clients:
    """Connections to one server in a closed loop. Used in a `with` block."""

    def __init__(self, address, count):
        self._connections = [Connection(address) for _ in range(count)]
        self._selector = selectors.DefaultSelector()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._selector.close()
        for connection in self._connections:
            connection.socket.close()

    def run(self, requests, seconds):
        """Sends all requests, again and again until `seconds` have passed. Returns the latencies
        and the last answer to each. Makes only whole passes, so that each server computes the
        same."""
        latencies, bodies, sent = [], [b""] * len(requests), 0
        begin = time.perf_counter()

        def send_next(connection):
            """Sends the next request; false if there is none."""
            nonlocal sent
            if sent and sent % len(requests) == 0 and time.perf_counter() - begin >= seconds:
                return False
            connection.send(sent % len(requests), requests[sent % len(requests)])
            sent += 1
            return True

        for connection in self._connections:
            if send_next(connection):
                self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        while self._selector.get_map():
            events = self._selector.select(PATIENCE_S)
            if not events:
                raise RuntimeError(f"no answer for {PATIENCE_S} s")
            for key, _ in events:
                connection = key.data
                body = connection.receive()
                if body is None:
                    continue
                latencies.append(time.perf_counter() - connection.begin)
                bodies[connection.index] = body
                if not send_next(connection):  # a server may close an idle connection
                    self._selector.unregister(connection.socket)
        return latencies, bodies


def cpu_seconds():
    """The processor time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(address, load, seconds):
    """A load's report. One request before the load wakes the server up."""
    requests = [encode_request(address, texts) for texts in load.requests()]
    with Clients(address, 1) as clients:
        clients.run(requests[:1], 0)
    with Clients(address, load.clients) as clients:
        used, begin = cpu_seconds(), time.perf_counter()
        latencies, _ = clients.run(requests, seconds)
        passed = time.perf_counter() - begin
        used = cpu_seconds() - used
    return Report(len(latencies) * load.texts_a_request, passed, latencies, used)


def ask(address, load):
    """The vectors of a load's texts, asked for in the load's way."""
    requests = [encode_request(address, texts) for texts in load.requests()]
    with Clients(address, load.clients) as clients:
        _, bodies = clients.run(requests, 0)
    return [vector for body in bodies for vector in vectors_of(body)]
