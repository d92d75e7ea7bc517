/* window.c - filters that forget: a ring of parts, each of which takes the keys of one epoch.
 *
 *   epoch e = floor(time / step), step = window / parts
 *   ring of parts + 1 parts: epoch e has part e mod (parts + 1)
 *
 *        ... | e-4 | e-3 | e-2 | e-1 |  e  |   parts = 4: five are asked, keys go into that of e
 *
 * A key added at time t, in epoch e, is found until epoch e + parts ends: at least `window` and at
 * most window + step later. Adding it again sets it in the present epoch's part too, so it counts
 * from the last add; "new" is only what no living part had.
 *
 * Nothing may be emptied while it still counts, in no process, whatever the clocks do:
 *   - The newest epoch anybody added in is published first (c->epoch) and never goes back.  "Now"
 * is that or the clock's epoch, whichever is later.  A clock that jumps back forgets nothing; until
 * it has caught up, nothing is forgotten.
 *   - Piece of epoch x is emptied under the lock, by an adder of an epoch >= x + parts + 1 who has
 * published that: from then on nobody's "now" has x among the living.  Who had read "now" before
 * and still reads the part's bits may find them half gone: his key's time was over when he was
 * still inside his call.
 *   - The part gets its new epoch after it was emptied.  A kill -9 in between leaves the old epoch
 * there, which nobody trusts any more; the next adder empties it again.  Testers never empty
 * anything: a part of another epoch has no keys.
 *   - An adder looks at the newest epoch again after its bits are set: if by that the part may
 * have been emptied, he sets them again.  Else they were there before anybody began to empty it, so
 * none is left behind for the epoch that follows. Bits that he left behind in a part may be there
 * when he comes back: what he found new the first time is new.  (All that was added before he began
 * is as old as his first epoch or older: it is forgotten by then.)
 *   - He counts a key as known from an older part only if that part is of the same epoch after he
 * found it there.  Else it may be a later adder's, whose answer was "known" because of him: one of
 * the two must say "new".
 *
 * In Redis a part is a key of its own, made by the first adder of its epoch and expired by Redis:
 * see redis/window.c. */
#include "bits/bits.h"
#include "parts/span.h"
#include <math.h>
#include <string.h>

/* clocks that run while a key is added; then it is refused */
enum { TRIES = 1000 };
static const double EPOCHS = 0x1p46; /* what a live word holds, and some */

double bf_window_step(const bf_chain *c) { return c->desc.window / c->desc.parts; }

static int epoch_of(const bf_chain *c, double now, int64_t *epoch, bf_error *err)
{
    const double step = bf_window_step(c), e = now / step;
    if (isnan(now)) return bf_fail(err, BF_EHOST, "the clock failed");
    if (!(e < EPOCHS && e >= 1 - EPOCHS))
        return bf_fail(err, BF_EINVAL,
            "clock must give seconds within 7e13 steps of %g seconds, got %g", step, now);
    *epoch = (int64_t)e;
    *epoch -= (double)*epoch > e; /* floor(), which a single key would wait for */
    return 0;
}

static int not_before(const bf_chain *c, int rc, int64_t *epoch)
{
    const int64_t seen = bf_live(c->epoch);
    if (rc == 0 && seen > *epoch) *epoch = seen;
    return rc;
}

int bf_window_now(bf_filter *f, int64_t *epoch, bf_error *err)
{
    const bf_chain *c = f->chain;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    double now = c->clock(c->clock_ctx);
    int rc = epoch_of(c, now, epoch, err);
    if (rc == 0 && ops->server_time && (rc = ops->server_time(f, &now, err)) == 0)
        rc = epoch_of(c, now, epoch, err);
    return not_before(c, rc, epoch);
}

int bf_window_here(const bf_filter *f, int64_t *epoch, bf_error *err)
{
    const bf_chain *c = f->chain;
    return not_before(c, epoch_of(c, c->clock(c->clock_ctx), epoch, err), epoch);
}

/* For tests.  A clock that is late forgets late, by a hundredth of a step at most. */
static int now_of_test(bf_filter *f, int64_t *epoch, bf_error *err)
{
    const double TICKS = 1; /* seconds: a tick is 10 ms at most */
    const bf_chain *c = f->chain;
    if (bf_window_step(c) < TICKS || f->bitmap.store.ops->chain->server_time)
        return bf_window_now(f, epoch, err);
    return not_before(c, epoch_of(c, bf_chain_tick(c), epoch, err), epoch);
}

