/* test_redis_recreated.c - a filter in Redis that somebody re-creates under whoever has it open:
 * one exception, then on with the new one; and nobody's string or companion hash is lost.  It
 * starts its own server.  About core/redis/generation.c. */
#define _GNU_SOURCE
#include "redis_worlds.h"

/* ---- created ---- */
static bool created(const bf_filter *f)
{
    const bf_info i = info_of(f);
    return i.created;
}

TEST(who_made_it)
{
    char file[64] = "/tmp/bf-created-XXXXXX";
    bf_filter *all[6];
    close(mkstemp(file));
    unlink(file);
    all[0] = bf_open(&(bf_spec){ .m = 1000, .k = 3 }, &e);
    all[1] = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = file }, &e);
    all[2] = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = file }, &e);
    all[3] = bf_copy(all[0], &e);
    all[4] = bf_load(file, NULL, &e);
    const bf_info i = info_of(all[0]);
    void *bytes = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(all[0], bytes, i.image_bytes, &e), 0);
    all[5] = bf_from_bytes(bytes, i.image_bytes, NULL, &e);
    free(bytes);
    for (int j = 0; j < 6; j++) CHECK(all[j] && created(all[j]) == (j < 2));
    for (int j = 0; j < 6; j++) bf_close(all[j]);
    unlink(file);
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (!world_make(w)) continue;
        CHECK_EQ(created(w->f), !w->foreign);
        bf_filter *f = world_open(w, MADE), *g = world_open(w, THERE),
                  *c = w->spec.window == 0 ? bf_copy(w->f, &e) : NULL;
        CHECK(f && g && !created(f) && !created(g) && (!c || !created(c)));
        CLOSE(f, g, c);
        world_forget(w);
    }
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("s", .m = 9000, .k = 3, .shards = 3));
    rs_command(&redis, "DEL s:1");
    bf_filter *f = OPEN(
        "s", .m = 9000, .k = 3, .shards = 3); /* made the shard that was lost: it is to be filled */
    CHECK(f && created(f));
    bf_close(f);
}

/* ---- re-created ---- */
static bool says_recreated(int64_t rc)
{
    return rc == BF_EIO && e.lost && strstr(e.msg, "was re-created: keys added before are gone (");
}

/* With a cache what is known is not asked; the first trip tells, and nothing of before is known any
 * more. */
TEST(caches)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("c", .m = 9000, .k = 3, .shards = 2, .cache = true, .cache_max_age = 1e6),
              *g;
    numbers(f, 0, 20);
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("c", .m = 9000, .k = 3, .shards = 2));
    CHECK_EQ(bf_test(f, "n3", 2, &e), 1); /* of the cache */
    CHECK(says_recreated(bf_test(f, "absent", 6, &e)));
    CHECK_HAS(e.msg, "Redis key c at");
    CHECK_HAS(e.msg, "(20 by this object)");
    CHECK_EQ(present_of(f, 0, 20), 0);
    g = OPEN("c", 0);
    CHECK(g && bf_add(f, "x", 1, &e) == 1 && bf_test(g, "x", 1, &e) == 1);
    CLOSE(f, g);
}

/* A version that notes no birth: followed in silence, as it always was; what this version
 * re-creates is told. */
TEST(older_versions)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("old", .m = 9000, .k = 3));
    rs_command(&redis, "HDEL old:meta born");
    bf_filter *f = numbers(OPEN("old", 0), 0, 5);
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("old", .m = 9000, .k = 3));
    rs_command(&redis, "HDEL old:meta born");
    CHECK_EQ(bf_test(f, "n1", 2, &e), 0);
    CHECK_EQ(bf_add(f, "n1", 2, &e), 1);
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("old", .m = 9000, .k = 3));
    CHECK(says_recreated(bf_test(f, "n1", 2, &e)) && strstr(e.msg, "(6 by this object)") &&
          bf_test(f, "n1", 2, &e) == 0);
    rs_command(&redis, "HSET old:meta born nonsense");
    bf_close(OPEN("old", 0));
    bf_close(f);
}

