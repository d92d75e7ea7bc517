/* test_redis_other_clients.c - every kind of filter in Redis, every call, and another client that
 * acts before one of its round trips, or before each: deletes any of its keys, overwrites, damages,
 * clears, re-creates, or gives the name to something else.  What is told is right or an error that
 * names the key; nothing lost is ever "absent"; nothing of others is written; no call lasts for
 * ever.  Its own server.  About core/redis/generation.c, core/redis/bitmap.c, core/redis/meta.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_sweep.h"

/* ---- what another client does ---- */
static void deletes_all(void)
{
    rs_command(&redis, "FLUSHALL");
    snprintf(sweep.key, sizeof sweep.key, "%s", sweep.w->part);
}
static void overwrites_a_part(void)
{
    sweep.bits = true;
    rs_command(&redis, "SET %s short", sweep.w->part);
}
static void makes_a_part_a_list(void)
{
    rs_command(&redis, "DEL %s", sweep.w->part);
    rs_command(&redis, "RPUSH %s a", sweep.w->part);
}
static void makes_the_meta_a_text(void) { rs_command(&redis, "SET %s text", sweep.w->meta); }
static void damages_the_meta(void)
{
    rs_command(&redis, "HSET %s format x size x parts x epoch x mark x", sweep.w->meta);
}
static void damages_a_parts_meta(void)
{
    rs_command(&redis, "HSET %s format x size x mark 0", sweep.w->part_meta);
}
static void changes_the_mark(void)
{
    sweep.bits = true;
    rs_command(&redis, "SETRANGE %s %ld wxyz", sweep.w->part,
        rs_number(&redis, "STRLEN %s", sweep.w->part) - 4);
}
static void makes_another(void)
{
    bf_spec s = world_spec(sweep.w, MADE);
    rs_command(&redis, "FLUSHALL");
    if (s.m)
        s.k++; /* as long, but another filter */
    else
        s.n *= 2;
    bf_close(bf_open(&s, NULL));
}
static void constructs_it(void)
{
    const bf_spec s = world_spec(sweep.w, MADE);
    bf_close(bf_open(&s, NULL));
}
static void uploads_it(void)
{
    if (calls_of[sweep.call].run == do_make) return; /* it counts the keys that are new */
    const bf_spec s = world_spec(sweep.w, THERE);
    const bf_spec to = {
        .storage = s.storage, .key = s.key, .clock = s.clock, .redis_client = s.redis_client
    };
    bf_spec near = sweep.w->spec; /* the call may be at work with the twin */
    near.cache = false;
    near.cache_max_age = 0;
    bf_filter *from = bf_open(&near, NULL);
    bf_add_many(from, world_keys, WORLD_KEYS, NULL, NULL);
    bf_filter *made = bf_upload_new(from, &to, NULL);
    if (made && calls_of[sweep.call].run == do_delete) sweep.left = RECREATED; /* all was gone */
    CLOSE(made, from);
}
static void deletes_temporaries(void)
{
    rs_command(&redis, "EVAL \"for _,k in ipairs(redis.call('KEYS','*:tmp:*')) do "
                       "redis.call('DEL',k) end return 1\" 0");
}
static void recreates_it(void)
{
    const bf_spec s = world_spec(sweep.w, MADE);
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = bf_open(&s, NULL);
    if (f) bf_add(f, "other", 5, NULL);
    if (f && sweep.by->fills) bf_add_many(f, world_keys, WORLD_KEYS, NULL, NULL);
    bf_close(f);
}
static void clears(void)
{
    bf_error unheard;
    bf_clear(sweep.other, &unheard);
}

static void rebuilds(void)
{
    bf_error unheard;
    bf_rebuild_end(sweep.other, sweep.w->twin, &unheard);
}

static const disturbance acts[] = {
    { .name = "another rebuilds it", .act = rebuilds, .unseen = true },
    { .name = "another constructs it", .act = constructs_it, .unseen = true },
    { .name = "another uploads it", .act = uploads_it, .unseen = true },
    { .name = "temporary keys are lost", .act = deletes_temporaries },
    { .name = "another deletes all", .act = deletes_all, .leaves = LESS },
    { .name = "another overwrites a part", .act = overwrites_a_part, .leaves = LESS },
    { .name = "another makes a part a list", .act = makes_a_part_a_list, .leaves = LESS },
    { .name = "another makes the meta a text", .act = makes_the_meta_a_text, .leaves = LESS },
    { .name = "another damages the meta", .act = damages_the_meta, .leaves = LESS },
    { .name = "another damages a part's meta", .act = damages_a_parts_meta, .leaves = LESS },
    { .name = "another changes the mark", .act = changes_the_mark, .leaves = LESS },
    { .name = "another makes one of other parameters", .act = makes_another, .leaves = ANOTHER },
    { .name = "another re-creates it", .act = recreates_it, .leaves = RECREATED },
    { .name = "another re-creates and fills it",
        .act = recreates_it,
        .leaves = RECREATED,
        .fills = true },
    { .name = "another clears it", .act = clears, .leaves = CLEARED },
};
enum { ACTS = COUNT(acts), FOR_EVER = 10 };

