/* test_rebuild_stress.c - rebuilds without a pause beside threads and processes that add, remove
 * and fork: no key that was acknowledged in a call that began after a rebuild had begun is absent
 * when it has ended.  BF_STRESS_SECONDS: how long in all, a quarter for each kind.  About
 * core/sets/rebuild.c, core/home/shadow.c. */
#define _GNU_SOURCE
#include "rebuilt.h"
#include <sched.h>

enum {
    SINGLE,
    BATCH,
    UNION,
    ADDERS = 3,
    FORKED = ADDERS,
    SLOTS,
    MOST = 40,
    IN_A_ROUND = 400, /* keys of an adder, and up to MOST more */
    KEPT = 1 << 12
};
_Static_assert(KEPT > 2 * (IN_A_ROUND + MOST), "marks must last until keys are looked for");
typedef struct {
    uint64_t acked; /* keys 0..acked-1 of this adder were acknowledged */
    uint64_t
        rounds[KEPT]; /* of key i at i % KEPT: the rebuild that was open when it was given, or 0 */
} slot;
/* Shared with the processes that are forked. */
typedef struct {
    uint64_t round; /* of the open rebuild, or of the last one */
    int stop;
    slot slots[SLOTS];
} board;
static board *b;
static bf_filter *shared;

static uint64_t get_(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
static void set_(uint64_t *at, uint64_t v) { __atomic_store_n(at, v, __ATOMIC_SEQ_CST); }
static bool stopped(void) { return __atomic_load_n(&b->stop, __ATOMIC_SEQ_CST); }
static uint64_t name_of(int who, uint64_t i) { return (uint64_t)who << 48 | i; }

/* Large enough for what is added in two rounds, of which the first may have been given up: the keys
 * of three adders set 1 % of the cells.  A false positive would hide a key that is absent. */
static bf_filter *large(bool file)
{
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 20,
                               .n = 100000,
                               .k = 4,
                               .threads = true,
                               .counting = counting,
                               .storage = file ? path : NULL },
        &e);
    CHECK(f != NULL);
    return f;
}

/* ---- those who add ---- */
static int64_t add_some(bf_filter *f, bf_filter *one, int who, uint64_t from, uint64_t n, int how)
{
    uint64_t names[MOST];
    bf_key keys[MOST];
    for (uint64_t i = 0; i < n; i++) {
        names[i] = name_of(who, from + i);
        keys[i] = (bf_key){ &names[i], 8 };
    }
    if (how == SINGLE) return bf_add(f, names, 8, NULL);
    if (how == BATCH) return bf_add_many(f, keys, n, NULL, NULL);
    if (bf_clear(one, NULL) < 0 || bf_add_many(one, keys, n, NULL, NULL) < 0) return -1;
    return bf_unite(f, one, NULL);
}
static bool adds(bf_filter *f, int who)
{
    static const int hows[] = { SINGLE, BATCH, SINGLE, UNION, BATCH };
    bf_filter *one = large(false);
    slot *s = &b->slots[who];
    bool good = f && one;
    for (uint64_t turn = 0, last = 0, first = 0; good && !stopped();) {
        const uint64_t at = s->acked, round = get_(&b->round);
        if (round != last) first = at;
        last = round;
        if (at - first >= IN_A_ROUND) {
            usleep(100);
            continue;
        }
        const int how = hows[turn % 5];
        const uint64_t n = how == SINGLE ? 1 : 1 + turn % MOST;
        for (uint64_t i = at; i < at + n; i++) s->rounds[i % KEPT] = round;
        good = add_some(f, one, who, at, n, how) >= 0;
        if (good) set_(&s->acked, at + n);
        turn++;
    }
    bf_close(one);
    return good;
}
static void *adder(void *who) { return adds(shared, (int)(intptr_t)who) ? NULL : &counting; }
/* One key that is added and removed.  Each rebuild gives it again: a key that a rebuild has left
 * out must not be removed, its counters are other keys'. */
