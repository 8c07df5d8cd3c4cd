"""Sends one HTTP request again and again at times drawn beforehand, by one thread. Latency counts
from those times, whenever the request went out."""

import random
import selectors
import time

from kept_connection import PATIENCE_S, Connection

MOST_CONNECTIONS = 512  # select() takes no more than 1,024 descriptors


def arrivals(rate, count, seed):
    """`count` Poisson times, in seconds."""
    draw, now, times = random.Random(seed), 0.0, []
    for _ in range(count):
        now += draw.expovariate(rate)
        times.append(now)
    return times


class OpenLoop:
    """One run at one server. Used in a `with` block."""

    def __init__(self, address, request):
        self._address, self._request = address, request
        # Other selectors round a wait up to whole milliseconds.
        self._selector = selectors.SelectSelector()
        self._idle = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()

    def run(self, times):
        """The latencies in seconds of requests at these times."""
        latencies, sent, begin = [], 0, time.perf_counter()
        while len(latencies) < len(times):
            now = time.perf_counter() - begin
            while sent < len(times) and times[sent] <= now:
                connection = self._free_connection()
                if connection is None:
                    break
                connection.send(sent, self._request)
                sent += 1
            # If all connections are busy, only an answer can help.
            next_due = sent < len(times) and times[sent] > now
            wait = times[sent] - (time.perf_counter() - begin) if next_due else PATIENCE_S
            events = self._selector.select(max(wait, 0))
            if not events and not next_due:
                raise RuntimeError(f"no answer for {PATIENCE_S} s")
            latencies += [time.perf_counter() - begin - times[index]
                          for index in self._take(key.data for key, _ in events)]
        return latencies

    def _free_connection(self):
        """An idle connection or a new one; None if there are enough."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
            self._drop(connection)
        if len(self._selector.get_map()) == MOST_CONNECTIONS:
            return None
        connection = Connection(self._address)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def _take(self, connections):
        """Takes the answers on these connections; returns the answered requests."""
        for connection in connections:
            if connection in self._idle:  # the server closes it
                self._idle.remove(connection)
                self._drop(connection)
            elif connection.receive() is not None:
                self._idle.append(connection)
                yield connection.index

    def _drop(self, connection):
        """Drops a connection that its server has closed."""
        self._selector.unregister(connection.socket)
        connection.socket.close()
