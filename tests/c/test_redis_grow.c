/* test_redis_grow.c - filters in Redis that grow: whole ones, commands of other clients, numbers of
 * keys that are damaged.  Handles in turn: test_redis_as_memory.c and, of eight parts at once,
 * test_redis_parts.c; processes that grow one filter: test_model_redis.c.  Its own server.  About
 * core/redis/parts.c, core/redis/span.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "letter_keys.h"
#include "sets/sets.h"

/* wraps: bf_part_words */

#define GROW { .n = 100, .p = 1e-6, .grow = 2 }

/* What any client does to K (and K:meta) happens to the filter. */
TEST(commands_of_other_clients)
{
    static const bf_spec kinds[] = { { .n = 1000, .p = 0.01 }, GROW,
        { .n = 1000, .p = 0.01, .window = 1e9 },
        { .n = 100, .p = 0.01, .grow = 2, .counting = true } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(kinds[i], "seen", "", __LINE__), *g;
        CHECK(many(f, true, 'k', 0, 900, NULL) > 850);
        CHECK_EQ(rs_number(&redis, "EXISTS seen seen:meta"), 2);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
        CHECK_EQ(rs_number(&redis, "COPY seen copy"), 1);
        CHECK_EQ(rs_number(&redis, "COPY seen:meta copy:meta"), 1);
        const bf_spec there = { .must_exist = true, .counting = kinds[i].counting };
        g = opened(there, "copy", "", __LINE__);
        CHECK_EQ(many(g, false, 'k', 0, 900, NULL), 900);
        CHECK_EQ(add(g, 'm', 1), 1);
        CHECK_EQ(has(f, 'm', 1), 0);
        CHECK_EQ(bf_delete(g, &e), 0);
        bf_close(g);
        CHECK_EQ(rs_number(&redis, "PEXPIRE seen 1000000"), 1);
        if (kinds[i].grow != 0) many(f, true, 'n', 0, 5000, NULL);
        double left = 0;
        CHECK(bf_expires_in(f, &left, &e) == 0 && left > 900 && left <= 1001);
        CHECK_EQ(rs_number(&redis, "PERSIST seen"), 1);
        rs_command(&redis, "RENAME seen new");
        rs_command(&redis, "RENAME seen:meta new:meta");
        CHECK_REFUSED(has(f, 'k', 1), BF_EIO, "is lost");
        bf_close(f);
        f = opened(there, "new", "", __LINE__);
        CHECK_EQ(many(f, false, 'k', 0, 900, NULL), 900);
        CHECK_EQ(add(f, 'z', 77), 1);
        rs_command(&redis, "DEL new");
        CHECK_EQ(add(f, 'z', 78), BF_EIO);
        CHECK(e.lost);
        CHECK_EQ(has(f, 'z', 77), BF_EIO);
        g = opened(kinds[i], "new", "", __LINE__); /* K:meta alone is a lost filter */
        CHECK_EQ(many(g, false, 'k', 0, 900, NULL), 0);
        CHECK_EQ(add(f, 'z', 78), 1); /* the loss was reported */
        CHECK_EQ(has(g, 'z', 78), 1);
        rs_command(&redis, "PEXPIRE new 1");
        for (int tries = 0; rs_number(&redis, "EXISTS new") && tries < 1000; tries++) rs_pause(1);
        CHECK_EQ(has(f, 'z', 78), BF_EIO);
        CHECK_EQ(add(g, 'z', 78), BF_EIO);
        CLOSE(f, g);
    }
}

/* Other handles know how many keys a union has brought: the newest part is not overfilled. */
TEST(a_union_counts_its_keys_for_all)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = opened((bf_spec)GROW, "sum", "", __LINE__), *from = bf_open(&(bf_spec)GROW, &e);
    many(from, true, 'k', 0, 90, NULL);
    CHECK_EQ(bf_unite(f, from, &e), 0);
    CLOSE(f, from);
    const long keys = atol(rs_command(&redis, "HGET sum:meta keys0"));
    CHECK(keys >= 80 && keys <= 100);
    f = opened((bf_spec){ 0 }, "sum", "", __LINE__);
    many(f, true, 'n', 0, 90, NULL);
    CHECK_EQ(parts_of(f), 2);
    bf_close(f);
}

