/* test_threads.c - bf_use_threads: batches in several threads set the same bits and give the same
 * answers as one thread.  wraps: pthread_create, malloc
 * About core/keys/parallel.c, core/keys/gather.c, core/keys/column.c, core/base/threads.c. */
#define _GNU_SOURCE
#include "check.h"
#include "native.h"
#include "oracle.h"

enum { MOST = 150000, TEXT = 24 };
static bf_error e;
static char (*text)[TEXT];
static bf_key *keys;
static uint8_t *one, *many;
static int created, refused, running; /* threads of bf_parallel */
static bool refuse, no_memory;

REPLACED(void *, malloc, (size_t size)) { return no_memory ? NULL : __real_malloc(size); }

typedef struct {
    void *(*run)(void *);
    void *arg;
} thread_work;
static void *counted(void *arg)
{
    const thread_work work = *(thread_work *)arg;
    free(arg);
    void *result = work.run(work.arg);
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
    return result;
}

REPLACED(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg))
{
    refused += refuse;
    if (refuse) return EAGAIN;
    thread_work *work = __real_malloc(sizeof *work);
    *work = (thread_work){ run, arg };
    created++;
    __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
    return __real_pthread_create(thread, attr, counted, work);
}

/* Every third key is an earlier one of the batch. */
static void make_keys(unsigned seed, size_t n)
{
    uint32_t random = seed;
    for (size_t i = 0; i < n; i++) {
        const size_t number = i % 3 == 2 ? o_random(&random) % i : i;
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "%u-%zu", seed, number) };
    }
}

typedef struct {
    const char *name;
    bf_spec spec;
    bool file, alone; /* alone: its adds use one thread */
} kind;
static const kind kinds[] = {
    { "block", { .m = 1 << 20, .k = 7, .scheme = "block" }, false, false },
    { "block, k 16", { .m = 1 << 19, .k = 16, .scheme = "block" }, false, false },
    { "block, odd m", { .m = 512 * 1291, .k = 8, .scheme = "block" }, false, false },
    { "block, small", { .m = 512 * 70, .k = 4, .scheme = "block" }, false, false },
    { "block, shards", { .m = 1 << 20, .k = 7, .scheme = "block", .shards = 4 }, false, false },
    { "block, threads", { .m = 1 << 20, .k = 7, .scheme = "block", .threads = true }, false,
        false },
    { "block, file", { .m = 1 << 20, .k = 7, .scheme = "block" }, true, false },
    { "block, writer", { .m = 1 << 20, .k = 7, .scheme = "block", .exclusive = true }, true,
        false },
    { "block2", { .m = 1 << 20, .k = 14, .scheme = "block2" }, false, false },
    { "block2, file", { .m = 1 << 20, .k = 14, .scheme = "block2" }, true, false },
    { "classic", { .m = 1 << 20, .k = 7, .scheme = "classic" }, false, false },
    { "classic, shards", { .m = 1 << 20, .k = 7, .scheme = "classic", .shards = 8 }, false, true },
    { "sax-sdbm", { .m = 1 << 20, .k = 2, .scheme = "sax-sdbm" }, false, true },
    { "counting", { .m = 1 << 20, .k = 7, .scheme = "block", .counting = true }, false, false },
    { "counting, k 12", { .m = 1 << 18, .k = 12, .scheme = "block", .counting = true }, false,
        false },
    { "counting, threads",
        { .m = 1 << 20, .k = 7, .scheme = "block", .counting = true, .threads = true }, false,
        true },
    { "counting, file", { .m = 1 << 20, .k = 7, .scheme = "block", .counting = true }, true, true },
    { "counting, writer",
        { .m = 1 << 20, .k = 7, .scheme = "block", .counting = true, .exclusive = true }, true,
        false },
    { "counting classic", { .m = 1 << 20, .k = 7, .scheme = "classic", .counting = true }, false,
        false },
    { "grow", { .n = 30000, .p = 0.01, .grow = 2 }, false, false },
    { "grow, small parts", { .n = 100, .p = 0.01, .grow = 2 }, false, false },
    { "grow, block2", { .n = 30000, .p = 1e-5, .grow = 2 }, false, true },
    { "grow, file", { .n = 30000, .p = 0.01, .grow = 2 }, true, true },
    { "grow, writer", { .n = 30000, .p = 0.01, .grow = 2, .exclusive = true }, true, false },
    { "grow, counting", { .n = 30000, .p = 0.01, .grow = 2, .counting = true }, false, true },
    { "window", { .n = 100000, .p = 0.01, .window = 1e9 }, false, true },
};

static bf_filter *open_kind(const kind *k, const char *path)
{
    bf_spec spec = k->spec;
    if (k->file) spec.storage = path;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("%s: %s\n", k->name, e.msg);
    return f;
}

