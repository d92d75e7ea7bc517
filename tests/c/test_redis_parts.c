/* test_redis_parts.c - filters of parts in Redis go over one link: one connection and one round
 * trip a call, however many parts they have, by URL, through a client and with a cache; what the
 * parts answer together is what they hold in memory.  Its own server.  About core/redis/parts.c,
 * core/redis/span.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "redis_host_client.h"

/* ---- a client that counts its round trips ---- */
static host_client counted = { .port = &redis.port };
static const bf_redis_client one_server = {
    .exchange = host_exchange, .name = "the test's client", .ctx = &counted
};
static const bf_redis_client a_cluster = {
    .exchange = host_exchange, .name = "the test's cluster", .ctx = &counted, .cluster = true
};

enum { BATCH = 1000 };
static int64_t batch(bf_filter *f, bool adds, char kind, unsigned from, unsigned n, uint8_t *each)
{
    static char text[BATCH][16];
    static bf_key keys[BATCH];
    for (unsigned i = 0; i < n; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "%c%u", kind, from + i) };
    return (adds ? bf_add_many : bf_test_many)(f, keys, n, each, &e);
}

static unsigned parts_of(const bf_filter *f)
{
    const bf_info i = info_of(f);
    return i.part_count;
}

/* So many parts, and room in the newest: each is made to say that it is full. */
static void grow_to(bf_filter *f, const char *meta, unsigned parts)
{
    for (unsigned i = parts_of(f); i < parts; i = parts_of(f)) {
        rs_command(&redis, "HSET %s keys%u 100000000", meta, i - 1);
        CHECK_EQ(batch(f, true, 'g', 40 * i, 40, NULL), 40);
        if (parts_of(f) == i) break;
    }
    CHECK_EQ(parts_of(f), parts);
}

#define ROUND_TRIPS(n, call)                                                                       \
    do {                                                                                           \
        counted.round_trips = 0;                                                                   \
        CHECK((call) >= 0);                                                                        \
        CHECK_EQ(counted.round_trips, n);                                                          \
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
        ROUND_TRIPS(1, batch(f, true, 'n', 0, BATCH, NULL));
        ROUND_TRIPS(1, batch(f, false, 'n', 0, BATCH, NULL));
        ROUND_TRIPS(1, batch(f, false, 'z', 0, BATCH, NULL));
        ROUND_TRIPS(1, batch(f, true, 'n', 0, BATCH, NULL));
        CHECK(bf_expire(f, 100, &e) == 0 && bf_delete(f, &e) == 0);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
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
    counted.round_trips = 0;
    bf_close(through(&one_server, (bf_spec){ 0 }, "small"));
    const int few = counted.round_trips;
    counted.round_trips = 0;
    f = through(&one_server, (bf_spec){ 0 }, "large");
    CHECK_EQ(counted.round_trips, few);
    CHECK(counted.round_trips == 1 && parts_of(f) == 8);
    bf_close(f);
    f = through(&one_server, (bf_spec){ GROWS }, "small"); /* knows one part */
    grow_to(small, "small:meta", 8);
    /* the part and five bytes, K:meta and the end of K, all parts */
    ROUND_TRIPS(3, bf_test(f, "x", 1, &e));
    CHECK_EQ(parts_of(f), 8);
    CLOSE(small, large, f);
}

static long connections(void)
{
    long n = 0;
    for (const char *t = rs_command(&redis, "CLIENT LIST"); (t = strstr(t, " addr=127")); t++) n++;
    return n;
}

TEST(one_connection)
{
    rs_command(&redis, "FLUSHALL");
    const long before = connections();
    bf_filter *f = OPEN("grown", GROWS),
              *w = OPEN("win", .n = 100, .p = 0.001, .window = 0.8, .parts = 7);
    grow_to(f, "grown:meta", 8);
    CHECK_EQ(connections(), before + 2);
    for (int i = 0; i < 30; i++) {
        CHECK(bf_add(w, &i, sizeof i, &e) >= 0 && bf_test(w, &i, sizeof i, &e) == 1);
        rs_pause(10);
    }
    CHECK_EQ(connections(), before + 2);
    CLOSE(f, w);
}

