/* test_redis_client.c - filters in Redis through a client of the host's: replies that come in any
 * pieces, commands as bytes and as arguments, parts of a trip, and every way a client can fail. The
 * same bits and answers as in memory: test_redis_as_memory.c.  The server is the test's own.  About
 * core/redis/resp.c, core/redis/commands.c, core/redis/connection.c. */
#define _GNU_SOURCE
#include "../../core/redis/redis.h"
#include "redis_host_client.h"

enum { DIGITS = 16 }; /* of the number in the ECHO that ends a round trip */
static const char *number_of(const bf_redis_part *part)
{
    return (const char *)part->bytes + part->len - DIGITS - 2;
}

/* ---- a client that fails ---- */
typedef struct {
    int fail, after; /* answer BF_CLIENT_... `fail`, after so many exchanges */
    int sys_errno;
    bool garbage, odd, unreported;
    int calls, drops;
} client;

/* What the bytes say, written anew from the walked arguments: must be the same bytes. */
static bool walk_is_the_same(const bf_redis_part *p)
{
    bf_commands c = { p->bytes, (const char *)p->bytes + p->len, 0 };
    bf_key arg;
    size_t n = 0, commands = 0, len;
    char *again = malloc(2 * p->len + 64);
    while (bf_command_next(&c)) {
        len = (size_t)sprintf(again + n, "*%zu\r\n", c.args);
        for (n += len, commands++; bf_command_arg(&c, &arg);) {
            n += (size_t)sprintf(again + n, "$%zu\r\n", arg.len);
            memcpy(again + n, arg.ptr, arg.len);
            memcpy(again + n + arg.len, "\r\n", 2);
            n += arg.len + 2;
        }
    }
    bool same = commands == p->commands && n == p->len && !memcmp(again, p->bytes, n);
    free(again);
    return same;
}

static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    client *c = ctx;
    c->calls++;
    c->unreported |= !report;
    if (c->fail && c->after-- <= 0) {
        bf_reply_fault(sink, c->sys_errno, "with args s3same", 16);
        return c->fail;
    }
    for (size_t i = 0; i < nparts; i++)
        CHECK(walk_is_the_same(parts + i) && parts[i].key_len == strlen(parts[i].key));
    if (c->odd) {
        bf_reply_put_text(sink, "odd", 3);
        bf_reply_put_text(sink, number_of(parts + nparts - 1), DIGITS);
        return BF_CLIENT_ANSWERED;
    }
    const int rc = host_exchange(&host_socket, parts, nparts, report, sink);
    if (c->garbage) bf_reply_put_integer(sink, 7);
    return rc;
}

static void drop(void *ctx) { ((client *)ctx)->drops++; }

static bf_filter *open_with(const bf_redis_client *client, bf_spec spec)
{
    spec.redis_client = client;
    return bf_open(&spec, &e);
}

