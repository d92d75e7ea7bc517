/* test_redis_window.c - filters in Redis that forget, under a clock of the test's: epochs begin,
 * and clocks differ.  As in memory: test_redis_as_memory.c.  Its own server.  About
 * core/redis/parts.c.
 */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include "redis_filters.h"
#include "letter_keys.h"

static double *now;
static double clock_(void *p) { return *(volatile double *)p; }
static bf_filter *open_(bf_spec spec, const char *key)
{
    spec.clock = clock_;
    spec.clock_ctx = now;
    return opened(spec, key, "", __LINE__);
}
/* The shortest and the longest, opened again: what one call makes the next one reads. */
TEST(ends_of_the_range)
{
    static const struct {
        double window;
        unsigned parts;
    } ends[] = { { 1e-4, 1 }, { 0.0256, 255 }, { 1e300, 4 } };
    for (size_t i = 0; i < COUNT(ends); i++) {
        rs_command(&redis, "FLUSHALL");
        *now = 1.7e9;
        bf_filter *f = open_(
                      (bf_spec){
                          .n = 10, .p = 0.01, .window = ends[i].window, .parts = ends[i].parts },
                      "end"),
                  *again;
        CHECK_EQ(add(f, 'k', 1), 1);
        again = open_((bf_spec){ .window = ends[i].window }, "end");
        CHECK_EQ(has(again, 'k', 1), 1);
        CLOSE(f, again);
    }
}

static long long newest_epoch(const char *key)
{
    long long v = -1;
    sscanf(rs_command(&redis, "HGET %s:meta epoch", key), "%lld", &v);
    return v;
}

TEST(epochs_begin)
{
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 0.01, .window = 40, .parts = 4 }, "w"), *g;
    *now = 1e6;
    CHECK_EQ(has(f, 'k', 1), 0); /* nothing was added */
    CHECK_EQ(rs_number(&redis, "HEXISTS w:meta epoch"), 0);
    CHECK_EQ(add(f, 'k', 1), 1);
    CHECK_EQ(newest_epoch("w"), 100000);
    const long bytes = rs_number(&redis, "STRLEN w");
    *now += 10;
    CHECK(add(f, 'k', 2) == 1 && bf_expire(f, 1000, &e) == 0 && newest_epoch("w") == 100001);
    g = open_((bf_spec){ 0 }, "w");
    CHECK(has(g, 'k', 1) == 1 && has(g, 'k', 2) == 1);
    *now += 40; /* one skipped epoch after the other is emptied */
    CHECK(has(f, 'k', 1) == 0 && has(f, 'k', 2) == 1 && has(g, 'k', 2) == 1);
    CHECK(add(g, 'k', 3) == 1 && newest_epoch("w") == 100005);
    CHECK(rs_number(&redis, "STRLEN w") == bytes && rs_number(&redis, "PTTL w") > 900000);
    *now -= 1e5; /* back: nothing is forgotten, also by those who open it now */
    bf_close(g);
    g = open_((bf_spec){ 0 }, "w");
    CHECK(has(g, 'k', 2) == 1 && has(g, 'k', 3) == 1 && add(g, 'k', 4) == 1);
    CHECK(has(f, 'k', 4) == 1 && newest_epoch("w") == 100005);
    *now += 1e5 + 60; /* all but the newest epochs are over */
    CHECK(add(f, 'k', 5) == 1 && rs_number(&redis, "BITCOUNT w 0 %ld", bytes - 5) <= 16);
    CHECK(has(g, 'k', 5) == 1 && has(g, 'k', 4) == 0 && has(g, 'k', 3) == 0);
    CLOSE(f, g);
    CHECK_EQ(code_of((bf_spec){ .n = 100, .p = 0.01, .window = 60 }, "w"), BF_EMISMATCH);
    CHECK_EQ(code_of((bf_spec){ .n = 100000000, .p = 1e-9, .window = 60 }, "large"), BF_EINVAL);
}

