/* test_redis_faults.c - every way a filter in Redis can go wrong: an error that names the cause, no
 * password in it, never a silent "absent"; and the same handle works once the fault is over.  About
 * core/redis/url.c, core/redis/socket.c, core/redis/connection.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "redis_proxy.h"

#define SECRET "s3same"

/* ---- URLs ---- */
TEST(wrong_urls)
{
    static const struct {
        const char *url, *says;
    } rows[] = { { "redis://", "has no host" }, { "redis://h", "names no key" },
        { "redis://h?key=", "names no key" }, { "redis://:" SECRET "@?key=k", "no host" },
        { "redis://h:0?key=k", "port" }, { "redis://h:65536?key=k", "port" },
        { "redis://h:6x?key=k", "port" }, { "redis://h:?key=k", "port" },
        { "redis://h/x?key=k", "database" }, { "redis://h/-1?key=k", "database" },
        { "redis://h/99999999999?key=k", "database" }, { "redis://[::1?key=k", "no closing ]" },
        { "redis://[::1]6379?key=k", "followed by" }, { "redis://h?key=a&key=b", "two keys" },
        { "redis://h?key=%zz", "hexadecimal" }, { "redis://h?key=%4", "hexadecimal" },
        { "redis://h?key=a%00b", "NUL" }, { "redis://h?key=k&timeout=0", "timeout" },
        { "redis://h?key=k&timeout=-1", "timeout" }, { "redis://h?key=k&timeout=1s", "timeout" },
        { "redis://h?key=k&timeout=nan", "timeout" }, { "redis://h?key=k&timeout=inf", "timeout" },
        { "redis://h?key=k&db=x", "db" }, { "redis://h?key=k&nonsense=" SECRET, "nothing else" },
        { "redis://h?key=k&retry_after=-1", "retry_after" },
        { "redis://h?key=k&retry_after=x", "retry_after" },
        { "redis://h?key=k&retry_after=86401", "retry_after" },
        { "redis://h?key=k&retry_after=", "retry_after" }, { "rediss://", "host" },
        { "rediss://h", "key" }, { "redis://h?key=k&ca=a", "one db=, and nothing else" },
        { "rediss://:" SECRET "@h?key=k&ca=a&ca=b", "one ca= and one cert=" },
        { "rediss://h?key=k&cert=a&cert=b", "one ca= and one cert=" },
        { "redis://h/0?key=k&db=1", "one db" },
        { "redis://" SECRET "@h?key=k", "user without a password" },
        { "redis://u:" SECRET "/x@h?key=k", "port" }, { "redis://u:" SECRET "?x@h", "port" },
        { "redis://u:" SECRET "%@h?key=k", "password" }, { "unix://?key=k", "no path" },
        { "redis://h?key=%4G", "hexadecimal" }, { "redis://h?key=%G4", "hexadecimal" },
        { "redis://h?key=%/4", "hexadecimal" }, { "redis://h?key=%4%7", "hexadecimal" },
        { "redis://h?key=k&timeout=1.00000000000000000000000000001", "timeout" },
        { "redis://h?key=k&timeout=86401", "timeout" },
        { "redis://h?key=k&timeout=0.0001", "timeout" }, { "redis://h?key=k&timeout", "timeout" },
        { "redis://h?key=k&timeoux=1", "nothing else" }, { "redis://h?kex=k", "nothing else" },
        { "redis://h?key", "names no key" }, { "redis://h?key=k&dx=1", "nothing else" },
        { "redis://h?key=k&db=1&db=2", "one db" },
        { "redis://h?key=k&db=2147483648", "db must be a number" },
        { "redis://h?key=k&d=1", "nothing else" }, { "unix:///%zz?key=k", "hexadecimal" },
        { "unix:///?key=k", "no path" }, { "redis://%zz?key=k", "hexadecimal" },
        { "redis://u%zz:p@h?key=k", "hexadecimal" }, { "unix://relative/x?key=k", "absolute" },
        { "unix:///"
          "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
          "890123456789012345678901234567890?key=k",
            "at most 107" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        REFUSED(rows[i].url, BF_EINVAL, rows[i].says);
        CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = rows[i].url }, NULL));
    }
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = "redis://h?key=a", .key = "b" }, &e));
    CHECK_HAS(e.msg, "b, and a in the URL");
}

/* ---- helpers ---- */
static bf_filter *made(server *s, const char *key, const char *more)
{
    bf_filter *f = bf_open(
        &(bf_spec){ .m = 20000, .k = 5, .scheme = "classic", .storage = rs_url(s, key, more) }, &e);
    if (!f) {
        FAILED("%s: %s\n", key, e.msg);
        exit(1);
    }
    CHECK_EQ(bf_add(f, "there", 5, &e), 1);
    return f;
}

static void sound(bf_filter *f, int line)
{
    static unsigned n;
    char t[16];
    size_t len = (size_t)sprintf(t, "s%u", n++);
    e.msg[0] = 0;
    if (bf_test(f, "there", 5, &e) != 1 || bf_add(f, t, len, &e) != 1 ||
        bf_add(f, t, len, &e) != 0 || bf_test(f, t, len, &e) != 1)
        FAILED("line %d: does not work again: %s\n", line, e.msg);
}
#define SOUND(f) sound(f, __LINE__)

