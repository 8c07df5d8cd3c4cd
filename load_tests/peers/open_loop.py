"""One request over HTTP at times drawn beforehand, by one thread. Latency counts from those times,
whenever the request went out."""

import random
import selectors
import time

from kept_connection import PATIENCE_S, Connection

MOST_CONNECTIONS = 512  # select() takes no more than 1,024 descriptors


def arrivals(rate, count, seed):
    """So many times in seconds, Poisson."""
    draw, now, times = random.Random(seed), 0.0, []
    for _ in range(count):
        now += draw.expovariate(rate)
        times.append(now)
    return times


class OpenLoop:
    """One run at one server. Used in a `with` block."""

    def __init__(self, address, request):
        self._address, self._request = address, request
        # Others round a wait up to whole milliseconds.
        self._selector = selectors.SelectSelector()
        self._idle = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()

    def run(self, times):
        """The latencies in seconds of a request at each of these times."""
        latencies, sent, begin = [], 0, time.perf_counter()
        while len(latencies) < len(times):
            now = time.perf_counter() - begin
            while sent < len(times) and times[sent] <= now:
                connection = self._free_connection()
                if connection is None:
                    break
                connection.send(sent, self._request)
                sent += 1
            # Where all connections are busy, only an answer can help.
            next_due = sent < len(times) and times[sent] > now
            wait = times[sent] - (time.perf_counter() - begin) if next_due else PATIENCE_S
            events = self._selector.select(max(wait, 0))
            if not events and not next_due:
                raise RuntimeError(f"no answer for {PATIENCE_S} s")
            latencies += [time.perf_counter() - begin - times[index]
                          for index in self._take(key.data for key, _ in events)]
        return latencies

    def _free_connection(self):
        """An idle connection or a new one; None where there are enough."""
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
        """Which requests these connections have had an answer to."""
        for connection in connections:
            if connection in self._idle:  # its server has had enough of it
                self._idle.remove(connection)
                self._drop(connection)
            elif connection.receive() is not None:
                self._idle.append(connection)
                yield connection.index

    def _drop(self, connection):
        """A connection that its server has closed."""
        self._selector.unregister(connection.socket)
        connection.socket.close()
