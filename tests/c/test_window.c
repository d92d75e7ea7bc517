/* test_window.c - filters that forget, under a clock of the test's: against an exact memory of
 * when each key was added, in memory and in a mapped file; clocks that jump; several processes
 * under a clock that runs fast; kill -9 while a part is emptied; bytes and sets.  Runs with both
 * kernels.  About core/parts/window.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include "folder.h"
#include "must.h"
#include "native.h"

static double *now; /* shared by all processes */
static double clock_(void *p)
{
    double t;
    __atomic_load((const double *)p, &t, __ATOMIC_RELAXED);
    return t;
}

#define OPEN(...)                                                                                  \
    must(bf_open(&(bf_spec){ .clock = clock_, .clock_ctx = now, __VA_ARGS__ }, &e), __LINE__)
typedef struct {
    char text[24];
} name;
static bf_key key_of(name *t, uint64_t i)
{
    return (bf_key){ t->text, (size_t)sprintf(t->text, "k%llu", (unsigned long long)i) };
}
static int add(bf_filter *f, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, i);
    return bf_add(f, k.ptr, k.len, &e);
}
static int has(bf_filter *f, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, i);
    return bf_test(f, k.ptr, k.len, &e);
}
static int64_t many(bf_filter *f, bool adds, uint64_t from, size_t n, uint8_t *each)
{
    static name t[1000];
    static bf_key k[1000];
    int64_t sum = 0;
    for (size_t at = 0, c; at < n; at += c) {
        c = n - at < 1000 ? n - at : 1000;
        for (size_t i = 0; i < c; i++) k[i] = key_of(t + i, from + at + i);
        int64_t rc = (adds ? bf_add_many : bf_test_many)(f, k, c, each ? each + at : NULL, &e);
        if (rc < 0) return rc;
        sum += rc;
    }
    return sum;
}

static uint32_t seed = 1;
static uint32_t random_(void) { return seed = seed * 1664525 + 1013904223, seed >> 8; }

/* ---- the oracle: when was each key added last? ---- */
enum { KEYS = 400 };
static void against_exact_times(
    double window, unsigned parts, double start, bool file, const char *scheme)
{
    static double added[KEYS];
    const double longest = window * (1 + 1.0 / parts), slack = window * 1e-9;
    unsigned wrong_new = 0, kept = 0, checks = 0;
    *now = start;
    for (int i = 0; i < KEYS; i++) added[i] = -INFINITY;
    bf_filter *f = OPEN(.n = KEYS, .p = 1e-4, .window = window, .parts = parts, .scheme = scheme,
        .storage = file ? path : NULL);
    for (int step = 0; step < 6000; step++) {
        const uint64_t i = random_() % KEYS;
        const double age = *now - added[i];
        if (random_() % 2) {
            int rc = has(f, i);
            if (age <= window - slack)
                CHECK_EQ(rc, 1);
            else if (age >= longest + slack) {
                checks++;
                kept += rc == 1;
            }
        } else {
            uint8_t one;
            int rc = random_() % 2 ? add(f, i) : many(f, true, i, 1, &one) < 0 ? -1 : one;
            CHECK(rc >= 0);
            if (age <= window - slack)
                CHECK_EQ(rc, 0);
            else if (age >= longest + slack) {
                checks++;
                wrong_new += rc == 0;
            }
            added[i] = *now;
        }
        if (random_() % 3 == 0) *now += window / 50 * (random_() % 100) / 100;
        if (random_() % 500 == 0) *now += window * (random_() % 300) / 100;
        if (random_() % 1000 == 0) {
            if (!file) {
                bf_filter *c = must(bf_copy(f, &e), __LINE__);
                CHECK_EQ(bf_equal(c, f, &e), 1);
                bf_close(f);
                f = c;
            } else {
                bf_close(f);
                f = OPEN(.storage = path);
            }
        }
    }
    CHECK(checks > 100);
    CHECK(kept + wrong_new <= 3); /* false positives at 1e-4 */
    bf_close(f);
    if (file) unlink(path);
}

TEST(every_window)
{
    static const unsigned parts[] = { 1, 2, 3, 4, 7, 24, 255 };
    for (size_t i = 0; i < COUNT(parts); i++)
        for (int file = 0; file < 2; file++) {
            against_exact_times(60, parts[i], 0, file, "block");
            against_exact_times(86400, parts[i], 1.7e9 + 1234.5, file, "classic");
            against_exact_times(0.25, parts[i], 1.7e9, file, "block2");
        }
    against_exact_times(1, 3, -5000, false, "block"); /* before the epoch's epoch */
}

