/* window.c - forgetting filters: a ring of parts, each of which has the keys of one epoch.
 *
 *   epoch e = floor(time / step), step = window / parts
 *   the ring has parts + 1 bitmaps; epoch e uses bitmap e mod (parts + 1)
 *
 *        ... | e-4 | e-3 | e-2 | e-1 |  e  |   parts = 4: a test reads five parts,
 *                                            an add writes to the part of epoch e
 *
 * A key added in epoch e is found until epoch e + parts ends: for at least `window` and at
 * most window + step seconds. A second add sets its bits in the present part too, so the time
 * counts from the last add. A key is new if no living part contains it.
 *
 * A part is living while its epoch is one of the last parts + 1 epochs. No process empties a living
 * part:
 *   - An add first publishes its epoch in f->epoch, which never decreases. The present epoch is the
 * later one of f->epoch and the clock's epoch. So no key is forgotten if a clock jumps back.
 *   - Only an add or a union in epoch x + parts + 1 or later empties the part of epoch x. It holds
 * the lock, and first publishes its epoch; then epoch x is not living in any process. A test that
 * read f->epoch before may find the part half empty; its key expired during the test.
 *   - The part gets its new epoch after it was emptied. A kill -9 in between leaves the old epoch,
 * which is not living, and the next add empties the part again. A test treats a part of another
 * epoch as empty.
 *   - After an add has set its bits, it reads f->epoch again. If the part may have been emptied in
 * between, the add is repeated. A repeated add may find its own bits of the first try, so a key
 * that was new in the first try is reported as new. (Keys that were added before the first try
 * have expired.)
 *   - An add counts a key as present in an older part only if that part has the same epoch after
 * the test. Otherwise the bits may come from a later add of the same key. That add may have found
 * the bits of this add and reported "present", and one of the two adds must report "new".
 *
 * A filter in Redis empties its slices by a script (redis/parts.c). */
#include "base/system.h"
#include "base/os.h"
#include "bits/bits.h"
#include "parts/parts.h"
#include <math.h>
#include <string.h>
#include <time.h>

/* maximum number of tries if the epoch changes during a call */
enum { TRIES = 1000 };
/* An epoch is above -EPOCHS and below EPOCHS: it fits the signed 48-bit number of a part state. */
static const double EPOCHS = 0x1p46;

double bf_window_step(const bf_filter *f) { return f->desc.window / f->desc.parts; }

int bf_window_epoch_at(const bf_filter *f, double now, int64_t *epoch, bf_error *err)
{
    const double step = bf_window_step(f), e = now / step;
    if (isnan(now)) return bf_fail(err, BF_EHOST, "the clock failed");
    if (!(e < EPOCHS && e >= 1 - EPOCHS))
        return bf_fail(err, BF_EINVAL,
            "clock must give seconds within 7e13 steps of %g seconds, got %g", step, now);
    *epoch = (int64_t)e;
    /* floor(), but without a function call, which would slow down single keys */
    *epoch -= (double)*epoch > e;
    return 0;
}

/* If rc is 0, raises *epoch to the published epoch. Returns rc. */
static int not_before_published(const bf_filter *f, int rc, int64_t *epoch)
{
    const int64_t seen = bf_live(f->epoch);
    if (rc == 0 && seen > *epoch) *epoch = seen;
    return rc;
}

int bf_window_epoch(bf_filter *f, int64_t *epoch, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    double now = f->clock(f->clock_ctx);
    int rc = bf_window_epoch_at(f, now, epoch, err);
    if (rc == 0 && ops->server_time && (rc = ops->server_time(f, &now, err)) == 0)
        rc = bf_window_epoch_at(f, now, epoch, err);
    return not_before_published(f, rc, epoch);
}

static int local_epoch(const bf_filter *f, int64_t *epoch, bf_error *err)
{
    return not_before_published(
        f, bf_window_epoch_at(f, f->clock(f->clock_ctx), epoch, err), epoch);
}

/* Sets *epoch to the epoch of a test. If a step has at least a second, reads the coarse clock. This
 * clock is at most 10 ms behind, so keys are forgotten at most a hundredth of a step late.
 * The exact clock would be slower: its rdtsc waits for earlier loads, so the loads of two tests
 * would not overlap. */
static int now_of_test(bf_filter *f, int64_t *epoch, bf_error *err)
{
    const double LONG_STEP = 1; /* in seconds */
    struct timespec t;
    if (bf_window_step(f) >= LONG_STEP && !f->bitmap.store.ops->chain->server_time &&
        !f->own_clock && clock_gettime(BF_CLOCK_COARSE, &t) == 0) {
        const double now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
        return not_before_published(f, bf_window_epoch_at(f, now, epoch, err), epoch);
    }
    return bf_window_epoch(f, epoch, err);
}

