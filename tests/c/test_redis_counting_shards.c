/* test_redis_counting_shards.c - counting filters in Redis with shards, a cache, adds and removals
 * that wait for replicas: no wrong absent, never a change sent twice.  It starts its own servers.
 * About core/redis/batch.c, core/redis/shards.c, core/redis/cache.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "check.h"
#include "native.h"
#include "oracle_counting.h"
#include "redis_filters.h"

/* Lua takes no more than 8000 values at once. */
TEST(very_many_positions)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("k", .m = 90000, .k = 4096, .scheme = "classic", .counting = true);
    CHECK(bf_add(f, "x", 1, &e) == 1 && bf_add(f, "y", 1, &e) == 1 && bf_add(f, "x", 1, &e) == 0);
    CHECK(bf_remove(f, "x", 1, &e) == 1 && bf_remove(f, "z", 1, &e) == 0 &&
          bf_count_of(f, "x", 1, &e) == 1 && bf_count_of(f, "y", 1, &e) == 1);
    CHECK(bf_remove(f, "y", 1, &e) == 1 && bf_remove(f, "x", 1, &e) == 1);
    bf_state s;
    CHECK(bf_get_state(f, &s, &e) == 0 && s.ones == 0);
    bf_close(f);
}

/* What one key of Redis cannot hold is cut by itself, and not where that was forbidden. */
TEST(large_ones_are_cut)
{
    rs_command(&redis, "FLUSHALL");
    bf_spec spec = {
        .m = UINT64_C(1) << 31, .k = 3, .counting = true, .storage = "redis://h?key=k"
    };
    CHECK(bf_plan(&spec, &e) == 0 && spec.shards == 4 && spec.m == UINT64_C(1) << 31);
    spec =
        (bf_spec){ .m = UINT64_C(1) << 30, .k = 3, .counting = true, .storage = "redis://h?key=k" };
    CHECK(bf_plan(&spec, &e) == 0 && spec.shards == 2);
    spec = (bf_spec){ .m = 1073741808, .k = 3, .counting = true, .storage = "redis://h?key=k" };
    CHECK(bf_plan(&spec, &e) == 0 && spec.shards <= 1);
    CHECK_EQ(
        code_of((bf_spec){ .m = UINT64_C(1) << 32, .k = 3, .shards = 2, .counting = true }, "k"),
        BF_EINVAL);
    CHECK_HAS(e.msg, "4294967296 counters are too many for 2 Redis keys of at most 1073741808");
    CHECK_EQ(code_of((bf_spec){ .n = 100, .p = 0.01, .scheme = "redisson", .counting = true }, "k"),
        BF_ENOTSUP);
    CHECK_HAS(e.msg, "bits, not counters");
    CHECK_EQ(rs_number(&redis, "EXISTS k {k}:config"), 0);
}

