/* saturated.c - is more than half of a filter's cells set?  Answered from a sample, so that a host may ask while keys are
 * added: every answer says how many new keys may come before the next question is worth its cost. */
#include "bits.h"
#include "seams.h"

enum { RUN = 8, FIRST_RUNS = 1024, MORE_RUNS = 1 << 17, TOGETHER = 64 };      /* 64 bytes a run */
static const double HALF = 0.5, NEARLY = 0.49;

/* The share of at most `runs` runs, evenly spread; exact where the filter has no more than that. */
static double share(const bf_filter *f, uint64_t runs)
{
    const uint64_t *w = f->part.store.words, nwords = f->part.store.nwords, all = nwords / RUN;
    uint64_t (*count)(const uint64_t *, uint64_t) = f->part.g.counting ? bf_counters_used : bf_words_count;
    if (all <= runs) return (double)count(w, nwords) / (double)f->part.g.m;
    uint64_t set = 0, some[TOGETHER * RUN];
    for (uint64_t i = 0; i < runs; i++) {
        bf_words_copy(some + i % TOGETHER * RUN, w + all / runs * i * RUN, RUN);
        if (i % TOGETHER == TOGETHER - 1) set += count(some, TOGETHER * RUN);
    }
    return (double)set / (double)(runs * RUN * (f->part.g.counting ? 16 : 64));
}

static int fill_now(bf_filter *f, double *fill, bf_error *err)
{
    bf_state state;
    const bf_store *s = &f->part.store;
    int rc = s->words && s->ops->check ? s->ops->check(&f->part.store, err) : 0;
    if (rc == 0 && !s->words && (rc = bf_get_state(f, &state, err)) == 0) *fill = state.fill;
    if (rc < 0 || !s->words) return rc;
    *fill = share(f, FIRST_RUNS);
    if (*fill > NEARLY) *fill = share(f, MORE_RUNS);
    return 0;
}

/* At the number of keys it is sized for a filter of the best k is half full: that alone is no reason to warn. */
int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    const bf_geometry *g = &f->part.g;
    const double keys = (double)g->m / g->k, most = 1.1 * (double)g->n + 10;     /* a key sets at most k cells */
    double fill = 0;
    bf_state state;
    /* Pages that nobody wrote to are not looked at: the system would have to provide them. */
    int rc = f->untouched && !bf_raised(&f->may_write) ? 0 : fill_now(f, &fill, err);
    if (rc < 0) return rc;
    bf_estimate(f->scheme->layout, g, (uint64_t)(fill * (double)g->m), &state);
    double left = (HALF - fill) * keys, more = most - state.count;
    if (left < more) left = more;
    if (left < keys / 64) left = keys / 64;
    *wait = left < 9e18 ? (uint64_t)left : INT64_MAX;
    return fill <= HALF ? 0 : more > 0 ? BF_HALF_FULL : BF_OVERFULL;
}
