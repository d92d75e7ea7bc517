/* sharded.h - a filter of several keys.  Private. */
#ifndef BF_REDIS_SHARDED_H
#define BF_REDIS_SHARDED_H
#include "redis/trip.h"

int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_desc *d, uint32_t mark, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_desc *d, bf_error *err); /* as bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
int bf_redis_apply(const bf_redis_group *g, bf_error *err); /* g: a filter's, of all its shards */
void *bf_redis_room(bf_redis *r, size_t bytes);             /* NULL = out of memory */
#endif
