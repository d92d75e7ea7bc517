/* test_redis_adopt.c - a bitmap that another system made is adopted: it gets a companion hash and
 * the mark, and that system goes on.  It is played here as go-zero does it, by SETBIT and GETBIT
 * of its positions in the same key, by somebody who knows nothing of us.  It starts its own
 * server.  About core/redis/open.c, core/redis/bitmap.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "redis_round_trips.h"
#include <sys/sysinfo.h>

enum { M = 2050, K = 14, MARK_AT = 260 };
#define THEIRS .scheme = "gozero", .m = M
#define ADOPT THEIRS, .must_exist = true, .adopt = true

static bf_filter *scale; /* in memory: tells positions, which tests/vectors know from go-zero */
static unsigned k = K;

/* ---- the other system ---- */
static const char *key_of(unsigned i, uint64_t pos[K])
{
    static char t[16];
    bf_error ignored;
    const size_t len = (size_t)sprintf(t, "n%u", i);
    if (bf_hashcode(scale, t, len, pos, K, &ignored) < 0) failed_here++;
    return t;
}

static void they_add(const char *key, unsigned from, unsigned to)
{
    uint64_t pos[K];
    for (unsigned i = from; i < to; i++) {
        key_of(i, pos);
        for (unsigned j = 0; j < k; j++)
            rs_command(&redis, "SETBIT %s %llu 1", key, (unsigned long long)pos[j]);
    }
}

static unsigned they_miss(const char *key, unsigned from, unsigned to)
{
    unsigned n = 0;
    uint64_t pos[K];
    for (unsigned i = from; i < to; i++) {
        bool all = true;
        key_of(i, pos);
        for (unsigned j = 0; j < k; j++)
            all &= rs_number(&redis, "GETBIT %s %llu", key, (unsigned long long)pos[j]) == 1;
        n += !all;
    }
    return n;
}

static uint64_t ones(bf_filter *f)
{
    bf_state s = { 0 };
    return bf_get_state(f, &s, &e) < 0 ? UINT64_MAX : s.ones;
}

/* ---- adopted ---- */
TEST(gets_mark_and_companion)
{
    rs_command(&redis, "FLUSHALL");
    they_add("k", 0, 40);
    rs_command(&redis, "EXPIRE k 1000");
    const long theirs = rs_number(&redis, "BITCOUNT k");
    bf_filter *f = OPEN("k", ADOPT), *g, *h;
    CHECK(missing(f, 0, 40) == 0 && present_of(f, 1000, 1040) == 0 && they_miss("k", 0, 40) == 0);
    CHECK_EQ(rs_number(&redis, "STRLEN k"), MARK_AT + 4);
    CHECK_EQ(ones(f), theirs);
    CHECK(rs_number(&redis, "TTL k") > 900 && rs_number(&redis, "TTL k:meta") > 900);
    g = OPEN("k", .must_exist = true);   /* by its name alone */
    h = OPEN("k", ADOPT, .cache = true); /* it is adopted already */
    they_add("k", 40, 60);
    CHECK(missing(f, 0, 60) == 0 && missing(g, 0, 60) == 0 && missing(h, 0, 60) == 0);
    numbers(g, 60, 70);
    CHECK(they_miss("k", 0, 70) == 0 && missing(h, 0, 70) == 0);
    const bf_info i = info_of(g);
    CHECK(i.m == M && i.k == K && !strcmp(i.scheme, "gozero") && !i.created);
    CLOSE(f, g, h);
}