/* ---- forgetting ---- */
static double clock_now;
static double clock_of(void *unused) { return clock_now; }

TEST(windows_too)
{
    for (int s = 0; s < 2; s++) {
        rs_command(&redis, "FLUSHALL");
        const bf_spec spec = { .n = 500,
            .p = 0.001,
            .window = 700,
            .parts = 7,
            .clock = clock_of,
            .scheme = s ? "block" : "classic" };
        clock_now = 1000000;
        bf_filter *f = through(s ? &a_cluster : &one_server, spec, "w"), *near = bf_open(&spec, &e);
        uint8_t a[BATCH], b[BATCH];
        for (unsigned i = 0; f && i < 20; i++, clock_now += 100) {
            CHECK_EQ(batch(f, true, 'w', 20 * i, 30, a), batch(near, true, 'w', 20 * i, 30, b));
            CHECK(!memcmp(a, b, 30));
            CHECK_EQ(batch(f, false, 'w', 0, BATCH, a), batch(near, false, 'w', 0, BATCH, b));
            CHECK(!memcmp(a, b, BATCH));
        }
        clock_now -= 100;
        ROUND_TRIPS(1, bf_add(f, "x", 1, &e));
        ROUND_TRIPS(1, bf_test(f, "x", 1, &e));
        ROUND_TRIPS(1, bf_test(f, "y", 1, &e));
        ROUND_TRIPS(1, batch(f, true, 'n', 0, BATCH / 2, a));
        ROUND_TRIPS(1, batch(f, false, 'w', 0, BATCH, a));
        bf_close(f);
        f = through(s ? &a_cluster : &one_server, (bf_spec){ .clock = clock_of }, "w");
        CLOSE(f, near);
    }
}

/* ---- lost and re-created ---- */
TEST(a_lost_one_is_an_error_of_the_same_trip)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = through(&one_server, (bf_spec){ GROWS }, "lost");
    grow_to(f, "lost:meta", 8);
    rs_command(&redis, "RENAME lost kept");
    CHECK_REFUSED(bf_test(f, "absent", 6, &e), BF_EIO, "is lost");
    CHECK_REFUSED(bf_add(f, "absent", 6, &e), BF_EIO, "is lost");
    CHECK_EQ(batch(f, true, 'z', 0, 20, NULL), BF_EIO);
    CHECK_EQ(rs_number(&redis, "EXISTS lost"), 0); /* no stub */
    rs_command(&redis, "RENAME kept lost");
    CHECK_EQ(bf_test(f, "absent", 6, &e), 0);
    CHECK_EQ(bf_add(f, "absent", 6, &e), 1);
    bf_close(f);
}

