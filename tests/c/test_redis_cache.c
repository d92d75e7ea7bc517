/* test_redis_cache.c - keys known to be present (cache), adds that wait for replicas, time-outs
 * from the spec: the answers are those without a cache, no trip is made where none is needed, and
 * what changed behind the cache is noticed.  It starts its own servers.  About core/redis/cache.c.
 */
#define _GNU_SOURCE
#include "oracle.h"
#include "redis_filters.h"

enum { MOST = 1500 };

/* ---- the same answers ---- */
static void against_oracle(const char *scheme, unsigned shards, double max_age)
{
    static o_key text[MOST];
    static bf_key keys[MOST];
    static uint8_t each[MOST], want[MOST];
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("cached", .m = 60000, .k = 6, .scheme = scheme, .shards = shards,
                  .cache = true, .cache_max_age = max_age),
              *other = OPEN("cached", 0);
    const bf_info i = info_of(f);
    oracle o = { scheme, i.m, 6, calloc(1, i.m), NULL, shards };
    uint32_t seed = shards;
    for (int round = 0; round < 30; round++) {
        const size_t n = round % 3 ? MOST : 1 + (size_t)round;
        bf_filter *who = round % 4 == 3 ? other : f; /* what others add is there, known or not */
        for (size_t j = 0; j < n; j++) keys[j] = o_make(text + j, (o_random(&seed) >> 8) % 3000, 0);
        int64_t hits = 0;
        for (size_t j = 0; j < n; j++)
            hits += want[j] = (uint8_t)(round % 2 ? o_add(&o, keys[j].ptr, keys[j].len)
                                                  : o_test(&o, keys[j].ptr, keys[j].len));
        CHECK_EQ(
            round % 2 ? bf_add_many(who, keys, n, each, &e) : bf_test_many(who, keys, n, each, &e),
            hits);
        CHECK(!memcmp(each, want, n));
    }
    free(o.cells);
    CLOSE(f, other);
}

TEST(the_same_answers)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    for (size_t s = 0; s < 3; s++)
        for (unsigned shards = 1; shards <= 4; shards += 3) {
            against_oracle(schemes[s], shards, 0);
            against_oracle(schemes[s], shards, 1e-9);
            against_oracle(schemes[s], shards, 1e6);
        }
}

/* ---- trips ---- */
TEST(known_keys_make_no_trip)
{
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = numbers(OPEN("trips", .m = 600000, .k = 6, .shards = shards, .cache = true,
                                   .cache_max_age = 1e6),
                      0, 500),
                  *plain = OPEN("trips", 0);
        long before = commands();
        CHECK_EQ(present_of(f, 0, 500), 500); /* tests of what it added */
        numbers(f, 0, 500);                   /* adds again */
        CHECK_EQ(commands(), before);
        CHECK_EQ(present_of(f, 500, 520), 0); /* absent is never known */
        CHECK(commands() >= before + 20);
        numbers(plain, 500, 600);
        CHECK_EQ(present_of(f, 500, 600), 100); /* by a trip */
        before = commands();
        CHECK_EQ(present_of(f, 0, 600), 600); /* and not by another */
        CHECK_EQ(commands(), before);
        CHECK_EQ(present_of(plain, 0, 10), 10);
        CHECK(commands() > before);
        CLOSE(f, plain);
    }
}