/* They go on adding while it is cleared, rebuilt, united, expires, and is deleted. */
TEST(cared_for)
{
    unsigned n = 0;
    rs_command(&redis, "FLUSHALL");
    they_add("k", 0, 10);
    bf_filter *f = OPEN("k", ADOPT), *g = OPEN("k", 0),
              *near = numbers(bf_open(&(bf_spec){ THEIRS }, &e), 500, 520);
    for (n = 10; ones(f) <= M / 2; n += 10) they_add("k", n, n + 10);
    CHECK(bf_saturated(f, &(uint64_t){ 0 }, &e) >= BF_HALF_FULL && missing(g, 0, n) == 0);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK(ones(g) == 0 && they_miss("k", 0, n) == n && present_of(g, 0, n) == 0);
    they_add("k", 0, 20);
    CHECK(missing(f, 0, 20) == 0 && missing(g, 0, 20) == 0);
    CHECK_EQ(bf_unite(f, near, &e), 0);
    they_add("k", 20, 30);
    CHECK(they_miss("k", 0, 30) == 0 && they_miss("k", 500, 520) == 0 && missing(g, 500, 520) == 0);
    CHECK_EQ(bf_rebuild_end(f, near, &e), 0);
    they_add("k", 30, 40);
    CHECK(they_miss("k", 500, 520) == 0 && missing(g, 30, 40) == 0 && ones(g) < (uint64_t)M / 2);
    CHECK(bf_expire(f, 1000, &e) == 0 && rs_number(&redis, "TTL k") > 900);
    they_add("k", 40, 50);
    CHECK(rs_number(&redis, "TTL k:meta") > 900 && missing(g, 40, 50) == 0);
    CHECK(bf_delete(g, &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
    CLOSE(f, g, near);
}

/* Theirs is gone, and they begin it again: never "absent" for what they added. */
TEST(lost_and_adopted_again)
{
    for (int both = 0; both < 2; both++) {
        rs_command(&redis, "FLUSHALL");
        they_add("k", 0, 20);
        bf_filter *f = OPEN("k", ADOPT), *g;
        numbers(f, 20, 25);
        rs_command(&redis, both ? "DEL k k:meta" : "DEL k"); /* expired, or evicted alone */
        CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
        CHECK_EQ(code_of((bf_spec){ ADOPT }, "k"), both ? BF_ENOENT : BF_EIO);
        they_add("k", 30, 50);
        CHECK(bf_test(f, "n31", 3, &e) == BF_EIO && bf_add(f, "n1", 2, &e) == BF_EIO);
        CHECK_EQ(they_miss("k", 30, 50), 0);
        if (!both) CHECK_EQ(code_of((bf_spec){ .must_exist = true }, "k"), BF_EFORMAT);
        g = OPEN("k", ADOPT);
        CHECK(missing(g, 30, 50) == 0 && they_miss("k", 30, 50) == 0);
        CHECK_EQ(missing(f, 30, 50), 0); /* who was told of the loss follows */
        numbers(f, 60, 70);
        CHECK(missing(g, 60, 70) == 0 && they_miss("k", 60, 70) == 0);
        bf_close(g);
        rs_command(&redis, "DEL k");
        they_add("k", 0, 20);
        bf_close(OPEN("k", ADOPT)); /* f was not told of this loss */
        CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "was re-created"));
        CHECK_EQ(missing(f, 0, 20), 0);
        bf_close(f);
    }
}

/* ---- while they write ---- */
TEST(nothing_of_theirs_is_overwritten)
{
    const uint64_t m = UINT64_C(1) << 28; /* grown in several steps */
    bf_filter *small = scale;
    rs_command(&redis, "FLUSHALL");
    scale = bf_open(&(bf_spec){ .scheme = "gozero", .m = m }, &e);
    they_add("big", 0, 1);
    pid_t child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < 400; i += 10) they_add("big", i, i + 10);
        _exit(0);
    }
    bf_filter *f =
        opened((bf_spec){ .scheme = "gozero", .m = m, .must_exist = true, .adopt = true }, "big",
            "", __LINE__);
    waitpid(child, NULL, 0);
    CHECK(f && missing(f, 0, 400) == 0 && they_miss("big", 0, 400) == 0);
    CHECK_EQ(rs_number(&redis, "STRLEN big"), (1 << 25) + 4);
    CLOSE(f, scale);
    scale = small;
}

/* An add that meets a string without the mark takes nothing back: they may have set the same bits
 * since. */
static void they_add_it(void) { they_add("k", 7, 8); }
TEST(what_they_add_meanwhile_stays)
{
    for (trips.at = 1; trips.at <= 6; trips.at++) {
        rs_command(&redis, "FLUSHALL");
        they_add("k", 0, 5);
        bf_close(OPEN("k", ADOPT));
        bf_filter *f = OPEN("k", .must_exist = true);
        rs_command(&redis, "DEL k");
        trips.before = they_add_it;
        trips.commands = true;
        trips_begin(trips.at);
        CHECK(bf_add(f, "n7", 2, &e) < 0);
        trips_stop();
        CHECK_EQ(they_miss("k", 7, 8), trips.happened ? 0 : 1);
        bf_close(f);
    }
}

