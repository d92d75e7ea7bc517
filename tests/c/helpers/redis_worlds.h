/* redis_worlds.h - every kind of filter in Redis, with the same keys in it, and what can be asked
 * of it with what it should answer.  For tests that let something happen meanwhile: an answer is
 * that one, or an error that names the key. */
#ifndef REDIS_WORLDS_H
#define REDIS_WORLDS_H
#include "redis_filters.h"

enum { WORLD_KEYS = 40, ONES_MOST = 1 << 20 };
typedef struct world {
    const char *name, *key, *part, *part_meta,
        *meta;    /* part: one that holds bits; meta: of the whole */
    bf_spec spec; /* to make it                                       */
    bool foreign, login, client;
    bf_filter *f, *twin; /* open, and the same in memory (NULL where it changes by itself) */
    uint64_t ones;
} world;

static char world_text[WORLD_KEYS][8];
static bf_key world_keys[WORLD_KEYS];
static double world_time = 1e6;
static inline double world_clock(void *unused) { return world_time; }

/* ---- a client of the host's, whose bytes go the way of all ---- */
static int world_fd = -1;
static int world_exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    char buf[1 << 14];
    int64_t have = 0, want = 0;
    if (world_fd < 0 && (world_fd = rs_connect(redis.port)) < 0) {
        bf_reply_fault(sink, ECONNREFUSED, "", 0);
        return BF_CLIENT_UNSENT;
    }
    for (size_t i = 0; i < nparts; want += (int64_t)parts[i++].commands)
        if (send(world_fd, parts[i].bytes, parts[i].len, MSG_NOSIGNAL) != (ssize_t)parts[i].len)
            goto lost;
    while (have < want) {
        ssize_t n = recv(world_fd, buf, sizeof buf, 0);
        if (n <= 0 || (have = bf_reply_feed(sink, buf, (size_t)n / 2)) < 0 ||
            (have = bf_reply_feed(sink, buf + n / 2, (size_t)(n - n / 2))) < 0)
            goto lost;
    }
    return BF_CLIENT_ANSWERED;
lost:
    close(world_fd);
    world_fd = -1;
    if (have == BF_ENOMEM) return BF_CLIENT_ANSWERED; /* the sink knows */
    bf_reply_fault(sink, ECONNRESET, "", 0);
    return BF_CLIENT_LOST;
}
static const bf_redis_client world_host = { .exchange = world_exchange,
    .name = "the test's client" };

static bf_error *told = &e; /* who hears of faults, or NULL */
/* clang-format off */
static world worlds[] = {
    { .name = "classic", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5, .scheme = "classic" } },
    { .name = "block", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .n = 1000, .p = 0.001, .scheme = "block" } },
    { .name = "shards", .key = "w", .part = "w:0", .part_meta = "w:0:meta", .meta = "w:meta",
      .spec = { .m = 30000, .k = 5, .shards = 2 } },
    { .name = "cache", .key = "{w}", .part = "{w}:0", .part_meta = "{w}:0:meta",
      .meta = "{w}:meta", .spec = { .m = 3000, .k = 4, .shards = 2, .cache = true,
      .cache_max_age = 1e6 } },
    { .name = "counting", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 9000, .k = 4, .scheme = "classic", .counting = true } },
    { .name = "counting lines", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 9216, .k = 4, .scheme = "block", .counting = true } },
    { .name = "counting shards", .key = "{w}", .part = "{w}:0", .part_meta = "{w}:0:meta",
      .meta = "{w}:meta", .spec = { .m = 9000, .k = 4, .shards = 2, .counting = true,
      .cache = true, .cache_max_age = 1e6 } },
    { .name = "foreign", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 1000, .k = 14, .scheme = "gozero" }, .foreign = true },
    { .name = "redisson", .key = "w", .part = "w", .part_meta = "{w}:config",
      .meta = "{w}:config", .spec = { .n = 1000, .p = 0.001, .scheme = "redisson" } },
    { .name = "grow", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .n = 12, .p = 1e-4, .grow = 2 } },
    { .name = "window", .key = "w", .part = "w", .part_meta = "w:meta",
      .meta = "w:meta", .spec = { .n = 100, .p = 1e-4, .window = 40, .parts = 4,
      .clock = world_clock } },
    { .name = "login", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5 }, .login = true },
    { .name = "client", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5 }, .client = true },
    { .name = "client with shards", .key = "w", .part = "w:1", .part_meta = "w:1:meta",
      .meta = "w:meta", .spec = { .m = 20000, .k = 5, .shards = 2 }, .client = true },
};
/* clang-format on */
enum { WORLDS = COUNT(worlds) };

