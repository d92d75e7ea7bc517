/* span.h - runs of keys on their way over the parts of a growing or forgetting filter; the
 * functions that the variants share.  Private.  A variant is one file that ends in one const
 * bf_variant_ops, and one row of bf_variants in tables.c. */
#ifndef BF_SPAN_H
#define BF_SPAN_H
#include "parts/parts.h"

/* A run of hashed keys, some of them undecided. */
enum { BF_SPAN = 1000 };
enum { BF_SPAN_NEW = 2 }; /* in present[]: no part had the key, so it was added */
struct bf_span {
    uint64_t d[BF_SPAN];
    uint16_t key[BF_SPAN]; /* the index in the run of the key with that digest */
    size_t n;
    unsigned asked;           /* number of parts that are known to have none of the keys */
    uint8_t present[BF_SPAN]; /* result of the last step: 0 absent, 1 present, or BF_SPAN_NEW */
    uint8_t *answer; /* answers of the run, initially 0: 1 is present (test) or new (add) */
};
/* Adds the first n keys to a part in addressable memory.  Returns how many were present;
 * span->present says which. */
int64_t bf_span_add(const bf_filter *f, bf_part *p, bf_span *span, size_t n);
/* Tests all these parts.  Keys that are found get `value` as their answer and leave the span. */
int bf_span_test(
    bf_filter *f, bf_part *const *parts, unsigned n, bf_span *span, uint8_t value, bf_error *err);
/* For parts in addressable memory: returns true if any key is in one of them, and sets
 * span->present. */
bool bf_span_find(bf_part *const *parts, unsigned n, bf_span *span);
/* Removes the keys that span->present decides; those that are present get `value` as their answer.
 */
void bf_span_drop_decided(bf_span *span, uint8_t value);

/* At most BF_CHUNK digests to work on, and further ones whose lines are to be prefetched. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} bf_digests;
/* For parts in addressable memory. fetch prefetches the keys' lines; ask tests or adds them: bit i
 * of present says that key i was there before.  The functions for one key answer as bf_test and
 * bf_add do. */
void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n);
int bf_chain_ask(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err);
int bf_chain_test_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Is the key in any of these parts?  Inline, because a single key would notice the call. */
static inline bool bf_chain_any(
    const bf_filter *f, const bf_part_view *views, unsigned n, const uint64_t *d)
{
    const bf_kernels *k = f->part[0]->bitmap.kernels;
    if (n > 1 && k->any) return k->any(views, n, d, 1, NULL, 0) != 0;
    while (n-- > 0)
        if (k->test_one(views[n].g, views[n].words, d)) return true;
    return false;
}
#endif