/* ---- live words that were stored ---- */
/* The newest epoch is published before any part gets it: a part that has a later one was not
 * written by a filter.  Read in the opposite order, so that nobody who adds meanwhile makes it look
 * like that. */
int bf_window_late(const bf_filter *f, const bf_part *p, bf_error *err)
{
    const int64_t e = bf_live(p->live), newest = bf_live(f->chain->epoch);
    if (e <= newest) return 0;
    return bf_fail(err, BF_EFORMAT,
        "%.60s is damaged: a part is of epoch %lld, "
        "later than the newest, which is %lld",
        bf_where(f, NULL), (long long)e, (long long)newest);
}

static int sound_epoch(
    const bf_chain *c, int64_t e, const bf_part *p, const char *where, bf_error *err)
{
    if (e == BF_NEVER) return 0;
    if (!(fabs((double)e) < EPOCHS))
        return bf_fail(
            err, BF_EFORMAT, "%.60s is damaged: epoch %lld is out of range", where, (long long)e);
    if (!p || bf_window_part(c, e) == p) return 0;
    return bf_fail(err, BF_EFORMAT,
        "%.60s is damaged: a part is of epoch %lld, which belongs in another part", where,
        (long long)e);
}

/* What is read while others add, or was cut off by a power loss, may have a part that is later than
 * the whole: then by no more than the clock.  A part that is later than the clock too would be
 * waited for without end. */
int bf_window_check(bf_filter *f, bool write, const char *where, bf_error *err)
{
    bf_chain *c = f->chain;
    int64_t latest = BF_NEVER, now = 0;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i <= c->desc.parts; i++) {
        const int64_t e = bf_live(c->part[i]->live);
        rc = sound_epoch(c, e, c->part[i], where, err);
        if (e > latest) latest = e;
    }
    const int64_t newest = bf_live(c->epoch);
    if (rc == 0) rc = sound_epoch(c, newest, NULL, where, err);
    if (rc < 0 || latest <= newest || (rc = bf_window_here(f, &now, err)) < 0) return rc;
    if (latest > now)
        return bf_fail(err, BF_EFORMAT,
            "%.60s is damaged: a part is of epoch %lld, "
            "later than the newest (%lld) and than the clock",
            where, (long long)latest, (long long)newest);
    if (write) bf_live_raise(c->epoch, latest);
    return 0;
}

bf_part *bf_window_part(const bf_chain *c, int64_t epoch)
{
    const int64_t ring = (int64_t)c->desc.parts + 1, at = epoch % ring;
    return c->part[at < 0 ? at + ring : at];
}

bool bf_window_lives(const bf_chain *c, const bf_part *p, int64_t now)
{
    const int64_t e = bf_live(p->live);
    return e <= now && e >= now - (int64_t)c->desc.parts;
}

void bf_window_empty(bf_filter *f, bf_part *p, int64_t epoch)
{
    bf_store *s = &p->bitmap.store;
    bf_live_raise(f->chain->epoch, epoch);
    bf_fence();
    if (bf_live(p->live) >= epoch) return;
    for (uint64_t i = 0; i < s->nwords; i++) bf_word_store(s->words + i, 0);
    bf_live_set(p->live, epoch);
}

int bf_window_turn(bf_filter *f, int64_t epoch, bf_part **p, bf_error *err)
{
    *p = bf_window_part(f->chain, epoch);
    int rc = 0;
    if (bf_live((*p)->live) < epoch) {
        if ((rc = bf_lock(f, err)) < 0) return rc;
        bf_window_empty(f, *p, epoch);
        bf_unlock(f);
    }
    if (bf_live((*p)->live) == epoch) return 0;
    rc = bf_window_late(f, *p, err);
    *p = NULL; /* later already */
    return rc;
}

