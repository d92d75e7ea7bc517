/* test_window.c - filters that forget, under a clock of the test's: bounds, rates, clocks that jump
 * (against an exact memory of when each key was added: test_window_tick.c); several processes
 * under a clock that runs fast; kill -9 while a part is emptied; bytes and sets.  Runs with both
 * kernels.  About core/parts/window.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include "at_once.h"
#include "folder.h"
#include "must.h"
#include "letter_keys.h"

static double *now; /* shared by all processes */
static double clock_(void *p)
{
    double t;
    __atomic_load((const double *)p, &t, __ATOMIC_RELAXED);
    return t;
}

#define CLOCKED(...) OPEN(.clock = clock_, .clock_ctx = now, __VA_ARGS__)
static int add_key(bf_filter *f, uint64_t i) { return add(f, 'k', i); }
static int has_key(bf_filter *f, uint64_t i) { return has(f, 'k', i); }
static int64_t many_keys(bf_filter *f, bool adds, uint64_t from, size_t n, uint8_t *each)
{
    return many(f, adds, 'k', from, n, each);
}

static uint32_t seed = 1;
static uint32_t random_(void) { return seed = seed * 1664525 + 1013904223, seed >> 8; }

TEST(rate_whatever_comes_when)
{
    enum { N = 20000, PROBES = 200000 };
    const double p = 0.01;
    for (int shape = 0; shape < 3;
        shape++) { /* all at once; evenly; the same keys in every epoch */
        *now = 5000;
        bf_filter *f = CLOCKED(.n = N, .p = p, .window = 40, .parts = 4);
        for (int epoch = 0; epoch < 9; epoch++, *now += 10) {
            if (shape == 0 && epoch % 4 == 0) many_keys(f, true, (uint64_t)epoch * N, N, NULL);
            if (shape == 1) many_keys(f, true, (uint64_t)epoch * N / 4, N / 4, NULL);
            if (shape == 2) many_keys(f, true, 0, N, NULL);
            double hits = (double)many_keys(f, false, 1 << 30, PROBES, NULL);
            CHECK(hits <= p * PROBES + 5 * sqrt(p * PROBES));
        }
        bf_state st;
        CHECK_EQ(bf_get_state(f, &st, &e), 0);
        CHECK(st.fpr <= p);
        if (shape == 2) CHECK(fabs(st.count - N) < 0.03 * N); /* a key in five parts counts once */
        bf_close(f);
    }
}

TEST(clocks_that_jump)
{
    for (int file = 0; file < 2; file++) {
        *now = 100000;
        bf_filter *f =
            CLOCKED(.n = 1000, .p = 1e-5, .window = 60, .parts = 4, .storage = file ? path : NULL);
        many_keys(f, true, 0, 500, NULL);
        *now = 10; /* back: nothing is lost, nothing emptied */
        CHECK_EQ(many_keys(f, false, 0, 500, NULL), 500);
        CHECK_EQ(many_keys(f, true, 500, 500, NULL), 500);
        CHECK_EQ(many_keys(f, false, 0, 1000, NULL), 1000);
        *now = -1e6;
        CHECK_EQ(many_keys(f, false, 0, 1000, NULL), 1000);
        if (file) {
            bf_filter *g = CLOCKED(.storage = path);
            CHECK_EQ(many_keys(g, false, 0, 1000, NULL), 1000);
            bf_close(g);
        }
        *now = 100059;
        CHECK_EQ(many_keys(f, false, 0, 1000, NULL), 1000);
        *now = 100076; /* it has caught up and goes on */
        CHECK(many_keys(f, false, 0, 1000, NULL) <= 1);
        many_keys(f, true, 0, 1000, NULL);
        *now = 4e9; /* far ahead: forgotten */
        CHECK(many_keys(f, false, 0, 1000, NULL) <= 1);
        CHECK(many_keys(f, true, 0, 1000, NULL) >= 999);
        *now = 100080; /* a wrong clock's adds keep until its time has come */
        CHECK_EQ(many_keys(f, false, 0, 1000, NULL), 1000);
        bf_close(f);
        unlink(path);
    }
}

