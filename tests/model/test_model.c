/* test_model.c - the promises of DESIGN under every interleaving, on filters of a few words: the
 * very code of the core, not a model of it.  The plain kernels are run through the same checks, to
 * show that the checker finds what is wrong there. */
#include "calls.h"

enum { SAME, OTHER, THEIRS, OLD };
static const char *scheme;
static bool threads;
static unsigned k;

static void empty(void)
{
    CLOSE(f, copy);
    copy = NULL;
    f = bf_open(&(bf_spec){ .m = scheme[0] == 'c' ? 64 : 1024,
                    .n = 100,
                    .k = k,
                    .scheme = scheme,
                    .threads = threads },
        NULL);
}
static void fresh(void)
{
    empty();
    begin_calls(chosen);
}
static void fresh_with_old(void)
{
    empty();
    add_key(f, OLD);
    begin_calls(chosen);
}
static void fresh_with_other(void)
{
    empty();
    bf_close(other);
    other = bf_copy(f, NULL);
    add_key(other, THEIRS);
    begin_calls(chosen);
}

/* Of the adders of one new key at least one gets "new", and what was added is there. */
static bool adds_are_right(void)
{
    return no_errors() && what_was_added_is_found() && all_are_there(f) &&
           somebody_adds_it_as_new(SAME) && somebody_adds_it_as_new(OTHER);
}
/* At most what the adder set is left, and the filter is as good as new. */
static bool usable_after_clear(void)
{
    bf_state state;
    bf_get_state(f, &state, NULL);
    return no_errors() && state.ones <= k && add_key(f, SAME) >= 0 && has_key(f, SAME) == 1;
}
static bool both_are_in(void) { return adds_are_right() && has_key(f, THEIRS) == 1; }
/* It has what was there when it began. */
static bool the_copy_is_sound(void)
{
    return adds_are_right() && copy && has_key(copy, OLD) == 1 &&
           (!before(0, 0, 1, 0) || has_key(copy, SAME) == 1) && add_key(copy, THEIRS) >= 0 &&
           has_key(copy, THEIRS) == 1;
}

static const plan two_adders = { { { ADD, SAME, 0 } }, { { ADD, SAME, 0 } } },
                  three_adders = { { { ADD, SAME, 0 } }, { { ADD, SAME, 0 } },
                      { { ADD, OTHER, 0 } } },
                  add_and_test = { { { ADD, SAME, 0 } }, { { TEST, SAME, 0 } },
                      { { ADD, OTHER, 0 } } },
                  batches = { { { ADD_BOTH, 0, 0 } }, { { ADD_BOTH, 0, 0 } } },
                  add_and_clear = { { { ADD, SAME, 0 } }, { { CLEAR, 0, 0 } } },
                  add_and_unite = { { { ADD, SAME, 0 } }, { { UNITE, 0, 0 } } },
                  add_and_copy = { { { ADD, SAME, 0 } }, { { COPY, 0, 0 } } };

/* ---- the scheduler itself: small programs of loads, stores and locks, tried with and without what
 * saves schedules ---- */
enum { LOAD, STORE, TAKE, GIVE, SMALL = 4 };
static char word[3];
static int mutex[2];
static struct {
    int n, kind[SMALL + 2], at[SMALL + 2];
} program[3];

static void small(int me)
{
    for (int i = 0; i < program[me].n; i++) {
        const int kind = program[me].kind[i], at = program[me].at[i];
        if (kind <= STORE) {
            bf_model_step(word + at, kind == STORE);
            continue;
        }
        if (kind == TAKE)
            bf_model_wait(mutex + at);
        else
            bf_model_step(mutex + at, true);
        mutex[at] = kind == TAKE;
    }
}
static void small_ones(void)
{
    for (int i = 0; i < 3; i++) model_thread_is(i, small);
}
static bool nothing_held(void) { return !mutex[0] && !mutex[1]; }

