/* test_redis.c - filters in Redis: what other clients see, ways to a server, sets and copies, two
 * creators, forks and threads.  Every answer and bit: test_redis_as_memory.c; faults:
 * test_redis_faults.c.  Its own server.  About core/redis/store.c, core/redis/bitmap.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "redis_filters.h"
#include <sys/sysinfo.h>

TEST(a_user_without_the_right)
{
    rs_command(&redis, "ACL SETUSER old on >pw ~* +@all -bitfield_ro");
    char url[128];
    snprintf(url, sizeof url, "redis://old:pw@127.0.0.1:%d?key=ro", redis.port);
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
    CHECK_EQ(rs_number(&redis, "DBSIZE"),
        rs_number(&redis, "EXISTS shared shared:meta ro ro:meta row row:meta"));
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
    snprintf(url, sizeof url, "unix://%s/socket?db=3&timeout=2.5&key=a%%20b%%3Fc", redis.folder);
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e);
    if (!f) {
        FAILED("%s\n", e.msg);
        return;
    }
    CHECK_EQ(bf_add(f, "x", 1, &e), 1);
    rs_command(&redis, "SELECT 3");
    CHECK_EQ(rs_number(&redis, "EXISTS \"a b?c\" \"a b?c:meta\""), 2);
    rs_command(&redis, "SELECT 0");
    bf_close(f);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis.port);
    f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url, .key = "by key" }, &e);
    CHECK(f != NULL);
    bf_info i;
    if (f) bf_get_info(f, &i);
    CHECK(f && !strcmp(i.key, "by key") && !strcmp(i.storage, url));
    bf_close(f);
}

/* ---- sets, copies, bytes ---- */
static void sets_and_copies(const bf_spec *spec, const char *key)
{
    char path[] = "/tmp/bf-redis-XXXXXX";
    bf_state st, want;
    bf_filter *far = numbers(opened(*spec, key, "", __LINE__), 0, 100),
              *near = numbers(bf_open(spec, &e), 50, 150), *c, *both = bf_open(spec, &e);
    numbers(both, 0, 150);
    CHECK((c = bf_copy(far, &e)) != NULL);
    CHECK_EQ(bf_equal(c, far, &e), 1);
    CHECK_EQ(bf_get_state(far, &st, &e), 0);
    CHECK_EQ(bf_get_state(c, &want, &e), 0);
    CHECK(st.ones == want.ones && st.count == want.count && st.fpr == want.fpr);
    const bf_info i = info_of(far);
    uint8_t *bytes = malloc(i.image_bytes), *bytes2 = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(far, bytes, i.image_bytes, &e), 0);
    CHECK_EQ(bf_to_bytes(c, bytes2, i.image_bytes, &e), 0);
    CHECK(!memcmp(bytes, bytes2, i.image_bytes));
    int fd = mkstemp(path);
    close(fd);
    CHECK_EQ(bf_save(far, path, &e), 0);
    bf_filter *loaded = bf_load(path, NULL, &e);
    CHECK(loaded && bf_equal(loaded, far, &e) == 1);
    bf_close(loaded);
    unlink(path);
    rs_command(&redis, "PEXPIRE %s 500000", key);
    CHECK_EQ(bf_unite(c, far, &e), 0); /* memory |= Redis */
    CHECK_EQ(bf_unite(near, far, &e), 0);
    CHECK_EQ(bf_equal(near, both, &e), 1);
    CHECK_EQ(bf_intersect(near, far, &e), 0);
    CHECK_EQ(bf_equal(near, far, &e), 1);
    rs_command(&redis, "PEXPIRE %s 500000", key);
    bf_filter *few = numbers(bf_open(spec, &e), 30, 60),
              *seen = opened((bf_spec){ 0 }, key, "", __LINE__);
    CHECK(
        bf_intersect(near, few, &e) == 0 && bf_intersect(far, few, &e) == 0); /* Redis &= memory */
    CHECK_EQ(bf_equal(far, near, &e), 1);
    CHECK_EQ(bf_equal(seen, far, &e), 1); /* another handle follows the new mark */
    CHECK(missing(seen, 30, 60) == 0 && missing(seen, 0, 30) > 0);
    CLOSE(few, seen);
    CHECK(rs_number(&redis, "PTTL %s", key) > 400000 &&
          rs_number(&redis, "STRLEN %s", key) == (long)((i.m + 31) / 32 * 4 + 4));
    CHECK_EQ(bf_unite(far, both, &e), 0); /* Redis |= memory */
    CHECK_EQ(bf_equal(far, both, &e), 1);
    CHECK_EQ(missing(far, 0, 150), 0);
    CHECK(rs_number(&redis, "PTTL %s", key) > 400000);
    CHECK_EQ(bf_clear(far, &e), 0);
    CHECK(rs_number(&redis, "PTTL %s", key) > 400000);
    CHECK_EQ(bf_get_state(far, &st, &e), 0);
    CHECK_EQ(st.ones, 0);
    CHECK_EQ(missing(far, 0, 10), 10);
    CHECK_EQ(bf_expire(far, 1000, &e), 0);
    CHECK(rs_number(&redis, "PTTL %s", key) > 900000 &&
          rs_number(&redis, "PTTL %s:meta", key) > 900000);
    double left;
    CHECK(bf_expires_in(far, &left, &e) == 0 && left > 900 && left <= 1000.1);
    rs_command(&redis, "EXPIRE %s 500", key);
    CHECK(bf_expires_in(far, &left, &e) == 0 && left > 400 && left <= 500.1);
    CHECK(bf_expires_in(near, &left, &e) == 0 && left == 0);
    CHECK_EQ(bf_expire(far, 0, &e), 0);
    CHECK(rs_number(&redis, "PTTL %s", key) == -1 && rs_number(&redis, "PTTL %s:meta", key) == -1);
    CHECK(bf_expires_in(far, &left, &e) == 0 && left == 0);
    CHECK_EQ(bf_expire(far, -1, &e), BF_EINVAL);
    CHECK_EQ(bf_expire(near, 1, &e), BF_ENOTSUP);
    CHECK_EQ(bf_delete(far, &e), 0);
    CHECK_EQ(rs_number(&redis, "EXISTS %s %s:meta", key, key), 0);
    CHECK_EQ(bf_delete(far, &e), BF_EIO);
    CHECK_EQ(bf_delete(near, &e), BF_ENOTSUP);
    free(bytes);
    free(bytes2);
    CLOSE(far, near, both, c);
}

