/* test_failing_calls.c - each scenario runs with its 1st, 2nd, 3rd ... call to the system failing,
 * until it runs through, for every kind of filter.  Whatever fails: a code and a sentence, nothing
 * leaked, no file in part, no key lost that was acknowledged, and the same scenario goes through
 * right after.  The same where calls are interrupted, or do a part of what they are asked: nobody
 * notices.  In Redis: test_redis_failing_calls.c.  Runs with both kernels.  About core/filter.c,
 * core/home/memory.c, core/home/file.c, core/home/file_parts.c, core/sets/copy.c,
 * core/sets/foreign.c. */
/* wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync */
/* wraps: linkat posix_fallocate mmap pread pwrite send recv poll getentropy flock */
#include "../../core/bloomfilter.h"
#include "failing_calls.h"
#include "one_folder.h"
#include "optional.h"

enum { KEYS = 300, MOST = 2000 };
static bf_key keys[KEYS];
static char texts[KEYS][16];
static bool acknowledged;   /* all of keys are in the storage of the scenario */
static bool cut_went_wrong; /* a call was done in part, and somebody noticed */

/* flock does no part; interrupted it may be. */
REPLACED(int, flock, (int fd, int how))
{
    if (how != LOCK_UN && now("flock")) return fault(ENOLCK);
    if (how != LOCK_UN && now_partly("flock")) return fault(EINTR);
    return __real_flock(fd, how);
}

static const uint8_t secret[] = "0123456789abcdef";
static const bf_spec kinds[] = {
    { .n = 1000, .p = 0.01, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 1000, .p = 0.01, .counting = true, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 20, .p = 0.01, .grow = 2, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 500, .p = 0.01, .window = 1e9, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 1000, .p = 0.01, .shards = 3, .scheme = "classic" },
    { .m = 6400, .k = 5, .scheme = "guava" },
};
enum { NKINDS = COUNT(kinds), GROWS = 2 };
static const bf_spec *kind;

/* A file's filter has no secret: is_whole() opens it without one. */
static bf_filter *opened(const char *storage)
{
    bf_spec spec = *kind;
    spec.secret = NULL;
    spec.secret_len = 0;
    spec.storage = storage;
    return bf_open(&spec, &e);
}

/* ---- what a call must have done: each scenario ends at the first error ---- */
static bool try(int64_t rc)
{
    if (rc >= 0) return true;
    if (what_happens != FAILS) cut_went_wrong = true;
    CHECK(failed && e.code == rc && e.msg[0]);
    CHECK(strcmp(failed_call, "mmap") != 0 || rc == BF_ENOMEM);
    return false;
}
static bool got(const bf_filter *f) { return f ? true : try(e.code < 0 ? e.code : BF_EHOST); }
static bool adds(bf_filter *f) { return try(bf_add_many(f, keys, KEYS, NULL, &e)); }
static bool tests(bf_filter *f)
{
    const int64_t n = bf_test_many(f, keys, KEYS, NULL, &e);
    if (n >= 0) CHECK_EQ(n, KEYS);
    return try(n);
}
static bool agree(bf_filter *a, bf_filter *b)
{
    const int equal = bf_equal(a, b, &e);
    if (equal >= 0) CHECK_EQ(equal, 1);
    return try(equal);
}

/* ---- scenarios ---- */
static void in_memory(void)
{
    bf_state state;
    const bf_spec expect = {
        .secret = kind->secret, .secret_len = kind->secret_len, .counting = kind->counting
    };
    static uint8_t bytes[1 << 18];
    bf_filter *f = bf_open(kind, &e), *copy = NULL, *plain = NULL, *back = NULL;
    if (got(f) && adds(f) && got(copy = bf_copy(f, &e)) && agree(f, copy) &&
        try(bf_unite(f, copy, &e)) && try(bf_get_state(f, &state, &e)) &&
        try(bf_to_bytes(f, bytes, sizeof bytes, &e)) &&
        got(back = bf_from_bytes(bytes, info_of(f).image_bytes, &expect, &e)) && agree(f, back) &&
        (!kind->counting || got(plain = bf_to_plain(f, &e))))
        tests(plain ? plain : f);
    CLOSE(f, copy, plain, back);
}

static void in_a_file(void)
{
    bf_filter *f = opened(path);
    if (!got(f)) return;
    if (adds(f)) {
        acknowledged = true;
        tests(f);
        try(bf_sync(f, &e));
    }
    /* The object is still good for what comes after the fault. */
    if (failed) {
        const int64_t n = bf_add_many(f, keys, KEYS, NULL, &e);
        if (n >= 0) acknowledged = true;
        CHECK(n >= 0);
        CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    }
    bf_close(f);
}

static void saved_and_loaded(void)
{
    bf_filter *f = opened(NULL), *back = NULL;
    if (got(f) && adds(f) && try(bf_save(f, other, &e))) {
        acknowledged = true;
        if (got(back = bf_load(other, NULL, &e))) agree(f, back);
    }
    CLOSE(f, back);
}

/* Another handle has grown the file: who finds that out may fail at it, and then goes on. */
static void follows(void)
{
    bf_part_info part;
    bf_state state;
    armed = false;
    bf_filter *grower = opened(path);
    armed = true;
    bf_filter *f = opened(path);
    if (got(f)) {
        armed = false;
        CHECK(bf_add_many(grower, keys, KEYS, NULL, &e) > 0);
        acknowledged = true;
        armed = true;
        tests(f);
        try(bf_test(f, keys[0].ptr, keys[0].len, &e));
        try(bf_get_part(f, 0, &part, &e));
        try(bf_get_state(f, &state, &e));
        try(bf_save(f, other, &e));
        tests(f);
    }
    bf_close(f);
    armed = false;
    bf_close(grower);
    unlink(other);
    armed = true;
}

