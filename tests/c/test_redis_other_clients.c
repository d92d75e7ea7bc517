/* test_redis_other_clients.c - every kind of filter in Redis, everything that can be asked of it,
 * and another client that acts between two of the trips that takes, or before each of them:
 * deletes, overwrites, damages, clears, makes anew.  What is told is right or an error that names
 * the key; nothing lost is ever "absent"; no stub stays.  It starts its own server.  About
 * core/redis/generation.c, core/redis/bitmap.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_steps.h"
#include "redis_worlds.h"

static world *at;        /* the one that is asked        */
static bf_filter *other; /* another handle on its filter */

/* ---- what another client does ---- */
static void deletes_a_part(void) { rs_command(&redis, "DEL %s", at->part); }
static void deletes_all(void) { rs_command(&redis, "FLUSHALL"); }
static void deletes_the_meta(void) { rs_command(&redis, "DEL %s", at->meta); }
static void deletes_a_parts_meta(void) { rs_command(&redis, "DEL %s", at->part_meta); }
static void overwrites_a_part(void) { rs_command(&redis, "SET %s short", at->part); }
static void makes_a_part_a_list(void)
{
    deletes_a_part();
    rs_command(&redis, "RPUSH %s a", at->part);
}
static void makes_the_meta_a_text(void) { rs_command(&redis, "SET %s text", at->meta); }
static void damages_the_meta(void)
{
    rs_command(&redis, "HSET %s format x size x parts x epoch x mark x", at->meta);
}
static void damages_a_parts_meta(void)
{
    rs_command(&redis, "HSET %s format x size x mark 0", at->part_meta);
}
static void changes_the_mark(void)
{
    rs_command(
        &redis, "SETRANGE %s %ld wxyz", at->part, rs_number(&redis, "STRLEN %s", at->part) - 4);
}
static void makes_another(void)
{
    bf_spec s = world_spec(at, true);
    deletes_all();
    if (s.m)
        s.m += 3000;
    else
        s.n *= 2;
    bf_close(bf_open(&s, NULL));
}
static void makes_it_anew(void)
{
    const bf_spec s = world_spec(at, true);
    deletes_all();
    bf_close(bf_open(&s, NULL));
}
static void clears(void)
{
    bf_error unheard;
    bf_clear(other, &unheard);
}

/* gone: bits that were there are not; else what is there may be other bits, and the filter goes on
 * working. */
static const struct {
    const char *name;
    void (*run)(void);
    bool gone, works, no_part;
} acts[] = {
    { "deletes a part", deletes_a_part, true, false, true },
    { "deletes all", deletes_all, true, false, true },
    { "deletes the meta", deletes_the_meta, true, false, false },
    { "deletes a part's meta", deletes_a_parts_meta, true, false, false },
    { "overwrites a part", overwrites_a_part, true, false, false },
    { "makes a part a list", makes_a_part_a_list, true, false, false },
    { "makes the meta a text", makes_the_meta_a_text, true, false, false },
    { "damages the meta", damages_the_meta, true, false, false },
    { "damages a part's meta", damages_a_parts_meta, true, false, false },
    { "changes the mark", changes_the_mark, true, false, false },
    { "makes another", makes_another, false, false, false },
    { "makes it anew", makes_it_anew, false, true, false },
    { "clears", clears, false, true, false },
};
enum { ACTS = COUNT(acts), FOR_EVER = 9, TRIPS_MOST = 3000 };

/* ---- what may come of it ---- */
static bool makes(size_t what)
{
    return asked[what].run == do_construct || asked[what].run == do_make;
}
static bool never_absent(size_t what)
{
    return !makes(what) && asked[what].run != do_remove_many &&
           (asked[what].expected == WORLD_KEYS || asked[what].run == do_test ||
               asked[what].run == do_add || asked[what].run == do_add_many ||
               asked[what].run == do_count);
}

/* Redisson's hash alone says that its filter is there; no hash says so of a foreign one; a part
 * that is known to be there is missed, whatever else was made. */
static bool told_by_nothing(size_t act)
{
    return at->foreign ||
           (!strcmp(at->name, "redisson") &&
               (acts[act].run == deletes_a_part || acts[act].run == overwrites_a_part ||
                   acts[act].run == changes_the_mark));
}
static bool works(size_t act) { return acts[act].works; }
/* Of a filter that was re-created the handle is told once. */
static bool told_now(int64_t rc)
{
    return rc == BF_EIO && strstr(e.msg, "was re-created: keys added before are gone") &&
           strstr(e.msg, at->key);
}

static void report(const char *when, size_t what, size_t act, int64_t rc)
{
    FAILED("%s, %s: another %s %s trip %ld: %s%lld, %s\n", at->name, asked[what].name,
        acts[act].name, steps.after ? "from" : "before", steps.at, when, (long long)rc,
        rc < 0 ? e.msg : "");
}

static void judge(size_t what, size_t act, int64_t rc)
{
    const int64_t want = asked[what].expected == ONES ? (int64_t)at->ones : asked[what].expected;
    const bool told = rc == e.code && strstr(e.msg, at->key);
    if (rc < 0 ? !told
               : acts[act].gone && !told_by_nothing(act) && never_absent(what) && rc != want)
        report("", what, act, rc);
}

