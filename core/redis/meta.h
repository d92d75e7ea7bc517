/* meta.h - K:meta, the companion hash.  Private. */
#ifndef BF_REDIS_META_H
#define BF_REDIS_META_H
#include "redis/redis.h"

typedef struct {
    bf_params desc;
    uint32_t mark,
        id; /* mark: 0 if there is none (format 2).  id: 0 if the hash has no field born. */
    uint32_t whole_id; /* in a part or shard: the id of its filter */
    uint64_t keys;     /* keys in it, if it is a part of a growing filter */
    bool adopted;      /* another system writes the bits too */
    bool making;       /* some shards do not exist yet */
    bool users_clock;  /* not Redis's */
} bf_redis_meta;
/* Reads a reply to HGETALL. */
int bf_redis_meta_read(const bf_redis *r, bf_redis_meta *m, bf_error *err);
int bf_redis_reread_meta(bf_redis *r, bf_redis_meta *m, bf_error *err); /* generation.c */
bool bf_redis_has_field(const bf_redis *r, const char *name);
/* Returns the index of the leaf with this field's value in a reply to HGETALL, or n. */
size_t bf_redis_field(const bf_redis_reply *r, const char *name);
/* Read a leaf as an integer of this base within a range, and as a number from 0 to 1. */
bool bf_redis_whole_number(
    const bf_redis_reply *r, size_t leaf, int base, uint64_t least, uint64_t most, uint64_t *out);
bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out);

void bf_redis_set_params(bf_redis *r, const bf_params *d); /* sets desc, bits and mark_at */
/* the most bits that a key can have */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g);
void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark); /* arguments */
#endif