static bool is_alike(const world *w) { return w->alike; }
/* Where all is slow, one of `less`. */
static bool has_its_turn(const disturbance *d, long trip, int less)
{
    const long turn = trip + (d - acts) + (long)sweep.call + (sweep.w - worlds);
    return turn % SHORT(1, less) == 0;
}
static void acts_once(long trip)
{
    for (const disturbance *d = acts; d < acts + ACTS; d++)
        if (has_its_turn(d, trip, trips.commands ? 9 : 7)) disturb(d, trip, 0);
}
/* No server promises that a pipeline is one moment. */
static void acts_between_commands(long trip)
{
    if (call_is(OWN)) acts_once(trip);
}
/* Before each round trip: where they can go on for ever. */
static void acts_always(long trip)
{
    for (const disturbance *d = acts + FOR_EVER; trip <= SHORT(2, 1) && d < acts + ACTS; d++) {
        disturbance always = *d;
        always.every = true;
        if (has_its_turn(d, trip, 3)) disturb(&always, trip, 0);
    }
}

TEST(others_act_before_a_round_trip) { sweep_all(is_alike, acts_once); }
TEST(others_act_before_every_round_trip) { sweep_all(is_alike, acts_always); }
TEST(others_act_before_a_command)
{
    trips.commands = true;
    when_opened = trips_stop;
    sweep_all(is_alike, acts_between_commands);
    trips.commands = false;
    when_opened = NULL;
}

/* ---- the name belongs to something else ---- */
static const struct {
    const char *name, *command; /* %s: the name of the key; of a filter: deletes some of its keys */
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
    { "a filter that grows", NULL, { .n = 40, .p = 1e-3, .grow = 4 } },
    { "shards without their hash", "DEL w:meta", { .m = 8000, .k = 4, .shards = 2 } },
    { "one of two shards", "DEL w:0 w:0:meta", { .m = 8000, .k = 4, .shards = 2 } } };
enum { SMALL = 3 }; /* the first that is a filter */

static bf_filter *take(const world *w, size_t taker)
{
    char url[100];
    bf_spec s = takers[taker].spec;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d%s?timeout=%d", redis.port, w->login ? "/2" : "",
        PATIENCE);
    s.storage = url;
    s.key = w->key;
    bf_filter *f = taker < SMALL ? NULL : numbers(bf_open(&s, &e), 0, 60);
    if (takers[taker].command) rs_command(&redis, takers[taker].command, w->part);
    return f;
}

static int64_t add_fresh(world *w) { return bf_add(w->f, "fresh", 5, &e); }
static int64_t add_many_fresh(world *w)
{
    static char text[300][12];
    static bf_key keys[300];
    for (int i = 0; i < 300; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "fresh%d", i) };
    return bf_add_many(w->f, keys, 300, NULL, &e);
}
static int64_t (*const writes[])(world *) = { add_fresh, add_many_fresh, do_unite, upload };

/* DEBUG DIGEST is the server's own checksum over all keys. */
TEST(nothing_of_others_is_written)
{
    char before[48];
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        for (size_t taker = 0; !w->alike && taker < COUNT(takers); taker++) {
            const bool redisson = !strcmp(takers[taker].name, "redisson");
            if (w->foreign && (takers[taker].command || redisson)) continue; /* it has no mark */
            if (taker > SMALL && takers[taker].command && strcmp(w->name, "shards")) continue;
            if (!world_make(w)) continue;
            rs_command(&redis, "FLUSHALL");
            bf_filter *owner = take(w, taker);
            snprintf(before, sizeof before, "%s", rs_command(&redis, "DEBUG DIGEST"));
            for (size_t i = 0; i < 3 * COUNT(writes); i++) {
                e = (bf_error){ 0 };
                const int64_t rc = writes[i % COUNT(writes)](w);
                const bool same = !strcmp(before, rs_command(&redis, "DEBUG DIGEST"));
                if (rc >= 0 || !*e.msg || !same)
                    FAILED("%s, then %s, call %zu: %lld, %s%s\n", w->name, takers[taker].name, i,
                        (long long)rc, e.msg, same ? "" : ": changed");
            }
            if (owner && !takers[taker].command) CHECK_EQ(missing(owner, 0, 60), 0);
            bf_close(owner);
        }
        world_forget(w);
    }
}

