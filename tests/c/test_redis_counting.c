/* test_redis_counting.c - counters in Redis: multisets of parts, servers that take no writes, what
 * other clients see, what a cache may know of them, a clear in the middle of a batch.  Every call
 * as in memory: test_redis_as_memory.c; whole filters: test_redis.c; lost ones:
 * test_redis_other_clients.c.  Its own server.  About core/redis/batch.c, core/redis/bitfield.c,
 * core/redis/scripts.c, core/redis/cache.c. */
#define _GNU_SOURCE
#include "redis_host_client.h"
#include "oracle_counting.h"

TEST(a_multiset_of_parts)
{
    for (int cache = 0; cache < 2; cache++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = OPEN("set", .n = 50, .p = 1e-9, .grow = 1 + cache, .cache = cache,
                      .counting = true),
                  *one =
                      OPEN("one", .n = 7, .p = 1e-9, .grow = 2, .cache = cache, .counting = true);
        oc_multiset(f, 2000, 50, 7);
        oc_multiset(one, 500, 1, 9);
        CHECK(info_of(f).part_count > 1 && info_of(one).part_count > 1);
        CLOSE(f, one);
    }
}

TEST(a_full_server_and_a_replica_count)
{
    static const char *const set[][2] = { { "CONFIG SET maxmemory 1", "OOM" },
        { "REPLICAOF 127.0.0.1 1", "READONLY" } };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("full", .n = 40, .p = 1e-9, .grow = 1, .counting = true), 0, 100);
    for (size_t i = 0; i < COUNT(set); i++) {
        rs_command(&redis, "%s", set[i][0]);
        CHECK(bf_count_of(f, "n9", 2, &e) == 1 && bf_count_of(f, "n99", 3, &e) == 1 &&
              bf_count_of(f, "new", 3, &e) == 0);
        CHECK_REFUSED(bf_add(f, "new", 3, &e), BF_EIO, set[i][1]);
        CHECK_REFUSED(bf_remove(f, "n9", 2, &e), BF_EIO, set[i][1]);
        rs_command(&redis, i ? "REPLICAOF NO ONE" : "CONFIG SET maxmemory 0");
    }
    CHECK(bf_add(f, "new", 3, &e) == 1 && bf_remove(f, "n9", 2, &e) == 1);
    bf_close(f);
}

TEST(other_clients_count_too)
{
    bf_filter *f = OPEN("shared", .m = 5000, .k = 4, .scheme = "classic", .counting = true), *g;
    uint64_t pos[4];
    for (int i = 0; i < 3; i++) bf_add(f, "mine", 4, &e);
    bf_hashcode(f, "mine", 4, pos, 4, &e);
    for (int i = 0; i < 4; i++)
        CHECK_HAS(
            rs_command(&redis, "BITFIELD shared GET u4 #%llu", (unsigned long long)pos[i]), ":3");
    for (int i = 0; i < 4; i++)
        rs_command(
            &redis, "BITFIELD shared OVERFLOW SAT INCRBY u4 #%llu 20", (unsigned long long)pos[i]);
    CHECK_EQ(bf_count_of(f, "mine", 4, &e), 15);
    for (int i = 0; i < 20; i++) CHECK_EQ(bf_remove(f, "mine", 4, &e), 1);
    CHECK_EQ(bf_count_of(f, "mine", 4, &e), 15);
    CHECK_HAS(rs_command(&redis, "HGET shared:meta cell_bits"), "4");
    CHECK((g = OPEN("shared", .read_only = true, .counting = true)) &&
          bf_count_of(g, "mine", 4, &e) == 15 && bf_remove(g, "mine", 4, &e) == BF_ENOTSUP);
    CLOSE(f, g);
}

TEST(refused)
{
    static const struct {
        bf_spec spec;
        const char *key;
        int code;
    } rows[] = { { { .must_exist = true }, "shared", BF_EMISMATCH },
        { { .must_exist = true, .counting = true }, "plain", BF_EMISMATCH },
        { { .m = 10, .k = 2, .scheme = "classic", .must_exist = true, .counting = true }, "old",
            BF_ENOTSUP },
        { { .m = UINT64_C(1) << 31, .k = 2, .shards = 1, .counting = true }, "k", BF_EINVAL },
        { { .m = UINT64_C(1) << 32, .k = 3, .shards = 2, .counting = true }, "k", BF_EINVAL },
        { { .n = 100, .p = 0.01, .scheme = "redisson", .counting = true }, "k", BF_ENOTSUP } };
    bf_close(OPEN("plain", .m = 100, .k = 2));
    rs_command(&redis, "SET old abcdef");
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_EQ(code_of(rows[i].spec, rows[i].key), rows[i].code);
    CHECK_EQ(rs_number(&redis, "EXISTS k k:0 {k}:config"), 0);
    static const uint64_t cut[][2] = { { UINT64_C(1) << 31, 4 }, { UINT64_C(1) << 30, 2 },
        { 1073741808, 0 } }; /* what one key cannot hold is cut by itself */
    for (size_t i = 0; i < COUNT(cut); i++) {
        bf_spec spec = { .m = cut[i][0], .k = 3, .counting = true, .storage = "redis://h?key=k" };
        CHECK(bf_plan(&spec, &e) == 0 && spec.m == cut[i][0] && (spec.shards & ~1u) == cut[i][1]);
    }
}

