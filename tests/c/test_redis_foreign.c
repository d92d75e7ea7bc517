/* test_redis_foreign.c - bitmaps in Redis that other systems fill: go-zero's, the three-hash PHP
 * class's, Redisson's.  What they wrote is written here by SETBIT from what those systems answered
 * (tests/vectors/positions.txt), opened, and gone on with: no mark, no companion hash, no growth
 * on opening, nothing made where nothing is.  It starts its own server.  About core/redis/open.c
 * and core/sets/scandump.c (with the module: tests/python/home_redis/test_redisbloom_module.py).
 */
#define _GNU_SOURCE
#include "redis_filters.h"

enum { K_MOST = 14 };
typedef struct {
    const char *key;
    uint64_t pos[K_MOST];
} row;

/* keys 0, 1, 2, 3 of tests/vectors, and for the PHP class those whose bits do not make the string
 * larger than 128 MiB */
static const row gozero[] = {
    { "", { 669, 862, 706, 449, 229, 392, 35, 359, 702, 853, 632, 167, 457, 838 } },
    { "Hello", { 907, 501, 26, 689, 227, 933, 672, 699, 95, 278, 23, 806, 38, 849 } },
    { "hi", { 676, 818, 582, 832, 917, 921, 250, 816, 666, 384, 697, 49, 868, 638 } },
    { "bye", { 103, 671, 273, 859, 690, 240, 603, 791, 33, 415, 923, 686, 77, 323 } }
};
static const row php[] = { { "http://tieba.baidu.com/p/18096631675521523283",
                               { 229238334, 9313752, 590575124 } },
    { "http://tieba.baidu.com/p/11816232351315994317", { 229238334, 680356250, 606781094 } },
    { "http://v.youku.com/v_show/id_XhsZBGMiQGXH.html?from=y1.2-1-89.5.19-1.1-1-1-12-0",
        { 830569386, 561771284, 928796936 } } };
static const row redisson[] = { { "", { 879, 289, 248, 616, 575, 943, 864 } },
    { "Hello", { 881, 828, 751, 698, 621, 568, 491 } },
    { "hi", { 199, 34, 233, 106, 305, 140, 339 } },
    { "bye", { 60, 291, 351, 582, 642, 873, 13 } } };

static void write_as_they_do(const row *r, unsigned k, const char *key)
{
    for (unsigned i = 0; i < k; i++)
        rs_command(&redis, "SETBIT %s %llu 1", key, (unsigned long long)r->pos[i]);
}
static bool read_as_they_do(const row *r, unsigned k, const char *key)
{
    for (unsigned i = 0; i < k; i++)
        if (rs_number(&redis, "GETBIT %s %llu", key, (unsigned long long)r->pos[i]) != 1)
            return false;
    return true;
}
static int has(bf_filter *f, const row *r) { return bf_test(f, r->key, strlen(r->key), &e); }
static int add(bf_filter *f, const row *r) { return bf_add(f, r->key, strlen(r->key), &e); }

