/* foreign.h - bitmaps of other systems, and filters of Redisson.  Private. */
#ifndef BF_REDIS_FOREIGN_H
#define BF_REDIS_FOREIGN_H
#include "redis/redis.h"

/* Opens a key without companion hash.  Returns 1, or 0 if the key changed meanwhile. */
int bf_redis_attach_foreign(
    bf_redis *r, const bf_spec *spec, bf_params *d, long long bytes, bf_error *err);
int bf_redis_adopt_again(
    bf_redis *r, const bf_spec *spec, const bf_params *d, long long bytes, bf_error *err);
int bf_redis_no_cache(const bf_redis *r, bf_error *err);

bool bf_is_redisson(const char *scheme);
bool bf_redisson_found(
    const bf_redis *r); /* found and read: l->reply is the reply to HGETALL of K:config */
int bf_redisson_read(const bf_redis *r, bf_params *d, bf_error *err);
void bf_redisson_place(bf_redis *r, const bf_params *d);
int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err); /* as bf_redis_make */
/* requests what Redisson has in place of a mark; the other function reads the reply */
void bf_redisson_put_mark(bf_redis *r);
uint32_t bf_redisson_mark(const bf_redis *r);
int bf_redisson_changed(const bf_redis *r, uint32_t seen, bf_error *err);
#endif
