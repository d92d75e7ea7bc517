/* test_redis_owners.c - two filters whose names in Redis can collide: every kind of filter under
 * every name that can be derived from another's, in both orders, on one server and as in a cluster.
 * The oracle is DEBUG DIGEST, the server's own checksum over all keys: a filter that is refused has
 * changed nothing, and one that was made, used and deleted has left nothing and taken nothing.
 * It starts its own server. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include <poll.h>

enum { A_KEYS = 90, B_KEYS = 20, DIGEST = 48 };
static const char *const names[] = { "s", "{s}", "s:0", "{s:0}", "s:meta", "{s}:p0", "{s}:p1",
    "{s}:w100000", "{s}:p0:meta", "{s}:meta" };
enum { NAMES = sizeof names / sizeof *names };

static double at_a_moment(void *unused)
{
    (void)unused;
    return 1e6;
}
static const struct {
    const char *name;
    bf_spec spec;
} kinds[] = { { "fixed", { .m = 4000, .k = 5, .scheme = "classic" } },
    { "counting", { .m = 4000, .k = 5, .counting = true } },
    { "shards", { .m = 6000, .k = 5, .shards = 2 } }, { "grow", { .n = 20, .p = 1e-4, .grow = 2 } },
    { "window", { .n = 100, .p = 1e-4, .window = 40, .parts = 4, .clock = at_a_moment } } };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- a client that says it is a cluster's ---- */
static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    static int fd = -1;
    char buf[1 << 14];
    int64_t have = 0, want = 0;
    (void)ctx;
    (void)report;
    if (fd < 0) fd = rs_connect(redis.port);
    for (size_t i = 0; i < nparts; want += (int64_t)parts[i++].commands)
        if (send(fd, parts[i].bytes, parts[i].len, MSG_NOSIGNAL) != (ssize_t)parts[i].len)
            return BF_CLIENT_LOST;
    while (have < want) {
        const ssize_t n = recv(fd, buf, sizeof buf, 0);
        if (n <= 0 || (have = bf_reply_feed(sink, buf, (size_t)n)) < 0) return BF_CLIENT_LOST;
    }
    return BF_CLIENT_ANSWERED;
}
static const bf_redis_client cluster_client = {
    .exchange = exchange, .name = "the test's cluster", .cluster = true
};
static bool cluster;

static bf_filter *open_as(bf_spec spec, const char *name)
{
    char url[60];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis.port);
    if (cluster)
        spec.redis_client = &cluster_client;
    else
        spec.storage = url;
    spec.key = name;
    e = (bf_error){ 0 };
    return bf_open(&spec, &e);
}

static bf_filter *open_there(const char *name, int kind)
{
    const bf_spec spec = {
        .must_exist = true, .counting = kinds[kind].spec.counting, .clock = kinds[kind].spec.clock
    };
    return open_as(spec, name);
}

static void digest(char out[DIGEST])
{
    snprintf(out, DIGEST, "%s", rs_command(&redis, "DEBUG DIGEST"));
}

static char now_at[160];
static bool expect(bool fine, const char *what)
{
    if (fine) return true;
    failed_here++;
    fprintf(stderr, "%s%s: %s (%s)\n", now_at, cluster ? ", cluster" : "", what, e.msg);
    return false;
}
static void expect_digest(const char *before, const char *what)
{
    char after[DIGEST];
    digest(after);
    expect(!strcmp(before, after), what);
}

/* The keys are there, as the open handle and a fresh one see it. */
static void expect_keys(
    bf_filter *f, const char *name, int kind, unsigned from, unsigned n, const char *what)
{
    expect(missing(f, from, from + n) == 0, what);
    bf_filter *fresh = open_there(name, kind);
    expect(fresh && missing(fresh, from, from + n) == 0, what);
    bf_close(fresh);
}

/* NULL: it could not be made, or the part that a key goes to could not.  Then nothing is left. */
static bf_filter *make(const char *name, int kind, unsigned from, unsigned n)
{
    bf_filter *f = open_as(kinds[kind].spec, name);
    numbers(f, from, from + n);
    if (!f || e.code == 0) return f;
    const bf_error why = e;
    expect(bf_delete(f, &e) == 0, "delete what takes no key");
    bf_close(f);
    e = why;
    return NULL;
}

