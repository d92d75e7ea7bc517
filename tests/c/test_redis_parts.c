/* test_redis_parts.c - filters of parts in Redis: one round trip a call, however many parts they
 * have; clients that fill one part together; strings of an older version.  What the parts answer:
 * test_redis_as_memory.c.  Its own server.  About core/redis/parts.c, core/redis/span.c. */
#define _GNU_SOURCE
#include "redis_host_client.h"
#include "letter_keys.h"

/* So many parts, and room in the newest: each is made to say that it is full. */
static void grow_to(bf_filter *f, const char *meta, unsigned parts)
{
    for (unsigned i = parts_of(f); i < parts; i = parts_of(f)) {
        rs_command(&redis, "HSET %s keys%u 100000000", meta, i - 1);
        CHECK_EQ(many(f, true, 'g', 40 * i, 40, NULL), 40);
        if (parts_of(f) == i) break;
    }
    CHECK_EQ(parts_of(f), parts);
}

#define ROUND_TRIPS(n, call)                                                                       \
    do {                                                                                           \
        host_socket.round_trips = 0;                                                               \
        CHECK((call) >= 0);                                                                        \
        CHECK_EQ(host_socket.round_trips, n);                                                      \
    } while (0)

static bf_filter *through(const bf_redis_client *host, bf_spec spec, const char *key)
{
    spec.redis_client = host;
    spec.key = key;
    return opened(spec, NULL, "", __LINE__);
}
#define GROWS .n = 100, .p = 1e-6, .grow = 1.05

/* ---- growing ---- */
TEST(a_round_trip_a_call)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    for (int s = 0; s < 6; s++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = through(
            s < 3 ? &one_server : &a_cluster, (bf_spec){ GROWS, .scheme = schemes[s % 3] }, "seen");
        if (!f) return;
        grow_to(f, s < 3 ? "seen:meta" : "{seen}:meta", 8);
        ROUND_TRIPS(1, bf_add(f, "x", 1, &e));
        ROUND_TRIPS(1, bf_test(f, "x", 1, &e));
        ROUND_TRIPS(1, bf_test(f, "y", 1, &e));
        ROUND_TRIPS(1, bf_add(f, "x", 1, &e));
        ROUND_TRIPS(1, many(f, true, 'n', 0, 1000, NULL));
        ROUND_TRIPS(1, many(f, false, 'n', 0, 1000, NULL));
        ROUND_TRIPS(1, many(f, false, 'z', 0, 1000, NULL));
        ROUND_TRIPS(1, many(f, true, 'n', 0, 1000, NULL));
        CHECK(bf_expire(f, 100, &e) == 0 && bf_delete(f, &e) == 0);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
        bf_close(f);
    }
}

TEST(a_round_trip_a_call_of_a_window)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f =
        through(&one_server, (bf_spec){ .n = 500, .p = 0.001, .window = 1e9, .parts = 7 }, "w");
    ROUND_TRIPS(1, bf_add(f, "x", 1, &e));
    ROUND_TRIPS(1, bf_test(f, "x", 1, &e));
    ROUND_TRIPS(1, bf_test(f, "y", 1, &e));
    ROUND_TRIPS(1, many(f, true, 'n', 0, 500, NULL));
    ROUND_TRIPS(1, many(f, false, 'w', 0, 1000, NULL));
    bf_close(f);
}

/* The new mark of a handle's own clear is known. */
TEST(a_round_trip_after_a_clear)
{
    static const bf_spec kinds[] = { { .m = 20000, .k = 5 }, { GROWS },
        { .m = 20000, .k = 5, .counting = true },
        { .n = 500, .p = 0.001, .window = 1e9, .parts = 7 } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = through(&one_server, kinds[i], "clear");
        CHECK(many(f, true, 'n', 0, 50, NULL) == 50 && bf_clear(f, &e) == 0);
        ROUND_TRIPS(1, bf_test(f, "x", 1, &e));
        CHECK(bf_clear(f, &e) == 0);
        ROUND_TRIPS(1, bf_add(f, "x", 1, &e));
        bf_close(f);
    }
}

/* Opening asks for all parts at once. */
TEST(opening_takes_as_many_round_trips_for_eight_parts)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *small = through(&one_server, (bf_spec){ GROWS }, "small"),
              *large = through(&one_server, (bf_spec){ GROWS }, "large"), *f;
    grow_to(large, "large:meta", 8);
    host_socket.round_trips = 0;
    bf_close(through(&one_server, (bf_spec){ 0 }, "small"));
    const int few = host_socket.round_trips;
    host_socket.round_trips = 0;
    f = through(&one_server, (bf_spec){ 0 }, "large");
    CHECK_EQ(host_socket.round_trips, few);
    CHECK(host_socket.round_trips == 1 && parts_of(f) == 8);
    bf_close(f);
    f = through(&one_server, (bf_spec){ GROWS }, "small"); /* knows one part */
    grow_to(small, "small:meta", 8);
    /* the part and five bytes, K:meta and the end of K, all parts */
    ROUND_TRIPS(3, bf_test(f, "x", 1, &e));
    CHECK_EQ(parts_of(f), 8);
    CLOSE(small, large, f);
}

static double clock_now;
static double clock_of(void *unused) { return clock_now; }

/* Whole filters through a handle that others have left behind: it has made no trip yet, or its view
 * is an old one. */