/* One of another kind is made while one is made: one of the two is there. */
static size_t taker;
static bf_filter *owner;
static void takes(void) { owner = take(sweep.w, taker); }
static void one_wins(long trip)
{
    static const disturbance d = { .name = "another kind", .act = takes, .leaves = ANOTHER };
    for (taker = SMALL; calls_of[sweep.call].run == do_make && taker < COUNT(takers); taker++) {
        owner = NULL;
        if (!strcmp(takers[taker].name, "redisson") || takers[taker].command) continue;
        if (!disturb(&d, trip, 0)) continue;
        bf_filter *f = owner ? NULL : world_open(sweep.w, THERE);
        const bool whole = owner ? missing(owner, 0, 60) == 0
                                 : f && bf_test_many(f, world_keys, WORLD_KEYS, NULL, &e) == ALL;
        if (!whole || (sweep.rc < 0) != (owner != NULL)) sweep_wrong(takers[taker].name);
        CLOSE(f, owner);
    }
}
static bool is_elsewhere(const world *w) { return w->alike || is_unmarked(w) || w->cluster; }
TEST(another_kind_is_made_meanwhile) { sweep_all(is_elsewhere, one_wins); }

/* ---- temporary keys ---- */
static void before_one(long trip, void (*act)(void))
{
    trips.before = act;
    trips.instead = NULL;
    trips.after = trips.cut = false;
    e = (bf_error){ 0 };
    trips_begin(trip);
}

/* So large that several round trips upload it; evicted after the first, it would be half of it. */
TEST(temporary_keys_are_lost)
{
    static int (*const calls[])(
        bf_filter *, bf_filter *, bf_error *) = { bf_unite, bf_intersect, bf_rebuild_end };
    const bf_spec spec = { .m = 40000000, .k = 3, .scheme = "classic" };
    bf_filter *old = numbers(bf_open(&spec, &e), 0, 100),
              *more = numbers(bf_open(&spec, &e), 0, 200);
    for (size_t call = 0; call < COUNT(calls); call++) {
        long trip = 0;
        int lost = 0;
        do {
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = opened(spec, "large", "", __LINE__);
            CHECK_EQ(bf_unite(f, old, &e), 0);
            before_one(++trip, deletes_temporaries);
            const int rc = calls[call](f, more, &e);
            trips_stop();
            CHECK_EQ(missing(f, 0, rc == 0 && calls[call] != bf_intersect ? 200 : 100), 0);
            lost += rc < 0;
            if (rc < 0) CHECK_HAS(e.msg, "Redis key large");
            CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
            bf_close(f);
        } while (trips.happened && trip < 100);
        CHECK(lost > 2 && trip < 100);
    }
    CLOSE(old, more);
}

/* ---- for ever ---- */
static void before_each(void (*act)(void))
{
    before_one(1, act);
    trips.after = true;
}
static void mark_moves_on(void)
{
    static int n;
    rs_command(&redis,
        "EVAL \"redis.call('SETRANGE', 'w', redis.call('STRLEN', 'w') - 4, ARGV[1]) "
        "redis.call('HSET', 'w:meta', 'mark', (ARGV[1]:gsub('.', function(c) return "
        "string.format('%%02x', c:byte()) end)))\" 0 %04d",
        ++n % 10000);
}

TEST(no_call_lasts_for_ever)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if ((strcmp(w->name, "window") && strcmp(w->name, "grow")) || !world_make(w)) continue;
        before_each(mark_moves_on);
        const int rc = bf_test(w->f, "new", 3, &e);
        trips_stop();
        CHECK_EQ(rc, BF_EIO);
        CHECK_HAS(e.msg, "not all keys were handled");
        CHECK_EQ(bf_test(w->f, "n1", 2, &e), 1);
        world_forget(w);
    }
    bf_close(OPEN("slow", .n = 100, .p = 0.01, .window = 1e12, .parts = 1));
    bf_filter *f = OPEN("slow", 0);
    CHECK(bf_add(f, "x", 1, &e) == BF_ADDED && bf_test(f, "x", 1, &e) == 1);
    bf_close(f);
}

/* Cleared before every round trip but those that read its hash: nobody gets anywhere, and is told
 * so.  Adds are there, if only for a moment. */