/* ---- a second filter beside the first ---- */
static void use_second(bf_filter *a, const char *a_name, int a_kind, const char *name, int kind)
{
    char before[DIGEST];
    digest(before);
    expect(!open_there(name, kind), "opened, though nobody made it");
    expect_digest(before, "open changed something");
    expect(!open_as(
               (bf_spec){
                   .must_exist = true, .scheme = "classic", .m = 1 << 16, .k = 3, .adopt = true },
               name),
        "adopted, though nobody made it");
    expect_digest(before, "adopt changed something");
    bf_filter *b = make(name, kind, 1000, B_KEYS);
    if (!b) {
        expect(e.code < 0 && *e.msg, "no reason");
        expect_digest(before, "what was refused changed something");
        return;
    }
    expect_keys(b, name, kind, 1000, B_KEYS, "a key of the second is absent");
    expect_keys(a, a_name, a_kind, 0, A_KEYS, "made beside it: a key is absent");
    expect(bf_clear(b, &e) == 0, "clear");
    numbers(b, 1000, 1000 + B_KEYS);
    if (kind != KINDS - 1) expect(bf_expire(b, 1000, &e) == 0, "expire");
    expect_keys(a, a_name, a_kind, 0, A_KEYS, "after clear and expire: a key is absent");
    expect(bf_delete(b, &e) == 0, "delete");
    expect_digest(before, "the second one left or took something");
    bf_close(b);
}

/* What is done with the first harms the second no more than the other way round. */
static void use_first(bf_filter *a, const char *name, int kind)
{
    bf_filter *b = make(name, kind, 1000, B_KEYS);
    if (!b) return;
    bf_clear(a, &e);
    numbers(a, 0, A_KEYS);
    expect_keys(
        b, name, kind, 1000, B_KEYS, "the first was cleared: a key of the second is absent");
    bf_delete(a, &e);
    expect_keys(
        b, name, kind, 1000, B_KEYS, "the first was deleted: a key of the second is absent");
    bf_close(b);
}

static void beside_each_other(void)
{
    const int step = SHORT(7, 47); /* every pair: step 1 */
    for (int i = 0; i < NAMES * KINDS; i++)
        for (int j = i % step; j < NAMES * KINDS; j += step) {
            const char *a_name = names[i / KINDS], *b_name = names[j / KINDS];
            if (i / KINDS == j / KINDS) continue;
            snprintf(now_at, sizeof now_at, "%s %s, then %s %s", kinds[i % KINDS].name, a_name,
                kinds[j % KINDS].name, b_name);
            rs_command(&redis, "FLUSHALL");
            bf_filter *a = make(a_name, i % KINDS, 0, A_KEYS);
            if (!expect(a != NULL, "not made")) continue;
            use_second(a, a_name, i % KINDS, b_name, j % KINDS);
            use_first(a, b_name, j % KINDS);
            bf_close(a);
        }
}
static void in_a_cluster(void)
{
    cluster = true;
    beside_each_other();
    cluster = false;
}

/* ---- what the refusal says ---- */
static void names_the_owner(void)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(make("g", 3, 0, A_KEYS));
    CHECK(!open_there("{g}:p0", 0));
    CHECK_HAS(e.msg, "belongs to the filter g: open that one");
    CHECK(!open_as(kinds[0].spec, "{g}:p1"));
    CHECK_HAS(e.msg, "belongs to the filter g: open that one");
    CHECK(!open_as(
        (bf_spec){ .must_exist = true, .scheme = "redisson", .m = 1000, .k = 3 }, "{g}:p0"));
    CHECK_HAS(e.msg, "belongs to the filter g: open that one");
    bf_close(make("t", 2, 0, A_KEYS));
    CHECK(!open_there("t:1", 0));
    CHECK_HAS(e.msg, "belongs to the filter t: open that one");
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    rs_start(&redis, NULL);
    RUN(names_the_owner);
    RUN(beside_each_other);
    RUN(in_a_cluster);
    rs_end(&redis);
    return FINISH();
}
