/* test_redis_client.c - filters in Redis through a client of the host's: the same bits and answers
 * as in memory, replies that come in any pieces, commands as bytes and as arguments, parts of a
 * trip, and every way a client can fail.  The client here is a plain socket that shares no code
 * with the core; the server is the test's own.  About core/redis/resp.c, core/redis/commands.c,
 * core/redis/connection.c. */
#define _GNU_SOURCE
#include "../../core/redis/redis.h"
#include "check.h"
#include "redis_server.h"

static server redis;
static bf_error e;

/* ---- the client ---- */
enum { DIGITS = 16 }; /* of the number in the ECHO that ends a round trip */
static void put_echo(const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    const bf_redis_part *last = parts + nparts - 1;
    bf_reply_put_text(sink, (const char *)last->bytes + last->len - DIGITS - 2, DIGITS);
}

typedef struct {
    int fd, step;    /* socket; bytes fed at once: 0 = all            */
    int fail, after; /* answer BF_CLIENT_... `fail`, after so many exchanges */
    int sys_errno;
    const char *words; /* of the fault                                   */
    bool short_, garbage, odd, walked, unreported;
    int calls, parts, drops;
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

static int64_t feed(client *c, bf_reply_sink *sink, const char *bytes, size_t len)
{
    int64_t have = 0;
    const size_t step = c->step ? (size_t)c->step : len;
    for (size_t at = 0; at < len; at += step)
        have = bf_reply_feed(sink, bytes + at, len - at < step ? len - at : step);
    return have;
}

static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    client *c = ctx;
    char buf[1 << 16];
    size_t want = 0;
    int64_t have = 0;
    c->calls++;
    c->parts = (int)nparts;
    c->unreported |= !report;
    if (c->fail && c->after-- <= 0) {
        bf_reply_fault(sink, c->sys_errno, c->words, strlen(c->words));
        return c->fail;
    }
    if (c->odd) bf_reply_put_text(sink, "odd", 3);
    for (size_t i = 0; i < nparts && !c->odd; i++) {
        if (!walk_is_the_same(parts + i) || parts[i].key_len != strlen(parts[i].key)) failed_here++;
        c->walked = true;
        want += parts[i].commands;
        for (size_t at = 0; at < parts[i].len;) {
            ssize_t sent =
                send(c->fd, (const char *)parts[i].bytes + at, parts[i].len - at, MSG_NOSIGNAL);
            if (sent <= 0) {
                bf_reply_fault(sink, ECONNRESET, "gone", 4);
                return BF_CLIENT_LOST;
            }
            at += (size_t)sent;
        }
    }
    if (c->odd) put_echo(parts, nparts, sink);
    while (have < (int64_t)want) {
        ssize_t got = recv(c->fd, buf, sizeof buf, 0);
        if (got <= 0) {
            bf_reply_fault(sink, ECONNRESET, "gone", 4);
            return BF_CLIENT_LOST;
        }
        if ((have = feed(c, sink, buf, (size_t)got)) < 0) {
            failed_here++;
            return BF_CLIENT_LOST;
        }
    }
    if (c->garbage) bf_reply_put_integer(sink, 7);
    return BF_CLIENT_ANSWERED;
}

static void drop(void *ctx) { ((client *)ctx)->drops++; }

static bf_filter *open_with(const bf_redis_client *client, bf_spec spec)
{
    spec.redis_client = client;
    return bf_open(&spec, &e);
}

/* ---- the same as in memory; how many are: test_redis_as_memory.c ---- */
static void same_as_memory(int step, bool cluster)
{
    enum { KEYS = 1500 };
    static char text[KEYS][16];
    static bf_key keys[KEYS];
    client c = { .fd = rs_connect(redis.port), .step = step };
    bf_redis_client host = {
        .exchange = exchange, .name = "the test", .ctx = &c, .cluster = cluster
    };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = open_with(&host, (bf_spec){ .key = "seen", .n = 2000, .p = 0.01 }),
              *m = bf_open(&(bf_spec){ .n = 2000, .p = 0.01 }, &e);
    CHECK(f && m);
    if (!f || !m) return;
    for (int i = 0; i < KEYS; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "k%d", i % 1100) };
    c.calls = 0;
    CHECK_EQ(bf_add_many(f, keys, KEYS / 2, NULL, &e), bf_add_many(m, keys, KEYS / 2, NULL, &e));
    CHECK_EQ(c.calls, 1);
    CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), bf_test_many(m, keys, KEYS, NULL, &e));
    CHECK(c.calls == 1 + 2 && c.parts == 1); /* a thousand keys a trip */
    CHECK(bf_equal(f, m, &e) == 1 && c.walked);
    const bf_info i = info_of(f);
    CHECK(!strcmp(i.home, "redis") && !i.storage && !strcmp(i.key, "seen"));
    CHECK_EQ(rs_number(&redis, "EXISTS %s", cluster ? "{seen}:meta" : "seen:meta"), 1);
    CLOSE(m, f);
    close(c.fd);
}

