/* test_redis_open.c - opening a filter in Redis while another client acts between any two of its
 * commands: no server promises that a pipeline is one moment.  Whoever opens gets the filter that
 * is there, with all its keys, or hears that there is none; never "lost" of what is there, and
 * never a handle that says "absent" of what is gone.  It starts its own server.  About
 * core/redis/open.c, core/redis/bitmap.c, core/redis/shards.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "redis_round_trips.h"

enum { KEYS = 10, MORE = 40 };
static char url[100];

/* ---- what is there, and what the other one does ---- */
static double now_is;
static double clock_of_test(void *unused) { return now_is; }
static const bf_spec kinds[] = { { .m = 20000, .k = 5 }, { .m = 30000, .k = 5, .shards = 3 },
    { .m = 9000, .k = 4, .shards = 2, .counting = true }, { .n = 8, .p = 1e-4, .grow = 2 },
    { .n = 1000, .p = 1e-4, .window = 4000, .parts = 4, .clock = clock_of_test },
    { .m = 20000, .k = 5, .scheme = "php-mt" } };
enum { KINDS = COUNT(kinds) };
static const bf_spec *kind;
static unsigned keys; /* n0.. so many were acknowledged */

static bf_filter *other(bool made)
{
    bf_spec s = *kind;
    if (!made)
        s = (bf_spec){ .clock = kind->clock, .counting = kind->counting, .must_exist = true };
    return opened(s, "b", "", __LINE__);
}
static void make(void) { bf_close(numbers(other(true), 0, keys = KEYS)); }
static void nothing(void) {}
static void grow_it(void) { bf_close(numbers(other(false), KEYS, keys = MORE)); }
static void next_epoch(void)
{
    now_is += 1000;
    grow_it();
}
static void clear_it(void)
{
    bf_filter *f = other(false);
    CHECK(!f || bf_clear(f, &e) == 0);
    bf_close(numbers(f, 0, keys));
}
static void rebuild_it(void)
{
    bf_filter *f = other(false), *fresh = bf_rebuild_begin(f, &e);
    if (!fresh) {
        bf_close(f);
        return;
    }
    numbers(fresh, 0, keys);
    CHECK(bf_rebuild_end(f, fresh, &e) >= 0);
    CLOSE(fresh, f);
}
static void delete_it(void)
{
    bf_filter *f = other(false);
    CHECK(!f || bf_delete(f, &e) == 0);
    bf_close(f);
    keys = 0;
}
static void make_again(void)
{
    delete_it();
    make();
}
static void flush_it(void)
{
    rs_command(&redis, "FLUSHALL");
    keys = 0;
}
static void flush_and_make(void)
{
    flush_it();
    make();
}
static void expire_it(void)
{
    bf_filter *f = other(false);
    CHECK(!f || bf_expire(f, 1000, &e) <= 0);
    bf_close(f);
}

/* always: there is a filter at every moment. */
static const struct {
    const char *name;
    void (*before)(void), (*act)(void), (*then)(void);
    bool always, never;
} stories[] = { { "made", nothing, make, NULL, false, false },
    { "made, deleted", nothing, make, delete_it, false, true },
    { "cleared, filled", make, clear_it, NULL, true, false },
    { "rebuilt", make, rebuild_it, NULL, true, false },
    { "rebuilt twice", make, rebuild_it, rebuild_it, true, false },
    { "grown", make, grow_it, NULL, true, false },
    { "next epoch", make, next_epoch, NULL, true, false },
    { "next epochs", make, next_epoch, next_epoch, true, false },
    { "first epoch", nothing, make, next_epoch, false, false },
    { "deleted", make, delete_it, NULL, false, true },
    { "deleted, made", make, delete_it, make, false, false },
    { "made again", make, make_again, NULL, true, false },
    { "flushed", make, flush_it, NULL, false, true },
    { "flushed, made", make, flush_it, make, false, false },
    { "flushed and made", make, flush_and_make, NULL, true, false },
    { "expires", make, expire_it, NULL, true, false } };
enum { STORIES = COUNT(stories) };

/* how: 0 constructs, 1 opens what is there, 2 opens it with its parameters, 3 reads only */
enum { HOWS = 4 };
static bf_spec spec_of(int how)
{
    bf_spec s = *kind;
    if (how == 1 || how == 3) s = (bf_spec){ .clock = kind->clock, .counting = kind->counting };
    s.must_exist = how > 0;
    s.read_only = how == 3;
    if (how == 2 && !s.scheme && s.m) s.scheme = "classic";
    s.storage = url;
    return s;
}

static void wrong(size_t story, int how, const char *what, const char *why)
{
    FAILED("kind %d, %s before command %ld (%ld), opened %d: %s; %s\n", (int)(kind - kinds),
        stories[story].name, trips.at, trips.then, how, what, why);
}

static void judge(size_t story, int how, bf_filter *f, const bf_error *why)
{
    if (!f) {
        const bool gone = strstr(why->msg, "does not exist") || strstr(why->msg, "is lost");
        if (stories[story].always || (how == 0 && !stories[story].never) || !gone)
            wrong(story, how, "not opened", why->msg);
        return;
    }
    unsigned absent = 0;
    for (unsigned i = 0; i < keys; i++) {
        char t[16];
        e = (bf_error){ 0 };
        const int rc = bf_test(f, t, (size_t)sprintf(t, "n%u", i), &e);
        if (rc < 0 && !strstr(e.msg, "was re-created") && !strstr(e.msg, "is lost"))
            wrong(story, how, "a test", e.msg);
        if (rc < 0 && stories[story].always && strstr(e.msg, "is lost"))
            wrong(story, how, "a test", e.msg);
        absent += rc == 0;
    }
    if (absent) wrong(story, how, "keys are absent", "");
    if (keys == 0 && how && bf_test(f, "n0", 2, &e) == 0) wrong(story, how, "absent of none", "");
    rs_command(&redis, "FLUSHALL");
    if (bf_test(f, "n0", 2, &e) >= 0) wrong(story, how, "no loss after FLUSHALL", "");
}

