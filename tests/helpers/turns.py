"""How much another thread runs while a call does."""

import sys
import threading


def turns_of_another(call):
    """How often a thread that only counts came to count during the call."""
    turns, done, started = 0, False, threading.Event()

    def count():
        nonlocal turns
        started.set()
        while not done:
            turns += 1

    other = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        other.start()
        started.wait()
        before = turns
        call()
        return turns - before
    finally:
        done = True
        sys.setswitchinterval(interval)
        other.join()
