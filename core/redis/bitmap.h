/* bitmap.h - whole bitmaps of the key selected; each is called with the link locked.  Private. */
#ifndef BF_REDIS_BITMAP_H
#define BF_REDIS_BITMAP_H
#include "redis/redis.h"

/* 1 made, 0 another one was there first */
int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err);
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, uint64_t *slices, bf_error *err);
/* by these, NULL: by zeros; a new mark */
int bf_redis_replace(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_unite(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_intersect(bf_redis *r, const void *bytes, bf_error *err);
/* The command with which a key expires, 0: never, and its argument. */
enum { BF_REDIS_MS = 24 };
const char *bf_redis_expiry(double seconds, char ms[BF_REDIS_MS]);
/* PEXPIRE, PERSIST or DEL, of K and K:meta; argument may be NULL. */
int bf_redis_care(bf_redis *r, const char *command, const char *argument, bf_error *err);

/* a key of zeros and the mark */
int bf_redis_zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err);
void bf_redis_discard(bf_redis *r, const char *temp);
/* *ones of *of cells that were looked at are set. */
int bf_redis_sample(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err);
#endif
