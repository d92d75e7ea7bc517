/* redis_worlds.h - every kind of filter in Redis, with the same keys in it, and what can be asked
 * of it with what it should answer.  For tests that let something happen meanwhile: an answer is
 * that one, or an error that names the key. */
#ifndef REDIS_WORLDS_H
#define REDIS_WORLDS_H
#include "redis_host_client.h"

enum { WORLD_KEYS = 40, ONES_MOST = 1 << 20 };
typedef struct world {
    const char *name, *key, *part, *part_meta,
        *meta;    /* part: one that holds bits; meta: of the whole */
    bf_spec spec; /* to make it                                       */
    bool foreign, login, client, cluster;
    bool alike;          /* as another one, reached in another way */
    bf_filter *f, *twin; /* open, and the same in memory (NULL where it changes by itself) */
    uint64_t ones;
} world;

static char world_text[WORLD_KEYS][8];
static bf_key world_keys[WORLD_KEYS];
static double world_time = 1e6;
static inline double world_clock(void *unused) { return world_time; }

/* clang-format off */
static world worlds[] = {
    { .name = "classic", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5, .scheme = "classic" } },
    { .name = "block", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .n = 1000, .p = 0.001, .scheme = "block" } },
    { .name = "shards", .key = "w", .part = "w:0", .part_meta = "w:0:meta", .meta = "w:meta",
      .spec = { .m = 30000, .k = 5, .shards = 2 } },
    { .name = "cache", .key = "{w}", .part = "{w}:0", .part_meta = "{w}:0:meta",
      .meta = "{w}::meta", .spec = { .m = 3000, .k = 4, .shards = 2, .cache = true,
      .cache_max_age = 1e6 } },
    { .name = "counting", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 9000, .k = 4, .scheme = "classic", .counting = true } },
    { .name = "counting shards", .key = "{w}", .part = "{w}:0", .part_meta = "{w}:0:meta",
      .meta = "{w}::meta", .spec = { .m = 9000, .k = 4, .shards = 2, .counting = true,
      .cache = true, .cache_max_age = 1e6 } },
    { .name = "foreign", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 1000, .k = 14, .scheme = "gozero" }, .foreign = true },
    { .name = "redisson", .key = "w", .part = "w", .part_meta = "{w}:config",
      .meta = "{w}:config", .spec = { .n = 1000, .p = 0.001, .scheme = "redisson" } },
    { .name = "grow", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .n = 12, .p = 1e-4, .grow = 2 } },
    { .name = "counting grow", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .n = 12, .p = 1e-4, .grow = 2, .counting = true } },
    { .name = "window", .key = "w", .part = "w", .part_meta = "w:meta",
      .meta = "w:meta", .spec = { .n = 100, .p = 1e-4, .window = 40, .parts = 4,
      .clock = world_clock } },
    { .name = "window by Redis's clock", .key = "w", .part = "w", .part_meta = "w:meta",
      .meta = "w:meta", .spec = { .n = 100, .p = 1e-4, .window = 4e9, .parts = 4 },
      .alike = true },
    { .name = "login", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5 }, .login = true, .alike = true },
    { .name = "client", .key = "w", .part = "w", .part_meta = "w:meta", .meta = "w:meta",
      .spec = { .m = 20000, .k = 5 }, .client = true, .alike = true },
    { .name = "shards in a cluster", .key = "w", .part = "w:1", .part_meta = "{w:1}:meta",
      .meta = "{w}:meta", .spec = { .m = 20000, .k = 5, .shards = 2 }, .client = true,
      .cluster = true },
};
/* clang-format on */
enum { WORLDS = COUNT(worlds) };

/* Redisson's hash alone says that its filter is there, and no hash says so of one of another
 * system; bits without a hash are those of another system. */
static inline bool is_unmarked(const world *w)
{
    return w->foreign || !strcmp(w->name, "redisson");
}

static bf_error *heard = &e; /* who is told of errors, or NULL */
static inline int code_heard(void) { return heard ? heard->code : BF_EIO; }

/* Opens what is there, constructs, opens what is there with its parameters, or to read it. */
typedef enum { THERE, MADE, WITH_PARAMETERS, TO_READ } opening;
/* Where it is, with what it takes to open it so. */
static inline bf_spec world_spec(world *w, opening how)
{
    static char url[160];
    const bool knows = how == MADE || how == WITH_PARAMETERS || w->foreign;
    bf_spec s = knows ? w->spec
                      : (bf_spec){ .clock = w->spec.clock,
                            .cache = w->spec.cache,
                            .cache_max_age = w->spec.cache_max_age,
                            .counting = w->spec.counting };
    s.must_exist = w->foreign || how != MADE;
    s.read_only = how == TO_READ;
    if (how == WITH_PARAMETERS && s.m && !s.scheme) s.scheme = "classic";
    snprintf(url, sizeof url,
        w->login ? "redis://w:pw@127.0.0.1:%d/2?key=%s&timeout=%d&retry_after=0"
                 : "redis://127.0.0.1:%d?key=%s&timeout=%d&retry_after=0",
        redis.port, w->key, PATIENCE);
    if (w->client) {
        s.redis_client = w->cluster ? &a_cluster : &one_server;
        s.key = w->key;
    } else
        s.storage = url;
    return s;
}

