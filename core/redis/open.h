/* open.h - opens what is under a key.  Private. */
#ifndef BF_REDIS_OPEN_H
#define BF_REDIS_OPEN_H
#include "redis/redis.h"

bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
typedef struct {
    long long bytes; /* of the key */
    uint32_t end;    /* its last four as a mark, 0: it has no four */
    int refused;     /* 0, or the error of a key that is no string */
} bf_redis_key_snapshot;
/* K:meta is l->reply */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Reads several parts, or all shards (r is NULL), in one round trip and opens those that are sound.
 * bf_redis_attach_key, which follows for each part, says what is wrong with the others. */
int bf_redis_prefetch_keys(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err);
/* Are all keys that hold bits, and their companion hashes, as the handle knows them? */
bool bf_redis_keys_current(bf_redis *r);
int bf_redis_part_cache(bf_redis *r, bf_error *err); /* makes it, if the filter has a cache */
int bf_redis_attach_redisson(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);
/* Opens the selected key and checks it against spec; returns as bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);
#endif
