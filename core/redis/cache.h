/* cache.h - keys known to be present.  Private. */
#ifndef BF_REDIS_CACHE_H
#define BF_REDIS_CACHE_H
#include "redis/batch.h"

int bf_redis_cache_new(bf_redis *r, double max_age, bf_error *err);
void bf_redis_cache_free(bf_redis_cache *c);
void bf_redis_cache_forget(bf_redis_cache *c); /* NULL is fine */
double bf_redis_cache_now(void);
/* Of a part; without a cache they do nothing.  knows: the key is present, as far as is known.
 * heard: after each trip, with what came of it; then, what it told. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
bool bf_redis_cache_heard(bf_redis *r, int rc);
void bf_redis_cache_learn(const bf_redis_request *g, double at);
/* Of a filter that has a cache.  split: answers what is known, and makes rest of the other keys.
 * join, with what came of rest: learns it, and answers all its keys. */
int bf_redis_cache_split(const bf_redis_request *all, bf_redis_request *rest, bf_error *err);
void bf_redis_cache_join(const bf_redis_request *all, const bf_redis_request *rest, int rc);
#endif
