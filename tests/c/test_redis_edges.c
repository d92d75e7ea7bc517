/* test_redis_edges.c - filters in Redis at their edges: odd names, companion hashes that are
 * damaged field by field, forks in the middle of a round trip, bitmaps that take several.  Its own
 * server. About core/redis/meta.c, core/redis/bitmap.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "../../core/parts/filter.h"
#include "redis_round_trips.h"
#include "redis_worlds.h"

/* ---- names ---- */
TEST(labels)
{
    static const struct {
        const char *format, *says;
    } rows[] = { { "redis://127.0.0.1:1?key=0123456789012345678901234567890123456789",
                     "Redis key 012345678901234567890123456789.. at 127.0.0.1:1" },
        { "redis://127.0.0.1:1?&key=a%0Ab%7f&&", "Redis key a?b? at 127" },
        { "redis://127.0.0.1:1/0?key=%6B%6b%4a", "Redis key kkJ at" },
        { "unix:///nowhere?key=k", "Redis key k at /nowhere" },
        { "unix:///nowhere/0123456789012345678901234567890123456789?key=k",
            "Redis key k at ..89012345678901234567890123456789" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_NO_FILTER(bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = rows[i].format }, &e),
            BF_EIO, rows[i].says);
    }
    char url[160];
    snprintf(url, sizeof url, "unix://%s/socket?key=twice", redis.folder);
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url, .key = "twice" }, &e);
    CHECK(f && bf_add(f, "x", 1, &e) == BF_ADDED);
    bf_close(f);
}

TEST(keys_with_braces)
{
    static const char *const keys[] = { "{}x", "{x", "x}{y}", "{a}b", "}" };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (int kind = 0; kind < 4; kind++) {
            static const bf_spec specs[] = { { .m = 900, .k = 3 },
                { .m = 9000, .k = 3, .shards = 2 }, { .n = 10, .p = 0.01, .grow = 2 },
                { .n = 100, .p = 0.01, .scheme = "redisson" } };
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = numbers(opened(specs[kind], keys[i], "", __LINE__), 0, 30),
                      *g = kind == 3
                               ? opened((bf_spec){ .scheme = "redisson" }, keys[i], "", __LINE__)
                               : OPEN(keys[i], 0);
            CHECK_EQ(missing(f, 0, 30) + missing(g, 0, 30), 0);
            CHECK_EQ(bf_clear(f, &e), kind == 3 ? BF_ENOTSUP : 0); /* the temporary key's name */
            CLOSE(f, g);
        }
}

/* ---- what is refused ---- */
static int never(void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    return 1;
}

TEST(refusals)
{
    const bf_client none = { 0 }, fails = { .apply = never };
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .client = &none }, &e) && e.code == BF_EINVAL &&
          strstr(e.msg, "apply callback, got NULL"));
    bf_filter *unwilling = bf_open(&(bf_spec){ .m = 100, .k = 2, .client = &fails }, &e);
    CHECK(bf_test(unwilling, "x", 1, &e) == BF_EHOST && bf_add(unwilling, "x", 1, &e) == BF_EHOST);
    bf_close(unwilling);
    bf_redis_client host = { .exchange = host_exchange, .ctx = &world_socket };
    static const char secret[17] = "0123456789abcdef";
    rs_command(&redis, "FLUSHALL");
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "k", .timeout = 1 },
              &e) &&
          strstr(e.msg, "has its own"));
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "" }, &e) &&
          strstr(e.msg, "needs key"));
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host }, &e) &&
          strstr(e.msg, "needs key"));
    bf_filter *f = bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "k" }, &e);
    rs_command(&redis, "DEL k k:meta");
    CHECK(bf_test(f, "x", 1, &e) == BF_EIO && strstr(e.msg, "Redis key k at the client's server"));
    bf_close(f);
    host.cluster = true;
    f = bf_open(&(bf_spec){ .m = 900,
                    .k = 2,
                    .redis_client = &host,
                    .key = "{c}",
                    .wait_replicas = 1,
                    .shards = 3 },
        &e);
    CHECK(f && bf_test(f, "x", 1, &e) == 0);
    CHECK(bf_add(f, "x", 1, &e) == BF_EIO && strstr(e.msg, "only 0 of wait_replicas=1"));
    bf_close(f);
    host.cluster = false;
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.01, .scheme = "redisson", .cache = true }, "r"),
        BF_ENOTSUP);
    CHECK_EQ(code_of((bf_spec){ .n = 1 << 30, .p = 1e-6, .window = 60, .parts = 1 }, "forgets2"),
        BF_EINVAL);
    CHECK_HAS(e.msg, "2 parts of m=35530448896 bits do not fit one Redis key");
    CHECK_REFUSED(code_of((bf_spec){ .n = 1 << 30, .p = 1e-6, .grow = 2 }, "grows2"), BF_EINVAL,
        "1 part of m=37235670528 bits do not fit one Redis key");
    CHECK_REFUSED(code_of((bf_spec){ .m = UINT64_C(1) << 34, .k = 3, .shards = 2 }, "large"),
        BF_EINVAL, "are too many for 2 Redis keys of at most");
    rs_command(&redis, "SETBIT foreign 7 1");
    CHECK_EQ(
        code_of(
            (bf_spec){ .m = 1000, .k = 3, .scheme = "classic", .shards = 2, .must_exist = true },
            "foreign"),
        BF_ENOTSUP);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .must_exist = true }, "foreign"), BF_EFORMAT);
    CHECK_EQ(code_of((bf_spec){ .scheme = "classic", .must_exist = true }, "foreign"), BF_EINVAL);
    CHECK_EQ(code_of((bf_spec){ .m = 1000,
                         .scheme = "gozero",
                         .read_only = true,
                         .secret = secret,
                         .secret_len = 16 },
                 "foreign"),
        BF_EINVAL);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .scheme = "gozero", .read_only = true }, "foreign"), 0);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .read_only = true }, "nothing"), BF_ENOENT);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .shards = 2, .read_only = true }, "nothing"),
        BF_ENOENT);
    CHECK_EQ(
        rs_number(&redis, "EXISTS nothing nothing:meta grows2 forgets2 large large:0 large:meta"),
        0);
}

