/* batch.c - keys on their way: one loop where the bits are in addressable memory, one where they
 * are elsewhere, and single keys.  A filter of fixed size is one part; what the parts of others do
 * with a run of keys is their variant's.  Knows the seams, no formula, no file byte, no hash. */
#include "base/load.h"
#include "bits/bits.h"
#include "parts/span.h"
#include "parts/whole.h"
#include "during.h"
#include "spec.h"
#include <stdlib.h>
#include <string.h>

/* ---- bits in addressable memory ---- */
/* The answers of up to 8 keys, bit i: as bytes, byte i in memory; all of them are set at once. */
static inline uint64_t bytes_of(uint64_t bits)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t each = (bits & 0xFF) * ones & UINT64_C(0x8040201008040201);
    return (each + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7 & ones;
}

/* How many of n answers are 1; each, where it is wanted, gets them all. */
static inline int64_t answer(uint8_t *each, uint64_t bits, size_t n)
{
    int64_t hits = 0;
    for (size_t i = 0; i < n; i += 8, bits >>= 8) {
        uint64_t bytes = bytes_of(bits);
        hits += (int64_t)(bytes * UINT64_C(0x0101010101010101) >> 56);
        if (each && n - i >= 8)
            store_le64(each + i, bytes);
        else if (each)
            for (size_t j = i; j < n; j++, bytes >>= 8) each[j] = (uint8_t)bytes;
    }
    return hits;
}

/* What is done with a step of keys: fetch their lines, and `lag` keys later ask for them.  ask
 * fetches the lines of those ahead. */
typedef struct {
    unsigned step, lag;
    void (*fetch)(const bf_filter *f, const uint64_t *d, size_t n);
    int (*ask)(bf_filter *f, int op, const uint64_t *d, size_t n, const uint64_t *ahead,
        size_t nahead, uint64_t *present, bf_error *err);
} way;

/* The processor fetches the second line of a text by itself, but few texts at once. */
static inline void fetch_text(const bf_key *key)
{
    enum { LINE = 64, LONG = 2 * LINE, MOST = 1024 };
    const char *text = key->ptr;
    bf_prefetch(text);
    if (key->len <= LONG) return;
    for (size_t at = LINE; at < key->len && at < MOST; at += LINE) bf_prefetch(text + at);
}

/* A ring of digests.  Keys are hashed `lag` keys before they are asked for, and their lines are
 * fetched meanwhile; the bytes of keys further on are fetched too, because hashing comes in bursts.
 */
typedef struct {
    bf_filter *f;
    const bf_key *keys;
    uint8_t *each;
    uint64_t flip; /* add answers "new" */
    int64_t total;
    int op;
    bf_error *err;
    uint64_t digests[BF_RING * BF_WIDTH_MAX];
} ring;

#define RING static inline __attribute__((always_inline))
RING uint64_t *digests_of(ring *r, size_t at)
{
    return r->digests + at % BF_RING * r->f->hash->width;
}

/* With the texts of as many keys further on, where there are so many. */
RING uint64_t *hash_some(ring *r, size_t at, size_t n, size_t left, size_t step)
{
    enum { TEXTS = 8, NEAR = 32 };
    const size_t ahead = step < NEAR ? NEAR : step;
    uint64_t *const d = digests_of(r, at);
    for (size_t i = 0; left >= ahead + step && i < step; i += TEXTS)
#pragma GCC unroll 8
        for (size_t j = 0; j < TEXTS; j++) fetch_text(r->keys + at + ahead + i + j);
    r->f->hash->run(r->f->secret, r->keys + at, n, d);
    return d;
}

RING int ask_some(ring *r, const way w, size_t at, size_t n, const uint64_t *ahead, size_t nahead)
{
    uint64_t hits = ~UINT64_C(0);
    const int rc = w.ask(r->f, r->op, digests_of(r, at), n, ahead, nahead, &hits, r->err);
    if (rc < 0 && r->err && r->err->key != BF_NO_KEY) r->err->key += at;
    if (rc < 0 && r->op != BF_OP_ADD) return rc;
    hits = (hits ^ r->flip) & (~UINT64_C(0) >> (64 - n));
    r->total += answer(r->each ? r->each + at : NULL, hits, n);
    return rc;
}

