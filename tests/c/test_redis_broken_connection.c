/* test_redis_broken_connection.c - every kind of filter in Redis, everything that can be asked of
 * it, every trip that takes: the connection ends before the commands get there, after some of the
 * answer, or before all of it.  What only looks answers as if nothing had happened, on a new
 * connection; a change is done, or is an error that was done once or not at all; the next call
 * works.  Only AUTH and SELECT are not sent again.  It starts its own server.  About
 * core/redis/connection.c, core/redis/batch.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_steps.h"
#include "redis_worlds.h"

enum { EACH_NODE = 3, TRIPS_MOST = 200 };
static bool greeting;

static void note_greeting(void)
{
    greeting = steps.out_len > 14 && (!memcmp(steps.out + 8, "AUTH", 4));
}
static void before_it_gets_there(void)
{
    note_greeting();
    rs_command(&redis, "CLIENT KILL TYPE normal");
}

static bool looks(size_t what)
{
    static int64_t (*const run[])(world *) = { do_open, do_construct, do_test, do_test_absent,
        do_test_many, do_count, do_state, do_saturated, do_copy, do_read, do_fits };
    bool is = false;
    for (size_t i = 0; i < COUNT(run); i++) is |= asked[what].run == run[i];
    return is;
}

static int64_t expected(const world *w, size_t what)
{
    return asked[what].expected == ONES ? (int64_t)w->ones : asked[what].expected;
}

static void wrong(const world *w, size_t what, long node, const char *why, int64_t rc)
{
    FAILED("%s, %s: cut at trip %ld, node %ld: %s: %lld, %s\n", w->name, asked[what].name, steps.at,
        node, why, (long long)rc, rc < 0 ? e.msg : "");
}

/* How often a counter of n0 was raised or lowered: once, or not at all where that was an error. */
static void judge_counters(world *w, size_t what, long node, int64_t rc)
{
    const int by = asked[what].run == do_add                                           ? 1
                   : asked[what].run == do_remove || asked[what].run == do_remove_many ? -1
                                                                                       : 0;
    if (!w->spec.counting || by == 0) return;
    bf_filter *other = world_open(w, false);
    const int64_t n = other ? bf_count_of(other, "n0", 2, &e) : told_code();
    if (n != 1 + by && (rc >= 0 || n != 1)) wrong(w, what, node, "counted again, or not", n);
    bf_close(other);
}

static void next_call_works(world *w, size_t what, long node)
{
    if (asked[what].run == do_make) {
        bf_filter *f = world_open(w, true);
        if (!f || bf_add_many(f, world_keys, WORLD_KEYS, NULL, &e) < 0 ||
            bf_test_many(f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS)
            wrong(w, what, node, "afterwards", -1);
        bf_close(f);
    } else if (asked[what].stays &&
               bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS)
        wrong(w, what, node, "afterwards", -1);
    if (!asked[what].stays || w->spec.counting) world_make(w);
}

/* node -1: before the commands get there.  False: there is no such node. */
static bool cut_once(world *w, size_t what, long trip, long node)
{
    steps.instead = node < 0 ? NULL : "";
    steps.before = node < 0 ? before_it_gets_there : note_greeting;
    steps.node = node < 0 ? 0 : (size_t)node;
    steps.cut = true;
    greeting = false;
    e = (bf_error){ 0 };
    steps_begin(trip);
    steps.nodes = 1;
    const int64_t rc = asked[what].run(w);
    steps_stop();
    const size_t nodes = node < 0 ? 1 : steps.nodes;
    if (rc >= 0 && rc != expected(w, what)) wrong(w, what, node, "a wrong answer", rc);
    if (rc < 0 && looks(what) && !greeting) wrong(w, what, node, "it was not asked again", rc);
    if (rc < 0 && !strstr(e.msg, w->key)) wrong(w, what, node, "an error that names no key", rc);
    judge_counters(w, what, node, rc);
    next_call_works(w, what, node);
    return node + 1 < (long)nodes;
}

static void every_trip_of(world *w, size_t what)
{
    steps.instead = NULL;
    steps.before = NULL;
    e = (bf_error){ 0 };
    steps_begin(0);
    const int64_t rc = asked[what].run(w);
    steps_stop();
    const long trips = steps.trips;
    if (rc == BF_ENOTSUP || rc == BF_EINVAL) return;
    CHECK(rc == expected(w, what) && trips <= TRIPS_MOST);
    next_call_works(w, what, 0);
    for (long trip = 1; trip <= trips && failed_here < 20; trip++)
        for (long node = -1; cut_once(w, what, trip, node) && failed_here < 20;)
            node += node < EACH_NODE ? 1 : 1 + node;
}

TEST(every_trip)
{
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        for (size_t what = 0; what < ASKED && failed_here < 20; what++)
            if (world_make(w)) every_trip_of(w, what);
        world_forget(w);
    }
}

/* Another has made parts that the handle does not know, or exchanged the bits: it looks for them.
 */
static bool behind_once(world *w, bool cleared, long trip, bool before)
{
    bf_filter *other;
    char text[32];
    if (!world_make(w) || !(other = world_open(w, false))) return false;
    if (cleared) CHECK_EQ(bf_clear(other, &e), 0);
    world_time += w->spec.window != 0 ? 10 : 0;
    for (int i = 0; i < 60; i++) bf_add(other, text, (size_t)sprintf(text, "later%d", i), &e);
    bf_close(other);
    steps.instead = before ? NULL : "";
    steps.before = before ? before_it_gets_there : note_greeting;
    steps.node = 0;
    steps.cut = true;
    greeting = false;
    e = (bf_error){ 0 };
    steps_begin(trip);
    const int rc = bf_test(w->f, "later59", 7, &e);
    steps_stop();
    if (rc != 1 && !greeting) wrong(w, 3, before ? -1 : 0, "behind: not asked again", rc);
    return steps.happened;
}

TEST(a_handle_that_is_behind)
{
    for (world *w = worlds; w < worlds + WORLDS; w++)
        for (int cleared = 0; cleared < 2 && !w->foreign && strcmp(w->name, "redisson"); cleared++)
            for (long trip = 1; failed_here < 20; trip++)
                if (!behind_once(w, cleared, trip, true) | !behind_once(w, cleared, trip, false))
                    break;
    for (world *w = worlds; w < worlds + WORLDS; w++) world_forget(w);
}

int main(void) { return main_with_redis(&redis); }
