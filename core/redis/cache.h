/* cache.h - keys known to be present.  Private. */
#ifndef BF_REDIS_CACHE_H
#define BF_REDIS_CACHE_H
#include "redis/redis.h"

int bf_redis_cache_new(bf_redis *r, double max_age, bf_error *err);
void bf_redis_cache_free(bf_redis_cache *c);
void bf_redis_cache_forget(bf_redis_cache *c); /* NULL is fine */
double bf_redis_cache_now(void);
/* Of a part; without a cache they do nothing.  knows: the key is present, as far as is known.
 * heard: after each trip, with what came of it; then, what it told. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
bool bf_redis_cache_heard(bf_redis *r, int rc);
void bf_redis_cache_learn(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    const uint8_t *present, double at);
typedef int bf_redis_applier(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err);
/* far: what asks Redis for those that are not known. */
int bf_redis_cache_apply(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_redis_applier *far, bf_error *err);
#endif
