/* sets.h - filters as sets of bits: what is in them, copies, unions, equality, bytes.  Private.
 * state.c, algebra.c, alike.c, saturated.c; image.c and foreign.c: to and from bytes; *_parts.c:
 * the same for filters of many parts. */
#ifndef BF_SETS_H
#define BF_SETS_H
#include "parts/filter.h"

/* alike.c */
int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err);

/* state.c: the filter's words, checked; BF_ENOTSUP in a home that has none, "home ... cannot
 * <what>" */
int bf_words_of(bf_filter *f, const char *what, uint64_t **words, bf_error *err);
/* The same to read only: where there are none but the home can be read, those of a memory copy,
 * *copy, to be closed. */
int bf_words_or_copy(
    bf_filter *f, const char *what, uint64_t **words, bf_filter **copy, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);

/* The public functions of the same name, which entrances.c lets in; the core calls these. */
bf_filter *bf_do_copy(bf_filter *f, bf_error *err); /* state.c */
int bf_do_clear(bf_filter *f, bf_error *err);
int bf_do_sync(bf_filter *f, bf_error *err);
int bf_do_expire(bf_filter *f, double seconds, bf_error *err);
int bf_do_delete(bf_filter *f, bf_error *err);
int bf_do_get_state(bf_filter *f, bf_state *state, bf_error *err);
int bf_do_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err);
int bf_do_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err);
int bf_do_unite(bf_filter *into, bf_filter *from, bf_error *err);
int bf_do_intersect(bf_filter *into, bf_filter *from, bf_error *err);
int bf_do_equal(bf_filter *a, bf_filter *b, bf_error *err);
int bf_do_subset(bf_filter *a, bf_filter *b, bf_error *err); /* algebra.c */
int bf_do_union_state(bf_filter *a, bf_filter *b, bf_state *state, bf_error *err);
int bf_do_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err);
bf_filter *bf_do_to_plain(bf_filter *f, bf_error *err);
int bf_do_saturated(bf_filter *f, uint64_t *wait, bf_error *err);                /* saturated.c */
int bf_do_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err); /* state_parts.c */
int bf_do_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err); /* image.c, foreign.c */
int bf_do_save(bf_filter *f, const char *path, bf_error *err);
int64_t bf_do_bytes_as(bf_filter *f, const char *format, bf_error *err);
int bf_do_to_bytes_as(bf_filter *f, const char *format, void *buf, uint64_t cap, bf_error *err);

/* state_parts.c, called by state.c */
void bf_chain_info(const bf_filter *f, bf_info *info);
int bf_chain_state(bf_filter *f, bf_state *state, bf_error *err);
int bf_chain_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
int bf_chain_read_bits(bf_filter *f, uint64_t offset, uint8_t *buf, size_t len, bf_error *err);
int bf_chain_sync(bf_filter *f, bf_error *err);
int bf_chain_clear(bf_filter *f, bf_error *err);
bf_filter *bf_chain_copy(bf_filter *f, bf_error *err);
int bf_chain_unite(bf_filter *into, bf_filter *from, bf_error *err);
int bf_chain_equal(bf_filter *a, bf_filter *b, bf_error *err);
int64_t bf_chain_hashcode(
    bf_filter *f, const uint64_t *digest, uint64_t *pos, bf_error *err); /* in the newest part */

/* image_parts.c, called by image.c */
int bf_chain_write(bf_filter *f, unsigned parts, bf_sink *sink, void *ctx,
    bf_error *err); /* 0, a negative code, or the sink's */
typedef int bf_source(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err);
bf_filter *bf_chain_read(const bf_desc *d, uint64_t len, bf_source *source, void *ctx,
    const bf_spec *expect, const char *where, bf_error *err);
#endif
