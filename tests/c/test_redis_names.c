/* test_redis_names.c - two filters whose names in Redis can collide: every kind of filter under
 * every name that can be derived from another's, in both orders, on one server, as in a cluster,
 * and one of them so and the other so; and shards that are left over from another filter.  The
 * oracle is DEBUG DIGEST, the server's own checksum over all keys: a filter that is refused has
 * changed nothing, and one that was made, used and deleted has left nothing and taken nothing.  Its
 * own server.  About core/redis/meta.c. */
#define _GNU_SOURCE
#include "redis_worlds.h"

enum { A_KEYS = 90, B_KEYS = 20, DIGEST = 48, PLAIN = 0, MIXED, CLUSTER };
static const char *const names[] = { "s", "{s}", "s:0", "{s:0}", "s:meta", "s:0:meta", "{s}:meta",
    "{s}::meta", "{s}:0" };
enum { NAMES = COUNT(names) };

static const world kinds[] = { { "fixed", .spec = { .m = 4000, .k = 5, .scheme = "classic" } },
    { "counting", .spec = { .m = 4000, .k = 5, .counting = true } },
    { "shards", .spec = { .m = 6000, .k = 5, .shards = 2 } },
    { "grow", .spec = { .n = 20, .p = 1e-4, .grow = 2 } },
    { "window", .spec = { .n = 100, .p = 1e-4, .window = 40, .parts = 4, .clock = world_clock } } };
enum { KINDS = COUNT(kinds), SHARDS = 2, GROW };

static bool cluster; /* how the next one is opened */
static int how;

static world *named(const char *name, int kind)
{
    static world w;
    w = kinds[kind];
    w.key = name;
    w.client = w.cluster = cluster;
    e = (bf_error){ 0 };
    return &w;
}
static bf_filter *open_there(const char *name, int kind)
{
    return world_open(named(name, kind), THERE);
}
/* Bits of another system, as which what is there could be opened. */
static bf_filter *open_foreign(const char *name, bf_spec as)
{
    const bf_spec s = world_spec(named(name, 0), THERE);
    as.must_exist = true;
    as.storage = s.storage;
    as.redis_client = s.redis_client;
    as.key = s.key;
    return bf_open(&as, &e);
}

static void digest(char out[DIGEST])
{
    snprintf(out, DIGEST, "%s", rs_command(&redis, "DEBUG DIGEST"));
}

static char now_at[160];
static bool expect(bool fine, const char *what)
{
    if (fine) return true;
    FAILED("%s%s: %s (%s)\n", now_at,
        how == MIXED     ? ", the second as in a cluster"
        : how == CLUSTER ? ", as in a cluster"
                         : "",
        what, e.msg);
    return false;
}
static void expect_digest(const char *before, const char *what)
{
    char after[DIGEST];
    digest(after);
    expect(!strcmp(before, after), what);
}

/* The keys are there, as the open handle and a fresh one see it, and one with a cache. */
static void expect_keys(
    bf_filter *f, const char *name, int kind, unsigned from, unsigned n, const char *what)
{
    const bool was = cluster;
    cluster = how == CLUSTER || (how == MIXED && from); /* the second one's keys: from 1000 on */
    expect(missing(f, from, from + n) == 0, what);
    for (int cache = 0; cache < 2; cache++) {
        world *w = named(name, kind);
        w->spec.cache = cache;
        bf_filter *fresh = world_open(w, THERE);
        expect(fresh && missing(fresh, from, from + n) + missing(fresh, from, from + n) == 0, what);
        bf_close(fresh);
    }
    cluster = was;
}

