"""Gaps in what a test saw, without the time in which the test itself did not run."""
import time

from threads import Threads

TICK_S = 0.01


class StallWatch(Threads):
    """`with StallWatch() as watch:` a thread that wants to run every 10 ms notes when it could not.

    What stops it (a busy host, one that slept, this process) also stops the test's own callers.
    """

    def __init__(self):
        super().__init__(self._run)
        self.stalls = []  # (from, to), by time.monotonic()

    def _run(self):
        last = time.monotonic()
        while not self.over.wait(TICK_S):
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
