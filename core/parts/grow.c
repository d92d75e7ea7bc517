/* grow.c - growing filters. A new key is added to the newest part; a key that any part contains
 * is not added. When the newest part has as many keys as it is sized for, a part is appended.
 * Counts keys; sizing_parts.c computes the size of the next part. */
#include "bits/bits.h"
#include "parts/parts.h"
#include <string.h>

/* Tests parts that are not in addressable memory, then the parts that other processes appended
 * during the test. */
static int test(bf_filter *f, bf_span *s, bf_error *err)
{
    unsigned from = 0, count = bf_parts_count(f);
    int rc;
    while ((rc = bf_span_test(f, f->part + from, count - from, s, 1, err)) == 0 && s->n) {
        if ((rc = bf_chain_follow(f, err)) < 0) return rc;
        const unsigned now = bf_parts_count(f);
        /* fewer parts: another thread re-created the filter and has reported it */
        if (now <= count) return 0;
        from = count;
        count = now;
    }
    return rc;
}

/* Each try opens at least one part that another process appended, and there are at most
 * BF_PARTS_MAX. */
enum { TRIES = 4 * BF_PARTS_MAX };
static int never_ends(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EIO,
        "%.80s: others changed its parts %d times during the call: not all keys were added",
        bf_where(f), TRIES);
}

static uint64_t room(const bf_filter *f, const bf_part *p)
{
    int64_t have = bf_live(p->live);
    return bf_flag_get(&f->at_limit)        ? BF_SPAN
           : (uint64_t)have < p->bitmap.g.n ? p->bitmap.g.n - (uint64_t)have
                                            : 0;
}

/* Call after the first n keys of the span were added to part count - 1, the newest that this
 * handle knew. Tests whether other processes had appended parts by then that contain some of the
 * keys; these keys are not new. */
static int recheck(bf_filter *f, const bf_span *s, size_t n, unsigned count, bf_error *err)
{
    bf_span fresh;
    int rc = bf_chain_follow(f, err);
    const unsigned now = bf_parts_count(f);
    if (rc < 0 || now <= count) return rc;
    fresh.n = 0;
    fresh.answer = s->answer;
    for (size_t i = 0; i < n; i++) {
        fresh.d[fresh.n] = s->d[i];
        fresh.key[fresh.n] = s->key[i];
        fresh.n += s->answer[s->key[i]];
    }
    return bf_span_test(f, f->part + count, now - count, &fresh, 0, err);
}

/* For parts in addressable memory. Tests the span's keys in the first `count` parts, then adds
 * those that are absent to the newest of these parts, up to the size of that part. If that part
 * is full, only tests it. */
static int add_to_newest(bf_filter *f, unsigned count, bf_span *s, bf_error *err)
{
    bf_part *newest = f->part[count - 1];
    const uint64_t most = room(f, newest);
    const unsigned old = most ? count - 1 : count, from = s->asked;
    if (old > from) {
        const int rc = bf_span_test(f, f->part + from, old - from, s, 0, err);
        if (rc < 0) return rc;
        s->asked = old;
    }
    const size_t n = most < s->n ? (size_t)most : s->n;
    uint8_t *const answer = s->answer;
    if (n == 0) return 0;
    const int64_t hits = bf_span_add(f, newest, s, n);
    for (size_t i = 0; i < n; i++) answer[s->key[i]] = hits == 0 || !s->present[i];
    if (n > (uint64_t)hits) bf_live_add(newest->live, n - (uint64_t)hits, f->atomic);
    const int rc = recheck(f, s, n, count, err);
    s->n -= n;
    memmove(s->d, s->d + n, s->n * sizeof *s->d);
    memmove(s->key, s->key + n, s->n * sizeof *s->key);
    return rc;
}

static int add(bf_filter *f, bf_span *s, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    for (int tries = 0; s->n; tries++) {
        const unsigned count = bf_parts_count(f);
        const size_t had = s->n;
        bf_part *newest = f->part[count - 1];
        const uint64_t n = newest->bitmap.g.n,
                       most = bf_flag_get(&f->at_limit) ? n + BF_N_MAX / 4 : n;
        if (tries == TRIES) return never_ends(f, err);
        int rc =
            ops->put ? ops->put(f, f->part, count, most, s, err) : add_to_newest(f, count, s, err);
        if (rc < 0 || s->n == 0 || (rc = bf_chain_follow(f, err)) < 0) return rc;
        if (room(f, newest) == 0 && (rc = bf_chain_next(f, count, err)) < 0) return rc;
        if (s->n < had) tries = 0;
    }
    return 0;
}

static int add_one(bf_filter *f, const uint64_t *d, bf_error *err)
{
    for (int tries = 0; tries < TRIES; tries++) {
        const unsigned count = bf_parts_count(f);
        bf_part *newest = f->part[count - 1];
        bf_bitmap *p = &newest->bitmap;
        const bool full = room(f, newest) == 0;
        if (bf_chain_any(f, f->view, count - !full, d)) return BF_PRESENT;
        if (!full) {
            if (p->kernels->add_one[f->add_mode](&p->g, p->store.words, d)) return BF_PRESENT;
            bf_live_add(newest->live, 1, f->atomic);
            return BF_ADDED;
        }
        int rc = bf_chain_next(f, count, err);
        if (rc < 0) return rc;
    }
    return never_ends(f, err);
}

static int parts_to_test(
    bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err)
{
    (void)room;
    (void)err;
    *n = bf_parts_count(f);
    *views = f->view;
    return 0;
}

const bf_variant_ops bf_variant_grow = { .stored = &bf_format_grow,
    .many = true,
    .grows = true,
    .test = test,
    .add = add,
    .parts_to_test = parts_to_test,
    .add_one = add_one };