/* ---- whole filters ---- */
TEST(whole_filters)
{
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        const bf_spec spec = {
            .m = 9001, .k = 5, .scheme = "classic", .shards = shards, .counting = true
        };
        rs_command(&redis, "FLUSHALL");
        bf_spec far = spec;
        far.cache = true;
        far.cache_max_age = 1e6;
        bf_filter *a = numbers(opened(far, "a", "", __LINE__), 0, 300), *copy, *plain,
                  *x = numbers(opened(spec, NULL, "", __LINE__), 0, 300),
                  *y = numbers(opened(spec, NULL, "", __LINE__), 200, 500);
        CHECK(bf_unite(a, y, &e) == 0 && bf_unite(x, y, &e) == 0 && bf_equal(a, x, &e) == 1);
        CHECK((copy = bf_copy(a, &e)) && bf_equal(copy, x, &e) == 1);
        CHECK((plain = bf_to_plain(a, &e)) && missing(plain, 0, 500) == 0);
        const bf_info i = info_of(a);
        uint8_t *image = malloc(i.image_bytes);
        bf_filter *back;
        CHECK_EQ(bf_to_bytes(a, image, i.image_bytes, &e), 0);
        CHECK((back = bf_from_bytes(image, i.image_bytes, &(bf_spec){ .counting = true }, &e)) &&
              bf_equal(back, x, &e) == 1 && bf_remove(back, "n3", 2, &e) == 1);
        free(image);
        CHECK(bf_intersect(a, y, &e) == BF_ENOTSUP);
        CHECK_EQ(bf_rebuild_end(a, y, &e), 0);
        CHECK(bf_equal(a, y, &e) == 1 && bf_test(a, "n0", 2, &e) == bf_test(y, "n0", 2, &e));
        CHECK_EQ(bf_expire(a, 1000, &e), 0);
        CHECK(rs_number(&redis, "TTL %s", shards == 1 ? "a" : "a:1") > 900);
        CHECK(bf_clear(a, &e) == 0 && missing(a, 0, 50) == 50 && bf_add(a, "n1", 2, &e) == 1);
        CHECK(bf_delete(a, &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
        CHECK(bf_test(a, "n1", 2, &e) == BF_EIO && bf_remove(a, "n1", 2, &e) == BF_EIO);
        CHECK_HAS(e.msg, "is lost");
        for (bf_filter **f = (bf_filter *[]){ a, x, y, copy, plain, back, NULL }; *f; f++)
            bf_close(*f);
    }
}

/* A lost shard is an error for its keys alone, and no stub of an add stays. */
TEST(lost_shards)
{
    enum { KEYS = 60 };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("l", .m = 9000, .k = 4, .shards = 3, .counting = true), 0, KEYS);
    bf_key keys[KEYS];
    char text[KEYS][8];
    unsigned lost = 0;
    rs_command(&redis, "DEL l:1");
    for (int i = 0; i < KEYS; i++) {
        const size_t len = (size_t)sprintf(text[i], "n%d", i);
        keys[i] = (bf_key){ text[i], len };
        const int there = bf_test(f, text[i], len, &e);
        lost += there < 0;
        CHECK(there == 1 || there == BF_EIO);
        CHECK_EQ(bf_count_of(f, text[i], len, &e), there);
        CHECK_EQ(bf_remove(f, text[i], len, &e), there);
        CHECK_EQ(bf_add(f, text[i], len, &e) < 0, there < 0);
        if (there < 0) CHECK_HAS(e.msg, "l:1 at");
    }
    CHECK(lost > 5 && lost < KEYS - 5);
    CHECK_EQ(bf_add_many(f, keys, KEYS, NULL, &e), BF_EIO);
    CHECK_EQ(bf_remove_many(f, keys, KEYS, NULL, &e), BF_EIO);
    CHECK_EQ(rs_number(&redis, "EXISTS l:1"), 0);
    bf_close(f);
    f = OPEN("l", .m = 9000, .k = 4, .shards = 3, .counting = true); /* makes the lost one */
    CHECK_EQ(bf_add_many(f, keys, KEYS, NULL, &e) > 0, 1);
    CHECK_EQ(missing(f, 0, KEYS), 0);
    bf_close(f);
}

/* Somebody clears it between the scripts of one batch: what was not removed is asked again. */
TEST(cleared_meanwhile)
{
    enum { KEYS = 200 };
    static uint8_t each[KEYS];
    bf_key keys[KEYS];
    char text[KEYS][8];
    rs_command(&redis, "FLUSHALL");
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
TEST(cache_spares_tests_alone)
{
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = numbers(OPEN("t", .m = 600000, .k = 6, .shards = shards, .counting = true,
                                   .cache = true, .cache_max_age = 1e6),
            0, 200);
        long before = commands();
        CHECK_EQ(missing(f, 0, 200), 0);
        CHECK_EQ(commands(), before); /* no trip */
        numbers(f, 0, 200);
        CHECK(commands() >= before + 200);        /* an add counts */
        CHECK_EQ(bf_count_of(f, "n7", 2, &e), 2); /* a count is asked */
        CHECK_EQ(bf_remove(f, "n7", 2, &e), 1);
        before = commands();
        CHECK_EQ(bf_test(f, "n7", 2, &e), 1); /* dropped: asked again */
        CHECK(commands() > before);
        CHECK_EQ(bf_remove(f, "n7", 2, &e), 1);
        CHECK_EQ(bf_test(f, "n7", 2, &e), 0);
        CHECK_EQ(bf_count_of(f, "n7", 2, &e), 0);
        CHECK_EQ(missing(f, 0, 7) + missing(f, 8, 200), 0);
        bf_close(f);
    }
}

