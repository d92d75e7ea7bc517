/* test_redis_lost_key.c - one of the keys of a filter in Redis vanishes alone: each string and
 * each companion hash of every kind of filter, then a handle of before tests and adds, others open
 * and construct, in every order.  The oracle is a list of keys: a key whose add was acknowledged
 * is answered "absent" by nobody, unless the filter was created again after the add, and not even
 * then by a handle that has not been told.  Errors are allowed.  Its own server.  About
 * core/redis/generation.c, core/redis/meta.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_round_trips.h"
#include "redis_worlds.h"

static world by_redis = { .name = "window by Redis's clock",
    .key = "w",
    .spec = { .n = 100, .p = 1e-4, .window = 40000, .parts = 4 } };
static world tagged = {
    .name = "grow in a slot of its own", .key = "{w}", .spec = { .n = 12, .p = 1e-4, .grow = 2 }
};

/* ---- the oracle ---- */
enum { MOST = WORLD_KEYS + 64 };
static struct {
    char text[16];
    size_t len;
    bool must, own; /* everybody must find it; the old handle knows that it added it */
} keys[MOST];
static unsigned nkeys;
static const char *steps_done;

static void wrong(const world *w, const char *gone, const char *what)
{
    FAILED("%s without %s, %s: %s; %s\n", w->name, gone, steps_done, what, e.msg);
}

static void acknowledged(const char *text, size_t len, bool own)
{
    memcpy(keys[nkeys].text, text, len);
    keys[nkeys].len = len;
    keys[nkeys].must = true;
    keys[nkeys++].own = own;
}

/* An error is told: from then on the handle knows that keys of before may be gone. */
static void told(bool old)
{
    for (unsigned i = 0; old && i < nkeys; i++) keys[i].own = false;
}

static void created_again(void)
{
    for (unsigned i = 0; i < nkeys; i++) keys[i].must = false;
}

/* ---- steps ---- */
typedef struct {
    world *w;
    const char *gone;
    bf_filter *other;
    unsigned added, refused;
    bool made, ever; /* the other handle created the filter again; one did */
} play;

static void add_one(play *p, bf_filter *f, bool old)
{
    char text[16];
    const size_t len = (size_t)snprintf(text, sizeof text, "fresh%u", p->added++);
    if (!f) return;
    e = (bf_error){ 0 };
    if (bf_add(f, text, len, &e) < 0) {
        told(old);
        p->refused++;
    } else
        acknowledged(text, len, old);
}

static void test_all(play *p, bf_filter *f, bool old)
{
    bf_key all[MOST];
    uint8_t each[MOST];
    for (unsigned i = 0; i < nkeys; i++) all[i] = (bf_key){ keys[i].text, keys[i].len };
    for (unsigned i = 0, c = 1; f && i < nkeys; i += c, c = nkeys - i) { /* one, then the others */
        e = (bf_error){ 0 };
        const int64_t rc = bf_test_many(f, all + i, c, each, &e);
        if (rc < 0) told(old);
        p->refused += rc < 0;
        for (unsigned j = i; rc >= 0 && j < i + c; j++) {
            if (!each[j - i] && keys[j].must) wrong(p->w, p->gone, "an acknowledged key is absent");
            if (!each[j - i] && old && keys[j].own) wrong(p->w, p->gone, "absent, and nobody told");
        }
    }
}

static void open_other(play *p, bool made)
{
    bf_close(p->other);
    p->made = false;
    e = (bf_error){ 0 };
    if (!(p->other = world_open(p->w, made))) return;
    const bf_info i = info_of(p->other);
    p->made = i.created;
    p->ever |= i.created;
    if (i.created) created_again();
}

static void step(play *p, char which)
{
    if (which == 'a') add_one(p, p->w->f, true);
    if (which == 't') test_all(p, p->w->f, true);
    if (which == 'o') open_other(p, false);
    if (which == 'c') open_other(p, true);
    if (which == 'b') add_one(p, p->other, false);
    if (which == 'u') test_all(p, p->other, false);
    if (which == 'n') world_time += 10;
}

/* ---- every order ---- */
/* a, t: the old handle adds, tests; o, c: another opens, constructs; b, u: it adds, tests; n: a
 * part of the window passes. */
static const char *const orders[] = { "", "c", "cb", "ac", "tc", "ca", "caub", "cbt", "cnab",
    "ncab", "catob", "cabtc", "ocaub", "acbot", "cnbaut" };
enum { ORDERS = COUNT(orders) };

static bool prepare(world *w)
{
    world_time = 1e6;
    nkeys = 0;
    if (!world_make(w)) return false;
    for (unsigned i = 0; i < WORLD_KEYS; i++) acknowledged(world_text[i], world_keys[i].len, true);
    play p = { .w = w, .added = 1000 };
    world_time += w->spec.clock ? 10 : 0; /* a second part */
    add_one(&p, w->f, true);
    return true;
}

static void play_one(world *w, const char *gone, const char *order)
{
    play p = { .w = w, .gone = gone };
    steps_done = order;
    if (!prepare(w)) return;
    if (rs_number(&redis, "DEL %s", gone) != 1) wrong(w, gone, "there is no such key");
    for (const char *s = order; *s; s++) step(&p, *s);
    for (const char *s = "ubta"; *s; s++) step(&p, *s);
    p.refused = 0; /* whoever is at home in a filter that was created again works on */
    for (const char *s = "ubtat"; *s; s++) step(&p, *s);
    if (p.made && p.refused) wrong(w, gone, "an error after it was created again");
    for (const char *s = "oubt"; *s; s++) step(&p, *s);
    if (w->spec.grow != 0 && !strstr(gone, "meta") && strchr(order, 'c') && !p.ever)
        wrong(w, gone, "its constructor did not create it again");
    bf_close(p.other);
}

