/* keys.h - batches of keys. Private to this folder. */
#ifndef BF_KEYS_H
#define BF_KEYS_H
#include "parts/filter.h"
#include <string.h>

typedef struct {
    bf_filter *f;
    int op; /* BF_OP_TEST, BF_OP_ADD, BF_OP_REMOVE or BF_OP_COUNT */
    const bf_key *keys;
    size_t n;
    uint8_t *each; /* one answer for each key, or NULL */
    bf_error *err; /* not NULL */
    /* the digests of the keys, for scheme hashes64; NULL: keys are hashed */
    const uint64_t *hashes;
} bf_batch;

/* Returns n keys of the batch, starting with key number `from`. */
static inline bf_batch bf_batch_slice(const bf_batch *b, size_t from, size_t n)
{
    bf_batch s = *b;
    s.n = n;
    if (s.keys) s.keys += from;
    if (s.hashes) s.hashes += from;
    if (s.each) s.each += from;
    return s;
}

/* Computes the digests of these keys. */
static inline void bf_batch_digests(const bf_batch *b, size_t from, size_t n, uint64_t *d)
{
    if (b->hashes)
        memcpy(d, b->hashes + from, n * sizeof *d);
    else
        b->f->hash->run(b->f->secret, b->keys + from, n, d);
}

/* ring.c: test or add a batch in a fixed filter, or in a filter with many parts. Both return the
 * number of keys that were present (test) or new (add). */
int64_t bf_ring_fixed(const bf_batch *b);
int64_t bf_ring_chain(const bf_batch *b);

/* loop.c: bf_add and batches without a check of the fill */
int bf_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_run_batch(const bf_batch *b);

/* capacity.c, for BF_OVERFULL_RAISE: bf_add and bf_add_many. They add keys until the filter is
 * full. Then a key that is present gets its answer, and an absent key is BF_EFULL. */
int bf_add_one_while_room(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_add_while_room(const bf_batch *b);
/* Returns true if f->left is the number of keys for which the filter has room, and bf_give_room
 * must be called when a key is gone. */
bool bf_counts_room(const bf_filter *f);
void bf_give_room(bf_filter *f, int64_t keys);
#endif
