/* state_parts.c - filters of many parts as sets of bits: what they are, what is in them, copy,
 * union, equality, clear. The bits of a whole one are its parts' bits one after the other. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static uint64_t total_bits(const bf_chain *c)
{
    const bf_piece *last = c->piece[bf_chain_count(c) - 1];
    return last->start + last->part.g.m;
}

void bf_chain_info(const bf_filter *f, bf_info *info)
{
    const bf_chain *c = f->chain;
    info->m = total_bits(c);
    info->bitset_bytes = info->m / 8;
    info->image_bytes = bf_chain_bytes(f);
    info->grow = c->desc.grow;
    info->window = c->desc.window;
    info->parts = c->desc.parts;
    info->part_count = bf_chain_count(c);
}

static void part_of(const bf_filter *f, unsigned i, bf_part_info *info)
{
    const bf_piece *p = f->chain->piece[i];
    const int64_t live = bf_live(p->live);
    *info = (bf_part_info){
        .first_bit = p->start, .m = p->part.g.m, .n = p->part.g.n, .p = p->part.g.p
    };
    if (f->chain->desc.kind == BF_GROW)
        info->keys = live < 0 ? 0 : (uint64_t)live;
    else if (live != BF_NEVER) {
        info->since = (double)live * bf_window_step(f->chain);
        info->until = (double)(live + f->chain->desc.parts + 1) * bf_window_step(f->chain);
    }
}

int64_t bf_chain_hashcode(bf_filter *f, const uint64_t *digest, uint64_t *pos, bf_error *err)
{
    bf_chain *c = f->chain;
    const bf_piece *p = c->piece[bf_chain_count(c) - 1];
    int64_t now = 0;
    if (c->desc.kind == BF_WINDOW) {
        int rc = bf_window_here(f, &now, err);
        if (rc < 0) return rc;
        p = bf_window_piece(c, now);
    }
    f->scheme->layout->positions(&p->part.g, digest, 1, pos);
    for (unsigned j = 0; j < p->part.g.k; j++) pos[j] += p->start;
    return p->part.g.k;
}

/* ---- its parts ---- */
int bf_do_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err)
{
    int rc = f->chain ? bf_chain_check(f, err) : 0;
    if (rc == 0 && f->chain) rc = i == 0 ? bf_chain_refresh(f, err) : bf_chain_follow(f, err);
    if (rc < 0) return rc;
    const unsigned n = f->chain ? bf_chain_count(f->chain) : 1;
    if (i >= n) return bf_fail(err, BF_EINVAL, "part must be 0 to %u, got %u", n - 1, i);
    if (f->chain)
        part_of(f, i, info);
    else
        *info = (bf_part_info){ .m = f->part.g.m, .n = f->part.g.n, .p = f->part.g.p };
    return 0;
}

/* The part's words; where they are elsewhere, *copy is one to be freed. */
static int words_of(bf_piece *p, uint64_t **words, uint64_t **copy, bf_error *err)
{
    bf_store *s = &p->part.store;
    *copy = NULL;
    if ((*words = s->words)) return 0;
    if (!(*words = *copy = bf_words_new(s->nwords)))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    if (!bf_piece_there(p)) return 0;
    int rc = s->ops->read(s, 0, *copy, (p->part.g.m + 7) / 8, err);
    if (rc < 0) {
        free(*copy);
        *copy = NULL;
    }
    return rc;
}

static int ones_of(bf_piece *p, uint64_t *ones, bf_error *err)
{
    bf_store *s = &p->part.store;
    if (!s->words) return s->ops->count(s, ones, err);
    *ones = bf_words_count(s->words, s->nwords);
    return 0;
}

/* Bits set in any living part: a key that was added in several epochs counts once. */
static uint64_t ones_of_all(const bf_chain *c, int64_t now)
{
    uint64_t ones = 0, block[512];
    for (uint64_t at = 0, n, words = c->piece[0]->part.store.nwords; at < words; at += n) {
        n = words - at < 512 ? words - at : 512;
        memset(block, 0, sizeof block);
        for (unsigned i = 0; i < c->count; i++)
            if (bf_window_lives(c, c->piece[i], now))
                bf_words_or(block, c->piece[i]->part.store.words + at, n, false);
        ones += bf_words_count(block, n);
    }
    return ones;
}

