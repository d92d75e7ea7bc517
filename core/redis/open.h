/* open.h - opens the filter or bitmap under a key.  Private. */
#ifndef BF_REDIS_OPEN_H
#define BF_REDIS_OPEN_H
#include "redis/redis.h"

bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
typedef struct {
    long long bytes; /* length of the string */
    uint32_t end;    /* the last four bytes of the string as a mark; 0: the string is shorter */
    int refused;     /* 0, or the error if the key is not a string */
} bf_redis_key_snapshot;
/* l->reply has K:meta */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Reads several parts, or all shards (r is NULL), in one round trip, and opens those that are
 * intact.  For the others, bf_redis_attach_key finds the error. */
int bf_redis_prefetch_keys(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err);
/* Are all keys with bits, and their companion hashes, still those of this handle? */
bool bf_redis_keys_current(bf_redis *r);
int bf_redis_part_cache(bf_redis *r, bf_error *err); /* creates the cache, if the filter has one */
int bf_redis_attach_redisson(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);
/* Opens the selected key and checks it against spec.  Returns as bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);
#endif
