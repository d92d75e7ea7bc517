/* test_redis_edges.c - filters in Redis at their edges: odd names, companion hashes that are
 * damaged field by field, forks in the middle of a round trip, very long ones.  Its own
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
    snprintf(url, sizeof url, "unix://%s/socket?key=twice&timeout=%d", redis.folder, PATIENCE);
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
TEST(refusals)
{
    static const char secret[17] = "0123456789abcdef";
    const bf_spec large = { .n = 1 << 30, .p = 1e-6, .grow = 2 };
    const struct {
        bf_spec spec;
        const char *key;
        int code;
    } rows[] = { { { .n = 1000, .p = 0.01, .scheme = "redisson", .cache = true }, "none",
                     BF_ENOTSUP },
        { { .n = 1 << 30, .p = 1e-6, .window = 60, .parts = 1 }, "none", BF_EINVAL },
        { { .m = UINT64_C(1) << 34, .k = 3, .shards = 2 }, "none", BF_EINVAL },
        { { .m = (UINT64_C(1) << 32) - 63, .k = 3, .shards = 1 }, "none", BF_EINVAL },
        { { .m = 1000, .k = 3, .read_only = true }, "none", BF_ENOENT },
        { { .m = 1000, .k = 3, .shards = 2, .read_only = true }, "none", BF_ENOENT },
        { { .m = 1000, .k = 3, .scheme = "classic", .shards = 2, .must_exist = true }, "foreign",
            BF_ENOTSUP },
        { { .m = 1000, .k = 3, .must_exist = true }, "foreign", BF_EFORMAT },
        { { .m = 1000, .k = 3 }, "list", BF_EFORMAT },
        { { .scheme = "classic", .must_exist = true }, "foreign", BF_EINVAL },
        { { .m = 1000, .scheme = "gozero", .read_only = true, .secret = secret, .secret_len = 16 },
            "foreign", BF_EINVAL },
        { { .m = 1000, .scheme = "gozero", .read_only = true }, "foreign", 0 },
        { { .m = 100, .k = 2, .redis_client = &one_server, .key = "k", .timeout = 1 }, NULL,
            BF_EINVAL },
        { { .m = 100, .k = 2, .redis_client = &one_server, .key = "" }, NULL, BF_EINVAL },
        { { .m = 100, .k = 2, .redis_client = &one_server }, NULL, BF_EINVAL } };
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "SETBIT foreign 7 1");
    rs_command(&redis, "LPUSH list x");
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].key)
            CHECK_EQ(code_of(rows[i].spec, rows[i].key), rows[i].code);
        else
            CHECK(!bf_open(&rows[i].spec, &e) && e.code == rows[i].code);
    }
    CHECK_REFUSED(
        code_of(large, "none"), BF_EINVAL, "1 part of m=37235670528 bits do not fit one Redis key");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
}

/* The names of clients that have none, and of one of a cluster. */
TEST(clients)
{
    bf_redis_client host = { .exchange = host_exchange, .ctx = &host_socket };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "k" }, &e);
    rs_command(&redis, "DEL k k:meta");
    CHECK_REFUSED(bf_test(f, "x", 1, &e), BF_EIO, "Redis key k at the client's server");
    bf_close(f);
    bf_spec spec = { .m = 900, .k = 2, .key = "{c}", .wait_replicas = 1, .shards = 3 };
    spec.redis_client = &a_cluster;
    f = bf_open(&spec, &e);
    CHECK(f && bf_test(f, "x", 1, &e) == 0);
    CHECK_REFUSED(bf_add(f, "x", 1, &e), BF_EIO, "only 0 of wait_replicas=1");
    bf_close(f);
}

/* ---- companion hashes ---- */
typedef struct {
    const char *kind, *set;
} damage;
/* What the error is about: the field, or what else is written here. */
static const char *named_by(const char *set)
{
    static char field[20];
    static const char *const others[][2] = { { "scheme php-hashes", "m or k" },
        { "cell_bits 8", "bits per position" }, { "part0 \"512 1 ", "its part 0 has" },
        { "part0 \"513", "its part 0 has" }, { "parts 2", "field part" },
        { "mark 0000abcd", "not the mark" }, { "format 3", "format 3" },
        { "format 2", "field kind" }, { "format", "field format" } };
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strncmp(set, others[i][0], strlen(others[i][0]))) return others[i][1];
    snprintf(field, sizeof field, "%.*s", (int)strcspn(set, " "), set);
    return field;
}
static void damaged(const damage *d, bf_spec spec)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(numbers(opened(spec, "d", "", __LINE__), 0, 5));
    rs_command(&redis, "%s d:meta %s", strchr(d->set, ' ') ? "HSET" : "HDEL", d->set);
    const int code = code_of((bf_spec){ .counting = spec.counting, .clock = spec.clock }, "d");
    if (code != BF_EFORMAT || !strstr(e.msg, "Redis key d") || !strstr(e.msg, named_by(d->set)))
        FAILED("%s: %s: %d, %s\n", d->kind, d->set, code, e.msg);
}

