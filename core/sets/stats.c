/* stats.c - reads parameters, bits and counts of a filter; clears, syncs, expires, deletes it. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/rebuild.h"
#include "sets/sets.h"
#include <stdlib.h>
#include <string.h>

const char *bf_version(void) { return BF_VERSION; }

/* ---- reading words ---- */
int bf_require_readable(const bf_filter *f, bool has_operation, const char *what, bf_error *err)
{
    const bf_part *p = f->part[0];
    if (has_operation || p->bitmap.store.words || !bf_part_exists(p)) return 0;
    return bf_fail(err, BF_ENOTSUP, "home %s cannot %s: its bits are not in memory",
        f->bitmap.store.ops->name, what);
}

/* not memcpy: other threads may set bits */
static void copy_bytes(const uint64_t *words, uint64_t offset, uint8_t *to, uint64_t len)
{
    for (uint64_t n; len > 0; offset += n, to += n, len -= n) {
        const uint64_t word = bf_word(words + offset / 8), at = offset % 8;
        n = 8 - at < len ? 8 - at : len;
        if (n == 8)
            memcpy(to, &word, 8);
        else
            memcpy(to, (const uint8_t *)&word + at, n);
    }
}

int bf_part_read(bf_part *p, uint64_t offset, void *to, uint64_t len, bf_error *err)
{
    bf_store *s = &p->bitmap.store;
    if (s->ops->read && bf_part_exists(p)) return s->ops->read(s, offset, to, len, err);
    if (s->words)
        copy_bytes(s->words, offset, to, len);
    else
        memset(to, 0, len);
    return 0;
}

int bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err)
{
    bf_store *s = &p->bitmap.store;
    *copy = NULL;
    if ((*words = s->words) && !s->ops->read) return 0;
    if (!(*words = *copy = bf_words_new(s->nwords)))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    const int rc = bf_part_read(p, 0, *copy, (bf_bits(&p->bitmap.g) + 7) / 8, err);
    if (rc == 0) return 0;
    free(*copy);
    *copy = NULL;
    return rc;
}

int bf_reader_open(bf_block_reader *v, bf_part *p, bf_error *err)
{
    v->part = p;
    v->err = err;
    v->words = v->copy = NULL;
    v->at = v->n = 0;
    return p->bitmap.store.words && p->bitmap.store.ops->read
               ? 0
               : bf_part_words(p, &v->words, &v->copy, err);
}

const uint64_t *bf_reader_block(void *view, uint64_t at, uint64_t n)
{
    bf_block_reader *v = view;
    bf_store *s = &v->part->bitmap.store;
    if (v->words) return v->words + at;
    return s->ops->read(s, at * 8, v->room, n * 8, v->err) < 0 ? NULL : v->room;
}

const uint64_t *bf_reader_next(bf_block_reader *v, int *rc)
{
    const uint64_t nwords = v->part->bitmap.store.nwords;
    if (*rc < 0 || (v->at += v->n) >= nwords) return NULL;
    v->n = nwords - v->at < BF_BLOCK ? nwords - v->at : BF_BLOCK;
    const uint64_t *words = bf_reader_block(v, v->at, v->n);
    if (!words) *rc = bf_code_of(v->err);
    return words;
}

void bf_reader_close(bf_block_reader *v) { free(v->copy); }

int bf_fixed_words(bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err)
{
    *copy = NULL;
    if (f->variant->many)
        return bf_fail(err, BF_EINVAL,
            "a filter that grows or forgets cannot %s: its bits are in many parts", what);
    int rc = bf_require_readable(f, f->bitmap.store.ops->read, what, err);
    if (rc < 0 || (rc = bf_parts_check(f, err)) < 0) return rc;
    return bf_part_words(&f->only, words, copy, err);
}

/* ---- parameters and parts ---- */
/* The generation may be in a mapped file, which must not be read if it was truncated. */
static bool is_new(const bf_filter *f)
{
    bf_store *s = (bf_store *)&f->bitmap.store;
    const bool readable = !s->generation || s->ops->check(s, NULL) == 0;
    return !readable || !bf_was_rebuilt(f);
}

void bf_get_info(const bf_filter *f, bf_info *info)
{
    const bf_geometry *g = &f->bitmap.g;
    const uint64_t m = bf_parts_cells(f);
    *info = (bf_info){ .m = m,
        .n = g->n,
        .k = g->k,
        .p = f->info_p,
        .scheme = f->desc.name,
        .home = f->bitmap.store.ops->name,
        .storage = f->storage,
        .shown = f->storage || f->bitmap.store.label ? bf_where(f) : NULL,
        .key = f->key,
        .bitset_bytes = (m * bf_cell_ops_of(g)->bits + 7) / 8,
        .image_bytes = bf_image_length_of(f, bf_parts_count(f)),
        .shards = g->shards > 1 ? g->shards : 1,
        .keyed = f->desc.secret_check != 0,
        .read_only = f->bitmap.store.read_only,
        .counting = g->counting,
        .grow = f->desc.grow,
        .window = f->desc.window,
        .parts = f->desc.parts,
        .part_count = bf_parts_count(f),
        .created = bf_flag_get(&f->created) && is_new(f),
        .overfull = f->overfull };
}

