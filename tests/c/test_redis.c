/* test_redis.c - filters in Redis: what other clients see, ways to a server, sets and copies, two
 * creators, forks and threads.  Every answer and bit: test_redis_as_memory.c; faults:
 * test_redis_faults.c.  Its own server.  About core/redis/store.c, core/redis/bitmap.c. */
/* wraps: nanosleep clock_gettime */
#define _GNU_SOURCE
#include "own_clock.h"
#include "../../core/sets/sets.h"
#include "redis_host_client.h"

TEST(a_user_without_the_right)
{
    rs_command(&redis, "ACL SETUSER old on >pw ~* +@all -bitfield_ro");
    char url[128];
    snprintf(
        url, sizeof url, "redis://old:pw@127.0.0.1:%d?key=ro&timeout=%d", redis.port, PATIENCE);
    bf_filter *f =
        bf_open(&(bf_spec){ .m = 40000, .k = 7, .scheme = "classic", .storage = url }, &e);
    CHECK(f != NULL);
    if (!f) return;
    CHECK_EQ(bf_add(f, "a", 1, &e), 1);
    CHECK_REFUSED(bf_test(f, "a", 1, &e), BF_EIO, "NOPERM");
    CHECK(!strstr(e.msg, "pw"));
    bf_close(f);
    rs_command(&redis, "ACL DELUSER old");
}

/* ---- what others see ---- */
TEST(other_clients_read_and_write_the_bits)
{
    bf_filter *f =
        opened((bf_spec){ .m = 50000, .k = 7, .scheme = "classic" }, "shared", "", __LINE__);
    uint64_t pos[7];
    bf_add(f, "mine", 4, &e);
    bf_hashcode(f, "mine", 4, pos, 7, &e);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(rs_number(&redis, "GETBIT shared %llu", (unsigned long long)pos[i]), 1);
    bf_hashcode(f, "theirs", 6, pos, 7, &e);
    CHECK_EQ(bf_test(f, "theirs", 6, &e), 0);
    for (int i = 0; i < 7; i++)
        rs_number(&redis, "SETBIT shared %llu 1", (unsigned long long)pos[i]);
    CHECK_EQ(bf_test(f, "theirs", 6, &e), 1);
    CHECK_EQ(bf_add(f, "theirs", 6, &e), BF_PRESENT);
    CHECK_HAS(rs_command(&redis, "HGET shared:meta scheme"), "classic");
    CHECK_HAS(rs_command(&redis, "HGET shared:meta m"), "50000");
    bf_close(f);
}

TEST(opened_again)
{
    bf_filter *f = opened((bf_spec){ .n = 1000, .p = 0.01 }, "again", "", __LINE__), *g;
    bf_add(f, "x", 1, &e);
    CHECK((g = opened((bf_spec){ 0 }, "again", "", __LINE__)) != NULL);
    CHECK_EQ(bf_test(g, "x", 1, &e), 1);
    CHECK_EQ(bf_add(g, "y", 1, &e), 1);
    CHECK_EQ(bf_test(f, "y", 1, &e), 1);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    bf_info a, b;
    bf_get_info(f, &a);
    bf_get_info(g, &b);
    CHECK(a.m == b.m && a.n == b.n && a.k == b.k && a.p == b.p && b.p == 0.01 &&
          !strcmp(a.scheme, b.scheme));
    bf_close(g);
    CHECK((g = opened((bf_spec){ .read_only = true }, "again", "", __LINE__)) != NULL);
    CHECK_EQ(bf_test(g, "y", 1, &e), 1);
    CHECK_REFUSED(bf_add(g, "z", 1, &e), BF_ENOTSUP, "Redis key again at 127.0.0.1");
    CHECK_EQ(bf_clear(g, &e), BF_ENOTSUP);
    CHECK_EQ(bf_delete(g, &e), BF_ENOTSUP);
    bf_close(g);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = a.storage }, &e), 1);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = a.storage, .key = "other" }, &e), 0);
    rs_command(&redis, "DEL again");
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = a.storage }, &e), 0);
    bf_close(f);
}

TEST(by_unix_socket_database_and_key)
{
    char url[128];
    snprintf(url, sizeof url, "unix://%s/socket?db=3&timeout=60.5&retry_after=7.5&key=a%%20b%%3Fc",
        redis.folder);
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e);
    if (!f) {
        FAILED("%s\n", e.msg);
        return;
    }
    CHECK_EQ(bf_add(f, "x", 1, &e), 1);
    const bf_redis *r = f->bitmap.store.impl;
    const int what[] = { SO_RCVTIMEO, SO_SNDTIMEO };
    for (size_t i = 0; i < COUNT(what); i++) {
        struct timeval tv = { 0 };
        CHECK_EQ(
            getsockopt(r->conn->socket->fd, SOL_SOCKET, what[i], &tv, &(socklen_t){ sizeof tv }),
            0);
        CHECK(tv.tv_sec == 60 && tv.tv_usec == 500000);
    }
    CHECK(r->conn->url.timeout == 60.5 && r->conn->url.retry_after == 7.5);
    own_clock(true);
    CHECK_EQ(bf_add(f, "x", 1, &e), 0);
    CHECK_EQ(r->conn->socket->deadline, (long long)own_ms() + 60500);
    own_clock(false);
    rs_command(&redis, "SELECT 3");
    CHECK_EQ(rs_number(&redis, "EXISTS \"a b?c\" \"a b?c:meta\""), 2);
    rs_command(&redis, "SELECT 0");
    bf_close(f);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?timeout=%d", redis.port, PATIENCE);
    f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url, .key = "by key" }, &e);
    CHECK(f != NULL);
    bf_info i;
    if (f) bf_get_info(f, &i);
    CHECK(f && !strcmp(i.key, "by key") && !strcmp(i.storage, url));
    bf_close(f);
}

