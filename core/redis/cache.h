/* cache.h - keys known to be present.  Private. */
#ifndef BF_REDIS_CACHE_H
#define BF_REDIS_CACHE_H
#include "redis/batch.h"

int bf_redis_cache_new(bf_redis *r, double max_age, bf_error *err);
void bf_redis_cache_free(bf_redis_cache *c);
void bf_redis_cache_forget(bf_redis_cache *c); /* NULL is fine */
double bf_redis_cache_now(void);
/* For a part or a fixed filter; without a cache they do nothing. knows: is the key known to be
 * present? heard: called after each round trip with its result. learn: takes over what the trip
 * found. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
bool bf_redis_cache_heard(bf_redis *r, int rc);
void bf_redis_cache_learn(const bf_redis_request *g, double at);
/* For a filter with a cache. split answers the known keys and collects the others in rest. join,
 * called with the result of rest, learns from it and completes all answers. */
int bf_redis_cache_split(const bf_redis_request *all, bf_redis_request *rest, bf_error *err);
void bf_redis_cache_join(const bf_redis_request *all, const bf_redis_request *rest, int rc);
#endif
