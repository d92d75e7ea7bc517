"""What the core promises of memory that reorders: each promise as a program of a few steps, judged
by memory.py under C11 (RC11) and under x86's total store order.

LINES are the lines of the core that the steps stand for: who changes the order of one finds its
name here.  Each promise has its weaker twins: without this fence, or with that order relaxed, the
execution that must not be becomes possible, so the fence is there for a reason."""

import re
from pathlib import Path

import pytest
from memory import (
    ACQ_REL,
    ACQUIRE,
    RELAXED,
    RELEASE,
    SC,
    A,
    F,
    If,
    R,
    U,
    W,
    X,
    allowed,
    c11,
    racy,
    x86,
)

CORE = Path(__file__).resolve().parents[2] / "core"
LINES = {
    "bits/bits.h": [
        "return __atomic_load_n((const bf_shared *)w, __ATOMIC_RELAXED);",
        "return (__atomic_fetch_or((bf_shared *)w, mask, __ATOMIC_RELAXED) & mask) == mask;",
        "__atomic_store_n((bf_shared *)w, value, __ATOMIC_RELAXED);",
        "(bf_shared *)w, was, want, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);",
        "__atomic_signal_fence(__ATOMIC_SEQ_CST);",
        "__atomic_thread_fence(__ATOMIC_SEQ_CST);",
        "static inline int bf_int_load_acquire(const int *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }",
        "__atomic_store_n(at, value, __ATOMIC_RELEASE);",
        "return __atomic_compare_exchange_n(at, was, want, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);",
        "return __atomic_add_fetch((bf_shared *)at, more, __ATOMIC_ACQ_REL);",
        "return __atomic_exchange_n(flag, true, __ATOMIC_ACQUIRE);",
        "static inline void bf_flag_release(bool *flag) { __atomic_store_n(flag, false, __ATOMIC_RELEASE); }",
        "return __atomic_load_n(at, __ATOMIC_ACQUIRE);",
        "__atomic_store_n(at, n, __ATOMIC_RELEASE);",
    ],
    "format/header.c": [
        "__atomic_store_n((bf_shared *)word, live_code(value), __ATOMIC_SEQ_CST);",
        "return live_decode(__atomic_load_n((const bf_shared *)word, __ATOMIC_SEQ_CST), &v) ? v : 0;",
        "(bf_shared *)word, &old, live_code(to), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))",
        "(bf_shared *)word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); bf_fence(); }",
        "return 0; bf_fence(); if (!bf_header_clean(page)) return 0;",
    ],
    "sets/rebuild.h": [
        "bf_fence(); return bf_word(f->generation) == before;",
    ],
    "sets/rebuild.c": [
        "bf_live_set(f->generation, g->generation); bf_fence();",
    ],
    "parts/window.c": [
        "bf_fence(); const int64_t hits = bf_span_add(f, p, s, s->n); bf_fence(); if (bf_live(f->epoch)",
        "bf_live_raise(f->epoch, epoch); bf_fence(); if (bf_live(p->live) >= epoch) return;",
        "while (n && s->n && bf_span_find(p, n, s)) { bf_fence(); same = living(f, from, to, now);",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_the_core_has_these_lines(name):
    text = re.sub(r"/\*.*?\*/", "", (CORE / name).read_text(), flags=re.S)
    text = " ".join(text.split())
    assert [line for line in LINES[name] if line not in text] == []


def bit(n):
    """fetch_or of one bit."""
    return lambda old: old | 1 << n


def exchange(was, want):
    return lambda old: want if old == was else None


def never(program, seen):
    assert not allowed(program, seen, c11)
    assert not allowed(program, seen, x86)


def possible(program, seen):
    assert allowed(program, seen, c11)


# ---- the memory models know what the books say ----
def store_buffer(first, second, fence=()):
    return [
        [W("x", 1, first), *fence, R("y", "a", second)],
        [W("y", 1, first), *fence, R("x", "b", second)],
    ]


def neither(names, final):
    return names[0]["a"] == 0 and names[1]["b"] == 0


@pytest.mark.parametrize(("program", "by_c11", "by_x86"), [
    (store_buffer(RELAXED, RELAXED), True, True),
    (store_buffer(RELEASE, ACQUIRE), True, True),
    (store_buffer(SC, SC), False, False),
    (store_buffer(RELAXED, RELAXED, [F()]), False, False),
])  # fmt: skip
def test_store_buffering(program, by_c11, by_x86):
    assert (allowed(program, neither, c11), allowed(program, neither, x86)) == (by_c11, by_x86)


@pytest.mark.parametrize(("store", "load", "by_c11"), [(RELEASE, ACQUIRE, False), (RELAXED, ACQUIRE, True), (RELEASE, RELAXED, True)])  # fmt: skip
def test_message_passing(store, load, by_c11):
    program = [[W("x", 1), W("flag", 1, store)], [R("flag", "f", load), R("x", "x")]]

    def stale(names, final):
        return names[1]["f"] == 1 and names[1]["x"] == 0

    assert (allowed(program, stale, c11), allowed(program, stale, x86)) == (by_c11, False)


def test_load_buffering_and_independent_reads():
    program = [[R("x", "a"), W("y", 1)], [R("y", "b"), W("x", 1)]]
    never(program, lambda names, final: names[0]["a"] == 1 and names[1]["b"] == 1)
    for order, by_c11 in ((SC, False), (ACQUIRE, True)):
        readers = [
            [R("x", "a", order), R("y", "b", order)],
            [R("y", "c", order), R("x", "d", order)],
        ]
        program = [[W("x", 1, order if order == SC else RELEASE)], [W("y", 1, order if order == SC else RELEASE)], *readers]  # fmt: skip
        assert by_c11 == allowed(program, lambda n, final: (n[2]["a"], n[2]["b"], n[3]["c"], n[3]["d"]) == (1, 0, 1, 0))  # fmt: skip


# ---- a relaxed OR: bits and counters of one word ----
def new(names, *bits):
    """Whoever found one of his bits unset says "new"."""
    return any(not names[f"w{n}"] >> shift & 1 for n, shift in bits)


def test_of_two_adders_of_a_bit_exactly_one_is_told_new():
    program = [[U("w", bit(0), "w0")], [U("w", bit(0), "w0")]]
    never(program, lambda names, final: new(names[0], (0, 0)) == new(names[1], (0, 0)))


def test_no_bit_of_a_word_is_lost():
    program = [[U("w", bit(n), "w0")] for n in range(3)]
    never(program, lambda names, final: final["w"] != 7)
    plain = [[R("w", "w0"), W("w", lambda names, n=n: names["w0"] | 1 << n)] for n in range(2)]
    possible(plain, lambda names, final: final["w"] != 3)


def test_of_two_adders_of_a_key_one_is_told_new_whatever_the_order_of_its_words():
    program = [
        [U("v", bit(0), "w0"), U("w", bit(0), "w1")],
        [U("w", bit(0), "w1"), U("v", bit(0), "w0")],
    ]
    never(program, lambda names, final: not any(new(one, (0, 0), (1, 0)) for one in names))


def test_a_key_that_was_seen_stays_seen():
    """By the thread that saw it.  Another that hears of it by a message that releases sees it, too."""
    program = [[U("w", bit(0), "w0")], [R("w", "a"), R("w", "b")]]
    never(program, lambda names, final: names[1]["a"] > names[1]["b"])
    for order, by_c11 in ((RELEASE, False), (RELAXED, True)):
        told = [[U("w", bit(0), "w0"), W("told", 1, order)], [R("told", "t", ACQUIRE), R("w", "a")]]
        assert allowed(told, lambda names, final: names[1]["t"] > names[1]["a"]) == by_c11


def test_no_step_of_a_counter_is_lost():
    up = [U("w", lambda old: min(old + 1, 3), "n")]
    program = [up, up, [U("w", lambda old: min(old + 1, 3), "n")]]
    never(program, lambda names, final: final["w"] != 3)


# ---- a filter that forgets: the live words ----
def turning(fences=(True, True), order=SC):
    """An adder whose epoch may be over, and one of a later epoch who empties the part: the newest
    epoch, and a word of the part that has other bits."""
    there = [F()] if fences[0] else []
    here = [F()] if fences[1] else []
    return [
        [U("bits", bit(0), "w0"), *there, R("epoch", "e", order)],
        [U("epoch", exchange(0, 9), "was", order), *here, W("bits", 0)],
    ]


def left_behind(names, final):
    """The adder saw that his epoch lives, and his bit is there after the part was emptied."""
    return names[0]["e"] == 0 and final["bits"] == 1


def test_an_adder_of_a_living_epoch_leaves_nothing_in_an_emptied_piece():
    never(turning(), left_behind)
    assert not allowed(turning((False, False)), left_behind, x86)  # where bf_fence is nothing


@pytest.mark.parametrize("fences", [(False, True), (True, False)])
def test_both_fences_are_there_for_a_reason(fences):
    possible(turning(fences), left_behind)


def test_the_same_where_another_has_published_the_epoch():
    first, second = turning()

    def empties(steps):
        return [R("epoch", "e", SC), If(lambda names: names["e"] == 9, steps)]

    def seen(names, final):
        return names[2]["e"] == 9 and left_behind(names, final)

    published = [U("epoch", exchange(0, 9), "was", SC)]
    never([first, published, empties(second[1:])], seen)
    assert not allowed([[first[0], first[2]], published, empties(second[2:])], seen, x86)
    possible([first, published, empties(second[2:])], seen)


def overtaken(before_adding):
    """A key is found in an older part beside those who turn it: the one who empties it and gives
    it its new epoch, a later adder, and who looks whether the part is of its epoch still."""
    return [
        [W("bits", 0), W("live", 9, SC)],
        [R("live", "l", SC), *before_adding, If(lambda names: names["l"] == 9, [U("bits", bit(0), "w0"), F()])],
        [R("bits", "b"), F(), R("live", "l", SC)],
    ]  # fmt: skip


def anothers(names, final):
    """Bits of a later adder, who found them unset, taken for those of the older epoch."""
    return names[2]["b"] == 1 and names[2]["l"] == 0 and names[1].get("w0") == 0


def test_a_later_adders_bits_are_not_taken_for_an_older_epochs():
    never(overtaken([F()]), anothers)
    assert not allowed([[s for s in t if s.kind != "F"] for t in overtaken([])], anothers, x86)


def test_who_adds_to_a_piece_needs_a_fence_after_its_epoch():
    """Machines where a store reaches all others at once (x86, aarch64) do without; C11 does not, nor
    Power."""
    possible(overtaken([]), anothers)


# ---- a filter that grows: a part is told when it is complete ----
def appended(tell, told):
    return [
        [X("part"), W("count", 2, tell)],
        [R("count", "n", told), If(lambda names: names["n"] == 2, [A("part")])],
    ]


def test_a_part_is_complete_when_it_is_told():
    assert not racy(appended(RELEASE, ACQUIRE))
    assert racy(appended(RELAXED, ACQUIRE)) and racy(appended(RELEASE, RELAXED))


# ---- the lock of a filter of parts, and the place for whoever comes first ----
def locked(take, give):
    inside = [If(lambda names: names["was"] == 0, [X("part"), W("holder", 0, give)])]
    return [[U("holder", exchange(0, 1), "was", take), *inside]] * 2


@pytest.mark.parametrize("take", [ACQ_REL, ACQUIRE])
def test_who_holds_the_lock_sees_what_was_done_under_it(take):
    assert not racy(locked(take, RELEASE))
    assert racy(locked(RELAXED, RELEASE)) and racy(locked(take, RELAXED))


# ---- owners: the last one who leaves frees it ----
def leaving(order):
    def leave(names):
        return names["was"] == 1

    return [[A("filter"), U("who", lambda old: max(old - 1, 0), "was", order), If(leave, [X("filter")])]] * 2  # fmt: skip


def of_two(program):
    """Two are inside at first: before all others."""
    return [[W("who", 2), W("go", 1, RELEASE)], *([R("go", "go", ACQUIRE), If(lambda names: names["go"] == 1, thread)] for thread in program)]  # fmt: skip


def test_nobody_is_inside_what_the_last_one_frees():
    assert not racy(of_two(leaving(ACQ_REL)))
    assert racy(of_two(leaving(RELAXED))) and racy(of_two(leaving(RELEASE)))


# ---- the generation: bits that are replaced while somebody adds ----
def replaced(after_bits, after_generation):
    """An add that finds the generation unchanged was seen by whoever changed it."""
    return [
        [U("bits", bit(0), "w0"), *after_bits, R("generation", "g")],
        [W("generation", 1, SC), *after_generation, R("bits", "b")],
    ]


def unseen(names, final):
    return names[0]["g"] == 0 and names[1]["b"] == 0


def test_an_add_beside_a_rebuild_is_seen_or_done_again():
    never(replaced([F()], [F()]), unseen)
    possible(replaced([], [F()]), unseen)
    possible(replaced([F()], []), unseen)


# ---- the dirty word: bits that are summed while somebody begins to add ----
def summed(after_dirty, before_look):
    """The header says dirty, then a bit is set; who sums the bits, and finds the sum wrong, looks
    at the header once more before he calls the file damaged."""
    return [
        [U("dirty", exchange(0, 1), "was", SC), *after_dirty, U("bits", bit(0), "w0")],
        [R("bits", "b"), *before_look, R("dirty", "d", SC)],
    ]


def wrongly_damaged(names, final):
    return names[1]["b"] == 1 and names[1]["d"] == 0


def test_a_sum_beside_an_adder_is_not_taken_for_damage():
    """The first adder of a clean file waits for msync before his bit, which is more than a fence;
    the one who sums has read all of it."""
    never(summed([F()], [F()]), wrongly_damaged)
    assert not allowed(summed([], []), wrongly_damaged, x86)


def test_both_looks_at_the_dirty_word_have_a_fence_for_a_reason():
    possible(summed([], [F()]), wrongly_damaged)
    possible(summed([F()], []), wrongly_damaged)


def test_of_two_who_mark_a_page_it_is_dirty_for_both():
    """A lost race is another's increment."""
    program = [
        [R("dirty", "d", SC), U("dirty", exchange(0, 1), "was", SC), R("dirty", "after", SC)]
    ] * 2
    never(
        program, lambda names, final: any(one["after"] == 0 for one in names) or final["dirty"] != 1
    )


def test_a_second_adder_of_a_handle_may_look_like_damage():
    """Not promised.  Who finds the handle's flag raised adds without a fence, so C11 lets his bit be
    seen before the page is dirty: whoever opens the file at that moment may be told that it is
    damaged, and is not when he tries again.  x86 does not allow it."""
    first = [U("dirty", exchange(0, 1), "was", SC), F(), W("may", 1)]
    adds = [R("may", "m"), If(lambda names: names["m"] == 1, [U("bits", bit(0), "w0")])]
    program = [first, summed([], [F()])[1], adds]
    possible(program, wrongly_damaged)
    assert not allowed(program, wrongly_damaged, x86)