/* A clock that the filter does not use: only Redis's counts, so a key is there for all its time. */
TEST(a_slow_machine_loses_nothing)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("slow", .n = 1000, .p = 0.01, .window = 1e9, .parts = 4);
    CHECK_EQ(add(f, 'k', 1), 1);
    for (int epoch = 1; epoch <= 4; epoch++) { /* other machines begin epochs */
        rs_command(&redis, "HINCRBY slow:meta epoch 1");
        CHECK(has(f, 'k', 1) == 1 && add(f, 'n', (uint64_t)epoch) == 1);
    }
    bf_close(f);
}

static bf_spec forgets(void)
{
    return (bf_spec){
        .n = 1000, .p = 1e-6, .window = 64, .parts = 4, .clock = clock_, .clock_ctx = now
    };
}

/* What is of the past here and is there still elsewhere counts by the clock of the question. */
TEST(equal_until_an_add)
{
    rs_command(&redis, "FLUSHALL");
    *now = 1e9;
    bf_filter *f = open_(forgets(), "whole"), *near;
    for (uint64_t at = 0; at < 300; at += 100, *now += 16)
        CHECK_EQ(many(f, true, 'k', at, 100, NULL), 100);
    near = bf_copy(f, &e);
    *now += 48; /* the first hundred */
    CHECK(bf_equal(near, f, &e) == 1 && add(near, 'k', 5) == 1 && bf_equal(near, f, &e) == 0);
    CLOSE(near, f);
}

/* Keys of epochs in which nobody had added to the filter in Redis: they are there for everybody,
 * and for their own time. */
TEST(unions_with_the_past)
{
    const bf_spec spec = forgets(), again = { .clock = clock_, .clock_ctx = now };
    for (uint64_t newest = 0; newest < 5; newest++) {
        rs_command(&redis, "FLUSHALL");
        *now = 1e9;
        bf_filter *near = bf_open(&spec, &e), *all = bf_open(&spec, &e), *far[3];
        far[0] = open_(spec, "past");
        far[1] = open_(again, "past");
        for (uint64_t at = 0; at < 5; at++, *now += 16) {
            CHECK_EQ(many(near, true, 'k', at * 100, 100, NULL), 100);
            if (at == newest)
                CHECK(add(far[0], 'k', 1000) == 1 && add(all, 'k', 1000) == 1 &&
                      has(far[1], 'k', 1000) == 1);
        }
        *now -= 16;
        CHECK(bf_unite(far[0], near, &e) == 0 && bf_unite(all, near, &e) == 0);
        far[2] = open_(again, "past");
        CHECK_EQ(add(far[1], 'k', 0), 0); /* by one that had seen all there was */
        CHECK_EQ(add(all, 'k', 0), 0);
        for (int step = 0; step < 6; step++, *now += 16)
            for (int c = 0; c < 3; c++) {
                CHECK_EQ(
                    many(far[c], false, 'k', 0, 500, NULL), many(all, false, 'k', 0, 500, NULL));
                CHECK_EQ(has(far[c], 'k', 1000), has(all, 'k', 1000));
            }
        for (int c = 0; c < 3; c++) bf_close(far[c]);
        CLOSE(near, all);
    }
}

/* Machines whose clocks differ: each client has its own. */
enum { CLIENTS = 3 };
TEST(clocks_that_differ)
{
    static double times[CLIENTS];
    bf_filter *f[CLIENTS];
    for (int c = 0; c < CLIENTS; c++) {
        times[c] = 1e6 + 3 * c;
        bf_spec spec = { .n = 3000,
            .p = 1e-6,
            .window = 40,
            .parts = 4,
            .storage = rs_url(&redis, "skew", ""),
            .clock = clock_,
            .clock_ctx = times + c };
        if (!(f[c] = bf_open(&spec, &e))) {
            failed_here++;
            return;
        }
    }
    for (uint64_t i = 0; i < 2000; i++) {
        bf_filter *a = f[i % CLIENTS], *b = f[i / CLIENTS % CLIENTS];
        CHECK_EQ(add(a, 'k', i), 1);
        CHECK_EQ((i % 2 ? add : has)(b, 'k', i),
            i % 2 ? 0 : 1); /* at once there for all, and new to none */
        for (int c = 0; c < CLIENTS; c++) times[c] += 0.37;
    }
    for (int c = 0; c < CLIENTS; c++) bf_close(f[c]);
}