/* Whoever was told that it is lost is not told again. */
TEST(lost_and_then_recreated)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("l", .m = 9000, .k = 3), 0, 5),
              *g = numbers(OPEN("lg", .n = 10, .p = 0.01, .grow = 2), 0, 600);
    rs_command(&redis, "FLUSHALL");
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    CHECK(bf_test(g, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    bf_close(OPEN("l", .m = 9000, .k = 3));
    bf_close(OPEN("lg", .n = 10, .p = 0.01, .grow = 2));
    CHECK_EQ(bf_test(f, "n1", 2, &e), 0);
    CHECK_EQ(bf_test(g, "n1", 2, &e), 0);
    CHECK_EQ(missing(numbers(g, 0, 600), 0, 600), 0);
    CLOSE(f, g);
    f = numbers(OPEN("ls", .m = 9000, .k = 3, .shards = 3), 0, 60);
    rs_command(&redis, "FLUSHALL");
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    bf_close(OPEN("ls", .m = 9000, .k = 3, .shards = 3));
    e = (bf_error){ 0 };
    CHECK(missing(f, 0, 60) == 60 && e.code == 0); /* of whatever shard */
    numbers(f, 0, 60);
    rs_command(&redis, "DEL ls:0 ls:0:meta"); /* one, and later another: each is a loss */
    CHECK(missing(f, 0, 60) > 0 && e.code == BF_EIO);
    bf_close(OPEN("ls", .m = 9000, .k = 3, .shards = 3));
    rs_command(&redis, "DEL ls:1 ls:1:meta");
    bf_close(OPEN("ls", .m = 9000, .k = 3, .shards = 3));
    e = (bf_error){ 0 };
    CHECK(missing(f, 0, 60) > 0 && strstr(e.msg, "was re-created"));
    bf_close(f);
}

/* A handle with many parts, of a filter that has fewer now, and as many again later. */
TEST(parts_of_before)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("p", .n = 10, .p = 0.01, .grow = 2), 0, 4000);
    bf_info i = info_of(f);
    CHECK(i.part_count > 1);
    rs_command(&redis, "FLUSHALL");
    bf_filter *g = numbers(OPEN("p", .n = 10, .p = 0.01, .grow = 2), 1000, 1005);
    CHECK(says_recreated(bf_test(f, "n1", 2, &e)) && strstr(e.msg, "Redis key p at") &&
          strstr(e.msg, "by this object)"));
    CHECK_EQ(missing(f, 1000, 1005), 0);
    i = info_of(f);
    CHECK_EQ(i.part_count, 1);
    numbers(g, 1000, 2000);
    CHECK_EQ(missing(f, 1000, 2000), 0);
    numbers(f, 2000, 3000);
    CHECK_EQ(missing(g, 2000, 3000) + missing(f, 1000, 2000), 0);
    CHECK(bf_expire(f, 1000, &e) == 0 && rs_number(&redis, "TTL p:meta") > 900);
    double left;
    CHECK(bf_expires_in(f, &left, &e) == 0 && left > 900);
    bf_close(g);
    rs_command(&redis, "FLUSHALL");
    bf_close(OPEN("p", .n = 20, .p = 0.01, .grow = 2));
    CHECK(bf_test(f, "n1", 2, &e) == BF_EMISMATCH && bf_test(f, "n1", 2, &e) == BF_EMISMATCH);
    bf_close(f);
}

/* ---- creators of several kinds ---- */
static const bf_spec kinds[] = { { .m = 40000, .k = 4 }, { .n = 100, .p = 0.01, .grow = 2 },
    { .m = 9000, .k = 4, .counting = true, .scheme = "classic" },
    { .n = 100, .p = 0.01, .window = 60 }, { .m = 90000, .k = 4, .shards = 3 } };
enum { KINDS = COUNT(kinds) };

TEST(foreign_strings_stay)
{
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "SET f precious");
    CHECK_NO_FILTER(
        bf_open(
            &(bf_spec){ .n = 100, .p = 0.01, .grow = 2, .storage = rs_url(&redis, "f", "") }, &e),
        BF_EFORMAT, "holds 8 bytes that are not our filter");
    CHECK(!strcmp(rs_command(&redis, "GET f"), "precious"));
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 1);
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "SET f:1 precious");
    CHECK(!bf_open(&(bf_spec){ .m = 9000, .k = 3, .shards = 3, .storage = rs_url(&redis, "f", "") },
              &e) &&
          e.code == BF_EFORMAT);
    CHECK(!strcmp(rs_command(&redis, "GET f:1"), "precious") && rs_number(&redis, "DBSIZE") == 1);
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "HSET f:meta my own");
    for (int w = 0; w < KINDS; w++) {
        bf_spec spec = kinds[w];
        spec.storage = rs_url(&redis, "f", "");
        CHECK(!bf_open(&spec, &e) && e.code == BF_EFORMAT);
    }
    CHECK(!strcmp(rs_command(&redis, "HGET f:meta my"), "own") && rs_number(&redis, "DBSIZE") == 1);
}

/* What is done with a filter of parts that others deleted and made something else of is not done to
 * theirs. */
TEST(hashes_of_others_stay)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("o", .m = 9000, .k = 3, .shards = 3), *g = OPEN("o", 0);
    CHECK(bf_delete(g, &e) == 0);
    bf_filter *h = numbers(OPEN("o", .m = 9000, .k = 3, .shards = 2), 0, 10);
    CHECK(bf_expire(f, 5, &e) < 0 && bf_delete(f, &e) < 0);
    CHECK(rs_number(&redis, "TTL o:meta") == -1 && missing(h, 0, 10) == 0);
    CLOSE(f, g, h);
}

int main(void)
{
    rs_start(&redis, NULL);
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    return main_with_redis(&redis);
}
