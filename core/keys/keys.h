/* keys.h - batches of keys.  Private to keys/. */
#ifndef BF_KEYS_H
#define BF_KEYS_H
#include "parts/filter.h"

typedef struct {
    bf_filter *f;
    int op; /* BF_OP_... */
    const bf_key *keys;
    size_t n;
    uint8_t *each; /* one answer per key, or NULL */
    bf_error *err;
} bf_batch;

/* ring.c: batches of a fixed filter, and of a filter with a chain.  Return how many keys were new
 * (add) or present (test). */
int64_t bf_ring_fixed(const bf_batch *b);
int64_t bf_ring_chain(const bf_batch *b);
#endif
