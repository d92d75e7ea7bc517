/* words.h - operations on whole bitmaps and arrays of counters in addressable memory. Private. */
#ifndef BF_WORDS_H
#define BF_WORDS_H
#include "base/base.h"

/* Operations on counters, besides BF_OP_TEST and BF_OP_ADD. */
enum { BF_OP_REMOVE = 2, BF_OP_COUNT = 3 };

/* words.c: bitmaps */
uint64_t bf_words_count(const uint64_t *w, uint64_t nwords);
uint64_t *bf_words_new(uint64_t nwords); /* zeroed, or NULL; the caller frees the words */
void bf_words_copy(uint64_t *to, const uint64_t *from, uint64_t nwords);
void bf_words_or(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
/* Tests or adds (op) nkeys keys of k positions each. present[i]: 1 if key i was present, else 0. */
void bf_words_apply(uint64_t *w, bool atomic, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present);

/* counters.c: arrays of counters */
/* Increments the counters of a key. Returns true if all were above 0. k: at most BF_K_MAX. */
bool bf_counters_add_many(uint64_t *w, const uint64_t *pos, unsigned k, bool atomic);
/* sorts the positions, removes duplicates and returns the number of the rest */
unsigned bf_counters_distinct(uint64_t *pos, unsigned k);
/* Like bf_words_apply, for all four operations; for BF_OP_COUNT answer[i] is the smallest counter
 * of key i. An add or a remove may reorder and overwrite the positions. */
void bf_counters_apply(
    uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer);

/* The operations on cells, which are bits or 4-bit counters. */
typedef struct {
    unsigned bits;
    const char *names, *filter;                            /* used in messages */
    uint64_t (*count)(const uint64_t *w, uint64_t nwords); /* number of cells that are not 0 */
    uint64_t (*count_of_both)(
        const uint64_t *a, const uint64_t *b, uint64_t nwords); /* cells that are not 0 in a or b */
    /* returns true if no cell of a is larger than the same cell of b */
    bool (*within)(const uint64_t *a, const uint64_t *b, uint64_t nwords);
    /* unite: OR of bits, sum of counters (at most 15). intersect: AND of bits, smaller counter. */
    void (*unite)(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
    void (*intersect)(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
    void (*apply)(
        uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer);
    /* Sets the bit of each counter that is not 0. nwords: number of words of counters. NULL: the
     * cells are bits, so keys cannot be removed. */
    void (*to_bits)(uint64_t *bits, const uint64_t *w, uint64_t nwords);
} bf_cell_ops;
extern const bf_cell_ops bf_cells_bits, bf_cells_counters;
#endif
