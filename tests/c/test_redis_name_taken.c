/* test_redis_name_taken.c - a handle whose filter is gone, while its name belongs to something
 * else: a text, bits of another system, a filter of ours of another kind or size.  Whatever the
 * handle adds is an error, and nothing in the server changes: the oracle is DEBUG DIGEST, the
 * server's own checksum over all keys.  It starts its own server.  About core/redis/generation.c.
 */
#define _GNU_SOURCE
#include "redis_worlds.h"

enum { BYTES = 3 }; /* takers that are no filters of ours */
static const struct {
    const char *name, *command; /* %s: the name of the key */
    bf_spec spec;
} takers[] = { { "a text", "SET %s hello", { 0 } },
    { "zeros for a time",
        "EVAL \"redis.call('SETRANGE',KEYS[1],127,'\\0') redis.call('EXPIRE',KEYS[1],900)\" 1 %s",
        { 0 } },
    { "bits of another system",
        "EVAL \"redis.call('SETRANGE',KEYS[1],0,string.rep('\\255',500))\" 1 %s", { 0 } },
    { "a small filter", NULL, { .m = 1984, .k = 5, .scheme = "classic" } },
    { "a large filter", NULL, { .m = 90000, .k = 5, .scheme = "classic" } },
    { "counters", NULL, { .m = 4100, .k = 4, .counting = true } },
    { "shards", NULL, { .m = 8000, .k = 4, .shards = 2 } },
    { "redisson", NULL, { .n = 70, .p = 0.01, .scheme = "redisson" } },
    { "a filter that grows", NULL, { .n = 40, .p = 1e-3, .grow = 4 } } };
enum { TAKERS = COUNT(takers) };

static bf_filter *take(const world *w, int taker)
{
    char url[100];
    rs_command(&redis, "FLUSHALL");
    if (taker < BYTES) {
        rs_command(&redis, takers[taker].command, w->part);
        return NULL;
    }
    bf_spec s = takers[taker].spec;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d%s", redis.port, w->login ? "/2" : "");
    s.storage = url;
    s.key = w->key;
    bf_filter *f = bf_open(&s, &e);
    CHECK(f != NULL);
    for (int i = 0; f && i < 60; i++) bf_add(f, &i, sizeof i, &e);
    return f;
}

static int64_t add_one(world *w) { return bf_add(w->f, "fresh", 5, &e); }
static int64_t add_many(world *w)
{
    static char text[300][12];
    static bf_key keys[300];
    for (int i = 0; i < 300; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "fresh%d", i) };
    return bf_add_many(w->f, keys, 300, NULL, &e);
}
static int64_t unite(world *w) { return w->twin ? bf_unite(w->f, w->twin, &e) : add_one(w); }
static int64_t (*const calls[])(world *) = { add_one, add_many, unite };

static void digest(char out[48]) { snprintf(out, 48, "%s", rs_command(&redis, "DEBUG DIGEST")); }

TEST(nothing_is_written)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        for (int taker = 0; taker < TAKERS; taker++) {
            const bool redisson = !strcmp(takers[taker].name, "redisson");
            if (w->foreign && (taker < BYTES || redisson)) continue; /* it has no mark to look at */
            if (!world_make(w)) continue;
            bf_filter *owner = take(w, taker);
            char before[48], after[48];
            digest(before);
            for (int i = 0; i < 9; i++) {
                e = (bf_error){ 0 };
                const int64_t rc = calls[i % 3](w);
                digest(after);
                if (rc < 0 && *e.msg && !strcmp(before, after)) continue;
                FAILED("%s, then %s, call %d: %lld, %s%s\n", w->name, takers[taker].name, i,
                    (long long)rc, e.msg, strcmp(before, after) ? ": changed" : "");
            }
            for (int i = 0; owner && i < 60; i++) CHECK_EQ(bf_test(owner, &i, sizeof i, &e), 1);
            bf_close(owner);
        }
        world_forget(w);
    }
}

int main(void)
{
    rs_start(&redis, NULL);
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    return main_with_redis(&redis);
}
