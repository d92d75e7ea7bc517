/* sets.h - operations on all bits of a filter, or of two filters. Private.
 *
 *   stats.c      contents of a filter         saturated.c  is a filter overfull?
 *   copy.c       copies and plain filters     algebra.c    union, intersection, comparison
 *   rebuild.c    replacing the contents       image.c      images in memory and in files
 *   foreign.c    formats of other systems     redisbloom.c  RedisBloom's format
 *   scandump.c   filters of the module RedisBloom, by BF.SCANDUMP and BF.LOADCHUNK
 */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* stats.c: returns 0 if the words are in addressable memory, or if has_operation is true: the store
 * has a function for it. Otherwise returns BF_ENOTSUP "home ... cannot <what>". */
int bf_require_readable(const bf_filter *f, bool has_operation, const char *what, bf_error *err);
/* Reads the words of a part block by block. Reads a mapped file with pread, because reading the map
 * of a truncated file raises SIGBUS. From Redis, bf_reader_open reads all words. */
typedef struct {
    bf_part *part;
    /* words: all words, or NULL if each block is read into room; copy: memory to free, or NULL */
    uint64_t *words, *copy;
    uint64_t at, n; /* present block: index of its first word, number of words */
    bf_error *err;
    uint64_t room[BF_BLOCK];
} bf_block_reader;
int bf_reader_open(bf_block_reader *v, bf_part *p, bf_error *err);
/* A bf_block (format.h) that reads from a bf_block_reader. */
const uint64_t *bf_reader_block(void *view, uint64_t at, uint64_t n);
/* Returns the next block of at most BF_BLOCK words. Returns NULL at the end, or on an error, and
 * sets *rc to a negative code. */
const uint64_t *bf_reader_next(bf_block_reader *v, int *rc);
void bf_reader_close(bf_block_reader *v);
/* Reads bytes of a part's bitmap. A part that does not exist has zeros. */
int bf_part_read(bf_part *p, uint64_t offset, void *to, uint64_t len, bf_error *err);
/* Sets *words to all words of a part. If they are a copy, *copy points to them, too, and the caller
 * frees *copy; else *copy is NULL. */
int bf_part_words(bf_part *p, uint64_t **words, uint64_t **copy, bf_error *err);
/* Counts the set cells of a part, and of each slice if slices is not NULL (bits only). */
int bf_part_ones(bf_part *p, uint64_t *ones, uint64_t slices[BF_SLICES], bf_error *err);
/* Like bf_part_words, for a fixed filter; first checks that the words can be read. */
int bf_fixed_words(
    bf_filter *f, const char *what, uint64_t **words, uint64_t **copy, bf_error *err);

/* copy.c: an empty filter in memory with the parameters and the secret of f */
bf_filter *bf_empty_like(bf_filter *f, bf_error *err);

/* algebra.c: unites or intersects the bits of `into`, which is in Redis, with those of `from`,
 * which is not, or replaces them. A growing filter first gets as many parts as `from` has. */
int bf_combine_remote(bf_filter *into, bf_filter *from, bf_change how, bf_error *err);

/* image.c: bf_save and bf_load for paths; replace false: path must not exist */
int bf_save_file(bf_filter *f, const char *path, bool replace, bf_error *err);
bf_filter *bf_load_file(const char *path, const bf_spec *expect, bf_error *err);
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);

/* foreign.c: reverses the bits of each byte; the order of bits in RedisBloom and in "bits-lsb" */
void bf_reverse_bytes(const void *from, void *to, size_t len);
/* redisbloom.c: bf_bytes_as, bf_to_bytes_as and bf_from_bytes_as for format "redisbloom" */
int64_t bf_redisbloom_bytes(bf_filter *f, bf_error *err);
int bf_redisbloom_write(bf_filter *f, uint8_t *to, uint64_t cap, bf_error *err);
bf_filter *bf_redisbloom_read(const void *data, size_t len, const bf_spec *expect, bf_error *err);
size_t bf_redisbloom_head(const void *bytes); /* the length of the header of these bytes */

/* bf_copy and bf_get_state, for callers that have entered the filter (BF_CALL). */
bf_filter *bf_copy_entered(bf_filter *f, bf_error *err);
int bf_state_entered(bf_filter *f, bf_state *state, bf_error *err);

/* saturated.c: like bf_saturated, but in Redis samples a few ranges of the open parts. */
int bf_sample_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
/* Sets *room to the estimated number of keys that can be added before the filter holds the n keys
 * that it is sized for; in a growing filter, to 0 if its rate is too high, else to the number of
 * keys until the next check. few: samples like bf_sample_saturated. */
int bf_room_left(bf_filter *f, bool few, uint64_t *room, bf_error *err);
/* the result of bf_saturated for this state */
int bf_saturation_of(bf_filter *f, const bf_state *state);
#endif