static void clears_again(void)
{
    if (!goes_out("HGETALL")) clears();
}
static bool is_not_cleared(const world *w)
{
    return strcmp(w->name, "classic") && strcmp(w->name, "counting") && strcmp(w->name, "client");
}
static void is_cleared(world *w, size_t call)
{
    int64_t (*run)(world *) = calls_of[call].run;
    if (calls_of[call].is & OWN || run == do_fits || run == do_saturated || run == do_add ||
        run == do_add_many || run == do_add_new)
        return;
    sweep.other = world_open(w, THERE);
    before_each(clears_again);
    const int64_t rc = run(w);
    trips_stop();
    const bool sums = run == do_unite && w->spec.counting;
    if (rc != BF_ENOTSUP && !sums && (rc != BF_EIO || !strstr(e.msg, "Redis key w at")))
        FAILED("%s, %s: %lld, %s\n", w->name, calls_of[call].name, (long long)rc, e.msg);
    CHECK(bf_add(w->f, "n0", 2, &e) >= 0 && bf_test(w->f, "n0", 2, &e) == 1);
    bf_close(sweep.other);
}
TEST(cleared_for_ever) { each_call(is_not_cleared, is_cleared); }

static void comes_and_goes(void)
{
    if (goes_out("HGETALL"))
        rs_command(&redis, "DEL c:0 c");
    else if (goes_out("EVAL"))
        rs_command(&redis, "MSET c:0 text c text");
}

TEST(a_key_that_comes_and_goes)
{
    for (unsigned shards = 1; shards < 3; shards++) {
        rs_command(&redis, "FLUSHALL");
        before_each(comes_and_goes);
        const int code = code_of((bf_spec){ .m = 9000, .k = 3, .shards = shards }, "c");
        trips_stop();
        CHECK_EQ(code, BF_EIO);
        CHECK_HAS(
            e.msg, "is created and deleted all the time: it could neither be opened nor created");
    }
}

/* ---- at one moment ---- */
/* Made after its hash was read and before its bits are: it is a filter with a mark, not a bitmap of
 * another system, in which a loss reads as "absent". */
TEST(made_between_two_reads)
{
    for (int adopt = 0; adopt < 2; adopt++) {
        rs_command(&redis, "FLUSHALL");
        bf_close(numbers(OPEN("late", .m = 9000, .k = 3, .scheme = "classic"), 0, 3));
        before_one(1, NULL);
        trips.instead = "*0\r\n"; /* the hash, as it was a moment before */
        trips.node = 0;
        bf_filter *f = OPEN(
            "late", .m = 9000, .k = 3, .scheme = "classic", .must_exist = true, .adopt = adopt);
        trips_stop();
        CHECK(f && trips.happened && missing(f, 0, 3) == 0);
        rs_command(&redis, "DEL late");
        CHECK(f && bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
        bf_close(f);
    }
}

/* What an add to a filter that was just deleted leaves for a moment is not taken for another
 * system's bitmap. */
static int reads;
static void stub_goes(void)
{
    if (goes_out("HGETALL") && ++reads == 3) rs_command(&redis, "DEL stub");
}

TEST(a_stub_without_a_hash)
{
    for (int open = 0; open < 2; open++) {
        rs_command(&redis, "FLUSHALL");
        rs_command(&redis, "SETBIT stub 7001 1");
        reads = 0;
        before_each(stub_goes);
        const int code = code_of(
            open ? (bf_spec){ .must_exist = true } : (bf_spec){ .m = 9000, .k = 3 }, "stub");
        trips_stop();
        CHECK_EQ(code, open ? BF_ENOENT : 0);
        if (open) CHECK_HAS(e.msg, "does not exist");
    }
    rs_command(&redis, "SETBIT foreign 7001 1"); /* one that stays is one */
    CHECK_EQ(code_of((bf_spec){ .m = 9000, .k = 3 }, "foreign"), BF_EFORMAT);
}

/* An add met a lost key, and the connection ends before that is known: an error, and the next one
 * takes the stub away. */
static int met;
static void deletes_and_ends(void)
{
    if (met++ == 0) {
        rs_command(&redis, "FLUSHALL");
        return;
    }
    trips.instead = "";
    trips.cut = true;
    trips.node = 0;
}

TEST(lost_twice)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (w->foreign || w->login || w->spec.cache || w->spec.window > 0 || !world_make(w))
            continue;
        met = 0;
        before_each(deletes_and_ends);
        CHECK(bf_add(w->f, "new", 3, &e) < 0);
        trips_stop();
        CHECK(bf_add(w->f, "new", 3, &e) < 0 && bf_test(w->f, "n0", 2, &e) < 0);
        world_forget(w);
    }
}

int main(void) { return main_with_redis(&redis); }