/* ---- whose time it is: Redis's, unless the filter was made with a clock ---- */
static double real_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static double skewed(void *p) { return real_time() + *(double *)p; }
/* A part is longer than any machine stalls. */
#define PART 1000.0
#define FORGETS .n = 1000, .p = 1e-6, .window = 4 * PART, .parts = 4
static bf_filter *by(double *skew, const char *key)
{
    bf_filter *f = bf_open(&(bf_spec){ FORGETS, .storage = rs_url(&redis, key, ""),
                               .clock = skew ? skewed : NULL, .clock_ctx = skew },
        &e);
    if (!f) {
        FAILED("%s: %s\n", key, e.msg);
        exit(1);
    }
    return f;
}

TEST(redis_has_the_time)
{
    static double skews[] = { 8 * PART, PART + PATIENCE, 86400 * 365, 1e300, -8 * PART, -PART - 1,
        -1e9 };
    static double small[] = { PART - 1, 1, 0, -1, -PART + PATIENCE };
    uint64_t pos[64];
    bf_state state;
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = by(NULL, "fleet"), *near = bf_open(&(bf_spec){ FORGETS }, &e);
    CHECK_EQ(many(f, true, 'k', 0, 100, NULL), 100);
    CHECK_EQ(rs_number(&redis, "HEXISTS fleet:meta clock"), 0);
    for (size_t i = 0; i < COUNT(skews); i++) {
        bf_filter *g = by(skews + i, "fleet");
        for (int twice = 0; twice < 2; twice++) {
            CHECK(add(g, 'k', 5000) == BF_EINVAL && has(g, 'k', 0) == BF_EINVAL &&
                  bf_get_state(g, &state, &e) == BF_EINVAL);
            CHECK(bf_unite(g, near, &e) == BF_EINVAL);
            if (skews[i] < 1e300)
                CHECK_HAS(e.msg, skews[i] > 0 ? "ahead by more than a part (1000 s)"
                                              : "behind by more than a part (1000 s)");
        }
        CHECK(skews[i] == 1e300 || bf_hashcode(g, "x", 1, pos, 64, &e) > 0);
        bf_close(g);
        CHECK_EQ(many(f, false, 'k', 0, 100, NULL), 100);
        CHECK_EQ(has(f, 'k', 5000), 0);
    }
    for (size_t i = 0; i < COUNT(small); i++) {
        bf_filter *g = by(small + i, "fleet"); /* what it adds is of Redis's time */
        CHECK(add(g, 'k', 6000 + i) == 1 && has(f, 'k', 6000 + i) == 1 && has(g, 'k', 0) == 1);
        bf_close(g);
    }
    long long newest = 0; /* is one of Redis's last minute */
    sscanf(rs_command(&redis, "HGET fleet:meta epoch"), "%lld", &newest);
    const double parts = real_time() / PART;
    CHECK(newest <= (long long)parts && newest > (long long)parts - 4);
    CHECK_EQ(many(f, false, 'k', 0, 100, NULL), 100);
    CLOSE(near, f);
}