/* ---- faults ---- */
TEST(every_fault)
{
    enum { KEYS = 1500 };
    static bf_key keys[KEYS];
    client c = { 0 };
    bf_redis_client host = { .exchange = exchange, .drop = drop, .name = "the test", .ctx = &c };
    bf_filter *f = open_with(&host, (bf_spec){ .key = "seen", .n = 100, .p = 0.01 });
    CHECK(f && bf_add(f, "x", 1, &e) == BF_ADDED);
    if (!f) return;
    const bf_info info = info_of(f);
    CHECK(!strcmp(info.home, "redis") && !info.storage && !strcmp(info.key, "seen"));
    for (int j = 0; j < KEYS; j++) keys[j] = (bf_key){ "x", 1 };
    c.calls = 0;
    CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    CHECK_EQ(c.calls, 2); /* a thousand keys a trip */

    /* a read is tried once more after a connection that broke, not where there was none, nor after
     * a time-out or a stop */
    static const struct {
        int fail, sys_errno, calls;
        const char *says;
    } reads[] = { { BF_CLIENT_LOST, ECONNRESET, 2,
                      "cannot get a reply from Redis key seen at the test" },
        { BF_CLIENT_UNSENT, ECONNREFUSED, 1, "cannot reach Redis key seen at the test" },
        { BF_CLIENT_LOST, ETIMEDOUT, 1, "timed out" },
        { BF_CLIENT_LOST, 0, 2, "Redis key seen at the test: " },
        { BF_CLIENT_STOP, 0, 1, "interrupted" } };
    for (size_t i = 0; i < COUNT(reads); i++) {
        c.fail = reads[i].fail;
        c.sys_errno = reads[i].sys_errno;
        c.calls = 0;
        int want = c.fail == BF_CLIENT_STOP ? BF_EHOST : BF_EIO;
        CHECK_EQ(bf_test(f, "x", 1, &e), want);
        CHECK_HAS(e.msg, reads[i].says);
        CHECK(!strstr(e.msg, "s3same") && e.sys_errno == reads[i].sys_errno);
        CHECK_EQ(c.calls, reads[i].calls);
        c.calls = 0;
        CHECK_EQ(bf_add(f, "y", 1, &e), want);
        CHECK_EQ(c.calls, 1);
        if (want == BF_EIO)
            CHECK_EQ(!strstr(e.msg, "cannot tell what was added"), c.fail == BF_CLIENT_UNSENT);
        CHECK(bf_clear(f, &e) < 0 && bf_unite(f, f, &e) <= 0 && bf_expire(f, 1, &e) < 0);
        c.fail = 0;
        CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    }
    c.garbage = true;
    CHECK_REFUSED(bf_test(f, "x", 1, &e), BF_EIO, "does not speak the Redis protocol");
    c.garbage = false;
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);

    /* replies of another command: the client closes the connection */
    c.odd = true;
    c.drops = 0;
    CHECK_REFUSED(bf_test(f, "x", 1, &e), BF_EIO, "unexpected reply");
    CHECK_EQ(c.drops, 1);
    CHECK_REFUSED(bf_add(f, "y", 1, &e), BF_EIO, "unexpected reply");
    CHECK_EQ(c.drops, 2);
    c.odd = false;
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    CHECK_EQ(c.drops, 2);

    /* a creation that fails leaves nothing, and what nobody hears of is said to be so */
    for (int after = 0; after < 3; after++) {
        c.fail = BF_CLIENT_LOST;
        c.after = after;
        c.unreported = false;
        CHECK(!open_with(&host, (bf_spec){ .key = "other", .n = 100, .p = 0.01 }));
        CHECK_EQ(c.unreported, after > 0);
        c.fail = 0;
    }
    rs_command(&redis, "SET alien foreign");
    CHECK(!open_with(&host, (bf_spec){ .key = "alien", .n = 100, .p = 0.01 }) &&
          e.code == BF_EFORMAT);
    CHECK(!open_with(&host, (bf_spec){ .key = "seen", .n = 999, .p = 0.01 }) &&
          e.code == BF_EMISMATCH);
    CHECK(!open_with(&host, (bf_spec){ .n = 999, .p = 0.01 }) && e.code == BF_EINVAL);
    CHECK_HAS(e.msg, "key");
    CHECK(!open_with(&host,
              (bf_spec){ .key = "seen", .storage = "redis://127.0.0.1", .n = 9, .p = 0.01 }) &&
          e.code == BF_EINVAL);
    CHECK(!open_with(
              &(bf_redis_client){ .name = "x" }, (bf_spec){ .key = "seen", .n = 9, .p = 0.01 }) &&
          e.code == BF_EINVAL);
    host.cluster = true;
    CHECK(!open_with(&host, (bf_spec){ .key = "a}b", .n = 9, .p = 0.01 }) && e.code == BF_EINVAL);
    CHECK_HAS(e.msg, "hash tag");
    bf_close(f);
}

/* ---- a client that plays replies, without a server ---- */
/* In them # is the number that ends the round trip of a part, @ that of the round trip before, and
 * ! a connection that ends. */
typedef struct {
    const char *replies;
    bool each, ends,
        again;    /* a byte at a time; # follows what is complete; after -ASK more comes */
    bool cluster; /* each part has its number, not the last one alone */
    char number[DIGITS];
    int calls, drops, keys[2], commands[2];
    bool waits; /* WAIT came for two replicas, with half of the two seconds of a host's client */
} script;

