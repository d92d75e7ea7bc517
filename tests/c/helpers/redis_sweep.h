/* redis_sweep.h - the sweeps over filters in Redis: every kind of filter, every call, every round
 * trip of the call, and something that disturbs it there.  A test is a table of disturbances; what
 * may come of them is judged here.  An answer is right, or an error that names the key and shows no
 * secret; what is lost is never "absent"; the next call works, or says what is lost. */
#ifndef REDIS_SWEEP_H
#define REDIS_SWEEP_H
#include "redis_round_trips.h"
#include "redis_worlds.h"

/* What is in the filter afterwards: the same; less; the bits of another filter of its name; as much
 * as before of one that was re-created, or cleared. */
typedef enum { THE_SAME, LESS, ANOTHER, RECREATED, CLEARED } leaves;
typedef struct {
    const char *name;
    void (*act)(void);   /* another client does before the commands go out; or NULL */
    const char *instead; /* comes in the place of a node of the reply; or NULL */
    leaves leaves;
    bool fills;  /* what is re-created has the same keys */
    bool cut;    /* the connection ends there */
    bool every;  /* at all later round trips, too */
    bool resent; /* what reads is sent again, and nobody notices */
    bool unseen; /* another handle exchanges the bits for the same ones, and nobody notices */
} disturbance;

static struct {
    world *w;
    size_t call;
    const disturbance *by;
    bf_filter *other; /* another handle on the filter, for acts */
    char key[40];     /* of Redis, that an act deleted */
    bool bits;        /* an act concerned the bits alone */
    bool partly;      /* an act re-created one shard */
    leaves left;      /* at first as `by` says */
    int64_t rc;
} sweep;

static inline void sweep_wrong(const char *what)
{
    char shown[48];
    snprintf(shown, sizeof shown, "%.20s%s", trips.instead ? trips.instead : "",
        trips.cut ? " and the end" : "");
    for (char *p = shown; *p; p++)
        if (*p == '\r' || *p == '\n') *p = ' ';
    FAILED("%s, %s: %s %s%s %s round trip %ld, node %zu (%c): %s: %lld, %s\n", sweep.w->name,
        calls_of[sweep.call].name, sweep.by->name, sweep.key, shown,
        sweep.by->every ? "from" : "at", trips.at, trips.node, trips.was ? trips.was : ' ', what,
        (long long)sweep.rc, sweep.rc < 0 ? e.msg : "");
}

static inline bool call_is(unsigned of) { return (calls_of[sweep.call].is & of) != 0; }

/* Might a server answer so?  Then what comes of it need not be right. */
static inline bool plausible(void)
{
    const char *instead = trips.instead, type = *instead == '+' ? '$' : *instead,
               was = trips.was == '+' ? '$' : trips.was;
    const bool number = type == ':' || !strncmp(instead, "*1\r\n:", 5);
    if (number && (was == ':' || (trips.hash && trips.node + 2 < trips.nodes)))
        return true; /* an array of one is its member; and a hash may have other numbers */
    return type == was || ((was == '$' || was == '*') &&
                              (!strncmp(instead, "$-1", 3) || !strncmp(instead, "*-1", 3) ||
                                  !strncmp(instead, "*0", 2)));
}

static inline bool unmarked(void) { return is_unmarked(sweep.w); }
static inline bool hides_a_loss(void) { return sweep.w->foreign || (unmarked() && sweep.bits); }

static inline bool says_recreated(int64_t rc)
{
    return rc == BF_EIO && e.lost && strstr(e.msg, sweep.w->key) &&
           strstr(e.msg, "was re-created: keys added before are gone (");
}
static inline bool says_what_is_lost(void)
{
    static const char *const says[] = { "is lost", "does not exist", "was re-created",
        "not our filter", "bytes of another system", "not the mark of its :meta", "no valid size" };
    bool is = false;
    for (size_t i = 0; i < COUNT(says); i++) is |= strstr(e.msg, says[i]) != NULL;
    return is;
}

static inline bool changes_keys(void)
{
    return !strncmp(calls_of[sweep.call].name, "add", 3) ||
           !strncmp(calls_of[sweep.call].name, "remove", 6);
}