TEST(whole_ones_know_all_parts)
{
    static const bf_spec kinds[] = { { .n = 100, .p = 1e-6, .grow = 2 },
        { .n = 1000, .p = 1e-6, .window = 64, .parts = 4, .clock = clock_of } };
    for (int i = 0; i < 16; i++) {
        const bf_spec spec = kinds[i / 8], there = { .clock = spec.clock };
        const int how = i / 2 % 4;
        bf_state x, y;
        rs_command(&redis, "FLUSHALL");
        clock_now = 1e9;
        bf_filter *writer = opened(spec, "whole", "", __LINE__),
                  *f = opened(there, "whole", "", __LINE__), *got = NULL;
        if (i % 2) CHECK_EQ(has(f, 'k', 7), 0);
        for (uint64_t at = 0; at < 300; at += 100, clock_now += 16)
            CHECK_EQ(many(writer, true, 'k', at, 100, NULL), 100);
        const int64_t n = how == 1 ? bf_bytes_as(f, NULL, &e) : 0;
        uint8_t *bytes = malloc((size_t)n + 1);
        if (how == 0) got = bf_copy(f, &e);
        if (how == 1) {
            CHECK_EQ(bf_to_bytes(f, bytes, (uint64_t)n, &e), 0);
            CHECK_EQ(bf_to_bytes(f, bytes, (uint64_t)n - 1, &e), BF_EINVAL);
            got = bf_from_bytes(bytes, (size_t)n, &there, &e);
        }
        if (how == 2) CHECK((got = bf_open(&spec, &e)) && bf_unite(got, f, &e) == 0);
        if (how == 3) {
            CHECK(bf_expire(f, 1000, &e) == 0 && many(f, false, 'k', 0, 300, NULL) == 300);
            CHECK(bf_equal(f, writer, &e) == 1 && bf_get_state(f, &x, &e) == 0);
            CHECK(bf_get_state(writer, &y, &e) == 0 && x.ones == y.ones);
        } else
            CHECK(many(got, false, 'k', 0, 300, NULL) == 300 && bf_equal(writer, got, &e) == 1);
        free(bytes);
        CLOSE(got, f, writer);
    }
}

/* Several clients fill one part: its count is everybody's, so it is followed when it is full. */
TEST(all_count_together)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f[4];
    for (int i = 0; i < 4; i++) f[i] = OPEN("together", .n = 1000, .p = 0.001, .grow = 2);
    for (unsigned i = 0; i < 1000; i++) numbers(f[i % 4], i, i + 1);
    CHECK_EQ(parts_of(f[0]), 1);
    CHECK_HAS(rs_command(&redis, "HGET together:meta keys0"), "1000");
    numbers(f[1], 1000, 1020);
    CHECK_EQ(parts_of(f[1]), 2);
    CHECK_HAS(rs_command(&redis, "HGET together:meta keys1"), "20");
    CHECK_EQ(missing(f[2], 0, 1020), 0);
    CHECK_EQ(bf_clear(f[0], &e), 0);
    CHECK_HAS(rs_command(&redis, "HGET together:meta keys1"), "0");
    CHECK_HAS(rs_command(&redis, "HGET together:meta keys0"), "0");
    for (int i = 0; i < 4; i++) bf_close(f[i]);
}

/* ---- what an older version wrote ---- */
static bool send_lines_of(const char *name)
{
    char path[512], line[4096];
    of_tests(path, sizeof path, name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (*line == '#') continue;
        if (*rs_command(&redis, "%s", line) != ':') failed_here++;
    }
    return file && fclose(file) == 0;
}

TEST(strings_of_an_older_version)
{
    const struct {
        const char *key;
        bf_spec spec;
        unsigned parts;
    } rows[] = { { "classic", { .m = 1000, .k = 4, .scheme = "classic" }, 1 },
        { "block", { .n = 100, .p = 0.01, .scheme = "block" }, 1 },
        { "block2", { .n = 100, .p = 0.0001 }, 1 },
        { "shards", { .m = 2048, .k = 3, .scheme = "classic", .shards = 2 }, 1 },
        { "counting", { .m = 600, .k = 3, .scheme = "classic", .counting = true }, 1 },
        { "grow", { .n = 20, .p = 0.1, .grow = 1.05 }, 2 },
        { "{tag}grow", { .n = 20, .p = 0.1, .grow = 1.05, .scheme = "classic" }, 2 },
        { "window", { .n = 100, .p = 0.01, .window = 100, .parts = 2, .clock = clock_of }, 3 } };
    rs_command(&redis, "FLUSHALL");
    CHECK(send_lines_of("data/redis-0.1.0.txt"));
    clock_now = 1000000;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_filter *f = opened(
                      (bf_spec){ .clock = rows[i].spec.clock, .counting = rows[i].spec.counting },
                      rows[i].key, "", __LINE__),
                  *near = numbers(bf_open(&rows[i].spec, &e), 0, 100);
        CHECK(f && near && parts_of(f) == rows[i].parts);
        CHECK_EQ(missing(f, 0, 100), 0);
        CHECK_EQ(bf_equal(f, near, &e), 1);
        numbers(f, 100, 120);
        numbers(near, 100, 120);
        CHECK_EQ(bf_equal(f, near, &e), 1);
        CLOSE(f, near);
    }
}

int main(void) { return main_with_redis(&redis); }
