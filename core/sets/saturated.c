/* saturated.c - is more than half of a filter's cells set?  Answered from a sample, so that a host
 * may ask while keys are added: every answer says how many new keys may come before the next
 * question is worth its cost. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"

static const double HALF = 0.5;

static int fill_now(bf_filter *f, double *fill, bf_error *err)
{
    bf_state state;
    const bf_store *s = &f->part.store;
    int rc = s->words && s->ops->check ? s->ops->check(&f->part.store, err) : 0;
    if (rc == 0 && !s->words && (rc = bf_do_get_state(f, &state, err)) == 0) *fill = state.fill;
    if (rc < 0 || !s->words) return rc;
    *fill = bf_fill(s->words, s->nwords, &f->part.g);
    return 0;
}

/* At the number of keys it is sized for a filter of the best k is half full: that alone is no
 * reason to warn. */
int bf_do_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    const bf_geometry *g = &f->part.g;
    const double keys = (double)g->m / g->k,
                 most = 1.1 * (double)g->n + 10; /* a key sets at most k cells */
    double fill = 0;
    bf_state state;
    if (f->chain) {
        const int cut = bf_chain_check(f, err);
        if (cut < 0) return cut;
    }
    /* Pages that nobody wrote to are not looked at: the system would have to provide them. */
    if (f->chain) return bf_chain_saturated(f, wait, err);
    int rc = f->untouched && !bf_raised(&f->may_write) ? 0 : fill_now(f, &fill, err);
    if (rc < 0) return rc;
    bf_estimate(f->scheme, g, (uint64_t)(fill * (double)g->m), &state);
    double left = (HALF - fill) * keys, more = most - state.count;
    if (left < more) left = more;
    if (left < keys / 64) left = keys / 64;
    *wait = left < 9e18 ? (uint64_t)left : INT64_MAX;
    return fill <= HALF ? 0 : more > 0 ? BF_HALF_FULL : BF_OVERFULL;
}