/* ---- companion hashes ---- */
typedef struct {
    const char *kind, *key, *set;
} damage;
static void damaged(const damage *d, bf_spec spec)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(numbers(opened(spec, "d", "", __LINE__), 0, 5));
    rs_command(&redis, "%s %s %s", strchr(d->set, ' ') ? "HSET" : "HDEL", d->key, d->set);
    const int code = code_of((bf_spec){ .counting = spec.counting, .clock = spec.clock }, "d");
    if (code != BF_EFORMAT || !strstr(e.msg, "Redis key d"))
        FAILED("%s: %s %s: %d, %s\n", d->kind, d->key, d->set, code, e.msg);
}

TEST(damaged_hashes)
{
    static const bf_spec specs[] = { { .m = 9000, .k = 3 },
        { .m = 9216, .k = 3, .scheme = "block", .counting = true },
        { .m = 9000, .k = 3, .shards = 2 }, { .n = 10, .p = 0.01, .grow = 2 },
        { .n = 10, .p = 0.01, .window = 60, .clock = world_clock } };
    static const char *const kinds[] = { "plain", "counting", "shards", "grow", "window" };
    static const damage rows[] = { { "plain", "d:meta", "m \"\"" }, { "plain", "d:meta", "m 12x" },
        { "plain", "d:meta", "m 99999999999999999999" }, { "plain", "d:meta", "m 1099511627777" },
        { "plain", "d:meta", "m 4294967296" },
        { "plain", "d:meta", "m 111111111111111111111111111111111111111111" },
        { "plain", "d:meta", "m \"1\\x00\"" }, { "plain", "d:meta", "m -1" },
        { "plain", "d:meta", "m" }, { "plain", "d:meta", "n" }, { "plain", "d:meta", "shards 0" },
        { "plain", "d:meta", "shards 5000" }, { "plain", "d:meta", "shards x" },
        { "plain", "d:meta", "n 0" }, { "plain", "d:meta", "n 9223372036854775808" },
        { "plain", "d:meta", "scheme php-hashes:BKDR,SDBM,JS" }, { "plain", "d:meta", "p -1" },
        { "plain", "d:meta", "p 0.1x" }, { "plain", "d:meta", "p" },
        { "plain", "d:meta", "format 3" }, { "plain", "d:meta", "cell_bits 8" },
        { "plain", "d:meta", "mark 100000000" }, { "plain", "d:meta", "mark" },
        { "plain", "d:meta", "k" }, { "plain", "d:meta", "scheme" },
        { "counting", "d:meta", "shards 7" }, { "grow", "d:meta", "shards 2" },
        { "window", "d:meta", "shards 2" }, { "window", "d:meta", "cell_bits 4" },
        { "grow", "d:meta", "born" }, { "window", "d:meta", "born x" },
        { "counting", "d:meta", "m 9217" }, { "counting", "d:meta", "m 4294967296" },
        { "shards", "d:meta", "m 9001" }, { "shards", "d:meta", "shards 7" },
        { "grow", "d:meta", "kind x" }, { "grow", "d:meta", "kind" }, { "grow", "d:meta", "grow" },
        { "grow", "d:meta", "grow 0.5" }, { "grow", "d:meta", "grow 2x" },
        { "grow", "d:meta", "grow 1e301" }, { "grow", "d:meta", "grow nan" },
        { "grow", "d:meta", "parts 257" }, { "grow", "d:meta", "parts" },
        { "grow", "d:meta", "scheme gozero k 14" }, { "grow", "d:meta", "part0" },
        { "grow", "d:meta", "part0 \"\"" }, { "grow", "d:meta", "part0 512" },
        { "grow", "d:meta", "part0 \"512 10\"" }, { "grow", "d:meta", "part0 \"512 10 x\"" },
        { "grow", "d:meta", "part0 \" 512 10 0.01\"" },
        { "grow", "d:meta", "part0 \"-512 10 0.01\"" },
        { "grow", "d:meta", "part0 \"513 10 0.01\"" },
        { "grow", "d:meta", "part0 \"99999999999999999999 10 0.01\"" },
        { "grow", "d:meta", "keys0 x" }, { "grow", "d:meta", "keys0 -1" },
        { "grow", "d:meta", "parts 2" }, { "window", "d:meta", "kind x" },
        { "window", "d:meta", "window 0" }, { "window", "d:meta", "window" },
        { "window", "d:meta", "parts 256" }, { "window", "d:meta", "parts 0" },
        { "window", "d:meta", "epoch x" }, { "window", "d:meta", "epoch \"\"" },
        { "window", "d:meta", "epoch 5x" }, { "window", "d:meta", "epoch 9999999999999999999999" },
        { "window", "d:meta", "epoch 140737488355328" },
        { "window", "d:meta", "epoch -140737488355328" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < 5; k++)
            if (!strcmp(rows[i].kind, kinds[k])) damaged(rows + i, specs[k]);
}

TEST(redissons_hashes)
{
    static const char *const bad[] = { "size \"\"", "size 111111111111111111111111", "size \" 9\"",
        "hashIterations 1x" };
    static const char *const fine[] = { "falseProbability \"\"", "falseProbability 0",
        "falseProbability 1", "falseProbability x", "falseProbability 0.1x", "expectedInsertions 0",
        "expectedInsertions 99999999999999999999999" };
    bf_info i;
    for (size_t n = 0; n < 4 + 7; n++) {
        rs_command(&redis, "FLUSHALL");
        rs_command(&redis, "HSET {r}:config size 958 hashIterations 7 expectedInsertions 100 "
                           "falseProbability 0.01 sizf 1");
        rs_command(&redis, "HSET {r}:config %s", n < 4 ? bad[n] : fine[n - 4]);
        bf_filter *f = bf_open(
            &(bf_spec){
                .storage = rs_url(&redis, "r", ""), .scheme = "redisson", .must_exist = true },
            &e);
        CHECK_EQ(f != NULL, n >= 4);
        if (f) {
            bf_get_info(f, &i);
            CHECK(i.m == 958 && i.k == 7 && i.p > 0 && i.p < 1 && i.n > 0);
        }
        bf_close(f);
    }
    char text[420];
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = 0;
    rs_command(&redis, "HSET {r}:config size 5 hashIterations 7 falseProbability %s", text);
    rs_command(&redis, "HDEL {r}:config expectedInsertions");
    bf_filter *f = OPEN("r", .scheme = "redisson", .must_exist = true);
    bf_get_info(f, &i);
    CHECK(i.m == 5 && i.k == 7 && i.n == 1);
    bf_close(f);
}

/* ---- connections ---- */
static bf_filter *forked;
static int child_fails;
static bool in_host; /* the round trip is the host's code: whoever forks in it is inside the call */
static void forks(void)
{
    pid_t child = fork();
    if (child == 0) { /* the lock is held by a thread that is not here */
        trips.on = false;
        host_disconnect(&world_socket);
        int bad = in_host ? bf_test(forked, "n0", 2, &e) != BF_EBUSY
                          : bf_test(forked, "n0", 2, &e) != 1 ||
                                bf_add(forked, "n0", 2, &e) != BF_PRESENT ||
                                bf_add(forked, "child", 5, &e) != BF_ADDED;
        bf_close(forked);
        _exit(bad);
    }
    int status = 0;
    waitpid(child, &status, 0);
    child_fails = status;
}

TEST(a_fork_in_a_round_trip)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (w->login || !world_make(w)) continue;
        forked = w->f;
        in_host = w->f->runs_host_code;
        trips.before = forks;
        trips.after = false;
        trips.instead = NULL;
        trips_begin(1);
        CHECK_EQ(bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e), WORLD_KEYS);
        trips_stop();
        if (!trips.happened && w->spec.cache) {
            world_forget(w);
            continue;
        } /* it made no round trip */
        CHECK(trips.happened);
        if (child_fails) FAILED("%s: the child fails\n", w->name);
        CHECK_EQ(bf_test(w->f, "child", 5, &e), !in_host);
        pid_t child = fork(); /* while nobody holds it */
        if (child == 0) {
            forks();
            _exit(child_fails != 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK_EQ(bf_test(w->f, "n0", 2, &e), 1);
        world_forget(w);
    }
}

