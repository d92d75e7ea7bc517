/* chain.c - filters of many parts: opening and closing them, and how keys go over the parts.  Knows that a key is hashed
 * once and asked of every part; when parts come and go is grow.c's and window.c's, where they live chain_*.c's. */
#include "bits.h"
#include "chain.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HANDS = 64, LARGE = 1 << 16, YIELDS = 1000 };         /* keys a kernel takes; words from which a part is fetched ahead; then sleep */

/* ---- life ---- */
static double system_clock(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int bf_chain_begin(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_chain *c = f->chain = calloc(1, sizeof *c);
    if (!c) return bf_fail(err, BF_ENOMEM, "out of memory");
    c->desc = *d;
    c->clock = spec->clock ? spec->clock : system_clock;
    c->clock_ctx = spec->clock_ctx;
    c->epoch = &c->own;
    bf_live_set(c->epoch, d->kind == BF_WINDOW ? d->live : BF_NEVER);
    return 0;
}

void bf_chain_free(bf_filter *f)
{
    bf_chain *c = f->chain;
    if (!c) return;
    if (f->part.store.ops->chain->leave) f->part.store.ops->chain->leave(f);
    for (unsigned i = 0; i < c->count; i++) {
        bf_store *s = &c->piece[i]->part.store;
        if (s->ops) s->ops->close(s);
        free(c->piece[i]);
    }
    free(c);
    f->chain = NULL;
}

int bf_chain_join(bf_chain *c, bf_piece *p)
{
    unsigned n = c->count;
    p->start = n ? c->piece[n - 1]->start + c->piece[n - 1]->part.g.m : 0;
    p->part.g.avx2 = bf_has_avx2();
    if (p->part.store.words) p->part.kernels = bf_choose_kernels(c->desc.scheme->layout, &p->part.g);
    c->plane[n] = (bf_plane){ p->part.store.words, &p->part.g };
    c->piece[n] = p;
    bf_tell(&c->count, n + 1);
    return 0;
}

int bf_chain_follow(bf_filter *f, bf_error *err)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    int token, rc;
    if (!ops->news || !ops->news(f)) return 0;
    if ((rc = bf_chain_lock(f, &token, err)) < 0) return rc;
    rc = ops->follow(f, err);
    bf_chain_unlock(f, token);
    return rc;
}

/* ---- the lock: first within the process, then among processes ---- */
/* A child of fork that finds the lock held by its parent takes it: nobody in the child will ever give it back. */
static void hold(bf_chain *c)
{
    const int me = (int)getpid();
    for (unsigned tries = 0;; tries++) {
        int was = 0;
        BF_WAIT(&c->holder);
        if (bf_int_swap(&c->holder, &was, me)) return;
        if (was != me && bf_int_swap(&c->holder, &was, me)) return;
        if (tries < YIELDS) sched_yield(); else nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
}

int bf_chain_lock(bf_filter *f, int *token, bf_error *err)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    *token = -1;
    hold(f->chain);
    int rc = ops->lock ? ops->lock(f, token, err) : 0;
    if (rc < 0) bf_int_set(&f->chain->holder, 0);
    return rc;
}

void bf_chain_unlock(bf_filter *f, int token)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    if (ops->unlock) ops->unlock(f, token);
    bf_int_set(&f->chain->holder, 0);
}

int bf_chain_writable(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    const unsigned count = bf_chain_count(c);
    if (bf_raised(&f->may_write) && bf_noted(&c->marked) == count) return 0;
    int rc = bf_writable(f, err);
    if (rc < 0) return rc;
    for (unsigned i = 0; i < count; i++) if (c->piece[i]->page) bf_header_dirty(c->piece[i]->page);
    bf_note(&c->marked, count);
    return 0;
}

/* ---- one part ---- */
/* Parts in addressable memory are given HANDS keys at most, and asked by sift_words: here keys are only added. */
static int64_t add_words(const bf_filter *f, bf_part *p, bf_span *s, size_t n)
{
    const uint64_t bits = p->kernels->add[f->atomic](&p->g, p->store.words, s->d, n, NULL, 0) & (~UINT64_C(0) >> (64 - n));
    for (size_t i = 0; bits && i < n; i++) s->present[i] = bits >> i & 1;
    return __builtin_popcountll(bits);
}