RING int64_t run_ring(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, const way w, bf_error *err)
{
    ring r;
    r.f = f, r.op = op, r.keys = keys, r.each = each, r.err = err;
    r.flip = op == BF_OP_ADD ? ~UINT64_C(0) : 0;
    r.total = 0;
    size_t hashed = 0, done = 0, c;
    int rc = 0;
    for (; hashed < n && hashed < w.lag; hashed += c) {
        c = n - hashed < w.step ? n - hashed : w.step;
        w.fetch(f, hash_some(&r, hashed, c, n - hashed, w.step), c);
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

static inline void fetch_one(const bf_filter *f, const uint64_t *d, size_t n)
{
    f->part.kernels->fetch(&f->part.g, f->part.store.words, d, n);
}

static inline int ask_one(bf_filter *f, int op, const uint64_t *d, size_t n, const uint64_t *ahead,
    size_t nahead, uint64_t *present, bf_error *err)
{
    const bf_part *p = &f->part;
    (void)err;
    *present = op == BF_OP_ADD ? p->kernels->add[f->how](&p->g, p->store.words, d, n, ahead, nahead)
                               : p->kernels->test(&p->g, p->store.words, d, n, ahead, nahead);
    return 0;
}

static int64_t run_one_part(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const way w = { f->part.kernels->step, f->part.kernels->lag, fetch_one, ask_one };
    return run_ring(f, op, keys, n, each, w, err);
}

static int64_t run_many_parts(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const way w = { BF_CHUNK, BF_CHUNK, bf_chain_fetch, bf_chain_ask };
    return run_ring(f, op, keys, n, each, w, err);
}

/* ---- bits elsewhere, or a layout without kernels ---- */
static size_t keys_at_once(size_t positions, unsigned k, size_t most)
{
    return positions / k < most ? positions / k : most;
}

/* Bits elsewhere, or a layout without kernels: positions of at most `most` keys at once, through
 * the buffers given. */
static int64_t run_through(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each,
    size_t most, uint64_t *pos, uint8_t *present, bf_error *err)
{
    bf_part *p = &f->part;
    int64_t total = 0;
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < most ? n - done : most;
        const size_t good = bf_place(f, keys + done, c, pos, err);
        int rc = 0;
        if (p->store.words)
            bf_cells_of(&p->g)->apply(p->store.words, f->atomic, op, pos, good, p->g.k, present);
        else if (good)
            rc = p->store.ops->apply(&p->store, op, pos, good, p->g.k, present, err);
        if (rc < 0) return rc;
        for (size_t i = 0; i < good; i++) {
            uint8_t hit = (present[i] != 0) ^ (op == BF_OP_ADD);
            total += hit;
            if (each) each[done + i] = op == BF_OP_COUNT ? present[i] : hit;
        }
        if (good == c) continue;
        if (err) err->key = done + good;
        return BF_EHOST;
    }
    return total;
}

/* A batch of a store that likes larger ones than the stack holds. */
static int64_t run_trips(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, size_t most, bf_error *err)
{
    uint64_t *pos = malloc(most * f->part.g.k * sizeof *pos);
    uint8_t *present = malloc(most);
    int64_t total = pos && present ? run_through(f, op, keys, n, each, most, pos, present, err)
                                   : bf_fail(err, BF_ENOMEM, "out of memory");
    free(pos);
    free(present);
    return total;
}

static int64_t run_positions(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    uint64_t pos[BF_POSITIONS];
    uint8_t present[BF_CHUNK];
    unsigned k = f->part.g.k, batch = f->part.store.ops->batch;
    size_t few = keys_at_once(BF_POSITIONS, k, BF_CHUNK),
           most = keys_at_once(BF_TRIP_POSITIONS, k, batch);
    if (batch && n > few && most > few)
        return run_trips(f, op, keys, n, each, n < most ? n : most, err);
    return run_through(f, op, keys, n, each, few, pos, present, err);
}

static int64_t run_accepted(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    size_t good = bf_acceptable(f, keys, n, err);
    int64_t total = good ? run_positions(f, op, keys, good, each, err) : 0;
    return total < 0 || good == n ? total : BF_EINVAL;
}

static int64_t run_here(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const bool kernels = f->part.kernels && op <= BF_OP_ADD;
    return (kernels ? run_one_part : run_positions)(f, op, keys, n, each, err);
}

static int64_t run_inside(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const bool changes = op == BF_OP_ADD || op == BF_OP_REMOVE;
    int rc = bf_whole_check(f, err);
    if (rc < 0 || (changes && (rc = bf_writable(f, err)) < 0)) return rc;
    if (n == 0) return 0;
    const bool here = bf_whole_piece(f, 0)->part.kernels && op <= BF_OP_ADD;
    if (f->variant->many) return (here ? run_many_parts : bf_chain_run)(f, op, keys, n, each, err);
    if (changes && bf_rebuilds_in_place(f)) return bf_change(f, op, keys, n, each, run_here, err);
    if (f->hash->accept) return run_accepted(f, op, keys, n, each, err);
    return run_here(f, op, keys, n, each, err);
}

/* Changes of a file: has it its name, after the last key and every so many? */
static int64_t run_named(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    enum { KEYS_AT_ONCE = 1 << 15 };
    int64_t total = 0;
    size_t done = 0, c;
    do {
        c = n - done < KEYS_AT_ONCE ? n - done : KEYS_AT_ONCE;
        int64_t rc = run_inside(f, op, keys + done, c, each ? each + done : NULL, err);
        if (rc < 0 && err && err->key != BF_NO_KEY) err->key += done;
        if (rc < 0) return rc;
        total += rc;
        if ((rc = bf_still_named(f, err)) < 0) return rc;
        done += c;
    } while (done < n);
    return total;
}

/* Not inlined: their large buffers must not burden the single key. */
static __attribute__((noinline)) int64_t run(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const bool named = f->part.store.ops->has_name && (op == BF_OP_ADD || op == BF_OP_REMOVE);
    bf_calls in;
    const int rc = bf_begin(&in, f, NULL, err);
    if (rc < 0) return rc;
    const int64_t answer = (named ? run_named : run_inside)(f, op, keys, n, each, err);
    bf_end(&in);
    return answer;
}

/* The single key of a filter without kernels: no chain, or one whose clock is the host's. */
static __attribute__((noinline)) int run_one(
    bf_filter *f, int op, const void *key, size_t len, bf_error *err)
{
    bf_calls in;
    uint64_t digest;
    int rc = bf_begin(&in, f, NULL, err);
    if (rc < 0) return rc;
    if (f->variant->many)
        rc = op == BF_OP_ADD ? bf_chain_add(f, key, len, err) : bf_chain_test(f, key, len, err);
    else {
        rc = (int)run_inside(f, op, &(bf_key){ key, len }, 1, NULL, err);
        if (op != BF_OP_ADD || !f->part.store.ops->has_name) goto end;
        bf_hash_xxh3.one(NULL, key, len, &digest);
        rc = bf_sometimes_named(f, digest, rc, err);
    }
end:
    bf_end(&in);
    return rc;
}

static inline bool is_plain_chain(const bf_filter *f) { return f->variant->many && !f->hosted; }

int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return run(f, BF_OP_ADD, keys, n, each, err);
}
int64_t bf_test_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return run(f, BF_OP_TEST, keys, n, each, err);
}