/* Another thread of the handle, in the middle of a union: it adds keys until there is a new part.
 */
static bf_filter *shared;
int __real_bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
int __wrap_bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
int __wrap_bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err)
{
    bf_filter *f = shared;
    shared = NULL;
    const unsigned parts = f ? parts_of(f) : 0;
    for (uint64_t at = 0; f && parts_of(f) == parts; at += 100)
        many(f, true, (char)('a' + parts), at, 100, NULL);
    return __real_bf_part_words(p, words, copy, err);
}

TEST(a_union_while_a_thread_grows_the_filter)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = opened((bf_spec)GROW, "thread", "", __LINE__),
              *from = bf_open(&(bf_spec)GROW, &e);
    many(from, true, 'k', 0, 90, NULL);
    for (unsigned parts = 1; parts < 3; parts++) {
        CHECK_EQ(parts_of(f), parts);
        shared = f;
        CHECK_EQ(bf_unite(f, from, &e), 0);
        CHECK_EQ(parts_of(f), parts + 1);
        CHECK_EQ(many(f, false, 'k', 0, 90, NULL), 90);
        CHECK_EQ(many(f, false, (char)('a' + parts), 0, 100, NULL), 100);
        many(from, true, (char)('k' + parts), 0, 90, NULL);
    }
    CLOSE(f, from);
}

/* An upload has the parts, the numbers of keys and the epoch of the filter in memory. */
TEST(uploads_have_the_same_contents)
{
    static const bf_spec kinds[] = { { .n = 1000, .p = 0.01 }, GROW,
        { .n = 1000, .p = 0.01, .shards = 3 }, { .n = 1000, .p = 0.01, .window = 1e9 },
        { .n = 1000, .p = 0.01, .counting = true },
        { .n = 100, .p = 0.01, .grow = 2, .counting = true } };
    rs_command(&redis, "FLUSHALL");
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bf_filter *from = bf_open(&kinds[i], &e);
        many(from, true, 'k', 0, 900, NULL);
        const bf_spec to = { .storage = rs_url(&redis, i == 2 ? "up2" : i ? "up1" : "up0", "") };
        if (i > 2) rs_command(&redis, "DEL up1 up1:meta");
        bf_filter *f = bf_upload_new(from, &to, &e), *g;
        CHECK(f && bf_equal(f, from, &e) == 1);
        CHECK_EQ(parts_of(f), parts_of(from));
        bf_info a, b;
        bf_get_info(f, &a);
        bf_get_info(from, &b);
        CHECK(a.m == b.m && a.n == b.n && a.k == b.k && a.created);
        CHECK(!bf_upload_new(from, &to, &e) && e.sys_errno == EEXIST);
        CHECK(!bf_upload_new(f, &to, &e) && e.code == BF_ENOTSUP);
        g = bf_open(&(bf_spec){ .storage = to.storage, .counting = kinds[i].counting }, &e);
        CHECK_EQ(many(g, false, 'k', 0, 900, NULL), 900);
        if (kinds[i].counting) CHECK_EQ(bf_remove(g, "k1", 2, &e), bf_remove(from, "k1", 2, &e));
        CHECK(many(g, true, 'n', 0, 900, NULL) > 800);
        CHECK_EQ(many(f, false, 'n', 0, 900, NULL), 900);
        char name[16];
        snprintf(name, sizeof name, "saved%zu", i);
        const char *url = rs_url(&redis, name, "");
        CHECK(bf_save(f, url, &e) == 0 && bf_save(f, url, &e) == BF_EIO && e.sys_errno == EEXIST);
        CHECK(strstr(e.msg, "exists: delete it"));
        bf_close(from);
        CHECK((from = bf_load(url, NULL, &e)) && bf_equal(f, from, &e) == 1);
        CHECK_EQ(many(from, false, 'n', 0, 900, NULL), 900);
        CLOSE(f, g, from);
    }
    const bf_spec keyed = { .n = 9, .p = 0.1, .secret = "0123456789abcdef", .secret_len = 16 };
    bf_filter *secret = bf_open(&keyed, &e), *back;
    const char *url = rs_url(&redis, "up9", "");
    CHECK(!bf_upload_new(secret, &(bf_spec){ .storage = url }, &e));
    CHECK_EQ(rs_number(&redis, "EXISTS up9 up9:meta"), 0);
    CHECK(!bf_load(url, &keyed, &e) && e.code == BF_ENOENT);
    CHECK_EQ(bf_save(secret, url, &e), 0);
    CHECK(!bf_load(url, NULL, &e) && (back = bf_load(url, &keyed, &e)));
    CHECK_EQ(bf_equal(secret, back, &e), 1);
    CLOSE(secret, back);
}

