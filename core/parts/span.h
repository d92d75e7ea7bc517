/* span.h - keys on their way over the parts of a growing or forgetting filter, and what the
 * variants share.  Private.  A variant is one file that ends in one const bf_variant_ops, and one
 * row of bf_variants in tables.c. */
#ifndef BF_SPAN_H
#define BF_SPAN_H
#include "parts/parts.h"

/* A run of keys, hashed, of which some are not decided yet. */
enum { BF_SPAN = 1000 };
enum { BF_SPAN_NEW = 2 }; /* in present[]: no part had the key, and it was added */
struct bf_span {
    uint64_t d[BF_SPAN];
    uint16_t key[BF_SPAN]; /* whose digest that is, as an index into the run */
    size_t n;
    unsigned asked;           /* the first so many parts have none of them            */
    uint8_t present[BF_SPAN]; /* what was found last: 0 nothing, 1 present, BF_SPAN_NEW */
    uint8_t *answer;          /* of the run, zeros before: 1 is present (test), new (add) */
};
/* Adds the first n to a part in addressable memory: how many were present; span->present says
 * which, if any. */
int64_t bf_chain_add_words(const bf_filter *f, bf_part *p, bf_span *span, size_t n);
/* Asks all these parts; whoever has a key in one of them gets that answer and leaves the span. */
int bf_chain_sift(
    bf_filter *f, bf_part *const *parts, unsigned n, bf_span *span, uint8_t value, bf_error *err);
/* Is any key in one of these parts, of parts in addressable memory?  Then span->present says
 * which. */
bool bf_chain_mark(bf_part *const *parts, unsigned n, bf_span *span);
/* Takes out of the span what span->present decides: a present key's answer is value. */
void bf_chain_settle(bf_span *span, uint8_t value);

/* At most BF_CHUNK digests, and others whose lines are to be fetched meanwhile. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} bf_digests;
/* Parts in addressable memory: fetches the keys' lines; tests or adds them, bit i of present: key i
 * was there before; a single key answers as bf_test and bf_add do. */
void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n);
int bf_chain_ask(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err);
int bf_chain_test_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Is one key in any of these parts?  Inline: a single key pays for each call. */
static inline bool bf_chain_any(
    const bf_filter *f, const bf_part_view *views, unsigned n, const uint64_t *d)
{
    const bf_kernels *k = f->chain->part[0]->bitmap.kernels;
    if (n > 1 && k->any) return k->any(views, n, d, 1, NULL, 0) != 0;
    while (n-- > 0)
        if (k->test_one(views[n].g, views[n].words, d)) return true;
    return false;
}
#endif
