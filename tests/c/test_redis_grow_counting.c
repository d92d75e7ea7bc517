/* test_redis_grow_counting.c - filters of counters that grow, in Redis: as in memory, operation
 * for operation; a multiset; several processes; handles that know fewer parts; what is lost or
 * re-created; caches.  Its own server.  About core/redis/span.c, core/redis/scripts.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "letter_keys.h"
#include "oracle_counting.h"
#include <sys/wait.h>

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

TEST(as_in_memory)
{
    typedef int64_t call(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
    static call *const calls[] = { bf_add_many, bf_count_many, bf_add_many, bf_remove_many,
        bf_test_many };
    static const bf_spec specs[] = {
        { .n = 9, .p = 0.2, .grow = 2, .scheme = "classic" },
        { .n = 90, .p = 0.01, .grow = 1, .scheme = "block" },
        { .n = 9, .p = 1e-6, .grow = 16, .scheme = "block2" },
        { .n = 9, .p = 0.01, .grow = 2, .k = 1500, .scheme = "classic" },
        { .m = 1000, .n = 300, .grow = 1 },
    };
    enum { MOST = 700 };
    static name text[MOST];
    static bf_key keys[MOST];
    static uint8_t a[MOST], b[MOST];
    for (size_t s = 0; s < COUNT(specs); s++) {
        rs_command(&redis, "FLUSHALL");
        bf_spec spec = specs[s];
        spec.counting = true;
        bf_filter *far = open_(spec, "row", ""), *near = bf_open(&spec, &e), *again;
        uint32_t seed = (uint32_t)s;
        for (int round = 0; round < SHORT(15, 8); round++)
            for (size_t c = 0; c < COUNT(calls); c++) {
                const size_t n = round % 3 == 0 ? 1 : spec.k ? 60 : round % 3 == 1 ? 65 : MOST;
                for (size_t i = 0; i < n; i++)
                    keys[i] = key_of(text + i, 'k', o_random(&seed) % 1500);
                CHECK_EQ(calls[c](far, keys, n, a, &e), calls[c](near, keys, n, b, &e));
                if (memcmp(a, b, n))
                    FAILED("%zu: call %zu of %zu keys differs: %s\n", s, c, n, e.msg);
            }
        CHECK_EQ(bf_equal(far, near, &e), 1);
        CHECK(parts_of(far) > 1 && parts_of(far) == parts_of(near));
        CHECK((again = open_((bf_spec){ 0 }, "row", "")) && bf_equal(again, near, &e) == 1);
        bf_filter *copy = bf_copy(far, &e), *plain = bf_to_plain(far, &e),
                  *same = bf_to_plain(near, &e);
        CHECK(copy && bf_equal(copy, near, &e) == 1 && bf_equal(plain, same, &e) == 1);
        CHECK_REFUSED(bf_unite(far, near, &e), BF_EINVAL, "filters that count and grow cannot be");
        bf_close(again);
        CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "row", "") }, &e) &&
              e.code == BF_EMISMATCH);
        CLOSE(far, near, copy, plain, same);
    }
}

TEST(a_multiset)
{
    for (int cache = 0; cache < 2; cache++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f =
            open_((bf_spec){ .n = 50, .p = 1e-9, .grow = 1 + cache, .cache = cache }, "set", "");
        oc_multiset(f, SHORT(6000, 2000), 50, 7);
        bf_filter *one =
            open_((bf_spec){ .n = 7, .p = 1e-9, .grow = 2, .cache = cache }, "one", "");
        oc_multiset(one, SHORT(1500, 500), 1, 9);
        CHECK(parts_of(f) > 1 && parts_of(one) > 1);
        CLOSE(f, one);
    }
}

/* Two handles grow one filter in turn; whoever asks knows all parts. */
TEST(others_are_followed)
{
    const bf_spec spec = { .n = 40, .p = 1e-9, .grow = 1 };
    bf_filter *a = open_(spec, "two", ""), *b = open_(spec, "two", "");
    for (uint64_t i = 0; i < 1200; i += 60) {
        bf_filter *x = i % 120 ? a : b, *y = i % 120 ? b : a;
        CHECK_EQ(many(x, true, 'k', i, 60, NULL), 60);
        CHECK(counted(y, 'k', i + 59) == 1 && taken(y, 'k', i + 59) == 1);
        CHECK(has(x, 'k', i + 59) == 0 && add(y, 'k', i + 58) == 0 && taken(x, 'k', i + 58) == 1);
        CHECK_EQ(counted(x, 'k', i + 58), 1);
    }
    CHECK_EQ(bf_equal(a, b, &e), 1);
    CHECK_EQ(many(a, false, 'k', 0, 1200, NULL), 1200 - 20);
    CLOSE(a, b);
}