/* Where it is; with its parameters, or as what is there. */
static inline bf_spec world_spec(world *w, bool made)
{
    static char url[160];
    bf_spec s = made || w->foreign ? w->spec
                                   : (bf_spec){ .clock = w->spec.clock,
                                         .cache = w->spec.cache,
                                         .cache_max_age = w->spec.cache_max_age,
                                         .counting = w->spec.counting,
                                         .must_exist = true };
    s.must_exist = w->foreign || !made;
    snprintf(url, sizeof url,
        w->login ? "redis://w:pw@127.0.0.1:%d/2?key=%s&timeout=5&retry_after=0"
                 : "redis://127.0.0.1:%d?key=%s&timeout=5&retry_after=0",
        redis.port, w->key);
    if (w->client) {
        s.redis_client = &world_host;
        s.key = w->key;
    } else
        s.storage = url;
    return s;
}

static inline bf_filter *world_open(world *w, bool made)
{
    const bf_spec s = world_spec(w, made);
    return bf_open(&s, told);
}

static inline void world_forget(world *w)
{
    bf_close(w->f);
    bf_close(w->twin);
    w->f = w->twin = NULL;
}

/* Anew, with WORLD_KEYS keys. */
static inline bool world_make(world *w)
{
    bf_state st;
    bf_spec near = w->spec;
    world_forget(w);
    if (world_fd >= 0) close(world_fd);
    world_fd = -1;
    rs_command(&redis, "CLIENT KILL TYPE normal"); /* what a call that failed sent comes no more */
    rs_command(&redis, "FLUSHALL");
    for (int i = 0; i < WORLD_KEYS; i++)
        world_keys[i] = (bf_key){ world_text[i], (size_t)sprintf(world_text[i], "n%d", i) };
    if (w->foreign) rs_command(&redis, "SETBIT %s 3 0", w->key);
    near.cache = false;
    near.cache_max_age = 0;
    w->twin = bf_open(&near, &e);
    w->f = world_open(w, true);
    if (!w->f || !w->twin || bf_add_many(w->f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS ||
        bf_add_many(w->twin, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS ||
        bf_get_state(w->twin, &st, &e) < 0) {
        FAILED("%s: %s\n", w->name, e.msg);
        return false;
    }
    w->ones = st.ones;
    return true;
}

/* ---- what can be asked ---- */
static inline int told_code(void) { return told ? told->code : BF_EIO; }
static int64_t do_open(world *w)
{
    bf_filter *f = world_open(w, false);
    int64_t rc = f ? bf_test_many(f, world_keys, WORLD_KEYS, NULL, told) : told_code();
    bf_close(f);
    return rc;
}
static int64_t do_construct(world *w)
{
    bf_filter *f = world_open(w, true);
    int64_t rc = f ? bf_test_many(f, world_keys, WORLD_KEYS, NULL, told) : told_code();
    bf_close(f);
    return rc;
}
static int64_t do_make(world *w)
{
    rs_command(&redis, "FLUSHALL");
    if (w->foreign) return BF_ENOTSUP;
    bf_filter *f = world_open(w, true);
    int64_t rc = f ? bf_add_many(f, world_keys, WORLD_KEYS, NULL, told) : told_code();
    bf_close(f);
    return rc;
}
static int64_t do_test(world *w) { return bf_test(w->f, "n0", 2, told); }
static int64_t do_test_absent(world *w) { return bf_test(w->f, "absent", 6, told); }
static int64_t do_test_many(world *w)
{
    return bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, told);
}
static int64_t do_add(world *w) { return bf_add(w->f, "n0", 2, told); }
static int64_t do_add_many(world *w)
{
    return bf_add_many(w->f, world_keys, WORLD_KEYS, NULL, told);
}
static int64_t do_add_new(world *w) { return bf_add(w->f, "new", 3, told); }
static int64_t do_count(world *w)
{
    return w->spec.counting ? bf_count_of(w->f, "n0", 2, told) : BF_ENOTSUP;
}
static int64_t do_remove(world *w)
{
    return w->spec.counting ? bf_remove(w->f, "n0", 2, told) : BF_ENOTSUP;
}
static int64_t do_remove_many(world *w)
{
    return w->spec.counting ? bf_remove_many(w->f, world_keys, WORLD_KEYS, NULL, told) : BF_ENOTSUP;
}
static int64_t do_state(world *w)
{
    bf_state st;
    int64_t rc = bf_get_state(w->f, &st, told);
    return rc < 0 ? rc : (int64_t)st.ones;
}
static int64_t do_saturated(world *w)
{
    uint64_t wait;
    return bf_saturated(w->f, &wait, told);
}
static int64_t do_copy(world *w)
{
    bf_filter *copy = bf_copy(w->f, told);
    int64_t rc = copy ? bf_test_many(copy, world_keys, WORLD_KEYS, NULL, told) : told_code();
    if (copy && bf_equal(copy, w->twin, told) != 1) rc = 1000;
    bf_close(copy);
    return rc;
}
static int64_t do_read(world *w)
{
    uint8_t bits[10], want[10];
    int64_t rc = bf_read_bits(w->f, 20, bits, sizeof bits, told);
    if (rc < 0) return rc;
    return bf_read_bits(w->twin, 20, want, sizeof want, NULL) < 0 || memcmp(bits, want, sizeof bits)
               ? 1000
               : 0;
}
static int64_t do_unite(world *w) { return bf_unite(w->f, w->twin, told); }
static int64_t do_intersect(world *w) { return bf_intersect(w->f, w->twin, told); }
static int64_t do_rebuild(world *w) { return bf_rebuild_end(w->f, w->twin, told); }
static int64_t do_expire(world *w) { return bf_expire(w->f, 1000, told); }
static int64_t do_fits(world *w)
{
    if (w->client) return BF_ENOTSUP;
    const bf_spec s = world_spec(w, false);
    return bf_is_current(w->f, &s, told);
}
static int64_t do_clear(world *w) { return bf_clear(w->f, told); }
static int64_t do_delete(world *w) { return bf_delete(w->f, told); }

enum { ALL = WORLD_KEYS, NONE = 0, ONES = -1 };
/* stays: what it leaves in the filter is what was in it. */
static const struct {
    const char *name;
    int64_t (*run)(world *);
    int64_t expected;
    bool stays;
} asked[] = {
    { "open", do_open, ALL, true },
    { "construct", do_construct, ALL, true },
    { "make", do_make, ALL, false },
    { "test", do_test, 1, true },
    { "test absent", do_test_absent, 0, true },
    { "test many", do_test_many, ALL, true },
    { "add", do_add, 0, true },
    { "add many", do_add_many, NONE, true },
    { "add new", do_add_new, 1, false },
    { "count", do_count, 1, true },
    { "remove", do_remove, 1, false },
    { "remove many", do_remove_many, ALL, false },
    { "state", do_state, ONES, true },
    { "saturated", do_saturated, 0, true },
    { "copy", do_copy, ALL, true },
    { "read", do_read, 0, true },
    { "unite", do_unite, 0, true },
    { "intersect", do_intersect, 0, true },
    { "rebuild", do_rebuild, 0, true },
    { "expire", do_expire, 0, true },
    { "fits", do_fits, 1, true },
    { "clear", do_clear, 0, false },
    { "delete", do_delete, 0, false },
};
enum { ASKED = COUNT(asked) };
#endif