/* spec: as open() is told; all but the last row are there already. */
static void opened_and_continued(bf_spec spec, const row *rows, size_t n, unsigned k)
{
    bf_spec nothing = { .scheme = spec.scheme, .must_exist = true };
    rs_command(&redis, "FLUSHALL");
    spec.must_exist = true;
    CHECK_EQ(code_of(spec, "theirs"), BF_ENOENT); /* nothing there: nothing is made */
    CHECK_EQ(code_of(nothing, "theirs"), BF_ENOENT);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    for (size_t i = 0; i + 1 < n; i++) write_as_they_do(rows + i, k, "theirs");
    long len = rs_number(&redis, "STRLEN theirs");
    if (!strcmp(spec.scheme, "gozero")) {
        CHECK_REFUSED(code_of(nothing, "theirs"), BF_EINVAL, "the size is not known");
    }
    bf_spec make = spec;
    make.must_exist = false;
    CHECK_EQ(
        code_of(make, "theirs"), BF_EFORMAT); /* a constructor does not take what is not its own */
    bf_filter *f = opened(spec, "theirs", "", __LINE__);
    if (!f) return;
    for (size_t i = 0; i + 1 < n; i++) CHECK_EQ(has(f, rows + i), 1);
    CHECK_EQ(has(f, rows + n - 1), 0);
    CHECK_EQ(add(f, rows), BF_PRESENT);
    CHECK_EQ(rs_number(&redis, "STRLEN theirs"), len);
    CHECK_EQ(add(f, rows + n - 1), BF_ADDED);
    CHECK(read_as_they_do(rows + n - 1, k, "theirs")); /* they find what was added here */
    CHECK_EQ(bf_test(f, "neither", 7, &e), 0);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 1); /* no companion */
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < k; j++)
            if (rows[i].pos[j] > most) most = rows[i].pos[j];
    CHECK_EQ(rs_number(&redis, "STRLEN theirs"),
        (long)(most / 8 + 1)); /* no mark, and no byte more than SETBIT would give it */
    CHECK_EQ(bf_clear(f, &e), BF_ENOTSUP);
    bf_close(f);
}

TEST(gozeros) { opened_and_continued((bf_spec){ .m = 1000, .scheme = "gozero" }, gozero, 4, 14); }
TEST(php_classes)
{
    opened_and_continued((bf_spec){ .scheme = "php-hashes:BKDR,SDBM,JS" }, php, 3, 3);
}
/* With too small an m every key would be looked for elsewhere, and be absent in silence. */
TEST(another_m)
{
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "SETBIT theirs 834 1"); /* 105 bytes; the last has the bits 832 to 839 */
    for (uint64_t m = 1; m <= 1000; m += m < 820 ? 7 : 1) {
        bf_spec spec = { .scheme = "gozero", .m = m, .must_exist = true };
        CHECK_EQ(code_of(spec, "theirs"), m > 834 ? 0 : BF_EMISMATCH);
        if (m <= 834) CHECK_HAS(e.msg, m <= 832 ? "holds 105 bytes" : "bits set past m=");
    }
    CHECK_EQ(code_of((bf_spec){ .scheme = "php-mt", .m = (UINT64_C(1) << 32) + 1, .k = 7 }, "new"),
        BF_EINVAL); /* the mark would lie past the last offset */
    CHECK_HAS(e.msg, "are too many for 1 Redis key");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 1);
    bf_spec ours = { .scheme = "classic", .m = 1000, .k = 3 };
    bf_filter *f = opened(ours, "ours", "", __LINE__);
    CHECK_EQ(bf_add(f, "key", 3, &e), BF_ADDED);
    bf_close(f);
    rs_command(&redis, "DEL ours:meta"); /* the bits and their mark are left */
    ours.must_exist = true;
    f = opened(ours, "ours", "", __LINE__);
    CHECK_EQ(bf_test(f, "key", 3, &e), 1);
    bf_close(f);
    ours.m = 900;
    CHECK_EQ(code_of(ours, "ours"), BF_EMISMATCH);
}

TEST(redissons_bits_alone)
{
    opened_and_continued((bf_spec){ .m = 958, .k = 7, .scheme = "redisson" }, redisson, 4, 7);
}

/* ---- Redisson's own: with its hash ---- */
static void config(const char *key, const char *m, const char *k)
{
    rs_command(&redis,
        "HMSET {%s}:config size %s hashIterations %s expectedInsertions 100 falseProbability 0.01",
        key, m, k);
}

