/* saturated.c - estimates whether a filter contains more keys than it is sized for, and how many
 * keys may be added before the next check. For a fixed filter the result depends on the fraction of
 * set cells. A filter with many parts may have full parts, so its result depends on the combined
 * false-positive rate. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <math.h>

static const double HALF = 0.5;

/* Estimates how many cells of a part are set. Samples cells in addressable memory. In Redis samples
 * a few ranges if `few` is true, else counts all cells. */
static int sample_ones(bf_part *p, bool few, uint64_t *ones, bf_error *err)
{
    bf_store *s = &p->bitmap.store;
    uint64_t some = 0, of = 1;
    *ones = s->words ? bf_sample(s->words, s->nwords, &p->bitmap.g) : 0;
    if (s->words || !bf_part_exists(p)) return 0;
    if (!few) return bf_part_ones(p, ones, NULL, err);
    const int rc = s->ops->sample(s, &some, &of, err);
    *ones = (uint64_t)((double)some / (double)of * (double)p->bitmap.g.m + 0.5);
    return rc;
}

/* The estimated number of keys above which a filter may be overfull. */
static double most_keys(const bf_geometry *g) { return 1.1 * (double)g->n + 10; }

/* Returns false if a growing filter cannot be overfull, because no part has more keys than
 * most_keys. A part gets more keys only by a union, or if m has reached its limit. */
static bool may_be_overfull(bf_filter *f)
{
    bool may = !f->variant->grows;
    for (unsigned i = 0; !may && i < bf_parts_count(f); i++) {
        const bf_part *p = f->part[i];
        may = (double)bf_live(p->live) > most_keys(&p->bitmap.g);
    }
    return may;
}

/* A filter with the best k is half full with n keys, so half full does not mean overfull. */
int bf_saturation_of(bf_filter *f, const bf_state *state)
{
    const bf_geometry *g = &f->bitmap.g;
    if (f->variant->many) return state->fpr > 1.5 * g->p && may_be_overfull(f) ? BF_OVERFULL : 0;
    return state->fill <= HALF ? 0 : state->count < most_keys(g) ? BF_HALF_FULL : BF_OVERFULL;
}

/* Estimates the state of the open parts that are living in epoch `now`. fpr: their combined rate.
 * fill, count: of the part with the most keys. */
static int sample_state(bf_filter *f, bool few, int64_t now, bf_state *found, bf_error *err)
{
    double clean = 1;
    *found = (bf_state){ 0 };
    for (unsigned i = 0; may_be_overfull(f) && i < bf_parts_count(f); i++) {
        bf_part *p = f->part[i];
        bf_state one;
        uint64_t ones;
        if (!bf_part_is_living(f, p, now)) continue;
        int rc = sample_ones(p, few, &ones, err);
        if (rc < 0) return rc;
        bf_estimate(f->desc.scheme, f->secret, &p->bitmap.g, ones, &one);
        clean *= 1 - one.fpr;
        if (one.count >= found->count) *found = one;
    }
    found->fpr = 1 - clean;
    return 0;
}

/* Returns how many keys may be added before the next check. */
static double keys_to_wait(bf_filter *f, const bf_state *found)
{
    enum { OFTEN = 64 };
    const bf_part *last = bf_parts_newest(f);
    const bf_geometry *g = &last->bitmap.g;
    /* m / k keys set all cells if no two keys share a cell */
    const double n = (double)g->n, keys = (double)g->m / g->k;
    if (f->variant->many) {
        const double had = f->variant->forgets ? found->count : (double)bf_live(last->live);
        return fmax(fmax(n - had, n / OFTEN), 1);
    }
    return fmax(fmax((HALF - found->fill) * keys, most_keys(g) - found->count), keys / OFTEN);
}

/* Estimates the state of the filter. few: samples a few ranges of the open parts. for_next: the
 * state at the present time, for which the host's clock may be called; else at the time of the
 * newest add. Does not sample a filter that was never written, because reading its pages would
 * allocate them. */
static int estimate(bf_filter *f, bool few, bool for_next, bf_state *found, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    const bool remote = !f->part[0]->bitmap.store.words, locks = few || remote,
               empty = bf_flag_get(&f->never_written) && bf_int_load_acquire(&f->state) == BF_FRESH;
    *found = (bf_state){ 0 };
    int rc = bf_require_readable(f, ops->count || ops->read, "count its bits", err);
    if (rc == 0) rc = bf_parts_check(f, err);
    int64_t now = rc == 0 && f->variant->forgets ? bf_live(f->epoch) : 0;
    if (rc == 0 && for_next) rc = bf_parts_now(f, &now, err);
    if (rc < 0 || (rc = !locks ? bf_parts_follow(f, err)
                        : few  ? bf_parts_lock(f, err)
                               : bf_parts_lock_all(f, err)) < 0)
        return rc;
    if (!empty) rc = sample_state(f, few, now, found, err);
    if (locks) bf_parts_unlock(f);
    return rc;
}

static uint64_t whole(double keys) { return keys < 9e18 ? (uint64_t)keys : INT64_MAX; }

static int judge(bf_filter *f, bool few, uint64_t *wait, bf_error *err)
{
    bf_state found;
    const int rc = estimate(f, few, false, &found, err);
    if (rc < 0) return rc;
    *wait = whole(keys_to_wait(f, &found));
    return bf_saturation_of(f, &found);
}

int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    return judge(f, false, wait, err);
}

int bf_sample_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    return judge(f, true, wait, err);
}

int bf_room_left(bf_filter *f, bool few, uint64_t *room, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    bf_state found;
    const int rc = estimate(f, few, true, &found, err);
    if (rc < 0) return rc;
    const uint64_t n = f->bitmap.g.n, keys = whole(found.count + 0.5);
    *room = !f->variant->grows                           ? n - (keys < n ? keys : n)
            : bf_saturation_of(f, &found) == BF_OVERFULL ? 0
                                                         : whole(keys_to_wait(f, &found));
    return 0;
}