static int64_t feed(script *s, bf_reply_sink *sink, const char *bytes, size_t len)
{
    int64_t have = 0;
    for (size_t at = 0, n = s->each ? 1 : len; at < len && have >= 0; at += n)
        have = bf_reply_feed(sink, bytes + at, n);
    return have;
}

static int play(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    script *s = ctx;
    const bf_redis_part *part = s->cluster ? parts : parts + nparts - 1;
    const char *number = NULL, *text;
    int64_t have = 0;
    static const char wait[] = "*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$4\r\n1000\r\n";
    s->calls++;
    s->waits = memmem(part->bytes, part->len, wait, sizeof wait - 1) != NULL;
    for (size_t i = 0; i < nparts && i < 2; i++) {
        s->keys[i] = parts[i].key[1];
        s->commands[i] = (int)parts[i].commands;
    }
    for (const char *at = s->replies; have >= 0 && *at && *at != '!';) {
        const size_t n = strcspn(at, "#@!");
        if (n)
            have = feed(s, sink, at, n);
        else {
            number = number_of(part);
            if (part + 1 < parts + nparts) part++;
            bf_reply_put_text(sink, *at == '@' ? s->number : number, DIGITS);
        }
        at += n ? n : 1;
    }
    if (have > 0 && s->ends) bf_reply_put_text(sink, number_of(parts + nparts - 1), DIGITS);
    if (number) memcpy(s->number, number, DIGITS);
    if (s->again && bf_reply_refusal(sink, 1, &text) >= 3 && !memcmp(text, "ASK", 3)) {
        const bf_redis_range later[] = { { BF_NO_REPLY, 1 }, { 1, 1 } };
        bf_reply_expect(sink, later, 2);
        CHECK_EQ(bf_reply_feed(sink, "+OK\r\n", 5), 1);
        bf_reply_put_array(sink, 2);
        bf_reply_put_integer(sink, 5);
        bf_reply_put_text(sink, "five", 4);
    }
    return (have < 0 && s->ends) || strchr(s->replies, '!') ? BF_CLIENT_LOST : BF_CLIENT_ANSWERED;
}
static void script_drop(void *ctx) { ((script *)ctx)->drops++; }

static int trip(bf_conn *l, int commands)
{
    bf_conn_begin(l, BF_READS);
    for (int i = 0; i < commands; i++) {
        if (i == 0) bf_conn_route(l, "{a}");
        if (i == 2) bf_conn_route(l, "{b}");
        bf_conn_command(l, "PING");
    }
    return bf_conn_exchange(l, &e);
}

