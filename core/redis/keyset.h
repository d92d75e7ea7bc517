/* keyset.h - a filter of several keys: its shards, or its parts, and K:meta.  Private. */
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
bool bf_redis_has_other_id(bf_redis *r); /* was the filter re-created since it was opened? */

/* ---- parts, under the chain's lock ---- */
/* created if it is not there */
bf_part *bf_redis_part_slot(bf_filter *f, unsigned i, bf_error *err);
/* The part gets the name of that part (its index or epoch); it is not opened yet. */
int bf_redis_name_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
int bf_redis_open_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
void bf_redis_close_part(bf_part *p);
typedef struct {
    const bf_params *desc;
    int64_t number, newest; /* of the part before it; BF_NEVER: it is the first */
    uint64_t ms;            /* of an epoch: time to live, and the oldest epoch that lives */
    int64_t oldest;
} bf_redis_new_part;
/* Creates the part whose name the part has.  1 created; 0 another process was faster; 2 K:meta or
 * the newest part is not as it was.  An error also if the name holds what is not a part of this
 * filter. */
int bf_redis_make_part(bf_filter *f, bf_part *p, const bf_redis_new_part *new, bf_error *err);
/* One command over K:meta, with the link locked; an error where another filter was born there. */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err);
/* Ends an HMGET of n fields of K:meta, the first of which is born: 0, 1 where it is another's. */
int bf_redis_finish_fields(bf_redis *whole, size_t n, bf_error *err);
/* Another filter has the K:meta: the handle uses that one, if its parameters are the same, and
 * raises one error, none while it is being opened. */
int bf_redis_follow_id(bf_filter *f, bool opening, bf_error *err);

/* parts.c: see bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_part *const *parts, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_explain(bf_filter *f, int rc, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* scalable.c, window.c: filters of many parts; most under the chain's lock */
enum { BF_WHOLE_ARGS = 24 }; /* bf_script_append counts on it */
/* so many arguments */
void bf_redis_put_whole(bf_redis *whole, const bf_params *d, uint64_t secret_check);
int bf_redis_window_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_ring(bf_filter *f, bf_error *err); /* the ring, with nothing in it */
int bf_redis_window_look(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_stale(const bf_filter *f, int64_t now);
int bf_redis_window_turn(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
#endif
