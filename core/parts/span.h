/* span.h - runs of keys on their way over the parts, and the variants that send them.  Private.
 * A variant is one file that ends in one const bf_variant, and one row of bf_variants in tables.c.
 */
#ifndef BF_SPAN_H
#define BF_SPAN_H
#include "parts/parts.h"

/* A run of keys, hashed, of which some are not decided yet. */
enum { BF_SPAN = 1000 };
struct bf_span {
    uint64_t d[BF_SPAN];
    uint16_t key[BF_SPAN]; /* whose digest that is, as an index into the run */
    size_t n;
    unsigned asked;           /* the first so many parts have none of them            */
    uint8_t present[BF_SPAN]; /* the answers of the last probe                   */
};
/* Is one key in any of these parts?  Inline: a single key pays for each call. */
static inline bool bf_chain_any(
    const bf_filter *f, const bf_plane *planes, unsigned n, const uint64_t *digest)
{
    const bf_kernels *k = f->chain->piece[0]->part.kernels;
    if (n > 1 && k->any) return k->any(planes, n, digest, 1, NULL, 0) != 0;
    while (n-- > 0)
        if (k->test_one(planes[n].g, planes[n].words, digest)) return true;
    return false;
}
/* Adds the first n to a part in addressable memory: how many were present; span->present says
 * which, if any. */
int64_t bf_chain_add_words(const bf_filter *f, bf_piece *p, bf_span *span, size_t n);
/* Asks all these pieces; whoever has a key in one of them gets that answer and leaves the span. */
int bf_chain_sift(bf_filter *f, bf_piece *const *pieces, unsigned n, bf_span *span, uint8_t *answer,
    uint8_t value, bf_error *err);
/* Is any key in one of these pieces, of parts in addressable memory?  Then span->present says
 * which. */
bool bf_chain_mark(bf_piece *const *pieces, unsigned n, bf_span *span);
/* Takes those present out of the span, and sets their answer. */
void bf_chain_settle(bf_span *span, uint8_t *answer, uint8_t value);
void bf_chain_drop(bf_span *span, size_t n); /* the first n: their answers stand */

/* span.c: filters of many parts as keys/ runs them.  At most BF_CHUNK digests, of parts in
 * addressable memory: their lines; bit i of present: key i was there before. */
void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n);
int bf_chain_ask(bf_filter *f, int op, const uint64_t *d, size_t n, const uint64_t *ahead,
    size_t nahead, uint64_t *present, bf_error *err);
/* Keys, of parts anywhere. */
int64_t bf_chain_run(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int bf_chain_test(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add(bf_filter *f, const void *key, size_t len, bf_error *err);
#endif
