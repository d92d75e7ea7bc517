/* span.c - how keys go over the parts of a filter: a key is hashed once and asked of every part.
 * Works on spans, runs of keys of which some are not decided yet; which parts are asked, and what
 * happens when one is full or over, is the variant's. */
#include "bits/bits.h"
#include "parts/span.h"
#include <string.h>

enum {
    HANDS = 64,
    LARGE = 1 << 16
}; /* keys a kernel takes; words from which a part is fetched ahead */

/* ---- one part ---- */
/* Parts in addressable memory are given HANDS keys at most, and asked by sift_words: here keys are
 * only added. */
static int64_t add_words(const bf_filter *f, bf_part *p, bf_span *s, size_t n)
{
    const uint64_t bits = p->kernels->add[f->atomic](&p->g, p->store.words, s->d, n, NULL, 0) &
                          (~UINT64_C(0) >> (64 - n));
    for (size_t i = 0; bits && i < n; i++) s->present[i] = bits >> i & 1;
    return __builtin_popcountll(bits);
}

/* Positions of as many keys at once as the stack holds. */
static int64_t probe_positions(
    const bf_filter *f, bf_part *p, int op, bf_span *s, size_t n, bf_error *err)
{
    uint64_t pos[BF_POSITIONS];
    const size_t most = BF_POSITIONS / p->g.k;
    int64_t hits = 0;
    for (size_t at = 0, c; at < n; at += c) {
        c = n - at < most ? n - at : most;
        f->scheme->layout->positions(&p->g, s->d + at, c, pos);
        int rc = p->store.ops->apply(&p->store, op, pos, c, p->g.k, s->present + at, err);
        if (rc < 0) return rc;
        for (size_t i = 0; i < c; i++) hits += s->present[at + i] = s->present[at + i] != 0;
    }
    return hits;
}

int64_t bf_chain_probe(bf_filter *f, bf_piece *p, int op, bf_span *span, size_t n, bf_error *err)
{
    return p->part.kernels ? add_words(f, &p->part, span, n)
                           : probe_positions(f, &p->part, op, span, n, err);
}

void bf_chain_settle(bf_span *s, uint8_t *answer, uint8_t value)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->present[i]) {
            answer[s->key[i]] = value;
            continue;
        }
        s->d[kept] = s->d[i];
        s->key[kept++] = s->key[i];
    }
    s->n = kept;
}

/* Up to HANDS keys, of parts in addressable memory. */
static uint64_t any_of(const bf_kernels *k, const bf_plane *planes, unsigned n, const bf_span *s)
{
    uint64_t bits = 0;
    if (k->any) return k->any(planes, n, s->d, s->n);
    for (unsigned i = n; i-- > 0;)
        bits |= k->test(planes[i].g, planes[i].words, s->d, s->n, NULL, 0);
    return bits & ~UINT64_C(0) >> (64 - s->n);
}

bool bf_chain_mark(bf_piece *const *pieces, unsigned n, bf_span *s)
{
    bf_plane planes[BF_PARTS_MAX];
    for (unsigned i = 0; i < n; i++)
        planes[i] = (bf_plane){ pieces[i]->part.store.words, &pieces[i]->part.g };
    const uint64_t bits = any_of(pieces[0]->part.kernels, planes, n, s);
    for (size_t i = 0; i < s->n; i++) s->present[i] = bits >> i & 1;
    return bits != 0;
}

int bf_chain_sift(bf_filter *f, bf_piece *const *pieces, unsigned n, bf_span *s, uint8_t *answer,
    uint8_t value, bf_error *err)
{
    if (n && s->n && pieces[0]->part.kernels) {
        if (bf_chain_mark(pieces, n, s)) bf_chain_settle(s, answer, value);
    } else
        for (unsigned i = n; i-- > 0 && s->n;) {
            int64_t hits = bf_chain_probe(f, pieces[i], BF_OP_TEST, s, s->n, err);
            if (hits < 0) return (int)hits;
            if (hits) bf_chain_settle(s, answer, value);
        }
    return 0;
}

void bf_chain_drop(bf_span *s, size_t n)
{
    memmove(s->d, s->d + n, (s->n - n) * sizeof *s->d);
    memmove(s->key, s->key + n, (s->n - n) * sizeof *s->key);
    s->n -= n;
}

/* ---- one key ---- */
int bf_chain_test(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_chain *c = f->chain;
    uint64_t d[BF_WIDTH_MAX];
    if (!c->piece[0]->part.kernels)
        return (int)bf_chain_run(f, BF_OP_TEST, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    return c->variant->test_one(f, d, err);
}

int bf_chain_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_chain *c = f->chain;
    uint64_t d[BF_WIDTH_MAX];
    if (!c->piece[0]->part.kernels || !c->variant->add_one)
        return (int)bf_chain_run(f, BF_OP_ADD, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0 || (rc = bf_chain_writable(f, err)) < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    return c->variant->add_one(f, d, err);
}

/* ---- many keys ---- */
static void hash_span(const bf_filter *f, const bf_key *keys, size_t n, size_t left, bf_span *s)
{
    for (size_t i = n; i < 2 * n && i < left; i++) bf_prefetch(keys[i].ptr);
    f->hash->run(f->secret, keys, n, s->d);
    for (size_t i = 0; i < n; i++) s->key[i] = (uint16_t)i;
    s->n = n;
    for (unsigned i = bf_chain_count(f->chain); i-- > 0;) {
        const bf_part *p = &f->chain->piece[i]->part;
        if (p->kernels && !p->kernels->any_fetches && p->store.nwords >= LARGE)
            p->kernels->fetch(&p->g, p->store.words, s->d, n);
    }
}

static int span_of(bf_filter *f, int op, bf_span *s, uint8_t *answer, bf_error *err)
{
    const bf_variant *v = f->chain->variant;
    return op == BF_OP_ADD ? v->add(f, s, answer, err) : v->test(f, s, answer, err);
}

/* A part is lost, or not what it was: is that because the whole was re-created?  Then the error
 * says so, once; 0: that was told before, and the keys are to be asked for again. */
static int reason(bf_filter *f, int op, int rc, bf_error *err)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    if (!ops->doubts || !ops->doubts(f, op == BF_OP_ADD)) return rc;
    bf_lower(&f->chain->moved);
    const int more = bf_chain_refresh(f, err);
    return more < 0 ? more : bf_raised(&f->chain->moved) ? 0 : rc;
}

int64_t bf_chain_run(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    bf_span s;
    uint8_t own[BF_SPAN];
    int64_t total = 0;
    const size_t most = f->chain->piece[0]->part.kernels ? HANDS : BF_SPAN;
    const bf_chain_ops *ops = f->part.store.ops->chain;
    for (size_t done = 0, c; done < n; done += c) {
        uint8_t *answer = each ? each + done : own;
        c = n - done < most ? n - done : most;
        int rc = bf_chain_follow(f, err);
        if (rc < 0 || (op == BF_OP_ADD && (rc = bf_chain_writable(f, err)) < 0)) return rc;
        memset(answer, 0, c);
        hash_span(f, keys + done, c, n - done, &s);
        if ((rc = span_of(f, op, &s, answer, err)) < 0) {
            if ((rc = reason(f, op, rc, err)) < 0) return rc;
            c = 0;
            continue;
        }
        for (size_t i = 0; i < c; i++) total += answer[i];
        if (ops->fine) ops->fine(f);
    }
    return total;
}
