/* parts.h - filters of many parts; most is called under the chain's lock.  Private. */
#ifndef BF_REDIS_PARTS_H
#define BF_REDIS_PARTS_H
#include "redis/keyset.h"

static inline bf_redis *bf_redis_of(const bf_piece *p) { return p->part.store.impl; } /* or NULL */
static inline uint32_t bf_redis_mark_of(const bf_piece *p)
{
    return bf_redis_of(p) ? __atomic_load_n(&bf_redis_of(p)->mark, __ATOMIC_ACQUIRE) : 0;
}

/* parts.c: see bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_piece *const *pieces, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_piece *const *pieces, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* scalable.c, window.c: filters of many parts; most under the chain's lock */
enum { BF_WHOLE_ARGS = 24 }; /* scalable.c's script counts on it */
void bf_redis_put_whole(
    bf_redis *whole, const bf_desc *d, uint64_t secret_check); /* so many arguments */
int bf_redis_window_create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_pieces(bf_filter *f, bf_error *err); /* the ring, with nothing in it */
int bf_redis_window_look(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_stale(const bf_filter *f, int64_t now);
int bf_redis_window_turn(bf_filter *f, int64_t *now, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
int bf_redis_window_past(bf_filter *f, int64_t epoch, bf_error *err);
#endif