static void empty(void)
{
    rs_command(&redis, "FLUSHALL");
    keys = 0;
    now_is = 1e6;
}
/* Before a command one acts, and before a later one (0: none) another. */
static void act_before(long at, void (*act)(void), long then, void (*act_then)(void))
{
    trips.commands = true;
    trips.before = act;
    trips.then = then;
    trips.before_then = act_then;
    trips_begin(at);
}

/* False: it takes fewer commands. */
static bool once(size_t story, int how, long at, long then)
{
    bf_error why = { 0 };
    empty();
    stories[story].before();
    const bf_spec s = spec_of(how);
    act_before(at, stories[story].act, then, stories[story].then);
    bf_filter *f = bf_open(&s, &why);
    trips_stop();
    const bool acted = trips.count >= at && trips.count >= then;
    if (acted) judge(story, how, f, &why);
    bf_close(f);
    return acted;
}

/* Some stories are of one kind alone. */
static bool concerns(size_t story)
{
    if (stories[story].act == grow_it) return kind->grow > 0;
    if (stories[story].act == next_epoch || stories[story].then == next_epoch)
        return kind->window > 0;
    return true;
}

static void one_story(size_t story, int how)
{
    const int most = !stories[story].then ? 1 : kind->window > 0 ? 6 : 3;
    bool more = true;
    for (long at = 1; more && failed_here < 20; at++)
        for (int i = 1; i <= most && (once(story, how, at, most > 1 ? at + i : 0) || i == 1); i++)
            more = trips.count >= at;
}

TEST(all_stories)
{
    for (kind = kinds; kind < kinds + KINDS; kind++)
        for (size_t story = 0; story < STORIES; story++)
            for (int how = 0; concerns(story) && how < HOWS; how++)
                if (!stories[story].then || how % 2 == 0) one_story(story, how);
}

/* ---- uploads ---- */
static void upload_another(void)
{
    bf_filter *from = numbers(bf_open(kind, &e), 0, KEYS);
    const bf_spec to = { .storage = url, .clock = kind->clock };
    bf_filter *f = bf_upload_new(from, &to, &e);
    if (f) keys = KEYS;
    CLOSE(f, from);
}
static void lose_temporary(void)
{
    rs_command(&redis, "EVAL \"for _, k in ipairs(redis.call('KEYS', '*:tmp:*')) do "
                       "redis.call('DEL', k) end\" 0");
}
static void lose_meta(void) { rs_command(&redis, "DEL b:meta"); }
static void lose_shard(void) { rs_command(&redis, "DEL b:1 b:1:meta"); }

/* before: what was there.  act: what another client does.  An upload that returns a filter has put
 * all its keys there, and no key of another filter is lost in silence. */
static const struct {
    const char *name;
    void (*before)(void), (*act)(void);
} uploads[] = { { "made", nothing, make }, { "uploaded", nothing, upload_another },
    { "its temporary key lost", nothing, lose_temporary }, { "lost", nothing, flush_it },
    { "there", make, nothing }, { "there, :meta lost", make, lose_meta },
    { "there, a shard lost", make, lose_shard }, { "deleted", make, delete_it } };

static bool upload_once(size_t story, long at)
{
    enum { FIRST = 100, LAST = 140 };
    bf_error why = { 0 };
    bf_spec here = *kind;
    empty();
    bf_filter *from = numbers(bf_open(&here, &e), FIRST, LAST);
    uploads[story].before();
    const bf_spec to = { .storage = url, .clock = kind->clock };
    act_before(at, uploads[story].act, 0, NULL);
    bf_filter *f = bf_upload_new(from, &to, &why);
    trips_stop();
    const bool acted = trips.happened, emptied = uploads[story].act == flush_it;
    bf_spec open = { .storage = url, .must_exist = true };
    open.clock = kind->clock;
    open.counting = kind->counting;
    bf_filter *g = bf_open(&open, &e);
    unsigned old = 0, new = 0;
    for (unsigned i = 0; g && i < LAST; i++) {
        char t[16];
        if (i == keys) i = FIRST;
        const bool has = bf_test(g, t, (size_t)sprintf(t, "n%u", i), &e) == 1;
        *(i < FIRST ? &old : &new) += has;
    }
    if ((f && !emptied && (!g || new < LAST - FIRST)) || (g && old < keys))
        FAILED("kind %d, %s before command %ld: %s; %u of its keys, %u of %u others: %s\n",
            (int)(kind - kinds), uploads[story].name, at, f ? "uploaded" : "not uploaded", new, old,
            keys, f ? e.msg : why.msg);
    CLOSE(f, g, from);
    return acted;
}

TEST(all_uploads)
{
    for (kind = kinds; kind < kinds + KINDS; kind++)
        for (size_t story = 0; story < COUNT(uploads); story++)
            for (long at = 1; failed_here < 20 && upload_once(story, at); at++) {}
}

int main(void)
{
    rs_start(&redis, NULL);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/0?key=b", redis.port);
    return main_with_redis(&redis);
}
