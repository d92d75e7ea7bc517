/* test_grow_redis.c - filters in Redis that grow: as in memory, part for part; what other clients
 * append is followed, and no answer is "absent" or "new" because of what was not known; lost parts;
 * processes that grow one filter.  Its own server. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "letter_keys.h"

#define GROW { .n = 100, .p = 1e-6, .grow = 2 }

TEST(as_in_memory)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    for (int s = 0; s < 3; s++) {
        rs_command(&redis, "FLUSHALL");
        bf_spec spec = { .n = 100, .p = 0.01, .grow = 2, .scheme = schemes[s] };
        bf_filter *far = opened(spec, "grow", "", __LINE__), *near = bf_open(&spec, &e);
        uint8_t a[1700], b[1700];
        for (uint64_t at = 0; at < 30000; at += 1700) {
            CHECK_EQ(many(far, true, 'k', at, 1700, a), many(near, true, 'k', at, 1700, b));
            CHECK(!memcmp(a, b, sizeof a));
            CHECK_EQ(add(far, 's', at), add(near, 's', at));
            CHECK_EQ(has(far, 's', at), 1);
        }
        CHECK_EQ(many(far, false, 'k', 0, 30000, NULL), 30000);
        CHECK_EQ(parts_of(far), parts_of(near));
        CHECK_EQ(bf_equal(far, near, &e), 1);
        bf_filter *copy = bf_copy(far, &e), *again = opened((bf_spec){ 0 }, "grow", "", __LINE__);
        CHECK(copy && bf_equal(copy, near, &e) == 1 && bf_equal(again, near, &e) == 1);
        CHECK_EQ(many(again, false, 'k', 0, 30000, NULL), 30000);
        bf_state x, y;
        CHECK(bf_get_state(far, &x, &e) == 0 && bf_get_state(near, &y, &e) == 0 &&
              x.ones == y.ones && x.count == y.count);
        bf_info i;
        uint8_t bits[64], same[64];
        bf_get_info(far, &i);
        CHECK(bf_read_bits(far, i.bitset_bytes / 2, bits, 64, &e) == 0 &&
              bf_read_bits(near, i.bitset_bytes / 2, same, 64, &e) == 0 && !memcmp(bits, same, 64));
        CHECK(i.grow == 2 && i.n == 100 && !strcmp(i.home, "redis"));
        bf_close(far);
        far = opened(
            spec, "grow", "", __LINE__); /* what was counted was kept: it grows where it should */
        many(far, true, 'l', 0, 30000, NULL);
        many(near, true, 'l', 0, 30000, NULL);
        CHECK_EQ(bf_equal(far, near, &e), 1);
        CLOSE(far, near, copy, again);
    }
}

TEST(others_are_followed)
{
    bf_filter *a = opened((bf_spec)GROW, "two", "", __LINE__),
              *b = opened((bf_spec)GROW, "two", "", __LINE__);
    many(a, true, 'k', 0, 20000, NULL);
    CHECK(parts_of(a) >= 3);
    CHECK_EQ(parts_of(b), 1);
    CHECK_EQ(has(b, 'k', 19999), 1); /* the first look at a filter of one part finds the others */
    CHECK_EQ(parts_of(b), parts_of(a));
    for (int round = 0; round < 6;
        round++) { /* each grows it; the other tests, or adds, keys it has never seen */
        bf_filter *grower = round % 2 ? a : b, *other = round % 2 ? b : a;
        uint64_t n = (uint64_t)SHORT(2500, 1000) << round;
        CHECK(many(grower, true, (char)('A' + round), 0, n, NULL) > (int64_t)(n * 0.98));
        if (round < 3)
            CHECK_EQ(many(other, false, (char)('A' + round), 0, n, NULL), n);
        else
            CHECK_EQ(many(other, true, (char)('A' + round), 0, n, NULL), 0);
    }
    CHECK_EQ(many(a, false, 'k', 0, 20000, NULL) + many(b, false, 'k', 0, 20000, NULL), 40000);
    CHECK_EQ(bf_equal(a, b, &e), 1);
    CLOSE(a, b);
}

