/* calls.h - what the threads of a model do on a filter, and what came of it: each thread makes a
 * few calls, one after the other; for each call is known what it answered and which calls of others
 * had ended before it began.  Knows plans, outcomes and the promises that hold for every filter;
 * what is particular to growing or forgetting ones say their test_model_*.c. */
#ifndef CALLS_H
#define CALLS_H
#include "../../core/parts/parts.h"
#include "check.h"
#include "model.h"

enum {
    NOTHING,
    ADD,
    TEST,
    ADD_BOTH,
    CLEAR,
    COPY,
    UNITE,
    REMOVE,
    DELETE,
    RENAME,
    CREATE,
    OPEN,
    TICK,
    KILL
}; /* KILL: key is a thread, which dies */
enum { CALLS = 3, KEYS = 4, BOTH = 2, NO_CLOCK = -1 }; /* ADD_BOTH: keys 0 and 1 as a batch */
typedef struct {
    int op, key, now;
} call; /* now: the epoch that its clock shows, NO_CLOCK = the clock of all  */
typedef call plan[MODEL_THREADS][CALLS];
typedef struct {
    int rc;
    uint8_t each[BOTH];
    int after[MODEL_THREADS]; /* how many calls of each thread had ended before it began */
    bool ended;
    int now, latest; /* the last and the latest epoch its clock showed, NO_CLOCK = none */
    uint64_t saw;    /* what it found in the watched word after that            */
} outcome;

static void (*after_kill)(int thread);
static int (*wrong_add)(
    bf_filter *to, int key);               /* what must be found: another add than the core's */
static int (*another_call)(const call *c); /* DELETE, RENAME, CREATE, OPEN: the home's */
static bf_filter *f, *handle[MODEL_THREADS], *copy,
    *other; /* handle: by thread, where there are several of one file */
static const plan *doing;
static outcome out[MODEL_THREADS][CALLS];
static int begun[MODEL_THREADS],
    finished[MODEL_THREADS]; /* calls of each thread; steps of the model        */
static int clock_of_all, clock_of_verdict;
static char names[KEYS][8];

/* ---- parts of a few words, and keys of two bits, one in each of the first two words, that have
 * none in common ---- */
static unsigned room = 1, part_bits = 128; /* keys a part is sized for */
static inline void find_keys(bf_filter *of)
{
    uint64_t taken[2 * KEYS], pos[2];
    for (unsigned n = 0, i = 0; n < KEYS; i++) {
        snprintf(names[n], sizeof names[n], "k%u", i);
        bf_hashcode(of, names[n], strlen(names[n]), pos, 2, NULL);
        bool good = (pos[0] ^ pos[1]) % part_bits / 64 == 1 && pos[0] % part_bits < 128;
        for (unsigned j = 0; j < 2 * n; j++)
            good &= pos[0] % part_bits != taken[j] && pos[1] % part_bits != taken[j];
        if (!good) continue;
        taken[2 * n] = pos[0] % part_bits;
        taken[2 * n++ + 1] = pos[1] % part_bits;
    }
}
/* In the place of sizing_parts.c. */
int __wrap_bf_chain_part(
    const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err);
int __wrap_bf_chain_part(
    const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err)
{
    *part = bf_part_of(d, i);
    part->g.m = part->g.lines = part_bits;
    part->g.n = room;
    return 1;
}
/* Parts of a few words are what no constructor makes. */
bool __wrap_bf_chain_part_possible(const bf_params *, const bf_params *);
bool __wrap_bf_chain_part_possible(const bf_params *of, const bf_params *part) { return true; }
/* Keys for parts of that size. */
static inline void take_keys(unsigned bits)
{
    part_bits = bits;
    bf_filter *g =
        bf_open(&(bf_spec){ .n = 1, .p = 0.1, .k = 2, .scheme = "classic", .window = 10 }, NULL);
    find_keys(g);
    bf_close(g);
}
static inline int add_key(bf_filter *to, int key)
{
    return bf_add(to, names[key], strlen(names[key]), NULL);
}
static inline int has_key(bf_filter *in, int key)
{
    return bf_test(in, names[key], strlen(names[key]), NULL);
}

/* ---- a call ---- */
static inline double clock_(void *step)
{
    const int me = model.running;
    if (me < 0) return (clock_of_verdict + 0.5) * *(double *)step;
    outcome *o = &out[me][finished[me]];
    o->now = (*doing)[me][finished[me]].now;
    if (o->now == NO_CLOCK) {
        bf_model_step(&clock_of_all, false);
        o->now = clock_of_all;
    }
    if (o->now > o->latest) o->latest = o->now;
    model.looks[me] = true;
    return (o->now + 0.5) * *(double *)step;
}

static inline int do_call(bf_filter *on, const call *c, outcome *o)
{
    const bf_key both[BOTH] = { { names[0], strlen(names[0]) }, { names[1], strlen(names[1]) } };
    switch (c->op) {
    case ADD: return wrong_add ? wrong_add(on, c->key) : add_key(on, c->key);
    case TEST: return has_key(on, c->key);
    case ADD_BOTH: return (int)bf_add_many(on, both, BOTH, o->each, NULL);
    case REMOVE: return bf_remove(on, names[c->key], strlen(names[c->key]), NULL);
    case CLEAR: return bf_clear(on, NULL);
    case COPY: return (copy = bf_copy(on, NULL)) ? 0 : BF_ENOMEM;
    case UNITE: return bf_unite(on, other, NULL);
    case DELETE:
    case RENAME:
    case CREATE:
    case OPEN: return another_call(c);
    case KILL:
        model_kill(c->key);
        if (after_kill) after_kill(c->key);
        return 0;
    default:
        bf_model_step(&clock_of_all, true);
        clock_of_all = c->now;
        return 0;
    }
}

