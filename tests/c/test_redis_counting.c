/* test_redis_counting.c - counters in Redis: a multiset, what other clients see, sets, several
 * removers, lost keys, a server without BITFIELD_RO.  It starts its own server.  About
 * core/redis/batch.c, core/redis/bitfield.c, core/redis/scripts.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "check.h"
#include "native.h"
#include "oracle_counting.h"
#include "redis_server.h"

static server redis;
static bf_error e;

static bf_filter *open_(bf_spec spec, const char *key)
{
    spec.storage = rs_url(&redis, key, "");
    spec.counting = true;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("%s: %s\n", key, e.msg);
    return f;
}

TEST(a_multiset)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_filter *f =
            open_((bf_spec){ .n = 4000, .p = 1e-8, .scheme = native_scheme(s) }, native_scheme(s));
        if (f) {
            oc_multiset(f, SHORT(48000, 18000), 500, 3);
            bf_clear(f, &e);
            oc_multiset(f, 2000, 1, 4);
        }
        bf_close(f);
    }
}

/* ---- what others see ---- */
TEST(other_clients_count_too)
{
    bf_filter *f = open_((bf_spec){ .m = 5000, .k = 4, .scheme = "classic" }, "shared");
    uint64_t pos[4];
    for (int i = 0; i < 3; i++) bf_add(f, "mine", 4, &e);
    bf_hashcode(f, "mine", 4, pos, 4, &e);
    for (int i = 0; i < 4; i++)
        CHECK_HAS(
            rs_command(&redis, "BITFIELD shared GET u4 #%llu", (unsigned long long)pos[i]), ":3");
    for (int i = 0; i < 4; i++)
        rs_command(
            &redis, "BITFIELD shared OVERFLOW SAT INCRBY u4 #%llu 20", (unsigned long long)pos[i]);
    CHECK_EQ(bf_count_of(f, "mine", 4, &e), 15);
    for (int i = 0; i < 20; i++) CHECK_EQ(bf_remove(f, "mine", 4, &e), 1);
    CHECK_EQ(bf_count_of(f, "mine", 4, &e), 15);
    CHECK_HAS(rs_command(&redis, "HGET shared:meta cell_bits"), "4");
    bf_close(f);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = rs_url(&redis, "shared", "") }, &e),
        BF_EMISMATCH, "is a counting filter, asked for a plain one");
    bf_close(bf_open(&(bf_spec){ .m = 100, .k = 2, .storage = rs_url(&redis, "plain", "") }, &e));
    CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "plain", ""), .counting = true }, &e) &&
          e.code == BF_EMISMATCH);
    rs_command(&redis, "SET old abcdef");
    CHECK(!bf_open(&(bf_spec){ .m = 10,
                       .k = 2,
                       .scheme = "classic",
                       .must_exist = true,
                       .storage = rs_url(&redis, "old", ""),
                       .counting = true },
              &e) &&
          e.code == BF_ENOTSUP);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .m = UINT64_C(1) << 31,
                                .k = 2,
                                .shards = 1,
                                .storage = rs_url(&redis, "huge", ""),
                                .counting = true },
                        &e),
        BF_EINVAL, "1073741808");
}

TEST(sets_and_copies)
{
    bf_spec spec = { .m = 6001, .k = 5, .scheme = "classic", .counting = true };
    bf_filter *a = open_(spec, "a"), *b = open_(spec, "b"), *x = bf_open(&spec, &e),
              *y = bf_open(&spec, &e), *plain, *copy;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned v = i % 800;
        bf_add(i % 3 ? x : y, &v, sizeof v, &e);
    }
    CHECK(bf_unite(a, x, &e) == 0 && bf_unite(b, y, &e) == 0 && bf_equal(a, x, &e) == 1 &&
          bf_equal(b, y, &e) == 1);
    CHECK(bf_unite(a, b, &e) == 0 && bf_unite(x, y, &e) == 0 && bf_equal(a, x, &e) == 1);
    CHECK(bf_subset(b, a, &e) == 1 && bf_subset(a, b, &e) == 0 && bf_subset(b, x, &e) == 1 &&
          bf_intersect(y, a, &e) == 0 && bf_equal(y, b, &e) == 1);
    CHECK((copy = bf_copy(a, &e)) && bf_equal(copy, x, &e) == 1);
    CHECK((plain = bf_to_plain(a, &e)) && !plain->bitmap.g.counting);
    bf_state s, t;
    CHECK(bf_get_state(a, &s, &e) == 0 && bf_get_state(plain, &t, &e) == 0 && s.ones == t.ones &&
          s.count == t.count);
    uint64_t wait;
    CHECK_EQ(bf_saturated(a, &wait, &e), s.fill > 0.5);
    CHECK(bf_clear(a, &e) == 0 && bf_get_state(a, &s, &e) == 0 && s.ones == 0);
    unsigned v = 5;
    CHECK(bf_add(a, &v, sizeof v, &e) == 1 && bf_remove(a, &v, sizeof v, &e) == 1);
    for (bf_filter **f = (bf_filter *[]){ a, b, x, y, plain, copy, NULL }; *f; f++) bf_close(*f);
}

