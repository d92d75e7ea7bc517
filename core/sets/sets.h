/* sets.h - filters as sets of bits. Private.
 *
 *   stats.c      contents of a filter         saturated.c  is a filter overfull?
 *   copy.c       copies and plain filters     algebra.c    union, intersection, comparison
 *   rebuild.c    replacing the contents       image.c      images in memory and in files
 *   foreign.c    formats of other systems
 *
 * All files visit the parts of a filter, one or many, through parts/parts.h. */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* stats.c: returns 0 if the words are in memory or far is true (the home has an operation for
 * it). Otherwise returns BF_ENOTSUP "home ... cannot <what>". */
int bf_require_readable(const bf_filter *f, bool far, const char *what, bf_error *err);
/* Reads the words of a part block by block. Reads a mapped file with pread, because an access to
 * the map raises SIGBUS if another process has truncated the file. Reads all words from Redis at
 * once. */
typedef struct {
    bf_part *part;
    /* words: NULL if each block is read into room; copy: what bf_reader_close frees */
    uint64_t *words, *copy;
    uint64_t at, n; /* the present block: index of its first word, number of its words */
    bf_error *err;
    uint64_t room[BF_BLOCK];
} bf_block_reader;
int bf_reader_open(bf_block_reader *v, bf_part *p, bf_error *err);
/* returns n words from `at` on; NULL: an error, see v->err */
const uint64_t *bf_reader_block(void *view, uint64_t at, uint64_t n);
/* Returns the next block, at most BF_BLOCK words. Returns NULL at the end, or after an error:
 * then *rc is negative. */
const uint64_t *bf_reader_next(bf_block_reader *v, int *rc);
void bf_reader_close(bf_block_reader *v);
/* Reads bytes of a part's bitmap. A part that does not exist has zeros. */
int bf_part_read(bf_part *p, uint64_t offset, void *to, uint64_t len, bf_error *err);
/* Sets *words to all words of a part. If these are a copy, *copy is that copy, and the caller
 * frees it; else *copy is NULL. */
int bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
/* Counts the cells that are set. If slices is not NULL, also counts those of each slice (only
 * for bits). */
int bf_part_ones(bf_part *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err);
/* Like bf_part_words, for a fixed filter. Checks first that its words can be read. */
int bf_fixed_words(
    bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err);

/* copy.c: an empty filter in memory with the parameters and the secret of f */
bf_filter *bf_empty_like(bf_filter *f, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* Gives a file with a compact image a header page, so that it can be written in place. Does not
 * change a file that does not match spec. Returns 0 also if another process has done it first. */
int bf_add_header_page(const bf_spec *spec, bf_error *err);

/* These functions do the same as the public functions without _entered. The caller has already
 * entered the filter (BF_CALL). */
bf_filter *bf_copy_entered(bf_filter *f, bf_error *err);
int bf_state_entered(bf_filter *f, bf_state *state, bf_error *err);

/* saturated.c, for keys/warning.c: bf_saturated from a sample of a few ranges of a filter in
 * Redis. */
int bf_sample_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
/* bf_saturated at the time of the next add, when parts of a forgetting filter may have expired.
 * few: from a sample of a few ranges. */
int bf_saturated_for_next(bf_filter *f, bool few, uint64_t *wait, bf_error *err);
/* Returns the value of bf_saturated for this state. */
int bf_saturation_of(bf_filter *f, const bf_state *state);
#endif