TEST(replies)
{
    script s = { .replies = ":-12\r\n-ASK 1 x:2\r\n*3\r\n$3\r\na\r\n\r\n*-1\r\n*0\r\n",
        .again = true,
        .ends = true };
    bf_redis_client host = { .exchange = play, .ctx = &s };
    bf_conn l = { 0 };
    long long v;
    size_t len;
    CHECK_EQ(bf_conn_open(&l, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
    CHECK_EQ(trip(&l, 3), 0);
    CHECK(s.keys[0] == 'a' && s.keys[1] == 'b' && s.commands[0] == 2 && s.commands[1] == 2);
    bf_conn_next(&l);
    CHECK(bf_reply_integer(&l.reply, 0, &v) && v == -12);
    bf_conn_next(&l);
    CHECK(l.reply.n == 2 && bf_reply_integer(&l.reply, 0, &v) && v == 5);
    CHECK(bf_reply_text(&l.reply, 1, &len) && len == 4);
    const char *text = NULL;
    bf_conn_next(&l);
    CHECK(l.reply.n == 2 && (text = bf_reply_text(&l.reply, 0, &len)) && len == 3 &&
          !memcmp(text, "a\r\n", 3));
    static const char *const bad[] = { "x", ":1a\r\n", ":\r\n", "$99999999999\r\n", "$2\r\nabc\r\n",
        "*-2\r\n", "$-5\r\n", ":12345678901234567890\r\n", ":1\rx", "*99999999999\r\n",
        "+ok\r\n+ok\r\n", "", "$5\r\nab", "*2\r\n:1\r\n", "%1\r\n+a\r\n", "\r\n", ">1\r\n+news\r\n",
        ">0\r\n:1\r\n", ":1/\r\n", "$2\r\nab\rX", "$2\r\nabX\n", "*2\r\n>1\r\n+a\r\n",
        "*2\r\n:1\r\n>1\r\n+a\r\n", "*67108865\r\n", "*67108864\r\n*67108864\r\n*1\r\n", ":1\r\n:2",
        ":1\r\n*3\r\n", ":1\r\n*1\r\n", ":1\r\n*1\r\n*1\r\n", ":1\r\n*2\r\n:1\r\n", "*3\r\n:1\r\n",
        "-", "*-7\r\n" };
    for (size_t i = 0; i < 2 * COUNT(bad); i++) {
        s = (script){ .replies = bad[i / 2], .each = i % 2, .ends = true };
        CHECK_EQ(trip(&l, 1), BF_EIO);
    }
    char *endless = malloc((1 << 20) + 20); /* a line that does not end */
    memset(endless, 'x', (1 << 20) + 19);
    endless[0] = '+';
    endless[(1 << 20) + 19] = 0;
    s = (script){ .replies = endless, .ends = true };
    CHECK_EQ(trip(&l, 1), BF_EIO);
    free(endless);
    s = (script){ .replies = "%1\r\n+a\r\n_\r\n", .each = true, .ends = true };
    CHECK_EQ(trip(&l, 1), 0);
    bf_conn_next(&l);
    CHECK(l.reply.n == 2);
    s = (script){ .replies = ">2\r\n+news\r\n:4\r\n:6\r\n", .each = true, .ends = true };
    CHECK_EQ(trip(&l, 1), 0);
    bf_conn_next(&l);
    CHECK(l.reply.n == 1 && bf_reply_integer(&l.reply, 0, &v) && v == 6);
    bf_conn_free(&l);
}

/* ---- the sink, piece by piece ---- */
static int put(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    const bf_redis_range ranges[] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 1 } },
                         none[] = { { 0, 0 } }, beyond[] = { { 7, 1 } };
    const char *text = NULL;
    CHECK_EQ(bf_reply_refusal(sink, 7, &text), 0); /* no such command */
    CHECK_EQ(bf_reply_refusal(sink, 0, &text), 0); /* not there yet */
    bf_reply_expect(sink, ranges, 4);
    bf_reply_put_array(sink, 0);
    CHECK_EQ(bf_reply_refusal(sink, 1, &text), 0); /* an empty array */
    if (*(int *)ctx == 1)
        bf_reply_put_error(sink, NULL, 0);
    else
        bf_reply_put_integer(sink, 5);
    CHECK_EQ(bf_reply_refusal(sink, 0, &text), 0); /* no words; no error */
    bf_reply_put_text(sink, number_of(parts + nparts - 1), DIGITS);
    bf_reply_expect(sink, *(int *)ctx == 2 ? beyond : none, 1);
    if (*(int *)ctx == 2) bf_reply_put_integer(sink, 6);
    bf_key arg;
    bf_commands c = { parts->bytes, (const char *)parts->bytes + parts->len, 0 };
    CHECK(bf_command_next(&c) && c.args == 1 && bf_command_next(&c) && bf_command_arg(&c, &arg) &&
          arg.len == 4 && !bf_command_arg(&c, &arg) && bf_command_next(&c) && c.args == 2 &&
          !bf_command_next(&c));
    static const char *const broken[] = { "x", "*1", "*a\r\n", "*1\r\n+a\r\n", "*1\r\n$x\r\n" };
    for (size_t i = 0; i < 5; i++) {
        c = (bf_commands){ broken[i], broken[i] + strlen(broken[i]), 0 };
        CHECK(!bf_command_next(&c) || !bf_command_arg(&c, &arg));
    }
    if (*(int *)ctx >= 3) {
        bf_reply_fault(sink, 0, "some words", *(int *)ctx == 3 ? 0 : 10);
        return BF_CLIENT_LOST;
    }
    return BF_CLIENT_ANSWERED;
}

