/* test_redis_broken_connection.c - every kind of filter in Redis, every call, every round trip of
 * it: the connection ends before the commands get there, after some of the reply, or before all of
 * it.  What only reads answers as if nothing had happened, on a new connection; a change is done,
 * or is an error that was done once or not at all; the next call works.  Only AUTH and SELECT are
 * not sent again.  Its own server.  About core/redis/connection.c, core/redis/batch.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_sweep.h"

static void ends(void) { rs_command(&redis, "CLIENT KILL TYPE normal"); }
static const disturbance before = { .name = "the connection ends", .act = ends, .resent = true },
                         within = { .name = "the connection ends within",
                             .instead = "",
                             .cut = true,
                             .resent = true };

static void every_place(long trip)
{
    disturb(&before, trip, 0);
    for (size_t node = 0; disturb(&within, trip, node) && failed_here < 20;)
        node += node < 3 ? 1 : 1 + node;
}

TEST(every_round_trip) { sweep_all(NULL, every_place); }

/* Another has made parts that the handle does not know, or exchanged the bits: it asks for them. */
static bool behind_once(world *w, bool cleared, long trip, const disturbance *d)
{
    bf_filter *other;
    char text[32];
    if (!world_make(w) || !(other = world_open(w, THERE))) return false;
    if (cleared) CHECK_EQ(bf_clear(other, &e), 0);
    world_time += w->spec.window != 0 ? 10 : 0;
    for (int i = 0; i < 60; i++) bf_add(other, text, (size_t)sprintf(text, "later%d", i), &e);
    bf_close(other);
    trips.instead = d->instead;
    trips.before = d->act;
    trips.node = 0;
    trips.cut = d->cut;
    e = (bf_error){ 0 };
    trips_begin(trip);
    const int64_t rc = bf_test(w->f, "later59", 7, &e);
    trips_stop();
    if (rc != 1 && !trips.greeting)
        FAILED("%s, behind: %s at round trip %ld: %lld, %s\n", w->name, d->name, trip,
            (long long)rc, e.msg);
    return trips.happened;
}

TEST(a_handle_that_is_behind)
{
    for (world *w = worlds; w < worlds + WORLDS; w++)
        for (int cleared = 0; cleared < 2 && !w->foreign && strcmp(w->name, "redisson"); cleared++)
            for (long trip = 1; failed_here < 20; trip++)
                if (!behind_once(w, cleared, trip, &before) |
                    !behind_once(w, cleared, trip, &within))
                    break;
    for (world *w = worlds; w < worlds + WORLDS; w++) world_forget(w);
}

int main(void) { return main_with_redis(&redis); }