/* ---- what changes behind it ---- */
TEST(changes_are_noticed)
{
    for (unsigned shards = 1; shards <= 3; shards += 2)
        for (int age = 0; age < 2;
            age++) { /* at once by any trip; without one when the time is over */
            const double max_age = age ? 1e6 : 0.02;
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = numbers(OPEN("change", .m = 600000, .k = 6, .shards = shards,
                                       .cache = true, .cache_max_age = max_age),
                          0, 200),
                      *other = OPEN("change", 0), *fresh;
            for (int way = 0; way < 4; way++) {
                bf_filter *who = way == 1 ? f : other; /* its own are known to it without a trip */
                if (way == 0 || way == 1) CHECK_EQ(bf_clear(who, &e), 0);
                if (way == 2) {
                    CHECK((fresh = bf_rebuild_begin(who, &e)) != NULL);
                    CHECK_EQ(bf_rebuild_end(who, numbers(fresh, 1000, 1010), &e), 0);
                    bf_close(fresh);
                }
                if (way == 3) {
                    CHECK((fresh = bf_rebuild_begin(who, &e)) != NULL);
                    CHECK_EQ(bf_intersect(who, fresh, &e), 0);
                    bf_close(fresh);
                }
                if (age == 0)
                    rs_pause(40);
                else
                    present_of(f, 5000, 5040); /* a trip to each shard */
                CHECK_EQ(present_of(f, 0, 200), 0);
                numbers(f, 0, 200);
                CHECK_EQ(present_of(f, 0, 200), 200);
                CHECK_EQ(present_of(other, 0, 200), 200);
            }
            CHECK_EQ(bf_delete(other, &e), 0);
            if (age == 0)
                rs_pause(40);
            else
                CHECK(bf_test(f, "unknown", 7, &e) == BF_EIO || shards > 1);
            for (int i = 0; age && i < 40; i++) {
                char t[16];
                CHECK_EQ(bf_test(f, t, (size_t)sprintf(t, "u%d", i), &e), BF_EIO);
            }
            CHECK_REFUSED(bf_test(f, "n0", 2, &e), BF_EIO, "is lost");
            CHECK_EQ(bf_add(f, "n0", 2, &e), BF_EIO);
            CLOSE(f, other);
            f = numbers(OPEN("change", .m = 600000, .k = 6, .shards = shards, .cache = true,
                            .cache_max_age = 1e6),
                0, 10);
            CHECK_EQ(bf_delete(f, &e), 0); /* its own */
            CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
            bf_close(f);
        }
}

/* ---- a Redis that comes back with older bits, and their mark ---- */
/* Before it stops it has only keys 0 to 100 on its disk. */
TEST(back_with_older_bits)
{
    rs_command(&redis, "FLUSHALL");
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        bf_filter *f = OPEN("older", .m = 600000, .k = 6, .shards = shards, .cache = true,
                      .cache_max_age = 1e6),
                  *other;
        numbers(f, 0, 100);
        rs_command(&redis, "SAVE");
        numbers(f, 100, 200);
        rs_stop(&redis, SIGKILL);
        rs_resume(&redis);
        bf_test(f, "unknown", 7, &e); /* a new connection: the first trip finds out */
        for (int i = 0; i < 40; i++) {
            char t[16];
            bf_test(f, t, (size_t)sprintf(t, "u%d", i), &e);
        }
        numbers(f, 0, 200); /* acknowledged, so they must be there for all */
        other = OPEN("older", 0);
        CHECK_EQ(present_of(other, 0, 200), 200);
        long before = commands();
        CHECK_EQ(present_of(f, 0, 200), 200); /* known again */
        CHECK_EQ(commands(), before);
        CLOSE(f, other);
        rs_command(&redis, "FLUSHALL");
    }
}

/* What finds out may be anything: a count, a look at the whole.  Then no add is answered without
 * Redis. */
TEST(back_and_not_asked_for_keys)
{
    bf_spec kinds[] = { { .m = 600000, .k = 6 }, { .m = 600000, .k = 6, .shards = 3 },
        { .n = 30, .p = 0.001, .grow = 2 }, { .n = 500, .p = 0.001, .window = 1e6 } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bf_state st;
        bf_part_info part;
        kinds[i].cache = true;
        kinds[i].cache_max_age = 1e6;
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(kinds[i], "later", "", __LINE__), *other;
        numbers(f, 0, 100);
        rs_command(&redis, "SAVE");
        numbers(f, 100, 120);
        rs_stop(&redis, SIGKILL);
        rs_resume(&redis);
        CHECK_EQ(i < 2 ? bf_get_state(f, &st, &e) : bf_get_part(f, 0, &part, &e), 0);
        numbers(f, 100, 120); /* acknowledged */
        other = OPEN("later", 0);
        CHECK_EQ(present_of(other, 0, 120), 120);
        CLOSE(f, other);
    }
    rs_command(&redis, "FLUSHALL");
}