static void same_images(const kind *k, bf_filter *a, bf_filter *b)
{
    const uint64_t bytes = info_of(a).image_bytes;
    char *x = malloc(bytes), *y = malloc(bytes);
    CHECK_EQ(info_of(b).image_bytes, bytes);
    CHECK_EQ(bf_to_bytes(a, x, bytes, &e), 0);
    CHECK_EQ(bf_to_bytes(b, y, bytes, &e), 0);
    if (k->spec.window > 0) /* their epochs began at other times */
        CHECK_EQ(bf_equal(a, b, &e), 1);
    else if (memcmp(x, y, bytes))
        FAILED("%s: other bits\n", k->name);
    free(x);
    free(y);
}

/* The keys as a column: their text is copied, as a host writes numbers. Key `damaged` has none. */
static size_t damaged = SIZE_MAX;
static size_t gather(const void *ctx, size_t from, size_t n, bf_key *to, char *room)
{
    (void)ctx;
    for (size_t i = 0; i < n; i++, room += TEXT) {
        if (from + i == damaged) return i;
        to[i] = (bf_key){ memcpy(room, keys[from + i].ptr, TEXT), keys[from + i].len };
    }
    return n;
}
static const bf_column column = { gather, NULL };

typedef int64_t call(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
static int64_t add_column(bf_filter *f, const bf_key *of, size_t n, uint8_t *each, bf_error *err)
{
    (void)of;
    return bf_add_column(f, &column, n, each, err);
}
static int64_t test_column(bf_filter *f, const bf_key *of, size_t n, uint8_t *each, bf_error *err)
{
    (void)of;
    return bf_test_column(f, &column, n, each, err);
}

/* The same batch by one thread, and by several in another filter. */
static void same_answers(
    const kind *k, call *run, bf_filter *a, bf_filter *b, unsigned threads, size_t n)
{
    const bool add = run == bf_add_many, test = run == bf_test_many;
    bf_use_threads(1);
    const int64_t want = run(a, keys, n, one, &e);
    bf_use_threads(threads);
    const int64_t got = (n % 2 && add    ? add_column
                         : n % 2 && test ? test_column
                                         : run)(b, keys, n, many, &e);
    CHECK_EQ(got, want);
    if (want < 0) FAILED("%s: %s\n", k->name, e.msg);
    if (memcmp(one, many, n))
        FAILED("%s, %u threads, %zu keys: other answers\n", k->name, threads, n);
    bf_use_threads(1);
}

/* Returns how many threads were created for adds. */
static int all_calls(const kind *k, unsigned threads, size_t n)
{
    int for_adds = 0;
    char path[2][40];
    for (int i = 0; i < 2; i++) strcpy(path[i], temp_path());
    bf_filter *a = open_kind(k, path[0]), *b = open_kind(k, path[1]);
    for (unsigned round = 0; a && b && round < 3; round++) { /* the third round repeats the first */
        make_keys(round % 2, n);
        created = 0;
        same_answers(k, bf_add_many, a, b, threads, n);
        for_adds += created;
        created = 0;
        same_answers(k, bf_test_many, a, b, threads, n);
        if (!(k->spec.window > 0)) CHECK(created > 0);
        make_keys(round + 5, n);
        same_answers(k, bf_test_many, a, b, threads, n);
        if (k->spec.counting) same_answers(k, bf_count_many, a, b, threads, n);
    }
    make_keys(1, n / 2);
    if (k->spec.counting) same_answers(k, bf_remove_many, a, b, threads, n / 2);
    if (a && b) same_images(k, a, b);
    bf_use_threads(threads);
    if (a && b)
        CHECK_EQ(bf_add_many(a, keys, n / 2, NULL, &e), bf_add_many(b, keys, n / 2, NULL, &e));
    if (a && b) same_images(k, a, b);
    bf_use_threads(1);
    CLOSE(a, b);
    for (int i = 0; i < 2; i++) unlink(path[i]);
    return for_adds;
}

TEST(bits_and_answers_are_those_of_one_thread)
{
    static const struct {
        unsigned threads;
        size_t n;
    } some[] = { { 2, 16384 }, { 3, 40000 }, { 1000, MOST - 1 } }; /* odd: a column */
    for (size_t i = 0; i < COUNT(kinds); i++) {
        int for_adds = 0;
        for (size_t j = 0; j < SHORT(COUNT(some), 2); j++)
            for_adds += all_calls(&kinds[i], some[j].threads, some[j].n);
        if ((for_adds > 0) == kinds[i].alone) FAILED("%s: %d threads\n", kinds[i].name, for_adds);
    }
}

TEST(hashes)
{
    uint64_t *hashes = malloc(MOST * sizeof *hashes), at = 1;
    for (size_t i = 0; i < MOST; i++)
        hashes[i] =
            i % 5 ? (at = at * UINT64_C(6364136223846793005) + 1442695040888963407) : hashes[i / 2];
    static const char *const schemes[] = { "hashes64-block", "hashes64-block2",
        "hashes64-classic" };
    for (size_t i = 0; i < COUNT(schemes); i++) {
        const bf_spec spec = { .m = 1 << 21, .k = 7, .scheme = schemes[i] };
        bf_filter *a = bf_open(&spec, &e), *b = bf_open(&spec, &e);
        for (int round = 0; round < 2; round++) {
            bf_use_threads(1);
            const int64_t want = bf_add_hashes(a, hashes, MOST, one, &e);
            bf_use_threads(2);
            CHECK_EQ(bf_add_hashes(b, hashes, MOST, many, &e), want);
            CHECK(memcmp(one, many, MOST) == 0);
            CHECK_EQ(bf_test_hashes(b, hashes, MOST, many, &e), MOST);
        }
        CHECK_EQ(bf_equal(a, b, &e), 1);
        CLOSE(a, b);
    }
    bf_use_threads(1);
    free(hashes);
}

/* A call takes more text lines than by one thread, so the whole buffer is compared. The last text
 * line has no separator; some are empty, and one is longer than a part of the buffer. */
TEST(text_lines)
{
    enum { LINES = 200000, LONG = 1 << 21, ROOM = LINES * 8 + LONG };
    char *lines = malloc(ROOM), *at = lines, *kept[2] = { malloc(ROOM), malloc(ROOM) };
    for (int i = 0; i < LINES; i++) {
        if (i == LINES / 2) at = (char *)memset(at, 'x', LONG) + LONG;
        if (i % 10) at += sprintf(at, "%d", i * 7919 % 150001);
        if (i < LINES - 1) *at++ = '\n';
    }
    const bf_spec spec = { .m = 1 << 20, .k = 7, .scheme = "block" };
    bf_filter *f[2] = { bf_open(&spec, &e), bf_open(&spec, &e) };
    for (int round = 0; round < 2; round++) {
        bf_lines l[2];
        for (unsigned j = 0; j < 2; j++) {
            l[j] = (bf_lines){
                .at = lines, .end = at, .sep = '\n', .last = true, .kept = kept[j], .keep = 1
            };
            bf_use_threads(1 + 2 * j);
            while (bf_add_lines(f[j], &l[j], &e) > 0) {}
        }
        CHECK_EQ(l[1].keys, LINES);
        CHECK_EQ(l[1].hits, l[0].hits);
        CHECK_EQ(l[1].kept - kept[1], l[0].kept - kept[0]);
        CHECK(memcmp(kept[0], kept[1], (size_t)(l[0].kept - kept[0])) == 0);
    }
    CHECK_EQ(bf_equal(f[0], f[1], &e), 1);
    bf_use_threads(1);
    CLOSE(f[0], f[1]);
    free(lines);
    free(kept[0]);
    free(kept[1]);
}

/* Only the first n keys fit; the answer of the next one is an error with its index. */
TEST(a_full_filter)
{
    static const bf_spec full[] = {
        { .n = 50000, .p = 0.01, .scheme = "block", .overfull = BF_OVERFULL_RAISE },
        { .n = 50000,
            .p = 0.01,
            .scheme = "block",
            .overfull = BF_OVERFULL_RAISE,
            .counting = true },
        { .n = 20000, .p = 0.5, .grow = 1, .overfull = BF_OVERFULL_RAISE },
    };
    for (size_t i = 0; i < COUNT(full); i++) {
        bf_filter *f[2] = { bf_open(&full[i], &e), bf_open(&full[i], &e) };
        bf_error why[2] = { { 0 }, { 0 } };
        int64_t rc[2];
        make_keys(9, MOST);
        for (unsigned j = 0; j < 2; j++) {
            bf_use_threads(1 + j);
            rc[j] = bf_add_many(f[j], keys, MOST, j ? many : one, &why[j]);
        }
        bf_use_threads(1);
        CHECK_EQ(rc[1], rc[0]);
        CHECK_EQ(why[1].key, why[0].key);
        CHECK(memcmp(one, many, rc[0] < 0 ? why[0].key : MOST) == 0);
        CHECK_EQ(bf_equal(f[0], f[1], &e), 1);
        CLOSE(f[0], f[1]);
    }
}

/* A scheme of UTF-16 refuses a key that is not UTF-8. */
TEST(a_key_that_is_refused)
{
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 20, .k = 5, .scheme = "guava:chars" }, &e);
    make_keys(3, 20000);
    keys[17001] = (bf_key){ "\xFF", 1 };
    bf_use_threads(2);
    CHECK_EQ(bf_test_many(f, keys, 20000, many, &e), BF_EINVAL);
    CHECK_EQ(e.key, 17001);
    CHECK_EQ(bf_add_many(f, keys, 20000, many, &e), BF_EINVAL);
    CHECK_EQ(e.key, 17001);
    CHECK_EQ(bf_test_many(f, keys, 17001, NULL, &e), 17001);
    bf_use_threads(1);
    bf_close(f);
}