TEST(same_bits)
{
    for (int step = 0; step < 8; step += 1 + 2 * step) same_as_memory(step, false);
    same_as_memory(0, true);
}

/* ---- faults ---- */
TEST(every_fault)
{
    client c = { .fd = rs_connect(redis.port), .words = "with args s3same" };
    bf_redis_client host = { .exchange = exchange, .drop = drop, .name = "the test", .ctx = &c };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = open_with(&host, (bf_spec){ .key = "seen", .n = 100, .p = 0.01 });
    CHECK(f && bf_add(f, "x", 1, &e) == BF_ADDED);
    if (!f) return;

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
    close(c.fd);
}

/* ---- the sink and the parts, without a server ---- */
typedef struct {
    const char *bytes;
    int replies, keys[2], commands[2];
    bool again;
} script;
static int play(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    script *s = ctx;
    for (size_t i = 0; i < nparts && i < 2; i++) {
        s->keys[i] = parts[i].key[1];
        s->commands[i] = (int)parts[i].commands;
    }
    s->replies = (int)bf_reply_feed(sink, s->bytes, strlen(s->bytes));
    if (s->replies > 0) put_echo(parts, nparts, sink);
    const char *text;
    if (s->again && bf_reply_refusal(sink, 1, &text) >= 3 && !memcmp(text, "ASK", 3)) {
        const bf_redis_range later[] = { { BF_NO_REPLY, 1 }, { 1, 1 } };
        bf_reply_expect(sink, later, 2);
        CHECK_EQ(bf_reply_feed(sink, "+OK\r\n", 5), 1);
        bf_reply_put_array(sink, 2);
        bf_reply_put_integer(sink, 5);
        bf_reply_put_text(sink, "five", 4);
    }
    return s->replies < 0 ? BF_CLIENT_LOST : BF_CLIENT_ANSWERED;
}

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
    script s = { .bytes = ":-12\r\n-ASK 1 x:2\r\n*3\r\n$3\r\na\r\n\r\n*-1\r\n*0\r\n",
        .again = true };
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
    for (size_t i = 0; i < COUNT(bad); i++) {
        s = (script){ .bytes = bad[i] };
        CHECK_EQ(trip(&l, 1), BF_EIO);
    }
    char *endless = malloc((1 << 20) + 20); /* a line that does not end */
    memset(endless, 'x', (1 << 20) + 19);
    endless[0] = '+';
    endless[(1 << 20) + 19] = 0;
    s = (script){ .bytes = endless };
    CHECK_EQ(trip(&l, 1), BF_EIO);
    free(endless);
    s = (script){ .bytes = "%1\r\n+a\r\n_\r\n" };
    CHECK_EQ(trip(&l, 1), 0);
    bf_conn_next(&l);
    CHECK(l.reply.n == 2);
    s = (script){ .bytes = ">2\r\n+news\r\n:4\r\n:6\r\n" };
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
    put_echo(parts, nparts, sink);
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

/* A client that answers WAIT in another form: nobody knows how many have it. */
static int waits(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    const char *text = ctx;
    bf_reply_put_array(sink, 2);
    bf_reply_put_integer(sink, 0);
    bf_reply_put_integer(sink, 42); /* the mark */
    if (*text == '-')
        bf_reply_put_error(sink, text + 1, strlen(text + 1));
    else if (*text == '$')
        bf_reply_put_text(sink, "1", 1);
    else if (*text == ':')
        bf_reply_put_integer(sink, atoi(text + 1));
    else {
        bf_reply_fault(sink, ECONNRESET, "", 0);
        return BF_CLIENT_LOST;
    }
    put_echo(parts, nparts, sink);
    return BF_CLIENT_ANSWERED;
}

/* An array of numbers: how many, and which. */
static int puts_numbers(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    const int *n = ctx;
    bf_reply_put_array(sink, (size_t)*n);
    for (int i = 1; i <= *n; i++) bf_reply_put_integer(sink, n[i]);
    put_echo(parts, nparts, sink);
    return BF_CLIENT_ANSWERED;
}

/* Adds up to two keys of k = 2 to a filter with the mark 42, or tests them, through this client. */
static int through(bf_redis_client host, int op, size_t nkeys, unsigned wait_replicas)
{
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
    bf_conn_free(&link);
    free(r.room.at);
    return rc;
}

