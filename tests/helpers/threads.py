"""Jobs that run at the same time, for the tests of threads."""

import concurrent.futures
import sys
import threading


def in_threads(*jobs, seconds=900):
    """Each in a thread of its own, which start together and change places every 10 us; what one
    raises is raised.  Only a deadlock takes so many seconds."""
    faults, ready = [], threading.Barrier(len(jobs))

    def guard(job):
        try:
            ready.wait(seconds)
            job()
        except BaseException as e:
            faults.append(e)

    threads = [threading.Thread(target=guard, args=(job,), daemon=True) for job in jobs]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    if faults:
        raise faults[0]


def in_background(call, *args):
    """A future of what it returns."""
    pool = concurrent.futures.ThreadPoolExecutor(1)
    try:
        return pool.submit(call, *args)
    finally:
        pool.shutdown(wait=False)
