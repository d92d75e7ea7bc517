/* test_model_file.c - filters that grow or forget in one mapped file, under every interleaving of
 * processes: each thread has a handle of its own (one_file.h).  At the end the file is
 * opened once more: it is sound, and all is in it.  The very code of the core; only how large a
 * part is, is the test's. */
/* wraps: bf_chain_part bf_chain_part_possible flock fsync mmap munmap */
#include "forgetting.h"
#include "growing.h"
#include "one_file.h"

/* ---- handles ---- */
static bf_filter *again(void)
{
    return bf_open(&(bf_spec){ .storage = path,
                       .must_exist = true,
                       .clock = old_epoch ? clock_ : NULL,
                       .clock_ctx = old_epoch ? &step : NULL },
        NULL);
}
static void fresh(const bf_spec *spec)
{
    bf_close(f);
    f = NULL;
    close_all(handle);
    handle[0] = bf_open(spec, NULL);
    for (int i = 1; i < MODEL_THREADS && (*chosen)[i][0].op; i++) handle[i] = again();
}

static void growing(void)
{
    fresh(&(bf_spec){ .n = 1, .p = 0.1, .k = 2, .scheme = "classic", .grow = 2, .storage = path });
    for (unsigned i = 0; i < old_keys; i++) add_key(handle[0], KEYS - 1 - (int)i);
    begin_calls(chosen);
}

static void forgetting(void)
{
    clock_of_all = clock_of_verdict = THEN;
    fresh(&(bf_spec){ .n = 1,
        .p = 0.1,
        .k = 2,
        .scheme = "classic",
        .window = 10,
        .parts = parts,
        .clock = clock_,
        .clock_ctx = &step,
        .storage = path });
    for (int i = 0; i < MODEL_THREADS && handle[i];
        i++) /* only the two words that keys are in are emptied */
        for (unsigned j = 0; j < handle[i]->count; j++) handle[i]->part[j]->bitmap.store.nwords = 2;
    model.watched = place(handle[0]->epoch);
    clock_of_verdict = old_epoch;
    add_key(handle[0], KEYS - 1);
    begin_calls(chosen);
}

/* Whoever opens the file then finds all in it. */
static bool grown_and_sound(void) { return (f = again()) && growing_promises(); }
static bool as_before_and_sound(void) { return (f = again()) && forgetting_promises(); }

static const plan one_key = { { { ADD, 0, 0 } }, { { ADD, 0, 0 } } },
                  two_keys = { { { ADD, 0, 0 } }, { { ADD, 1, 0 } } },
                  add_and_test = { { { ADD, 0, 0 } }, { { TEST, 0, 0 } } },
                  test_old = { { { ADD, 0, 0 } }, { { TEST, KEYS - 1, 0 } } },
                  batch_and_key = { { { ADD_BOTH, 0, 0 } }, { { ADD, 1, 0 } } };

TEST(processes_grow_one_file)
{
    take_keys(128);
    old_epoch = 0;
    for (old_keys = 0; old_keys < 2; old_keys++)
        for (room = 1; room <= 2 - old_keys; room++) {
            char name[100];
#define GROWS(p)                                                                                   \
    do {                                                                                           \
        snprintf(name, sizeof name, #p ", %u before, room for %u", old_keys, room);                \
        KEPT(name, p, growing, grown_and_sound);                                                   \
    } while (0)
            GROWS(one_key);
            GROWS(two_keys);
            GROWS(add_and_test);
            GROWS(test_old);
            GROWS(batch_and_key);
        }
}

/* A lock that locks nothing: parts are made on top of each other. */
static bool no_lock;
static int lock_nothing(bf_filter *on, bf_error *err) { return 0; }
static void unlock_nothing(bf_filter *on) { (void)on; }
static void growing_without_lock(void)
{
    static bf_store_ops store;
    growing();
    store = *handle[0]->bitmap.store.ops;
    store.lock = lock_nothing;
    store.unlock = unlock_nothing;
    for (int i = 0; i < MODEL_THREADS && handle[i]; i++)
        if (no_lock) handle[i]->bitmap.store.ops = &store;
}
TEST(what_is_wrong_is_found)
{
    part_bits = 128;
    old_epoch = 0;
    old_keys = room = 1;
    no_lock = true;
    BROKEN(two_keys, growing_without_lock, grown_and_sound);
    no_lock = false;
    CHECK(explore_plan(NULL, &two_keys, growing_without_lock, grown_and_sound));
}

static plan p;
TEST(processes_forget_in_one_file)
{
    take_keys(512);
    parts = 1;
    step = 10;
    old_epoch = THEN - 1;
    for (int d = 0; d <= 3; d++) {
        char name[100];
#define TRY(what, ...)                                                                             \
    do {                                                                                           \
        memcpy(p, (plan){ __VA_ARGS__ }, sizeof p);                                                \
        snprintf(name, sizeof name, what ", %d apart", d);                                         \
        KEPT(name, p, forgetting, as_before_and_sound);                                            \
    } while (0)
        TRY("one key", { { ADD, 0, THEN } }, { { ADD, 0, THEN + d } });
        TRY("two keys", { { ADD, 0, THEN } }, { { ADD, 1, THEN + d } });
        TRY("add, test", { { ADD, 0, THEN } }, { { TEST, 0, THEN + d } });
        TRY("add, test the old one", { { ADD, 0, THEN + d } }, { { TEST, KEYS - 1, THEN } });
    }
}

/* kill -9 at any step of the first: what he had finished is there, and the others go on. */
static const plan killed_adder = { { { ADD, 0, 0 } }, { { KILL, 0, 0 }, { ADD, 1, 0 } } },
                  killed_second = { { { ADD, 0, 0 }, { ADD, 1, 0 } },
                      { { KILL, 0, 0 }, { ADD, 2, 0 } } },
                  killed_beside = { { { ADD, 0, 0 } }, { { KILL, 0, 0 } }, { { ADD, 1, 0 } } },
                  killed_late = { { { ADD, 0, THEN + 2 }, { TEST, 0, THEN + 2 } },
                      { { KILL, 0, 0 }, { ADD, 1, THEN + 2 } } },
                  killed_too_late = { { { ADD, 0, THEN } },
                      { { ADD, 1, THEN + 2 }, { KILL, 0, 0 }, { ADD, 0, THEN + 2 } } };
TEST(killed_at_any_step)
{
    after_kill = give_back;
    model.in_full = true;
    part_bits = 128;
    old_epoch = 0;
    take_keys(128);
    for (old_keys = 0; old_keys < 2; old_keys++) {
        room = 1;
        KEPT(old_keys ? "killed, makes a part" : "killed", killed_adder, growing, grown_and_sound);
        KEPT(old_keys ? "killed at the second, makes a part" : "killed at the second",
            killed_second, growing, grown_and_sound);
        if (!old_keys) KEPT("killed beside another", killed_beside, growing, grown_and_sound);
    }
    take_keys(512);
    old_epoch = THEN - 1;
    parts = 1;
    KEPT("killed, empties a part", killed_late, forgetting, as_before_and_sound);
    KEPT("killed, too late", killed_too_late, forgetting, as_before_and_sound);
    model.in_full = false;
}

int main(void)
{
    if (!begin_with_a_file()) return 1;
    run_tests();
    bf_close(f);
    return end_with_a_file(handle);
}