int bf_window_into(
    bf_filter *f, int64_t e, int (*work)(void *, bf_part *, bf_error *), void *ctx, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    bf_part *p = bf_window_part(f->chain, e);
    int rc = bf_lock(f, err);
    if (rc < 0) return rc;
    if (ops->open_current)
        rc = ops->open_current(f, &e, true, err);
    else
        bf_window_empty(f, p, e);
    if (rc == 0) rc = bf_live(p->live) == e ? work(ctx, p, err) : bf_window_late(f, p, err);
    bf_unlock(f);
    return rc;
}

/* The parts of these epochs, as far as they may count at the time `to`. */
static unsigned living(const bf_chain *c, int64_t from, int64_t to, bf_part **p)
{
    unsigned n = 0;
    if (from < to - (int64_t)c->desc.parts) from = to - (int64_t)c->desc.parts;
    for (int64_t e = from; e <= to; e++) {
        bf_part *at = bf_window_part(c, e);
        if (bf_live(at->live) == e) p[n++] = at;
    }
    return n;
}

/* The keys that the parts of these epochs have get that answer and leave the span.  A test may
 * find a key in what has become a later part: it was added.  An add asks what had it before, so it
 * looks at the epochs again. */
static int ask(bf_filter *f, bf_span *s, int64_t from, int64_t to, uint8_t value, bf_error *err)
{
    bf_part *p[BF_PARTS_MAX], *now[BF_PARTS_MAX];
    unsigned n = living(f->chain, from, to, p), same;
    if (n == 0 || !p[0]->bitmap.kernels) return bf_chain_sift(f, p, n, s, value, err);
    while (n && s->n && bf_chain_mark(p, n, s)) {
        bf_fence();
        same = living(f->chain, from, to, now);
        if (same == n && !memcmp(p, now, n * sizeof *p)) {
            bf_chain_settle(s, value);
            break;
        }
        n = same;
        memcpy(p, now, n * sizeof *p);
    }
    return 0;
}

/* Parts turned up while others were asked: later ones, because another's clock is ahead, or some of
 * the past, by a union.  All are asked again but that of `own`, where the keys were just added. */
static int ask_again(
    bf_filter *f, bf_span *s, int64_t now, int64_t own, uint8_t value, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    int rc = 0;
    for (int tries = 0; rc == 0 && s->n && ops->is_stale(f, now); tries++) {
        if (tries == TRIES)
            return bf_fail(
                err, BF_EIO, "%.80s: its parts change too fast to be read", bf_where(f, NULL));
        if ((rc = ops->list_parts(f, &now, false, err)) == 0)
            rc = ask(f, s, bf_whole_oldest(f, now), own - 1, value, err);
        if (rc == 0) rc = ask(f, s, own + 1, now, value, err);
    }
    return rc;
}

/* Of parts elsewhere, which come and go: the whole span is asked under the lock; the clock, which
 * may run anything, is read before. */
static int test(bf_filter *f, bf_span *s, bf_error *err)
{
    int64_t now = 0;
    int rc = bf_window_now(f, &now, err);
    if (rc < 0 || (rc = bf_lock(f, err)) < 0) return rc;
    rc = f->bitmap.store.ops->chain->list_parts(f, &now, false, err);
    if (rc == 0) rc = ask(f, s, bf_whole_oldest(f, now), now, 1, err);
    if (rc == 0) rc = ask_again(f, s, now, BF_NEVER, 1, err);
    bf_unlock(f);
    return rc;
}

/* The ring is gone round once: part after part, from the oldest epoch to that of now. */
static int asked(
    bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err)
{
    const bf_chain *c = f->chain;
    const unsigned ring = c->desc.parts + 1;
    int64_t now = 0;
    unsigned living = 0;
    int rc = now_of_test(f, &now, err);
    if (rc < 0) return rc;
    int64_t at = (now + 1) % ring;
    if (at < 0) at += ring;
    for (int64_t e = bf_whole_oldest(f, now); e <= now; e++) {
        if (bf_live(c->part[at]->live) == e) room[living++] = c->view[at];
        if (++at == ring) at = 0;
    }
    *views = room;
    *n = living;
    return 0;
}

/* Sets them all in the part of now; those that it had leave the span.  first[i] is raised for key
 * i of the run where its bits were set in a part whose time was over meanwhile, and it had not
 * been there. */