static int sum_up(bf_filter *f, int64_t now, bf_state *sum, bf_error *err)
{
    const bf_chain *c = f->chain;
    const bool window = c->desc.kind == BF_WINDOW;
    double clean = 1;
    *sum = (bf_state){ 0 };
    for (unsigned i = 0; i < c->count; i++) {
        bf_state one;
        uint64_t ones;
        if (window && !bf_window_lives(c, c->piece[i], now)) continue;
        int rc = ones_of(c->piece[i], &ones, err);
        if (rc < 0) return rc;
        bf_estimate(f->scheme, &c->piece[i]->part.g, ones, &one);
        sum->ones += ones;
        sum->count += one.count;
        clean *= 1 - one.fpr;
    }
    sum->fill = (double)sum->ones / (double)total_bits(c);
    sum->fpr = 1 - clean;
    if (window && c->piece[0]->part.store.words) {
        bf_state all;
        bf_estimate(f->scheme, &c->piece[0]->part.g, ones_of_all(c, now), &all);
        sum->count = all.count;
    }
    return 0;
}

int bf_chain_state(bf_filter *f, bf_state *state, bf_error *err)
{
    int token, rc = bf_chain_check(f, err);
    int64_t now = 0;
    if (rc == 0 && f->chain->desc.kind == BF_WINDOW) rc = bf_window_now(f, &now, err);
    if (rc < 0 || (rc = bf_chain_lock_whole(f, &token, err)) < 0) return rc;
    rc = sum_up(f, now, state, err);
    bf_chain_unlock(f, token);
    return rc;
}

/* ---- more keys than it was sized for? ---- */
/* Part by part the keys are counted as they are added (grow), or not at all (window).  A part of a
 * growing filter has too many where it can have no successor, or by a union. */
static bool may_be_overfull(const bf_chain *c)
{
    if (c->desc.kind == BF_WINDOW) return true;
    for (unsigned i = 0; i < bf_chain_count(c); i++)
        if ((double)bf_live(c->piece[i]->live) > 1.1 * (double)c->piece[i]->part.g.n + 10)
            return true;
    return false;
}

/* The rate of all living parts, and the keys in the one that has the most for its size. */
static int rate_now(bf_filter *f, int64_t now, double *rate, double *fullest, bf_error *err)
{
    const bf_chain *c = f->chain;
    double clean = 1;
    *fullest = 0;
    for (unsigned i = 0; i < bf_chain_count(c); i++) {
        bf_piece *p = c->piece[i];
        bf_store *s = &p->part.store;
        bf_state one;
        uint64_t ones = 0;
        if (c->desc.kind == BF_WINDOW && !bf_window_lives(c, p, now)) continue;
        int rc = s->words || !bf_piece_there(p) ? 0 : s->ops->count(s, &ones, err);
        if (rc < 0) return rc;
        if (s->words) ones = bf_sample(s->words, s->nwords, &p->part.g);
        bf_estimate(f->scheme, &p->part.g, ones, &one);
        clean *= 1 - one.fpr;
        if (one.count > *fullest) *fullest = one.count;
    }
    *rate = 1 - clean;
    return 0;
}

/* The time is that of the newest add: the host's clock may do anything, and this is asked in the
 * middle of its calls. */
int bf_chain_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    enum { OFTEN = 64 };
    const bf_chain *c = f->chain;
    const bool far = !c->piece[0]->part.store.words;
    const bf_piece *last = c->piece[bf_chain_count(c) - 1];
    double rate = 0, fullest = 0;
    int token = -1, rc = far ? bf_chain_lock_whole(f, &token, err) : bf_chain_follow(f, err);
    if (rc < 0) return rc;
    const int64_t now = bf_live(c->epoch);
    if (may_be_overfull(c)) rc = rate_now(f, now, &rate, &fullest, err);
    if (far) bf_chain_unlock(f, token);
    const double n = (double)last->part.g.n;
    const double room = n - (c->desc.kind == BF_WINDOW ? fullest : (double)bf_live(last->live));
    const double left = room > n / OFTEN ? room : n / OFTEN;
    *wait = left < 1 ? 1 : left < 9e18 ? (uint64_t)left : INT64_MAX;
    return rc < 0 ? rc : rate > 1.5 * c->desc.g.p ? BF_OVERFULL : 0;
}

