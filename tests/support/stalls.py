"""Gaps in what a test saw, without the time in which the test itself did not run."""
import threading
import time

TICK_S = 0.01


class StallWatch:
    """`with StallWatch() as watch:` a thread that wants to run every 10 ms notes when it could not.

    What stops it (a busy host, one that slept, this process) also stops the test's own callers.
    """

    def __init__(self):
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.stalls = []  # (from, to), by time.monotonic()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *unused):
        self._ending.set()
        self._thread.join()

    def _run(self):
        last = time.monotonic()
        while not self._ending.wait(TICK_S):
            now = time.monotonic()
            if now - last > 2 * TICK_S:
                self.stalls.append((last + TICK_S, now))
            last = now


def longest_gap_s(stamps, stalls):
    """The longest time between two stamps that follow each other, less the stalls inside it."""
    def running_s(first, last):
        return last - first - sum(max(0.0, min(last, to) - max(first, since))
                                  for since, to in stalls)
    return max(map(running_s, stamps, stamps[1:]))
