/* test_redis_as_memory.c - filters in Redis answer as filters in memory do, call for call, and have
 * the same bits: every scheme and kind, shards and parts, two handles in turn, by URL, through a
 * client and as in a cluster, with a cache, on a server without BITFIELD_RO.  Its own servers.
 * About core/redis/batch.c, core/redis/bitfield.c, core/redis/span.c, core/redis/shards.c,
 * core/redis/cache.c. */
#define _GNU_SOURCE
#include "oracle.h"
#include "native.h"
#include "redis_host_client.h"

static double now_is;
static double clock_of(void *unused) { return now_is; }
enum { BY_URL, BY_CLIENT, IN_A_CLUSTER };
static int how; /* it is reached */

static bf_filter *open_far(bf_spec spec)
{
    if (how != BY_URL) {
        spec.redis_client = how == BY_CLIENT ? &one_server : &a_cluster;
        spec.key = "row";
    }
    return opened(spec, how == BY_URL ? "row" : NULL, "", __LINE__);
}

typedef int64_t many(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
typedef int64_t of_hashes(bf_filter *, const uint64_t *, size_t, uint8_t *, bf_error *);
static int64_t by_hash(
    of_hashes *call, bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    static uint64_t hash[1200];
    for (size_t i = 0; i < n; i++) hash[i] = XXH3_64bits(keys[i].ptr, keys[i].len);
    return call(f, hash, n, each, err);
}
static int64_t test_hashes(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return by_hash(bf_test_hashes, f, keys, n, each, err);
}
static int64_t add_hashes(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return by_hash(bf_add_hashes, f, keys, n, each, err);
}
static many *const plain[] = { bf_test_many, bf_add_many, bf_test_many, bf_add_many },
                   *const hashed[] = { test_hashes, add_hashes, test_hashes, add_hashes },
                   *const counting[] = { bf_count_many, bf_add_many, bf_test_many, bf_remove_many,
                       bf_test_many, bf_add_many, bf_count_many, bf_remove_many, bf_count_many };

static const char *what_is(const bf_spec *s)
{
    static char text[120];
    snprintf(text, sizeof text, "%s m=%llu n=%llu k=%u shards=%u%s%s%s, %s",
        s->scheme ? s->scheme : "any", (unsigned long long)s->m, (unsigned long long)s->n, s->k,
        s->shards, s->counting ? " counting" : "", s->grow != 0 ? " grows" : "",
        s->window != 0 ? " forgets" : "",
        how == BY_URL      ? "by URL"
        : how == BY_CLIENT ? "by a client"
                           : "in a cluster");
    return text;
}

/* Batches of one size, of every call, by two handles in turn. */
static void batches(
    const bf_spec *s, bf_filter *const *far, bf_filter *near, uint32_t *seed, size_t n)
{
    static o_key text[1200];
    static bf_key keys[1200];
    static uint8_t a[1200], b[1200];
    const bool native = !s->scheme || !strcmp(s->scheme, "classic") || !strncmp(s->scheme, "bl", 2);
    const bool hashes = s->scheme && !strncmp(s->scheme, "hashes64", 8);
    many *const *calls = s->counting ? counting : hashes ? hashed : plain;
    const size_t ncalls = s->counting ? COUNT(counting) : COUNT(plain);
    for (size_t c = 0; c < ncalls; c++) {
        for (size_t i = 0; i < n; i++)
            keys[i] = o_make(text + i, (o_random(seed) >> 8) % 900, !native);
        bf_filter *f = far[(c + n) % 2];
        const int64_t want = calls[c](near, keys, n, b, &e), rc = calls[c](f, keys, n, a, &e);
        if (rc != want || memcmp(a, b, n))
            FAILED("%s: call %zu of %zu keys: %lld, expected %lld: %s\n", what_is(s), c, n,
                (long long)rc, (long long)want, rc < 0 ? e.msg : "");
    }
    const bf_key k = n ? keys[0] : (bf_key){ "one", 3 };
    CHECK_EQ(bf_add(far[0], k.ptr, k.len, &e), bf_add(near, k.ptr, k.len, &e));
    CHECK_EQ(bf_test(far[1], k.ptr, k.len, &e), bf_test(near, k.ptr, k.len, &e));
    if (!s->counting) return;
    CHECK_EQ(bf_count_of(far[1], k.ptr, k.len, &e), bf_count_of(near, k.ptr, k.len, &e));
    CHECK_EQ(bf_remove(far[0], k.ptr, k.len, &e), bf_remove(near, k.ptr, k.len, &e));
}

/* The strings are the bits, shard by shard, and each ends in a mark. */
static void strings_are_bits(bf_filter *f, bf_filter *near, bool parts)
{
    const bf_info i = info_of(f);
    size_t len;
    uint8_t *bits = calloc(1, i.bitset_bytes), *want = calloc(1, i.bitset_bytes);
    CHECK(bf_read_bits(f, 0, bits, i.bitset_bytes, &e) == 0);
    CHECK(bf_read_bits(near, 0, want, i.bitset_bytes, &e) == 0);
    CHECK(!memcmp(bits, want, i.bitset_bytes));
    const uint64_t each = i.bitset_bytes / i.shards;
    for (unsigned s = 0; !parts && s < i.shards; s++) {
        const char *string = i.shards > 1 ? rs_bytes(&redis, &len, "GET row:%u", s)
                                          : rs_bytes(&redis, &len, "GET row");
        CHECK(len == (each + 3) / 4 * 4 + 4 && !memcmp(string, bits + s * each, each));
    }
    free(bits);
    free(want);
}

static void as_in_memory(bf_spec spec)
{
    static const size_t sizes[] = { 0, 1, 2, 65, 1200 };
    const bool wide = spec.k >= 100 || (spec.p > 0 && spec.p < 1e-100); /* positions of a key */
    const bool parts = spec.grow != 0 || spec.window != 0,
               redisson = spec.scheme && !strcmp(spec.scheme, "redisson");
    const int before = failed_here;
    bf_spec cached = spec, there = { .must_exist = true, .counting = spec.counting };
    spec.clock = there.clock = cached.clock = spec.window != 0 ? clock_of : NULL;
    there.scheme = redisson ? spec.scheme : NULL;
    /* what is known for no time at all is as if it were not; a bit that is set stays */
    cached.cache = !redisson;
    cached.cache_max_age = redisson ? 0 : spec.counting || spec.window != 0 ? 1e-9 : 1e6;
    rs_command(&redis, "FLUSHALL");
    now_is = spec.parts == 3 ? -3000 : 1e9;
    bf_filter *far[2] = { open_far(spec), open_far(cached) }, *near = bf_open(&spec, &e), *again,
              *copy;
    uint32_t seed = (uint32_t)(spec.m + spec.n) + spec.k;
    if (!far[0] || !far[1] || !near) return;
    for (int round = 0; round < (!parts || wide ? 1 : 6); round++, now_is += round % 3 * 40)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            if (sizes[s] <= (size_t)(wide ? 65 : parts ? SHORT(1200, 65) : 1200))
                batches(&spec, far, near, &seed, sizes[s]);
            now_is += 5;
        }
    bf_state x, y;
    const bf_info i = info_of(far[0]), j = info_of(near);
    CHECK(bf_get_state(far[0], &x, &e) == 0 && bf_get_state(near, &y, &e) == 0);
    CHECK(x.fpr == y.fpr && (spec.window != 0 || (x.ones == y.ones && x.count == y.count)));
    CHECK(i.m == j.m && i.k == j.k && i.shards == j.shards && i.counting == j.counting &&
          i.part_count == j.part_count);
    CHECK((again = open_far(there)) && bf_equal(again, near, &e) == 1);
    CHECK((copy = bf_copy(far[1], &e)) && bf_equal(copy, near, &e) == 1);
    /* slices of the past are emptied sooner or later */
    if (!redisson && spec.window == 0) strings_are_bits(far[0], near, parts);
    if (!redisson) CHECK(bf_delete(far[0], &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
    if (failed_here > before) FAILED("... %s\n", what_is(&spec));
    CLOSE(far[0], far[1], near, again, copy);
}

/* ---- native schemes: every shape in every kind ---- */
static const struct {
    uint64_t m;
    unsigned k, shards;
} shapes[] = { { 40000, 7, 1 }, { 20480, 16, 1 }, { 100, 3, 1 }, { 1, 1, 1 }, { 33, 5, 1 },
    { 3000, 16, 3 }, { 20480, 1, 40 }, { 99991, 2, 7 } };

static void every_shape(bool counts)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            as_in_memory((bf_spec){ .m = shapes[i].m,
                .k = shapes[i].k,
                .shards = shapes[i].shards,
                .scheme = native_scheme(s),
                .counting = counts });
}

TEST(bits)
{
    every_shape(false);
    as_in_memory((bf_spec){ .m = 50000, .k = 1000, .scheme = "classic" });
    as_in_memory((bf_spec){ .m = 300000, .k = 347, .scheme = "classic", .shards = 3 });
}
TEST(counters)
{
    every_shape(true);
    as_in_memory(
        (bf_spec){ .m = 50000, .k = 700, .scheme = "classic", .shards = 3, .counting = true });
    as_in_memory((bf_spec){ .m = 6400, .k = 14, .scheme = "gozero", .counting = true });
    as_in_memory((bf_spec){ .m = 6400, .k = 5, .scheme = "guava", .counting = true });
}

/* The last rows have more positions a key than one command of a script takes. */
static const bf_spec of_parts[] = { { .n = 100, .p = 0.01, .grow = 2, .scheme = "classic" },
    { .n = 100, .p = 0.01, .grow = 2, .scheme = "block" },
    { .n = 100, .p = 1e-6, .grow = 2, .scheme = "block2" },
    { .n = 500, .p = 0.001, .window = 300, .parts = 7, .scheme = "classic" },
    { .n = 500, .p = 0.001, .window = 60, .parts = 3, .scheme = "block" },
    { .n = 500, .p = 0.001, .window = 60, .parts = 1 },
    { .n = 9, .p = 0.2, .grow = 2, .scheme = "classic", .counting = true },
    { .n = 90, .p = 0.01, .grow = 1, .scheme = "block", .counting = true },
    { .n = 9, .p = 1e-6, .grow = 16, .scheme = "block2", .counting = true },
    { .m = 1000, .n = 300, .grow = 1, .counting = true },
    { .n = 100, .p = 1e-302, .grow = 2, .scheme = "classic" },
    { .n = 9, .p = 0.01, .grow = 2, .k = 1500, .scheme = "classic", .counting = true } };

TEST(parts)
{
    for (how = BY_URL; how <= IN_A_CLUSTER; how += IN_A_CLUSTER)
        for (size_t i = 0; i < COUNT(of_parts) - (how == BY_URL ? 0 : 2); i++)
            as_in_memory(of_parts[i]);
    how = BY_URL;
}

/* ---- every row of the table of schemes, of the sizes that it takes ---- */
TEST(every_scheme)
{
    static const bf_spec tries[] = { { .m = 30000, .k = 7 }, { .n = 1000, .p = 0.01 },
        { .m = 30000, .n = 3000 }, { .n = 1000 }, { .m = 1 << 15, .k = 7 } };
    unsigned done = 0;
    for (size_t s = 0; bf_scheme_name(s); s++) {
        bf_spec plan = { 0 };
        for (size_t i = 0; i < COUNT(tries) && !plan.m; i++) {
            plan = tries[i];
            plan.scheme = bf_scheme_name(s);
            if (bf_plan(&plan, &e) < 0 || plan.m > 1 << 22) plan.m = 0;
        }
        if (!plan.m) {
            printf("     %s has its own sizes: not here\n", bf_scheme_name(s));
            continue;
        }
        done++;
        as_in_memory(plan);
    }
    CHECK(done >= 3);
}

/* ---- other ways to it ---- */
static const bf_spec few[] = { { .m = 40000, .k = 7, .scheme = "classic" },
    { .m = 40960, .k = 7, .scheme = "block2" },
    { .m = 40960, .k = 7, .scheme = "block2", .shards = 3 },
    { .m = 8000, .k = 7, .scheme = "classic", .counting = true },
    { .m = 8192, .k = 8, .scheme = "block2", .counting = true, .shards = 2 } };

TEST(through_clients)
{
    for (how = BY_CLIENT; how <= IN_A_CLUSTER; how++)
        for (size_t i = 0; i < COUNT(few); i++) as_in_memory(few[i]);
    how = BY_URL;
}

TEST(without_bitfield_ro)
{
    redis.old = true;
    rs_stop(&redis, SIGKILL);
    rs_resume(&redis);
    CHECK_HAS(rs_command(&redis, "BITFIELD_RO x"), "unknown command");
    for (size_t i = 0; i < COUNT(few); i++) as_in_memory(few[i]);
    as_in_memory(of_parts[0]);
    as_in_memory(of_parts[3]);
}

int main(void) { return main_with_redis(&redis); }