int bf_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    int rc = i == 0 ? bf_parts_refresh(f, err) : bf_parts_follow(f, err);
    if (rc < 0) return rc;
    const unsigned n = bf_parts_count(f);
    if (i >= n) return bf_fail(err, BF_EINVAL, "part must be 0 to %u, got %u", n - 1, i);
    bf_parts_info(f, i, info);
    return 0;
}

int bf_size_after(bf_filter *f, uint64_t keys, uint64_t *bytes, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    int rc = bf_parts_refresh(f, err);
    if (rc < 0 || !f->variant->grows) return rc;
    const unsigned count = bf_parts_count(f);
    bf_part_info newest;
    bf_parts_info(f, count - 1, &newest);
    uint64_t room = newest.n > newest.keys ? newest.n - newest.keys : 0, cells = bf_parts_cells(f);
    bf_params part;
    *bytes = BF_HEADER;
    for (unsigned i = 0; i < count; i++) *bytes += bf_image_bytes(bf_bits(&f->part[i]->bitmap.g));
    unsigned n = count;
    for (; room < keys && n < BF_PARTS_MAX; n++, room += part.g.n, cells += part.g.m) {
        if ((rc = bf_chain_part(&f->desc, n, cells, &part, err)) <= 0) break;
        *bytes += bf_image_bytes(bf_bits(&part.g));
    }
    return rc < 0 ? rc : n > count;
}

/* ---- counts of bits and keys ---- */
int bf_part_ones(bf_part *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err)
{
    bf_store *s = &p->bitmap.store;
    const bf_cell_ops *cells = bf_cell_ops_of(&p->bitmap.g);
    const uint64_t slice = slices ? (s->nwords + BF_SLICES - 1) / BF_SLICES : UINT64_MAX, *w;
    bf_block_reader v;
    *ones = 0;
    if (slices) memset(slices, 0, BF_SLICES * sizeof *slices);
    if (!s->words && s->ops->count && cells->bits == 1) return s->ops->count(s, ones, slices, err);
    int rc = bf_reader_open(&v, p, err);
    while ((w = bf_reader_next(&v, &rc)))
        for (uint64_t done = 0, n; done < v.n; done += n) {
            const uint64_t left = slice - (v.at + done) % slice;
            n = v.n - done < left ? v.n - done : left;
            const uint64_t here = cells->count(w + done, n);
            *ones += here;
            if (slices) slices[(v.at + done) / slice] += here;
        }
    bf_reader_close(&v);
    return rc;
}

/* Counts the bits that are set in at least one living part: a key that was added in several epochs
 * counts once. For parts in addressable memory. */
static int ones_of_all(bf_filter *f, int64_t now, uint64_t *ones, bf_error *err)
{
    enum { STEP = 512 };
    const uint64_t nwords = f->part[0]->bitmap.store.nwords, *w;
    uint64_t any[STEP];
    bf_block_reader v;
    *ones = 0;
    for (uint64_t at = 0, n; at < nwords; at += n) {
        n = nwords - at < STEP ? nwords - at : STEP;
        memset(any, 0, sizeof any);
        for (unsigned i = 0; i < bf_parts_count(f); i++) {
            bf_part *p = f->part[i];
            if (!bf_part_is_living(f, p, now)) continue;
            if (bf_reader_open(&v, p, err) < 0 || !(w = bf_reader_block(&v, at, n)))
                return bf_code_of(err);
            bf_words_or(any, w, n, false);
        }
        *ones += bf_words_count(any, n);
    }
    return 0;
}

static int sum_up(bf_filter *f, int64_t now, bf_state *sum, bf_error *err)
{
    const bf_part *first = f->part[0];
    const unsigned n = bf_parts_count(f);
    double clean = 1;
    bf_state one;
    *sum = (bf_state){ 0 };
    for (unsigned i = 0; i < n; i++) {
        bf_part *p = f->part[i];
        uint64_t ones, slices[BF_SLICES];
        const bool uneven = f->desc.scheme->estimate && !p->bitmap.g.counting;
        if (!bf_part_is_living(f, p, now)) continue;
        int rc = bf_part_ones(p, &ones, uneven ? slices : NULL, err);
        if (rc < 0) return rc;
        bf_estimate(f->desc.scheme, f->secret, &p->bitmap.g, ones, &one);
        if (uneven) f->desc.scheme->estimate(&p->bitmap.g, slices, &one);
        sum->ones += ones;
        sum->count += one.count;
        clean *= 1 - one.fpr;
    }
    sum->fill = (double)sum->ones / (double)bf_parts_cells(f);
    /* 1 - clean would add a rounding error to the rate of a single part */
    sum->fpr = n == 1 ? one.fpr : 1 - clean;
    if (f->variant->forgets && first->bitmap.store.words) {
        uint64_t ones;
        const int rc = ones_of_all(f, now, &ones, err);
        if (rc < 0) return rc;
        bf_estimate(f->desc.scheme, f->secret, &first->bitmap.g, ones, &one);
        sum->count = one.count;
    }
    return 0;
}