/* A single key: the same hash and kernel without the ring. */
static inline __attribute__((always_inline)) int add_one(
    bf_filter *f, const void *key, size_t len, uint64_t *d, bf_error *err)
{
    const bf_part *p = &f->part;
    f->hash->one(f->secret, key, len, d);
    const uint64_t before = bf_generation(f);
    if (!bf_settled(before)) return run_one(f, BF_OP_ADD, key, len, err);
    const bool present = p->kernels->add_one[f->how](&p->g, p->store.words, d);
    if (!bf_unchanged(f, before)) return bf_add_again(f, key, len, before, present, err);
    return present ? BF_PRESENT : BF_ADDED;
}

/* The first key of a handle, and every key of a file. */
static __attribute__((noinline)) int add_checked(
    bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX];
    int rc = bf_writable(f, err);
    if (rc == 0) rc = add_one(f, key, len, d, err);
    return rc < 0 ? rc : bf_sometimes_named(f, d[0], rc, err);
}

int bf_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX];
    if (!f->part.kernels)
        return is_plain_chain(f) ? bf_chain_add(f, key, len, err)
                                 : run_one(f, BF_OP_ADD, key, len, err);
    return bf_int_load_acquire(&f->state) == BF_WRITABLE ? add_one(f, key, len, d, err)
                                                         : add_checked(f, key, len, err);
}

