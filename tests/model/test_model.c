/* test_model.c - the promises of DESIGN under every interleaving, on filters of a few words: the
 * very code of the core, not a model of it.  The plain kernels are run through the same checks, to
 * show that the checker finds what is wrong there. */
#include "../../core/bloomfilter.h"
#include "check.h"
#include "model.h"

typedef struct {
    int rc[MODEL_THREADS];
    bool ended[MODEL_THREADS], late[MODEL_THREADS];
} history; /* late: began when 0 had ended */
static bf_filter *f;
static history h;
static const char *scheme;
static bool threads;
static unsigned k;

/* Threads 0 and 1 add `same`; what 2 does is the scenario's. */
static const char *const key[MODEL_THREADS] = { "same", "same", "other", "same" };

/* A step of its own, ordered with all others of its kind: the beginning or the end of what a check
 * is about. */
static void model_event(void)
{
    static char events;
    bf_model_step(&events, true);
}

static void add_(int me)
{
    h.rc[me] = bf_add(f, key[me], strlen(key[me]), NULL);
    model_event();
    h.ended[me] = true;
}
static void test_(int me)
{
    model_event();
    h.late[me] = h.ended[0];
    h.rc[me] = bf_test(f, "same", 4, NULL);
}
static void batch(int me)
{
    bf_key keys[] = { { "same", 4 }, { "other", 5 } };
    h.rc[me] = (int)bf_add_many(f, keys, 2, NULL, NULL);
}
static void clear(int me) { h.rc[me] = bf_clear(f, NULL); }

static void fresh(void)
{
    bf_close(f);
    f = bf_open(&(bf_spec){ .m = scheme[0] == 'c' ? 64 : 1024,
                    .n = 100,
                    .k = k,
                    .scheme = scheme,
                    .threads = threads },
        NULL);
    memset(&h, 0, sizeof h);
}

/* ---- two adders of one key, and one of another ---- */
static void two_adders(void)
{
    fresh();
    model_thread_is(0, add_);
    model_thread_is(1, add_);
}
static void three_adders(void)
{
    two_adders();
    model_thread_is(2, add_);
}
static bool somebody_adds_it_as_new(void)
{
    return (h.rc[0] == BF_ADDED || h.rc[1] == BF_ADDED) && bf_test(f, "same", 4, NULL) == 1 &&
           (model.threads < 3 || bf_test(f, "other", 5, NULL) == 1);
}

/* ---- a tester beside an adder: what was added before the test began is found ---- */
static void add_and_test(void)
{
    fresh();
    model_thread_is(0, add_);
    model_thread_is(1, test_);
    model_thread_is(2, add_);
}
static bool what_was_added_is_found(void)
{
    return (!h.late[1] || h.rc[1] == 1) && bf_test(f, "same", 4, NULL) == 1;
}

/* ---- a batch is as its keys ---- */
static void batches(void)
{
    fresh();
    model_thread_is(0, batch);
    model_thread_is(1, batch);
}
static bool batches_agree(void)
{
    return h.rc[0] + h.rc[1] >= 2 && bf_test(f, "same", 4, NULL) == 1 &&
           bf_test(f, "other", 5, NULL) == 1;
}

/* ---- clear beside an adder: afterwards the filter is as good as new ---- */
static void add_and_clear(void)
{
    fresh();
    bf_add(f, "old", 3, NULL);
    model_thread_is(0, add_);
    model_thread_is(1, clear);
}
static bool usable_after_clear(void)
{
    bf_state state;
    bf_get_state(f, &state, NULL);
    if (h.rc[1] != 0 || state.ones > k) return false; /* at most what the adder set */
    int again = bf_add(f, "same", 4, NULL);
    return again >= 0 && bf_test(f, "same", 4, NULL) == 1;
}

/* ---- whole filters beside adders: nothing is lost by a union, and a copy has what was there when
 * it began ---- */
static bf_filter *other, *copy;
static void unite(int me) { h.rc[me] = bf_unite(f, other, NULL); }
static void take_copy(int me)
{
    model_event();
    h.late[me] = h.ended[0];
    h.rc[me] = (copy = bf_copy(f, NULL)) ? 0 : BF_ENOMEM;
}
static void add_and_unite(void)
{
    bf_close(other);
    fresh();
    other = bf_copy(f, NULL);
    bf_add(other, "theirs", 6, NULL);
    model_thread_is(0, add_);
    model_thread_is(1, unite);
}
static bool both_are_in(void)
{
    return h.rc[0] == BF_ADDED && h.rc[1] == 0 && bf_test(f, "same", 4, NULL) == 1 &&
           bf_test(f, "theirs", 6, NULL) == 1;
}
static void add_and_copy(void)
{
    bf_close(copy);
    copy = NULL;
    fresh();
    bf_add(f, "old", 3, NULL);
    model_thread_is(0, add_);
    model_thread_is(1, take_copy);
}
static bool the_copy_is_sound(void)
{
    return copy && bf_test(copy, "old", 3, NULL) == 1 &&
           (!h.late[1] || bf_test(copy, "same", 4, NULL) == 1) &&
           bf_add(copy, "new", 3, NULL) >= 0 && bf_test(copy, "new", 3, NULL) == 1;
}

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
static unsigned long long all_schedules;
static bool every(unsigned k_most, void (*prepare)(void), bool (*verdict)(void), const char *what)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    bool all = true;
    for (int i = 0; i < 3; i++)
        for (k = 2; k <= k_most; k++) {
            scheme = schemes[i];
            threads = true;
            bool ok = explore(prepare, verdict);
            all &= ok;
            all_schedules += model.schedules;
            printf("     %-9s k=%u %-22s %8llu schedules%s\n", scheme, k, what, model.schedules,
                ok ? "" : ": BROKEN");
        }
    return all;
}
#define PROMISE(k_most, prepare, verdict)                                                          \
    TEST(verdict##_in_every_order_##prepare) { CHECK(every(k_most, prepare, verdict, #prepare)); }
PROMISE(4, two_adders, somebody_adds_it_as_new)
PROMISE(2, three_adders, somebody_adds_it_as_new)
PROMISE(2, add_and_test, what_was_added_is_found)
PROMISE(2, batches, batches_agree)
PROMISE(2, add_and_clear, usable_after_clear)
PROMISE(4, add_and_unite, both_are_in)
PROMISE(4, add_and_copy, the_copy_is_sound)

/* ---- what is wrong must be seen.  `classic` alone: a filter of one word, in which all meet ----
 */
static bool holds(void (*prepare)(void), bool (*verdict)(void), bool atomic)
{
    scheme = "classic";
    k = 2;
    threads = atomic;
    return explore(prepare, verdict);
}

/* Plain kernels lose bits. */
TEST(plain_kernels_are_found_wrong) { CHECK(!holds(three_adders, somebody_adds_it_as_new, false)); }

/* What DESIGN does not promise: exactly one of two adders being told new. */
static bool exactly_one(void) { return (h.rc[0] == BF_ADDED) + (h.rc[1] == BF_ADDED) == 1; }
TEST(more_than_one_may_add_it_as_new) { CHECK(!holds(two_adders, exactly_one, true)); }

int main(void)
{
    setenv("BLOOMFILTER_CPU", "portable", 1); /* the vector kernels touch several words in a step */
    run_tests();
    printf("     %llu schedules in all\n", all_schedules);
    CLOSE(f, other, copy);
    model_end();
    return FINISH();
}
