/* counting.h - kernels over counters, for layouts: a key's positions are known, its counters are looked at or counted up.
 * A counter is 4 bits: a 64-byte line has 128 of them, so one 512-cell line of a block layout is four lines of memory. */
#ifndef BF_COUNTING_H
#define BF_COUNTING_H
#include "bits.h"
#include "seams.h"

enum { COUNTING_FEW = 32, CELL_LINE = 128 };

bool bf_counters_add_many(uint64_t *w, const uint64_t *pos, unsigned k, bool atomic);     /* any k */

/* No branch in the loop: whether a counter is 0 cannot be foretold. */
static inline bool counters_all(const uint64_t *w, const uint64_t *pos, unsigned k)
{
    unsigned missing = 0;
    for (unsigned j = 0; j < k; j++) missing |= bf_cell(w, pos[j]) == 0;
    return !missing;
}

/* True: all were above 0 before.  All are read before the first is written, and what is written is the value itself: a
 * position that occurs twice is set twice to the same.  `once`: no position can occur twice. */
static inline bool counters_add(uint64_t *w, const uint64_t *pos, unsigned k, bool atomic, bool once)
{
    unsigned v[COUNTING_FEW], missing = 0;
    if (k > COUNTING_FEW || (atomic && !once)) return bf_counters_add_many(w, pos, k, atomic);
    if (once) {
        for (unsigned j = 0; j < k; j++) missing |= bf_cell_up(w, pos[j], atomic) == 0;
        return !missing;
    }
    for (unsigned j = 0; j < k; j++) v[j] = bf_cell(w, pos[j]);
    for (unsigned j = 0; j < k; j++) {
        const unsigned shift = bf_cell_shift(pos[j]), now = v[j] + (v[j] < BF_CELL_MAX);
        uint64_t *word = w + (pos[j] >> 4);
        missing |= v[j] == 0;
        *word = (*word & ~((uint64_t)BF_CELL_MAX << shift)) | (uint64_t)now << shift;
    }
    return !missing;
}

/* The four lines of memory that the counters of one 512-cell line are in; a few may hold none of the key's. */
static inline void counters_fetch(const uint64_t *w, uint64_t line)
{
    const uint64_t *at = w + line * (4 * 512 / 64);
    for (unsigned i = 0; i < 4; i++) bf_prefetch(at + 8 * i);
}
#endif