static int set(bf_filter *f, bf_span *s, int64_t *now, uint8_t *first, bf_error *err)
{
    const bf_chain *c = f->chain;
    for (int tries = 0; tries < TRIES; tries++) {
        bf_part *p;
        int rc = bf_window_now(f, now, err);
        if (rc < 0 || (rc = bf_window_turn(f, *now, &p, err)) < 0) return rc;
        if (!p) continue;
        bf_fence(); /* whoever sees these bits sees the part's new epoch */
        const int64_t hits = bf_chain_add_words(f, p, s, s->n);
        bf_fence();
        if (bf_live(c->epoch) <= *now + (int64_t)c->desc.parts) {
            if (hits) bf_chain_settle(s, 0);
            return 0;
        }
        for (size_t i = 0; i < s->n; i++) first[s->key[i]] |= hits == 0 || !s->present[i];
    }
    return bf_fail(err, BF_EIO, "%.80s: its clock runs too fast", bf_where(f, NULL));
}

static int add_here(bf_filter *f, bf_span *s, bf_error *err)
{
    int64_t now = 0;
    uint8_t first[BF_CHUNK] = { 0 }, *const answer = s->answer;
    const size_t n = s->n; /* all of the run */
    int rc = set(f, s, &now, first, err);
    if (rc == 0) rc = ask(f, s, bf_whole_oldest(f, now), now - 1, 0, err);
    for (size_t i = 0; i < n; i++) answer[i] |= first[i];
    return rc;
}

/* To the part of now, and asked of the older ones beside it, in one trip. */
static int add_remote(bf_filter *f, bf_span *s, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    bf_part *p[BF_PARTS_MAX];
    int64_t now = 0, hits;
    int rc = bf_window_now(f, &now, err);
    if (rc < 0 || (rc = bf_lock(f, err)) < 0) return rc;
    if ((rc = ops->open_current(f, &now, false, err)) == 0) {
        p[0] = bf_window_part(f->chain, now);
        hits = ops->ask(
            f, p, 1 + living(f->chain, now - f->chain->desc.parts, now - 1, p + 1), true, s, err);
        if (hits > 0) bf_chain_settle(s, 0);
        rc = hits < 0 ? (int)hits : ask_again(f, s, now, now, 0, err);
    }
    bf_unlock(f);
    return rc;
}

static int add(bf_filter *f, bf_span *s, bf_error *err)
{
    uint8_t *const answer = s->answer;
    const int rc =
        f->bitmap.store.ops->chain->open_current ? add_remote(f, s, err) : add_here(f, s, err);
    for (size_t i = 0; rc == 0 && i < s->n; i++) answer[s->key[i]] = 1;
    return rc;
}

/* ---- what time is to the floors above, where it means anything ---- */
void bf_whole_tell(bf_filter *f, unsigned i, bf_part_info *info)
{
    const bf_part *p = bf_whole_part(f, i);
    const int64_t live = bf_live(p->live);
    *info = (bf_part_info){
        .first_bit = p->start, .m = p->bitmap.g.m, .n = p->bitmap.g.n, .p = p->bitmap.g.p
    };
    if (f->variant->grows) info->keys = live < 0 ? 0 : (uint64_t)live;
    if (!f->variant->forgets || live == BF_NEVER) return;
    info->since = (double)live * bf_window_step(f->chain);
    info->until = (double)(live + f->chain->desc.parts + 1) * bf_window_step(f->chain);
}

int bf_whole_target(bf_filter *f, const bf_part **p, bf_error *err)
{
    int64_t now = 0;
    *p = bf_whole_newest(f);
    if (!f->variant->forgets) return 0;
    int rc = bf_window_here(f, &now, err);
    if (rc == 0) *p = bf_window_part(f->chain, now);
    return rc;
}

bf_part *bf_whole_of(const bf_filter *f, int64_t epoch)
{
    bf_part *p = bf_window_part(f->chain, epoch);
    return bf_live(p->live) == epoch ? p : NULL;
}

int bf_whole_now(bf_filter *f, int64_t *now, bf_error *err)
{
    *now = 0;
    return f->variant->forgets ? bf_window_now(f, now, err) : 0;
}

const bf_variant_ops bf_variant_window = { .stored = &bf_format_window,
    .many = true,
    .forgets = true,
    .test = test,
    .add = add,
    .parts_to_test = asked };
