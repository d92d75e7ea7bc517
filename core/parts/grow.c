/* grow.c - growing filters. A key that no part contains is added to the newest part. When that part
 * has the number of keys that it is sized for, a part is appended (size: sizing_parts.c). */
#include "bits/bits.h"
#include "parts/parts.h"
#include <string.h>

/* Maximum number of tries that add no key. After such a try a part is appended. A filter has at
 * most BF_PARTS_MAX parts, so more such tries mean that it is re-created again and again. */
enum { TRIES = 4 * BF_PARTS_MAX };
static int never_ends(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EIO,
        "%.80s: others changed its parts %d times during the call: not all keys were added",
        bf_where(f), TRIES);
}

/* Returns true if the last part gets all further keys: no part can follow, and the host said that
 * it accepts the rate. Otherwise such a filter is full (bf_chain_next). */
static bool overflows(const bf_filter *f)
{
    return bf_flag_get(&f->at_limit) && f->overfull == BF_OVERFULL_IGNORE;
}

/* Returns how many more keys the part can have. */
static uint64_t room(const bf_filter *f, const bf_part *p)
{
    int64_t have = bf_live(p->live);
    return overflows(f)                     ? BF_SPAN
           : (uint64_t)have < p->bitmap.g.n ? p->bitmap.g.n - (uint64_t)have
                                            : 0;
}

uint64_t bf_grow_room(const bf_filter *f) { return room(f, bf_parts_newest(f)); }

/* The first n keys were just added to part count - 1. Tests them in the parts that other processes
 * have appended since; the answer of a key found there becomes 0: not new. */
static int recheck(bf_filter *f, const bf_span *s, size_t n, unsigned count, bf_error *err)
{
    bf_span fresh;
    int rc = bf_chain_follow(f, err);
    const unsigned now = bf_parts_count(f);
    if (rc < 0 || now <= count) return rc;
    fresh.n = 0;
    fresh.width = s->width;
    fresh.layout = s->layout;
    fresh.answer = s->answer;
    for (size_t i = 0; i < n; i++) {
        memcpy(fresh.d + fresh.n * s->width, s->d + i * s->width, s->width * sizeof *s->d);
        fresh.key[fresh.n] = s->key[i];
        fresh.n += s->answer[s->key[i]];
    }
    bf_span_test(f->part + count, now - count, &fresh);
    return 0;
}

/* Tests the keys in the first `count` parts, and adds absent keys
 * to the newest of these parts while it has room. */
