/* ring.c - tests and adds batches with kernels, in addressable memory. A key is hashed, and its
 * lines are prefetched, while earlier keys are tested or added. */
#include "keys/keys.h"
#include "parts/parts.h"

/* step: keys per call of the functions. fetch prefetches the lines of keys. ask tests or adds keys,
 * and prefetches the lines of the keys that come `lag` keys later. */
typedef struct {
    unsigned step, lag;
    void (*fetch)(const bf_filter *f, const uint64_t *d, size_t n);
    int (*ask)(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err);
} ring_ops;

/* A batch and the digests of the keys that are hashed, but not yet tested or added. */
typedef struct {
    bf_batch b;
    uint64_t flip; /* all ones for an add, whose answer is "new", not "present" */
    int64_t total;
    uint64_t digests[BF_RING * BF_WIDTH_MAX];
} ring;

#define RING static inline __attribute__((always_inline))
RING uint64_t *digests_of(ring *r, size_t at)
{
    return r->digests + at % BF_RING * r->b.f->hash->width;
}

/* Hashes n keys. If enough keys are left, prefetches the bytes of keys that are hashed later. */
RING uint64_t *hash_some(ring *r, size_t at, size_t n, size_t left, size_t step)
{
    enum { TEXTS = 8, NEAR = 32 };
    const size_t ahead = step < NEAR ? NEAR : step;
    uint64_t *const d = digests_of(r, at);
    for (size_t i = 0; !r->b.hashes && left >= ahead + step && i < step; i += TEXTS)
#pragma GCC unroll 8
        for (size_t j = 0; j < TEXTS; j++) bf_fetch_key(r->b.keys + at + ahead + i + j);
    bf_batch_digests(&r->b, at, n, d);
    return d;
}

RING int ask_some(
    ring *r, const ring_ops w, size_t at, size_t n, const uint64_t *ahead, size_t nahead)
{
    uint64_t hits = ~UINT64_C(0);
    const bf_digests k = { digests_of(r, at), n, ahead, nahead };
    const int rc = w.ask(r->b.f, r->b.op, &k, &hits, r->b.err);
    if (rc < 0 && r->b.err && r->b.err->key != BF_NO_KEY) r->b.err->key += at;
    if (rc < 0 && r->b.op != BF_OP_ADD) return rc;
    hits = (hits ^ r->flip) & (~UINT64_C(0) >> (64 - n));
    r->total += bf_answer(r->b.each ? r->b.each + at : NULL, hits, n);
    return rc;
}

RING int64_t run_ring(const bf_batch *b, const ring_ops w)
{
    ring r;
    const size_t n = b->n;
    r.b = *b;
    r.flip = b->op == BF_OP_ADD ? ~UINT64_C(0) : 0;
    r.total = 0;
    size_t hashed = 0, done = 0, c;
    int rc = 0;
    for (; hashed < n && hashed < w.lag; hashed += c) {
        c = n - hashed < w.step ? n - hashed : w.step;
        w.fetch(b->f, hash_some(&r, hashed, c, n - hashed, w.step), c);
    }
    for (; n - hashed >= w.step; hashed += w.step, done += w.step) {
        const uint64_t *ahead = hash_some(&r, hashed, w.step, n - hashed, w.step);
        if ((rc = ask_some(&r, w, done, w.step, ahead, w.step)) < 0) return rc;
    }
    for (; done < n; done += c) {
        const size_t fresh = n - hashed;
        const uint64_t *ahead = fresh ? hash_some(&r, hashed, fresh, fresh, w.step) : NULL;
        hashed = n;
        c = n - done < w.step ? n - done : w.step;
        if ((rc = ask_some(&r, w, done, c, ahead, fresh)) < 0) return rc;
    }
    return r.total;
}

RING void fetch_one(const bf_filter *f, const uint64_t *d, size_t n)
{
    f->bitmap.kernels->fetch(&f->bitmap.g, f->bitmap.store.words, d, n);
}

RING int ask_one(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err)
{
    const bf_bitmap *p = &f->bitmap;
    (void)err;
    *present =
        op == BF_OP_ADD
            ? p->kernels->add[f->add_mode](&p->g, p->store.words, k->d, k->n, k->ahead, k->nahead)
            : p->kernels->test(&p->g, p->store.words, k->d, k->n, k->ahead, k->nahead);
    return 0;
}

int64_t bf_ring_fixed(const bf_batch *b)
{
    const bf_kernels *k = b->f->bitmap.kernels;
    const ring_ops w = { k->step, k->lag, fetch_one, ask_one };
    return run_ring(b, w);
}

int64_t bf_ring_chain(const bf_batch *b)
{
    const ring_ops w = { BF_CHUNK, BF_CHUNK, bf_chain_fetch, bf_chain_ask };
    return run_ring(b, w);
}

static int test_known(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err)
{
    (void)op;
    (void)err;
    *present = bf_chain_known(f, bf_parts_count(f), k);
    return 0;
}

int64_t bf_ring_known(const bf_batch *b)
{
    const ring_ops w = { BF_CHUNK, BF_CHUNK, bf_chain_fetch, test_known };
    return run_ring(b, w);
}