int bf_test(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_part *p = &f->part;
    uint64_t d[BF_WIDTH_MAX];
    if (!p->kernels)
        return is_plain_chain(f) ? bf_chain_test(f, key, len, err)
                                 : run_one(f, BF_OP_TEST, key, len, err);
    f->hash->one(f->secret, key, len, d);
    return p->kernels->test_one(&p->g, p->store.words, d);
}

/* ---- counters ---- */
static int counts(const bf_filter *f, const char *what, bf_error *err)
{
    if (f->part.g.counting) return 0;
    return bf_fail(err, BF_ENOTSUP, "%.80s has bits, not counters: only counting filters can %s",
        bf_where(f, NULL), what);
}

int64_t bf_remove_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int rc = counts(f, "remove keys", err);
    return rc < 0 ? rc : run(f, BF_OP_REMOVE, keys, n, each, err);
}

int64_t bf_count_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int rc = counts(f, "count keys", err);
    return rc < 0 ? rc : run(f, BF_OP_COUNT, keys, n, each, err);
}

/* A single key that nobody else counts: no look at the file. */
static int one_counted(bf_filter *f, int op, const void *key, size_t len)
{
    uint64_t d[BF_WIDTH_MAX], pos[BF_POSITIONS];
    uint8_t answer;
    f->hash->one(f->secret, key, len, d);
    f->scheme->layout->positions(&f->part.g, d, 1, pos);
    bf_counters_apply(f->part.store.words, f->atomic, op, pos, 1, f->part.g.k, &answer);
    return answer;
}

int bf_remove(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    if (!f->part.g.counting || !f->part.kernels || f->atomic)
        return (int)bf_remove_many(f, &(bf_key){ key, len }, 1, NULL, err);
    const int rc = bf_writable(f, err);
    return rc < 0 ? rc : one_counted(f, BF_OP_REMOVE, key, len);
}

int bf_count_of(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint8_t count = 0;
    if (f->part.g.counting && f->part.kernels) return one_counted(f, BF_OP_COUNT, key, len);
    int rc = (int)bf_count_many(f, &(bf_key){ key, len }, 1, &count, err);
    return rc < 0 ? rc : count;
}

int64_t bf_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err)
{
    BF_CALL((bf_filter *)f, NULL, entered);
    uint64_t d[BF_WIDTH_MAX], all[BF_POSITIONS];
    const unsigned k = f->part.g.k;
    const bf_piece *p;
    if (f->hash->accept && f->hash->accept(f->secret, key, len, err) < 0) return BF_EINVAL;
    if (!f->hash->try)
        f->hash->one(f->secret, key, len, d);
    else if (f->hash->try(f->secret, &(bf_key){ key, len }, 1, d, err) < 1)
        return BF_EHOST;
    int rc = bf_whole_target((bf_filter *)f, &p, err);
    if (rc < 0) return rc;
    bf_positions(f->scheme->layout, &p->part.g, d, 1, all);
    for (unsigned j = 0; j < k; j++) all[j] += p->start;
    if (cap) memcpy(pos, all, (cap < k ? cap : k) * sizeof *pos);
    return k;
}