/* Whole filters through a handle that does not know yet that there are more parts. */
TEST(whole_ones_know_all_parts)
{
    bf_filter *writer = opened((bf_spec)GROW, "whole", "", __LINE__),
              *near = bf_open(&(bf_spec)GROW, &e);
    for (uint64_t at = 0; at < 5000; at += 50)
        CHECK_EQ(many(writer, true, 'k', at, 50, NULL), many(near, true, 'k', at, 50, NULL));
    for (int how = 0; how < 4; how++) {
        rs_command(&redis, "DEL other:meta");
        rs_command(&redis, "DEL {other}:p0");
        bf_filter *one_part = opened((bf_spec)GROW, "other", "", __LINE__),
                  *knows = opened((bf_spec){ 0 }, "other", "", __LINE__), *got;
        many(knows, true, 'k', 0, 5000, NULL);
        CHECK(parts_of(one_part) == 1 && parts_of(knows) == 2);
        if (how == 0)
            CHECK((got = bf_copy(one_part, &e)) && bf_equal(got, near, &e) == 1);
        else if (how == 1)
            CHECK((got = bf_copy(near, &e)) && bf_unite(got, one_part, &e) == 0 &&
                  bf_equal(got, near, &e) == 1);
        else if (how == 2)
            CHECK((got = NULL, bf_equal(one_part, near, &e) == 1));
        else
            CHECK((got = NULL, bf_equal(near, one_part, &e) == 1));
        bf_close(got);
        CHECK_EQ(bf_delete(knows, &e), 0);
        CLOSE(one_part, knows);
    }
    CLOSE(writer, near);
}

/* Adders hand keys to testers through a pipe: what was acknowledged is present for everybody, and
 * new to nobody. */
TEST(handed_over_while_it_grows)
{
    enum { KEYS = 8000, WORKERS = 3 };
    int ring[WORKERS][2], status;
    for (int w = 0; w < WORKERS; w++)
        if (pipe(ring[w])) return;
    bf_close(opened((bf_spec)GROW, "ring", "", __LINE__));
    for (int w = 0; w < WORKERS; w++)
        if (fork() == 0) {
            bf_filter *f = opened((bf_spec)GROW, "ring", "", __LINE__);
            int bad = 0;
            for (unsigned i = 0; i < KEYS; i++) {
                unsigned theirs = i;
                bad += add(f, (char)('a' + w), i) < 0;
                if (write(ring[(w + 1) % WORKERS][1], &i, sizeof i) != sizeof i ||
                    read(ring[w][0], &theirs, sizeof theirs) != sizeof theirs)
                    _exit(1);
                const char kind = (char)('a' + (w + WORKERS - 1) % WORKERS);
                int rc = i % 2 ? has(f, kind, theirs) == 1 : add(f, kind, theirs) == BF_PRESENT;
                if (!rc) {
                    fprintf(stderr, "worker %d: key %u of %c\n", w, theirs, kind);
                    bad++;
                }
            }
            bf_close(f);
            _exit(bad != 0);
        }
    for (int w = 0; w < WORKERS; w++) {
        wait(&status);
        CHECK_EQ(status, 0);
        close(ring[w][0]);
        close(ring[w][1]);
    }
    bf_filter *f = opened((bf_spec){ 0 }, "ring", "", __LINE__);
    for (int w = 0; w < WORKERS; w++)
        CHECK_EQ(many(f, false, (char)('a' + w), 0, KEYS, NULL), KEYS);
    CHECK(many(f, false, 'x', 0, 100000, NULL) <= 0.011 * 100000 + 5 * sqrt(1100));
    CHECK(parts_of(f) >= 3);
    bf_close(f);
}

TEST(lost_parts_are_errors)
{
    bf_filter *f = opened((bf_spec)GROW, "lost", "", __LINE__);
    many(f, true, 'k', 0, 20000, NULL);
    const unsigned n = parts_of(f);
    for (unsigned i = 0; i < n; i++) {
        rs_command(&redis, "RENAME {lost}:p%u keep", i);
        CHECK_EQ(many(f, false, 'x', 0, 100, NULL), BF_EIO);
        CHECK_HAS(e.msg, "is lost");
        CHECK_EQ(has(f, 'y', 7), BF_EIO);
        CHECK_EQ(add(f, 'z', i), BF_EIO);
        CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "lost", "") }, &e));
        rs_command(&redis, "DEL {lost}:p%u", i);
        rs_command(&redis, "RENAME keep {lost}:p%u", i);
        CHECK_EQ(many(f, false, 'k', 0, 20000, NULL), 20000);
    }
    CHECK_EQ(bf_expire(f, 1000, &e), 0);
    many(f, true, 'l', 0, 60000, NULL);
    CHECK(parts_of(f) > n);
    for (unsigned i = 0; i < parts_of(f); i++)
        CHECK(rs_number(&redis, "PTTL {lost}:p%u", i) > 900000 &&
              rs_number(&redis, "PTTL {lost}:p%u:meta", i) > 900000);
    CHECK(rs_number(&redis, "PTTL lost:meta") > 900000);
    CHECK_EQ(bf_expire(f, 0, &e), 0);
    CHECK_EQ(rs_number(&redis, "PTTL lost:meta"), -1);
    bf_filter *other = opened((bf_spec){ 0 }, "lost", "", __LINE__);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK_EQ(many(other, false, 'k', 0, 20000, NULL), 0);
    CHECK_EQ(many(other, true, 'k', 0, 200, NULL), 200);
    CHECK_EQ(many(f, false, 'k', 0, 200, NULL), 200);
    CHECK_EQ(bf_delete(f, &e), 0);
    CHECK_EQ(many(other, false, 'k', 0, 10, NULL), BF_EIO);
    CHECK_EQ(rs_number(&redis, "EXISTS lost:meta {lost}:p0 {lost}:p1"), 0);
    CLOSE(f, other);
    bf_close(opened((bf_spec)GROW, "lost", "", __LINE__)); /* and re-created */
}

