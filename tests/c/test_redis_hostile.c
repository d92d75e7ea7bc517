/* test_redis_hostile.c - a Redis that is hostile: replies that never end, arrays of thousands of
 * millions, texts without an end, companion hashes of a million fields.  By URL and through a
 * client of the host's: an error that names the key, and the process stays small.  It starts its
 * own server and stands between it and the filter.  About core/redis/resp.c. */
#define _GNU_SOURCE
#include "redis_proxy.h"
#include "redis_worlds.h"
#include "parts/filter.h"
#include "redis/redis.h"
#include <sys/ioctl.h>
#include <sys/resource.h>

#define SMALL                                                                                      \
    (64l << 10) /* KiB that the process may grow by in all of this; the proxy sends 96 MiB each    \
                   time */

static proxy x;
static char url[128];
static const bf_spec classic = { .m = 20000, .k = 5, .scheme = "classic" };

static long peak(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static host_client through_proxy = { .port = &x.port };
static const bf_redis_client host = {
    .exchange = host_exchange, .name = "the test's client", .ctx = &through_proxy
};

/* ---- what comes, and again and again what follows the bar ---- */
static const char *const floods[] = { "*2000000000\r\n|:1\r\n", "*4000000000\r\n|:1\r\n",
    "*9223372036854775807\r\n|:1\r\n", "*18446744073709551615\r\n|:1\r\n", "*1000000\r\n|$-1\r\n",
    "*1000000\r\n|$0\r\n\r\n", "*1000000\r\n|+\r\n", "*1000000\r\n|*0\r\n", "*1000000\r\n|*-1\r\n",
    "|*1\r\n", "|*2\r\n:1\r\n", "|*2000000000\r\n", "|*65536\r\n",
    "$1000000000\r\n|0123456789abcdef", "$2147483647\r\n|0123456789abcdef",
    "$4294967295\r\n|0123456789abcdef", "$9223372036854775807\r\n|0123456789abcdef",
    "$18446744073709551615\r\n|x", "$-2\r\n|x", "*1\r\n$500000000\r\n|0123456789abcdef",
    "-ERR |0123456789abcdef", "+|0123456789abcdef", ":|0000000000000000", "$|1111111111111111",
    "*|0000000000000000", "|:1\r\n", "|$-1\r\n", "|-ERR no\r\n", "%1000000000\r\n|:1\r\n",
    "~1000000000\r\n|:1\r\n", ">1000000000\r\n|:1\r\n", "|>1\r\n:1\r\n",
    "|>2\r\n+invalidate\r\n*-1\r\n", "|%1\r\n", "|~1\r\n", "(|0123456789", ",|0123456789",
    "*1000000\r\n|,1\r\n", "*1000000\r\n|#t\r\n", "*1000000\r\n|_\r\n", "|_\r\n",
    "=1000000000\r\n|txt:01234567", "*60\r\n|$4000\r\n" };
enum { FLOODS = COUNT(floods) };

static int64_t open_it(world *w)
{
    const bf_info i = info_of(w->f);
    bf_spec spec = { .storage = i.storage, .must_exist = true };
    spec.redis_client = i.storage ? NULL : &host;
    spec.key = i.storage ? NULL : "h";
    bf_filter *g = bf_open(&spec, &e);
    bf_close(g);
    return g ? 0 : e.code;
}
static int64_t (*const calls[])(world *) = { do_test, do_add, do_test_many, do_add_many, do_state,
    do_read, do_clear, do_expire, do_unite, open_it };

/* Two calls of each flood. */
static void flooded(bf_filter *f, const char *what)
{
    const long before = peak();
    bf_filter *twin = numbers(bf_open(&classic, &e), 0, WORLD_KEYS);
    world w = { .f = numbers(f, 0, WORLD_KEYS), .twin = twin };
    for (size_t i = 0; f && i < 2 * FLOODS; i++) {
        const char *flood = floods[i % FLOODS];
        const size_t call = i < FLOODS ? i % COUNT(calls) : i % 2;
        e = (bf_error){ 0 };
        proxy_order(&x, FLOOD, flood);
        const int64_t rc = calls[call](&w);
        proxy_order(&x, PASS, "");
        if (rc >= 0 || !strstr(e.msg, "Redis key h at") || bf_test(f, "n0", 2, &e) != 1)
            FAILED("%s, call %zu, %s: %lld, %s\n", what, call, flood, (long long)rc, e.msg);
    }
    if (peak() - before > SMALL) FAILED("%s: %ld MiB more\n", what, (peak() - before) >> 10);
    bf_close(twin);
}

TEST(by_url)
{
    bf_spec spec = classic;
    spec.storage = url;
    bf_filter *f = bf_open(&spec, &e);
    CHECK(f != NULL);
    flooded(f, "by URL");
    bf_close(f);
}

TEST(through_a_client)
{
    bf_filter *f = bf_open(&(bf_spec){ .redis_client = &host, .key = "h", .must_exist = true }, &e);
    CHECK(f != NULL);
    flooded(f, "through a client");
    bf_close(f);
}

/* ---- a reply that comes a second time, after its exchange has ended ---- */
/* Until the reply is in the socket of the filter: TCP delivers it a moment after it was sent. */
static void repeat_for(const bf_filter *f)
{
    const bf_redis *r = f->bitmap.store.impl;
    int bytes = 0;
    proxy_repeat(&x);
    while (ioctl(r->conn->socket->fd, FIONREAD, &bytes) == 0 && bytes == 0) rs_pause(1);
}

TEST(late_replies)
{
    for (int counting = 0; counting < 2; counting++) {
        rs_command(&redis, "DEL h h:meta");
        bf_filter *f =
            bf_open(&(bf_spec){ .m = 9000, .k = 4, .storage = url, .counting = counting }, &e);
        CHECK(f && bf_add(f, "there", 5, &e) == 1);
        for (int i = 0; f && i < 3; i++) {
            CHECK_EQ(i == 1 ? bf_add(f, "there", 5, &e) >= 0 : bf_test(f, "absent", 6, &e) == 0, 1);
            repeat_for(f);
            CHECK_EQ(bf_test(f, "there", 5, &e), 1);
            CHECK_EQ(bf_test(f, "absent", 6, &e), 0);
        }
        bf_close(f);
    }
    rs_command(&redis, "DEL h h:meta");
}

/* ---- a client that puts its replies ---- */
static int how_put;
static int puts_(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    static char text[1 << 20];
    if (how_put == 0)
        for (int i = 0; i < 20000000; i++) bf_reply_put_integer(sink, i);
    if (how_put == 1) {
        bf_reply_put_array(sink, SIZE_MAX);
        for (int i = 0; i < 20000000; i++) bf_reply_put_nil(sink);
    }
    if (how_put == 2) {
        bf_reply_put_array(sink, 3);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 100; j++) bf_reply_put_text(sink, text, sizeof text);
    }
    if (how_put == 3)
        for (int i = 0; i < 20000000; i++) bf_reply_put_array(sink, 1);
    if (how_put == 4)
        for (int i = 0; i < 100; i++) bf_reply_put_error(sink, text, sizeof text);
    if (how_put == 5)
        for (int i = 0; i < 20000000; i++) bf_reply_put_array(sink, SIZE_MAX / 2);
    if (how_put == 6) {
        const bf_redis_range none = { BF_NO_REPLY, 20000000 };
        bf_reply_expect(sink, &none, 1);
        for (int i = 0; i < 20000000; i++) bf_reply_put_text(sink, text, 64);
    }
    return BF_CLIENT_ANSWERED;
}