static unsigned random_(unsigned below)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}
static void put(int me, int kind, int at)
{
    program[me].kind[program[me].n] = kind;
    program[me].at[program[me].n++] = at;
}
static void make_up(int me)
{
    const int n = 1 + (int)random_(3), take = (int)random_(6), give = take + (int)random_(3),
              lock = (int)random_(2);
    program[me].n = 0;
    for (int i = 0; i < n; i++) {
        if (i == take) put(me, TAKE, lock);
        put(me, (int)random_(2), (int)random_(3));
        if (take < n && (i == give || (i == n - 1 && give >= n))) put(me, GIVE, lock);
    }
}
TEST(nothing_is_left_out)
{
    unsigned long long all = 0;
    for (int round = 0; round < 3000; round++) {
        for (int i = 0; i < 3; i++) make_up(i);
        model.in_full = true;
        CHECK(explore(small_ones, nothing_held));
        const unsigned long long full = model.schedules;
        model.in_full = false;
        CHECK(explore(small_ones, nothing_held));
        CHECK_EQ(model.schedules, full);
        all += full;
    }
    printf("     3000 programs, %llu schedules\n", all);
}

/* Two locks, taken in opposite order: the checker must see that both threads may wait for ever. */
static void in_turns(int me)
{
    for (int i = 0; i < 2; i++) {
        bf_model_wait(mutex + (me ^ i));
        mutex[me ^ i] = 1;
    }
    for (int i = 0; i < 2; i++) {
        bf_model_step(mutex + i, true);
        mutex[i] = 0;
    }
}
static void two_in_turns(void)
{
    mutex[0] = mutex[1] = 0;
    model_thread_is(0, in_turns);
    model_thread_is(1, in_turns);
}
static bool fine(void) { return true; }
TEST(a_deadlock_is_found) { CHECK(!explore(two_in_turns, fine) && model.stuck); }
static void spin(int me)
{
    for (;;) bf_model_step(word + me, false);
}
static void one_that_spins(void) { model_thread_is(0, spin); }
TEST(a_loop_without_end_is_found) { CHECK(!explore(one_that_spins, fine) && model.endless); }

/* ---- all of them ---- */
static const struct {
    const char *name;
    const plan *p;
    unsigned k_most;
    void (*prepare)(void);
    bool (*verdict)(void);
} promises[] = { { "two adders", &two_adders, 4, fresh, adds_are_right },
    { "three adders", &three_adders, 2, fresh, adds_are_right },
    { "adders, tester", &add_and_test, 2, fresh, adds_are_right },
    { "batches", &batches, 2, fresh, adds_are_right },
    { "adder, clear", &add_and_clear, 2, fresh_with_old, usable_after_clear },
    { "adder, union", &add_and_unite, 4, fresh_with_other, both_are_in },
    { "adder, copy", &add_and_copy, 4, fresh_with_old, the_copy_is_sound } };

TEST(promises_in_every_order)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    threads = true;
    for (size_t i = 0; i < COUNT(promises); i++)
        for (size_t s = 0; s < COUNT(schemes); s++)
            for (k = 2; k <= promises[i].k_most; k++) {
                char name[60];
                scheme = schemes[s];
                snprintf(name, sizeof name, "%s k=%u %s", scheme, k, promises[i].name);
                KEPT(name, *promises[i].p, promises[i].prepare, promises[i].verdict);
            }
}

/* ---- what is wrong must be seen.  `classic` alone: a filter of one word, in which all meet ----
 */
/* What DESIGN does not promise: exactly one of two adders being told new. */
static bool exactly_one(void)
{
    return (out[0][0].rc == BF_ADDED) + (out[1][0].rc == BF_ADDED) == 1;
}

TEST(what_is_wrong_is_found)
{
    scheme = "classic";
    k = 2;
    threads = false; /* plain kernels lose bits */
    BROKEN(three_adders, fresh, adds_are_right);
    threads = true;
    BROKEN(two_adders, fresh, exactly_one);
}

int main(void)
{
    static const char *const keys[KEYS] = { "same", "other", "theirs", "old" };
    for (int key = 0; key < KEYS; key++) snprintf(names[key], sizeof names[key], "%s", keys[key]);
    model_begin();
    run_tests();
    CLOSE(f, other, copy);
    return model_ended();
}