TEST(pieces)
{
    int how;
    bf_redis_client host = { .exchange = put, .ctx = &how };
    bf_conn l = { 0 };
    CHECK_EQ(bf_conn_open(&l, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
    for (how = 0; how < 5; how++) {
        CHECK_EQ(trip(&l, 2), how < 2 ? 0 : BF_EIO);
        if (how == 1) {
            bf_conn_next(&l);
            CHECK_EQ(bf_conn_refusal(&l, &e), BF_EIO);
        }
        if (how >= 3) CHECK_HAS(e.msg, how == 3 ? "the client failed" : "some words");
    }
    bf_conn_begin(&l, BF_READS); /* the same key again is the same part */
    bf_conn_route(&l, "{a}");
    bf_conn_route(&l, "{a}");
    bf_conn_free(&l);
}

/* Adds up to two keys of k = 2 to a filter with the mark 42, or tests them; these are the replies.
 */
static int replied(const char *replies, int op, size_t nkeys, unsigned wait_replicas)
{
    script s = { .replies = replies };
    const bf_redis_client host = { .exchange = play, .ctx = &s };
    static const uint64_t pos[] = { 3, 500005, 7, 900009 };
    uint8_t was[2];
    bf_conn link = { 0 };
    bf_redis r = { .conn = &link,
        .whole = &r,
        .key = "K",
        .meta = "K:meta",
        .shards = 1,
        .wait_replicas = wait_replicas,
        .mark = 42,
        .bits = 1 << 20,
        .mark_at = 1 << 17 };
    CHECK_EQ(bf_conn_open(&link, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
    const bf_redis_request request = {
        .of = &r, .op = op, .pos = pos, .nkeys = nkeys, .k = 2, .present = was, .pending = true
    };
    const int rc = bf_redis_apply(&request, &e);
    CHECK_EQ(s.waits, wait_replicas == 2);
    bf_conn_free(&link);
    free(r.room.at);
    return rc;
}

/* An array of numbers: with the wrong mark, or too many or too few. */
TEST(a_call_knows_its_reply)
{
    static const struct {
        const char *replies;
        int op;
        size_t keys;
        bool right;
    } rows[] = { { "*1\r\n:1\r\n#", BF_OP_ADD, 1, false },
        { "*2\r\n:1\r\n:41\r\n#", BF_OP_ADD, 1, false },
        { "*3\r\n:1\r\n:42\r\n:42\r\n#", BF_OP_ADD, 1, false },
        { "*2\r\n:1\r\n:42\r\n#", BF_OP_ADD, 1, true }, { "*1\r\n:1\r\n#", BF_OP_ADD, 2, false },
        { "*2\r\n:1\r\n:42\r\n#", BF_OP_ADD, 2, false },
        { "*3\r\n:1\r\n:1\r\n:41\r\n#", BF_OP_ADD, 2, false },
        { "*2\r\n:1\r\n:42\r\n#", BF_OP_TEST, 1, false },
        { "*3\r\n:1\r\n:1\r\n:42\r\n#", BF_OP_TEST, 1, true },
        { "*4\r\n:1\r\n:1\r\n:42\r\n:1\r\n#", BF_OP_TEST, 1, false },
        { "*3\r\n:1\r\n:2\r\n:42\r\n#", BF_OP_TEST, 1, false } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].right)
            CHECK_EQ(replied(rows[i].replies, rows[i].op, rows[i].keys, 0), 0);
        else
            CHECK_REFUSED(
                replied(rows[i].replies, rows[i].op, rows[i].keys, 0), BF_EIO, "unexpected reply");
    }
}

/* A client that answers WAIT in another form: nobody knows how many have it. */
TEST(replicas_that_are_not_asked)
{
#define MARKED "*2\r\n:0\r\n:42\r\n"
    static const struct {
        const char *replies, *says;
    } rows[] = { { MARKED "-ERR no\r\n#", "ERR no" }, { MARKED "$1\r\n1\r\n#", "unexpected reply" },
        { MARKED ":0\r\n#", "only 0 of wait_replicas=2" },
        { MARKED ":1\r\n#", "only 1 of wait_replicas=2" }, { MARKED ":2\r\n#", NULL },
        { MARKED "!", "tell what was added" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int rc = replied(rows[i].replies, BF_OP_ADD, 1, 2);
        CHECK_EQ(rc, rows[i].says ? BF_EIO : 0);
        if (rows[i].says && rc < 0)
            CHECK(strstr(e.msg, rows[i].says) || strstr(e.msg, "cannot tell what was added"));
    }
}

/* ---- the number that ends a round trip ---- */
TEST(a_reply_ends_with_the_number)
{
#define OO ":1\r\n:1\r\n"
#define NOW "-LOADING now\r\n"
#define NO "-NOPERM echo\r\n"
    static const struct {
        const char *replies; /* to two commands about {a}, one about {b} */
        bool cluster;
        const char *says;
    } rows[] = { { OO ":1\r\n#", false, NULL }, { OO "#:1\r\n#", true, NULL },
        { NOW NOW NOW "#", false, NULL }, { NOW NOW NOW NO, false, NULL },
        { OO "#" NOW NO, true, "refuses ECHO, which ends a round trip: NOPERM" },
        { OO ":1\r\n" NO, false, "refuses ECHO, which ends a round trip: NOPERM echo" },
        { OO OO, false, "out of step" }, { OO ":1\r\n@", false, "out of step" },
        { OO "@:1\r\n#", true, "out of step" }, { OO "#:1\r\n@", true, "out of step" },
        { OO "#", false, "does not speak the Redis protocol" },
        { ":1\r\n#" OO, false, "out of step" }, { OO ":1\r\n#:1\r\n", false, "does not speak" },
        { OO OO ":1\r\n#", false, "out of step" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        script s = { .replies = rows[i].replies, .cluster = rows[i].cluster };
        const bf_redis_client host = {
            .exchange = play, .drop = script_drop, .cluster = rows[i].cluster, .ctx = &s
        };
        bf_conn l = { 0 };
        CHECK_EQ(bf_conn_open(&l, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
        for (int again = 0; again < 2; again++) {
            s.calls = s.drops = 0;
            CHECK_EQ(trip(&l, 3), rows[i].says ? BF_EIO : 0);
            CHECK_EQ(l.healthy, !rows[i].says);
            if (rows[i].says) CHECK_HAS(e.msg, rows[i].says);
            /* the connection is closed, and a read is sent once more */
            CHECK_EQ(s.calls, rows[i].says ? 2 : 1);
            CHECK_EQ(s.drops, rows[i].says ? 2 : 0);
            for (int j = 0; !rows[i].says && j < 3; j++) {
                bf_conn_next(&l);
                CHECK(l.reply.n == 1 && l.reply.leaves->type != BF_LEAF_TEXT);
            }
        }
        bf_conn_free(&l);
    }
}

/* 10,000 round trips: no number comes twice. */
static int by_number(const void *a, const void *b) { return memcmp(a, b, DIGITS); }
TEST(numbers_are_fresh)
{
    enum { TRIPS = 10000 };
    static char number[TRIPS][DIGITS];
    script t = { .replies = ":1\r\n#" };
    const bf_redis_client host = { .exchange = play, .ctx = &t };
    bf_conn l = { 0 };
    CHECK_EQ(bf_conn_open(&l, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
    for (int i = 0; i < TRIPS; i++) {
        CHECK_EQ(trip(&l, 1), 0);
        memcpy(number[i], t.number, DIGITS);
    }
    qsort(number, TRIPS, DIGITS, by_number);
    for (int i = 1; i < TRIPS; i++) CHECK(memcmp(number[i - 1], number[i], DIGITS));

    /* a forked child has others than its parent */
    char child[DIGITS];
    int to[2];
    CHECK_EQ(pipe(to), 0);
    if (fork() == 0) {
        CHECK_EQ(bf_conn_lock(&l, &e), 0);
        CHECK_EQ(trip(&l, 1), 0);
        _exit(write(to[1], t.number, DIGITS) != DIGITS);
    }
    CHECK_EQ(trip(&l, 1), 0);
    CHECK_EQ(read(to[0], child, DIGITS), DIGITS);
    CHECK(memcmp(child, t.number, DIGITS));
    wait(NULL);
    close(to[0]);
    close(to[1]);
    bf_conn_free(&l);
}

int main(void) { return main_with_redis(&redis); }
