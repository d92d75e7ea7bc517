/* saturated.c - does a filter hold more keys than it is sized for?  Answered from a sample, so that
 * a host may ask while keys are added: every answer says how many new keys may come before the next
 * question is worth its cost.  One part is judged by the share of its cells that are set; many, of
 * which each may be full, by the rate of all. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"

static const double HALF = 0.5;

static uint64_t whole_keys(double n) { return n < 9e18 ? (uint64_t)n : INT64_MAX; }

/* Cells that are set.  In memory and files from a sample; elsewhere all of them are counted, or
 * with glance = true a few places. */
static int ones_of(bf_piece *p, bool glance, uint64_t *ones, bf_error *err)
{
    bf_store *s = &p->part.store;
    uint64_t some = 0, of = 1;
    *ones = s->words ? bf_sample(s->words, s->nwords, &p->part.g) : 0;
    if (s->words || !bf_piece_there(p)) return 0;
    if (!glance) return bf_part_ones(p, ones, NULL, err);
    const int rc = s->ops->glance(s, &some, &of, err);
    *ones = (uint64_t)((double)some / (double)of * (double)p->part.g.m);
    return rc;
}

static double most_keys(const bf_geometry *g) { return 1.1 * (double)g->n + 10; }

/* ---- one part ---- */
static int saturation_of(const bf_state *state, const bf_geometry *g)
{
    return state->fill <= HALF ? 0 : state->count < most_keys(g) ? BF_HALF_FULL : BF_OVERFULL;
}

/* At the number of keys it is sized for a filter of the best k is half full: that alone is no
 * reason to warn.  Pages that nobody wrote to are not looked at: the system would have to provide
 * them. */
static int one_part(bf_filter *f, uint64_t *wait, bf_error *err)
{
    const bf_geometry *g = &f->part.g;
    const double keys = (double)g->m / g->k; /* a key sets at most k cells */
    const bool empty = f->untouched && bf_int_load_acquire(&f->state) == BF_FRESH;
    uint64_t ones = 0;
    bf_state state;
    int rc = empty ? 0
                   : bf_require_readable(f, f->part.store.ops->count || f->part.store.ops->read,
                         "count its bits", err);
    if (rc == 0 && !empty) rc = ones_of(&f->piece, false, &ones, err);
    if (rc < 0) return rc;
    bf_estimate(f->scheme, f->secret, g, ones, &state);
    double left = (HALF - state.fill) * keys, more = most_keys(g) - state.count;
    if (left < more) left = more;
    if (left < keys / 64) left = keys / 64;
    *wait = whole_keys(left);
    return saturation_of(&state, g);
}

/* ---- many ---- */
/* Part by part the keys are counted as they are added (grow), or not at all (window).  A part of a
 * growing filter has too many where it can have no successor, or by a union. */
static bool may_be_overfull(bf_filter *f)
{
    if (f->variant->forgets) return true;
    for (unsigned i = 0; i < bf_whole_count(f); i++) {
        const bf_piece *p = bf_whole_piece(f, i);
        if ((double)bf_live(p->live) > most_keys(&p->part.g)) return true;
    }
    return false;
}

/* The rate of all living parts, and the keys in the one that has the most for its size. */
static int rate_now(
    bf_filter *f, int64_t now, bool glance, double *rate, double *fullest, bf_error *err)
{
    double clean = 1;
    *rate = *fullest = 0;
    if (!may_be_overfull(f)) return 0;
    for (unsigned i = 0; i < bf_whole_count(f); i++) {
        bf_piece *p = bf_whole_piece(f, i);
        bf_state one;
        uint64_t ones;
        if (!bf_whole_lives(f, p, now)) continue;
        int rc = ones_of(p, glance, &ones, err);
        if (rc < 0) return rc;
        bf_estimate(f->scheme, f->secret, &p->part.g, ones, &one);
        clean *= 1 - one.fpr;
        if (one.count > *fullest) *fullest = one.count;
    }
    *rate = 1 - clean;
    return 0;
}

static int rate_exceeds(const bf_filter *f, double rate)
{
    return rate > 1.5 * f->part.g.p ? BF_OVERFULL : 0;
}

/* The time is that of the newest add: the host's clock may do anything, and this is asked in the
 * middle of its calls. */
static int many_parts(bf_filter *f, uint64_t *wait, bf_error *err)
{
    enum { OFTEN = 64 };
    const bool far = !bf_whole_piece(f, 0)->part.store.words;
    const bf_piece *last = bf_whole_newest(f);
    double rate = 0, fullest = 0;
    int rc = far ? bf_whole_hold_all(f, err) : bf_whole_follow(f, err);
    if (rc < 0) return rc;
    rc = rate_now(f, bf_whole_latest(f), false, &rate, &fullest, err);
    if (far) bf_whole_let(f);
    const double n = (double)last->part.g.n,
                 room = n - (f->variant->forgets ? fullest : (double)bf_live(last->live)),
                 left = room > n / OFTEN ? room : n / OFTEN;
    *wait = left < 1 ? 1 : whole_keys(left);
    return rc < 0 ? rc : rate_exceeds(f, rate);
}

int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    const int rc = bf_whole_check(f, err);
    if (rc < 0) return rc;
    return f->variant->many ? many_parts(f, wait, err) : one_part(f, wait, err);
}

/* ---- from what is known ---- */
int bf_saturation_of(bf_filter *f, const bf_state *state)
{
    if (!f->variant->many) return saturation_of(state, &f->part.g);
    return may_be_overfull(f) ? rate_exceeds(f, state->fpr) : 0;
}

/* Of the parts that this process knows of: nobody is asked which there are now. */
int bf_glance(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    bf_state state = { 0 };
    uint64_t ones;
    double rate = 0, fullest;
    int rc = bf_whole_hold(f, err);
    if (rc < 0) return rc;
    if (f->variant->many)
        rc = rate_now(f, bf_whole_latest(f), true, &rate, &fullest, err);
    else if ((rc = ones_of(&f->piece, true, &ones, err)) == 0)
        bf_estimate(f->scheme, f->secret, &f->part.g, ones, &state);
    bf_whole_let(f);
    if (rc < 0) return rc;
    return (f->variant->many ? rate_exceeds(f, rate) : saturation_of(&state, &f->part.g)) ==
           BF_OVERFULL;
}
