/* test_model_grow_counting.c - filters that count and grow, under every interleaving: a key stays
 * in its part while it is in, so every removal finds what its add left.  Key A is in the first
 * part; B and C each share one counter with A, so that a later part with both seems to contain A.
 * The very code of the core; only how large a part is, is the test's. */
/* wraps: bf_chain_part */
#include "calls.h"

enum { A, B, C, ALONE };
static int held[KEYS];      /* how often each key is in before the threads begin */
static unsigned first_room; /* keys that the first part is sized for; `room` is of later ones */
static bf_filter *empty;

/* The positions of a key in a part. */
static bool suits(unsigned n, uint64_t pos[KEYS][2])
{
    if (pos[n][0] == pos[n][1]) return false;
    for (unsigned i = 0; i < n; i++)
        for (unsigned a = 0; a < 2; a++)
            for (unsigned b = 0; b < 2; b++) {
                const bool shared = i == A && ((n == B && a == 0) || (n == C && a == 1));
                if ((pos[i][a] == pos[n][b]) && !shared) return false;
            }
    const uint64_t of_a = pos[A][n == C];
    return (n != B && n != C) || pos[n][0] == of_a || pos[n][1] == of_a;
}
static void find_keys_that_share(void)
{
    uint64_t pos[KEYS][2];
    for (unsigned n = 0, i = 0; n < KEYS; i++) {
        snprintf(names[n], sizeof names[n], "k%u", i);
        CHECK_EQ(bf_hashcode(empty, names[n], strlen(names[n]), pos[n], 2, NULL), 2);
        n += suits(n, pos);
    }
}

static void fresh(void)
{
    bf_close(f);
    f = bf_copy(empty, NULL);
    f->part[0]->bitmap.g.n = first_room;
    for (int key = 0; key < KEYS; key++)
        for (int i = 0; i < held[key]; i++) add_key(f, key);
    begin_calls(chosen);
}

/* ---- what is promised ---- */
static int in_now(int key)
{
    return held[key] + calls_of(ADD, key, -1) - calls_of(REMOVE, key, -1);
}

/* The plans remove only keys that are in, and test keys that are in all the time. */
static bool calls_are_right(void)
{
    EACH_CALL(t, i)
    {
        const int op = (*doing)[t][i].op;
        if ((op == REMOVE || op == TEST) && out[t][i].rc != 1) return false;
    }
    return no_errors();
}
static bool all_are_counted(void)
{
    for (int key = 0; key < KEYS; key++) {
        const int n = in_now(key), count = bf_count_of(f, names[key], strlen(names[key]), NULL);
        if (count < n || has_key(f, key) != (count > 0) || (key == ALONE && count != n))
            return false;
    }
    return true;
}
/* As many removals as adds: each finds its key, and no counter is left. */
static bool removals_empty_it(void)
{
    bf_state state;
    for (int key = 0; key < KEYS; key++)
        for (int i = in_now(key); i > 0; i--)
            if (bf_remove(f, names[key], strlen(names[key]), NULL) != 1) return false;
    return bf_get_state(f, &state, NULL) == 0 && state.ones == 0;
}
static bool promises(void) { return calls_are_right() && all_are_counted() && removals_empty_it(); }

static const plan
    others_cover_it = { { { ADD, B, 0 }, { ADD, C, 0 } }, { { REMOVE, A, 0 } },
        { { TEST, ALONE, 0 } } },
    out_and_in = { { { REMOVE, A, 0 }, { ADD, A, 0 } }, { { ADD, B, 0 } }, { { ADD, C, 0 } } },
    twice_out = { { { REMOVE, A, 0 } }, { { REMOVE, A, 0 } }, { { ADD, B, 0 }, { ADD, C, 0 } } },
    added_by_two = { { { ADD, B, 0 } }, { { ADD, B, 0 } }, { { ADD, C, 0 } } },
    once_more = { { { ADD, A, 0 } }, { { ADD, B, 0 }, { ADD, C, 0 } }, { { REMOVE, A, 0 } } },
    others_go = { { { REMOVE, B, 0 } }, { { REMOVE, C, 0 }, { ADD, C, 0 } }, { { REMOVE, A, 0 } } },
    tested = { { { ADD, B, 0 }, { REMOVE, B, 0 } }, { { TEST, A, 0 } }, { { ADD, C, 0 } } };

static void set_held(int a, int b, int c, int alone)
{
    const int now[KEYS] = { a, b, c, alone };
    memcpy(held, now, sizeof held);
}

TEST(a_key_stays_in_its_part)
{
    for (first_room = 1; first_room <= 2; first_room++)
        for (room = 1; room <= 3; room += 2) {
            char name[100];
#define COUNTS(p)                                                                                  \
    do {                                                                                           \
        snprintf(name, sizeof name, #p ", parts for %u and %u keys", first_room, room);            \
        KEPT(name, p, fresh, promises);                                                            \
    } while (0)
            set_held(1, 0, 0, 1);
            COUNTS(others_cover_it);
            const bool few = first_room == 2 || room == 3; /* else some 100,000 schedules */
            if (few) COUNTS(out_and_in);
            COUNTS(added_by_two);
            COUNTS(tested);
            if (room == 3) COUNTS(once_more);
            set_held(2, 0, 0, 0);
            if (few) COUNTS(twice_out);
            set_held(1, 1, 1, 0);
            COUNTS(others_go);
        }
}

/* ---- what must be found ---- */
static int unlocked_too_early(bf_filter *to, const bf_params *part, bf_error *err)
{
    bf_int_store_release(&to->lock_holder, 0);
    return bf_chain_memory.append(to, part, err);
}
static void fresh_unlocked(void)
{
    static bf_chain_ops ops;
    static bf_store_ops store;
    fresh();
    store = *f->bitmap.store.ops;
    ops = *store.chain;
    ops.append = unlocked_too_early;
    store.chain = &ops;
    f->bitmap.store.ops = &store;
}
TEST(an_early_unlock_is_found_wrong)
{
    first_room = room = 1;
    set_held(1, 0, 0, 0);
    BROKEN(added_by_two, fresh_unlocked, promises);
}

int main(void)
{
    model_begin();
    empty = bf_open(&(bf_spec){ .n = 1,
                        .p = 0.1,
                        .k = 2,
                        .scheme = "classic",
                        .grow = 2,
                        .counting = true,
                        .threads = true },
        NULL);
    find_keys_that_share();
    run_tests();
    bf_close(f);
    bf_close(empty);
    return model_ended();
}