TEST(bounds_to_the_second)
{
    for (unsigned parts = 1; parts <= 6; parts++)
        for (int shift = 0; shift < 12; shift++) {
            const double window = 60, t = 1000 * 60 + shift * 5;
            *now = t;
            bf_filter *f = OPEN(.n = 100, .p = 1e-6, .window = window, .parts = parts);
            CHECK_EQ(add(f, 1), BF_ADDED);
            *now = t + window;
            CHECK_EQ(has(f, 1), 1);
            *now = t + window * (1 + 1.0 / parts);
            CHECK_EQ(has(f, 1), 0);
            CHECK_EQ(add(f, 1), BF_ADDED);
            *now += window / 2; /* adding again: false, and it counts from now on */
            CHECK_EQ(add(f, 1), BF_PRESENT);
            *now += window;
            CHECK_EQ(has(f, 1), 1);
            bf_close(f);
        }
}

TEST(rate_whatever_comes_when)
{
    enum { N = 20000, PROBES = 200000 };
    const double p = 0.01;
    for (int shape = 0; shape < 3;
        shape++) { /* all at once; evenly; the same keys in every epoch */
        *now = 5000;
        bf_filter *f = OPEN(.n = N, .p = p, .window = 40, .parts = 4);
        for (int epoch = 0; epoch < 9; epoch++, *now += 10) {
            if (shape == 0 && epoch % 4 == 0) many(f, true, (uint64_t)epoch * N, N, NULL);
            if (shape == 1) many(f, true, (uint64_t)epoch * N / 4, N / 4, NULL);
            if (shape == 2) many(f, true, 0, N, NULL);
            double hits = (double)many(f, false, 1 << 30, PROBES, NULL);
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
            OPEN(.n = 1000, .p = 1e-5, .window = 60, .parts = 4, .storage = file ? path : NULL);
        many(f, true, 0, 500, NULL);
        *now = 10; /* back: nothing is lost, nothing emptied */
        CHECK_EQ(many(f, false, 0, 500, NULL), 500);
        CHECK_EQ(many(f, true, 500, 500, NULL), 500);
        CHECK_EQ(many(f, false, 0, 1000, NULL), 1000);
        *now = -1e6;
        CHECK_EQ(many(f, false, 0, 1000, NULL), 1000);
        if (file) {
            bf_filter *g = OPEN(.storage = path);
            CHECK_EQ(many(g, false, 0, 1000, NULL), 1000);
            bf_close(g);
        }
        *now = 100059;
        CHECK_EQ(many(f, false, 0, 1000, NULL), 1000);
        *now = 100076; /* it has caught up and goes on */
        CHECK(many(f, false, 0, 1000, NULL) <= 1);
        many(f, true, 0, 1000, NULL);
        *now = 4e9; /* far ahead: forgotten */
        CHECK(many(f, false, 0, 1000, NULL) <= 1);
        CHECK(many(f, true, 0, 1000, NULL) >= 999);
        *now = 100080; /* a wrong clock's adds keep until its time has come */
        CHECK_EQ(many(f, false, 0, 1000, NULL), 1000);
        bf_close(f);
        unlink(path);
    }
}

TEST(clocks_that_fail)
{
    *now = 1000;
    bf_filter *f = OPEN(.n = 1000, .p = 0.01, .window = 60);
    uint64_t pos[64];
    bf_state st;
    CHECK_EQ(add(f, 1), BF_ADDED);
    *now = NAN;
    CHECK_EQ(add(f, 1), BF_EHOST);
    CHECK_EQ(has(f, 1), BF_EHOST);
    CHECK_EQ(many(f, true, 1, 10, NULL), BF_EHOST);
    CHECK_EQ(bf_hashcode(f, "x", 1, pos, 64, &e), BF_EHOST);
    CHECK_EQ(bf_get_state(f, &st, &e), BF_EHOST);
    *now = INFINITY;
    CHECK_REFUSED(add(f, 1), BF_EINVAL, "clock must give seconds");
    *now = 1000;
    CHECK_EQ(has(f, 1), 1);
    bf_close(f);
    f = must(bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .window = 3600 }, &e),
        __LINE__); /* the system's clock */
    CHECK_EQ(add(f, 1), BF_ADDED);
    CHECK_EQ(has(f, 1), 1);
    CHECK_EQ(add(f, 1), BF_PRESENT);
    bf_part_info p;
    bf_info i;
    unsigned used = 0;
    bf_get_info(f, &i);
    CHECK(i.window == 3600 && i.parts == 4 && i.part_count == 5);
    for (unsigned q = 0; q < i.part_count; q++) {
        CHECK_EQ(bf_get_part(f, q, &p, &e), 0);
        if (p.until == 0) continue;
        used++;
        CHECK(p.until - p.since == 4500 && p.since <= (double)time(NULL) &&
              p.since > (double)time(NULL) - 902);
    }
    CHECK_EQ(used, 1);
    bf_close(f);
}