/* The new contents have fewer parts than the filter, or more. */
TEST(rebuilding_a_filter_that_grows)
{
    static const bf_spec kinds[] = { GROW, { .n = 100, .p = 0.01, .grow = 2, .counting = true } };
    rs_command(&redis, "FLUSHALL");
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *name = i ? "again1" : "again0";
        bf_filter *f = opened(kinds[i], name, "", __LINE__),
                  *g = opened((bf_spec){ .counting = i == 1 }, name, "", __LINE__);
        CHECK(many(f, true, 'o', 0, 300, NULL) > 290 && bf_expire(f, 1000, &e) == 0);
        for (int size = 150; size < 40000; size *= 40) {
            bf_part_info newest[2];
            bf_filter *fresh = bf_rebuild_begin(f, &e);
            const long fewer = size - many(fresh, true, 'n', 0, size, NULL);
            CHECK(fewer >= 0 && fewer < size / 50);
            CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
            CHECK_EQ(many(g, false, 'n', 0, size, NULL), size);
            CHECK(many(g, false, 'o', 0, 300, NULL) < 30);
            CHECK(parts_of(f) == parts_of(g) && parts_of(g) >= parts_of(fresh));
            bf_get_part(f, parts_of(fresh) - 1, &newest[0], &e);
            bf_get_part(g, parts_of(fresh) - 1, &newest[1], &e);
            CHECK(newest[0].keys == newest[1].keys && newest[0].keys > 0);
            CHECK_EQ(many(g, true, 'x', 0, 10, NULL), 10);
            CHECK_EQ(many(f, false, 'x', 0, 10, NULL), 10);
            bf_close(fresh);
        }
        CHECK(rs_number(&redis, i ? "TTL again1" : "TTL again0") > 900);
        CLOSE(f, g);
    }
}

TEST(what_does_not_fit)
{
    static const bf_spec others[] = { { .n = 100, .p = 0.01, .grow = 3 },
        { .n = 200, .p = 1e-6, .grow = 2 }, { .n = 100, .p = 1e-6, .grow = 2, .shards = 2 } };
    bf_close(OPEN("fit", .n = 100, .p = 1e-6, .grow = 2));
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_EQ(code_of(others[i], "fit"), i < 2 ? BF_EMISMATCH : BF_EINVAL);
    CHECK_HAS(
        rs_command(&redis, "HGET fit:meta format"), "2"); /* what versions without parts refuse */
    bf_close(OPEN("{tag}x", .n = 100, .p = 1e-6, .grow = 2));
    CHECK_EQ(rs_number(&redis, "EXISTS {tag}x {tag}x:meta"), 2);
}

/* Who closes it afterwards has keys to count yet: nothing comes back. */
TEST(nothing_is_left_of_what_is_deleted)
{
    rs_command(&redis, "FLUSHALL");
    for (int how = 0; how < 3; how++) {
        bf_filter *f = OPEN("deleted", .n = 1000, .p = 0.01, .grow = 2),
                  *other = OPEN("deleted", 0);
        CHECK_EQ(add(f, 'k', 1), 1);
        CHECK_EQ(add(other, 'k', 2), 1);
        if (how == 0) CHECK_EQ(bf_delete(f, &e), 0);
        if (how == 1) rs_command(&redis, "FLUSHALL");
        if (how == 2) {
            CHECK_EQ(many(f, true, 'm', 0, 5000, NULL) > 4900, 1);
            CHECK_EQ(bf_delete(other, &e), 0);
        }
        CLOSE(f, other);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    }
    bf_filter *f = OPEN("deleted", .n = 1000, .p = 0.01, .grow = 2);
    CHECK_EQ(add(f, 'k', 1), 1);
    bf_close(f);
    CHECK_HAS(rs_command(&redis, "HGET deleted:meta keys0"), "1");
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