static int read_part(bf_piece *p, uint64_t from, uint8_t *to, uint64_t len, bf_error *err)
{
    bf_store *s = &p->part.store;
    if (!bf_piece_there(p)) {
        memset(to, 0, len);
        return 0;
    }
    if (!s->words) return s->ops->read(s, from, to, len, err);
    memcpy(to, (const uint8_t *)s->words + from, len);
    return 0;
}

int bf_chain_read_bits(bf_filter *f, uint64_t offset, uint8_t *buf, size_t len, bf_error *err)
{
    int token, rc = bf_chain_lock_whole(f, &token, err);
    if (rc < 0) return rc;
    const uint64_t bytes = total_bits(f->chain) / 8;
    if (offset > bytes || len > bytes - offset)
        rc = bf_fail(err, BF_EINVAL, "bytes %llu to %llu are not in a bitset of %llu bytes",
            (ull)offset, (ull)offset + len, (ull)bytes);
    for (unsigned i = 0; rc == 0 && len && i < f->chain->count; i++) {
        bf_piece *p = f->chain->piece[i];
        const uint64_t first = p->start / 8, end = first + p->part.g.m / 8;
        if (offset < first || offset >= end) continue;
        const uint64_t n = end - offset < len ? end - offset : len;
        rc = read_part(p, offset - first, buf, n, err);
        offset += n;
        buf += n;
        len -= n;
    }
    bf_chain_unlock(f, token);
    return rc;
}

int bf_chain_sync(bf_filter *f, bf_error *err)
{
    int rc = bf_chain_check(f, err);
    if (rc == 0) rc = bf_chain_follow(f, err);
    for (unsigned i = 0; rc >= 0 && i < bf_chain_count(f->chain); i++) {
        bf_store *s = &f->chain->piece[i]->part.store;
        if (s->ops && s->ops->sync) rc = s->ops->sync(s, err);
    }
    return rc;
}

/* ---- clear ---- */
static int clear_part(bf_filter *f, bf_piece *p, bf_error *err)
{
    bf_store *s = &p->part.store;
    if (!bf_piece_there(p)) return 0;
    if (!s->words) {
        int rc = s->ops->clear(s, err);
        if (rc < 0) return rc;
    } else
        for (uint64_t w = 0; w < s->nwords; w++) bf_word_set(s->words + w, 0);
    if (f->chain->desc.kind == BF_GROW) bf_live_set(p->live, 0);
    return 0;
}

int bf_chain_clear(bf_filter *f, bf_error *err)
{
    int token, rc = bf_chain_check(f, err);
    if (rc == 0) rc = bf_chain_writable(f, err);
    if (rc < 0 || (rc = bf_chain_lock_whole(f, &token, err)) < 0) return rc;
    for (unsigned i = 0; rc >= 0 && i < f->chain->count; i++)
        rc = clear_part(f, f->chain->piece[i], err);
    bf_chain_unlock(f, token);
    return rc;
}

/* ---- copy ---- */
static int copy_parts(bf_filter *to, bf_filter *from, bf_error *err)
{
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < from->chain->count; i++) {
        bf_desc d = bf_chain_describe(from, from->chain->piece[i], i);
        bf_store *s = &from->chain->piece[i]->part.store;
        if ((rc = bf_chain_append_memory(to, &d, err)) < 0) break;
        uint64_t *w = to->chain->piece[i]->part.store.words;
        if (s->words)
            bf_words_copy(w, s->words, s->nwords);
        else if (bf_piece_there(from->chain->piece[i]))
            rc = s->ops->read(s, 0, w, (d.g.m + 7) / 8, err);
    }
    to->chain->full = from->chain->full;
    bf_live_set(to->chain->epoch, bf_live(from->chain->epoch));
    return rc;
}