/* ---- several at once ---- */
TEST(many_removers)
{
    enum { WORKERS = 4, KEYS = 400 };
    int pipes[2], sum = 0, one;
    bf_filter *f = open_((bf_spec){ .n = 20000, .p = 1e-7, .scheme = "block2" }, "race");
    for (unsigned i = 0; i < KEYS; i++) {
        char t[16];
        bf_add(f, t, (size_t)sprintf(t, "r%u", i), &e);
    }
    if (pipe(pipes)) return;
    pid_t child[WORKERS];
    for (int w = 0; w < WORKERS; w++)
        if ((child[w] = fork()) == 0) {
            int mine = 0;
            for (unsigned i = 0; i < KEYS; i++) {
                char t[16], own[32];
                size_t n = (size_t)sprintf(own, "w%d-%u", w, i);
                mine += bf_remove(f, t, (size_t)sprintf(t, "r%u", i), NULL);
                if (bf_add(f, own, n, NULL) < 0 || bf_test(f, own, n, NULL) != 1 ||
                    bf_remove(f, own, n, NULL) != 1)
                    mine += 100000;
            }
            _exit(write(pipes[1], &mine, sizeof mine) != sizeof mine);
        }
    for (int w = 0; w < WORKERS; w++)
        if (read(pipes[0], &one, sizeof one) == sizeof one) sum += one;
    for (int w = 0; w < WORKERS; w++) waitpid(child[w], NULL, 0);
    CHECK_EQ(sum, KEYS);
    bf_state s;
    CHECK(bf_get_state(f, &s, &e) == 0 && s.ones == 0);
    bf_close(f);
}

/* ---- faults ---- */
TEST(lost_keys_are_errors)
{
    bf_spec spec = { .m = 4096, .k = 6, .scheme = "block" };
    bf_filter *f = open_(spec, "lost"), *g;
    bf_key keys[3] = { { "x", 1 }, { "y", 1 }, { "z", 1 } };
    bf_add(f, "x", 1, &e);
    rs_command(&redis, "DEL lost");
    for (int i = 0; i < 6; i++) {
        int64_t rc = i == 0   ? bf_test(f, "x", 1, &e)
                     : i == 1 ? bf_count_of(f, "x", 1, &e)
                     : i == 2 ? bf_remove(f, "x", 1, &e)
                     : i == 3 ? bf_add(f, "x", 1, &e)
                     : i == 4 ? bf_add_many(f, keys, 3, NULL, &e)
                              : bf_remove_many(f, keys, 3, NULL, &e);
        CHECK_EQ(rc, BF_EIO);
        CHECK_HAS(e.msg, "is lost");
        CHECK_EQ(rs_number(&redis, "EXISTS lost"), 0); /* no stub stays */
    }
    g = open_(spec, "lost"); /* re-created: followed */
    CHECK(bf_add(g, "y", 1, &e) == 1 && bf_test(f, "y", 1, &e) == 1 &&
          bf_remove(f, "y", 1, &e) == 1 && bf_remove(f, "x", 1, &e) == 0);
    CHECK(bf_clear(g, &e) == 0 && bf_remove(f, "y", 1, &e) == 0 && bf_add(f, "y", 1, &e) == 1 &&
          bf_count_of(g, "y", 1, &e) == 1);
    CHECK(bf_clear(g, &e) == 0 && bf_count_of(f, "y", 1, &e) == 0);
    bf_close(g);
    rs_command(&redis, "DEL lost lost:meta");
    bf_close(bf_open(
        &(bf_spec){ .m = 4096, .k = 6, .scheme = "block", .storage = rs_url(&redis, "lost", "") },
        &e));
    CHECK_EQ(bf_remove(f, "x", 1, &e), BF_EMISMATCH); /* a plain one now */
    bf_close(f);
    f = open_(spec, "stopped");
    bf_add(f, "x", 1, &e);
    rs_stop(&redis, SIGKILL);
    CHECK(bf_remove(f, "x", 1, &e) == BF_EIO && bf_add(f, "x", 1, &e) == BF_EIO &&
          bf_count_of(f, "x", 1, &e) == BF_EIO);
    rs_resume(&redis);
    CHECK_REFUSED(bf_remove(f, "x", 1, &e), BF_EIO, "is lost");
    bf_close(f);
}

TEST(read_only_handles)
{
    bf_filter *f = open_((bf_spec){ .m = 4096, .k = 6 }, "ro"), *g;
    bf_add(f, "x", 1, &e);
    CHECK((g = open_((bf_spec){ .read_only = true }, "ro")) && bf_count_of(g, "x", 1, &e) == 1 &&
          bf_remove(g, "x", 1, &e) == BF_ENOTSUP);
    CLOSE(f, g);
}

int main(void) { return main_with_redis(&redis); }
