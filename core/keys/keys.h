/* keys.h - batches of keys. Private to this folder. */
#ifndef BF_KEYS_H
#define BF_KEYS_H
#include "parts/filter.h"

typedef struct {
    bf_filter *f;
    int op; /* BF_OP_TEST, BF_OP_ADD, BF_OP_REMOVE or BF_OP_COUNT */
    const bf_key *keys;
    size_t n;
    uint8_t *each; /* one answer for each key, or NULL */
    bf_error *err;
} bf_batch;

/* ring.c: test or add a batch in a fixed filter, or in a filter with many parts. Both return the
 * number of keys that were present (test) or new (add). */
int64_t bf_ring_fixed(const bf_batch *b);
int64_t bf_ring_chain(const bf_batch *b);

/* warning.c, for BF_OVERFULL_RAISE: returns how many keys may be added before the next call, at
 * least 1; BF_EFULL if the filter is overfull; or another error. The caller subtracts its new keys
 * from f->adds_until_check. */
int64_t bf_room(bf_filter *f, bf_error *err);
#endif
