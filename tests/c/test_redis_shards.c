/* test_redis_shards.c - filters cut into shards, in memory and in Redis: what is stored; lost
 * shards. Against the oracle: test_schemes.c; as in memory: test_redis_as_memory.c; whole ones:
 * test_redis.c.  Its own server.  About core/redis/shards.c, core/layout/shards.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "redis_filters.h"

TEST(the_rate_is_kept)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    enum { KEYS = 100000, OTHERS = 300000 };
    for (size_t s = 0; s < 3; s++) {
        bf_filter *f = OPEN(NULL, .n = KEYS, .p = 0.01, .scheme = schemes[s], .shards = 16);
        CHECK_EQ(present_of(numbers(f, 0, KEYS), 0, KEYS), KEYS);
        unsigned wrong = present_of(f, KEYS, KEYS + OTHERS);
        CHECK(wrong > 0.008 * OTHERS && wrong < 0.0108 * OTHERS);
        bf_close(f);
    }
}

TEST(block_has_the_bits_of_the_filter_without_shards)
{
    bf_filter *cut =
                  numbers(OPEN("cut", .m = 50000, .k = 6, .scheme = "block", .shards = 7), 0, 900),
              *whole, *back;
    const bf_info i = info_of(cut);
    whole = numbers(OPEN(NULL, .m = i.m, .k = 6, .scheme = "block"), 0, 900);
    CHECK_EQ(bf_equal(cut, whole, &e), 1);
    CHECK_EQ(bf_unite(cut, whole, &e), 0);
    CHECK((back = bf_copy(cut, &e)) != NULL);
    CHECK_EQ(bf_equal(back, whole, &e), 1);
    CLOSE(back, whole, cut);
    cut = OPEN(NULL, .m = 50048, .k = 6, .shards = 2);
    whole = OPEN(NULL, .m = 50048, .k = 6);
    CHECK_EQ(bf_equal(cut, whole, &e), 0); /* classic: other positions */
    CHECK_REFUSED(bf_unite(cut, whole, &e), BF_EINVAL, "same shards, got 2 and 1");
    CLOSE(cut, whole);
}

/* ---- what is stored ---- */
TEST(what_is_stored)
{
    char path[] = "/tmp/bf-shards-XXXXXX";
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("st", .n = 1000, .p = 0.01, .shards = 4), 0, 300), *g, *mapped;
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 9);
    CHECK_EQ(rs_number(&redis,
                 "EXISTS st:0 st:1 st:2 st:3 st:0:meta st:1:meta st:2:meta st:3:meta st:meta"),
        9);
    CHECK_HAS(rs_command(&redis, "HGET st:meta shards"), "4");
    CHECK_EQ(
        atol(rs_command(&redis, "HGET st:2:meta m")), atol(rs_command(&redis, "HGET st:meta m")));
    CHECK((g = OPEN("st", 0)) != NULL); /* the URL alone */
    bf_info i = info_of(g);
    CHECK(i.shards == 4 && i.n == 1000 && i.p == 0.01 && !strcmp(i.scheme, "block"));
    CHECK(missing(g, 0, 300) == 0 && bf_is_current(g, &(bf_spec){ .storage = i.storage }, &e) == 1);
    bf_close(g);
    close(mkstemp(path));
    CHECK_EQ(bf_save(f, path, &e), 0);
    mapped =
        bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .storage = path }, &e); /* not said how many */
    i = info_of(mapped);
    CHECK(i.shards == 4 && missing(numbers(mapped, 300, 400), 0, 400) == 0);
    CHECK(bf_unite(f, mapped, &e) == 0 && missing(f, 0, 400) == 0);
    bf_close(mapped);
    unlink(path);
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.01 }, "st"), 0);
    CHECK_REFUSED(code_of((bf_spec){ .n = 1000, .p = 0.01, .shards = 2 }, "st"), BF_EMISMATCH,
        "has shards=4, asked for shards=2");
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.01, .shards = 1 }, "st"), BF_EMISMATCH);
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.001, .shards = 4 }, "st"), BF_EMISMATCH);
    bf_close(f);
}

