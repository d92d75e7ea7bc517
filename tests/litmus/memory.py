"""memory.py - what a few threads may see of a few words, by the axioms of a memory model.

A program is a list of threads, a thread a list of steps:

    W(word, value, order)              a store
    R(word, name, order)               a load, into a name of the thread's own
    U(word, change, name, order)       read-modify-write: name gets the old value, change makes the
                                       new one of it, or None for "stays" (a failed exchange: a load)
    F()                                a sequentially consistent fence
    A(word), X(word)                   a plain load or store of memory that is not atomic
    If(test, [steps])                  test of the thread's names

Each candidate execution (which store every load reads from, in which order stores reach a word) is
built and judged: c11 are the axioms of RC11 (Lahav and others, Repairing Sequential Consistency in
C/C++11, PLDI 2017), x86 those of total store order, where a locked instruction and an mfence order
all.  Names are those of litmus tests: rf, mo, fr, hb, psc.  Knows nothing of the filter."""

import itertools
from dataclasses import dataclass
from typing import Any

RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC = "rlx", "acq", "rel", "acq_rel", "sc"
ACQUIRES, RELEASES = {ACQUIRE, ACQ_REL, SC}, {RELEASE, ACQ_REL, SC}


@dataclass
class Step:
    kind: str
    word: str = ""
    value: Any = None
    name: str = ""
    order: str = RELAXED
    steps: tuple = ()


def W(word, value, order=RELAXED):
    return Step("W", word, value, order=order)


def R(word, name, order=RELAXED):
    return Step("R", word, name=name, order=order)


def U(word, change, name, order=RELAXED):
    return Step("U", word, change, name, order)


def F():
    return Step("F", order=SC)


def A(word):
    return Step("A", word, order="plain")


def X(word):
    return Step("X", word, order="plain")


def If(test, steps):
    return Step("If", value=test, steps=tuple(steps))


@dataclass(eq=False)
class Event:
    thread: int
    step: Step
    reads: Any = None
    writes: Any = None

    @property
    def loads(self):
        return self.step.kind in "RUA"

    @property
    def stores(self):
        return self.writes is not None


def values_of(program):
    """Every value that a word may have, found by running threads on what others may have stored."""
    values = {}
    for thread in program:
        for step in walk(thread):
            if step.word:
                values.setdefault(step.word, {0})
    while True:
        before = {word: set(all_of) for word, all_of in values.items()}
        for thread in program:
            for events, _ in runs(thread, 0, before):
                for event in events:
                    if event.stores:
                        values[event.step.word].add(event.writes)
        if values == before:
            return values


def walk(steps):
    for step in steps:
        yield step
        yield from walk(step.steps)


def runs(steps, thread, values, names=None):
    """(events, names) of a thread alone, for every value that its loads may get."""
    names = dict(names or {})
    if not steps:
        yield [], names
        return
    step, rest = steps[0], steps[1:]
    if step.kind == "If":
        yield from runs([*(step.steps if step.value(names) else ()), *rest], thread, values, names)
        return
    for value in sorted(values[step.word]) if step.kind in "RU" else [None]:
        event = Event(thread, step, reads=value)
        if step.kind in "WX":
            event.writes = step.value(names) if callable(step.value) else step.value
            event.writes = 1 if step.kind == "X" else event.writes
        elif step.kind == "U":
            event.writes = step.value(value)
        for events, after in runs(rest, thread, values, {**names, step.name: value}):
            yield [event, *events], after


def closure(pairs):
    after = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
    reached = {}
    for start in after:
        seen, todo = set(), [start]
        while todo:
            for b in after.get(todo.pop(), ()):
                if b not in seen:
                    seen.add(b)
                    todo.append(b)
        reached[start] = seen
    return {(a, b) for a, all_of in reached.items() for b in all_of}


def then(one, other):
    by = {}
    for a, b in other:
        by.setdefault(a, []).append(b)
    return {(a, c) for a, b in one for c in by.get(b, ())}


def acyclic(pairs):
    return all(a is not b for a, b in closure(pairs))


@dataclass
class Execution:
    events: list
    sb: set
    rf: set  # (store, load)
    mo: set
    names: list
    final: dict

    @property
    def fr(self):
        return {(r, w) for r, w in then({(b, a) for a, b in self.rf}, self.mo) if r is not w}


def executions(program):
    values = values_of(program)
    each = [list(runs(thread, n, values)) for n, thread in enumerate(program)]
    for chosen in itertools.product(*each):
        threads = [events for events, _ in chosen]
        yield from of_events(threads, [names for _, names in chosen], values)


