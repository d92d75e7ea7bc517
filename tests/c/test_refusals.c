/* test_refusals.c - what is refused, and in which words: specs that contradict themselves,
 * operations that a home or a kind of filter does not have, pairs of filters that do not go
 * together.  With and without a bf_error.  About core/filter.c, core/base/error.c,
 * core/size/compatible.c. */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "check.h"
#include "must.h"
#include "optional.h"

static const char secret[17] = "0123456789abcdef", other[17] = "fedcba9876543210";
static int apply(void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    return 0;
}
static const bf_client client = { apply, NULL };
static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    return BF_CLIENT_UNSENT;
}
static const bf_redis_client redis = { .exchange = exchange, .name = "nowhere" };
static uint64_t one_function(const void *key, size_t len) { return len; }
static bf_function *const list[] = { one_function };
static const bf_functions functions = { .count = 1, .function = list };
static double now_is = 1000;
static double clock_of(void *ctx) { return now_is; }

/* ---- specs ---- */
typedef struct {
    bf_spec spec;
    int code;
    const char *says;
} refusal;
static const refusal specs[] = {
    { { .n = 10, .p = 0.1, .counting = true, .window = 2 }, BF_EINVAL, "cannot forget" },
    { { .m = 10, .k = 1, .counting = true, .cache = true }, BF_EINVAL, "no Redis is given" },
    { { .m = 10, .k = 1, .counting = true, .wait_replicas = 1 }, BF_EINVAL, "no Redis is given" },
    { { .m = 10, .k = 1, .counting = true, .client = &client }, BF_ENOTSUP,
        "a client callback cannot count" },
    { { .n = 10, .p = 0.1, .grow = 0.5 }, BF_EINVAL,
        "grow must be a factor from 1 to 1024, got 0.5" },
    { { .n = 10, .p = 0.1, .grow = 1024.5 }, BF_EINVAL, "from 1 to 1024, got 1024.5" },
    { { .n = 10, .p = 0.1, .grow = NAN }, BF_EINVAL, "got nan" },
    { { .n = 10, .p = 0.1, .window = INFINITY }, BF_EINVAL, "at most 1e300, got inf" },
    { { .n = 10, .p = 0.1, .window = -1 }, BF_EINVAL,
        "window must be a number of seconds above 0, 0.0001 or more for each part, at most 1e300, "
        "got -1" },
    { { .n = 10, .p = 0.1, .window = 0.001, .parts = 11 }, BF_EINVAL,
        "0.0001 or more for each part, at most 1e300, got 0.001" },
    { { .n = 10, .p = 0.1, .grow = 2, .shards = 2 }, BF_EINVAL, "shards=2" },
    { { .n = 10, .p = 0.1, .window = 2, .shards = 3 }, BF_EINVAL, "shards=3" },
    { { .n = 10, .p = 0.1, .parts = 3 }, BF_EINVAL, "parts is for forgetting filters" },
    { { .n = 10, .p = 0.1, .clock = clock_of }, BF_EINVAL, "clock is for forgetting filters" },
    { { .n = 10, .p = 0.1, .timeout = 0.0001, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "timeout must be 0.001 to 86400 seconds, got 0.0001" },
    { { .n = 10, .p = 0.1, .timeout = 86401, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "got 86401" },
    { { .n = 10, .p = 0.1, .cache = true, .cache_max_age = -1, .redis_client = &redis, .key = "k" },
        BF_EINVAL, "cache_max_age must be" },
    { { .n = 10, .p = 0.1, .cache_max_age = 1, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "cache_max_age=1 needs cache" },
    { { .n = 10, .p = 0.1, .timeout = 1 }, BF_EINVAL, "no Redis is given" },
    { { .n = 10, .p = 0.1, .wait_replicas = 1 }, BF_EINVAL, "no Redis is given" },
    { { .n = 10, .p = 0.1, .cache = true }, BF_EINVAL, "no Redis is given" },
    { { .n = 10, .p = 0.1, .cache_max_age = 1 }, BF_EINVAL, "no Redis is given" },
    { { .n = 10, .p = 0.1, .timeout = 1, .storage = "/nowhere/f" }, BF_EINVAL,
        "no Redis is given" },
    /* storages that are mistakes; never more of one than what no password can be in */
    { { .m = 10, .k = 1, .storage = "redis:host:6379" }, BF_EINVAL,
        "storage redis:...: a Redis URL is redis://host:port/db?key=NAME; a file of that name is "
        "file:redis:..." },
    { { .m = 10, .k = 1, .storage = "redis:/host" }, BF_EINVAL, "a Redis URL is redis://" },
    { { .m = 10, .k = 1, .storage = "REDIS://host?key=k" }, BF_EINVAL, "a Redis URL is redis://" },
    { { .m = 10, .k = 1, .storage = "rediss:host" }, BF_EINVAL, "a Redis URL with TLS is" },
    { { .m = 10, .k = 1, .storage = "unix:/tmp/socket" }, BF_EINVAL, "is unix:///path?key=NAME" },
    { { .m = 10, .k = 1, .storage = "http://host/f" }, BF_EINVAL, "not opened over HTTP" },
    { { .m = 10, .k = 1, .storage = "file:///tmp/f" }, BF_EINVAL, "a file is file:PATH" },
    { { .m = 10, .k = 1, .storage = "file:" }, BF_EINVAL, "storage file: names no path" },
    { { .m = 10, .k = 1, .storage = "redis+tls2-x.y_z://h" }, BF_EINVAL,
        "storage redis+tls2-x.y_z:...: a storage is a path, redis://, rediss:// or unix://" },
    { { .m = 10, .k = 1, .storage = "abcdefghijklmnopqrstuvwxyz://h" }, BF_EINVAL,
        "storage abcdefghijklmnopqrst:...:" },
    { { .m = 10, .k = 1, .storage = "" }, BF_EINVAL, "storage must be a path or a URL" },
    { { .m = 10, .k = 1, .reserved = { 0, 1 } }, BF_EINVAL, "bf_spec.reserved is not 0" },
    { { .m = 10, .k = 1, .storage = "localhost:6379" }, BF_EINVAL,
        "storage localhost:6379: a Redis URL is redis://localhost:6379/0?key=NAME; a file of that "
        "name is ./localhost:6379" },
    { { .m = 10, .k = 1, .storage = "127.0.0.1:6379/0?key=k" }, BF_EINVAL,
        "redis://127.0.0.1:6379/0?key=" },
    { { .m = 10, .k = 1, .storage = " redis.internal:6379\n" }, BF_EINVAL,
        "redis://redis.internal:6379/0?key=" },
    { { .m = 10, .k = 1, .storage = "[::1]:6379" }, BF_EINVAL, "redis://[::1]:6379/0?key=" },
    { { .m = 10, .k = 1, .storage = "user:secret@h:6379" }, BF_EINVAL,
        "storage h:6379: a Redis URL is redis://h:6379/0?key=" },
    { { .n = 10, .p = 0.1, .key = "the key" }, BF_EINVAL,
        "key=the key names a filter inside Redis" },
    { { .n = 10, .p = 0.1, .read_only = true }, BF_EINVAL, "read_only needs a storage" },
    { { .n = 10, .p = 0.1, .must_exist = true }, BF_EINVAL, "must_exist needs a storage" },
    /* growing and forgetting: sizes */
    { { .n = 10, .p = 0.1, .grow = 2, .window = 3 }, BF_EINVAL,
        "grow=2 and window=3 must not be given together" },
    { { .m = 10, .n = 10, .p = 0.1, .grow = 2 }, BF_EINVAL, "grow needs n and p, or m and n" },
    { { .p = 0.1, .grow = 2 }, BF_EINVAL, "grow needs n and p" },
    { { .n = 10, .window = 2 }, BF_EINVAL, "window needs n and p" },
    { { .m = 1000, .k = 3, .grow = 2 }, BF_EINVAL, "grow needs n and p" },
    { { .m = 1000, .n = 100, .window = 5 }, BF_EINVAL, "window needs n and p, and no m" },
    { { .n = 10, .p = 1, .window = 5 }, BF_EINVAL, "p must be above 0 and below 1, got 1" },
    { { .n = 10, .p = 0.1, .window = 2, .parts = 256 }, BF_EINVAL,
        "parts must be 1 to 255, got 256" },
    { { .n = 10, .p = 2, .window = 2, .parts = 1 }, BF_EINVAL, "p must be" },
    { { .n = 10, .p = 0.1, .grow = 2, .scheme = "nosuch" }, BF_EINVAL, "scheme must be classic" },
    { { .n = 10, .p = 0.1, .window = 2, .scheme = "guava" }, BF_EINVAL,
        "scheme guava can neither grow nor forget" },
    { { .n = UINT64_C(60000000000), .p = 0.01, .window = 60 }, BF_EINVAL, "5 parts of" },
    { { .n = UINT64_C(110000000000), .p = 0.01, .grow = 2 }, BF_EINVAL,
        "m must be 1 to 1099511627776" },
    /* sizes */
    { { .m = 100 }, BF_EINVAL, "give m and n, n and p, m and k, or m and p" },
    { { .n = 100, .k = 3 }, BF_EINVAL, "give m and n" },
    { { .m = BF_M_MAX + 1, .k = 1 }, BF_EINVAL,
        "m must be 1 to 1099511627776 bits, got 1099511627777" },
    { { .m = BF_M_MAX, .k = 1, .shards = 3 }, BF_EINVAL,
        "m must be 1 to 1099511627776 bits, got 1099511627904" },
    { { .m = 5, .n = BF_N_MAX + 1 }, BF_EINVAL,
        "n must be 1 to 9223372036854775807 keys, got 9223372036854775808" },
    { { .m = 5, .k = BF_K_MAX + 1 }, BF_EINVAL, "k must be 1 to 4096 positions, got 4097" },
    { { .m = 5, .k = 1, .shards = BF_SHARDS_MAX + 1 }, BF_EINVAL,
        "shards must be 1 to 4096, got 4097" },
    { { .m = 6400, .k = 3, .scheme = "guava", .shards = 2 }, BF_EINVAL,
        "shards must be 1 for scheme guava, got 2" },
    { { .m = 5120, .k = 17, .scheme = "block" }, BF_EINVAL,
        "k must be 1 to 16 for scheme block, got 17" },
    { { .m = 1000000, .n = 1 }, BF_EINVAL, "give k, or a smaller m" },
    { { .m = 3, .p = 0.0001 }, BF_EINVAL, "too few for p=0.0001" },
    { { .m = 1000, .n = 1000, .p = 0.01, .k = 3 }, BF_EINVAL, "p=0.01 is not possible" },
    { { .m = 1000, .k = 2, .scheme = "php-hashes:JS,PJW" }, BF_EINVAL,
        "m must be 4294967296 for scheme php-hashes:JS,PJW, got 1000" },
    /* secrets and functions */
    { { .m = 1000, .k = 2, .secret = secret, .secret_len = 15 }, BF_EINVAL,
        "secret must be 16 bytes, got 15 bytes" },
    { { .m = 6400, .k = 2, .scheme = "guava", .secret = secret, .secret_len = 16 }, BF_EINVAL,
        "scheme guava cannot be keyed" },
    { { .m = 1000, .k = 2, .scheme = "classic", .functions = &functions }, BF_EINVAL,
        "are scheme functions, got scheme classic" },
    { { .n = 10, .p = 0.1, .grow = 1.5, .scheme = "redisbloom" }, BF_EINVAL,
        "grow must be a whole number for scheme redisbloom" },
    { { .n = 10, .p = 0.1, .window = 10, .scheme = "redisbloom" }, BF_EINVAL,
        "scheme redisbloom cannot forget" },
    { { .n = 10, .p = 0.1, .grow = 2, .counting = true, .scheme = "redisbloom" }, BF_EINVAL,
        "cannot count and grow" },
    { { .n = UINT64_C(1) << 50, .p = 0.1, .scheme = "redisbloom" }, BF_EINVAL,
        "redisbloom takes at most" },
    /* homes */
    { { .n = 10, .p = 0.1, .exclusive = true }, BF_EINVAL, "exclusive is for mapped files" },
    { { .n = 10, .p = 0.1, .exclusive = true, .storage = "redis://127.0.0.1:1/0?key=k" }, BF_EINVAL,
        "exclusive is for mapped files" },
    { { .n = 10, .p = 0.1, .exclusive = true, .storage = "/nowhere/f", .read_only = true },
        BF_EINVAL, "exclusive is for writing" },
    { { .n = 10, .p = 0.1, .retry_after = 1 }, BF_EINVAL, "no Redis is given" },
    { { .n = 10, .p = 0.1, .retry_after = -0.5, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "got -0.5" },
    { { .n = 10, .p = 0.1, .retry_after = 86401, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "got 86401" },
    { { .n = 10, .p = 0.1, .retry_after = NAN, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "got nan" },
    /* the last six, whose sizes are right */
    { { .m = 10, .k = 1, .client = &client, .storage = "/tmp/x" }, BF_EINVAL,
        "give storage or a client, not both" },
    { { .m = 10, .k = 1, .client = &client, .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "give storage or a Redis client, not both" },
    { { .m = 10, .k = 1, .storage = "/tmp/x", .redis_client = &redis, .key = "k" }, BF_EINVAL,
        "give storage or a Redis client, not both" },
    { { .n = 10, .p = 0.1, .grow = 2, .client = &client }, BF_ENOTSUP,
        "home client cannot hold filters that grow or forget" },
    { { .n = 10, .p = 0.1, .window = 2, .client = &client }, BF_ENOTSUP,
        "home client cannot hold filters that grow or forget" },
    { { .m = BF_M_MAX, .k = 1 }, BF_ENOMEM, "137438953472 bytes" },
};

TEST(specs_that_contradict_themselves)
{
    for (size_t i = 0; i < COUNT(specs); i++) {
        bf_spec plan = specs[i].spec;
        const int before = failed_here;
        e = (bf_error){ 0 };
        CHECK(!bf_open(&specs[i].spec, &e));
        CHECK_EQ(e.code, specs[i].code);
        CHECK_HAS(e.msg, specs[i].says);
        CHECK(!bf_open(&specs[i].spec, NULL));
        const bool right = i + 6 >= COUNT(specs);
        if (!plan.read_only && !plan.must_exist)
            CHECK_EQ(bf_plan(&plan, NULL), right ? 0 : specs[i].code);
        CHECK(right || !memcmp(&plan, &specs[i].spec, sizeof plan)); /* as it was */
        if (failed_here > before) fprintf(stderr, "  ... spec %zu: %s\n", i, e.msg);
    }
    CHECK_REFUSED(
        bf_refuse(&e, "colour", "green"), BF_EINVAL, "colour must be a value in range, got green");
    CHECK(!strcmp(bf_version(), BF_VERSION));
}

/* ---- plans of filters of many parts ---- */
TEST(plans_of_many_parts)
{
    static const bf_spec rows[] = { { .n = 1000, .p = 0.01, .grow = 2 },
        { .n = 1000, .p = 0.01, .window = 60, .parts = 3 },
        { .n = 10, .p = 0.4, .grow = 2, .k = 3 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_spec plan = rows[i];
        CHECK_EQ(bf_plan(&plan, &e), 0);
        bf_filter *f = MADE(&rows[i]);
        const bf_info info = info_of(f);
        CHECK(info.m == plan.m && info.k == plan.k && info.p == plan.p && info.n == plan.n &&
              !strcmp(info.scheme, plan.scheme));
        CHECK_EQ(info.part_count, plan.window != 0 ? 4 : 1);
        bf_close(f);
    }
}

/* A growing filter's parts up to the largest m: the last one takes what is left, and then no more
 * fit. */
TEST(the_last_part)
{
    static const double factors[] = { 1.0001, 1.5, 2, 1000, 1e300 };
    for (size_t i = 0; i < COUNT(factors); i++) {
        bf_params d, part;
        uint64_t before = 0;
        double shares = 0;
        unsigned parts = 0;
        CHECK_EQ(bf_size_any(&d, &(bf_spec){ .n = 1000, .p = 0.01, .grow = factors[i] }, 0, &e), 0);
        for (int rc; (rc = bf_chain_part(&d, parts, before, &part, &e)) != 0; parts++) {
            CHECK_EQ(rc, 1);
            CHECK(part.g.m > 0 && part.g.m % 512 == 0 && part.g.n >= 1 && part.index == parts);
            before += part.g.m;
            shares += part.g.p;
            if (rc != 1 || parts > BF_PARTS_MAX) break;
        }
        CHECK(
            parts <= BF_PARTS_MAX && before <= BF_M_MAX && before > BF_M_MAX - (UINT64_C(1) << 19));
        CHECK(shares <= 0.01 * (1 + 1e-9));
    }
}

/* ---- operations that a home or a kind has not ---- */
TEST(operations_of_other_homes)
{
    uint8_t bytes[9000];
    bf_state st;
    double count;
    bf_filter *far = OPEN(.m = 1000, .k = 2, .client = &client), *near = OPEN(.m = 1000, .k = 2),
              *grows = OPEN(.n = 10, .p = 0.1, .grow = 2);
    CHECK_REFUSED(bf_get_state(far, &st, &e), BF_ENOTSUP, "home client cannot count its bits");
    CHECK_REFUSED(
        bf_read_bits(far, 0, bytes, 1, &e), BF_ENOTSUP, "home client cannot read its bits");
    CHECK_REFUSED(bf_clear(far, &e), BF_ENOTSUP, "home client cannot be cleared");
    CHECK_REFUSED(bf_unite(far, near, &e), BF_ENOTSUP, "home client cannot be united");
    CHECK_REFUSED(bf_unite(near, far, &e), BF_ENOTSUP, "home client cannot be united");
    CHECK_REFUSED(bf_equal(near, far, &e), BF_ENOTSUP, "home client cannot be compared");
    CHECK_REFUSED(bf_subset(far, near, &e), BF_ENOTSUP, "home client cannot be compared");
    CHECK_REFUSED(
        bf_union_count(near, far, &count, &e), BF_ENOTSUP, "home client cannot be compared");
    CHECK(bf_union(far, near, &e) == NULL && bf_intersection(near, far, &e) == NULL);
    CHECK_REFUSED(
        bf_to_bytes(far, bytes, sizeof bytes, &e), BF_ENOTSUP, "home client cannot be written out");
    CHECK_REFUSED(bf_to_bytes_as(far, "bits", bytes, sizeof bytes, &e), BF_ENOTSUP,
        "home client cannot be written out");
    CHECK_REFUSED(bf_save(far, "/nowhere", &e), BF_ENOTSUP, "home client cannot be saved");
    CHECK_REFUSED(
        bf_saturated(far, &(uint64_t){ 0 }, &e), BF_ENOTSUP, "home client cannot count its bits");
    CHECK_REFUSED(
        bf_subset(grows, grows, &e), BF_EINVAL, "cannot be compared: its bits are in many parts");
    CHECK_REFUSED(bf_intersection_count(grows, grows, &count, &e), BF_EINVAL, "cannot be compared");
    CHECK_REFUSED(bf_intersect(grows, grows, &e), BF_EINVAL, "cannot be intersected");
    CHECK_REFUSED(
        bf_bytes_as(grows, "bits", &e), BF_EINVAL, "format bits is for filters of fixed size");
    CHECK_REFUSED(bf_bytes_as(near, "nosuch", &e), BF_EINVAL,
        "format must be one of guava, redisbloom, bits, bits-lsb, got nosuch");
    CHECK_REFUSED(bf_to_bytes_as(near, "nosuch", bytes, sizeof bytes, &e), BF_EINVAL, "got nosuch");
    CHECK_REFUSED(bf_to_bytes_as(near, "guava", bytes, sizeof bytes, &e), BF_EINVAL,
        "got a filter of scheme classic");
    CHECK_REFUSED(bf_to_bytes_as(near, "bits", bytes, 124, &e), BF_EINVAL,
        "cap must be at least 125 bytes, got 124");
    CHECK_REFUSED(bf_expire(near, 1, &e), BF_ENOTSUP, "home memory cannot expire");
    CHECK_REFUSED(
        bf_expire(near, -1, &e), BF_EINVAL, "seconds must be 0 (never) to 10000000000, got -1");
    CHECK_REFUSED(bf_expire(near, 2e10, &e), BF_EINVAL, "got 2e+10");
    CHECK_REFUSED(bf_expire(near, NAN, &e), BF_EINVAL, "got nan");
    CHECK_REFUSED(bf_delete(near, &e), BF_ENOTSUP, "home memory cannot be deleted");
    CHECK_REFUSED(bf_rebuild_end(far, near, &e), BF_ENOTSUP, "home client cannot be rebuilt: only");
    CHECK_REFUSED(bf_rebuild_end(grows, near, &e), BF_ENOTSUP,
        "grows: it cannot be rebuilt outside of Redis, its parts");
    CHECK_REFUSED(
        bf_get_part(near, 1, &(bf_part_info){ 0 }, &e), BF_EINVAL, "part must be 0 to 0, got 1");
    CHECK_REFUSED(
        bf_get_part(grows, 7, &(bf_part_info){ 0 }, &e), BF_EINVAL, "part must be 0 to 0, got 7");
    CHECK_REFUSED(bf_read_bits(near, 120, bytes, 6, &e), BF_EINVAL,
        "bytes 120 to 126 are not in a bitset of 125 bytes");
    CHECK_REFUSED(bf_read_bits(near, 126, bytes, 0, &e), BF_EINVAL, "126");
    CHECK_REFUSED(bf_read_bits(grows, UINT64_MAX, bytes, 1, &e), BF_EINVAL, "are not in a bitset");
    CHECK_REFUSED(bf_read_bits(grows, 0, bytes, SIZE_MAX, &e), BF_EINVAL, "are not in a bitset");
    CHECK(!bf_copy(far, &e) && e.code == BF_ENOTSUP && !bf_to_plain(far, &e) &&
          !bf_rebuild_begin(far, &e) && !bf_rebuild_begin(grows, &e));
    CLOSE(far, near, grows);
}

TEST(what_needs_no_refusal)
{
    bf_part_info part;
    uint64_t wait = 0;
    uint8_t byte = 1;
    bf_filter *f = OPEN(.m = 1001, .k = 2, .n = 100), *grows = OPEN(.n = 10, .p = 0.1, .grow = 2),
              *plain;
    bf_add(f, "a", 1, &e);
    CHECK(bf_get_part(f, 0, &part, &e) == 0 && part.m == 1001 && part.n == 100 &&
          part.first_bit == 0);
    CHECK(bf_read_bits(f, 126, &byte, 0, &e) == 0 && byte == 1);
    CHECK(bf_saturated(grows, &wait, &e) == 0 && wait == 10);
    CHECK((plain = bf_to_plain(f, &e)) && bf_equal(f, plain, &e) == 1);
    CHECK(bf_sync(f, &e) == 0 && bf_sync(grows, &e) == 0 && bf_add_many(f, NULL, 0, NULL, &e) == 0);
    CLOSE(f, grows, plain, NULL);
}

/* ---- pairs ---- */
TEST(pairs_that_do_not_match)
{
    NEEDS_SODIUM;
    static const bf_spec base = { .m = 1000, .k = 3 },
                         keyed = { .m = 1000, .k = 3, .secret = secret, .secret_len = 16 },
                         grow = { .n = 10, .p = 0.1, .grow = 2 },
                         window = { .n = 10, .p = 0.1, .window = 60, .scheme = "block" };
    const struct {
        bf_spec a, b;
        const char *says;
    } rows[] = {
        { base, { .m = 1001, .k = 3 }, "the same m, got 1000 and 1001" },
        { base, { .m = 1000, .k = 4 }, "the same k, got 3 and 4" },
        { base, { .m = 1024, .k = 3, .scheme = "block" },
            "the same scheme, got classic and block" },
        { base, { .m = 1000, .k = 3, .counting = true }, "got a plain one and a counting one" },
        { { .m = 1000, .k = 3, .counting = true }, base, "got a counting one and a plain one" },
        { { .m = 1024, .k = 3 }, { .m = 1024, .k = 3, .shards = 2 },
            "the same shards, got 1 and 2" },
        { base, keyed, "one is keyed and the other is not" },
        { keyed, base, "one is keyed and the other is not" },
        { keyed, { .m = 1000, .k = 3, .secret = other, .secret_len = 16 },
            "got two different ones" },
        { { .m = 5120, .k = 3, .scheme = "block" }, grow,
            "one is of fixed size and the other grows" },
        { window, { .m = 5120, .k = 3, .scheme = "block" },
            "one forgets and the other is of fixed size" },
        { grow, window, "one grows and the other forgets" },
        { grow, { .n = 10, .p = 0.1, .grow = 3 }, "the same grow, got 2 and 3" },
        { window, { .n = 10, .p = 0.1, .window = 61, .scheme = "block" },
            "the same window, got 60 and 61" },
        { window, { .n = 10, .p = 0.1, .window = 60, .parts = 5, .scheme = "block" },
            "the same parts, got 4 and 5" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_filter *a = MADE(&rows[i].a), *b = MADE(&rows[i].b);
        CHECK_REFUSED(bf_unite(a, b, &e), BF_EINVAL, rows[i].says);
        CHECK_EQ(bf_unite(a, b, NULL), BF_EINVAL);
        CHECK_EQ(bf_intersect(a, b, &e), BF_EINVAL);
        CHECK_EQ(bf_equal(a, b, &e), 0);
        CLOSE(a, b);
    }
}

/* Parts that one filter lacks are empty; parts of other sizes cannot be put together. */
TEST(filters_that_grew_otherwise)
{
    bf_filter *a = OPEN(.n = 10, .p = 0.1, .grow = 2), *b = OPEN(.n = 10, .p = 0.1, .grow = 2);
    for (int i = 0; i < 500; i++) bf_add(a, &i, sizeof i, &e);
    CHECK_EQ(bf_equal(a, b, &e), 0);
    CHECK_EQ(bf_unite(b, a, &e), 0);
    CHECK_EQ(bf_equal(a, b, &e), 1);
    b->part[1]->bitmap.g.m -= 512; /* no filter of this library; a file might say so */
    CHECK_REFUSED(bf_unite(a, b, &e), BF_EINVAL, "part 1 has m=");
    b->part[1]->bitmap.g.m += 512;
    CLOSE(a, b);
}

/* ---- bf_is_current: every reason to say no ---- */
TEST(fits_says_no)
{
    NEEDS_SODIUM;
    char path[] = "/tmp/bf-refusals-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    const bf_spec made = { .m = 1000, .k = 3, .storage = path, .secret = secret, .secret_len = 16 };
    bf_filter *f = MADE(&made), *memory = OPEN(.m = 1000, .k = 3);
    const struct {
        bf_spec spec;
        int want;
    } rows[] = {
        { made, 1 },
        { { .m = 1000, .k = 3 }, 0 },
        { { .m = 1000, .k = 3, .storage = "/tmp/another", .secret = secret, .secret_len = 16 }, 0 },
        { { .m = 1000,
              .k = 3,
              .storage = path,
              .secret = secret,
              .secret_len = 16,
              .read_only = true },
            0 },
        { { .m = 1001, .k = 3, .storage = path, .secret = secret, .secret_len = 16 },
            BF_EMISMATCH },
        { { .m = 1000, .k = 3, .storage = path, .secret = other, .secret_len = 16 }, BF_EMISMATCH },
        { { .m = 1000, .k = 3, .storage = path, .secret = secret, .secret_len = 3 }, BF_EINVAL },
        { { .m = 1000, .k = 3, .storage = path }, BF_EMISMATCH },
        { { .m = 1000, .k = 3, .storage = path, .grow = 0.5 }, BF_EINVAL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_EQ(bf_is_current(f, &rows[i].spec, &e), rows[i].want);
        CHECK_EQ(bf_is_current(f, &rows[i].spec, NULL), rows[i].want);
    }
    CHECK_EQ(bf_is_current(memory, &made, &e), 0);
    unlink(path);
    CHECK_EQ(bf_is_current(f, &made, &e), 0); /* the name leads to nothing */
    bf_filter *g = MADE(&made);
    CHECK_EQ(bf_is_current(f, &made, &e), 0); /* to another file */
    CHECK_EQ(bf_is_current(g, &made, &e), 1);
    CLOSE(f, g, memory);
    unlink(path);
}

/* ---- what a stored filter is asked to be ---- */
TEST(stored_filters_that_are_others)
{
    static const bf_spec kinds[] = { { .m = 1000, .n = 100, .k = 3 }, { .n = 100, .p = 0.01 },
        { .n = 10, .p = 0.1, .grow = 2 }, { .n = 10, .p = 0.1, .window = 60, .parts = 3 },
        { .m = 1000, .n = 100 }, { .n = 100, .p = 0.01, .scheme = "classic" } };
    static const struct {
        unsigned kind;
        bf_spec ask;
        int code;
        const char *says;
    } rows[] = {
        { 0, { .grow = 2 }, BF_EMISMATCH, "is not a growing filter, but grow=2 was asked for" },
        { 0, { .window = 2 }, BF_EMISMATCH,
            "is not a forgetting filter, but window=2 was asked for" },
        { 2, { .grow = 3 }, BF_EMISMATCH, "has grow=2, asked for grow=3" },
        { 2, { .m = 100 }, BF_EMISMATCH, "grows: it has parts of many sizes" },
        { 3, { .m = 100 }, BF_EMISMATCH, "forgets: it has parts of many sizes" },
        { 3, { .window = 61 }, BF_EMISMATCH, "has window=60, asked for window=61" },
        { 3, { .window = 60, .parts = 4 }, BF_EMISMATCH, "has parts=3, asked for parts=4" },
        { 0, { .scheme = "block" }, BF_EMISMATCH, "has scheme classic, asked for scheme block" },
        { 0, { .shards = 2 }, BF_EMISMATCH, "has shards=1, asked for shards=2" },
        { 0, { .m = 999, .k = 3 }, BF_EMISMATCH, "has m=1000, asked for m=999" },
        { 0, { .m = 1000, .k = 4 }, BF_EMISMATCH, "has k=3, asked for k=4" },
        { 0, { .m = 1000, .n = 99 }, BF_EMISMATCH, "has n=100, asked for n=99" },
        { 1, { .n = 100, .p = 0.02 }, BF_EMISMATCH, "has p=0.01, asked for p=0.02" },
        { 0, { .m = 1000, .n = 100 }, BF_EMISMATCH, "has k=3, asked for k=7" },
        { 0, { .n = 100, .p = 0.0306, .m = 1000 }, BF_EMISMATCH, "asked for p=0.0306" },
        { 1, { .n = 100, .k = 6 }, 0, NULL },
        { 1, { .n = 100, .p = 0.01 }, 0, NULL },
        { 1, { .n = 100, .p = 0.01, .scheme = "block" }, 0, NULL },
        { 1, { .n = 100, .p = 0.01, .scheme = "block2" }, BF_EMISMATCH,
            "has scheme block, asked for scheme block2" },
        { 4, { .m = 1000, .n = 100 }, 0, NULL },
        { 5, { .n = 100, .p = 0.01 }, BF_EMISMATCH, "has scheme classic, asked for scheme block" },
        { 1, { .n = 100, .p = 0.01, .k = 5 }, BF_EMISMATCH, "asked for k=5" },
        { 1, { .n = 100, .p = 0.01, .grow = 2 }, BF_EMISMATCH, "but grow=2 was asked for" },
        { 4, { .p = 0.01, .n = 100, .m = 1000, .k = 7 }, BF_EMISMATCH, "asked for p=0.01" },
        { 0, { .m = BF_M_MAX + 1 }, BF_EINVAL, "m must be" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int before = failed_here;
        bf_filter *f = MADE(&kinds[rows[i].kind]), *g;
        const bf_info info = info_of(f);
        uint8_t *bytes = malloc(info.image_bytes);
        CHECK_EQ(bf_to_bytes(f, bytes, info.image_bytes, &e), 0);
        e = (bf_error){ 0 };
        g = bf_from_bytes(bytes, info.image_bytes, &rows[i].ask, &e);
        CHECK_EQ(g != NULL, rows[i].code == 0);
        CHECK_EQ(e.code, rows[i].code);
        if (rows[i].says) CHECK_HAS(e.msg, rows[i].says);
        if (failed_here > before) fprintf(stderr, "  ... row %zu: %s\n", i, e.msg);
        CLOSE(g, f);
        free(bytes);
    }
}

/* ---- bytes of other systems that are not what they are said to be ---- */
TEST(bytes_of_other_systems)
{
    static const uint8_t mitz_64[14] = { 1, 7, 0, 0, 0, 1 }, mitz_32[14] = { 0, 7, 0, 0, 0, 1 },
                         none[14] = { 1, 7 }, too_many[14] = { 1, 7, 0xFF, 0xFF, 0xFF, 0xFF },
                         other[14] = { 2, 7, 0, 0, 0, 1 }, k_0[14] = { 1, 0, 0, 0, 0, 1 };
    static const struct {
        const uint8_t *data;
        size_t len;
        bf_spec expect;
        const char *format;
        int code;
        const char *says;
    } rows[] = {
        { mitz_64, 14, { 0 }, "guava", 0, NULL },
        { mitz_32, 14, { 0 }, "guava", 0, NULL },
        { mitz_64, 14, { .m = 64, .k = 7, .scheme = "guava-31" }, "guava", 0, NULL },
        { mitz_64, 0, { 0 }, "guava", BF_EFORMAT, "0 bytes, its header has 6" },
        { mitz_64, 5, { 0 }, "guava", BF_EFORMAT, "5 bytes, its header has 6" },
        { other, 14, { 0 }, "guava", BF_EFORMAT, "strategy" },
        { k_0, 14, { 0 }, "guava", BF_EFORMAT, "k=0, 1 longs" },
        { mitz_64, 13, { 0 }, "guava", BF_EFORMAT, "wrong length: 13 bytes, 1 longs need 14" },
        { mitz_64, 14, { .scheme = "nosuch" }, "guava", BF_EINVAL, "scheme must be classic" },
        { mitz_64, 14, { .scheme = "guava32" }, "guava", BF_EMISMATCH,
            "strategy MITZ_64, asked for scheme guava32" },
        { mitz_32, 14, { .scheme = "guava" }, "guava", BF_EMISMATCH,
            "strategy MITZ_32, asked for scheme guava" },
        { mitz_64, 14, { .k = 6 }, "guava", BF_EMISMATCH, "k=7, asked for k=6" },
        { mitz_64, 14, { .m = 128 }, "guava", BF_EMISMATCH, "m=64, asked for m=128" },
        { none, 14, { 0 }, "guava", BF_EFORMAT, "k=7, 0 longs" },
        { none, 6, { 0 }, "guava", BF_EFORMAT, "k=7, 0 longs" },
        { too_many, 14, { 0 }, "guava", BF_EFORMAT, "4294967295 longs" },
        { mitz_64, 14, { .m = 10, .k = 2, .scheme = "classic" }, "bits", BF_EFORMAT,
            "wrong length: 14 bytes, m=10 needs 2" },
        { mitz_64, 14, { .m = 10, .k = 2, .scheme = "classic" }, "cells", BF_EFORMAT,
            "wrong length: 14 bytes, m=10 needs 10" },
        { mitz_64, 9, { .m = 10, .k = 2, .scheme = "classic" }, "cells", BF_EFORMAT,
            "wrong length: 9 bytes, m=10 needs 10" },
        { mitz_64, 10, { .m = 10, .scheme = "classic" }, "cells", BF_EINVAL, "give m and n" },
        { mitz_64, 10, { .m = 10, .k = 2 }, "cells", BF_EINVAL, "scheme must be given" },
        { mitz_64, 2, { .m = 10, .k = 2, .scheme = "classic", .counting = true }, "bits",
            BF_ENOTSUP, "hold bits, not counters" },
        { mitz_64, 10, { .m = 10, .k = 2, .scheme = "classic", .counting = true }, "cells", 0,
            NULL },
        { (const uint8_t *)"\0\0\1", 3, { .m = 10, .k = 2, .scheme = "classic" }, "bits",
            BF_EFORMAT, "wrong length: 3 bytes, m=10 needs 2" },
        { (const uint8_t *)"\0\1", 2, { .m = 10, .k = 2, .scheme = "classic" }, "bits", BF_EFORMAT,
            "has a bit set past m=10" },
        { mitz_64, 14, { .scheme = "classic" }, "guava", BF_EMISMATCH, "classic" },
        { mitz_64, 1, { .m = 10, .k = 2 }, "bits", BF_EINVAL, "scheme must be given" },
        { NULL, 0, { .m = 10, .k = 2, .scheme = "classic" }, "bits", 0, NULL },
        { mitz_64, 10, { 0 }, "gauva", BF_EINVAL,
            "one of guava, redisbloom, bits, bits-lsb, cells, got gauva" },
    };
    uint8_t longer[15] = { 1, 7, 0, 0, 0, 1 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int before = failed_here;
        e = (bf_error){ 0 };
        bf_filter *f =
            bf_from_bytes_as(rows[i].data, rows[i].len, rows[i].format, &rows[i].expect, &e);
        CHECK_EQ(f != NULL, rows[i].code == 0);
        CHECK_EQ(e.code, rows[i].code);
        if (rows[i].says) CHECK_HAS(e.msg, rows[i].says);
        if (failed_here > before) fprintf(stderr, "  ... row %zu: %s\n", i, e.msg);
        bf_close(f);
    }
    CHECK_NO_FILTER(bf_from_bytes_as(longer, sizeof longer, "guava", NULL, &e), BF_EFORMAT,
        "wrong length: 15 bytes, 1 longs need 14");
    bf_filter *small = OPEN(.m = 64, .k = 7, .scheme = "guava32");
    CHECK_EQ(bf_to_bytes_as(small, "guava", longer, sizeof longer, &e), 0);
    CHECK(!memcmp(longer, mitz_32, 14));
    bf_close(small);
    const bf_spec ten = { .m = 10, .k = 2, .scheme = "classic" };
    for (int cells = 0; cells < 2; cells++) { /* bits that are cut short: the rest is zeros */
        small = cells ? bf_from_bytes_as("\0\1\0\0\0\0\0\0\0\xff", 10, "cells", &ten, &e)
                      : bf_from_bytes_as("\x02", 1, "bits-lsb", &ten, &e);
        CHECK(small && !bf_read_bits(small, 0, longer, 2, &e));
        CHECK(longer[0] == 0x40 && longer[1] == (cells ? 0x40 : 0));
        CHECK_REFUSED(bf_to_bytes_as(small, "cells", longer, 10, &e), BF_EINVAL, "got cells");
        bf_close(small);
    }
}

int main(void) { return main_of_tests(); }