TEST(a_call_knows_its_reply)
{
    static struct {
        int op;
        size_t keys;
        bool right;
        int reply[5];
    } rows[] = { { BF_OP_ADD, 1, false, { 1, 1 } }, { BF_OP_ADD, 1, false, { 2, 1, 41 } },
        { BF_OP_ADD, 1, false, { 3, 1, 42, 42 } }, { BF_OP_ADD, 1, true, { 2, 1, 42 } },
        { BF_OP_ADD, 2, false, { 1, 1 } }, { BF_OP_ADD, 2, false, { 2, 1, 42 } },
        { BF_OP_ADD, 2, false, { 3, 1, 1, 41 } }, { BF_OP_TEST, 1, false, { 2, 1, 42 } },
        { BF_OP_TEST, 1, true, { 3, 1, 1, 42 } }, { BF_OP_TEST, 1, false, { 4, 1, 1, 42, 1 } },
        { BF_OP_TEST, 1, false, { 3, 1, 2, 42 } } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bf_redis_client host = { .exchange = puts_numbers, .ctx = rows[i].reply };
        if (rows[i].right)
            CHECK_EQ(through(host, rows[i].op, rows[i].keys, 0), 0);
        else
            CHECK_REFUSED(through(host, rows[i].op, rows[i].keys, 0), BF_EIO, "unexpected reply");
    }
}

TEST(replicas_that_are_not_asked)
{
    static const struct {
        char *text;
        const char *says;
    } rows[] = { { "-ERR no", "ERR no" }, { "$", "unexpected reply" },
        { ":0", "only 0 of wait_replicas=1" }, { ":1", NULL }, { "", "tell what was added" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bf_redis_client host = { .exchange = waits, .ctx = rows[i].text };
        const int rc = through(host, BF_OP_ADD, 1, 1);
        CHECK_EQ(rc, rows[i].says ? BF_EIO : 0);
        if (rows[i].says && rc < 0)
            CHECK(strstr(e.msg, rows[i].says) || strstr(e.msg, "cannot tell what was added"));
    }
}

/* ---- the number that ends a round trip ---- */
/* What a client puts into the sink: O a reply, E an error, N the number, M that of the round trip
 * before, R an error that refuses the number. */
typedef struct {
    const char *replies;
    char number[DIGITS];
    int calls, drops;
    bool cluster;
} echoing;
static int echoes(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    echoing *t = ctx;
    const bf_redis_part *part = t->cluster ? parts : parts + nparts - 1;
    const char *number = NULL;
    t->calls++;
    for (const char *at = t->replies; *at; at++) {
        number = (const char *)part->bytes + part->len - DIGITS - 2;
        switch (*at) {
        case 'O': bf_reply_put_integer(sink, 1); break;
        case 'E': bf_reply_put_error(sink, "LOADING now", 11); break;
        case 'M': bf_reply_put_text(sink, t->number, DIGITS); break;
        case 'R': bf_reply_put_error(sink, "NOPERM echo", 11); break;
        default: bf_reply_put_text(sink, number, DIGITS);
        }
        if (*at != 'O' && *at != 'E' && part + 1 < parts + nparts) part++;
    }
    memcpy(t->number, number, DIGITS);
    return BF_CLIENT_ANSWERED;
}
static void echo_drop(void *ctx) { ((echoing *)ctx)->drops++; }

TEST(a_reply_ends_with_the_number)
{
    static const struct {
        const char *replies; /* to two commands about {a}, one about {b} */
        bool cluster;
        const char *says;
    } rows[] = { { "OOON", false, NULL }, { "OONON", true, NULL }, { "EEEN", false, NULL },
        { "EEER", false, NULL }, { "OONER", true, "refuses ECHO, which ends a round trip: NOPERM" },
        { "OOOR", false, "refuses ECHO, which ends a round trip: NOPERM echo" },
        { "OOOO", false, "out of step" }, { "OOOM", false, "out of step" },
        { "OOMON", true, "out of step" }, { "OONOM", true, "out of step" },
        { "OON", false, "does not speak the Redis protocol" }, { "ONOO", false, "out of step" },
        { "OOONO", false, "does not speak" }, { "OOOOON", false, "out of step" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        echoing t = { .replies = rows[i].replies, .cluster = rows[i].cluster };
        const bf_redis_client host = {
            .exchange = echoes, .drop = echo_drop, .cluster = rows[i].cluster, .ctx = &t
        };
        bf_conn l = { 0 };
        CHECK_EQ(bf_conn_open(&l, &(bf_spec){ .redis_client = &host, .key = "K" }, &e), 0);
        for (int again = 0; again < 2; again++) {
            t.calls = t.drops = 0;
            CHECK_EQ(trip(&l, 3), rows[i].says ? BF_EIO : 0);
            CHECK_EQ(l.healthy, !rows[i].says);
            if (rows[i].says) CHECK_HAS(e.msg, rows[i].says);
            /* the connection is closed, and a read is sent once more */
            CHECK_EQ(t.calls, rows[i].says ? 2 : 1);
            CHECK_EQ(t.drops, rows[i].says ? 2 : 0);
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
    echoing t = { .replies = "ON" };
    const bf_redis_client host = { .exchange = echoes, .ctx = &t };
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