def of_events(threads, names, values):
    first = {word: Event(-1, Step("W", word), writes=0) for word in values}
    events = [*first.values(), *itertools.chain(*threads)]
    sb = {(a, b) for thread in threads for a, b in itertools.combinations(thread, 2)}
    sb |= {(a, b) for a in first.values() for thread in threads for b in thread}
    atomic = [e for e in events if e.step.order != "plain"]
    sources = [
        (load, [e for e in atomic if e.stores and e.step.word == load.step.word and e.writes == load.reads and e is not load])
        for load in atomic
        if load.loads
    ]  # fmt: skip
    orders = [
        [(first[word], *rest) for rest in itertools.permutations(
            [e for e in atomic if e.stores and e.step.word == word and e.thread >= 0])]
        for word in values
    ]  # fmt: skip
    for found in itertools.product(*[from_ for _, from_ in sources]):
        rf = {(store, load) for store, (load, _) in zip(found, sources)}
        for order in itertools.product(*orders):
            mo = {pair for one in order for pair in itertools.combinations(one, 2)}
            if all(at_once(store, load, one) for store, load in rf for one in order):
                final = {one[0].step.word: one[-1].writes for one in order}
                yield Execution(events, sb, rf, mo, names, final)


def at_once(store, load, order):
    """A read-modify-write stands in a word's order right after what it read."""
    if not load.stores or load not in order:
        return True
    return store in order and order.index(load) == order.index(store) + 1


# ---- C11, as RC11 has it ----
def synchronizes(x):
    """Release to acquire, by way of fences and of read-modify-writes in between."""
    sequence = {(e, e) for e in x.events if e.stores}
    updates = {(a, b) for a, b in x.rf if b.stores}
    sequence |= closure(updates)
    heads = {(e, e) for e in x.events if e.stores and e.step.order in RELEASES}
    heads |= {
        (f, e) for f, e in x.sb if f.step.kind == "F" and e.stores and e.step.order != "plain"
    }
    read = then(then(heads, sequence), x.rf)
    tails = {(e, e) for e in x.events if e.loads and e.step.order in ACQUIRES}
    tails |= {(e, f) for e, f in x.sb if f.step.kind == "F" and e.loads and e.step.order != "plain"}
    return then(read, tails)


def happens_before(x):
    return closure(x.sb | synchronizes(x))


def psc(x, hb):
    """The order that sequentially consistent accesses and fences must have."""
    eco = closure(x.rf | x.mo | x.fr)
    apart = {(a, b) for a, b in x.sb if a.step.word != b.step.word}
    here = {(a, b) for a, b in hb if a.step.word == b.step.word and a.step.word}
    scb = x.sb | then(then(apart, hb), apart) | here | x.mo | x.fr
    fences = {e for e in x.events if e.step.kind == "F"}
    accesses = {e for e in x.events if e.step.order == SC and e not in fences}
    left = {(e, e) for e in accesses | fences} | {(f, e) for f, e in hb if f in fences}
    right = {(e, e) for e in accesses | fences} | {(e, f) for e, f in hb if f in fences}
    base = then(then(left, scb), right)
    between = hb | then(then(hb, eco), hb)
    return base | {(a, b) for a, b in between if a in fences and b in fences}


def c11(x):
    hb = happens_before(x)
    eco = closure(x.rf | x.mo | x.fr)
    coherent = all(a is not b for a, b in hb) and all((b, a) not in hb for a, b in eco)
    return coherent and acyclic(x.sb | x.rf) and acyclic(psc(x, hb))


def races(x):
    """Plain accesses of one word by two threads, one of them a store, in no order."""
    hb = happens_before(x)
    plain = [e for e in x.events if e.step.order == "plain"]
    return any(
        a.step.word == b.step.word and a.thread != b.thread and "X" in a.step.kind + b.step.kind
        and (a, b) not in hb and (b, a) not in hb
        for a, b in itertools.combinations(plain, 2)
    )  # fmt: skip


# ---- x86 ----
def x86(x):
    """A store may wait in its processor's buffer while later loads are done; nothing else moves."""

    def drains(e):
        return e.step.kind in "FU" and (e.step.kind == "F" or e.stores)

    def is_store(e):
        return e.step.kind in "WX" and e.step.order != SC  # an SC store is an xchg

    kept = {
        (a, b)
        for a, b in x.sb
        if a.thread < 0 or not (is_store(a) and b.loads and not drains(b))
    }  # fmt: skip
    for a, b in x.sb:  # what drains the buffer between them orders them, too
        if any(
            (a, m) in x.sb
            and (m, b) in x.sb
            and (drains(m) or (m.step.kind == "W" and m.step.order == SC))
            for m in x.events
        ):
            kept.add((a, b))
    outside = {(a, b) for a, b in x.rf if a.thread != b.thread}
    here = {(a, b) for a, b in x.sb if a.step.word == b.step.word and a.step.word}
    return acyclic(kept | outside | x.mo | x.fr) and acyclic(here | x.rf | x.mo | x.fr)


def allowed(program, seen, model=c11):
    """Is there an execution that the model allows, of which seen(names, final) is true?"""
    return any(seen(x.names, x.final) and model(x) for x in executions(program))


def racy(program):
    return any(c11(x) and races(x) for x in executions(program))