/* ---- whole filters ---- */
static const struct {
    const char *key, *string; /* string: one that has bits */
    bf_spec spec;
    bool client;
} wholes[] = { { "w", "w", { .m = 9001, .k = 5 }, false },
    { "w", "w", { .m = 8 << 20, .k = 5 }, false },
    { "{tag}w", "{tag}w", { .m = (8 << 20) + 1, .k = 5 }, false },
    { "w", "w", { .m = 40000001, .k = 3, .scheme = "classic" }, true },
    { "w", "w", { .m = 200000000, .k = 4, .scheme = "block" }, false },
    { "w", "w:1", { .m = 60000, .k = 5, .shards = 3 }, false },
    { "w", "w", { .m = 6001, .k = 5, .scheme = "classic", .counting = true }, false },
    { "w", "w:2", { .m = 9001, .k = 5, .shards = 3, .counting = true, .cache = true }, false } };
enum { ROWS = COUNT(wholes) };

static void same_image(bf_filter *a, bf_filter *b, bool counting)
{
    char path[] = "/tmp/bf-redis-XXXXXX";
    const bf_info i = info_of(a);
    bf_state x, y;
    CHECK(bf_get_state(a, &x, &e) == 0 && bf_get_state(b, &y, &e) == 0);
    CHECK(x.ones == y.ones && x.count == y.count && x.fpr == y.fpr);
    uint8_t *bytes = malloc(i.image_bytes), *other = malloc(i.image_bytes);
    CHECK(bf_to_bytes(a, bytes, i.image_bytes, &e) == 0 &&
          bf_to_bytes(b, other, i.image_bytes, &e) == 0 && !memcmp(bytes, other, i.image_bytes));
    const uint64_t at = i.bitset_bytes / i.shards - 5; /* the end, or across a border */
    CHECK(bf_read_bits(a, at, bytes, 5, &e) == 0 && bf_read_bits(b, at, other, 5, &e) == 0 &&
          !memcmp(bytes, other, 5));
    free(bytes);
    free(other);
    close(mkstemp(path));
    CHECK_EQ(bf_save(a, path, &e), 0);
    bf_filter *loaded = bf_load(path, &(bf_spec){ .counting = counting }, &e);
    CHECK(loaded && bf_equal(loaded, a, &e) == 1);
    bf_close(loaded);
    unlink(path);
}

/* All of its strings, and their hashes, end then. */
static void expires(bf_filter *far, const char *string)
{
    double left;
    CHECK_EQ(bf_expire(far, 1000, &e), 0);
    CHECK(rs_number(&redis, "PTTL %s", string) > 900000 &&
          rs_number(&redis, "PTTL %s:meta", string) > 900000);
    CHECK(bf_expires_in(far, &left, &e) == 0 && left > 900 && left <= 1000.1);
    if (!strchr(string, ':')) { /* else the other shards live longer */
        rs_command(&redis, "EXPIRE %s 500", string);
        CHECK(bf_expires_in(far, &left, &e) == 0 && left > 400 && left <= 500.1);
    }
    CHECK_EQ(bf_expire(far, 0, &e), 0);
    CHECK(rs_number(&redis, "PTTL %s", string) == -1 &&
          rs_number(&redis, "PTTL %s:meta", string) == -1);
    CHECK(bf_expires_in(far, &left, &e) == 0 && left == 0 && bf_expire(far, -1, &e) == BF_EINVAL);
}

/* Sums, unions and what else is for all: like memory's, seen by another handle, and the bits keep
 * their time to live. */
