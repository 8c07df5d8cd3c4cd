"""Threads that run as long as a `with` statement."""
import threading


class Threads:
    """`with Threads(f, g) as threads:` f and g run, each on a thread, until `threads.over` is set at the end."""

    def __init__(self, *targets):
        self.over = threading.Event()
        self._threads = [threading.Thread(target=target, daemon=True) for target in targets]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self._threads:
            thread.join()