/* ---- lost ---- */
/* A lost shard is an error for its keys alone; only who knows the parameters makes it again. */
static void one_is_lost(bf_spec spec)
{
    enum { N = 300 };
    static char text[N][8];
    static bf_key keys[N];
    const bf_spec any = { .must_exist = true, .counting = spec.counting };
    bf_spec others = spec;
    unsigned lost = 0, of_it = 0;
    others.k++;
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(opened(spec, "lost", "", __LINE__), 0, N), *g;
    rs_command(&redis, "DEL lost:1");
    for (unsigned i = 0; i < N; i++) {
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "n%u", i) };
        const int there = bf_test(f, text[i], keys[i].len, &e);
        CHECK(there == 1 || (there == BF_EIO && strstr(e.msg, "Redis key lost:1 at")));
        if (there < 0) lost++, of_it = i;
        if (spec.counting)
            CHECK(bf_count_of(f, text[i], keys[i].len, &e) == there &&
                  bf_remove(f, text[i], keys[i].len, &e) == there);
        CHECK_EQ(bf_add(f, text[i], keys[i].len, &e) < 0, there < 0);
    }
    CHECK(lost > N / 6 && lost < N / 2);
    CHECK(bf_test_many(f, keys, N, NULL, &e) == BF_EIO);
    CHECK_REFUSED(bf_add_many(f, keys, N, NULL, &e), BF_EIO, "is lost");
    CHECK_EQ(rs_number(&redis, "EXISTS lost:1"), 0); /* its stub was taken away */
    CHECK_REFUSED(code_of(any, "lost"), BF_EIO, "is lost");
    rs_command(&redis, "DEL lost:1:meta");
    CHECK_REFUSED(code_of(any, "lost"), BF_EIO, "lost:1 at");
    CHECK_EQ(code_of(others, "lost"), BF_EMISMATCH);
    CHECK_EQ(rs_number(&redis, "EXISTS lost:1"), 0);
    CHECK((g = opened(spec, "lost", "", __LINE__)) != NULL);
    CHECK_EQ(missing(g, 0, N), lost);          /* re-created, the others kept */
    CHECK_EQ(missing(f, of_it, of_it + 1), 1); /* followed */
    numbers(f, 0, N);
    rs_command(&redis, "DEL lost:meta"); /* the sign alone: who has it open goes on */
    CHECK_EQ(missing(g, 0, N), 0);
    CHECK_REFUSED(code_of(any, "lost"), BF_ENOENT, "does not exist");
    CHECK_REFUSED(code_of(others, "lost"), BF_EMISMATCH, "is a shard of another filter");
    CHECK_EQ(rs_number(&redis, "EXISTS lost:meta"), 0); /* that failed: nothing of it is left */
    bf_close(g);
    CHECK((g = opened(spec, "lost", "", __LINE__)) && missing(g, 0, N) == 0);
    rs_command(&redis, "DEL lost:0 lost:1 lost:2"); /* all of the bits */
    CHECK_EQ(code_of(any, "lost"), BF_EIO);
    others.shards = 5;
    CHECK_EQ(code_of(others, "lost"), 0);
    CHECK_REFUSED(bf_test(g, "n1", 2, &e), BF_EMISMATCH, "was re-created as classic m=");
    rs_command(&redis, "DEL lost:0 lost:1 lost:2 lost:3 lost:4");
    others.shards = 1;
    CHECK(code_of(others, "lost") == 0 && rs_number(&redis, "EXISTS lost") == 1);
    rs_command(&redis, "DEL lost");
    CHECK_EQ(code_of(spec, "lost"), 0);
    CLOSE(g, f);
}
TEST(lost_shards)
{
    one_is_lost((bf_spec){ .m = 60000, .k = 5, .shards = 3, .scheme = "classic" });
    one_is_lost((bf_spec){ .m = 9000, .k = 4, .shards = 3, .scheme = "classic", .counting = true });
}

int main(void) { return main_with_redis(&redis); }
