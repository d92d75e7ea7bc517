/* test_model_window.c - filters that forget, under every interleaving: two or three parts of two
 * words, clocks that differ from call to call and jump.  The very code of the core; only how large
 * a part is, is the test's. */
/* wraps: bf_chain_part */
#include "forgetting.h"

static bf_filter *empty;

static bf_filter *open_(void)
{
    step = 10.0 / parts;
    return bf_open(&(bf_spec){ .n = 1,
                       .p = 0.1,
                       .k = 2,
                       .scheme = "classic",
                       .window = 10,
                       .parts = parts,
                       .threads = true,
                       .clock = clock_,
                       .clock_ctx = &step },
        NULL);
}

static void fresh(void)
{
    CLOSE(f, copy);
    copy = NULL;
    f = bf_copy(empty, NULL);
    model.watched = f->epoch;
    clock_of_all = clock_of_verdict = THEN;
    if (old_epoch) {
        clock_of_verdict = old_epoch;
        add_key(f, KEYS - 1);
    }
    begin_calls(chosen);
}

/* ---- clocks that are d epochs apart: from one back to a whole turn of the ring and one more ----
 */
static plan p;
#define TRY(prepare, verdict, what, ...)                                                           \
    do {                                                                                           \
        char name[100];                                                                            \
        memcpy(p, (plan){ __VA_ARGS__ }, sizeof p);                                                \
        snprintf(name, sizeof name, what ", parts %u, %d apart%s", parts, d,                       \
            old_epoch ? ", one before" : "");                                                      \
        KEPT(name, p, prepare, verdict);                                                           \
    } while (0)

TEST(clocks_apart)
{
    for (parts = 1; parts <= 2; parts++) {
        empty = open_();
        for (int d = -1; d <= (int)parts + 2; d++)
            for (int old = 0; old <= 1; old++) {
                old_epoch = old ? THEN - 1 : 0;
                TRY(fresh, forgetting_promises, "one key", { { ADD, 0, THEN } },
                    { { ADD, 0, THEN + d } });
                TRY(fresh, forgetting_promises, "two keys", { { ADD, 0, THEN } },
                    { { ADD, 1, THEN + d } });
                TRY(fresh, forgetting_promises, "add, test", { { ADD, 0, THEN } },
                    { { TEST, 0, THEN + d } });
                TRY(fresh, forgetting_promises, "add, test the old one", { { ADD, 0, THEN + d } },
                    { { TEST, KEYS - 1, THEN } });
                TRY(fresh, forgetting_promises, "add and test, twice",
                    { { ADD, 0, THEN }, { TEST, 0, THEN } },
                    { { ADD, 1, THEN + d }, { TEST, 1, THEN + d } });
                TRY(fresh, forgetting_promises, "again later",
                    { { ADD, 0, THEN }, { ADD, 0, THEN + d } }, { { ADD, 1, THEN + d } });
                TRY(fresh, forgetting_promises, "batch, key", { { ADD_BOTH, 0, THEN } },
                    { { ADD, 1, THEN + d } });
            }
        bf_close(empty);
    }
}

TEST(three_threads)
{
    parts = 1;
    old_epoch = 0;
    empty = open_();
    for (int d = 0; d <= 3; d++) {
        TRY(fresh, forgetting_promises, "two adders, tester", { { ADD, 0, THEN } },
            { { ADD, 0, THEN + d } }, { { TEST, 0, THEN + 1 } });
        TRY(fresh, forgetting_promises, "two keys, tester", { { ADD, 0, THEN } },
            { { ADD, 1, THEN + d } }, { { TEST, 0, THEN + d } });
    }
    bf_close(empty);
}

/* One clock for all, which a thread moves, also back. */
TEST(a_clock_that_jumps)
{
    static const int moves[][3] = { { 1, 2, 3 }, { 2, 0, 1 }, { 3, 1, 4 }, { 1, -2, 2 } };
    parts = 1;
    empty = open_();
    for (unsigned i = 0; i < COUNT(moves); i++) {
        const int d = (int)i;
#define MOVES                                                                                      \
    {                                                                                              \
        { TICK, 0, THEN + moves[i][0] }, { TICK, 0, THEN + moves[i][1] },                          \
        {                                                                                          \
            TICK, 0, THEN + moves[i][2]                                                            \
        }                                                                                          \
    }
        for (old_epoch = 0; old_epoch <= THEN; old_epoch += THEN) {
            TRY(fresh, forgetting_promises, "moves, two adders", MOVES, { { ADD, 0, NO_CLOCK } },
                { { ADD, 0, NO_CLOCK } });
            TRY(fresh, forgetting_promises, "moves, add and test", MOVES,
                { { ADD, 0, NO_CLOCK }, { TEST, 0, NO_CLOCK } });
            TRY(fresh, forgetting_promises, "moves, adder, tester", MOVES, { { ADD, 0, NO_CLOCK } },
                { { TEST, 0, NO_CLOCK } });
        }
    }
    old_epoch = 0;
    bf_close(empty);
}