static void whole(size_t row)
{
    bf_spec spec = wholes[row].spec, there = { .must_exist = true, .counting = spec.counting };
    const char *key = wholes[row].key, *string = wholes[row].string;
    const bool client = wholes[row].client;
    const uint64_t shards = spec.shards ? spec.shards : 1;
    rs_command(&redis, "FLUSHALL");
    bf_filter *seen, *copy, *plain, *far = NULL;
    if (client) {
        bf_spec by = spec;
        by.redis_client = &one_server;
        by.key = key;
        far = opened(by, NULL, "", __LINE__);
    } else
        far = opened(spec, key, "", __LINE__);
    seen = opened(there, key, "", __LINE__);
    spec.cache = false;
    bf_filter *near = numbers(bf_open(&spec, &e), 50, 150),
              *few = numbers(bf_open(&spec, &e), 30, 60),
              *both = numbers(numbers(bf_open(&spec, &e), 0, 100), 50, 150);
    numbers(far, 0, 100);
    CHECK((copy = bf_copy(far, &e)) && bf_equal(copy, far, &e) == 1);
    CHECK((plain = bf_to_plain(far, &e)) && missing(plain, 0, 100) == 0);
    CHECK(bf_subset(far, both, &e) == 1 && bf_subset(both, far, &e) == 0);
    same_image(far, copy, spec.counting);
    rs_command(&redis, "PEXPIRE %s 500000", string);
    CHECK(bf_unite(near, far, &e) == 0 && bf_equal(near, both, &e) == 1); /* memory |= Redis */
    if (!spec.counting) CHECK(bf_intersect(near, far, &e) == 0 && bf_equal(near, far, &e) == 1);
    CHECK_EQ(bf_intersect(far, few, &e), spec.counting ? BF_ENOTSUP : 0);
    if (!spec.counting) CHECK(missing(seen, 30, 60) == 0 && missing(seen, 0, 30) > 0);
    CHECK_EQ(bf_rebuild_end(far, few, &e), 0);
    CHECK(bf_equal(seen, few, &e) == 1 && bf_equal(far, few, &e) == 1);
    CHECK_EQ(bf_clear(far, &e), 0);
    CHECK(missing(seen, 0, 60) == 60 && bf_unite(far, both, &e) == 0); /* Redis |= memory */
    CHECK(bf_equal(seen, both, &e) == 1 && missing(far, 0, 150) == 0);
    CHECK(rs_number(&redis, "PTTL %s", string) > 400000);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), shards > 1 ? 2 * shards + 1 : 2); /* no temporary key */
    expires(far, string);
    CHECK_EQ(bf_delete(far, &e), 0);
    CHECK(rs_number(&redis, "DBSIZE") == 0 && bf_delete(far, &e) == BF_EIO);
    double left;
    CHECK(bf_delete(near, &e) == BF_ENOTSUP && bf_expire(near, 1, &e) == BF_ENOTSUP);
    CHECK(bf_expires_in(near, &left, &e) == 0 && left == 0);
    CLOSE(seen, copy, plain, far, near, few, both);
}
TEST(whole_filters)
{
    for (size_t row = 0; row < ROWS; row++) whole(row);
}

TEST(between_two_filters_in_redis)
{
    bf_filter *a = numbers(opened((bf_spec){ .m = 9001, .k = 5 }, "a", "", __LINE__), 0, 50),
              *b = numbers(opened((bf_spec){ .m = 9001, .k = 5 }, "b", "", __LINE__), 50, 90);
    CHECK_EQ(bf_equal(a, b, &e), 0);
    CHECK_EQ(bf_unite(a, b, &e), 0);
    CHECK_EQ(missing(a, 0, 90), 0);
    bf_filter *unlike = bf_open(&(bf_spec){ .m = 9002, .k = 5 }, &e);
    CHECK(bf_rebuild_end(a, unlike, &e) == BF_EINVAL && missing(a, 0, 90) == 0);
    CLOSE(a, b, unlike);
}

/* ---- several at once ---- */
static void *thread_adds(void *f)
{
    long fresh = 0;
    for (unsigned i = 0; i < 300; i++) {
        char t[16];
        fresh += bf_add(f, t, (size_t)sprintf(t, "t%u", i), NULL) == 1;
    }
    return (void *)fresh;
}

TEST(threads_share_a_handle)
{
    pthread_t t[4];
    long sum = 0;
    bf_filter *f = opened((bf_spec){ .n = 10000, .p = 1e-4 }, "threads", "", __LINE__);
    for (int i = 0; i < 4; i++) pthread_create(t + i, NULL, thread_adds, f);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += (long)r;
    }
    CHECK_EQ(sum, 300);
    bf_close(f);
}

TEST(keyed)
{
    static const char secret[17] = "0123456789abcdef", other[17] = "fedcba9876543210";
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .secret = secret, .secret_len = 16 }, &e);
    if (!f) return; /* a build without libsodium */
    bf_close(f);
    f = opened(
        (bf_spec){ .m = 1000, .k = 3, .secret = secret, .secret_len = 16 }, "keyed", "", __LINE__);
    CHECK_EQ(bf_add(f, "x", 1, &e), 1);
    bf_filter *c = bf_copy(f, &e);
    CHECK(c && bf_test(c, "x", 1, &e) == 1);
    CLOSE(c, f);
    CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&redis, "keyed", "") }, &e));
    CHECK_HAS(e.msg, "is keyed: its secret must be given");
    CHECK(!bf_open(
        &(bf_spec){ .storage = rs_url(&redis, "keyed", ""), .secret = other, .secret_len = 16 },
        &e));
    CHECK_HAS(e.msg, "another secret");
    CHECK_EQ(rs_number(&redis, "HLEN keyed:meta"), 10);
}

int main(void) { return main_with_redis(&redis); }
