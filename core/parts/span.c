/* span.c - how keys go over the parts of a filter: a key is hashed once and asked of every part.
 * Works on spans, runs of keys of which some are not decided yet; which parts are asked, and what
 * happens when one is full or over, is the variant's. */
#include "bits/bits.h"
#include "parts/span.h"
#include <string.h>

enum { HANDS = 64 }; /* keys a kernel takes */

/* ---- one part ---- */
/* Parts in addressable memory are given HANDS keys at most. */
int64_t bf_chain_add_words(const bf_filter *f, bf_piece *piece, bf_span *s, size_t n)
{
    bf_part *p = &piece->part;
    const uint64_t bits = p->kernels->add[f->how](&p->g, p->store.words, s->d, n, NULL, 0) &
                          (~UINT64_C(0) >> (64 - n));
    for (size_t i = 0; bits && i < n; i++) s->present[i] = bits >> i & 1;
    return __builtin_popcountll(bits);
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

/* Keys that no part asked so far has. */
typedef struct {
    uint64_t d[HANDS];
    uint8_t key[HANDS];
    size_t n;
} open_keys;

/* Takes those of `bits` out; which keys they are. */
static uint64_t take_out(open_keys *o, uint64_t bits)
{
    uint64_t found = 0;
    size_t kept = 0;
    for (size_t i = 0; i < o->n; i++) {
        const uint64_t has = bits >> i & 1;
        found |= has << o->key[i];
        o->d[kept] = o->d[i];
        o->key[kept] = o->key[i];
        kept += !has;
    }
    o->n = kept;
    return found;
}

/* Part after part, the newest first: it has the most keys, and those leave the others in peace. */
static uint64_t any_by_parts(const bf_kernels *k, const bf_plane *planes, unsigned n,
    const uint64_t *d, size_t keys, const uint64_t *ahead, size_t nahead)
{
    open_keys o = { .n = keys };
    uint64_t present = 0;
    memcpy(o.d, d, keys * sizeof *d);
    for (size_t i = 0; i < keys; i++) o.key[i] = (uint8_t)i;
    while (n-- > 0) {
        const bf_plane *p = planes + n;
        if (o.n == 0) {
            k->fetch(p->g, p->words, ahead, nahead);
            continue;
        }
        const uint64_t bits = k->test(p->g, p->words, o.d, o.n, ahead, nahead);
        if (bits) present |= take_out(&o, bits);
    }
    return present;
}

/* Up to HANDS keys, of parts in addressable memory. */
static uint64_t any_of(const bf_kernels *k, const bf_plane *planes, unsigned n, const uint64_t *d,
    size_t keys, const uint64_t *ahead, size_t nahead)
{
    if (n && k->any) return k->any(planes, n, d, keys, ahead, nahead);
    return any_by_parts(k, planes, n, d, keys, ahead, nahead);
}

bool bf_chain_mark(bf_piece *const *pieces, unsigned n, bf_span *s)
{
    bf_plane planes[BF_PARTS_MAX];
    for (unsigned i = 0; i < n; i++) planes[i] = bf_plane_of(&pieces[i]->part);
    const uint64_t bits = any_of(pieces[0]->part.kernels, planes, n, s->d, s->n, NULL, 0);
    for (size_t i = 0; i < s->n; i++) s->present[i] = bits >> i & 1;
    return bits != 0;
}

int bf_chain_sift(bf_filter *f, bf_piece *const *pieces, unsigned n, bf_span *s, uint8_t *answer,
    uint8_t value, bf_error *err)
{
    if (n == 0 || s->n == 0) return 0;
    if (pieces[0]->part.kernels) {
        if (bf_chain_mark(pieces, n, s)) bf_chain_settle(s, answer, value);
        return 0;
    }
    const int64_t hits = f->part.store.ops->chain->ask(f, pieces, n, false, s, err);
    if (hits > 0) bf_chain_settle(s, answer, value);
    return hits < 0 ? (int)hits : 0;
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
    bf_plane room[BF_PARTS_MAX];
    const bf_plane *planes;
    unsigned n;
    if (!c->piece[0]->part.kernels)
        return (int)bf_chain_run(f, BF_OP_TEST, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    rc = f->variant->asked(f, room, &planes, &n, err);
    return rc < 0 ? rc : bf_chain_any(f, planes, n, d);
}

int bf_chain_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_chain *c = f->chain;
    uint64_t d[BF_WIDTH_MAX];
    if (!c->piece[0]->part.kernels)
        return (int)bf_chain_run(f, BF_OP_ADD, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_chain_follow(f, err);
    if (rc < 0 || (rc = bf_whole_writable(f, err)) < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    rc = f->variant->add_one ? f->variant->add_one(f, d, err)
                             : (int)bf_chain_run(f, BF_OP_ADD, &(bf_key){ key, len }, 1, NULL, err);
    return bf_sometimes_named(f, d[0], rc, err);
}

/* ---- many keys ---- */
static void all_of(bf_span *s, size_t n)
{
    for (size_t i = 0; i < n; i++) s->key[i] = (uint16_t)i;
    s->n = n;
    s->asked = 0;
}

void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n)
{
    for (unsigned i = bf_chain_count(f->chain); i-- > 0;) {
        const bf_part *p = &f->chain->piece[i]->part;
        if (p->store.nwords >= BF_LARGE) p->kernels->fetch(&p->g, p->store.words, d, n);
    }
}

/* Those that no part has. */
static void open_of(bf_span *s, const uint64_t *d, size_t n, uint64_t present)
{
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        s->d[s->n] = d[i];
        s->key[s->n] = (uint16_t)i;
        s->n += !(present >> i & 1);
    }
}

static int add_chunk(bf_filter *f, const uint64_t *d, size_t n, const uint64_t *ahead,
    size_t nahead, uint64_t *present, bf_error *err)
{
    const bf_chain *c = f->chain;
    bf_span s;
    uint8_t answer[BF_CHUNK] = { 0 };
    uint64_t known = 0;
    int rc = bf_whole_writable(f, err);
    if (rc < 0) return rc;
    s.asked = 0;
    if (f->variant->grows) {
        const unsigned count = bf_chain_count(c);
        known = any_of(c->piece[0]->part.kernels, c->plane, count, d, n, ahead, nahead);
        s.asked = count - 1; /* the newest may get keys until it is asked again */
    } else
        bf_chain_fetch(f, ahead, nahead);
    open_of(&s, d, n, known);
    if (s.n) rc = f->variant->add(f, &s, answer, err);
    *present = 0;
    for (size_t i = 0; i < n; i++) *present |= (uint64_t)!answer[i] << i;
    return rc;
}

int bf_chain_ask(bf_filter *f, int op, const uint64_t *d, size_t n, const uint64_t *ahead,
    size_t nahead, uint64_t *present, bf_error *err)
{
    bf_plane room[BF_PARTS_MAX];
    const bf_plane *planes;
    unsigned count;
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    if (op == BF_OP_ADD) return add_chunk(f, d, n, ahead, nahead, present, err);
    if ((rc = f->variant->asked(f, room, &planes, &count, err)) < 0) return rc;
    *present = any_of(f->chain->piece[0]->part.kernels, planes, count, d, n, ahead, nahead);
    return 0;
}

static int span_of(bf_filter *f, int op, bf_span *s, uint8_t *answer, bf_error *err)
{
    const bf_variant *v = f->variant;
    return op == BF_OP_ADD ? v->add(f, s, answer, err) : v->test(f, s, answer, err);
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
        if (rc < 0 || (op == BF_OP_ADD && (rc = bf_whole_writable(f, err)) < 0)) return rc;
        memset(answer, 0, c);
        for (size_t i = done + c; i < done + 2 * c && i < n; i++) bf_prefetch(keys[i].ptr);
        f->hash->run(f->secret, keys + done, c, s.d);
        all_of(&s, c);
        if ((rc = span_of(f, op, &s, answer, err)) < 0) {
            if (ops->explain) rc = ops->explain(f, op == BF_OP_ADD, rc, err);
            if (rc < 0) {
                if (err && err->key != BF_NO_KEY) err->key += done;
                return rc;
            }
            c = 0;
            continue;
        }
        for (size_t i = 0; i < c; i++) total += answer[i];
    }
    return total;
}