TEST(what_does_not_fit)
{
    bf_close(opened((bf_spec)GROW, "fit", "", __LINE__));
    const char *url = rs_url(&redis, "fit", "");
    CHECK(!bf_open(&(bf_spec){ .n = 100, .p = 0.01, .grow = 3, .storage = url }, &e) &&
          e.code == BF_EMISMATCH);
    CHECK(!bf_open(&(bf_spec){ .n = 200, .p = 0.01, .grow = 2, .storage = url }, &e) &&
          e.code == BF_EMISMATCH);
    CHECK_HAS(
        rs_command(&redis, "HGET fit:meta format"), "2"); /* what versions without parts refuse */
    rs_command(&redis, "SET foreign abc");
    CHECK(!bf_open(
        &(bf_spec){ .n = 100, .p = 0.01, .grow = 2, .storage = rs_url(&redis, "foreign", "") },
        &e));
    CHECK_HAS(rs_command(&redis, "GET foreign"), "abc");
    CHECK(!bf_open(&(bf_spec){ .n = 100, .p = 0.01, .grow = 2, .shards = 2, .storage = url }, &e) &&
          e.code == BF_EINVAL);
    rs_command(&redis, "HSET fit:meta parts 0");
    CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "fit", "") }, &e) && e.code == BF_EFORMAT);
    rs_command(&redis, "HSET fit:meta parts 1 grow x");
    CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "fit", "") }, &e) && e.code == BF_EFORMAT);
    bf_close(opened((bf_spec)GROW, "{tag}x", "", __LINE__));
    CHECK_EQ(rs_number(&redis, "EXISTS {tag}x:p0"), 1);
    long keys = rs_number(&redis, "DBSIZE");
    bf_filter *f = opened((bf_spec)GROW, "{tag}x", "", __LINE__);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), keys); /* no temporary key is left */
    bf_close(f);
}

/* Who closes it afterwards has keys to count yet: nothing comes back. */
TEST(nothing_is_left_of_what_is_deleted)
{
    rs_command(&redis, "FLUSHALL");
    for (int how = 0; how < 3; how++) {
        bf_filter *f =
                      opened((bf_spec){ .n = 1000, .p = 0.01, .grow = 2 }, "deleted", "", __LINE__),
                  *other = opened((bf_spec){ 0 }, "deleted", "", __LINE__);
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
    bf_filter *f = opened((bf_spec){ .n = 1000, .p = 0.01, .grow = 2 }, "deleted", "", __LINE__);
    CHECK_EQ(add(f, 'k', 1), 1);
    bf_close(f);
    CHECK_HAS(rs_command(&redis, "HGET {deleted}:p0:meta keys"), "1");
}

/* A filter that lost a part can be deleted, and then its name is free. */
TEST(what_is_left_of_a_lost_one_is_deleted)
{
    rs_command(&redis, "FLUSHALL");
    for (int part = 0; part < 3; part++) {
        bf_filter *f = opened((bf_spec){ .n = 1000, .p = 0.01, .grow = 2 }, "part", "", __LINE__),
                  *again;
        CHECK_EQ(many(f, true, 'm', 0, 5000, NULL) > 4900, 1);
        rs_command(&redis, "DEL {part}:p%d", part);
        CHECK_EQ(bf_delete(f, &e), 0);
        bf_close(f);
        CHECK_EQ(rs_number(&redis, "EXISTS part:meta {part}:p0 {part}:p1 {part}:p2"), 0);
        again = opened((bf_spec){ .n = 1000, .p = 0.01, .grow = 2 }, "part", "", __LINE__);
        CHECK_EQ(add(again, 'k', 1), 1);
        CHECK_EQ(bf_delete(again, &e), 0);
        bf_close(again);
        rs_command(&redis, "FLUSHALL");
    }
}

int main(void) { return main_with_redis(&redis); }
