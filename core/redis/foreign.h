/* foreign.h - bitmaps of other systems, and filters that Redisson keeps.  Private. */
#ifndef BF_REDIS_FOREIGN_H
#define BF_REDIS_FOREIGN_H
#include "redis/redis.h"

/* Without a companion hash: 1 opened, 0 something else is there by now. */
int bf_redis_attach_foreign(
    bf_redis *r, const bf_spec *spec, bf_params *d, long long bytes, bf_error *err);
int bf_redis_adopt_again(
    bf_redis *r, const bf_spec *spec, const bf_params *d, long long bytes, bf_error *err);
int bf_redis_no_cache(const bf_redis *r, bf_error *err);

bool bf_is_redisson(const char *scheme);
bool bf_redisson_found(const bf_redis *r); /* in l->reply, of HGETALL; the same for read */
int bf_redisson_read(const bf_redis *r, bf_params *d, bf_error *err);
void bf_redisson_place(bf_redis *r, const bf_params *d);
int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err); /* as bf_redis_make */
void bf_redisson_put_mark(bf_redis *r); /* what is asked in the mark's place; then, of the reply: */
uint32_t bf_redisson_mark(const bf_redis *r);
int bf_redisson_changed(const bf_redis *r, uint32_t seen, bf_error *err);
#endif