TEST(pieces)
{
    const bf_redis_client putting = { .exchange = puts_, .name = "the test" };
    const long before = peak();
    for (how_put = 0; how_put < 7; how_put++) {
        CHECK(
            !bf_open(&(bf_spec){ .redis_client = &putting, .key = "h", .must_exist = true }, &e) &&
            e.code == BF_EIO);
        CHECK_HAS(e.msg, "Redis key h at the test");
    }
    CHECK(peak() - before < SMALL);
}

/* ---- a sound Redis whose companion hash somebody has filled ---- */
TEST(huge_hashes)
{
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=h&timeout=%d", redis.port, PATIENCE);
    rs_command(&redis, "DEL h h:meta");
    bf_filter *f = bf_open(
                  &(bf_spec){ .m = 20000, .k = 5, .scheme = "classic", .storage = url }, &e),
              *g;
    CHECK(f && bf_add(f, "there", 5, &e) == 1);
    rs_command(&redis,
        "EVAL \"for i=1,100 do redis.call('HSET',KEYS[1],'x'..i,'of somebody') end\" 1 h:meta");
    CHECK((g = bf_open(&(bf_spec){ .storage = url }, &e)) !=
          NULL); /* a few more fields are no fault */
    bf_close(g);
    const long before = peak();
    for (int what = 0; what < 2; what++) {
        rs_command(&redis,
            what ? "EVAL \"redis.call('HSET',KEYS[1],'y',string.rep('y',100000000))\" 1 h:meta"
                 : "EVAL \"for i=1,300000 do redis.call('HSET',KEYS[1],i,i) end\" 1 h:meta");
        CHECK_NO_FILTER(
            bf_open(&(bf_spec){ .storage = url }, &e), BF_EIO, "larger than requested: ");
        CHECK(bf_test(f, "there", 5, &e) == 1); /* whoever has it open asks the hash nothing */
        rs_command(
            &redis, what ? "HDEL h:meta y"
                         : "EVAL \"for i=1,300000 do redis.call('HDEL',KEYS[1],i) end\" 1 h:meta");
    }
    CHECK((g = bf_open(&(bf_spec){ .storage = url }, &e)) != NULL);
    CHECK(peak() - before < SMALL);
    CLOSE(g, f);
}

int main(void)
{
    rs_start(&redis, NULL);
    proxy_start(&x, &redis);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=h&timeout=%d", x.port, PATIENCE);
    make_world_keys();
    run_tests();
    proxy_end(&x);
    rs_end(&redis);
    return FINISH();
}