TEST(sets_of_every_size)
{
    rs_command(&redis, "FLUSHALL");
    sets_and_copies(&(bf_spec){ .m = 9001, .k = 5 }, "small");
    sets_and_copies(&(bf_spec){ .m = 8 << 20, .k = 5 }, "mib");
    sets_and_copies(&(bf_spec){ .m = (8 << 20) + 1, .k = 5 }, "{tag}mib1");
    sets_and_copies(&(bf_spec){ .m = 200000000, .k = 4, .scheme = "block" }, "large");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0); /* no temporary key is left */
}

TEST(between_two_filters_in_redis)
{
    bf_filter *a = numbers(opened((bf_spec){ .m = 9001, .k = 5 }, "a", "", __LINE__), 0, 50),
              *b = numbers(opened((bf_spec){ .m = 9001, .k = 5 }, "b", "", __LINE__), 50, 90);
    CHECK_EQ(bf_equal(a, b, &e), 0);
    CHECK_EQ(bf_unite(a, b, &e), 0);
    CHECK_EQ(missing(a, 0, 90), 0);
    CLOSE(a, b);
}

TEST(cleared_or_made_anew_by_another)
{
    bf_state st;
    bf_filter *a = numbers(opened((bf_spec){ .m = 9001, .k = 5 }, "two", "", __LINE__), 0, 50),
              *b = opened((bf_spec){ 0 }, "two", "", __LINE__), *c;
    bf_filter *near = numbers(bf_open(&(bf_spec){ .m = 9001, .k = 5 }, &e), 0, 20);
    uint8_t bits[1126];
    for (int i = 0; i < 6; i++) { /* b is told by whatever it does first */
        numbers(a, 0, 50);
        CHECK_EQ(bf_clear(a, &e), 0);
        int rc = i == 0   ? bf_get_state(b, &st, &e)
                 : i == 1 ? bf_read_bits(b, 0, bits, 1126, &e)
                 : i == 2 ? bf_unite(b, near, &e)
                 : i == 3 ? bf_clear(b, &e)
                 : i == 4 ? bf_expire(b, 100, &e)
                          : bf_test(b, "n0", 2, &e);
        CHECK_EQ(rc, 0);
        if (i == 0) CHECK_EQ(st.ones, 0);
        if (i == 2)
            CHECK(missing(a, 0, 20) == 0 && missing(b, 0, 20) == 0 && missing(a, 20, 50) == 30);
    }
    CHECK_EQ(bf_delete(b, &e), 0);
    CHECK((c = opened((bf_spec){ .m = 9001, .k = 6 }, "two", "", __LINE__)) !=
          NULL); /* as long, but another filter */
    for (int i = 0; i < 5; i++) {
        int rc = i == 0   ? bf_unite(a, near, &e)
                 : i == 1 ? bf_clear(a, &e)
                 : i == 2 ? bf_delete(a, &e)
                 : i == 3 ? bf_add(a, "x", 1, &e)
                          : bf_get_state(a, &st, &e);
        CHECK_EQ(rc, BF_EMISMATCH);
        CHECK_HAS(e.msg, "was re-created as classic m=9001 k=6");
    }
    CHECK_EQ(bf_get_state(c, &st, &e), 0);
    CHECK(st.ones <= 5); /* an add may leave bits, never take one */
    CLOSE(a, b, c, near);
}