static int add_to_newest(bf_filter *f, unsigned count, bf_span *s, bf_error *err)
{
    bf_part *newest = f->part[count - 1];
    const uint64_t most = room(f, newest);
    const unsigned old = most ? count - 1 : count, from = s->asked;
    if (old > from) {
        bf_span_test(f->part + from, old - from, s);
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
    memmove(s->d, s->d + n * s->width, s->n * s->width * sizeof *s->d);
    memmove(s->key, s->key + n, s->n * sizeof *s->key);
    return rc;
}

static int add(bf_filter *f, bf_span *s, bf_error *err)
{
    for (int tries = 0; s->n; tries++) {
        const unsigned count = bf_parts_count(f);
        const size_t had = s->n;
        const bf_part *newest = f->part[count - 1];
        if (tries == TRIES) return never_ends(f, err);
        int rc = add_to_newest(f, count, s, err);
        if (rc < 0 || s->n == 0 || (rc = bf_chain_follow(f, err)) < 0) return rc;
        /* not before the keys were tested in the full part: it may have gained them just now */
        if (s->asked == count && room(f, newest) == 0) rc = bf_chain_next(f, count, err);
        if (rc == BF_EFULL) err->key = s->key[0]; /* the keys before it have answers */
        if (rc < 0) return rc;
        if (s->n < had) tries = 0;
    }
    return 0;
}

/* Parts without kernels: their keys come as spans in any case. */
static int run(bf_filter *f, bf_span *s, bf_error *err)
{
    if (s->op == BF_OP_ADD) {
        const int rc = bf_parts_writable(f, err);
        return rc < 0 ? rc : add(f, s, err);
    }
    if (bf_span_find(f->part, bf_parts_count(f), s)) bf_span_drop_decided(s, 1);
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

/* ---- counting filters ----
 * A part contains a key if all counters of the key are above 0. Each operation uses the oldest part
 * that contains the key. If no part contains the key, an add uses the newest part.
 *
 * Why the oldest part: in a part that is not the newest, a counter of 0 stays 0, because an add
 * changes that part only if all counters of its key are above 0. So a key that is absent from such
 * a part stays absent, and all operations on a key use the same part. In the newest part counters
 * do rise from 0, and that part may seem to contain a key of an older part. A search from the
 * newest part would then decrement counters of other keys, and these keys would become absent.
 *
 * Adds and removals hold the lock of the filter: two adds of one key must not use two parts. Tests
 * and counts do not hold the lock. */
static bf_part *oldest_with(const bf_filter *f, const uint64_t *d)
{
    for (unsigned i = 0; i < bf_parts_count(f); i++) {
        const bf_bitmap *p = &f->part[i]->bitmap;
        if (p->kernels->test_one(&p->g, p->store.words, d)) return f->part[i];
    }
    return NULL;
}

/* A removal decrements only the newest part's number of keys,
 * because only that number decides when the filter grows. */
static int count_key(bf_filter *f, int op, const uint64_t *d, uint8_t *answer, bf_error *err)
{
    uint64_t pos[BF_POSITIONS];
    bf_part *p = oldest_with(f, d);
    const bool new = !p;
    *answer = 0;
    if (new && op != BF_OP_ADD) return 0;
    for (unsigned count; new && room(f, f->part[(count = bf_parts_count(f)) - 1]) == 0;) {
        const int rc = bf_chain_next_locked(f, count, err);
        if (rc < 0) return rc;
    }
    if (new) p = f->part[bf_parts_count(f) - 1];
    const bf_bitmap *b = &p->bitmap;
    f->desc.scheme->layout->positions(&b->g, d, 1, pos);
    bf_counters_apply(b->store.words, f->atomic, op, pos, 1, b->g.k, answer);
    if (op == BF_OP_ADD) *answer = new;
    if (new) bf_live_add(p->live, 1, f->atomic);
    const int64_t keys = bf_live(p->live);
    if (op == BF_OP_REMOVE && p == bf_parts_newest(f) && keys > 0 &&
        !b->kernels->test_one(&b->g, b->store.words, d))
        bf_live_set(p->live, keys - 1);
    return 0;
}

static int lock_to_count(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_lock_all(f, err);
    if (rc < 0 || (rc = bf_parts_writable(f, err)) == 0) return rc;
    bf_parts_unlock(f);
    return rc;
}

static int count(bf_filter *f, bf_span *s, bf_error *err)
{
    const bool changes = s->op != BF_OP_COUNT;
    int rc = changes ? lock_to_count(f, err) : 0;
    if (rc < 0) return rc;
    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        rc = count_key(f, s->op, s->d + i, s->answer + s->key[i], err);
        if (rc == BF_EFULL) err->key = 0;
        if (rc < 0 && err->key != BF_NO_KEY) err->key += i;
    }
    if (changes) bf_parts_unlock(f);
    return rc;
}

static int count_one(bf_filter *f, const uint64_t *d, bf_error *err)
{
    uint8_t new = 0;
    int rc = lock_to_count(f, err);
    if (rc < 0) return rc;
    rc = count_key(f, BF_OP_ADD, d, &new, err);
    bf_parts_unlock(f);
    return rc < 0 ? rc : new ? BF_ADDED : BF_PRESENT;
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
    .add = add,
    .parts_to_test = parts_to_test,
    .add_one = add_one };
/* RedisBloom's: parts without kernels, each with its own k */
const bf_variant_ops bf_variant_scalable = {
    .stored = &bf_format_grow, .many = true, .grows = true, .run = run
};
const bf_variant_ops bf_variant_grow_counting = { .stored = &bf_format_grow,
    .many = true,
    .grows = true,
    .parts_to_test = parts_to_test,
    .add_one = count_one,
    .count = count };