/* The keys before a damaged key of a column are added once, and no later key is. */
static void keys_before_damage(const kind *k, unsigned threads, size_t at)
{
    char path[2][40];
    for (int i = 0; i < 2; i++) strcpy(path[i], temp_path());
    bf_filter *a = open_kind(k, path[0]), *b = open_kind(k, path[1]);
    CHECK(bf_add_many(a, keys, at, one, &e) >= 0);
    damaged = at;
    bf_use_threads(threads);
    CHECK_EQ(bf_add_column(b, &column, MOST, many, &e), BF_EHOST);
    if (e.key != at) FAILED("%s, %u threads: key %zu, not %zu\n", k->name, threads, e.key, at);
    CHECK(memcmp(one, many, at) == 0);
    same_images(k, a, b);
    CHECK_EQ(bf_test_column(b, &column, MOST, many, &e), BF_EHOST);
    CHECK_EQ(e.key, at);
    CHECK(at == 0 || memchr(many, 0, at) == NULL);
    damaged = SIZE_MAX;
    bf_use_threads(1);
    CLOSE(a, b);
    for (int i = 0; i < 2; i++) unlink(path[i]);
}

TEST(a_damaged_column)
{
    static const kind full = { "full",
        { .n = 120000, .p = 0.01, .scheme = "block", .overfull = BF_OVERFULL_RAISE }, false,
        false };
    make_keys(4, MOST);
    for (size_t i = 0; i <= COUNT(kinds); i++) {
        const kind *k = i < COUNT(kinds) ? &kinds[i] : &full;
        keys_before_damage(k, 1, i % 2 ? 0 : 17001);
        keys_before_damage(k, 2, 140000);
    }
}