TEST(the_largest_key_and_past_it)
{
    struct sysinfo i;
    bool room = sysinfo(&i) == 0 &&
                (uint64_t)i.totalram * i.mem_unit > UINT64_C(3) << 30; /* it takes half a GiB */
    bf_filter *f =
        !room ? NULL
              : opened((bf_spec){ .m = (UINT64_C(1) << 32) - 64, .k = 3, .scheme = "classic" },
                    "huge", "&timeout=20", __LINE__);
    if (f) {
        CHECK_EQ(rs_number(&redis, "STRLEN huge"), (1L << 29) - 4);
        numbers(f, 0, 100);
        CHECK_EQ(missing(f, 0, 100), 0);
        CHECK_EQ(missing(f, 100, 200), 100);
        CHECK_EQ(bf_delete(f, &e), 0);
    }
    bf_close(f);
    bf_spec spec = {
        .m = (UINT64_C(1) << 32) - 63, .k = 3, .shards = 1, .storage = rs_url(&redis, "huge", "")
    };
    CHECK_NO_FILTER(bf_open(&spec, &e), BF_EINVAL, "pass more shards");
    spec = (bf_spec){ .m = (UINT64_C(1) << 32) + 1,
        .k = 7,
        .scheme = "php-mt",
        .storage = rs_url(&redis, "huge", "") };
    CHECK(!bf_open(&spec, &e));
    CHECK_HAS(e.msg, "use a scheme with shards");
    spec = (bf_spec){
        .m = (UINT64_C(1) << 32) - 63, .k = 3, .storage = rs_url(&redis, "huge", "")
    }; /* not said: as many as it takes */
    CHECK(bf_plan(&spec, &e) == 0 && spec.shards == 2 && spec.m == UINT64_C(1) << 32);
    spec = (bf_spec){
        .m = BF_M_MAX, .k = 3, .scheme = "block", .storage = rs_url(&redis, "huge", "")
    };
    CHECK(bf_plan(&spec, &e) == 0 && spec.shards == 512 && spec.m == BF_M_MAX);
    CHECK_EQ(rs_number(&redis, "EXISTS huge huge:meta"), 0);
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

TEST(a_child_has_its_own_connection)
{
    bf_filter *f = opened((bf_spec){ .n = 10000, .p = 1e-4 }, "fork", "", __LINE__);
    bf_add(f, "before", 6, &e);
    long before = rs_number(&redis, "DBSIZE");
    pid_t child[2];
    for (int c = 0; c < 2; c++)
        if ((child[c] = fork()) == 0) {
            int bad = 0;
            for (unsigned i = 0; i < 500; i++) {
                char t[32];
                size_t n = (size_t)sprintf(t, "c%d-%u", c, i);
                bad += bf_add(f, t, n, NULL) < 0;
                bad += bf_test(f, t, n, NULL) != 1;
                bad += bf_test(f, "before", 6, NULL) != 1;
            }
            bf_close(f);
            _exit(bad != 0);
        }
    int bad = 0, status;
    for (unsigned i = 0; i < 500; i++) {
        char t[32];
        size_t n = (size_t)sprintf(t, "p-%u", i);
        bad += bf_add(f, t, n, &e) < 0;
        bad += bf_test(f, t, n, &e) != 1;
    }
    for (int c = 0; c < 2; c++) {
        waitpid(child[c], &status, 0);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(bad, 0);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), before);
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

TEST(foreign_bitmaps)
{
    rs_command(&redis, "DEL old");
    bf_spec spec = { .m = 10000, .k = 4, .scheme = "classic", .must_exist = true };
    bf_filter *here =
        numbers(bf_open(&(bf_spec){ .m = 10000, .k = 4, .scheme = "classic" }, &e), 0, 100);
    uint64_t pos[4];
    for (unsigned i = 0; i < 100; i++) {
        char t[16];
        bf_hashcode(here, t, (size_t)sprintf(t, "n%u", i), pos, 4, &e);
        for (int j = 0; j < 4; j++)
            rs_command(&redis, "SETBIT old %llu 1", (unsigned long long)pos[j]);
    }
    long len = rs_number(&redis, "STRLEN old");
    CHECK(!bf_open(&(bf_spec){ .m = 10000, .k = 4, .storage = rs_url(&redis, "old", "") }, &e));
    CHECK_HAS(e.msg, "not our filter");
    bf_filter *f = opened(spec, "old", "", __LINE__);
    if (f) {
        CHECK_EQ(missing(f, 0, 100), 0);
        CHECK_EQ(bf_equal(f, here, &e), 1);
        CHECK_EQ(rs_number(&redis, "STRLEN old"), len);
        CHECK_EQ(rs_number(&redis, "EXISTS old:meta"), 0);
        CHECK_EQ(bf_add(f, "n0", 2, &e), BF_PRESENT);
        CHECK_EQ(bf_clear(f, &e), BF_ENOTSUP);
    }
    CLOSE(f, here);
}

int main(void) { return main_with_redis(&redis); }