/* ---- bitmaps of several round trips ---- */
TEST(large_ones)
{
    bf_redis_client host = world_host;
    const bf_spec spec = { .m = 40000001, .k = 3, .scheme = "classic" };
    for (int client = 0; client < 2; client++) {
        rs_command(&redis, "FLUSHALL");
        bf_spec far = spec;
        far.key = "large";
        if (client)
            far.redis_client = &host;
        else
            far.storage = rs_url(&redis, "large", "");
        bf_filter *f = numbers(bf_open(&far, &e), 0, 50),
                  *near = numbers(bf_open(&spec, &e), 0, 90), *copy;
        uint8_t a[7], b[7];
        CHECK(f && bf_unite(f, near, &e) == 0 && missing(f, 0, 90) == 0);
        CHECK((copy = bf_copy(f, &e)) && bf_equal(copy, near, &e) == 1);
        CHECK(bf_read_bits(f, 5000000 - 6, a, 7, &e) == 0 &&
              bf_read_bits(near, 5000000 - 6, b, 7, &e) == 0 && !memcmp(a, b, 7));
        CHECK(bf_read_bits(f, 100, a, 7, &e) == 0 && bf_read_bits(f, 100, a, 0, &e) == 0);
        rs_command(&redis, "DEL large");
        rs_command(&redis, "RPUSH large a");
        CHECK(!bf_copy(f, &e) && e.code == BF_EFORMAT && strstr(e.msg, "WRONGTYPE"));
        CLOSE(f, near, copy);
    }
    bf_filter *f = numbers(
        bf_open(&(bf_spec){ .m = 90000, .k = 3, .shards = 9, .redis_client = &host, .key = "nine" },
            &e),
        0, 100);
    char text[100][8];
    bf_key keys[100];
    for (int i = 0; i < 100; i++) keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "n%d", i) };
    CHECK_EQ(bf_test_many(f, keys, 100, NULL, &e), 100); /* in nine parts */
    CHECK_EQ(bf_expire(f, 0.0001, &e), 0);
    rs_pause(20);
    CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
    bf_close(f);
    for (int client = 0; client < 2;
        client++) { /* a round trip of some MiB, whose buffer is not kept */
        enum { MANY = 1000 };
        static char t[MANY][8];
        static bf_key many[MANY];
        bf_spec wide = { .m = UINT64_C(1) << 27, .k = 65, .scheme = "classic", .key = "wide" };
        if (client)
            wide.redis_client = &host;
        else
            wide.storage = rs_url(&redis, "wide", "&timeout=60");
        rs_command(&redis, "FLUSHALL");
        f = bf_open(&wide, &e);
        for (int i = 0; i < MANY; i++) many[i] = (bf_key){ t[i], (size_t)sprintf(t[i], "w%d", i) };
        CHECK(f && bf_add_many(f, many, MANY, NULL, &e) == MANY &&
              bf_test_many(f, many, MANY, NULL, &e) == MANY);
        bf_close(f);
    }
    f = OPEN("soon", .n = 10, .p = 0.01, .grow = 2);
    CHECK(bf_expire(f, 0, &e) == 0 && bf_expire(f, 0.0001, &e) == 0);
    rs_pause(20);
    CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