static inline void judge_answer(void)
{
    const world *w = sweep.w;
    const int64_t rc = sweep.rc, want = expected(w, sweep.call);
    const bool fits = calls_of[sweep.call].run == do_fits,
               uploads = calls_of[sweep.call].run == do_upload,
               one_key = *sweep.key && !w->spec.cache && !unmarked() && trips.at == 1;
    if (rc < 0) {
        if (rc != e.code || !strstr(e.msg, w->key) || strstr(e.msg, "s3same"))
            sweep_wrong("an error of another form");
        if (sweep.by->resent && call_is(READS) && !trips.greeting)
            sweep_wrong("it was not sent again");
        if (sweep.by->resent && changes_keys() && !trips.greeting &&
            !strstr(e.msg, "cannot tell what was"))
            sweep_wrong("it does not say that it may be done");
        if (one_key && !says_what_is_lost()) sweep_wrong("an error that does not say what is lost");
        if (sweep.by->unseen && sweep.left == THE_SAME && !has_none(rc) && !uploads)
            sweep_wrong("an error");
        if (sweep.left >= RECREATED && call_is(OWN) && !was_opened && !uploads &&
            !sweep.by->every && !sweep.w->foreign)
            sweep_wrong("not opened, though there was one at each moment");
        return;
    }
    bool strict = false;
    if (sweep.left == THE_SAME)
        strict = !(trips.instead && plausible()) && !(fits && rc == 0 && !sweep.by->resent);
    if (sweep.left == RECREATED)
        strict = call_is(SEES) && (!call_is(OWN) || sweep.by->fills) && !unmarked();
    if (sweep.left == LESS)
        strict =
            (call_is(SEES) || (one_key && want > 0 && !call_is(MAKES) && !(fits && rc == 0))) &&
            !hides_a_loss();
    if (call_is(OWN) && one_key && e.code) sweep_wrong("an error is left by success");
    if (strict && rc != want) sweep_wrong("a wrong answer");
}

/* A counter of n0 was raised or lowered once, or not at all where that was an error. */
static inline void judge_counters(void)
{
    int64_t (*run)(world *) = calls_of[sweep.call].run;
    const int by = run == do_add ? 1 : run == do_remove || run == do_remove_many ? -1 : 0;
    if (!sweep.w->spec.counting || by == 0 || (trips.instead && plausible())) return;
    bf_filter *other = world_open(sweep.w, THERE);
    const int64_t rc = sweep.rc, n = other ? bf_count_of(other, "n0", 2, &e) : e.code;
    if (n != 1 + by && (rc >= 0 || n != 1)) sweep_wrong("counted again, or not");
    bf_close(other);
}

/* What was in it is in it. */
static inline void judge_same(void)
{
    world *w = sweep.w;
    bf_filter *made = NULL;
    bool fine = true;
    judge_counters();
    if (call_is(MAKES) && !call_is(STAYS))
        fine = (made = world_open(w, MADE)) &&
               bf_add_many(made, world_keys, WORLD_KEYS, NULL, &e) >= 0 &&
               bf_test_many(made, world_keys, WORLD_KEYS, NULL, &e) == WORLD_KEYS;
    else if (call_is(STAYS))
        fine = bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) == WORLD_KEYS;
    bf_close(made);
    if (!fine) sweep_wrong("afterwards");
    if (!fine || !call_is(STAYS) || w->spec.counting) world_make(w);
}

/* A handle is told once that its filter was re-created, by the first call that asks Redis, and goes
 * on with the new one, in which there is what was added since. */
static inline void judge_recreated(bool told)
{
    world *w = sweep.w;
    if (trips.at != 1 || sweep.by->every || !told || (sweep.partly && !call_is(SEES))) return;
    bf_filter *other = world_open(w, MADE);
    if (bf_test(w->f, "other", 5, &e) != 1 || bf_test(w->f, "other", 5, &e) != 1 ||
        bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) !=
            bf_test_many(other, world_keys, WORLD_KEYS, NULL, &e))
        sweep_wrong("it does not go on with the new one");
    if (bf_add_many(w->f, world_keys, WORLD_KEYS, NULL, &e) < 0 ||
        bf_test_many(other, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS)
        sweep_wrong("what it adds is not in the new one");
    bf_close(other);
}