/* Lua takes no more than 8000 values at once. */
TEST(very_many_positions)
{
    bf_state s;
    bf_filter *f = OPEN("k", .m = 90000, .k = 4096, .scheme = "classic", .counting = true);
    CHECK(bf_add(f, "x", 1, &e) == 1 && bf_add(f, "y", 1, &e) == 1 && bf_add(f, "x", 1, &e) == 0);
    CHECK(bf_remove(f, "x", 1, &e) == 1 && bf_remove(f, "z", 1, &e) == 0 &&
          bf_count_of(f, "x", 1, &e) == 1 && bf_count_of(f, "y", 1, &e) == 1);
    CHECK(bf_remove(f, "y", 1, &e) == 1 && bf_remove(f, "x", 1, &e) == 1);
    CHECK(bf_get_state(f, &s, &e) == 0 && s.ones == 0);
    bf_close(f);
}

/* Somebody clears it between the scripts of one batch: what was not removed is asked again. */
TEST(cleared_meanwhile)
{
    enum { KEYS = 200 };
    static uint8_t each[KEYS];
    bf_key keys[KEYS];
    char text[KEYS][8];
    bf_filter *f = numbers(OPEN("c", .m = 90000, .k = 4, .counting = true), 0, KEYS),
              *other = OPEN("c", .counting = true);
    for (int i = 0; i < KEYS; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "n%d", i) };
    CHECK_EQ(bf_clear(other, &e), 0);
    numbers(other, 100, 150);
    CHECK_EQ(bf_remove_many(f, keys, KEYS, each, &e), 50);
    for (int i = 0; i < KEYS; i++) CHECK_EQ(each[i], i >= 100 && i < 150);
    CLOSE(f, other);
}

/* ---- cache ---- */
TEST(what_it_removes_is_asked_again)
{
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = numbers(OPEN("t", .m = 600000, .k = 6, .shards = shards, .counting = true,
                                   .cache = true, .cache_max_age = 1e6),
            0, 50);
        CHECK(bf_add(f, "n7", 2, &e) == 0 && bf_count_of(f, "n7", 2, &e) == 2);
        CHECK_EQ(bf_remove(f, "n7", 2, &e), 1);
        const long before = commands();
        CHECK_EQ(bf_test(f, "n7", 2, &e), 1);
        CHECK(commands() > before);
        CHECK_EQ(bf_remove(f, "n7", 2, &e), 1);
        CHECK(bf_test(f, "n7", 2, &e) == 0 && bf_count_of(f, "n7", 2, &e) == 0);
        CHECK_EQ(missing(f, 0, 7) + missing(f, 8, 50), 0);
        bf_close(f);
    }
}

/* What others remove may seem present for cache_max_age, however busy the handle is meanwhile. */
TEST(others_remove)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("o", .m = 600000, .k = 6, .shards = 3, .counting = true,
                               .cache = true, .cache_max_age = 0.1),
                  0, 50),
              *known = OPEN("o", .counting = true, .cache = true, .cache_max_age = 1e6),
              *other = OPEN("o", .counting = true);
    CHECK_EQ(missing(known, 0, 50), 0);
    CHECK_EQ(bf_remove(other, "n3", 2, &e), 1);
    const double until = rs_now() + 0.12;
    while (rs_now() < until) CHECK_EQ(missing(f, 1000, 1010), 10); /* trips to all shards */
    CHECK_EQ(bf_test(f, "n3", 2, &e), 0);
    CHECK_EQ(bf_test(known, "n3", 2, &e), 1); /* as was asked for, */
    CHECK_EQ(bf_count_of(known, "n3", 2, &e), 0);
    CHECK_EQ(bf_test(known, "n3", 2, &e), 0); /* until a trip says what is so */
    CHECK(bf_remove(other, "n4", 2, &e) == 1 && bf_clear(other, &e) == 0);
    CHECK_EQ(missing(known, 1000, 1040), 40); /* a new mark, as for bits */
    CHECK_EQ(missing(known, 0, 50), 50);
    CHECK_EQ(missing(f, 0, 50), 50);
    CLOSE(f, known, other);
}

/* A change whose end is not known leaves nothing known of the key. */
TEST(no_replica_in_time)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *g = OPEN(NULL, .n = 100, .p = 1e-6, .grow = 2, .wait_replicas = 1,
        .redis_client = &one_server, .key = "g");
    may_take(g, 0.2); /* half of it is for replicas; the client waits for ever */
    CHECK_REFUSED(bf_add(g, "x", 1, &e), BF_EIO, "added, but only 0 of wait_replicas=1");
    CHECK(bf_test(g, "x", 1, &e) == 1 && bf_test(g, "y", 1, &e) == 0);
    bf_close(g);
    bf_filter *f = OPEN(NULL, .m = 60000, .k = 6, .counting = true, .cache = true,
        .cache_max_age = 1e6, .wait_replicas = 1, .redis_client = &one_server, .key = "f");
    may_take(f, 0.2);
    numbers(f, 0, 2);
    CHECK_REFUSED(bf_remove(f, "n1", 2, &e), BF_EIO, "removed, but only 0 of wait_replicas=1");
    CHECK_EQ(bf_test(f, "n1", 2, &e), 0);
    CHECK_REFUSED(bf_add(f, "n1", 2, &e), BF_EIO, "added, but only 0 of wait_replicas=1");
    CHECK_EQ(bf_test(f, "n1", 2, &e), 1);
    CHECK_EQ(bf_count_of(f, "n1", 2, &e), 1);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
