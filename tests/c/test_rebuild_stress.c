/* test_rebuild_stress.c - rebuilds without a pause beside threads and processes that add, remove
 * and fork: no key that was acknowledged in a call that began after a rebuild had begun is absent
 * when it has ended.  BF_STRESS_SECONDS: how long in all, a quarter for each kind.  About
 * core/sets/rebuild.c, core/home/shadow.c. */
#define _GNU_SOURCE
#include "rebuilt.h"
#include <sched.h>

enum { SINGLE, BATCH, UNION, ADDERS = 3, FORKED = ADDERS, SLOTS, MOST = 40, IN_A_ROUND = 400 };
/* Shared with the processes that are forked. */
typedef struct {
    uint64_t round; /* of the open rebuild, or of the last one */
    int stop;
    uint64_t acked[SLOTS]; /* by adder: the last round that it saw, and how many keys of it */
} board;
static board *b;
static bf_filter *shared;

static uint64_t get_(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
static void set_(uint64_t *at, uint64_t v) { __atomic_store_n(at, v, __ATOMIC_SEQ_CST); }
static bool stopped(void) { return __atomic_load_n(&b->stop, __ATOMIC_SEQ_CST); }
static uint64_t name_of(int who, uint64_t round, uint64_t i)
{
    return (uint64_t)who << 56 | round << 24 | i;
}
/* How many keys of this round the adder has acknowledged. */
static uint64_t of_round(int who, uint64_t round)
{
    const uint64_t acked = get_(&b->acked[who]);
    return acked >> 24 == round ? acked & 0xFFFFFF : 0;
}

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
        NULL); /* threads call it */
    CHECK(f != NULL);
    return f;
}

/* ---- those who add ---- */
static int64_t add_some(bf_filter *f, bf_filter *one, uint64_t first, uint64_t n, int how)
{
    uint64_t names[MOST];
    bf_key keys[MOST];
    for (uint64_t i = 0; i < n; i++) {
        names[i] = first + i;
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
    bool good = f && one;
    for (uint64_t turn = 0; good && !stopped(); turn++) {
        const uint64_t round = get_(&b->round), at = of_round(who, round);
        if (at >= IN_A_ROUND) {
            usleep(100);
            continue;
        }
        const int how = hows[turn % 5];
        const uint64_t n = how == SINGLE ? 1 : 1 + turn % MOST;
        good = add_some(f, one, name_of(who, round, at), n, how) >= 0;
        if (good) set_(&b->acked[who], round << 24 | (at + n));
    }
    bf_close(one);
    return good;
}
static void *adder(void *who) { return adds(shared, (int)(intptr_t)who) ? NULL : &counting; }
/* One key that is added and removed.  Each rebuild gives it again: a key that a rebuild has left
 * out must not be removed, its counters are other keys'. */
static const uint64_t removed = (uint64_t)SLOTS << 56;
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
static void *forker(void *unused)
{
    for (; !stopped(); usleep(10000)) {
        const uint64_t round = get_(&b->round), at = of_round(FORKED, round),
                       key = name_of(FORKED, round, at);
        const pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            _exit(bf_add(shared, &key, 8, NULL) < 0 ||
                  (!in_file && bf_test(shared, &key, 8, NULL) != 1));
        }
        ends_well(child);
        if (in_file) set_(&b->acked[FORKED], round << 24 | (at + 1));
    }
    return unused;
}

/* ---- the one that rebuilds ---- */
static uint64_t absent_of(uint64_t round, uint64_t *checked)
{
    uint64_t absent = 0;
    for (int who = 0; who < SLOTS; who++)
        for (uint64_t i = of_round(who, round); i-- > 0; ++*checked) {
            const uint64_t key = name_of(who, round, i);
            absent += bf_test(shared, &key, 8, NULL) != 1;
        }
    return absent;
}
static double now_(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
/* Until an adder has begun a call and ended it, or for some ms. */
static void let_them_add(uint64_t round)
{
    for (int tries = 0; tries < 2000 && of_round(0, round) < 2; tries++) sched_yield();
}
static void rebuilds(double seconds)
{
    uint64_t checked = 0, absent = 0, round = 0;
    for (const double end = now_() + seconds; now_() < end;) {
        bf_filter *fresh = bf_rebuild_begin(shared, &e);
        CHECK(fresh != NULL);
        if (!fresh || bf_add(fresh, &removed, 8, &e) < 0) break;
        set_(&b->round, ++round);
        let_them_add(round);
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