bf_filter *bf_chain_copy(bf_filter *f, bf_error *err)
{
    bf_spec spec = { .threads = f->atomic && !(f->part.store.ops->flags & BF_STORE_ATOMIC),
        .clock = f->chain->clock,
        .clock_ctx = f->chain->clock_ctx };
    bf_desc d = f->chain->desc;
    int token;
    if (f->secret_check) {
        spec.secret = f->secret;
        spec.secret_len = BF_SECRET_BYTES;
    }
    if (bf_chain_check(f, err) < 0) return NULL;
    d.live = bf_live(f->chain->epoch);
    bf_filter *c = bf_chain_new_memory(&d, &spec, err);
    if (!c || bf_chain_lock_whole(f, &token, err) < 0) {
        bf_close(c);
        return NULL;
    }
    int rc = copy_parts(c, f, err);
    bf_chain_unlock(f, token);
    if (rc == 0) return c;
    bf_close(c);
    return NULL;
}

/* ---- two of them ---- */
static int same_parts(const bf_filter *a, const bf_filter *b, bf_error *err)
{
    const unsigned n = bf_chain_count(a->chain), o = bf_chain_count(b->chain);
    if (n != o)
        return bf_fail(err, BF_EINVAL,
            "filters that grow must have grown alike: one has %u parts, the other %u", n, o);
    for (unsigned i = 0; i < n; i++)
        if (a->chain->piece[i]->part.g.m != b->chain->piece[i]->part.g.m)
            return bf_fail(err, BF_EINVAL,
                "filters that grow must have grown alike: part %u has m=%llu here and m=%llu there",
                i, (ull)a->chain->piece[i]->part.g.m, (ull)b->chain->piece[i]->part.g.m);
    return 0;
}

static int unite_part(bf_filter *into, bf_piece *to, bf_piece *from, bf_error *err)
{
    uint64_t *w, *copy, ones;
    bf_store *s = &to->part.store;
    bf_state st;
    int rc = words_of(from, &w, &copy, err);
    if (rc < 0) return rc;
    if (s->words)
        bf_words_or(s->words, w, s->nwords, into->atomic);
    else
        rc = s->ops->unite(s, w, err);
    free(copy);
    if (rc < 0 || into->chain->desc.kind != BF_GROW || (rc = ones_of(to, &ones, err)) < 0)
        return rc;
    bf_estimate(into->scheme, &to->part.g, ones, &st);
    bf_live_raise(
        to->live, st.count < (double)to->part.g.m ? (int64_t)st.count : (int64_t)to->part.g.m);
    return 0;
}

/* Bits in addressable memory go in under the lock: the piece cannot be emptied for another epoch
 * meanwhile, and keep them. */
static int unite_epoch(bf_filter *into, int64_t e, bf_piece *from, bf_error *err)
{
    bf_piece *to = bf_window_piece(into->chain, e);
    int token, rc;
    if (into->part.store.ops->chain->turn)
        return (rc = bf_window_turn(into, e, &to, err)) < 0 || !to
                   ? rc
                   : unite_part(into, to, from, err);
    if ((rc = bf_chain_lock(into, &token, err)) < 0) return rc;
    bf_window_empty(into, to, e);
    rc = bf_live(to->live) == e ? unite_part(into, to, from, err) : bf_window_late(into, to, err);
    bf_chain_unlock(into, token);
    return rc;
}

/* A window whose parts come and go is worked with as a copy, *copy, to be closed; any other as it
 * is. */
static bf_filter *standing(bf_filter *f, bf_filter **copy, bf_error *err)
{
    *copy = NULL;
    return f->chain->desc.kind == BF_WINDOW && f->part.store.ops->chain->look
               ? *copy = bf_chain_copy(f, err)
               : f;
}

/* The other's living pieces, each into the piece of its epoch.  What is of the future, as one
 * machine's clock sees the other's, counts from now on: obeyed, it would make everything else be
 * forgotten; left out, its keys would be lost. */
