"""A process that is sick but not dead."""
import contextlib
import os
import signal
import threading
import time

SLEEPS_S = 0.100
WAKES_S = 0.005


@contextlib.contextmanager
def drowsy(pid):
    """The process gets the cpu for a moment at a time."""
    ending = threading.Event()

    def pulse():
        while not ending.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(SLEEPS_S)
            os.kill(pid, signal.SIGCONT)
            time.sleep(WAKES_S)

    thread = threading.Thread(target=pulse)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