/* As two different filters: one of them is adopted, and whoever wants the other is told both. */
TEST(adopted_as_two)
{
    enum { ADOPTERS = 6 };
    static const bf_spec as[] = { { ADOPT },
        { .scheme = "classic", .m = 2048, .k = 3, .must_exist = true, .adopt = true } };
    for (int round = 0; round < 6; round++) {
        rs_command(&redis, "FLUSHALL");
        they_add("k", 0, 2);
        rs_command(&redis, "SETBIT k 2047 1"); /* not too long for either */
        rs_command(&redis, "COPY k before");
        pid_t child[ADOPTERS];
        for (unsigned i = 0; i < ADOPTERS; i++)
            if ((child[i] = fork()) == 0) {
                const int rc = code_of(as[(i + (unsigned)round) % 2], "k");
                const bool named = strstr(e.msg, "classic") && strstr(e.msg, "gozero");
                _exit(rc == 0 ? 0 : rc == BF_EMISMATCH && named ? 1 : 2);
            }
        int adopted[3] = { 0 }, first = -1, mixed = 0;
        for (unsigned i = 0; i < ADOPTERS; i++) {
            int status = -1;
            waitpid(child[i], &status, 0);
            const int how = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
            adopted[how < 2 ? how : 2]++;
            const int side = (int)((i + (unsigned)round) % 2) ^ (how != 0);
            if (first < 0) first = side;
            mixed += side != first;
        }
        CHECK(adopted[0] == ADOPTERS / 2 && adopted[1] == ADOPTERS / 2 && mixed == 0);
        CHECK_EQ(rs_number(&redis, "BITCOUNT k 0 255"), rs_number(&redis, "BITCOUNT before 0 255"));
        bf_filter *f = OPEN("k", 0);
        CHECK(f != NULL);
        bf_close(f);
    }
}

/* ---- m = 2^32: no room for the mark, which K:meta alone has ---- */
#define LARGE .scheme = "php-hashes:JS,SDBM"
#define ADOPT_LARGE LARGE, .must_exist = true, .adopt = true
enum { LENGTH = 1 << 29 };

static bool room_for_gibs(unsigned n)
{
    struct sysinfo i;
    return sysinfo(&i) == 0 && (uint64_t)i.totalram * i.mem_unit > (uint64_t)n << 30;
}

static void large_cared_for(void)
{
    rs_command(&redis, "FLUSHALL");
    they_add("k", 0, 10);
    bf_filter *f = OPEN("k", ADOPT_LARGE, .cache = true), *g = OPEN("k", 0);
    CHECK(rs_number(&redis, "STRLEN k") == LENGTH && rs_number(&redis, "EXISTS k:meta"));
    they_add("k", 10, 20);
    numbers(g, 20, 30);
    CHECK(missing(f, 0, 30) == 0 && missing(g, 0, 30) == 0 && present_of(g, 100, 200) == 0);
    CHECK_EQ(ones(g), (uint64_t)rs_number(&redis, "BITCOUNT k"));
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK(ones(g) == 0 && present_of(f, 0, 30) == 0 && present_of(g, 0, 30) == 0);
    they_add("k", 0, 5);
    CHECK_EQ(missing(f, 0, 5), 0);
    CHECK_EQ(rs_number(&redis, "STRLEN k"), LENGTH);
    CHECK(bf_expire(g, 1000, &e) == 0 && rs_number(&redis, "TTL k:meta") > 900);
    CHECK(rs_number(&redis, "TTL k") > 900 && rs_number(&redis, "DBSIZE") == 2);
    CHECK(bf_delete(f, &e) == 0 && rs_number(&redis, "DBSIZE") == 0);
    CLOSE(f, g);
}