/* Positions of as many keys at once as the stack holds. */
static int64_t probe_positions(const bf_filter *f, bf_part *p, int op, bf_span *s, size_t n, bf_error *err)
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
    return p->part.kernels ? add_words(f, &p->part, span, n) : probe_positions(f, &p->part, op, span, n, err);
}

void bf_chain_settle(bf_span *s, uint8_t *answer, uint8_t value)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->present[i]) { answer[s->key[i]] = value; continue; }
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
    for (unsigned i = n; i-- > 0;) bits |= k->test(planes[i].g, planes[i].words, s->d, s->n, NULL, 0);
    return bits & ~UINT64_C(0) >> (64 - s->n);
}

bool bf_chain_mark(bf_piece *const *pieces, unsigned n, bf_span *s)
{
    bf_plane planes[BF_PARTS_MAX];
    for (unsigned i = 0; i < n; i++) planes[i] = (bf_plane){ pieces[i]->part.store.words, &pieces[i]->part.g };
    const uint64_t bits = any_of(pieces[0]->part.kernels, planes, n, s);
    for (size_t i = 0; i < s->n; i++) s->present[i] = bits >> i & 1;
    return bits != 0;
}

int bf_chain_sift(bf_filter *f, bf_piece *const *pieces, unsigned n, bf_span *s, uint8_t *answer, uint8_t value, bf_error *err)
{
    if (n && s->n && pieces[0]->part.kernels) { if (bf_chain_mark(pieces, n, s)) bf_chain_settle(s, answer, value); }
    else for (unsigned i = n; i-- > 0 && s->n;) {
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
bool bf_chain_any(const bf_filter *f, const bf_plane *planes, unsigned n, const uint64_t *digest)
{
    const bf_kernels *k = f->chain->piece[0]->part.kernels;
    if (n && k->any) return k->any(planes, n, digest, 1) != 0;
    while (n-- > 0) if (k->test_one(planes[n].g, planes[n].words, digest)) return true;
    return false;
}

int bf_chain_test(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_chain *c = f->chain;
    uint64_t d[BF_WIDTH_MAX];
    if (!c->piece[0]->part.kernels) return (int)bf_chain_run(f, BF_OP_TEST, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    return c->desc.kind == BF_GROW ? bf_chain_any(f, c->plane, bf_chain_count(c), d) : bf_window_test_one(f, d, err);
}

int bf_chain_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_chain *c = f->chain;
    uint64_t d[BF_WIDTH_MAX];
    if (!c->piece[0]->part.kernels || c->desc.kind != BF_GROW) return (int)bf_chain_run(f, BF_OP_ADD, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0 || (rc = bf_chain_writable(f, err)) < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    return bf_grow_add_one(f, d, err);
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
        if (p->kernels && !p->kernels->any_fetches && p->store.nwords >= LARGE) p->kernels->fetch(&p->g, p->store.words, s->d, n);
    }
}

static int span_of(bf_filter *f, int op, bf_span *s, uint8_t *answer, bf_error *err)
{
    const bool grow = f->chain->desc.kind == BF_GROW;
    if (op == BF_OP_ADD) return grow ? bf_grow_add(f, s, answer, err) : bf_window_add(f, s, answer, err);
    return grow ? bf_grow_test(f, s, answer, err) : bf_window_test(f, s, answer, err);
}

int64_t bf_chain_run(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    bf_span s;
    uint8_t own[BF_SPAN];
    int64_t total = 0;
    const size_t most = f->chain->piece[0]->part.kernels ? HANDS : BF_SPAN;
    for (size_t done = 0, c; done < n; done += c) {
        uint8_t *answer = each ? each + done : own;
        c = n - done < most ? n - done : most;
        int rc = bf_chain_follow(f, err);
        if (rc < 0 || (op == BF_OP_ADD && (rc = bf_chain_writable(f, err)) < 0)) return rc;
        memset(answer, 0, c);
        hash_span(f, keys + done, c, n - done, &s);
        if ((rc = span_of(f, op, &s, answer, err)) < 0) return rc;
        for (size_t i = 0; i < c; i++) total += answer[i];
    }
    return total;
}
