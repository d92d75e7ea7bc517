/* sets.h - filters as sets of bits: what is in them, copies, unions, equality, bytes.  Private.
 * stats.c, copy.c, algebra.c, rebuild.c, saturated.c; image.c and foreign.c read and write bytes.
 * All walk the parts of a filter, one or many, by parts/parts.h. */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* stats.c */
/* Returns 0, or BF_ENOTSUP "home ... cannot <what>" if the words are not in memory and the home
 * cannot do it where they are (far is false). */
int bf_require_readable(const bf_filter *f, bool far, const char *what, bf_error *err);
/* Reads a part's words, a block at a time.  Those of a mapped file are read with pread, because an
 * access to the map raises SIGBUS if another process truncates the file.  Words in Redis are
 * fetched all at once. */
typedef struct {
    bf_part *part;
    uint64_t *words, *copy; /* words NULL: a block is read into room */
    uint64_t at, n;         /* the current block: its first word, its length   */
    bf_error *err;
    uint64_t room[BF_BLOCK];
} bf_block_reader;
int bf_reader_open(bf_block_reader *v, bf_part *p, bf_error *err);
const uint64_t *bf_reader_block(void *view, uint64_t at, uint64_t n); /* NULL: *err */
/* Returns the next block, at most BF_BLOCK words.  NULL: the end, or *rc is negative and *err set.
 */
const uint64_t *bf_reader_next(bf_block_reader *v, int *rc);
void bf_reader_close(bf_block_reader *v);
/* Gives all words of a part; if they are not in memory *copy is a copy, which the caller frees. */
int bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
/* Counts the cells that are set, and if slices is not NULL, those of each slice (bits only). */
int bf_part_ones(bf_part *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err);
/* bf_part_words of a filter of fixed size, after a check that they can be read. */
int bf_only_words(bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err);

/* copy.c: in memory, of the same parameters and secret */
bf_filter *bf_empty_like(bf_filter *f, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* Gives a file with a compact image a header page, so that it can be written in place.  A file that
 * is not what spec asks for does not change.  Returns 0 also if another process was faster. */
int bf_give_page(const bf_spec *spec, bf_error *err);

/* Public functions of these names, as other public functions call them (without BF_CALL). */
bf_filter *bf_copy_inside(bf_filter *f, bf_error *err);
int bf_state_inside(bf_filter *f, bf_state *state, bf_error *err);

/* saturated.c */
/* For keys/warning.c: is a filter in Redis overfull, by a sample of a few places?  1, 0 or an
 * error.
 */
int bf_glance(bf_filter *f, bf_error *err);
/* The answer of bf_saturated for this state: of many parts the rate counts. */
int bf_saturation_of(bf_filter *f, const bf_state *state);
#endif