/* ---- checks of stored part states ---- */
/* An add publishes its epoch before it gives a part that epoch, so only damage leaves a part with
 * an epoch later than the published one. Reads the part's epoch before the published epoch;
 * otherwise a concurrent add would look like damage. */
static int check_part_epoch(const bf_filter *f, const bf_part *p, bf_error *err)
{
    const int64_t e = bf_live(p->live), newest = bf_live(f->epoch);
    if (e <= newest) return 0;
    return bf_fail(err, BF_EFORMAT,
        "%.60s is damaged: a part is of epoch %lld, "
        "later than the newest, which is %lld",
        bf_where(f), (long long)e, (long long)newest);
}

static int sound_epoch(
    const bf_filter *f, int64_t e, const bf_part *p, const char *where, bf_error *err)
{
    if (e == BF_NEVER) return 0;
    if (!(fabs((double)e) < EPOCHS))
        return bf_fail(
            err, BF_EFORMAT, "%.60s is damaged: epoch %lld is out of range", where, (long long)e);
    if (!p || bf_window_part(f, e) == p) return 0;
    return bf_fail(err, BF_EFORMAT,
        "%.60s is damaged: a part is of epoch %lld, which belongs in another part", where,
        (long long)e);
}

/* A part's epoch may be later than the published epoch after a power loss, or in a copy that was
 * made during an add. If it is also later than the clock's epoch, the filter is refused: no add
 * could use the part before that epoch. */
int bf_window_check(bf_filter *f, bool write, const char *where, bf_error *err)
{
    int64_t latest = BF_NEVER, now = 0;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i <= f->desc.parts; i++) {
        const int64_t e = bf_live(f->part[i]->live);
        rc = sound_epoch(f, e, f->part[i], where, err);
        if (e > latest) latest = e;
    }
    const int64_t newest = bf_live(f->epoch);
    if (rc == 0) rc = sound_epoch(f, newest, NULL, where, err);
    if (rc < 0 || latest <= newest || (rc = local_epoch(f, &now, err)) < 0) return rc;
    if (latest > now)
        return bf_fail(err, BF_EFORMAT,
            "%.60s is damaged: a part is of epoch %lld, "
            "later than the newest (%lld) and than the clock",
            where, (long long)latest, (long long)newest);
    if (write) bf_live_raise(f->epoch, latest);
    return 0;
}

bf_part *bf_window_part(const bf_filter *f, int64_t epoch)
{
    const int64_t ring = (int64_t)f->desc.parts + 1, at = epoch % ring;
    return f->part[at < 0 ? at + ring : at];
}

bool bf_window_is_living(const bf_filter *f, const bf_part *p, int64_t now)
{
    const int64_t e = bf_live(p->live);
    return e <= now && e >= now - (int64_t)f->desc.parts;
}

/* Publishes the epoch. Then empties the part, unless the part already belongs to this or a later
 * epoch. The caller holds the lock. */
static void empty_part(bf_filter *f, bf_part *p, int64_t epoch)
{
    bf_store *s = &p->bitmap.store;
    bf_live_raise(f->epoch, epoch);
    bf_fence();
    if (bf_live(p->live) >= epoch) return;
    for (uint64_t i = 0; i < s->nwords; i++) bf_word_store(s->words + i, 0);
    bf_live_set(p->live, epoch);
}

int bf_window_reuse_part(bf_filter *f, int64_t epoch, bf_part **p, bf_error *err)
{
    *p = bf_window_part(f, epoch);
    int rc = 0;
    if (bf_live((*p)->live) < epoch) {
        if ((rc = bf_lock(f, err)) < 0) return rc;
        empty_part(f, *p, epoch);
        bf_unlock(f);
    }
    if (bf_live((*p)->live) == epoch) return 0;
    rc = check_part_epoch(f, *p, err);
    *p = NULL; /* a later epoch */
    return rc;
}

int bf_window_with_part(
    bf_filter *f, int64_t e, int (*work)(void *, bf_part *, bf_error *), void *ctx, bf_error *err)
{
    bf_part *p = bf_window_part(f, e);
    int rc = bf_lock(f, err);
    if (rc < 0) return rc;
    empty_part(f, p, e);
    rc = bf_live(p->live) == e ? work(ctx, p, err) : check_part_epoch(f, p, err);
    bf_unlock(f);
    return rc;
}

/* Collects in p the parts of the epochs `from` to `to` that are living at epoch `to`. Returns
 * their number. */
static unsigned living(const bf_filter *f, int64_t from, int64_t to, bf_part **p)
{
    unsigned n = 0;
    if (from < to - (int64_t)f->desc.parts) from = to - (int64_t)f->desc.parts;
    for (int64_t e = from; e <= to; e++) {
        bf_part *at = bf_window_part(f, e);
        if (bf_live(at->live) == e) p[n++] = at;
    }
    return n;
}

