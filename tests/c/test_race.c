/* test_race.c - several threads and processes in one filter of each kind: no key and no step of a
 * counter is lost, somebody is always told "new", of those who take one key out one gets it, and
 * parts are added once.  Runs under TSan too.  Runs with both kernels.  About core/bits/words.c,
 * core/bits/counters.c, core/home/file_parts.c, core/parts/grow.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter_host.h"
#include "at_once.h"
#include "growing_keys.h"

static const bf_spec kinds[] = {
    { .m = 1 << 21, .k = 7, .scheme = "classic" },
    { .m = 1 << 21, .k = 7, .scheme = "block" },
    { .m = 1 << 21, .k = 7, .scheme = "block2" },
    { .m = 1 << 19, .k = 8, .scheme = "classic", .counting = true },
    { .m = 1 << 19, .k = 8, .scheme = "block", .counting = true },
    { .m = 1 << 19, .k = 8, .scheme = "block2", .counting = true },
    { .n = 200, .p = 0.001, .grow = 2 },
    { .n = 20, .p = 1e-9, .grow = 1.1, .counting = true },
};
enum { KINDS = COUNT(kinds), KEYS = 2000, AT_A_TIME = 100, BAD = 77 };
enum { THREADS, THREADS_ON_FILE, CHILDREN, PROCESSES, WAYS };
static bf_spec spec;    /* of the filter in the race */
static bool own;        /* each opens it itself */
static bool one_by_one; /* not in batches */

static bf_filter *opened(bool file)
{
    bf_spec s = spec;
    s.threads = true;
    s.storage = file ? path : NULL;
    return bf_open(&s, NULL);
}

static int64_t each_of(bf_filter *f, bool adds, const bf_key *keys, size_t n, uint8_t *each)
{
    if (!one_by_one) return (adds ? bf_add_many : bf_test_many)(f, keys, n, each, NULL);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int rc = (adds ? bf_add : bf_test)(f, keys[i].ptr, keys[i].len, NULL);
        if (rc < 0) return rc;
        if (each) each[i] = (uint8_t)rc;
        sum += rc;
    }
    return sum;
}

/* Keys of its own, which come and, from counters, go and come again; and keys that all add. */
static void work(const job *j)
{
    bf_filter *f = own ? opened(true) : j->f;
    bool good = f != NULL;
    for (uint64_t at = 0; good && at < KEYS; at += AT_A_TIME) {
        name t[2 * AT_A_TIME];
        bf_key mine[AT_A_TIME], all[AT_A_TIME];
        for (uint64_t i = 0; i < AT_A_TIME; i++) {
            mine[i] = key_of(t + i, (char)('a' + j->id), at + i);
            all[i] = key_of(t + AT_A_TIME + i, 'k', at + i);
        }
        good = each_of(f, true, mine, AT_A_TIME, NULL) >= 0 &&
               each_of(f, false, mine, AT_A_TIME, NULL) == AT_A_TIME &&
               each_of(f, true, all, AT_A_TIME, j->won + at) >= 0 &&
               each_of(f, false, all, AT_A_TIME, NULL) == AT_A_TIME;
        for (uint64_t i = 0; good && spec.counting && i < AT_A_TIME; i++) {
            if (i % 4 == 0) continue;
            good = bf_remove(f, mine[i].ptr, mine[i].len, NULL) == 1;
            if (i % 4 == 1) good &= bf_add(f, mine[i].ptr, mine[i].len, NULL) >= 0;
        }
    }
    if (!good) j->won[0] = BAD;
    if (own) bf_close(f);
}

/* All want the same keys out. */
static void take(const job *j)
{
    bf_filter *f = own ? opened(true) : j->f;
    for (uint64_t i = 0; f && i < KEYS; i++) {
        name t;
        const bf_key k = key_of(&t, 'k', i);
        j->won[i] = bf_remove(f, k.ptr, k.len, NULL) == 1;
    }
    if (own) bf_close(f);
}
static unsigned winners(const uint8_t *won, size_t key)
{
    unsigned sum = 0;
    for (size_t w = 0; w < WORKERS; w++) sum += won[w * KEYS + key];
    return sum;
}

/* The same by one thread. */
static bf_filter *serial(void)
{
    bf_filter *f = opened(false);
    name t;
    for (int w = 0; w < WORKERS; w++) {
        CHECK(many(f, true, 'k', 0, KEYS, NULL) >= 0);
        for (uint64_t i = 0; i < KEYS; i++) {
            const bf_key k = key_of(&t, (char)('a' + w), i);
            if (!spec.counting || i % AT_A_TIME % 4 < 2) bf_add(f, k.ptr, k.len, &e);
        }
    }
    return f;
}

static void race(int way)
{
    const bool file = way != THREADS, processes = way >= CHILDREN;
    bf_filter *f = opened(file), *alone = serial(), *late = file ? opened(true) : bf_retain(f);
    uint8_t *won = won_bytes(KEYS);
    unsigned nobody = 0, once = 0;
    bf_state st;
    own = way == PROCESSES;
    at_once(f, processes, won, KEYS, work);
    for (int w = 0; w < WORKERS; w++) CHECK(won[w * KEYS] != BAD);
    CHECK_EQ(many(late, false, 'k', 0, KEYS, NULL), KEYS);
    for (int w = 0; w < WORKERS && !spec.counting; w++)
        CHECK_EQ(many(late, false, (char)('a' + w), 0, KEYS, NULL), KEYS);
    if (spec.grow == 0) CHECK_EQ(bf_equal(late, alone, &e), 1);
    if (spec.grow != 0 && !spec.counting) CHECK_EQ(parts_of(late), parts_of(alone));
    if (spec.grow != 0) rate_is(late, 0.0011, 100000);
    /* "new" to nobody only where all its bits were others' */
    for (size_t i = 0; i < KEYS; i++) nobody += winners(won, i) == 0;
    CHECK(bf_get_state(late, &st, &e) == 0 && nobody <= KEYS * st.fpr + 5);
    if (spec.counting) {
        CHECK_EQ(bf_clear(f, &e), 0);
        CHECK_EQ(many(f, true, 'k', 0, KEYS, NULL), KEYS);
        at_once(f, processes, won, KEYS, take);
        for (size_t i = 0; i < KEYS; i++) once += winners(won, i) == 1;
        CHECK_EQ(once, KEYS);
        CHECK(bf_get_state(f, &st, &e) == 0 && st.ones == 0); /* and nobody else's steps */
    }
    munmap(won, WORKERS * KEYS);
    CLOSE(f, alone, late);
    unlink(path);
}

static void every_kind(int way)
{
    const int modes = way == THREADS || way == PROCESSES ? 2 : 1;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (int single = 0; single < modes; single++) {
            const int before = failed_here;
            spec = kinds[kind];
            one_by_one = single;
            race(way);
            if (failed_here > before) FAILED("     kind %zu, way %d\n", kind, way);
        }
}
TEST(threads_in_memory) { every_kind(THREADS); }
TEST(threads_on_a_file) { every_kind(THREADS_ON_FILE); }
TEST(children_use_their_parents_handle) { every_kind(CHILDREN); }
TEST(processes_on_a_file) { every_kind(PROCESSES); }

int main(void) { return main_in_folder(); }