/* As sets, between homes. */
static void sets(void)
{
    double count;
    bf_filter *file = opened(path), *memory = NULL;
    if (got(file) && got(memory = opened(NULL)) && adds(memory) &&
        try(bf_unite(file, memory, &e))) {
        acknowledged = true;
        const bool parts = kind->grow != 0 || kind->window != 0;
        if (agree(file, memory) &&
            (parts || (try(bf_subset(memory, file, &e)) &&
                          try(bf_union_count(memory, file, &count, &e)) &&
                          try(bf_intersection_count(file, memory, &count, &e)) &&
                          try(bf_intersect(file, memory, &e)))) &&
            try(bf_clear(memory, &e)))
            CHECK_EQ(bf_test_many(memory, keys, KEYS, NULL, &e), 0);
    }
    CLOSE(file, memory);
}

static void foreign_bytes(void)
{
    static const char *const formats[] = { "guava", "bits", "bits-lsb" };
    uint8_t bytes[1000];
    bf_filter *f = opened(NULL);
    bool good = got(f) && adds(f);
    for (int i = 0; good && i < 3; i++) {
        bf_filter *back = NULL;
        const int64_t n = bf_bytes_as(f, formats[i], &e);
        CHECK_EQ(n, 800 + (i == 0 ? 6 : 0));
        good = try(bf_to_bytes_as(f, formats[i], bytes, sizeof bytes, &e)) &&
               got(back = bf_from_bytes_as(bytes, (size_t)n, formats[i], kind, &e)) &&
               agree(f, back);
        bf_close(back);
    }
    bf_close(f);
}

/* ---- what must hold afterwards ---- */
/* What is in the storage is a whole filter, with all keys in it if it said so. */
static void is_whole(const char *storage)
{
    bf_filter *f = bf_open(&(bf_spec){ .storage = storage, .must_exist = true }, &e);
    if (f && acknowledged) CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    if (!f) CHECK(!acknowledged && e.sys_errno == ENOENT);
    bf_close(f);
}

/* fresh: the storage is empty each time; else the filter of the run before is there. */
static void each_call(void (*scenario)(void), const char *storage, bool fresh, int how)
{
    long n = 0;
    if (storage) unlink(storage);
    do {
        if (fresh && storage) unlink(storage);
        const int open_before = files_in("/proc/self/fd"), before = failed_here;
        calls = held = 0;
        fail_at = ++n;
        what_happens = how;
        failed = acknowledged = cut_went_wrong = false;
        armed = true;
        scenario();
        armed = false;
        CHECK_EQ(held, 0);
        CHECK_EQ(files_in("/proc/self/fd"), open_before);
        CHECK_EQ(files(), (access(path, F_OK) == 0) + (access(other, F_OK) == 0));
        CHECK(how == FAILS || (acknowledged && !cut_went_wrong));
        if (storage) is_whole(storage);
        if (failed_here > before)
            fprintf(stderr, "  ... after call %ld, %s\n", n, failed ? failed_call : "none");
    } while (failed && n < MOST && failed_here < 20);
    CHECK(n > (how == FAILS ? 3 : 1) && n < MOST);
    if (storage) unlink(storage);
}
static void each_fails(void (*scenario)(void), const char *storage, bool fresh)
{
    each_call(scenario, storage, fresh, FAILS);
}
static void each_is_cut(void (*scenario)(void), const char *storage)
{
    for (int how = IS_INTERRUPTED; how <= DOES_A_PART; how++)
        each_call(scenario, storage, true, how);
}

TEST(every_kind_in_memory)
{
    NEEDS_SODIUM;
    for (kind = kinds; kind < kinds + NKINDS; kind++) each_fails(in_memory, NULL, true);
}
TEST(every_kind_in_a_file)
{
    for (kind = kinds; kind < kinds + NKINDS; kind++) {
        if (kind->counting) continue; /* is_whole() looks for bits */
        each_fails(in_a_file, path, true);
        each_fails(in_a_file, path, false);
        each_fails(saved_and_loaded, other, true);
        each_fails(saved_and_loaded, other, false);
        each_fails(sets, path, true);
        each_is_cut(in_a_file, path);
        each_is_cut(saved_and_loaded, other);
    }
}
TEST(a_file_that_another_has_grown)
{
    kind = kinds + GROWS;
    each_fails(follows, path, true);
    each_is_cut(follows, path);
}
TEST(bytes_of_other_systems)
{
    kind = kinds + NKINDS - 1;
    each_fails(foreign_bytes, NULL, true);
}

TEST(random_secret_fails)
{
    uint8_t a[BF_SECRET_BYTES], b[BF_SECRET_BYTES];
    CHECK_EQ(bf_random_secret(a, &e), 0);
    CHECK_EQ(bf_random_secret(b, &e), 0);
    CHECK(memcmp(a, b, sizeof a) != 0);
    calls = 0;
    fail_at = 1;
    what_happens = FAILS;
    armed = true;
    CHECK_EQ(bf_random_secret(a, &e), BF_EIO);
    armed = false;
    CHECK_HAS(e.msg, "random");
}

int main(void)
{
    for (int i = 0; i < KEYS; i++)
        keys[i] = (bf_key){ texts[i], (size_t)snprintf(texts[i], sizeof texts[i], "key %d", i) };
    return main_in_folder();
}
