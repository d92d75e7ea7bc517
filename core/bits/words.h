/* words.h - whole bitmaps and arrays of counters in addressable memory.  Private.
 * words.c and counters.c; bits.h has the single bits, the atomics and the orders. */
#ifndef BF_WORDS_H
#define BF_WORDS_H
#include "base/base.h"

/* Operations on counters, besides BF_OP_TEST and BF_OP_ADD. */
enum { BF_OP_REMOVE = 2, BF_OP_COUNT = 3 };

/* words.c: whole bitmaps in addressable memory */
uint64_t bf_words_count(const uint64_t *w, uint64_t nwords);
uint64_t *bf_words_new(uint64_t nwords); /* the caller frees them */
void bf_words_copy(uint64_t *to, const uint64_t *from, uint64_t nwords);
void bf_words_or(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
void bf_words_apply(uint64_t *w, bool atomic, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present);

/* counters.c: the same for words that hold counters */
bool bf_counters_add_many(uint64_t *w, const uint64_t *pos, unsigned k, bool atomic); /* any k */
/* sorts, removes duplicates, returns how many are left */
unsigned bf_counters_distinct(uint64_t *pos, unsigned k);
void bf_counters_apply(
    uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer);

/* Operations on cells: one row for bits, one for counters.  Code that works with cells calls the
 * row and does not ask which it is. */
typedef struct {
    unsigned bits;
    const char *names, *filter;                            /* in messages      */
    uint64_t (*count)(const uint64_t *w, uint64_t nwords); /* cells that are set */
    uint64_t (*count_of_both)(
        const uint64_t *a, const uint64_t *b, uint64_t nwords); /* in either */
    bool (*within)(
        const uint64_t *a, const uint64_t *b, uint64_t nwords); /* no cell of a above b's */
    /* OR and AND of bits; sums that stop at 15 and the lesser of counters */
    void (*unite)(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
    void (*intersect)(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
    void (*apply)(
        uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer);
    /* Sets the bit of each counter above 0 in nwords words.  NULL: cells are bits, so keys cannot
     * be removed. */
    void (*to_bits)(uint64_t *bits, const uint64_t *w, uint64_t nwords);
} bf_cell_ops;
extern const bf_cell_ops bf_cells_bits, bf_cells_counters;
#endif