static int unite_pieces(bf_filter *into, bf_filter *from, bf_error *err)
{
    int64_t now = 0;
    int rc = bf_window_now(into, &now, err);
    for (unsigned i = 0; rc >= 0 && i < bf_chain_count(from->chain); i++) {
        bf_piece *p = from->chain->piece[i];
        const int64_t e = bf_live(p->live);
        if (e == BF_NEVER || e < now - (int64_t)into->chain->desc.parts) continue;
        rc = unite_epoch(into, e < now ? e : now, p, err);
    }
    return rc;
}

static int unite_window(bf_filter *into, bf_filter *from, bf_error *err)
{
    bf_filter *copy, *still = standing(from, &copy, err);
    int rc = still ? unite_pieces(into, still, err) : err && err->code < 0 ? err->code : BF_EIO;
    bf_close(copy);
    return rc;
}

int bf_chain_unite(bf_filter *into, bf_filter *from, bf_error *err)
{
    int rc = bf_chain_check(into, err);
    if (rc == 0) rc = bf_chain_writable(into, err);
    if (rc < 0 || (rc = bf_chain_refresh(into, err)) < 0 || (rc = bf_chain_refresh(from, err)) < 0)
        return rc;
    if (into->chain->desc.kind == BF_WINDOW) return unite_window(into, from, err);
    const unsigned n = bf_chain_count(into->chain); /* more may come meanwhile */
    rc = same_parts(into, from, err);
    for (unsigned i = 0; rc >= 0 && i < n; i++)
        rc = unite_part(into, into->chain->piece[i], from->chain->piece[i], err);
    return rc;
}

static int equal_part(bf_piece *a, bf_piece *b, bf_error *err)
{
    uint64_t *x, *y, *cx = NULL, *cy = NULL;
    int rc = words_of(a, &x, &cx, err);
    if (rc == 0) rc = words_of(b, &y, &cy, err);
    if (rc == 0) rc = bf_words_equal(x, y, a->part.store.nwords);
    free(cx);
    free(cy);
    return rc;
}

static int equal_grown(bf_filter *a, bf_filter *b, bf_error *err)
{
    int rc = bf_chain_refresh(a, err);
    if (rc < 0 || (rc = bf_chain_refresh(b, err)) < 0) return rc;
    const unsigned n = bf_chain_count(a->chain); /* more may come meanwhile */
    rc = same_parts(a, b, NULL) == 0;
    for (unsigned i = 0; rc == 1 && i < n; i++)
        rc = equal_part(a->chain->piece[i], b->chain->piece[i], err);
    return rc;
}

/* In what they remember now: what is of the past may be there still or not.  A part that is not
 * there has no keys. */
static int equal_pieces(bf_filter *a, bf_filter *b, int64_t now, bf_error *err)
{
    int rc = 1;
    uint64_t ones;
    for (int64_t e = now - (int64_t)a->chain->desc.parts; rc == 1 && e <= now; e++) {
        bf_piece *p = bf_window_piece(a->chain, e), *q = bf_window_piece(b->chain, e);
        const bool has = bf_live(p->live) == e, other = bf_live(q->live) == e;
        if (has && other)
            rc = equal_part(p, q, err);
        else if ((has || other) && (rc = ones_of(has ? p : q, &ones, err)) == 0)
            rc = ones == 0;
    }
    return rc;
}

static int equal_windows(bf_filter *a, bf_filter *b, bf_error *err)
{
    int64_t now = 0, then = 0;
    bf_filter *copies[2] = { NULL, NULL }, *x = standing(a, &copies[0], err),
              *y = x ? standing(b, &copies[1], err) : NULL;
    int rc = y ? bf_chain_check(x, err) : err && err->code < 0 ? err->code : BF_EIO;
    if (rc == 0) rc = bf_chain_check(y, err);
    if (rc == 0 && (rc = bf_window_now(x, &now, err)) == 0 &&
        (rc = bf_window_now(y, &then, err)) == 0)
        rc = equal_pieces(x, y, then > now ? then : now, err);
    bf_close(copies[0]);
    bf_close(copies[1]);
    return rc;
}

int bf_chain_equal(bf_filter *a, bf_filter *b, bf_error *err)
{
    return a->chain->desc.kind == BF_WINDOW ? equal_windows(a, b, err) : equal_grown(a, b, err);
}
