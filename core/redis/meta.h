/* meta.h - K:meta, the companion hash, and what a mark looks like.  Private. */
#ifndef BF_REDIS_META_H
#define BF_REDIS_META_H
#include "redis/redis.h"

void bf_redis_place(bf_redis *r, const bf_desc *d);                    /* desc, bits and mark_at */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g); /* that a key may have */
int bf_redis_meta_read(
    const bf_redis *r, bf_desc *d, uint32_t *mark, bf_error *err); /* from l->reply, of HGETALL */
/* Which leaf has the value of this field, in a reply to HGETALL; n = none. */
size_t bf_redis_field(const bf_redis_reply *r, const char *name);
/* Leaf i as a number not below 0 of this base; as one from 0 to 1. */
bool bf_redis_whole_number(const bf_redis_reply *r, size_t leaf, int base, uint64_t *out);
bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out);
bool bf_redis_meta_whole(const bf_redis *r); /* the same: does it say a format at all? */
bool bf_redis_meta_adopted(const bf_redis *r);
bool bf_redis_meta_making(const bf_redis *r); /* the same: not all shards have been there yet */
uint32_t bf_redis_meta_filter_id(const bf_redis *r); /* the same; 0: it does not say */
uint64_t bf_redis_meta_keys(const bf_redis *r);      /* the same */
uint32_t bf_redis_meta_id(
    const bf_redis *r); /* the same: of the filter whose part or shard it is */
void bf_redis_meta_put(bf_redis *r, const bf_desc *d, uint32_t mark); /* arguments */
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
void bf_redis_mark_bytes(uint32_t mark, uint8_t bytes[BF_REDIS_MARK]);
uint32_t bf_redis_new_mark(void);
#endif