/* Tests the living parts of these epochs; keys that are found
 * leave the span. If a part was reused during the test, tests again: another thread may have added
 * a found key after this call began. */
static void test_older(bf_filter *f, bf_span *s, int64_t from, int64_t to)
{
    bf_part *p[BF_PARTS_MAX], *now[BF_PARTS_MAX];
    unsigned n = living(f, from, to, p), same;
    while (n && s->n && bf_span_find(p, n, s)) {
        bf_fence();
        same = living(f, from, to, now);
        if (same == n && !memcmp(p, now, n * sizeof *p)) {
            bf_span_drop_decided(s, 0);
            return;
        }
        n = same;
        memcpy(p, now, n * sizeof *p);
    }
}

static int parts_to_test(
    bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err)
{
    const unsigned ring = f->desc.parts + 1;
    int64_t now = 0;
    unsigned living = 0;
    int rc = now_of_test(f, &now, err);
    if (rc < 0) return rc;
    int64_t at = (now + 1) % ring;
    if (at < 0) at += ring;
    for (int64_t e = bf_oldest_epoch(f, now); e <= now; e++) {
        if (bf_live(f->part[at]->live) == e) room[living++] = f->view[at];
        if (++at == ring) at = 0;
    }
    *views = room;
    *n = living;
    return 0;
}

/* Adds all keys to the part of the present epoch. Keys that the part contained before leave the
 * span. If the part may have been emptied during the add, adds the keys again; first[i] is set to 1
 * if key i of the run was new in an earlier try. */
static int add_to_present(bf_filter *f, bf_span *s, int64_t *now, uint8_t *first, bf_error *err)
{
    for (int tries = 0; tries < TRIES; tries++) {
        bf_part *p;
        int rc = bf_window_epoch(f, now, err);
        if (rc < 0 || (rc = bf_window_reuse_part(f, *now, &p, err)) < 0) return rc;
        if (!p) continue;
        bf_fence(); /* a process that reads these bits also reads the new epoch of the part */
        const int64_t hits = bf_span_add(f, p, s, s->n);
        bf_fence();
        if (bf_live(f->epoch) <= *now + (int64_t)f->desc.parts) {
            if (hits) bf_span_drop_decided(s, 0);
            return 0;
        }
        for (size_t i = 0; i < s->n; i++) first[s->key[i]] |= hits == 0 || !s->present[i];
    }
    return bf_fail(err, BF_EIO, "%.80s: its clock runs too fast", bf_where(f));
}

static int add(bf_filter *f, bf_span *s, bf_error *err)
{
    int64_t now = 0;
    uint8_t first[BF_CHUNK] = { 0 }, *const answer = s->answer;
    const size_t n = s->n;
    int rc = add_to_present(f, s, &now, first, err);
    if (rc == 0) test_older(f, s, bf_oldest_epoch(f, now), now - 1);
    for (size_t i = 0; i < n; i++) answer[i] |= first[i];
    for (size_t i = 0; rc == 0 && i < s->n; i++) answer[s->key[i]] = 1;
    return rc;
}

/* ---- epochs and times of parts, for the folders above ---- */
void bf_parts_info(bf_filter *f, unsigned i, bf_part_info *info)
{
    const bf_part *p = f->part[i];
    const int64_t live = bf_live(p->live);
    *info = (bf_part_info){
        .first_bit = p->start, .m = p->bitmap.g.m, .n = p->bitmap.g.n, .p = p->bitmap.g.p
    };
    if (f->variant->grows) info->keys = live < 0 ? 0 : (uint64_t)live;
    if (!f->variant->forgets || live == BF_NEVER) return;
    info->since = (double)live * bf_window_step(f);
    info->until = (double)(live + f->desc.parts + 1) * bf_window_step(f);
}

int bf_parts_target(bf_filter *f, const bf_part **p, bf_error *err)
{
    int64_t now = 0;
    *p = bf_parts_newest(f);
    if (!f->variant->forgets) return 0;
    int rc = local_epoch(f, &now, err);
    if (rc == 0) *p = bf_window_part(f, now);
    return rc;
}

bf_part *bf_part_of_epoch(const bf_filter *f, int64_t epoch)
{
    bf_part *p = bf_window_part(f, epoch);
    return bf_live(p->live) == epoch ? p : NULL;
}

int bf_parts_now(bf_filter *f, int64_t *now, bf_error *err)
{
    *now = 0;
    return f->variant->forgets ? bf_window_epoch(f, now, err) : 0;
}

const bf_variant_ops bf_variant_window = { .stored = &bf_format_window,
    .many = true,
    .forgets = true,
    .add = add,
    .parts_to_test = parts_to_test };