/* Whoever constructs it makes a filter again that was lost: the others hear it once. */
TEST(a_lost_one_is_made_again)
{
    for (int i = 0; i < 2; i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *old = i % 2 ? through(&one_server, (bf_spec){ GROWS }, "again")
                               : OPEN("again", GROWS),
                  *other = OPEN("again", GROWS), *f;
        grow_to(old, "again:meta", 4);
        CHECK_EQ(bf_add(old, "x", 1, &e), 1);
        CHECK_EQ(bf_test(other, "x", 1, &e), 1);
        rs_command(&redis, "DEL again");
        CHECK_EQ(code_of((bf_spec){ 0 }, "again"), BF_EIO); /* who only opens it makes nothing */
        CHECK_EQ(code_of((bf_spec){ GROWS, .must_exist = true }, "again"), BF_EIO);
        CHECK_HAS(rs_command(&redis, "HGET again:meta parts"), "4");
        f = OPEN("again", GROWS);
        CHECK(f && parts_of(f) == 1);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
        CHECK_EQ(bf_test(f, "x", 1, &e), 0);
        CHECK_EQ(bf_add(f, "y", 1, &e), 1);
        CHECK_REFUSED(
            bf_test(old, "y", 1, &e), BF_EIO, "was re-created: keys added before are gone");
        CHECK_EQ(bf_test(old, "y", 1, &e), 1);
        CHECK_EQ(bf_test(old, "x", 1, &e), 0);
        CHECK_REFUSED(
            bf_add(other, "z", 1, &e), BF_EIO, "was re-created: keys added before are gone");
        CHECK_EQ(bf_add(other, "z", 1, &e), 1);
        CHECK_EQ(bf_test(f, "z", 1, &e), 1);
        bf_close(OPEN("again", GROWS));
        CHECK_EQ(bf_test(old, "y", 1, &e), 1); /* it was whole: opened, not made */
        CLOSE(old, other, f);
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
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s../data/%s", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__,
        name);
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
    CHECK(send_lines_of("redis-0.1.0.txt"));
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

/* ---- a cache ---- */
TEST(cached_keys_take_no_round_trip)
{
    for (int s = 0; s < 2; s++) {
        rs_command(&redis, "FLUSHALL");
        bf_spec spec = { GROWS, .cache = true, .cache_max_age = 1000 };
        if (s)
            spec = (bf_spec){ .n = 500,
                .p = 0.001,
                .window = 700,
                .parts = 7,
                .clock = clock_of,
                .cache = true,
                .cache_max_age = 1000 };
        clock_now = 1000000;
        bf_filter *f = through(&one_server, spec, "cached"), *other;
        if (!s) grow_to(f, "cached:meta", 8);
        CHECK_EQ(bf_add(f, "x", 1, &e), 1);
        if (!s) CHECK_EQ(batch(f, true, 'g', 40, 7 * 40, NULL), 0);
        ROUND_TRIPS(0, bf_test(f, "x", 1, &e));
        ROUND_TRIPS(s, bf_add(f, "x", 1, &e)); /* it counts from the last add */
        if (!s) ROUND_TRIPS(0, batch(f, false, 'g', 40, 7 * 40, NULL));
        ROUND_TRIPS(1, bf_test(f, "y", 1, &e));
        clock_now += 100;
        counted.round_trips = 0;
        CHECK_EQ(bf_add(f, "x", 1, &e), 0);
        CHECK(s ? counted.round_trips > 0 : counted.round_trips == 0);
        other = through(&one_server, s ? (bf_spec){ .clock = clock_of } : (bf_spec){ 0 }, "cached");
        CHECK_EQ(bf_clear(other, &e), 0);
        CHECK_EQ(bf_test(f, "y", 1, &e), 0); /* a trip sees the new marks: what was known is not */
        CHECK_EQ(bf_test(f, "x", 1, &e), 0);
        CHECK_EQ(bf_add(f, "x", 1, &e), 1);
        CHECK_EQ(bf_delete(other, &e), 0);
        CHECK_EQ(bf_test(f, "y", 1, &e), BF_EIO);
        CHECK_EQ(bf_test(f, "x", 1, &e), BF_EIO);
        CLOSE(other, f);
    }
}

/* ---- servers without BITFIELD_RO; replicas ---- */
TEST(without_bitfield_ro)
{
    rs_end(&redis);
    redis = (server){ .client = -1, .old = true };
    rs_begin(&redis);
    host_disconnect(&counted);
    for (int s = 0; s < 2; s++) {
        const bf_spec spec = {
            .n = 500, .p = 0.001, .window = 700, .parts = 3, .clock = clock_of, .scheme = "classic"
        };
        clock_now = 1000000;
        bf_filter *f = s ? through(&one_server, spec, "w") : opened(spec, "u", "", __LINE__);
        CHECK_EQ(batch(f, true, 'w', 0, 30, NULL), 30);
        bf_close(f);
        clock_now += 300;
        f = s ? through(&one_server, spec, "w") : opened(spec, "u", "", __LINE__);
        CHECK_EQ(batch(f, true, 'w', 20, 20, NULL), 10);
        CHECK_EQ(batch(f, false, 'w', 0, 100, NULL), 40);
        bf_close(f);
        f = s ? through(&one_server, (bf_spec){ GROWS, .wait_replicas = 1 }, "g")
              : OPEN("h", GROWS, .wait_replicas = 1);
        CHECK_REFUSED(bf_add(f, "x", 1, &e), BF_EIO, "added, but only 0 of wait_replicas=1");
        CHECK_EQ(bf_test(f, "x", 1, &e), 1);
        CHECK_EQ(bf_test(f, "y", 1, &e), 0);
        bf_close(f);
    }
}

int main(void) { return main_with_redis(&redis); }