/* One thread does the work where no other can be created, or where there is no memory, and returns
 * the errors that it returns in any case. */
TEST(what_the_system_refuses)
{
    char path[2][40];
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (int memory = 0; memory < 2; memory++) {
            const kind *k = &kinds[i];
            if (k->alone || (memory && k->file)) continue;
            for (int j = 0; j < 2; j++) strcpy(path[j], temp_path());
            bf_filter *a = open_kind(k, path[0]), *b = open_kind(k, path[1]);
            make_keys(4, 40000);
            refused = 0;
            refuse = !memory;
            no_memory = memory && k->spec.grow == 0; /* a part needs memory */
            same_answers(k, bf_add_many, a, b, 4, 40000);
            no_memory = memory;
            same_answers(k, bf_test_many, a, b, 4, 40000);
            no_memory = refuse = false;
            CHECK(memory || refused > 0);
            same_images(k, a, b);
            CLOSE(a, b);
            for (int j = 0; j < 2; j++) unlink(path[j]);
        }
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 20, .k = 200, .scheme = "guava" }, &e);
    for (unsigned threads = 1; threads < 4; threads++) {
        bf_use_threads(threads);
        no_memory = true;
        const int64_t rc = bf_test_many(f, keys, 40000, NULL, &e);
        no_memory = false;
        CHECK_EQ(rc, BF_ENOMEM);
    }
    bf_use_threads(1);
    bf_close(f);
}

static void *has_its_own_number(void *filter)
{
    created = 0;
    bf_test_many(filter, keys, 40000, NULL, &e);
    return created ? filter : NULL;
}

TEST(threads_exist_only_during_a_call)
{
    void *other;
    pthread_t thread;
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 20, .k = 7, .scheme = "block" }, &e);
    make_keys(8, 40000);
    created = 0;
    bf_use_threads(0);
    CHECK(bf_add_many(f, keys, 40000, NULL, &e) > 0);
    bf_use_threads(4);
    CHECK(bf_add_many(f, keys, 40000, NULL, &e) == 0);
    CHECK(created >= 6);
    CHECK_EQ(running, 0);
    IN_A_CHILD CHECK_EQ(bf_test_many(f, keys, 40000, NULL, &e), 40000);
    created = 0;
    bf_test_many(f, keys, 8000, NULL, &e);
    CHECK_EQ(created, 0);
    pthread_create(&thread, NULL, has_its_own_number, f);
    pthread_join(thread, &other);
    CHECK(other == NULL);
    bf_use_threads(1);
    bf_close(f);
}

int main(void)
{
    text = malloc(MOST * sizeof *text);
    keys = malloc(MOST * sizeof *keys);
    one = malloc(MOST);
    many = malloc(MOST);
    run_tests();
    free(text);
    free(keys);
    free(one);
    free(many);
    return FINISH();
}