/* A step of 900 s may begin in the middle of the test. */
static double step_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)(t.tv_sec / 900);
}
TEST(the_clock_of_the_system)
{
    const double began = step_now();
    bf_filter *f = OPEN(.n = 1000, .p = 0.01, .window = 3600);
    CHECK_EQ(add_key(f, 1), BF_ADDED);
    CHECK_EQ(has_key(f, 1), 1);
    CHECK_EQ(add_key(f, 1), BF_PRESENT);
    bf_part_info p;
    unsigned used = 0;
    const bf_info i = info_of(f);
    const double steps = step_now() - began;
    CHECK(i.window == 3600 && i.parts == 4 && i.part_count == 5);
    for (unsigned q = 0; q < i.part_count; q++) {
        CHECK_EQ(bf_get_part(f, q, &p, &e), 0);
        if (p.until == 0) continue;
        used++;
        CHECK(p.until - p.since == 4500 && p.since >= began * 900 &&
              p.since <= (began + steps) * 900);
    }
    CHECK(used >= 1 && used <= 1 + steps);
    bf_close(f);
}

/* ---- bytes and sets ---- */
TEST(bytes_and_sets)
{
    *now = 7000;
    bf_filter *f = CLOCKED(.n = 1000, .p = 1e-4, .window = 60, .parts = 3), *g;
    many_keys(f, true, 0, 300, NULL);
    *now += 30;
    many_keys(f, true, 300, 300, NULL);
    const bf_info i = info_of(f);
    uint8_t *b = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, i.image_bytes, &e), 0);
    g = must(bf_from_bytes(b, i.image_bytes, &(bf_spec){ .clock = clock_, .clock_ctx = now }, &e),
        __LINE__);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    CHECK_EQ(many_keys(g, false, 0, 600, NULL), 600);
    free(b);
    CHECK_EQ(bf_save(f, path, &e), 0);
    bf_close(g);
    g = CLOCKED(.storage = path);
    CHECK_EQ(many_keys(g, false, 0, 600, NULL), 600);
    *now += 55; /* the first 300 are forgotten: 85 > 80 */
    CHECK(many_keys(g, false, 0, 300, NULL) == 0 && many_keys(g, false, 300, 300, NULL) == 300);
    many_keys(g, true, 1000, 300, NULL);
    CHECK_EQ(bf_unite(f, g, &e), 0); /* each key by its own time */
    CHECK_EQ(many_keys(f, false, 300, 300, NULL) + many_keys(f, false, 1000, 300, NULL), 600);
    CHECK_EQ(many_keys(f, false, 0, 300, NULL), 0);
    *now += 26;
    CHECK_EQ(many_keys(f, false, 300, 300, NULL), 0);
    CHECK_EQ(many_keys(f, false, 1000, 300, NULL), 300);
    CHECK_EQ(bf_intersect(f, g, &e), BF_EINVAL);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK_EQ(many_keys(f, false, 1000, 300, NULL), 0);
    CHECK_EQ(many_keys(f, true, 1000, 300, NULL), 300);
    CLOSE(f, g);
    unlink(path);
}

/* ---- one filter, a clock that runs fast, several threads or processes ---- */
/* Each adds keys of its own and looks, for as long as it must, whether they are there; the first
 * one moves the clock.  The clock is read before the add: the window is counted from then.  A look
 * is judged only if the clock said "still" after it. */
