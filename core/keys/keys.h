/* keys.h - batches of keys on their way to the bits.  Private to keys/. */
#ifndef BF_KEYS_H
#define BF_KEYS_H
#include "parts/filter.h"

typedef struct {
    bf_filter *f;
    int op; /* BF_OP_... */
    const bf_key *keys;
    size_t n;
    uint8_t *each; /* an answer per key, or NULL */
    bf_error *err;
} bf_batch;

/* ring.c: of a filter of fixed size, of one of many parts.  How many keys were new (add) or present
 * (test). */
int64_t bf_ring_fixed(const bf_batch *b);
int64_t bf_ring_chain(const bf_batch *b);
#endif
