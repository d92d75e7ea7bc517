/* keyset.h - a filter of several keys: its shards, or its parts, and K:meta.  Private. */
#ifndef BF_REDIS_KEYSET_H
#define BF_REDIS_KEYSET_H
#include "redis/redis.h"

static inline bf_redis *bf_redis_whole(const bf_filter *f) { return f->part.store.impl; }

/* ---- shards ---- */
int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_desc *d, uint32_t mark, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_desc *d, bf_error *err); /* as bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
bool bf_redis_has_other_id(bf_redis *r); /* was the filter re-created since it was opened? */

/* ---- parts ---- */
/* Creates a part: begin writes its bits and this mark under a temporary name, which it returns, or
 * NULL; then the caller writes a script (append or turn), and end sends it.  1: the bits have the
 * name of r, which is selected.  0: another process was faster.  2: as the script says.  An error
 * also if the name holds what is not a part of this filter. */
char *bf_redis_begin_part(bf_redis *r, const bf_desc *d, uint32_t mark, bf_error *err);
int bf_redis_end_part(bf_redis *r, char *temp, bf_error *err);
/* One command over K:meta, with the link locked; an error where another filter was born there. */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err);
int bf_redis_whole_expire(bf_redis *r, double seconds, bf_error *err);
int bf_redis_check_alike(bf_filter *f, uint32_t *born, bf_error *err);
int bf_redis_take_recreated(bf_filter *f, uint32_t born, bf_error *err);
#endif