TEST(several_processes)
{
    enum { WORKERS = 3, EACH = 300 };
    const bf_spec spec = { .n = 30, .p = 1e-9, .grow = 1 };
    int status;
    for (int w = 0; w < WORKERS; w++) {
        if (fork()) continue;
        bf_filter *f = open_(spec, "many", "");
        int bad = !f;
        for (uint64_t i = 0; f && i < EACH; i++) {
            bad += add(f, (char)('m' + w), i) != 1 || add(f, 'c', 0) < 0;
            if (i % 3) bad += taken(f, (char)('m' + w), i) != 1;
            bad += counted(f, (char)('m' + w), i) != (i % 3 == 0) || taken(f, 'c', 0) != 1;
        }
        _exit(bad != 0);
    }
    for (int w = 0; w < WORKERS; w++) {
        wait(&status);
        CHECK_EQ(status, 0);
    }
    bf_filter *f = open_(spec, "many", "");
    for (uint64_t i = 0; i < (uint64_t)EACH * WORKERS; i++)
        CHECK_EQ(counted(f, (char)('m' + i % WORKERS), i / WORKERS), i / WORKERS % 3 == 0);
    CHECK_EQ(counted(f, 'c', 0), 0);
    bf_close(f);
}

/* Nothing that was lost is "absent", and nothing is removed from what is another filter's. */
TEST(lost_and_made_again)
{
    const bf_spec spec = { .n = 40, .p = 1e-9, .grow = 1 };
    static const char *const deaths[] = { "FLUSHALL", "DEL gone", "DEL gone:meta" };
    for (size_t d = 0; d < COUNT(deaths); d++)
        for (int op = 0; op < 5; op++) {
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = open_(spec, "gone", "");
            many(f, true, 'k', 0, 100, NULL);
            rs_command(&redis, deaths[d]);
            bf_key keys[] = { letter('k', 1), letter('k', 2) };
            const int64_t rc = op == 0   ? add(f, 'k', 1)
                               : op == 1 ? taken(f, 'k', 1)
                               : op == 2 ? counted(f, 'k', 1)
                               : op == 3 ? bf_remove_many(f, keys, 2, NULL, &e)
                                         : bf_count_many(f, keys, 2, NULL, &e);
            CHECK(rc == BF_EIO && e.lost);
            CHECK_HAS(e.msg, "is lost");
            if (d == 2) { /* bits without parameters are nobody's to overwrite */
                bf_spec again = spec;
                again.counting = true;
                again.storage = rs_url(&redis, "gone", "");
                CHECK_NO_FILTER(bf_open(&again, &e), BF_EFORMAT, "are not our filter");
                CHECK(bf_delete(f, &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
                bf_close(f);
                continue;
            }
            bf_filter *g = open_(spec, "gone", "");
            CHECK_EQ(add(g, 'n', 1), 1);
            CHECK(add(f, 'n', 1) == 0 && counted(g, 'n', 1) == 2);
            CHECK(taken(f, 'n', 1) == 1 && taken(f, 'k', 1) == 0 && counted(g, 'n', 1) == 1);
            CHECK(bf_clear(g, &e) == 0 && counted(f, 'n', 1) == 0 && add(f, 'n', 1) == 1);
            CHECK_EQ(counted(g, 'n', 1), 1);
            CHECK(bf_delete(g, &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
            CLOSE(f, g);
        }
}

TEST(read_only_handles)
{
    bf_filter *f = open_((bf_spec){ .n = 40, .p = 1e-9, .grow = 1 }, "ro", "");
    many(f, true, 'k', 0, 100, NULL);
    bf_filter *g = open_((bf_spec){ .read_only = true }, "ro", "");
    CHECK(g && counted(g, 'k', 9) == 1 && has(g, 'k', 99) == 1);
    CHECK(taken(g, 'k', 9) == BF_ENOTSUP && add(g, 'k', 9) == BF_ENOTSUP);
    CLOSE(f, g);
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