static inline bf_filter *world_open(world *w, opening how)
{
    const bf_spec s = world_spec(w, how);
    return bf_open(&s, heard);
}

static inline void world_forget(world *w)
{
    bf_close(w->f);
    bf_close(w->twin);
    w->f = w->twin = NULL;
}

static inline void make_world_keys(void)
{
    for (int i = 0; i < WORLD_KEYS; i++)
        world_keys[i] = (bf_key){ world_text[i], (size_t)sprintf(world_text[i], "n%d", i) };
}

/* Anew, with WORLD_KEYS keys. */
static inline bool world_make(world *w)
{
    bf_state st;
    bf_spec near = w->spec;
    if (w->spec.window > 0) world_forget(w); /* time has passed */
    bf_close(w->f);
    host_disconnect(&host_socket);
    rs_command(&redis, "CLIENT KILL TYPE normal"); /* what a call that failed sent comes no more */
    rs_command(&redis, "FLUSHALL");
    make_world_keys();
    if (w->foreign) rs_command(&redis, "SETBIT %s 3 0", w->key);
    near.cache = false;
    near.cache_max_age = 0;
    if (!w->twin && (w->twin = bf_open(&near, &e)))
        bf_add_many(w->twin, world_keys, WORLD_KEYS, NULL, &e);
    w->f = world_open(w, MADE);
    if (!w->f || !w->twin || bf_add_many(w->f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS ||
        bf_get_state(w->twin, &st, &e) < 0) {
        FAILED("%s: %s\n", w->name, e.msg);
        return false;
    }
    w->ones = st.ones;
    return true;
}

/* ---- every call ---- */
static bool was_opened;           /* the newest handle of a call's own */
static void (*when_opened)(void); /* or NULL */
static int64_t keys_in(bf_filter *f)
{
    was_opened = f != NULL;
    if (when_opened) when_opened();
    int64_t rc = f ? bf_test_many(f, world_keys, WORLD_KEYS, NULL, heard) : code_heard();
    bf_close(f);
    return rc;
}
static int64_t do_open(world *w) { return keys_in(world_open(w, THERE)); }
static int64_t do_open_with(world *w) { return keys_in(world_open(w, WITH_PARAMETERS)); }
static int64_t do_open_read(world *w) { return keys_in(world_open(w, TO_READ)); }
static int64_t do_construct(world *w) { return keys_in(world_open(w, MADE)); }
static int64_t upload(world *w)
{
    const bf_spec s = world_spec(w, THERE);
    bf_spec to = { .storage = s.storage, .key = s.key, .clock = s.clock };
    to.redis_client = s.redis_client;
    return keys_in(bf_upload_new(w->twin, &to, heard));
}
static int64_t do_upload(world *w)
{
    rs_command(&redis, "FLUSHALL");
    return is_unmarked(w) ? BF_ENOTSUP : upload(w);
}
static int64_t do_make(world *w)
{
    rs_command(&redis, "FLUSHALL");
    if (w->foreign) return BF_ENOTSUP;
    bf_filter *f = world_open(w, MADE);
    int64_t rc = f ? bf_add_many(f, world_keys, WORLD_KEYS, NULL, heard) : code_heard();
    was_opened = f != NULL;
    bf_close(f);
    return rc;
}
static int64_t do_test(world *w) { return bf_test(w->f, "n0", 2, heard); }
static int64_t do_test_absent(world *w) { return bf_test(w->f, "absent", 6, heard); }
static int64_t do_test_many(world *w)
{
    return bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, heard);
}
static int64_t do_add(world *w) { return bf_add(w->f, "n0", 2, heard); }
static int64_t do_add_many(world *w)
{
    return bf_add_many(w->f, world_keys, WORLD_KEYS, NULL, heard);
}
static int64_t do_add_new(world *w) { return bf_add(w->f, "new", 3, heard); }
static int64_t do_count(world *w)
{
    return w->spec.counting ? bf_count_of(w->f, "n0", 2, heard) : BF_ENOTSUP;
}
static int64_t do_remove(world *w)
{
    return w->spec.counting ? bf_remove(w->f, "n0", 2, heard) : BF_ENOTSUP;
}
static int64_t do_remove_many(world *w)
{
    return w->spec.counting ? bf_remove_many(w->f, world_keys, WORLD_KEYS, NULL, heard)
                            : BF_ENOTSUP;
}
static int64_t do_state(world *w)
{
    bf_state st;
    int64_t rc = bf_get_state(w->f, &st, heard);
    return rc < 0 ? rc : (int64_t)st.ones;
}
static int64_t do_saturated(world *w)
{
    uint64_t wait;
    return bf_saturated(w->f, &wait, heard);
}
static int64_t do_copy(world *w)
{
    bf_filter *copy = bf_copy(w->f, heard);
    int64_t rc = copy ? bf_test_many(copy, world_keys, WORLD_KEYS, NULL, heard) : code_heard();
    if (copy && bf_equal(copy, w->twin, heard) != 1) rc = 1000;
    bf_close(copy);
    return rc;
}
static int64_t do_read(world *w)
{
    uint8_t bits[10], want[10];
    int64_t rc = bf_read_bits(w->f, 20, bits, sizeof bits, heard);
    if (rc < 0) return rc;
    return bf_read_bits(w->twin, 20, want, sizeof want, NULL) < 0 || memcmp(bits, want, sizeof bits)
               ? 1000
               : 0;
}
static int64_t do_unite(world *w) { return bf_unite(w->f, w->twin, heard); }
static int64_t do_intersect(world *w) { return bf_intersect(w->f, w->twin, heard); }
static int64_t do_rebuild(world *w) { return bf_rebuild_end(w->f, w->twin, heard); }
static int64_t do_expire(world *w) { return bf_expire(w->f, 1000, heard); }
static int64_t do_fits(world *w)
{
    if (w->client) return BF_ENOTSUP;
    const bf_spec s = world_spec(w, THERE);
    return bf_is_current(w->f, &s, heard);
}
static int64_t do_clear(world *w) { return bf_clear(w->f, heard); }
static int64_t do_delete(world *w) { return bf_delete(w->f, heard); }