static void afterwards(size_t what, size_t act)
{
    const bool anew = acts[act].run == makes_it_anew;
    bool told = told_now(e.code) && asked[what].run != do_open &&
                asked[what].run != do_construct; /* those have a handle of their own */
    if (steps.after) told = false;               /* it was re-created again after that */
    e = (bf_error){ 0 };
    int64_t rc = bf_test(at->f, "n0", 2, &e);
    if (anew && !told && told_now(rc)) {
        told = true;
        rc = bf_test(at->f, "n0", 2, &e);
    }
    const bool deleted = asked[what].run == do_delete;
    if (rc < 0 ? (works(act) && !deleted && !makes(what)) || rc != e.code || !strstr(e.msg, at->key)
               : rc == 0 && acts[act].gone && never_absent(what) && !told_by_nothing(act))
        report("afterwards ", what, act, rc);
    if (acts[act].no_part && !makes(what) && !told_by_nothing(act) &&
        rs_number(&redis, "EXISTS %s", at->part) != 0)
        report("a stub stays ", what, act, 0);
    if (!works(act) || deleted || makes(what)) return;
    rc = bf_add(at->f, "later", 5, &e);
    if (anew && !told && told_now(rc))
        rc = bf_add(at->f, "later", 5, &e); /* a cache was asked before */
    if (rc < 0 || (rc = bf_test(at->f, "later", 5, &e)) != 1) report("later ", what, act, rc);
}

static bool once(size_t what, size_t act, long trip, bool after)
{
    if (!world_make(at) || !(other = world_open(at, false))) {
        failed_here++;
        return false;
    }
    steps.before = acts[act].run;
    steps.after = after;
    e = (bf_error){ 0 };
    steps_begin(trip);
    int64_t rc = asked[what].run(at);
    steps_stop();
    bool more = steps.happened && steps.trips < TRIPS_MOST;
    if (rc != BF_ENOTSUP && rc != BF_EINVAL && steps.happened) {
        judge(what, act, rc);
        afterwards(what, act);
    } else if (steps.happened && steps.trips == 1)
        more = false;
    bf_close(other);
    other = NULL;
    return more;
}

/* Before every trip: where they can go on for ever.  Where all is slow, one trip of three. */
static void others_act(bool after)
{
    const long step = after ? 1 : SHORT(1, 3);
    long turn = 0;
    for (at = worlds; at < worlds + WORLDS; at++) {
        const int before = failed_here;
        if (at->login || !strcmp(at->name, "client") || !strcmp(at->name, "counting lines"))
            continue; /* as others, here */
        for (size_t what = 0; what < ASKED; what++)
            for (size_t act = after ? FOR_EVER : 0; act < ACTS && failed_here < before + 10; act++)
                for (long trip = 1 + turn++ % step;
                    once(what, act, trip, after) && failed_here < before + 10 &&
                    !(after && trip == 2);
                    trip += step) {}
        world_forget(at);
    }
}

TEST(others_act_between_two_trips) { others_act(false); }
TEST(others_act_before_every_trip) { others_act(true); }

/* ---- what is made aside ---- */
static void deletes_temporaries(void)
{
    rs_command(&redis, "EVAL \"for _,k in ipairs(redis.call('KEYS','*:tmp:*')) do "
                       "redis.call('DEL',k) end return 1\" 0");
}

/* So large that several trips upload it; evicted after the first, it would be half of it. */
TEST(temporary_keys_are_lost)
{
    const bf_spec spec = { .m = 40000000, .k = 3, .scheme = "classic" };
    bf_filter *old = numbers(bf_open(&spec, &e), 0, 100),
              *more = numbers(bf_open(&spec, &e), 0, 200);
    steps.before = deletes_temporaries;
    steps.after = false;
    for (int what = 0; what < 3; what++) {
        long trip = 0;
        int lost = 0;
        do {
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = opened(spec, "large", "", __LINE__);
            CHECK_EQ(bf_unite(f, old, &e), 0);
            steps_begin(++trip);
            int rc = what == 0   ? bf_unite(f, more, &e)
                     : what == 1 ? bf_intersect(f, more, &e)
                                 : bf_rebuild_end(f, more, &e);
            steps_stop();
            CHECK_EQ(missing(f, 0, rc == 0 && what != 1 ? 200 : 100), 0);
            lost += rc < 0;
            if (rc < 0) CHECK_HAS(e.msg, "Redis key large");
            CHECK_EQ(rs_number(&redis, "DBSIZE"), 2);
            bf_close(f);
        } while (steps.happened && trip < 100);
        CHECK(lost > 2 && trip < 100);
    }
    CLOSE(old, more);
}

/* The script that names a new filter or its part finds no temporary key. */
TEST(temporary_keys_are_lost_before_they_are_named)
{
    const bf_spec specs[] = { { .m = 20000, .k = 5 }, { .n = 8, .p = 1e-4, .grow = 2 },
        { .n = 1000, .p = 1e-4, .window = 4000, .parts = 4 } };
    steps.before = deletes_temporaries;
    steps.after = false;
    for (size_t i = 0; i < COUNT(specs); i++) {
        long trip = 0;
        int lost = 0;
        do {
            bf_spec s = specs[i];
            s.storage = rs_url(&redis, "new", "");
            rs_command(&redis, "FLUSHALL");
            e = (bf_error){ 0 };
            steps_begin(++trip);
            bf_filter *f = bf_open(&s, &e);
            int64_t rc = f ? bf_add(f, "key", 3, &e) : e.code;
            steps_stop();
            lost += rc < 0;
            if (rc < 0) CHECK_HAS(e.msg, "temporary key was evicted or deleted");
            bf_close(f);
        } while (steps.happened && trip < 100);
        CHECK(lost > 0 && trip < 100);
    }
}

int main(void) { return main_with_redis(&redis); }
