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
/* Makes a part, of which r is selected: the bits first, under a temporary name; then a script as
 * scripts.h has it gives them theirs.  1 it is there, 0 somebody was faster, 2 as the script says;
 * or an error, also where somebody else's string has the name. */
typedef struct bf_redis_create_part_args {
    const char *script, *before, *before_meta; /* the newest part, NULL = there is none */
    uint64_t mark_at;
    uint32_t mark, next,
        own_mark; /* of the newest part as it is, and as it gets it; of the new one */
    const bf_desc *desc;
    int64_t epoch;
    unsigned later; /* growing: so many names of later parts, and of their hashes, follow */
    void (*rest)(bf_filter *f, bf_redis *r, const struct bf_redis_create_part_args *b);
} bf_redis_create_part_args;
int bf_redis_create_part(
    bf_filter *f, bf_redis *r, const bf_redis_create_part_args *b, bf_error *err);
/* One command over K:meta, with the link locked; an error where another filter was born there. */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err);
int bf_redis_whole_expire(bf_redis *r, double seconds, bf_error *err);
int bf_redis_check_alike(bf_filter *f, uint32_t *born, bf_error *err);
int bf_redis_take_recreated(bf_filter *f, uint32_t born, bf_error *err);
#endif
