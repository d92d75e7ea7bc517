/* test_redis_lost_key.c - one of the keys of a filter in Redis vanishes alone: each string and
 * each companion hash of every kind of filter, before each round trip of each call; and a
 * constructor of another client comes before the call goes on.  What is told is right, or an error
 * that says what is lost.  Its own server.  About core/redis/generation.c, core/redis/meta.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_sweep.h"

static unsigned nth; /* of the filter's keys, in the order of their names */
static bool more;    /* there are so many */
static void deletes_a_key(void)
{
    const char *key = rs_command(&redis,
        "EVAL \"local k = {} for _, n in ipairs(redis.call('KEYS', '*')) do "
        "if not n:find(':tmp:') then k[#k + 1] = n end end table.sort(k) "
        "redis.call('DEL', k[%u] or '') return k[%u] or ''\" 0",
        nth, nth);
    snprintf(sweep.key, sizeof sweep.key, "%s", key);
    more = *sweep.key != 0;
    sweep.bits = !strstr(sweep.key, "config");
}
/* A part of a window passes, too. */
static void deletes_a_key_and_constructs(void)
{
    deletes_a_key();
    world_time += 10;
    const bf_spec s = world_spec(sweep.w, MADE);
    bf_filter *f = more ? bf_open(&s, NULL) : NULL;
    if (!f) return;
    /* the hash of the whole is only the sign of shards that are there */
    if (info_of(f).created && strcmp(sweep.key, sweep.w->meta)) sweep.left = RECREATED;
    sweep.partly = sweep.w->spec.shards > 0;
    if (sweep.left == RECREATED) bf_add(f, "other", 5, NULL);
    if (sweep.left == LESS) *sweep.key = 0;
    bf_close(f);
}

static const disturbance acts[] = {
    { .name = "another deletes key", .act = deletes_a_key, .leaves = LESS },
    { .name = "another deletes key and constructs",
        .act = deletes_a_key_and_constructs,
        .leaves = LESS },
};
/* Where all is slow, one place of five, but the first. */
static void each_key(long trip)
{
    if (trip > 1 && (sweep.w->alike || (trip + (long)sweep.call) % SHORT(1, 5))) return;
    for (size_t i = 0; i < COUNT(acts); i++)
        for (nth = 1, more = true; more && failed_here < 20; nth++)
            if (!disturb(acts + i, trip, 0)) break;
}
static bool is_login(const world *w) { return w->login; }
TEST(each_key_of_each_kind) { sweep_all(is_login, each_key); }

/* The bits and their mark are there, so a handle that is open is right and goes on; but nobody else
 * opens the filter, and that is what bf_is_current says of a handle that is kept.  Of a filter that
 * grows the next constructor deletes the parts: no add is acknowledged. */
TEST(a_companion_hash_alone)
{
    static const struct {
        bf_spec spec;
        const char *gone;
    } rows[] = { { { .m = 9000, .k = 5, .scheme = "classic" }, "k:meta" },
        { { .m = 9000, .k = 5, .scheme = "classic", .counting = true }, "k:meta" },
        { { .m = 8192, .k = 5, .scheme = "classic", .shards = 4 }, "k:meta" },
        { { .m = 8192, .k = 5, .scheme = "classic", .shards = 4 }, "k:2:meta" },
        { { .n = 100, .p = 0.01, .grow = 2 }, "k:meta" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(rows[i].spec, "k", "", __LINE__);
        const char *url = rs_url(&redis, "k", "");
        const bf_spec there = { .storage = url, .counting = rows[i].spec.counting };
        if (!f) return;
        CHECK_EQ(bf_add(f, "a", 1, &e), 1);
        CHECK_EQ(bf_is_current(f, &there, &e), 1);
        rs_command(&redis, "RENAME %s elsewhere", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 0);
        CHECK(code_of((bf_spec){ .must_exist = true, .counting = there.counting }, "k") < 0);
        const bool grows = rows[i].spec.grow != 0;
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_add(f, "b", 1, &e) == (grows ? BF_EIO : 1));
        if (grows) CHECK_HAS(e.msg, "k at 127.0.0.1");
        if (grows) CHECK_HAS(e.msg, "is lost");
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_test(f, "b", 1, &e) == !grows);
        rs_command(&redis, "RENAME elsewhere %s", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 1);
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_add(f, "b", 1, &e) == grows);
        rs_command(&redis, "HSET %s mark 12345678 born 12345678", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 0);
        bf_close(f);
    }
}

int main(void) { return main_with_redis(&redis); }