/* ---- whole filters beside adders ---- */
/* What was added before the copy began is in it, as long as it would be in the filter. */
static bool copy_is_sound(void)
{
    if (!forgetting_promises() || !copy) return false;
    EACH_CALL(u, j) if ((*doing)[u][j].op == COPY) EACH_CALL(t, i)
    {
        clock_of_verdict = epoch_of(&out[t][i]);
        if ((*doing)[t][i].op == ADD && remembers(t, i, u, j) &&
            has_key(copy, (*doing)[t][i].key) != 1)
            return false;
    }
    clock_of_verdict = THEN + 10;
    return has_key(copy, 0) == 0 && add_key(copy, 1) == BF_ADDED && has_key(copy, 1) == 1;
}
static bool as_good_as_new(void)
{
    clock_of_verdict = THEN;
    if (!no_errors() || has_key(f, KEYS - 1) != 0) return false;
    EACH_CALL(t, i) if ((*doing)[t][i].op == TEST && out[t][i].rc != 0) return false;
    clock_of_verdict = THEN + 4;
    return add_key(f, 1) == BF_ADDED && has_key(f, 1) == 1 && add_key(f, 1) == BF_PRESENT;
}
/* What comes in keeps its time, also where the part is emptied for another meanwhile. */
static void fresh_with_other(void)
{
    clock_of_verdict = THEN;
    bf_close(other);
    other = bf_copy(empty, NULL);
    add_key(other, UNITED);
    fresh();
}
TEST(whole_filters)
{
    parts = 1;
    empty = open_();
    old_epoch = THEN;
    for (int d = 0; d <= 2; d++) {
        TRY(fresh, copy_is_sound, "adder, copy", { { ADD, 0, THEN + d } }, { { COPY, 0, THEN } });
        TRY(fresh, as_good_as_new, "adder, clear", { { ADD, 0, THEN + d } },
            { { CLEAR, 0, THEN }, { TEST, KEYS - 1, THEN } });
    }
    old_epoch = 0;
    for (int d = 0; d <= 3; d++)
        TRY(fresh_with_other, forgetting_promises, "adder, union",
            { { ADD, 0, THEN + d }, { TEST, UNITED, THEN + d } },
            { { UNITE, 0, THEN }, { TEST, UNITED, THEN } });
    bf_close(empty);
}

/* ---- what must be found: an adder that does not look at the part's epoch once more ---- */
static int no_second_read(bf_filter *to, int key)
{
    int64_t e;
    uint64_t d[BF_WIDTH_MAX];
    bf_part *part = NULL;
    while (!part) {
        bf_window_epoch(to, &e, NULL);
        bf_window_reuse_part(to, e, &part, NULL);
    }
    to->hash->one(to->secret, names[key], strlen(names[key]), d);
    bf_bitmap *in = &part->bitmap;
    return in->kernels->add_one[1](&in->g, in->store.words, d) ? BF_PRESENT : BF_ADDED;
}
static const plan adders_and_late_test = { { { ADD, 0, THEN } },
    { { ADD, 1, THEN + 2 }, { TEST, 0, THEN + 2 } } };
TEST(a_wrong_adder_is_found)
{
    parts = 1;
    old_epoch = THEN;
    empty = open_();
    wrong_add = no_second_read;
    BROKEN(adders_and_late_test, fresh, tests_are_right);
    wrong_add = NULL;
    CHECK(explore_plan(NULL, &adders_and_late_test, fresh, forgetting_promises));
    bf_close(empty);
}

int main(void)
{
    model_begin();
    parts = 1;
    empty = open_();
    find_keys(empty);
    bf_close(empty);
    run_tests();
    CLOSE(f, copy, other);
    return model_ended();
}