TEST(refused)
{
    static const struct {
        bf_spec spec;
        int code;
        const char *says;
    } rows[] = { { { .m = 100, .k = 2, .cache = true }, BF_EINVAL, "no Redis is given" },
        { { .m = 100, .k = 2, .timeout = 1 }, BF_EINVAL, "no Redis is given" },
        { { .m = 100, .k = 2, .wait_replicas = 1 }, BF_EINVAL, "no Redis is given" },
        { { .m = 100, .k = 2, .storage = "redis://h?key=k", .timeout = -1 }, BF_EINVAL,
            "timeout must be 0.001 to 86400 seconds, got -1" },
        { { .m = 100, .k = 2, .storage = "redis://h?key=k", .timeout = 1e9 }, BF_EINVAL,
            "timeout must be" },
        { { .m = 100, .k = 2, .storage = "redis://h?key=k", .cache_max_age = 5 }, BF_EINVAL,
            "cache_max_age=5 needs cache" },
        { { .m = 100, .k = 2, .storage = "redis://h?key=k", .cache = true, .cache_max_age = -5 },
            BF_EINVAL, "got -5" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(!bf_open(&rows[i].spec, &e));
        CHECK_EQ(e.code, rows[i].code);
        CHECK_HAS(e.msg, rows[i].says);
    }
    rs_command(&redis, "SETBIT foreign 7 1");
    bf_spec spec = { .m = 1000,
        .k = 3,
        .scheme = "classic",
        .must_exist = true,
        .cache = true,
        .storage = rs_url(&redis, "foreign", "") };
    CHECK(!bf_open(&spec, &e));
    CHECK_HAS(e.msg, "cache needs one");
}

/* ---- rebuild ---- */
TEST(rebuilding)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("re", .m = 9001, .k = 6), 0, 100), *other = OPEN("re", 0),
              *fresh = bf_rebuild_begin(f, &e);
    rs_command(&redis, "PEXPIRE re 500000");
    numbers(fresh, 50, 150);
    CHECK_EQ(present_of(other, 0, 100), 100); /* not yet */
    CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
    CHECK(present_of(f, 50, 150) == 100 && present_of(other, 50, 150) == 100 &&
          present_of(other, 0, 50) < 25);
    CHECK_EQ(bf_equal(f, fresh, &e), 1);
    CHECK(rs_number(&redis, "PTTL re") > 400000);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
    bf_filter *unlike = bf_open(&(bf_spec){ .m = 9002, .k = 6 }, &e),
              *reader = OPEN("re", .read_only = true);
    CHECK_EQ(bf_rebuild_end(f, unlike, &e), BF_EINVAL);
    CHECK(!bf_rebuild_begin(reader, &e) && e.code == BF_ENOTSUP);
    bf_close(reader);
    rs_command(&redis, "DEL re re:meta");
    CHECK_REFUSED(bf_rebuild_end(f, fresh, &e), BF_EIO, "is lost");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    CLOSE(f, other, fresh, unlike);
}

/* ---- replicas ---- */
TEST(waiting_for_replicas)
{
    server copy;
    rs_replica(&copy, &redis);
    for (unsigned shards = 1; shards <= 3; shards += 2) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(
            (bf_spec){ .m = 90000, .k = 6, .shards = shards, .wait_replicas = 1, .timeout = 10 },
            "wait", "", __LINE__);
        for (unsigned i = 0; i < 100; i++) {
            char t[16], key[16];
            uint64_t pos[6];
            size_t len = (size_t)sprintf(t, "n%u", i);
            CHECK_EQ(bf_add(f, t, len, &e), BF_ADDED);
            bf_hashcode(f, t, len, pos, 6, &e);
            const bf_info info = info_of(f);
            const uint64_t each = info.m / shards;
            if (shards == 1)
                strcpy(key, "wait");
            else
                sprintf(key, "wait:%u", (unsigned)(pos[0] / each));
            for (int j = 0; j < 6; j++)
                CHECK_EQ(
                    rs_number(&copy, "GETBIT %s %llu", key, (unsigned long long)(pos[j] % each)),
                    1); /* it is there now */
        }
        bf_close(f);
        f = opened(
            (bf_spec){ .wait_replicas = 2, .timeout = 1.5, .cache = true, .cache_max_age = 1e6 },
            "wait", "", __LINE__);
        for (int i = 0; i < 2; i++) { /* that the bit is known does not make it wait less */
            CHECK_REFUSED(bf_add(f, "more", 4, &e), BF_EIO,
                "added, but only 1 of wait_replicas=2 replicas had it in time");
        }
        CHECK_EQ(bf_test(f, "more", 4, &e), 1);
        bf_close(f);
    }
    rs_end(&copy);
}

TEST(time_out_of_the_spec)
{
    bf_filter *f =
        opened((bf_spec){ .m = 9001, .k = 6, .timeout = 0.3 }, "late", "&timeout=60", __LINE__);
    int fd = rs_connect(redis.port);
    if (write(fd, "DEBUG SLEEP 2\r\n", 15) < 0) failed_here++;
    rs_pause(100);
    CHECK_EQ(bf_test(f, "x", 1, &e), BF_EIO);
    CHECK_EQ(e.sys_errno, ETIMEDOUT);
    rs_pause(2300);
    close(fd);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