/* ---- bytes and sets ---- */
TEST(bytes_and_sets)
{
    *now = 7000;
    bf_filter *f = OPEN(.n = 1000, .p = 1e-4, .window = 60, .parts = 3), *g;
    bf_info i;
    many(f, true, 0, 300, NULL);
    *now += 30;
    many(f, true, 300, 300, NULL);
    bf_get_info(f, &i);
    uint8_t *b = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, i.image_bytes, &e), 0);
    g = must(bf_from_bytes(b, i.image_bytes, &(bf_spec){ .clock = clock_, .clock_ctx = now }, &e),
        __LINE__);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    CHECK_EQ(many(g, false, 0, 600, NULL), 600);
    CHECK(
        !bf_from_bytes(b, i.image_bytes, &(bf_spec){ .window = 61 }, &e) && e.code == BF_EMISMATCH);
    CHECK(!bf_from_bytes(b, i.image_bytes, &(bf_spec){ .window = 60, .parts = 4 }, &e) &&
          e.code == BF_EMISMATCH);
    size_t found = 0, tried = 0;
    for (size_t at = 0; at < i.image_bytes; at += at < 8192 ? 1 : 41) {
        b[at] ^= (uint8_t)(1 << at % 8);
        bf_filter *bad = bf_from_bytes(b, i.image_bytes, NULL, &e);
        tried++;
        found += !bad;
        bf_close(bad);
        b[at] ^= (uint8_t)(1 << at % 8);
    }
    CHECK_EQ(found, tried);
    free(b);
    CHECK_EQ(bf_save(f, path, &e), 0);
    bf_close(g);
    g = OPEN(.storage = path);
    CHECK_EQ(many(g, false, 0, 600, NULL), 600);
    *now += 55; /* the first 300 are forgotten: 85 > 80 */
    CHECK(many(g, false, 0, 300, NULL) == 0 && many(g, false, 300, 300, NULL) == 300);
    many(g, true, 1000, 300, NULL);
    CHECK_EQ(bf_unite(f, g, &e), 0); /* each key by its own time */
    CHECK_EQ(many(f, false, 300, 300, NULL) + many(f, false, 1000, 300, NULL), 600);
    CHECK_EQ(many(f, false, 0, 300, NULL), 0);
    *now += 26;
    CHECK_EQ(many(f, false, 300, 300, NULL), 0);
    CHECK_EQ(many(f, false, 1000, 300, NULL), 300);
    CHECK_EQ(bf_intersect(f, g, &e), BF_EINVAL);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK_EQ(many(f, false, 1000, 300, NULL), 0);
    CHECK_EQ(many(f, true, 1000, 300, NULL), 300);
    CLOSE(f, g);
    unlink(path);
}

/* ---- one file, a clock that runs fast, several processes ---- */
/* Each adds keys of its own and looks, for as long as it must, whether they are there.  The clock
 * is read before the add: the window is counted from then.  A look is judged only if the clock said
 * "still" after it. */
static int adder(uint64_t from, double window, bool tests_only)
{
    bf_filter *f = bf_open(
        &(bf_spec){ .storage = path, .clock = clock_, .clock_ctx = now, .read_only = tests_only },
        &e);
    enum { RECENT = 256 };
    static double at[RECENT];
    int bad = f ? 0 : 1;
    volatile double *clock = now;
    for (uint64_t i = 0; !bad && i < 30000; i++) {
        at[i % RECENT] = *clock;
        if (add(f, from + i) < 0) {
            fprintf(stderr, "%s\n", e.msg);
            bad = 1;
        }
        uint64_t j = i - (i < RECENT ? 0 : random_() % RECENT);
        int rc = has(f, from + j);
        if (*clock - at[j % RECENT] <= window && rc != 1) {
            bad++;
            fprintf(stderr, "lost %llu after %g\n", (unsigned long long)(from + j),
                *clock - at[j % RECENT]);
        }
        if (i % 64 == 63 && i >= 64) {
            int64_t n = many(f, false, from + i - 63, 64, NULL);
            if (*clock - at[(i - 63) % RECENT] <= window && n != 64) {
                bad++;
                fprintf(stderr, "lost %lld of 64\n", (long long)(64 - n));
            }
        }
    }
    bf_close(f);
    return bad;
}

