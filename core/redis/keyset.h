/* keyset.h - a filter with several keys: its shards or parts, and K:meta.  Private. */
#ifndef BF_REDIS_KEYSET_H
#define BF_REDIS_KEYSET_H
#include "redis/names.h"

static inline bf_redis *bf_redis_whole(const bf_filter *f) { return f->bitmap.store.impl; }
static inline bf_redis *bf_redis_of(const bf_part *p) { return p->bitmap.store.impl; } /* or NULL */
static inline uint32_t bf_redis_mark_of(const bf_part *p)
{
    return bf_redis_of(p) ? __atomic_load_n(&bf_redis_of(p)->mark, __ATOMIC_ACQUIRE) : 0;
}

/* ---- shards ---- */
int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_params *d, uint32_t mark, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_params *d, bf_error *err); /* as bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
bool bf_redis_has_other_id(bf_redis *r); /* true: the filter was re-created since it was opened */

/* ---- parts, under the chain's lock ---- */
/* returns part i of the chain, allocating it if needed */
bf_part *bf_redis_part_slot(bf_filter *f, unsigned i, bf_error *err);
/* Gives the part its name (by index or epoch), but does not open it. */
int bf_redis_name_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
int bf_redis_open_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
void bf_redis_close_part(bf_part *p);
typedef struct {
    const bf_params *desc;
    int64_t number, newest; /* newest: number of the part before it; BF_NEVER: there is none */
    uint64_t ms;            /* for an epoch: its time to live, and the oldest living epoch */
    int64_t oldest;
} bf_redis_new_part;
/* Creates the part in Redis under its name.  Returns 1 if created, 0 if another process was faster,
 * 2 if K:meta or the newest part has changed, or an error, also if the name is in use by anything
 * but a part of this filter. */
int bf_redis_make_part(bf_filter *f, bf_part *p, const bf_redis_new_part *new, bf_error *err);
/* Runs one command over K:meta, with the connection locked.  An error if another filter has that
 * key by now. */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err);
/* Ends an HMGET of n fields of K:meta, the first of which is the filter id.  Returns 0, or 1 if it
 * is another filter's. */
int bf_redis_finish_fields(bf_redis *whole, size_t n, bf_error *err);
/* Called when K:meta belongs to another filter.  If that has the same parameters, the handle uses
 * it from now on; the call is an error once, unless the filter is being opened. */
int bf_redis_follow_id(bf_filter *f, bool opening, bf_error *err);

/* parts.c: operations of bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_part *const *parts, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_explain(bf_filter *f, int rc, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* scalable.c, window.c: growing and forgetting filters; most are called under the chain's lock */
enum { BF_WHOLE_ARGS = 24 }; /* bf_script_append relies on it */
/* appends BF_WHOLE_ARGS arguments */
void bf_redis_append_params(bf_redis *whole, const bf_params *d, uint64_t secret_check);
int bf_redis_window_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_ring(bf_filter *f, bf_error *err); /* allocates the ring; opens no part */
int bf_redis_window_list(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_is_stale(const bf_filter *f, int64_t now);
int bf_redis_window_open(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
#endif