/* The next call works, or says what is lost; nothing stays that looks like a filter. */
static inline void judge_changed(void)
{
    world *w = sweep.w;
    const leaves left = sweep.left;
    const bool works = left >= RECREATED && !call_is(MAKES) &&
                       (calls_of[sweep.call].run != do_delete || sweep.rc < 0);
    bool told = says_recreated(sweep.rc) && !call_is(OWN) && !sweep.by->every;
    if (left == RECREATED && trips.at == 1 && !call_is(OWN) && !unmarked() && !w->spec.cache &&
        !told && !sweep.by->every && !sweep.partly && calls_of[sweep.call].run != do_fits)
        sweep_wrong("it does not say that it was re-created");
    judge_recreated(told);
    e = (bf_error){ 0 };
    int64_t rc = bf_test(w->f, "n0", 2, &e);
    if (left == RECREATED && !told && says_recreated(rc)) {
        told = true;
        rc = bf_test(w->f, "n0", 2, &e);
    }
    if (rc < 0 ? works || rc != e.code || !strstr(e.msg, w->key)
               : rc == 0 && left == LESS && call_is(SEES) && !hides_a_loss())
        sweep_wrong("afterwards");
    if (*sweep.key && left == LESS && !call_is(MAKES) && !hides_a_loss() &&
        rs_number(&redis, "EXISTS %s", sweep.key) != 0)
        sweep_wrong("a stub of the key");
    if (!works) return;
    rc = bf_add(w->f, "later", 5, &e);
    if (left == RECREATED && !told && says_recreated(rc))
        rc = bf_add(w->f, "later", 5, &e); /* a cache was asked before */
    if (rc < 0 || bf_test(w->f, "later", 5, &e) != 1) sweep_wrong("later");
}

/* Runs the call, disturbed at a round trip and there at a node of the reply.  False: there is no
 * such place. */
static inline bool disturb(const disturbance *by, long trip, size_t node)
{
    world *w = sweep.w;
    if (by->act && !by->resent && (!world_make(w) || !(sweep.other = world_open(w, THERE)))) {
        sweep_wrong("cannot be made");
        return false;
    }
    sweep.by = by;
    sweep.left = by->leaves;
    sweep.bits = sweep.partly = false;
    *sweep.key = 0;
    trips.before = by->act;
    trips.instead = by->instead;
    trips.cut = by->cut;
    trips.after = by->every;
    trips.node = node;
    trips.was = 0;
    e = (bf_error){ 0 };
    trips_begin(trip);
    sweep.rc = calls_of[sweep.call].run(w);
    trips_stop();
    const bool happened = trips.happened;
    if (happened || by->leaves == THE_SAME) {
        judge_answer();
        (by->leaves == THE_SAME ? judge_same : judge_changed)();
    }
    bf_close(sweep.other);
    sweep.other = NULL;
    return happened;
}

/* Undisturbed: the answer is right.  Returns the number of round trips; 0: there is no such call.
 */
static inline long round_trips_of(world *w, size_t call)
{
    static const disturbance nothing = { .name = "nothing" };
    sweep.w = w;
    sweep.call = call;
    sweep.by = &nothing;
    trips.instead = NULL;
    trips.before = NULL;
    trips.cut = trips.after = false;
    e = (bf_error){ 0 };
    trips_begin(0);
    sweep.rc = calls_of[call].run(w);
    trips_stop();
    const long n = trips.count;
    if (has_none(sweep.rc)) return 0;
    if (sweep.rc != expected(w, call) || n > 200) sweep_wrong("a wrong answer");
    judge_same();
    return n;
}

/* Each round trip of each call. */
static void (*at_each)(long trip);
static inline void sweep_call(world *w, size_t call)
{
    const long n = round_trips_of(w, call);
    for (long trip = 1; trip <= n && failed_here < 20; trip++) at_each(trip);
}
static inline void sweep_all(bool (*skips)(const world *), void (*at)(long trip))
{
    at_each = at;
    each_call(skips, sweep_call);
}
#endif