TEST(processes_under_a_fast_clock)
{
    enum { WORKERS = 3 };
    const double window = 40;
    pid_t child[WORKERS];
    int left = WORKERS, status;
    *now = 1e6;
    bf_close(OPEN(.n = 20000, .p = 1e-6, .window = window, .parts = 4, .storage = path));
    for (int w = 0; w < WORKERS; w++)
        if ((child[w] = fork()) == 0) _exit(adder((uint64_t)w << 32, window, false) != 0);
    while (left > 0) { /* an epoch takes 10 s of this clock: about 1 ms */
        *(volatile double *)now += 0.5;
        nanosleep(&(struct timespec){ 0, 20000 }, NULL);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CHECK_EQ(status, 0);
            left--;
        }
    }
    unlink(path);
}

/* The clock stands still, one turn is enforced for each round, and whoever empties may die at it.
 */
TEST(killed_while_a_part_is_emptied)
{
    unsigned found = 0;
    *now = 1e6;
    bf_filter *f = OPEN(.n = 2000000, .p = 1e-4, .window = 40, .parts = 4,
        .storage = path); /* some ms to empty one */
    for (int round = 0; round < 40; round++) {
        many(f, true, (uint64_t)round * 1000, 1000, NULL);
        const double before = *now;
        *now += 10;
        pid_t child = fork();
        if (child == 0) {
            bf_filter *g =
                bf_open(&(bf_spec){ .storage = path, .clock = clock_, .clock_ctx = now }, NULL);
            if (g) add(g, 1u << 30);
            _exit(0);
        }
        nanosleep(&(struct timespec){ 0, random_() % 4000 * 1000 }, NULL);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        found += WIFSIGNALED(status);
        for (int back = 0; back < 4 && back <= round;
            back++) /* four windows' worth of epochs are all there, before and after */
            CHECK_EQ(many(f, false, (uint64_t)(round - back) * 1000, 1000, NULL), 1000);
        if (round >= 5) CHECK(many(f, false, (uint64_t)(round - 5) * 1000, 1000, NULL) <= 3);
        CHECK(*now == before + 10);
    }
    printf("     %u of 40 were killed at it\n", found);
    bf_close(f);
    unlink(path);
}

typedef struct {
    bf_filter *f;
    uint64_t from;
    int bad;
} job;
static void *thread(void *p)
{
    job *j = p;
    for (uint64_t i = 0; i < 20000; i++) {
        name t;
        bf_key k = key_of(&t, j->from + i);
        double at = clock_(now);
        j->bad += bf_add(j->f, k.ptr, k.len, NULL) < 0;
        int rc = bf_test(j->f, k.ptr, k.len, NULL);
        j->bad += clock_(now) - at <= 40 && rc != 1;
    }
    return NULL;
}

TEST(threads_under_a_fast_clock)
{
    enum { WORKERS = 3 };
    *now = 1e6;
    bf_filter *f = OPEN(.n = 20000, .p = 1e-6, .window = 40, .parts = 4, .threads = true);
    pthread_t t[WORKERS];
    job j[WORKERS];
    for (int w = 0; w < WORKERS; w++) {
        j[w] = (job){ f, (uint64_t)w << 32, 0 };
        pthread_create(t + w, NULL, thread, j + w);
    }
    for (int i = 0; i < 2000; i++) {
        double next = *now + 0.5;
        __atomic_store(now, &next, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){ 0, 10000 }, NULL);
    }
    for (int w = 0; w < WORKERS; w++) {
        pthread_join(t[w], NULL);
        CHECK_EQ(j[w].bad, 0);
    }
    bf_close(f);
}

TEST(a_reader_never_writes)
{
    *now = 1e6;
    bf_filter *w = OPEN(.n = 1000, .p = 1e-5, .window = 40, .storage = path),
              *r = OPEN(.storage = path, .read_only = true);
    many(w, true, 0, 100, NULL);
    CHECK_EQ(many(r, false, 0, 100, NULL), 100);
    CHECK_EQ(add(r, 5), BF_ENOTSUP);
    *now += 51;
    CHECK_EQ(many(r, false, 0, 100, NULL), 0);
    CHECK_EQ(has(r, 5), 0);
    *now -= 51; /* nobody added meanwhile: they are still there */
    CHECK_EQ(many(r, false, 0, 100, NULL), 100);
    CHECK_EQ(bf_sync(w, &e), 0);
    CLOSE(w, r);
    unlink(path);
}

int main(void)
{
    now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return main_in_folder();
}