static const uint64_t removed = (uint64_t)SLOTS << 48;
static void *remover(void *unused)
{
    bool good = true;
    while (counting && good && !stopped()) {
        good = bf_add(shared, &removed, 8, NULL) >= 0 && bf_remove(shared, &removed, 8, NULL) == 1;
        usleep(500);
    }
    return good ? unused : &counting;
}
static pid_t process_that_adds(int who)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(!adds(large(true), who));
    return child;
}

/* ---- a fork at any moment: the child adds by the handle that it has, at once ---- */
static void forks_once(uint64_t n)
{
    slot *s = &b->slots[FORKED];
    if (in_file) s->rounds[n % KEPT] = get_(&b->round);
    const pid_t child = fork();
    if (child == 0) {
        const uint64_t key = name_of(FORKED, n);
        alarm(20);
        _exit(
            bf_add(shared, &key, 8, NULL) < 0 || (!in_file && bf_test(shared, &key, 8, NULL) != 1));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    if (in_file) set_(&s->acked, n + 1);
}
static void *forker(void *unused)
{
    for (uint64_t n = 0; !stopped(); n++) {
        forks_once(n);
        usleep(10000);
    }
    return unused;
}

/* ---- the one that rebuilds ---- */
static uint64_t absent_of(uint64_t round, uint64_t *checked)
{
    uint64_t absent = 0;
    for (int who = 0; who < SLOTS; who++) {
        const slot *s = &b->slots[who];
        for (uint64_t i = get_(&s->acked); i-- > 0; ++*checked) {
            const uint64_t key = name_of(who, i);
            if (s->rounds[i % KEPT] < round) break;
            absent += bf_test(shared, &key, 8, NULL) != 1;
        }
    }
    return absent;
}
static double now_(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
/* Until each adder has begun a call and ended it, or for some ms. */
static void let_them_add(void)
{
    const uint64_t was = get_(&b->slots[0].acked);
    for (int tries = 0; tries < 2000 && get_(&b->slots[0].acked) < was + 2; tries++) sched_yield();
}
static void rebuilds(double seconds)
{
    uint64_t checked = 0, absent = 0, round = 0;
    for (const double end = now_() + seconds; now_() < end;) {
        bf_filter *fresh = bf_rebuild_begin(shared, &e);
        CHECK(fresh != NULL);
        if (!fresh || bf_add(fresh, &removed, 8, &e) < 0) break;
        set_(&b->round, ++round);
        let_them_add();
        CHECK_EQ(
            round % 5 ? bf_rebuild_end(shared, fresh, &e) : bf_rebuild_cancel(shared, fresh, &e),
            0);
        bf_close(fresh);
        absent += absent_of(round, &checked);
    }
    CHECK_EQ(absent, 0);
    printf("     %s, %s: %llu rebuilds, %llu keys looked for\n", in_file ? "file" : "memory",
        counting ? "counters" : "bits", (unsigned long long)round, (unsigned long long)checked);
}

TEST(nothing_is_lost)
{
    const char *asked = getenv("BF_STRESS_SECONDS");
    const double seconds = asked ? atof(asked) : SHORT(4, 1);
    EACH
    {
        enum { OWN = 1 };
        pthread_t thread[ADDERS + 2];
        pid_t child[ADDERS];
        int status;
        void *fault;
        memset(b, 0, sizeof *b);
        shared = large(in_file);
        const int threads = in_file ? OWN : ADDERS;
        for (int i = threads; i < ADDERS; i++) child[i] = process_that_adds(i);
        for (int i = 0; i < threads; i++)
            pthread_create(&thread[i], NULL, adder, (void *)(intptr_t)i);
        pthread_create(&thread[threads], NULL, remover, NULL);
        pthread_create(&thread[threads + 1], NULL, forker, NULL);
        rebuilds(seconds / 4);
        __atomic_store_n(&b->stop, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < threads + 2; i++) {
            pthread_join(thread[i], &fault);
            CHECK(fault == NULL);
        }
        for (int i = threads; i < ADDERS; i++)
            CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
        bf_close(shared);
        if (in_file) gone();
    }
}

int main(void)
{
    b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) return 1;
    return main_in_folder();
}
