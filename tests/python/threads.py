"""Jobs that run at the same time, for the tests of threads."""

import sys
import threading


def in_threads(*jobs):
    """Each in a thread of its own, with a change of threads every 10 us; what any of them raises is a failure."""
    faults = []

    def guard(job):
        try:
            job()
        except BaseException as e:
            faults.append(e)

    threads = [threading.Thread(target=guard, args=(job,)) for job in jobs]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not faults
