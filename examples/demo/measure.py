"""measure.py - the demo's Python side: one measurement a process, as lines "name value".
measure.php is its twin.

measure.py filter-memory STREAM N P        resident bytes that a filter of all lines takes
measure.py set-memory STREAM               the same of a set
measure.py run STREAM WORDS N P FILE       answers, rates, times; saves the filter
measure.py open FILE STREAM                loads a filter somebody else saved, looks for every line
"""

import hashlib
import sys
from time import perf_counter_ns

from bloomfilter import BloomFilter

BATCH = 4096
ROUNDS = 40  # keys never added: so many for each word


def lines_of(path):
    with open(path, "rb") as file:
        for line in file:
            yield line[:-1].decode()


def batches_of(path):
    batch = []
    for line in lines_of(path):
        batch.append(line)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def say(name, value):
    print(name, value)


def resident():
    """Bytes of memory of its own: pages of program files, which others share, do not count."""
    with open("/proc/self/smaps_rollup") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def memory(stream, make, result):
    """What is resident after all lines went in, less what reading them leaves."""
    for batch in batches_of(stream):
        len(batch)
    before = resident()
    take_in = make()
    for batch in batches_of(stream):
        take_in(batch)
    say(result, resident() - before)


def answers(stream, n, p):
    """Against the exact answer: a set."""
    seen, exact = BloomFilter(n=n, p=p), set()
    told = lost = again = 0
    for line in lines_of(stream):
        is_new = line not in exact
        exact.add(line)
        said_new = seen.add(line)
        told += said_new
        lost += is_new and not said_new
        again += said_new and not is_new
    say("new_exact", len(exact))
    say("new_filter", told)
    say("lost", lost)
    say("again", again)
    return seen


def false_positives(seen, words):
    told = asked = 0
    for i in range(ROUNDS):
        for batch in batches_of(words):
            told += sum(
                seen.contains_many(
                    [f"https://never-added.example.net/{i}/{word}" for word in batch]
                )
            )
            asked += len(batch)
    say("absent_asked", asked)
    say("absent_told", told)


def timed(name, count, work):
    best = min(timed_once(work) for _ in range(3))
    say(name, best / count)


def timed_once(work):
    start = perf_counter_ns()
    work()
    return perf_counter_ns() - start


def add_each(add, lines):
    for line in lines:
        add(line)


def times(stream, n, p):
    lines = list(lines_of(stream))
    timed("ns_add", len(lines), lambda: add_each(BloomFilter(n=n, p=p).add, lines))
    timed("ns_batch", len(lines), lambda: BloomFilter(n=n, p=p).update(lines))
    timed("ns_exact", len(lines), lambda: add_each(set().add, lines))
    say("lines", len(lines))


def run(stream, words, n, p, path):
    seen = answers(stream, int(n), float(p))
    false_positives(seen, words)
    times(stream, int(n), float(p))
    seen.save(path)
    say("scheme", seen.scheme)
    say("bits_a_key", seen.m / seen.n)
    say("sha256", hashlib.sha256(seen.to_bytes()).hexdigest())


def open_other(path, stream):
    seen = BloomFilter.load(path)
    say("found", sum(sum(seen.contains_many(batch)) for batch in batches_of(stream)))
    say("sha256", hashlib.sha256(seen.to_bytes()).hexdigest())


def main(what, *args):
    if what == "filter-memory":
        stream, n, p = args
        memory(stream, lambda: BloomFilter(n=int(n), p=float(p)).update, "filter_bytes")
    elif what == "set-memory":
        memory(args[0], lambda: set().update, "exact_bytes")
    elif what == "run":
        run(*args)
    else:
        open_other(*args)


main(*sys.argv[1:])