/* Does it matter for a call whether those of thread t have ended? */
static inline bool adds(const call *c, int key)
{
    return (c->op == ADD && c->key == key) || (c->op == ADD_BOTH && key < BOTH);
}
static inline bool depends(const call *c, int t)
{
    bool same = c->op != ADD && c->op != ADD_BOTH && c->op != TEST && c->op < TICK;
    for (int key = 0; key < KEYS; key++)
        for (int i = 0; i < CALLS; i++)
            same |=
                (adds(c, key) || (c->op == TEST && c->key == key)) && adds(&(*doing)[t][i], key);
    return same;
}

static inline void make_calls(int me)
{
    for (int i = 0; i < CALLS && (*doing)[me][i].op; i++) {
        const call *c = &(*doing)[me][i];
        outcome *o = &out[me][i];
        for (int t = 0; t < MODEL_THREADS; t++) {
            if ((*doing)[t][0].op && t != me && depends(c, t)) bf_model_step(finished + t, false);
            o->after[t] = finished[t];
        }
        begun[me]++;
        o->now = o->latest = NO_CLOCK;
        o->rc = do_call(handle[me] ? handle[me] : f, c, o);
        o->saw = model.saw[me];
        bf_model_step(finished + me, true);
        o->ended = true;
        finished[me]++;
    }
}

static inline void begin_calls(const plan *p)
{
    doing = p;
    memset(out, 0, sizeof out);
    memset(begun, 0, sizeof begun);
    memset(finished, 0, sizeof finished);
    memset(model.saw, 0, sizeof model.saw);
    for (int t = 0; t < MODEL_THREADS && (*p)[t][0].op; t++) model_thread_is(t, make_calls);
}

/* ---- what came of them ---- */
#define EACH_CALL(t, i)                                                                            \
    for (int t = 0; t < model.threads; t++)                                                        \
        for (int i = 0; i < CALLS && (*doing)[t][i].op; i++)
static inline int told(int t, int i, int key)
{
    return (*doing)[t][i].op == ADD_BOTH ? out[t][i].each[key] : out[t][i].rc;
}
/* Had call (t, i) ended when call (u, j) began? */
static inline bool before(int t, int i, int u, int j)
{
    return t == u ? i < j : out[u][j].after[t] > i;
}

/* How many calls of this kind there are; of those that answered rc, if it is not below 0. */
static inline int calls_of(int op, int key, int rc)
{
    int n = 0;
    EACH_CALL(t, i)
    n += (*doing)[t][i].op == op && (*doing)[t][i].key == key && (rc < 0 || out[t][i].rc == rc);
    return n;
}
static inline bool no_errors(void)
{
    EACH_CALL(t, i) if (out[t][i].rc < 0) return false;
    return true;
}

/* Of the adders of one key at least one is told that it is new, unless it is one that died. */
static inline bool somebody_adds_it_as_new(int key)
{
    bool any = false, new = false;
    EACH_CALL(t, i) if (begun[t] > i && adds(&(*doing)[t][i], key))
    {
        any = true;
        new |= !out[t][i].ended || told(t, i, key) == BF_ADDED;
    }
    return !any || new;
}

/* What was added before a test or another add began is found by it. */
static inline bool found_by(int u, int j, int key)
{
    const bool test = (*doing)[u][j].op == TEST;
    EACH_CALL(t, i)
    if (adds(&(*doing)[t][i], key) && before(t, i, u, j) &&
        (test ? out[u][j].rc != 1 : told(u, j, key) != BF_PRESENT))
        return false;
    return true;
}
static inline bool what_was_added_is_found(void)
{
    for (int key = 0; key < KEYS; key++) EACH_CALL(u, j)
        {
            const call *c = &(*doing)[u][j];
            if (out[u][j].ended && (adds(c, key) || (c->op == TEST && c->key == key)) &&
                !found_by(u, j, key))
                return false;
        }
    return true;
}

static inline bool all_are_there(bf_filter *in)
{
    for (int key = 0; key < KEYS; key++) EACH_CALL(t, i)
    if (out[t][i].ended && adds(&(*doing)[t][i], key) && has_key(in, key) != 1) return false;
    return true;
}

/* ---- a promise over several plans ---- */
static const plan *chosen;
static inline bool explore_plan(
    const char *name, const plan *p, void (*prepare)(void), bool (*verdict)(void))
{
    chosen = p;
    return keeps(name, prepare, verdict);
}
static inline void show_run(void)
{
    EACH_CALL(t, i)
    fprintf(stderr, "     thread %d call %d: op %d key %d now %d: %d\n", t, i, (*doing)[t][i].op,
        (*doing)[t][i].key, out[t][i].now, out[t][i].rc);
}
#define KEPT(name, p, prepare, verdict)                                                            \
    do {                                                                                           \
        bool kept = explore_plan(name, &(p), prepare, verdict);                                    \
        if (!kept) show_run();                                                                     \
        CHECK(kept);                                                                               \
    } while (0)
#define BROKEN(p, prepare, verdict) CHECK(!explore_plan(NULL, &(p), prepare, verdict))
#endif