static void all_orders(world *w)
{
    char names[1024] = "", *at = names, *name;
    if (!prepare(w)) return;
    const char *list = rs_command(&redis,
        "EVAL \"local k=redis.call('KEYS','*') table.sort(k) return table.concat(k,' ')\" 0");
    snprintf(names, sizeof names, "%s", list);
    unsigned n = 0;
    while ((name = strsep(&at, " "))) {
        n++;
        for (unsigned i = 0; i < ORDERS; i += SHORT(1, 5)) play_one(w, name, orders[i]);
    }
    CHECK(n >= 2);
    world_forget(w);
}

TEST(each_key_in_every_order)
{
    for (world *w = worlds; w < worlds + WORLDS; w++)
        if (!w->foreign && !w->spec.cache && !w->login && strcmp(w->name, "redisson") != 0)
            all_orders(w);
    all_orders(&by_redis);
    all_orders(&tagged);
}

/* ---- a companion hash that is gone ---- */
/* Nobody who adds, clears or grows leaves a hash of one field, and whoever opens hears of a loss.
 */
TEST(no_stub_of_a_companion)
{
    const bf_spec grows = { .n = 12, .p = 1e-4, .grow = 2 }, any = { .must_exist = true },
                  shards = { .m = 9000, .k = 3, .shards = 3 };
    for (int forgets = 0; forgets < 2; forgets++) {
        rs_command(&redis, "FLUSHALL");
        world_time = 1e6;
        bf_filter *f = numbers(
            forgets ? OPEN("g", .n = 100, .p = 1e-4, .window = 40, .parts = 4, .clock = world_clock)
                    : opened(grows, "g", "", __LINE__),
            0, 4);
        rs_command(&redis, "DEL g:meta");
        world_time += 10;
        CHECK_REFUSED(bf_add(f, "n4", 2, &e), BF_EIO, "is lost");
        CHECK(missing(f, 0, 4) == 0 && rs_number(&redis, "EXISTS g:meta") == 0);
        CHECK_EQ(code_of(any, "g"), BF_EFORMAT);
        CHECK_EQ(code_of(grows, "g"), BF_EFORMAT); /* bits without parameters are nobody's */
        CHECK(missing(f, 0, 4) == 0 && bf_delete(f, &e) == 0);
        CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
        bf_close(f);
    }
    bf_filter *twin = numbers(bf_open(&(bf_spec){ .m = 9000, .k = 3 }, &e), 0, 5),
              *f = numbers(OPEN("c", .m = 9000, .k = 3), 0, 3);
    rs_command(&redis, "DEL c:meta");
    CHECK(bf_clear(f, &e) == 0 && rs_number(&redis, "EXISTS c:meta") == 0);
    CHECK(bf_rebuild_end(f, twin, &e) == 0 && bf_intersect(f, twin, &e) == 0);
    CHECK(rs_number(&redis, "EXISTS c:meta") == 0 && missing(f, 0, 5) == 0);
    CLOSE(f, twin);
    bf_close(opened(shards, "s", "", __LINE__));
    rs_command(&redis, "DEL s:1:meta");
    CHECK_REFUSED(code_of(any, "s"), BF_EIO, "is lost");
    CHECK_REFUSED(code_of(shards, "s"), BF_EIO, "is lost");
}

/* The bits and their mark are there, so a handle that is open is right and goes on; but nobody else
 * opens the filter, and that is what bf_is_current says of a handle that is kept.  Of a filter that
 * grows the next constructor deletes the parts: no add is acknowledged. */
TEST(a_companion_hash_alone)
{
    static const struct {
        bf_spec spec;
        const char *gone;
    } rows[] = { { { .m = 9000, .k = 5, .scheme = "classic" }, "k:meta" },
        { { .m = 9000, .k = 5, .scheme = "classic", .counting = true }, "k:meta" },
        { { .m = 8192, .k = 5, .scheme = "classic", .shards = 4 }, "k:meta" },
        { { .m = 8192, .k = 5, .scheme = "classic", .shards = 4 }, "k:2:meta" },
        { { .n = 100, .p = 0.01, .grow = 2 }, "k:meta" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(rows[i].spec, "k", "", __LINE__);
        const char *url = rs_url(&redis, "k", "");
        const bf_spec there = { .storage = url, .counting = rows[i].spec.counting };
        if (!f) return;
        CHECK_EQ(bf_add(f, "a", 1, &e), 1);
        CHECK_EQ(bf_is_current(f, &there, &e), 1);
        rs_command(&redis, "RENAME %s elsewhere", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 0);
        CHECK(code_of((bf_spec){ .must_exist = true, .counting = there.counting }, "k") < 0);
        const bool grows = rows[i].spec.grow != 0;
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_add(f, "b", 1, &e) == (grows ? BF_EIO : 1));
        if (grows) CHECK_HAS(e.msg, "k at 127.0.0.1");
        if (grows) CHECK_HAS(e.msg, "is lost");
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_test(f, "b", 1, &e) == !grows);
        rs_command(&redis, "RENAME elsewhere %s", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 1);
        CHECK(bf_test(f, "a", 1, &e) == 1 && bf_add(f, "b", 1, &e) == grows);
        rs_command(&redis, "HSET %s mark 12345678 born 12345678", rows[i].gone);
        CHECK_EQ(bf_is_current(f, &there, &e), 0);
        bf_close(f);
    }
}

int main(void)
{
    rs_start(&redis, NULL);
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    return main_with_redis(&redis);
}