/* Gone, or begun again and so shorter: never "absent". */
static void large_lost(void)
{
    rs_command(&redis, "FLUSHALL");
    they_add("k", 0, 5);
    bf_filter *f = OPEN("k", ADOPT_LARGE, .cache = true), *g;
    CHECK_EQ(missing(f, 0, 5), 0);
    rs_command(&redis, "DEL k");
    CHECK(bf_test(f, "n9", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    CHECK(bf_add(f, "n9", 2, &e) == BF_EIO && bf_clear(f, &e) == BF_EIO && ones(f) == UINT64_MAX);
    they_add("k", 5, 10);
    CHECK(bf_test(f, "n5", 2, &e) == BF_EIO && bf_add(f, "n1", 2, &e) == BF_EIO);
    CHECK_EQ(code_of((bf_spec){ .must_exist = true }, "k"), BF_EFORMAT);
    g = OPEN("k", ADOPT_LARGE);
    CHECK(missing(g, 5, 10) == 0 && missing(f, 5, 10) == 0);
    rs_command(&redis, "DEL k k:meta");
    CHECK(bf_test(g, "n5", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    CLOSE(f, g);
}

static void large_made_here(void)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("k", LARGE), *g = OPEN("k", .must_exist = true);
    const bf_info i = info_of(f);
    CHECK(i.created && rs_number(&redis, "STRLEN k") == LENGTH);
    numbers(f, 0, 10);
    they_add("k", 10, 20);
    CHECK(missing(f, 0, 20) == 0 && missing(g, 0, 20) == 0);
    rs_command(&redis, "DEL k");
    CHECK(bf_add(g, "n9", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    CHECK_EQ(rs_number(&redis, "EXISTS k"), 0); /* it took its bits back */
    CHECK_EQ(code_of((bf_spec){ .must_exist = true }, "k"), BF_EIO);
    bf_close(OPEN("k", LARGE));
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "was re-created"));
    CHECK(bf_test(f, "n1", 2, &e) == 0 && bf_delete(f, &e) == 0);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    CLOSE(f, g);
}

TEST(up_to_the_last_bit)
{
    bf_filter *small = scale;
    if (!room_for_gibs(3)) return;
    scale = bf_open(&(bf_spec){ LARGE }, &e);
    k = 2;
    large_cared_for();
    large_lost();
    large_made_here();
    rs_command(&redis, "FLUSHALL");
    bf_close(scale);
    scale = small;
    k = K;
}

/* ---- what is refused ---- */
TEST(refused)
{
    static const bf_spec adopt = { ADOPT };
    static const struct {
        bf_spec spec;
        const char *key;
        int code;
    } rows[] = { { { ADOPT }, "none", BF_ENOENT },
        { { .scheme = "gozero", .m = 1000, .must_exist = true, .adopt = true }, "k", BF_EMISMATCH },
        /* theirs is 32 bits larger: its last ones are where a mark would be */
        { { .scheme = "gozero", .m = 4096, .must_exist = true, .adopt = true }, "longer",
            BF_EMISMATCH },
        { { .scheme = "gozero", .must_exist = true, .adopt = true }, "k", BF_EINVAL },
        { { .m = M, .must_exist = true, .adopt = true }, "k", BF_EINVAL },
        { { ADOPT, .read_only = true }, "k", BF_EINVAL },
        { { .scheme = "redisson", .m = M, .k = 7, .must_exist = true, .adopt = true }, "k",
            BF_ENOTSUP },
        { { .scheme = "classic",
              .m = UINT64_C(1) << 32,
              .k = 3,
              .shards = 1,
              .must_exist = true,
              .adopt = true },
            "k", BF_ENOTSUP } };
    rs_command(&redis, "FLUSHALL");
    they_add("k", 0, 40);
    rs_command(&redis, "SETBIT longer %d 1", 4096 + 31);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_EQ(code_of(rows[i].spec, rows[i].key), rows[i].code);
    CHECK(rs_number(&redis, "BITCOUNT longer") == 1 && they_miss("k", 0, 40) == 0);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
    CHECK_NO_FILTER(
        bf_open(&(bf_spec){ .m = 100, .k = 3, .adopt = true }, &e), BF_EINVAL, "no Redis is given");
    bf_spec s = adopt;
    s.m = 4096 + 32;
    CHECK_EQ(code_of(s, "longer"), 0);
    rs_command(&redis, "HSET k:meta my own");
    CHECK_EQ(code_of(adopt, "k"), BF_EFORMAT);
    CHECK(!strcmp(rs_command(&redis, "HGET k:meta my"), "own"));
    rs_command(&redis, "DEL k:meta");
    bf_close(OPEN("k", ADOPT));
    s.m = M + 1;
    CHECK_EQ(code_of(s, "k"), BF_EMISMATCH); /* it is adopted, as another one */
    rs_command(&redis, "DEL k");
    they_add("k", 0, 40);
    CHECK(code_of(s, "k") == BF_EMISMATCH && code_of(adopt, "k") == 0);
}

int main(void)
{
    scale = bf_open(&(bf_spec){ THEIRS }, &e);
    rs_start(&redis, NULL);
    run_tests();
    rs_end(&redis);
    bf_close(scale);
    return FINISH();
}