enum { ALL = WORLD_KEYS, NONE = 0, ONES = -1 };
/* STAYS: leaves in the filter what is in it.  SEES: "absent" would be wrong.  OWN: opens a handle
 * of its own; MAKES: and makes the filter. */
enum { STAYS = 1, READS = 2, SEES = 4, OWN = 8, MAKES = 16, LOOKS = STAYS | READS };
static const struct {
    const char *name;
    int64_t (*run)(world *);
    int64_t expected;
    unsigned is;
} calls_of[] = {
    { "open", do_open, ALL, LOOKS | OWN | SEES },
    { "open with parameters", do_open_with, ALL, LOOKS | OWN | SEES },
    { "open to read", do_open_read, ALL, LOOKS | OWN | SEES },
    { "construct", do_construct, ALL, LOOKS | OWN | MAKES },
    { "make", do_make, ALL, OWN | MAKES },
    { "upload", do_upload, ALL, OWN | MAKES | SEES },
    { "test", do_test, 1, LOOKS | SEES },
    { "test absent", do_test_absent, 0, LOOKS },
    { "test many", do_test_many, ALL, LOOKS | SEES },
    { "add", do_add, 0, STAYS | SEES },
    { "add many", do_add_many, NONE, STAYS | SEES },
    { "add new", do_add_new, 1, 0 },
    { "count", do_count, 1, LOOKS | SEES },
    { "remove", do_remove, 1, 0 },
    { "remove many", do_remove_many, ALL, 0 },
    { "state", do_state, ONES, LOOKS },
    { "saturated", do_saturated, 0, LOOKS },
    { "copy", do_copy, ALL, LOOKS | SEES },
    { "read", do_read, 0, LOOKS },
    { "unite", do_unite, 0, STAYS },
    { "intersect", do_intersect, 0, STAYS },
    { "rebuild", do_rebuild, 0, STAYS },
    { "expire", do_expire, 0, STAYS },
    { "fits", do_fits, 1, LOOKS },
    { "clear", do_clear, 0, 0 },
    { "delete", do_delete, 0, 0 },
};
enum { CALLS_OF = COUNT(calls_of) };

static inline int64_t expected(const world *w, size_t call)
{
    return calls_of[call].expected == ONES ? (int64_t)w->ones : calls_of[call].expected;
}
/* Its filter has no such call. */
static inline bool has_none(int64_t rc) { return rc == BF_ENOTSUP || rc == BF_EINVAL; }

/* Each world, anew for each call; `skips` may be NULL. */
static inline void each_call(bool (*skips)(const world *), void (*run)(world *, size_t call))
{
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        const int before = failed_here;
        for (size_t call = 0; !(skips && skips(w)) && call < CALLS_OF && failed_here < before + 10;
            call++)
            if (world_make(w)) run(w, call);
        world_forget(w);
    }
}
#endif