/* What others remove may seem present for cache_max_age, however busy the handle is meanwhile. */
TEST(others_remove)
{
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = numbers(OPEN("o", .m = 600000, .k = 6, .shards = shards, .counting = true,
                                   .cache = true, .cache_max_age = 0.3),
                      0, 50),
                  *known = OPEN("o", .counting = true, .cache = true, .cache_max_age = 1e6),
                  *other = OPEN("o", .counting = true);
        CHECK_EQ(missing(known, 0, 50), 0);
        CHECK_EQ(bf_remove(other, "n3", 2, &e), 1);
        const double until = rs_now() + 0.35;
        while (rs_now() < until) CHECK_EQ(missing(f, 1000, 1010), 10); /* trips to all shards */
        CHECK_EQ(bf_test(f, "n3", 2, &e), 0);
        CHECK_EQ(bf_test(known, "n3", 2, &e), 1); /* as was asked for, */
        CHECK_EQ(bf_count_of(known, "n3", 2, &e), 0);
        CHECK_EQ(bf_test(known, "n3", 2, &e), 0); /* until a trip says what is so */
        CHECK_EQ(bf_remove(other, "n4", 2, &e), 1);
        CHECK_EQ(bf_clear(other, &e), 0);
        CHECK_EQ(missing(known, 1000, 1040), 40); /* a new mark, as for bits */
        CHECK_EQ(missing(known, 0, 50), 50);
        numbers(other, 0, 50);
        CHECK_EQ(missing(f, 0, 50), 0);
        for (bf_filter **g = (bf_filter *[]){ f, known, other, NULL }; *g; g++) bf_close(*g);
    }
}

/* A removal whose end is not known leaves nothing known of the key. */
TEST(a_removal_that_failed)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("f", .m = 60000, .k = 6, .counting = true, .cache = true,
                               .cache_max_age = 1e6, .wait_replicas = 1, .timeout = 0.4),
        0, 3);
    CHECK_REFUSED(bf_remove(f, "n1", 2, &e), BF_EIO, "removed, but only 0 of wait_replicas=1");
    CHECK_EQ(bf_test(f, "n1", 2, &e), 0);
    CHECK_REFUSED(bf_add(f, "n1", 2, &e), BF_EIO, "added, but only 0 of wait_replicas=1");
    CHECK_EQ(bf_test(f, "n1", 2, &e), 1);
    CHECK_EQ(bf_count_of(f, "n1", 2, &e), 1);
    bf_close(f);
}

/* ---- replicas ---- */
TEST(waiting_for_replicas)
{
    server copy;
    rs_replica(&copy, &redis);
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = OPEN("w", .m = 9216, .k = 4, .scheme = "classic", .shards = shards,
            .counting = true, .wait_replicas = 1, .timeout = 20);
        const bf_info info = info_of(f);
        const uint64_t each = info.m / shards;
        for (int i = 0; i < 60; i++) {
            static const int left[] = { 1, 2, 1, 0 };
            uint64_t pos[4];
            char key[8] = "w";
            CHECK((i % 4 < 2 ? bf_add(f, "x", 1, &e) : bf_remove(f, "x", 1, &e)) >= 0);
            bf_hashcode(f, "x", 1, pos, 4, &e);
            if (shards > 1) sprintf(key, "w:%u", (unsigned)(pos[0] / each));
            const char *now = rs_command(&copy, "BITFIELD_RO %s GET u4 #%llu", key,
                (unsigned long long)(pos[0] % each)); /* it is there now */
            CHECK_EQ(atoi(now + 1), left[i % 4]);
        }
        bf_close(f);
    }
    rs_end(&copy);
}

int main(void) { return main_with_redis(&redis); }