TEST(opened_by_its_config)
{
    rs_command(&redis, "FLUSHALL");
    config("r", "958", "7");
    bf_filter *f = OPEN("r", .scheme = "redisson", .must_exist = true);
    if (!f) return;
    const bf_info i = info_of(f);
    CHECK(i.m == 958 && i.k == 7 && i.n == 100 && i.p > 0.012 &&
          i.p < 0.0125 /* 0.01 as its hash says, and what the walk costs */ &&
          !strcmp(i.scheme, "redisson"));
    CHECK_EQ(has(f, redisson), 0); /* Redisson makes no bits before the first add */
    CHECK_EQ(rs_number(&redis, "EXISTS r"), 0);
    for (int j = 0; j < 3; j++) write_as_they_do(redisson + j, 7, "r");
    for (int j = 0; j < 3; j++) CHECK_EQ(has(f, redisson + j), 1);
    CHECK_EQ(add(f, redisson + 3), BF_ADDED);
    CHECK(read_as_they_do(redisson + 3, 7, "r"));
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
    bf_close(OPEN("r", .must_exist = true)); /* the URL alone */
    bf_close(OPEN("r", 0));
    bf_close(OPEN("r", .n = 100, .p = 0.01, .scheme = "redisson"));
    CHECK_EQ(code_of((bf_spec){ .n = 100, .p = 0.02, .scheme = "redisson" }, "r"), BF_EMISMATCH);
    CHECK_EQ(
        code_of((bf_spec){ .k = 6, .scheme = "redisson", .must_exist = true }, "r"), BF_EMISMATCH);
    CHECK_HAS(e.msg, "has k=7, asked for k=6");
    CHECK_EQ(code_of((bf_spec){ .scheme = "classic", .m = 958, .k = 7 }, "r"), BF_EFORMAT);
    CHECK_EQ(code_of((bf_spec){ .scheme = "redisson", .must_exist = true, .cache = true }, "r"),
        BF_ENOTSUP);
    bf_filter *near = bf_copy(f, &e);
    CHECK(near && bf_equal(near, f, &e) == 1);
    bf_close(near);
    bf_state st;
    CHECK(bf_get_state(f, &st, &e) == 0 && st.ones == (uint64_t)rs_number(&redis, "BITCOUNT r"));
    config("r", "958", "6"); /* somebody made another one in its place */
    CHECK_REFUSED(has(f, redisson), BF_EMISMATCH, "was re-created by Redisson");
    long ones = rs_number(&redis, "BITCOUNT r");
    CHECK_EQ(bf_add(f, "more", 4, &e), BF_EMISMATCH);
    CHECK(rs_number(&redis, "BITCOUNT r") >= ones); /* one bit too many there, never one too few */
    rs_command(&redis, "DEL r {r}:config");
    CHECK_REFUSED(has(f, redisson), BF_EIO, "is lost");
    CHECK_EQ(add(f, redisson), BF_EIO);
    CHECK(bf_get_state(f, &st, &e) == BF_EIO && !bf_copy(f, &e));
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0); /* no stub */
    CHECK_REFUSED(code_of((bf_spec){ .scheme = "redisson", .must_exist = true }, "r"), BF_ENOENT,
        "does not exist");
    CHECK_EQ(code_of((bf_spec){ .scheme = "redisson" }, "r"), BF_ENOENT);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    config("r", "958", "7");
    CHECK_EQ(add(f, redisson), BF_ADDED);
    bf_close(f);
    rs_command(&redis, "DEL {r}:config");
    rs_command(&redis, "SET {r}:config text");
    CHECK_EQ(code_of((bf_spec){ .scheme = "redisson", .must_exist = true }, "r"), BF_EFORMAT);
}

