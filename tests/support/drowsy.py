"""A process that is sick but not dead."""
import os
import signal
import time

from threads import Threads

SLEEPS_S = 0.100
WAKES_S = 0.005


def drowsy(pid):
    """As long as the `with` statement lasts, the process gets the cpu for a moment at a time."""
    def pulse():
        while not threads.over.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(SLEEPS_S)
            os.kill(pid, signal.SIGCONT)
            time.sleep(WAKES_S)

    threads = Threads(pulse)
    return threads