static bool in_file;
static void adds_and_looks(const job *j)
{
    enum { RECENT = 64 };
    double at[RECENT];
    name t[RECENT];
    bf_key k[RECENT];
    bf_filter *f = in_file ? CLOCKED(.storage = path) : j->f;
    bool good = true;
    for (uint64_t i = 0; good && i < 20000; i++) {
        const double next = clock_(now) + 0.5;
        if (j->id == 0 && i % 2) __atomic_store(now, &next, __ATOMIC_RELAXED);
        const bf_key last = k[i % RECENT] = key_of(t + i % RECENT, 'a' + (char)j->id, i);
        at[i % RECENT] = clock_(now);
        good = bf_add(f, last.ptr, last.len, NULL) >= 0;
        const int rc = bf_test(f, last.ptr, last.len, NULL);
        good &= clock_(now) - at[i % RECENT] > 40 || rc == 1;
        if (i % RECENT != RECENT - 1) continue;
        const int64_t n = bf_test_many(f, k, RECENT, NULL, NULL);
        good &= clock_(now) - at[0] > 40 || n == RECENT;
    }
    j->won[0] = good;
    if (in_file) bf_close(f);
}

TEST(together_under_a_fast_clock)
{
    uint8_t *won = won_bytes(1);
    for (int file = 0; file < 2; file++) {
        *now = 1e6;
        in_file = file;
        bf_filter *f = CLOCKED(.n = 20000, .p = 1e-6, .window = 40, .parts = 4, .threads = true,
            .storage = file ? path : NULL);
        memset(won, 0, WORKERS);
        at_once(f, file, won, 1, adds_and_looks);
        for (int w = 0; w < WORKERS; w++) CHECK_EQ(won[w], 1);
        bf_close(f);
        unlink(path);
    }
    munmap(won, WORKERS);
}

/* The clock stands still, one turn is enforced for each round, and whoever empties may die at it.
 */
TEST(killed_while_a_part_is_emptied)
{
    unsigned found = 0;
    *now = 1e6;
    bf_filter *f = CLOCKED(.n = 2000000, .p = 1e-4, .window = 40, .parts = 4,
        .storage = path); /* some ms to empty one */
    for (int round = 0; round < 20; round++) {
        many_keys(f, true, (uint64_t)round * 1000, 1000, NULL);
        const double before = *now;
        *now += 10;
        pid_t child = fork();
        if (child == 0) {
            bf_filter *g =
                bf_open(&(bf_spec){ .storage = path, .clock = clock_, .clock_ctx = now }, NULL);
            if (g) add_key(g, 1u << 30);
            _exit(0);
        }
        nanosleep(&(struct timespec){ 0, random_() % 4000 * 1000 }, NULL);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        found += WIFSIGNALED(status);
        for (int back = 0; back < 4 && back <= round;
            back++) /* four windows' worth of epochs are all there, before and after */
            CHECK_EQ(many_keys(f, false, (uint64_t)(round - back) * 1000, 1000, NULL), 1000);
        if (round >= 5) CHECK(many_keys(f, false, (uint64_t)(round - 5) * 1000, 1000, NULL) <= 3);
        CHECK(*now == before + 10);
    }
    printf("     %u of 20 were killed at it\n", found);
    bf_close(f);
    unlink(path);
}

TEST(a_reader_never_writes)
{
    *now = 1e6;
    bf_filter *w = CLOCKED(.n = 1000, .p = 1e-5, .window = 40, .storage = path),
              *r = CLOCKED(.storage = path, .read_only = true);
    many_keys(w, true, 0, 100, NULL);
    CHECK_EQ(many_keys(r, false, 0, 100, NULL), 100);
    CHECK_EQ(add_key(r, 5), BF_ENOTSUP);
    *now += 51;
    CHECK_EQ(many_keys(r, false, 0, 100, NULL), 0);
    CHECK_EQ(has_key(r, 5), 0);
    *now -= 51; /* nobody added meanwhile: they are still there */
    CHECK_EQ(many_keys(r, false, 0, 100, NULL), 100);
    CHECK_EQ(bf_sync(w, &e), 0);
    CLOSE(w, r);
    unlink(path);
}

int main(void)
{
    now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return main_in_folder();
}