TEST(a_clock_that_runs_away)
{
    static double skew;
    rs_command(&redis, "FLUSHALL");
    skew = 0;
    bf_filter *f = by(NULL, "away"), *g = by(&skew, "away");
    CHECK(many(f, true, 'k', 0, 100, NULL) == 100 && add(g, 'k', 200) == 1);
    skew = 1e6; /* in the middle of its life */
    CHECK_EQ(add(g, 'k', 201), BF_EINVAL);
    skew = 0;
    CHECK(add(g, 'k', 202) == 1 && many(f, false, 'k', 0, 100, NULL) == 100 &&
          has(f, 'k', 200) == 1 && has(f, 'k', 202) == 1);
    bf_close(g);
    g = bf_open(&(bf_spec){ FORGETS, .clock = skewed, .clock_ctx = &skew }, &e);
    skew = 1e9; /* a whole filter of the future */
    CHECK_EQ(many(g, true, 'k', 300, 10, NULL), 10);
    CHECK_EQ(bf_unite(f, g, &e), 0);
    CHECK(many(f, false, 'k', 0, 100, NULL) == 100 && many(f, false, 'k', 300, 10, NULL) == 10);
    CLOSE(g, f);
}

/* Made with a clock: that one counts, and may be behind; but never ahead. */
TEST(a_filter_of_its_users_time)
{
    static double skew, other;
    rs_command(&redis, "FLUSHALL");
    skew = -1e8;
    other = -1e8 - 6 * PART;
    bf_filter *f = by(&skew, "own"), *g;
    CHECK_EQ(many(f, true, 'k', 0, 100, NULL), 100);
    CHECK_EQ(rs_number(&redis, "HEXISTS own:meta clock"), 1);
    g = by(&other, "own"); /* another one, further behind: nothing is lost */
    CHECK(
        add(g, 'k', 200) == 1 && has(f, 'k', 200) == 1 && many(g, false, 'k', 0, 100, NULL) == 100);
    other = 2 * PART;
    CHECK_REFUSED(add(g, 'k', 201), BF_EINVAL, "ahead by more");
    CHECK_EQ(many(f, false, 'k', 0, 100, NULL), 100);
    skew += 5 * PART + PATIENCE;
    CHECK_EQ(many(f, false, 'k', 0, 100, NULL), 0);
    CLOSE(g, f);
}

/* Redis's clock may be days ahead of the users' one, and make the filter forget everything. */
TEST(the_clock_of_its_users_is_missing)
{
    rs_command(&redis, "FLUSHALL");
    *now = 1e6;
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-4, .window = 60 }, "own");
    for (uint64_t key = 0; key < 50; key++) CHECK_EQ(add(f, 'k', key), 1);
    bf_filter *g = opened((bf_spec){ 0 }, "own", "", __LINE__);
    CHECK_EQ(add(g, 'k', 50), BF_EINVAL);
    CHECK_HAS(e.msg, "was created with a clock, which gives its times: open it with that clock");
    CHECK_EQ(has(g, 'k', 1), BF_EINVAL);
    bf_state state;
    CHECK_EQ(bf_get_state(g, &state, &e), BF_EINVAL);
    for (uint64_t key = 0; key < 50; key++) CHECK_EQ(has(f, 'k', key), 1);
    CHECK_EQ(bf_delete(g, &e), 0);
    CLOSE(f, g);
}

/* An add must not believe a damaged epoch: it would empty slices that have keys. */
TEST(an_epoch_that_is_no_number)
{
    static const char *const bad[] = { "1.5", "0x10", "1e3", "-inf", "\" 12\"", "abc", "nan", "-",
        "\"\"" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(
            (bf_spec){ .n = 1000, .p = 1e-4, .window = 1e4, .parts = 4 }, "damaged", "", __LINE__);
        for (uint64_t key = 0; key < 50; key++) CHECK_EQ(add(f, 'k', key), 1);
        rs_command(&redis, "HSET damaged:meta epoch %s", bad[i]);
        CHECK_REFUSED(add(f, 'k', 50), BF_EFORMAT, "is damaged: field epoch is '");
        for (uint64_t key = 0; key < 50; key++) CHECK_EQ(has(f, 'k', key), 1);
        bf_close(f);
    }
}

int main(void)
{
    now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return main_with_redis(&redis);
}