int bf_state_entered(bf_filter *f, bf_state *state, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    int64_t now;
    int rc = bf_require_readable(f, ops->count || ops->read, "count its bits", err);
    if (rc < 0 || (rc = bf_parts_check(f, err)) < 0 || (rc = bf_parts_now(f, &now, err)) < 0 ||
        (rc = bf_parts_lock_all(f, err)) < 0)
        return rc;
    if ((rc = sum_up(f, now, state, err)) == 0) state->saturated = bf_saturation_of(f, state);
    bf_parts_unlock(f);
    return rc;
}

int bf_get_state(bf_filter *f, bf_state *state, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    return bf_state_entered(f, state, err);
}

/* ---- reading, clearing and syncing the bits ---- */
int bf_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    uint8_t *to = buf;
    int rc = bf_require_readable(f, f->bitmap.store.ops->read, "read its bits", err);
    if (rc < 0 || (rc = bf_parts_lock_all(f, err)) < 0) return rc;
    const unsigned cell = bf_cell_ops_of(&f->bitmap.g)->bits;
    const uint64_t bytes = (bf_parts_cells(f) * cell + 7) / 8;
    if (offset > bytes || len > bytes - offset)
        rc = bf_fail(err, BF_EINVAL, "bytes %llu to %llu are not in a bitset of %llu bytes",
            (ull)offset, (ull)offset + len, (ull)bytes);
    for (unsigned i = 0; rc == 0 && len && i < bf_parts_count(f); i++) {
        bf_part *p = f->part[i];
        const uint64_t first = p->start * cell / 8, end = first + (bf_bits(&p->bitmap.g) + 7) / 8;
        if (offset < first || offset >= end) continue;
        const uint64_t n = end - offset < len ? end - offset : len;
        rc = bf_part_read(p, offset - first, to, n, err);
        offset += n;
        to += n;
        len -= n;
    }
    bf_parts_unlock(f);
    return rc;
}

static void clear_part(bf_filter *f, bf_part *p)
{
    const bf_store *s = &p->bitmap.store;
    for (uint64_t w = 0; s->words && w < s->nwords; w++) bf_word_store(s->words + w, 0);
    if (f->variant->grows) bf_live_set(p->live, 0);
}

int bf_clear(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    int rc = bf_require_readable(f, f->bitmap.store.ops->change, bf_change_names[BF_CLEAR], err);
    if (rc < 0 || (rc = bf_parts_check(f, err)) < 0 || (rc = bf_parts_writable(f, err)) < 0 ||
        (rc = bf_parts_lock_all(f, err)) < 0)
        return rc;
    if (!f->part[0]->bitmap.store.words)
        rc = f->bitmap.store.ops->change(&f->bitmap.store, BF_CLEAR, NULL, 0, err);
    for (unsigned i = 0; rc >= 0 && i < bf_parts_count(f); i++) clear_part(f, f->part[i]);
    bf_parts_unlock(f);
    bf_check_soon(f);
    return rc < 0 ? rc : bf_check_named(f, err);
}

int bf_sync(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    bf_store *whole = &f->bitmap.store;
    int rc = bf_parts_follow(f, err);
    for (unsigned i = 0; rc >= 0 && i < bf_parts_count(f); i++) {
        bf_store *s = &f->part[i]->bitmap.store;
        if (s != whole && s->ops && s->ops->sync) rc = s->ops->sync(s, err);
    }
    if (rc >= 0 && whole->ops->sync) rc = whole->ops->sync(whole, err);
    return rc < 0 || whole->read_only ? rc : bf_check_named(f, err);
}

int bf_check_file(bf_filter *f, bf_error *err)
{
    return bf_int_load_acquire(&f->state) == BF_FRESH ? 0 : bf_check_named(f, err);
}

/* ---- expiring and deleting ---- */
int bf_expire(bf_filter *f, double seconds, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    const bf_store_ops *ops = f->bitmap.store.ops;
    if (!(seconds >= 0 && seconds <= 1e10))
        return bf_fail(err, BF_EINVAL, "seconds must be 0 (never) to 10000000000, got %g", seconds);
    if (!ops->expire)
        return bf_fail(
            err, BF_ENOTSUP, "home %s cannot expire: only filters in Redis can", ops->name);
    int rc = bf_writable(f, err);
    if (rc < 0) return rc;
    return ops->expire(&f->bitmap.store, seconds, err);
}

int bf_expires_in(bf_filter *f, double *seconds, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    bf_store *s = &f->bitmap.store;
    *seconds = 0;
    return s->ops->expires_in ? s->ops->expires_in(s, seconds, err) : 0;
}

int bf_delete(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    const bf_store_ops *ops = f->bitmap.store.ops;
    if (!ops->remove)
        return bf_fail(
            err, BF_ENOTSUP, "home %s cannot be deleted: only filters in Redis can", ops->name);
    int rc = bf_writable(f, err);
    if (rc < 0) return rc;
    return ops->remove(&f->bitmap.store, err);
}
