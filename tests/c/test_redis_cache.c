/* test_redis_cache.c - keys known to be present (cache), adds that wait for replicas: no trip is
 * made where none is needed, and what changed behind the cache is noticed.  The answers:
 * test_redis_as_memory.c.  Its own servers.  About core/redis/cache.c. */
#define _GNU_SOURCE
#include "redis_host_client.h"

/* ---- trips ---- */
static void known_keys(bf_spec spec)
{
    const bf_spec there = { .counting = spec.counting };
    const bool counts = spec.counting || spec.window > 0; /* ... each add, or from the last one */
    spec.cache = true;
    spec.cache_max_age = 1e6;
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(opened(spec, "trips", "", __LINE__), 0, 60),
              *plain = opened(there, "trips", "", __LINE__);
    numbers(f, 0, 60); /* in a filter that has grown they were found in another part */
    long before = commands();
    CHECK_EQ(present_of(f, 0, 60), 60); /* tests of what it added */
    CHECK_EQ(commands(), before);
    numbers(f, 0, 60); /* adds again */
    CHECK(counts ? commands() >= before + 60 : commands() == before);
    before = commands();
    CHECK_EQ(present_of(f, 90, 110), 0); /* absent is never known */
    CHECK(commands() >= before + 20);
    numbers(plain, 60, 90);
    CHECK_EQ(present_of(f, 60, 90), 30); /* by a trip */
    before = commands();
    CHECK_EQ(present_of(f, 0, 90), 90); /* and not by another */
    CHECK_EQ(commands(), before);
    CHECK_EQ(present_of(plain, 0, 10), 10);
    CHECK(commands() > before);
    CHECK_EQ(bf_clear(plain, &e), 0);
    CHECK_EQ(present_of(f, 5000, 5040), 0); /* a trip to each shard sees the new marks */
    CHECK_EQ(present_of(f, 0, 90), 0);
    CHECK(bf_add(f, "n1", 2, &e) == 1 && bf_delete(plain, &e) == 0);
    CHECK_EQ(present_of(f, 5000, 5040), 0);
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && bf_test(f, "n2", 2, &e) == BF_EIO);
    CLOSE(f, plain);
}
TEST(known_keys_make_no_trip)
{
    static const bf_spec kinds[] = { { .m = 600000, .k = 6 }, { .m = 600000, .k = 6, .shards = 3 },
        { .n = 10, .p = 1e-6, .grow = 1.05 }, { .n = 500, .p = 1e-6, .window = 1e9, .parts = 7 },
        { .m = 600000, .k = 6, .counting = true },
        { .m = 600000, .k = 6, .shards = 3, .counting = true } };
    for (size_t i = 0; i < COUNT(kinds); i++) known_keys(kinds[i]);
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
                          0, 60),
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
                CHECK_EQ(present_of(f, 0, 60), 0);
                numbers(f, 0, 60);
                CHECK_EQ(present_of(f, 0, 60), 60);
                CHECK_EQ(present_of(other, 0, 60), 60);
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
/* Before it stops it has only keys 0 to 60 on its disk.  What finds out may be tests of other keys,
 * a count, a look at the whole: then no add is answered without Redis. */
static void comes_back(bf_spec spec, bool by_tests)
{
    bf_state st;
    bf_part_info part;
    spec.cache = true;
    spec.cache_max_age = 1e6;
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(opened(spec, "older", "", __LINE__), 0, 60), *other;
    rs_command(&redis, "SAVE");
    numbers(f, 60, 80);
    rs_stop(&redis, SIGKILL);
    rs_resume(&redis);
    if (by_tests)
        present_of(f, 1000, 1040);
    else
        CHECK_EQ(spec.m ? bf_get_state(f, &st, &e) : bf_get_part(f, 0, &part, &e), 0);
    numbers(f, 0, 80); /* acknowledged, so they must be there for all */
    other = OPEN("older", 0);
    CHECK_EQ(present_of(other, 0, 80), 80);
    const long before = commands();
    CHECK_EQ(present_of(f, 0, 80), 80); /* known again */
    CHECK_EQ(commands(), before);
    CLOSE(f, other);
    rs_command(&redis, "FLUSHALL");
}
TEST(back_with_older_bits)
{
    static const bf_spec kinds[] = { { .m = 600000, .k = 6 }, { .m = 600000, .k = 6, .shards = 3 },
        { .n = 30, .p = 0.001, .grow = 2 }, { .n = 500, .p = 0.001, .window = 1e9 } };
    for (size_t i = 0; i < COUNT(kinds); i++) comes_back(kinds[i], i < 2);
    comes_back(kinds[0], false);
    comes_back(kinds[1], false);
}

TEST(a_bitmap_without_a_mark_has_no_cache)
{
    rs_command(&redis, "SETBIT foreign 7 1");
    const bf_spec spec = {
        .m = 1000, .k = 3, .scheme = "classic", .must_exist = true, .cache = true
    };
    CHECK_REFUSED(code_of(spec, "foreign"), BF_ENOTSUP, "cache needs one");
}

/* ---- replicas ---- */
/* What was acknowledged is there: a bit, or a counter. */
static void replica_has(server *copy, bf_filter *f, const char *key, size_t len, int want)
{
    uint64_t pos[6];
    char name[16] = "wait";
    const bf_info i = info_of(f);
    const uint64_t each = i.m / i.shards;
    bf_hashcode(f, key, len, pos, 6, &e);
    if (i.shards > 1) sprintf(name, "wait:%u", (unsigned)(pos[0] / each));
    const char *now = rs_command(copy, "BITFIELD_RO %s GET u%d #%llu", name, i.counting ? 4 : 1,
        (unsigned long long)(pos[0] % each));
    CHECK_EQ(atoi(now + 1), want);
}

TEST(waiting_for_replicas)
{
    server copy;
    rs_replica(&copy, &redis);
    for (int kind = 0; kind < 4; kind++) {
        const bool counting = kind >= 2;
        bf_spec spec = { .m = 90000, .k = 6, .shards = kind % 2 ? 3 : 1, .counting = counting };
        spec.wait_replicas = 1;
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(spec, "wait", "", __LINE__);
        for (unsigned i = 0; i < 30; i++) {
            char t[16];
            const size_t len = (size_t)sprintf(t, "n%u", i);
            CHECK_EQ(bf_add(f, t, len, &e), BF_ADDED);
            replica_has(&copy, f, t, len, 1);
            if (counting) CHECK_EQ(bf_remove(f, t, len, &e), 1);
            if (counting) replica_has(&copy, f, t, len, 0);
        }
        bf_close(f);
        if (counting) continue;
        f = OPEN(NULL, .wait_replicas = 2, .cache = true, .cache_max_age = 1e6,
            .redis_client = &one_server, .key = "wait");
        may_take(f, 0.2); /* half of it is for the replicas; the client waits for ever */
        for (int i = 0; i < 2; i++) { /* that the bit is known does not make it wait less */
            CHECK_REFUSED(bf_add(f, "more", 4, &e), BF_EIO, "added, but only ");
            CHECK_HAS(e.msg, " of wait_replicas=2 replicas had it in time");
        }
        CHECK_EQ(bf_test(f, "more", 4, &e), 1);
        bf_close(f);
    }
    rs_end(&copy);
}

int main(void) { return main_with_redis(&redis); }