TEST(made_as_redisson_would)
{
    /* n, p and what Java's Double.toString(p) gives; tests/live has Redisson itself */
    static const struct {
        uint64_t n;
        double p;
        const char *text;
    } rows[] = { { 100, 0.01, "0.01" }, { 1000, 0.5, "0.5" }, { 1000, 0.03, "0.03" },
        { 1000, 0.001, "0.001" }, { 1000, 0.0001, "1.0E-4" }, { 1000, 1e-9, "1.0E-9" },
        { 1000, 1.5e-7, "1.5E-7" }, { 1000, 0.00123, "0.00123" },
        { 1000, 1.0 / 3, "0.3333333333333333" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[64];
        const char *key = i % 2 ? "new" : "a{new}";
        snprintf(name, sizeof name, i % 2 ? "{%s}:config" : "%s:config", key);
        rs_command(&redis, "FLUSHALL");
        bf_spec plan = { .n = rows[i].n, .p = rows[i].p, .scheme = "redisson" };
        bf_filter *f = opened(plan, key, "", __LINE__);
        CHECK_EQ(bf_plan(&plan, &e), 0);
        CHECK_EQ(rs_number(&redis, "HLEN %s", name), 4);
        CHECK_EQ(strtoull(rs_command(&redis, "HGET %s size", name), NULL, 10), plan.m);
        CHECK_EQ(atoi(rs_command(&redis, "HGET %s hashIterations", name)), plan.k);
        CHECK_EQ(
            strtoull(rs_command(&redis, "HGET %s expectedInsertions", name), NULL, 10), rows[i].n);
        const char *p = rs_command(&redis, "HGET %s falseProbability", name);
        if (strcmp(p, rows[i].text))
            FAILED("p=%g is %s, expected %s\n", rows[i].p, p, rows[i].text);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 1); /* no bits yet, no companion of ours */
        CHECK_EQ(bf_add(f, "x", 1, &e), BF_ADDED);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
        bf_close(f);
        bf_close(f = opened((bf_spec){ .n = rows[i].n, .p = rows[i].p, .scheme = "redisson" }, key,
                     "", __LINE__));
        CHECK(f != NULL);
    }
    CHECK_EQ(code_of((bf_spec){ .n = 1, .p = 0.9, .scheme = "redisson" }, "zero"),
        BF_EINVAL); /* 0 bits: Redisson refuses it */
    CHECK_EQ(rs_number(&redis, "EXISTS zero {zero}:config"), 0);
}

/* What a scheme fixes need not be said: n alone makes one where the rest is fixed. */
TEST(n_alone)
{
    static const char *const schemes[] = { "gozero", "rs-rand", "rs-dotnet" };
    rs_command(&redis, "FLUSHALL");
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        bf_info a, b;
        snprintf(path, sizeof path, "%s/%s.bloom", redis.folder, schemes[i]);
        bf_filter *far = OPEN(schemes[i], .n = 1000, .scheme = schemes[i]),
                  *file =
                      bf_open(&(bf_spec){ .n = 1000, .scheme = schemes[i], .storage = path }, &e);
        CHECK(far && file);
        if (!far || !file) return;
        bf_get_info(far, &a);
        bf_get_info(file, &b);
        CHECK(a.m == b.m && a.k == b.k && a.n == 1000 && a.m >= 10000);
        CLOSE(far, file);
        CHECK(code_of((bf_spec){ .n = 1000, .scheme = schemes[i] }, schemes[i]) == 0);
        CHECK_EQ(code_of((bf_spec){ .n = 999, .scheme = schemes[i] }, schemes[i]), BF_EMISMATCH);
        CHECK_EQ(code_of((bf_spec){ .n = 1000, .scheme = schemes[i], .must_exist = true }, "none"),
            BF_ENOENT);
    }
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .scheme = "classic" }, "none"), BF_ENOENT);
    CHECK_EQ(rs_number(&redis, "EXISTS none"), 0);
}

/* Nothing is left in a server without the module, which says so. */
TEST(no_module)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .scheme = "redisbloom" }, &e);
    bf_spec place = { .storage = rs_url(&redis, "k", "") };
    CHECK(!bf_from_redisbloom(&place, &e) && e.code == BF_ENOTSUP);
    CHECK_EQ(bf_to_redisbloom(f, &place, &e), BF_ENOTSUP);
    place.storage = "file";
    CHECK(!bf_from_redisbloom(&place, &e) && e.code == BF_EINVAL);
    CHECK_EQ(bf_to_redisbloom(f, &place, &e), BF_EINVAL);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    CLOSE(f);
}

int main(void) { return main_with_redis(&redis); }