/* NULL: it could not be made, or the part that a key goes to could not.  Then nothing is left. */
static bf_filter *make(const char *name, int kind, unsigned from, unsigned n)
{
    bf_filter *f = world_open(named(name, kind), MADE);
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
    const bf_spec adopt = { .scheme = "classic", .m = 1 << 16, .k = 3, .adopt = true };
    expect(!open_foreign(name, adopt), "adopted, though nobody made it");
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
    bf_filter *twin = bf_open(&kinds[kind].spec, &e);
    numbers(twin, 1000, 1000 + B_KEYS);
    expect(kind != GROW ? bf_unite(b, twin, &e) == 0 : numbers(b, 1000, 1000 + B_KEYS) != NULL,
        "unite");
    expect_keys(b, name, kind, 1000, B_KEYS, "united: a key of the second is absent");
    bf_filter *copy = bf_copy(b, &e);
    expect(copy && missing(copy, 1000, 1000 + B_KEYS) == 0, "copied: a key is absent");
    if (kind < GROW) {
        expect(bf_rebuild_end(b, twin, &e) == 0 &&
                   (kinds[kind].spec.counting || bf_intersect(b, twin, &e) == 0),
            "rebuild");
        expect_keys(b, name, kind, 1000, B_KEYS, "rebuilt: a key of the second is absent");
    }
    CLOSE(copy, twin);
    expect_keys(a, a_name, a_kind, 0, A_KEYS, "united, copied, rebuilt: a key is absent");
    expect(bf_expire(b, 1000, &e) == 0, "expire");
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

TEST(beside_each_other)
{
    const int step = SHORT(7, 31); /* every pair: step 1 */
    for (int i = 0; i < NAMES * KINDS; i++)
        for (int j = i % step; j < NAMES * KINDS; j += step) {
            const char *a_name = names[i / KINDS], *b_name = names[j / KINDS];
            const bool one_string = i % KINDS != SHARDS && j % KINDS != SHARDS;
            if (i / KINDS == j / KINDS && (how != MIXED || strchr(a_name, '{') || one_string))
                continue; /* it is the same filter, or its string without K:meta */
            snprintf(now_at, sizeof now_at, "%s %s, then %s %s", kinds[i % KINDS].name, a_name,
                kinds[j % KINDS].name, b_name);
            rs_command(&redis, "FLUSHALL");
            cluster = how == CLUSTER;
            bf_filter *a = make(a_name, i % KINDS, 0, A_KEYS);
            if (!expect(a != NULL, "not made")) continue;
            cluster = how != PLAIN;
            use_second(a, a_name, i % KINDS, b_name, j % KINDS);
            use_first(a, b_name, j % KINDS);
            bf_close(a);
        }
}
TEST(in_a_cluster)
{
    how = CLUSTER;
    beside_each_other();
    how = PLAIN;
    cluster = false;
}
/* A key without a hash tag has K:meta here and {K}:meta there, and K:0 in both. */
TEST(one_in_a_cluster)
{
    how = MIXED;
    beside_each_other();
    how = PLAIN;
    cluster = false;
}

/* A part of the filter that had the name is never taken for one of the filter that has it. */
TEST(the_id_counts)
{
    static const struct {
        int kind;
        const char *part;
    } rows[] = { { 2, "s:0" }, { 2, "s:1" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *part = rows[i].part;
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = make("s", rows[i].kind, 0, A_KEYS);
        rs_command(&redis, "COPY %s saved", part);
        rs_command(&redis, "COPY %s:meta saved:meta", part);
        CHECK_EQ(bf_delete(f, &e), 0);
        bf_close(f);
        bf_close(make("s", rows[i].kind, 1000, A_KEYS));
        rs_command(&redis, "COPY saved %s REPLACE", part);
        rs_command(&redis, "COPY saved:meta %s:meta REPLACE", part);
        f = open_there("s", rows[i].kind);
        CHECK(!f && e.code == BF_EIO);
        CHECK_HAS(e.msg, part);
        CHECK_HAS(e.msg, "left over from another filter of that name");
        bf_close(f);
        CHECK_EQ(rs_number(&redis, "EXISTS %s %s:meta", part, part), 2);
    }
}

/* ---- what the refusal says ---- */
TEST(names_the_owner)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(make("t", 2, 0, A_KEYS));
    CHECK(!open_there("t:1", 0));
    CHECK_HAS(e.msg, "belongs to the filter t: open that one");
    CHECK(!world_open(named("t:0", 0), MADE));
    CHECK_HAS(e.msg, "belongs to the filter t: open that one");
    CHECK(!open_foreign("t:1", (bf_spec){ .scheme = "redisson", .m = 1000, .k = 3 }));
    CHECK_HAS(e.msg, "belongs to the filter t: open that one");
}

int main(void) { return main_with_redis(&redis); }
