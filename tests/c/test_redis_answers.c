/* test_redis_answers.c - every kind of filter in Redis, everything that can be asked of it, every
 * trip that takes, everything in its answer: it becomes something else, or the connection ends
 * there.  What is told is right or an error that names the key, and the next call works.  It
 * starts its own server.  About core/redis/resp.c, core/redis/batch.c, core/redis/bitfield.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_steps.h"
#include "redis_worlds.h"

static const char *const spoils[] = {
    "-ERR unknown command 'x', with args beginning with: s3same\r\n", ":-7\r\n", "$-1\r\n",
    "$3\r\nabc\r\n", "*0\r\n", "", "HTTP/1.1 400\r\n\r\n",
    "-LOADING Redis is\tloading the dataset in memory\r\n",
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", ":99999\r\n",
    "$0\r\n\r\n", "*1\r\n:1\r\n", "*-1\r\n",
    "$100\r\n01234567890123456789012345678901234567890123456789012345678901234567890123456789012345"
    "67890123456789\r\n",
    "+OK\r\n", "-\r\n", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"
};
enum { SPOILS = COUNT(spoils), EACH_NODE = 4, TRIPS_MOST = 200 };

static char class_of(char type) { return type == '+' ? '$' : type; }

/* Might a server answer so?  Then what comes of it need not be right. */
static bool plausible(char was, const char *instead)
{
    if (was == ':' && !strncmp(instead, "*1\r\n:", 5))
        return true; /* an array of one is its member */
    return class_of(*instead) == class_of(was) ||
           ((was == '$' || was == '*') &&
               (!strncmp(instead, "$-1", 3) || !strncmp(instead, "*-1", 3) ||
                   !strncmp(instead, "*0", 2)));
}

/* What happened to it, on one line. */
static const char *shown(void)
{
    static char text[48];
    snprintf(text, sizeof text, "%.20s%s", steps.instead ? steps.instead : "as it is",
        steps.cut ? " and the end" : "");
    for (char *p = text; *p; p++)
        if (*p == '\r' || *p == '\n') *p = ' ';
    return text;
}

static int64_t expected(const world *w, size_t what)
{
    return asked[what].expected == ONES ? (int64_t)w->ones : asked[what].expected;
}

static void judge(const world *w, size_t what, int64_t rc, bool strict)
{
    const bool fits = rc == 0 && steps.at && asked[what].run == do_fits; /* "open it anew" */
    const bool fine = rc < 0 ? rc == e.code && strstr(e.msg, w->key) && !strstr(e.msg, "s3same")
                             : !strict || fits || rc == expected(w, what);
    if (fine) return;
    FAILED("%s, %s: trip %ld, node %zu (%c), %s: %lld, %s\n", w->name, asked[what].name, steps.at,
        steps.node, steps.was, shown(), (long long)rc, rc < 0 ? e.msg : "");
}

static void next_call_works(world *w, size_t what)
{
    bf_filter *made = NULL;
    bool fine;
    if (asked[what].run == do_make)
        fine = (made = world_open(w, true)) &&
               bf_add_many(made, world_keys, WORLD_KEYS, NULL, &e) >= 0 &&
               bf_test_many(made, world_keys, WORLD_KEYS, NULL, &e) == WORLD_KEYS;
    else
        fine = asked[what].stays
                   ? bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) == WORLD_KEYS
                   : world_make(w);
    bf_close(made);
    if (fine) return;
    FAILED("%s, %s: trip %ld, node %zu, %s: afterwards %s\n", w->name, asked[what].name, steps.at,
        steps.node, shown(), e.msg);
    world_make(w);
}

/* False: that trip has no such node. */
static bool once(world *w, size_t what, long trip, size_t node, const char *instead, bool cut)
{
    steps.instead = instead;
    steps.node = node;
    steps.cut = cut;
    e = (bf_error){ 0 };
    steps_begin(trip);
    int64_t rc = asked[what].run(w);
    steps_stop();
    const bool happened = steps.happened;
    judge(w, what, rc, !plausible(steps.was, instead));
    next_call_works(w, what);
    return happened;
}

/* The first few, then fewer and fewer, and the last two: the end of a trip is where the mark is. */
static size_t after(size_t node, size_t nodes)
{
    const size_t next = node < EACH_NODE ? node + 1 : node + node / 2;
    return next < nodes - 2 || node + 2 >= nodes ? next : node < nodes - 2 ? nodes - 2 : nodes - 1;
}

static void every_answer_of(world *w, size_t what)
{
    static size_t turn;
    steps.instead = NULL;
    e = (bf_error){ 0 };
    steps_begin(0);
    int64_t rc = asked[what].run(w);
    steps_stop();
    const long trips = steps.trips;
    if (rc == BF_ENOTSUP || rc == BF_EINVAL) return;
    judge(w, what, rc, true);
    if (rc < 0 || trips > TRIPS_MOST)
        FAILED("%s, %s: %ld trips: %lld, %s\n", w->name, asked[what].name, trips, (long long)rc,
            e.msg);
    next_call_works(w, what);
    for (long trip = 1; trip <= trips && failed_here < 20; trip++) {
        steps.nodes = 1;
        for (size_t node = 0; node < steps.nodes && failed_here < 20;
            node = after(node, steps.nodes))
            for (size_t i = 0; i < (node < EACH_NODE ? SHORT(SPOILS, 4) : 2); i++, turn++) {
                const char *instead = spoils[SHORT(node < EACH_NODE, 0) ? i : turn % SPOILS];
                if (!once(w, what, trip, node, instead, turn % 3 == 0)) break;
            }
    }
}

TEST(every_answer)
{
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    for (size_t i = 0; i < WORLDS; i++) {
        const double start = rs_now();
        const int before = failed_here;
        for (size_t what = 0; what < ASKED && failed_here < before + 10; what++)
            if (world_make(worlds + i)) every_answer_of(worlds + i, what);
        world_forget(worlds + i);
        printf("     %s: %.1f s\n", worlds[i].name, rs_now() - start);
    }
}

int main(void) { return main_with_redis(&redis); }