TEST(damaged_hashes)
{
    static const bf_spec specs[] = { { .m = 9000, .k = 3 },
        { .m = 9216, .k = 3, .scheme = "block", .counting = true },
        { .m = 9000, .k = 3, .shards = 2 }, { .n = 10, .p = 0.01, .grow = 2 },
        { .n = 10, .p = 0.01, .window = 60, .clock = world_clock } };
    static const char *const kinds[] = { "plain", "counting", "shards", "grow", "window" };
    static const damage rows[] = { { "plain", "m \"\"" }, { "plain", "m 12x" },
        { "plain", "m 99999999999999999999" }, { "plain", "m 1099511627777" },
        { "plain", "m 4294967296" }, { "plain", "m 111111111111111111111111111111111111111111" },
        { "plain", "m \"1\\x00\"" }, { "plain", "m -1" }, { "plain", "m" }, { "plain", "n" },
        { "plain", "shards 0" }, { "plain", "shards 5000" }, { "plain", "shards x" },
        { "plain", "n 0" }, { "plain", "n 9223372036854775808" },
        { "plain", "scheme php-hashes:BKDR,SDBM,JS" }, { "plain", "p -1" }, { "plain", "p 0.1x" },
        { "plain", "p" }, { "plain", "format" }, { "plain", "format 3" },
        { "plain", "cell_bits 8" }, { "plain", "mark 100000000" }, { "plain", "mark" },
        { "plain", "k" }, { "plain", "scheme" }, { "plain", "m 0" }, { "plain", "m 5000000000" },
        { "plain", "k 0" }, { "plain", "k 5000" }, { "plain", "n -1" }, { "plain", "p 2" },
        { "plain", "p nan" }, { "plain", "mark 0" }, { "plain", "mark 123456789" },
        { "plain", "scheme nosuch" }, { "plain", "secret zz" }, { "plain", "secret" },
        { "plain", "k x" }, { "plain", "mark xyz" }, { "plain", "mark 0000abcd" },
        { "plain", "scheme \"\"" }, { "plain", "format 2" }, { "grow", "n 1000000" },
        { "grow", "p 1e-30" }, { "grow", "p 0" }, { "grow", "m 4294966784" },
        { "grow", "part0 \"512 1 0.01\"" }, { "window", "n 1000000" }, { "window", "p 1e-30" },
        { "window", "p 0" }, { "window", "m 4294966784" }, { "counting", "shards 7" },
        { "grow", "shards 2" }, { "window", "shards 2" }, { "window", "cell_bits 4" },
        { "grow", "born" }, { "window", "born x" }, { "counting", "m 9217" },
        { "counting", "m 4294967296" }, { "shards", "m 9001" }, { "shards", "shards 7" },
        { "grow", "kind x" }, { "grow", "kind" }, { "grow", "grow" }, { "grow", "grow 0.5" },
        { "grow", "grow 2x" }, { "grow", "grow 1e301" }, { "grow", "grow nan" },
        { "grow", "parts 0" }, { "grow", "parts 257" }, { "grow", "parts" },
        { "grow", "scheme gozero k 14" }, { "grow", "part0" }, { "grow", "part0 \"\"" },
        { "grow", "part0 512" }, { "grow", "part0 \"512 10\"" }, { "grow", "part0 \"512 10 x\"" },
        { "grow", "part0 \" 512 10 0.01\"" }, { "grow", "part0 \"-512 10 0.01\"" },
        { "grow", "part0 \"513 10 0.01\"" }, { "grow", "part0 \"99999999999999999999 10 0.01\"" },
        { "grow", "keys0 x" }, { "grow", "keys0 -1" }, { "grow", "parts 2" },
        { "window", "kind x" }, { "window", "window 0" }, { "window", "window" },
        { "window", "parts 256" }, { "window", "parts 0" }, { "window", "epoch x" },
        { "window", "epoch \"\"" }, { "window", "epoch 5x" },
        { "window", "epoch 9999999999999999999999" }, { "window", "epoch 140737488355328" },
        { "window", "epoch -140737488355328" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < 5; k++)
            if (!strcmp(rows[i].kind, kinds[k])) damaged(rows + i, specs[k]);
}

TEST(redissons_hashes)
{
    static const char *const bad[] = { "size \"\"", "size 111111111111111111111111", "size \" 9\"",
        "hashIterations 1x", "size 0", "size 4294967295", "size -1", "size x", "hashIterations 0",
        "hashIterations 99999", "hashIterations 7.5" };
    static const char *const fine[] = { "falseProbability \"\"", "falseProbability 0",
        "falseProbability 1", "falseProbability x", "falseProbability 0.1x", "expectedInsertions 0",
        "expectedInsertions 99999999999999999999999" };
    bf_info i;
    for (size_t n = 0; n < COUNT(bad) + COUNT(fine); n++) {
        rs_command(&redis, "FLUSHALL");
        rs_command(&redis, "HSET {r}:config size 958 hashIterations 7 expectedInsertions 100 "
                           "falseProbability 0.01 sizf 1");
        rs_command(&redis, "HSET {r}:config %s", n < COUNT(bad) ? bad[n] : fine[n - COUNT(bad)]);
        bf_filter *f = bf_open(
            &(bf_spec){
                .storage = rs_url(&redis, "r", ""), .scheme = "redisson", .must_exist = true },
            &e);
        CHECK_EQ(f != NULL, n >= COUNT(bad));
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
static const char *added = "child";
static bool in_host; /* the round trip is the host's code: whoever forks in it is inside the call */
static void forks(void)
{
    IN_A_CHILD
    { /* the lock is held by a thread that is not here */
        trips.on = false;
        host_disconnect(&host_socket);
        if (in_host)
            CHECK_EQ(bf_test(forked, "n0", 2, &e), BF_EBUSY);
        else
            CHECK(bf_test(forked, "n0", 2, &e) == 1 && bf_add(forked, "n0", 2, &e) == BF_PRESENT &&
                  bf_add(forked, added, 5, &e) == BF_ADDED);
        bf_close(forked);
    }
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
        CHECK_EQ(bf_test(w->f, "child", 5, &e), !in_host);
        IN_A_CHILD in_host = false, added = "other", forks(); /* while nobody holds it */
        CHECK_EQ(bf_test(w->f, "n0", 2, &e), 1);
        world_forget(w);
    }
}

/* ---- long round trips, short lives ---- */
/* Of some MiB, whose buffer is not kept. */
TEST(very_wide_ones)
{
    enum { MANY = 1000 };
    static char text[MANY][8];
    static bf_key keys[MANY];
    for (int i = 0; i < MANY; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "w%d", i) };
    for (int client = 0; client < 2; client++) {
        bf_spec wide = { .m = UINT64_C(1) << 27, .k = 65, .scheme = "classic" };
        wide.redis_client = client ? &one_server : NULL;
        wide.key = client ? "wide" : NULL;
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(wide, client ? NULL : "wide", "", __LINE__);
        CHECK(bf_add_many(f, keys, MANY, NULL, &e) == MANY &&
              bf_test_many(f, keys, MANY, NULL, &e) == MANY);
        bf_close(f);
    }
    bf_filter *f = bf_open(
        &(bf_spec){ .m = 90000, .k = 3, .shards = 9, .redis_client = &one_server, .key = "nine" },
        &e);
    CHECK(
        bf_add_many(f, keys, 100, NULL, &e) == 100 && bf_test_many(f, keys, 100, NULL, &e) == 100);
    bf_close(f);
}

TEST(soon_expired)
{
    static const bf_spec kinds[] = { { .m = 90000, .k = 3, .shards = 9 },
        { .n = 10, .p = 0.01, .grow = 2 } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bf_filter *f = opened(kinds[i], i ? "grows" : "nine", "", __LINE__);
        CHECK(bf_expire(f, 0, &e) == 0 && bf_expire(f, 0.0001, &e) == 0);
        for (int j = 0; rs_number(&redis, i ? "EXISTS grows" : "DBSIZE") && j < 1000; j++)
            rs_pause(1);
        CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
        bf_close(f);
    }
}

int main(void) { return main_with_redis(&redis); }
