/* bitmap.h - complete bitmaps of the selected key.  Private.  The caller holds the connection's
 * lock.
 */
#ifndef BF_REDIS_BITMAP_H
#define BF_REDIS_BITMAP_H
#include "redis/redis.h"

/* returns 1 if created, 0 if another process was faster */
int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err);
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, uint64_t *slices, bf_error *err);
/* replaces all bits by bytes (NULL: zeros), with a new mark */
int bf_redis_replace(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_unite(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_intersect(bf_redis *r, const void *bytes, bf_error *err);
/* Returns the command that expires a key (never if seconds is 0) and writes its argument. */
enum { BF_REDIS_MS = 24 };
const char *bf_redis_expiry(double seconds, char ms[BF_REDIS_MS]);
/* Runs PEXPIRE, PERSIST or DEL on K and K:meta; argument may be NULL. */
int bf_redis_run_if_marked(bf_redis *r, const char *command, const char *argument, bf_error *err);

/* creates a key of zeros, with a mark */
int bf_redis_zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err);
void bf_redis_discard(bf_redis *r, const char *temp);
/* Fails with the error of a script that found no temporary key. */
int bf_redis_fail_temp(const bf_redis *r, bf_error *err);
/* Samples the bitmap: *ones of *of cells are set. */
int bf_redis_sample(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err);
#endif