static void fails(bf_filter *f, const char *test, const char *add, int line)
{
    bf_key keys[300];
    for (int i = 0; i < 300; i++) keys[i] = (bf_key){ "there", 5 };
    for (int what = 0; what < 4; what++) {
        const char *says = what < 2 ? test : add;
        if (!says) continue;
        e = (bf_error){ 0 };
        int64_t rc = what == 0   ? bf_test(f, "there", 5, &e)
                     : what == 1 ? bf_test_many(f, keys, 300, NULL, &e)
                     : what == 2 ? bf_add(f, "new", 3, &e)
                                 : bf_add_many(f, keys, 300, NULL, &e);
        if (rc >= 0 || rc != e.code || !strstr(e.msg, says) || strstr(e.msg, SECRET))
            FAILED("line %d: call %d: %lld, \"%s\", expected \"%s\"\n", line, what, (long long)rc,
                e.msg, says);
    }
}
#define FAILS(f, test, add) fails(f, test, add, __LINE__)

/* ---- reaching it ---- */
TEST(nobody_there)
{
    char url[160];
    int port, fd = rs_bind(&port);
    snprintf(url, sizeof url, "redis://:" SECRET "@127.0.0.1:%d?key=k", port);
    REFUSED(url, BF_EIO, "Connection refused");
    CHECK_EQ(e.sys_errno, ECONNREFUSED);
    listen(fd, 4); /* accepted by the kernel, never answered */
    snprintf(url, sizeof url, "redis://u:" SECRET "@127.0.0.1:%d?key=k&timeout=0.8", port);
    REFUSED(url, BF_EIO, "timed out");
    CHECK_EQ(e.sys_errno, ETIMEDOUT);
    close(fd);
    REFUSED("redis://:" SECRET "@no-such-host.invalid?key=k&timeout=1", BF_EIO,
        "no-such-host.invalid"); /* as late as the system's resolver likes */
    REFUSED("unix:///no/such/socket?key=k", BF_EIO, "No such file");
}

TEST(wrong_passwords)
{
    server locked;
    rs_start(&locked, SECRET);
    char url[160];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=k", locked.port);
    REFUSED(url, BF_EIO, "NOAUTH");
    snprintf(url, sizeof url, "redis://:" SECRET "x@127.0.0.1:%d?key=k", locked.port);
    REFUSED(url, BF_EIO, "WRONGPASS");
    snprintf(url, sizeof url, "redis://nobody:" SECRET "@127.0.0.1:%d?key=k", locked.port);
    REFUSED(url, BF_EIO, "WRONGPASS");
    bf_filter *f = bf_open(
        &(bf_spec){ .m = 20000, .k = 5, .scheme = "classic", .storage = rs_url(&locked, "k", "") },
        &e);
    CHECK(f != NULL);
    bf_info i;
    if (f) {
        bf_get_info(f, &i);
        CHECK(!strstr(i.shown, SECRET));
        CHECK_HAS(i.storage, SECRET);
    }
    bf_close(f);
    CHECK(!bf_open(&(bf_spec){ .storage = rs_url(&locked, "k", ""), .k = 6 }, &e));
    CHECK_HAS(e.msg, "has k=5, asked for k=6");
    CHECK(!strstr(e.msg, SECRET));
    rs_end(&locked);
}

TEST(killed_and_restarted)
{
    bf_filter *f = made(&redis, "restart", ""), *g;
    rs_command(&redis, "SAVE");
    rs_stop(&redis, SIGKILL);
    FAILS(f, "refused", "refused");
    FAILS(f, "refused", "refused");
    rs_resume(&redis);
    SOUND(f); /* the dump brought it back */
    rs_command(&redis, "DEL restart restart:meta");
    rs_command(&redis, "SAVE");
    rs_stop(&redis, SIGKILL);
    rs_resume(&redis);
    FAILS(f, "is lost", "is lost"); /* back, but without the key */
    CHECK((g = made(&redis, "restart", "")) != NULL);
    SOUND(f); /* re-created by another: followed */
    SOUND(g);
    CLOSE(f, g);
}

/* ---- the server ---- */
TEST(out_of_memory)
{
    bf_filter *f = made(&redis, "oom", "");
    long keys = rs_number(&redis, "DBSIZE");
    rs_command(&redis, "CONFIG SET maxmemory 1");
    FAILS(f, NULL, "OOM");
    CHECK_EQ(bf_test(f, "there", 5, &e), 1);
    REFUSED(rs_url(&redis, "oom2", ""), BF_EIO, "OOM");
    CHECK(bf_clear(f, &e) < 0);
    rs_command(&redis, "CONFIG SET maxmemory 0");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), keys);
    SOUND(f);
    rs_command(&redis, "CONFIG SET maxmemory 3mb"); /* creation fails half way */
    for (unsigned shards = 1; shards < 6; shards += 4) {
        const bf_spec spec = { .m = 400000000, .k = 5, .shards = shards };
        CHECK_REFUSED(code_of(spec, "oom3"), BF_EIO, "OOM");
    }
    rs_command(&redis, "CONFIG SET maxmemory 0");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), keys);
    SOUND(f);
    bf_close(f);
}

/* Its reply comes when the call has ended, and is not taken for that of the next one. */
TEST(a_server_that_sleeps)
{
    proxy x;
    proxy_start(&x, &redis);
    server far = redis;
    far.port = x.port;
    bf_filter *f = made(&far, "sleep", "&retry_after=0");
    for (int add = 0; add < 2; add++) {
        x.orders->hold_at = x.orders->answers + 1;
        may_take(f, 0.2);
        CHECK_EQ(add ? bf_add(f, "there", 5, &e) : bf_test(f, "there", 5, &e), BF_EIO);
        CHECK_EQ(e.sys_errno, ETIMEDOUT);
        CHECK_HAS(e.msg, add ? "tell what was added" : "timed out");
        may_take(f, PATIENCE);
        x.orders->hold_at = 0;
        SOUND(f);
    }
    bf_close(f);
    proxy_end(&x);
}

int main(void) { return main_with_redis(&redis); }
