/* sets.h - filters as sets of bits: what is in them, copies, unions, equality, bytes.  Private.
 * state.c, copy.c, algebra.c, rebuilt.c, saturated.c; image.c and foreign.c: to and from
 * bytes.  All go over a filter's parts, be they one or many (parts/parts.h). */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* state.c */
/* 0, or BF_ENOTSUP, "home ... cannot <what>": its words are elsewhere, and far is false: the home
 * cannot do it there. */
int bf_require_readable(const bf_filter *f, bool far, const char *what, bf_error *err);
/* A part's words to read, a block at a time.  Those of a mapped file are read, because whoever cuts
 * it short makes an access to the map SIGBUS; those that are elsewhere come all at once. */
typedef struct {
    bf_piece *part;
    uint64_t *words, *copy; /* words NULL: a block is read into room */
    uint64_t at, n;         /* the present block: its first word, and how many */
    bf_error *err;
    uint64_t room[BF_BLOCK];
} bf_block_reader;
int bf_reader_open(bf_block_reader *v, bf_piece *p, bf_error *err);
const uint64_t *bf_reader_block(void *view, uint64_t at, uint64_t n); /* NULL: *err */
/* The next block, at most BF_BLOCK words; NULL at the end, or *rc is negative and *err is set. */
const uint64_t *bf_reader_next(bf_block_reader *v, int *rc);
void bf_reader_close(bf_block_reader *v);
/* All of them; where they are elsewhere or in a file, *copy is one to be freed. */
int bf_part_words(bf_piece *p, uint64_t **words, uint64_t **copy, bf_error *err);
/* Counts the cells that are set, and if slices is not NULL, those of each slice (bits only). */
int bf_part_ones(bf_piece *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err);
/* The words of a filter of fixed size, reached and checked. */
int bf_only_words(bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err);

/* copy.c: in memory, of the same parameters and secret */
bf_filter *bf_empty_like(bf_filter *f, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* A file that holds a compact image holds the same filter with a page afterwards, so that it can be
 * written in place.  It stays as it is where the filter is not what spec asks for.  0 also where
 * another was faster. */
int bf_give_page(const bf_spec *spec, bf_error *err);

/* Public functions of a similar name as other public functions call them: inside already. */
bf_filter *bf_copy_inside(bf_filter *f, bf_error *err);
int bf_state_inside(bf_filter *f, bf_state *state, bf_error *err);

/* saturated.c */
/* For keys/warning.c: is a fixed filter whose bits are elsewhere overfull, about?  1, 0 or an
 * error. */
int bf_glance(bf_filter *f, bf_error *err);
int bf_saturation_of(bf_filter *f, const bf_state *state); /* what bf_saturated answers */
#endif
