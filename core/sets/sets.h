/* sets.h - filters as sets of bits.  Private.
 *
 *   stats.c      contents of a filter         saturated.c  is it overfull?
 *   copy.c       copies and plain filters     algebra.c    union, intersection, comparison
 *   rebuild.c    replacing the contents       image.c      bytes and files
 *   foreign.c    bytes of other systems
 *
 * All files walk the parts of a filter, one or many, through parts/parts.h. */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* stats.c */
/* Returns 0, or BF_ENOTSUP "home ... cannot <what>" if the words are not in memory and the home has
 * no operation for it (far is false). */
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
/* Reads bytes of a part's bitset; a part that does not exist has zeros. */
int bf_part_read(bf_part *p, uint64_t offset, void *to, uint64_t len, bf_error *err);
/* Gives all words of a part; if they are not in memory *copy is a copy, which the caller frees. */
int bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
/* Counts the cells that are set, and if slices is not NULL, those of each slice (bits only). */
int bf_part_ones(bf_part *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err);
/* bf_part_words for a filter of fixed size; checks first that its words can be read. */
int bf_fixed_words(
    bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err);

/* copy.c: an empty filter in memory with the parameters and the secret of f */
bf_filter *bf_empty_like(bf_filter *f, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* Gives a file with a compact image a header page, so that it can be written in place.  A file that
 * is not what spec asks for does not change.  Returns 0 also if another process was faster. */
int bf_add_header_page(const bf_spec *spec, bf_error *err);

/* The public functions of these names for callers that have already entered the filter (BF_CALL).
 */
bf_filter *bf_copy_entered(bf_filter *f, bf_error *err);
int bf_state_entered(bf_filter *f, bf_state *state, bf_error *err);

/* saturated.c */
/* bf_saturated by a sample of a few places of a filter in Redis.  For keys/warning.c. */
int bf_sample_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
/* bf_saturated at the time of the next add, when parts of a window may be over.  few: by a sample
 * of a few places. */
int bf_saturated_for_next(bf_filter *f, bool few, uint64_t *wait, bf_error *err);
/* Returns what bf_saturated returns for this state. */
int bf_saturation_of(bf_filter *f, const bf_state *state);
#endif
