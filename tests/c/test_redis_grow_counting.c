/* test_redis_grow_counting.c - filters of counters that grow, in Redis: a multiset; servers
 * that take no writes; numbers of keys that are damaged.  Handles in turn: test_redis_as_memory.c.
 * Its own server.  About core/redis/span.c, core/redis/scripts.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "letter_keys.h"
#include "oracle_counting.h"

static bf_filter *open_(bf_spec spec, const char *key, const char *more)
{
    spec.counting = true;
    return opened(spec, key, more, __LINE__);
}
static bf_key letter(char kind, uint64_t i)
{
    static name t[8];
    static unsigned at;
    return key_of(t + at++ % 8, kind, i);
}
static int taken(bf_filter *f, char kind, uint64_t i)
{
    const bf_key k = letter(kind, i);
    return bf_remove(f, k.ptr, k.len, &e);
}
static int counted(bf_filter *f, char kind, uint64_t i)
{
    const bf_key k = letter(kind, i);
    return bf_count_of(f, k.ptr, k.len, &e);
}

TEST(a_multiset)
{
    for (int cache = 0; cache < 2; cache++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f =
            open_((bf_spec){ .n = 50, .p = 1e-9, .grow = 1 + cache, .cache = cache }, "set", "");
        oc_multiset(f, 2000, 50, 7);
        bf_filter *one =
            open_((bf_spec){ .n = 7, .p = 1e-9, .grow = 2, .cache = cache }, "one", "");
        oc_multiset(one, 500, 1, 9);
        CHECK(parts_of(f) > 1 && parts_of(one) > 1);
        CLOSE(f, one);
    }
}

TEST(a_full_server_and_a_replica_count)
{
    static const char *const set[][2] = { { "CONFIG SET maxmemory 1", "OOM" },
        { "REPLICAOF 127.0.0.1 1", "READONLY" } };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = open_((bf_spec){ .n = 40, .p = 1e-9, .grow = 1 }, "full", "");
    many(f, true, 'k', 0, 100, NULL);
    for (size_t i = 0; i < COUNT(set); i++) {
        rs_command(&redis, "%s", set[i][0]);
        CHECK(counted(f, 'k', 9) == 1 && counted(f, 'k', 99) == 1 && counted(f, 'n', 1) == 0);
        CHECK_REFUSED(add(f, 'n', 1), BF_EIO, set[i][1]);
        CHECK_REFUSED(taken(f, 'k', 9), BF_EIO, i ? "READONLY" : "OOM");
        rs_command(&redis, i ? "REPLICAOF NO ONE" : "CONFIG SET maxmemory 0");
    }
    CHECK(add(f, 'n', 1) == 1 && taken(f, 'k', 9) == 1);
    bf_close(f);
}

TEST(a_damaged_number_of_keys)
{
    static const char *const values[] = { "x", "nan", "-1", "0x10", "1e3", "" };
    for (int counting = 0; counting < 2; counting++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(
            (bf_spec){ .n = 40, .p = 1e-9, .grow = 1, .counting = counting }, "hurt", "", __LINE__);
        CHECK_EQ(add(f, 'k', 1), 1);
        for (size_t i = 0; i < COUNT(values); i++) {
            char want[80];
            snprintf(
                want, sizeof want, "is damaged: field keys of its newest part is '%s'", values[i]);
            rs_command(&redis, "HSET hurt:meta keys0 \"%s\"", values[i]);
            CHECK_REFUSED(add(f, 'n', i), BF_EFORMAT, want);
            CHECK_EQ(has(f, 'k', 1), 1);
            const char *url = rs_url(&redis, "hurt", "");
            CHECK_NO_FILTER(bf_open(&(bf_spec){ .counting = counting, .storage = url }, &e),
                BF_EFORMAT, "field keys0 of its companion hash");
        }
        rs_command(&redis, "HSET hurt:meta keys0 1");
        CHECK(add(f, 'n', 0) == 1 && has(f, 'n', 0) == 1);
        bf_close(f);
    }
}

int main(void) { return main_with_redis(&redis); }
