/* redisson.h - filters that Redisson keeps.  Private. */
#ifndef BF_REDIS_REDISSON_H
#define BF_REDIS_REDISSON_H
#include "redis/redis.h"

bool bf_is_redisson(const char *scheme);
bool bf_redisson_found(const bf_redis *r); /* in l->reply, of HGETALL; the same for read */
int bf_redisson_read(const bf_redis *r, bf_desc *d, bf_error *err);
void bf_redisson_place(bf_redis *r, const bf_desc *d);
int bf_redisson_make(bf_redis *r, const bf_desc *d, bf_error *err); /* as bf_redis_make */
void bf_redisson_put_mark(bf_redis *r); /* what is asked in the mark's place; then, of the reply: */
uint32_t bf_redisson_mark(const bf_redis *r);
int bf_redisson_changed(const bf_redis *r, uint32_t seen, bf_error *err);
#endif
