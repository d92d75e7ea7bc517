/* parts.h - filters of many parts; most is called under the chain's lock.  Private. */
#ifndef BF_REDIS_PARTS_H
#define BF_REDIS_PARTS_H
#include "redis/redis.h"

static inline bf_redis *bf_redis_whole(const bf_filter *f) { return f->part.store.impl; }
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

/* grown.c, epochs.c and parent.c: filters of many parts; most under the chain's lock */
int bf_redis_attach_part(bf_filter *f, bf_piece *p, bf_desc *d, bf_error *err);
enum { BF_WHOLE_ARGS = 24 }; /* grown.c's script counts on it */
void bf_redis_put_whole(
    bf_redis *whole, const bf_desc *d, uint64_t secret_check); /* so many arguments */
/* Makes a part, of which r is selected: the bits first, under a temporary name; then a script as
 * scripts.h has it gives them theirs.  1 it is there, 0 somebody was faster, 2 as the script says;
 * or an error, also where somebody else's string has the name. */
typedef struct bf_redis_birth {
    const char *script, *before, *before_meta; /* the newest part, NULL = there is none */
    uint64_t mark_at;
    uint32_t mark, next,
        own_mark; /* of the newest part as it is, and as it gets it; of the new one */
    const bf_desc *desc;
    int64_t epoch;
    unsigned later; /* growing: so many names of later parts, and of their hashes, follow */
    void (*rest)(bf_filter *f, bf_redis *r, const struct bf_redis_birth *b);
} bf_redis_birth;
int bf_redis_bear(bf_filter *f, bf_redis *r, const bf_redis_birth *b, bf_error *err);
/* One command over K:meta, with the link locked; an error where another filter was born there. */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err);
int bf_redis_whole_expire(bf_redis *r, double seconds, bf_error *err);
int bf_redis_whole_alike(bf_filter *f, uint32_t *born, bf_error *err);
int bf_redis_whole_anew(bf_filter *f, uint32_t born, bf_error *err);
int bf_redis_window_create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_pieces(bf_filter *f, bf_error *err); /* the ring, with nothing in it */
int bf_redis_window_look(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_stale(const bf_filter *f, int64_t now);
int bf_redis_window_turn(bf_filter *f, int64_t *now, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
int bf_redis_window_past(bf_filter *f, int64_t epoch, bf_error *err);
#endif
