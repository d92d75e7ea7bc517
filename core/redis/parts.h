/* parts.h - filters of many parts; most is called under the chain's lock.  Private. */
#ifndef BF_REDIS_PARTS_H
#define BF_REDIS_PARTS_H
#include "redis/redis.h"

/* parts.c: see bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_piece *const *pieces, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_piece *const *pieces, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* grown.c, epochs.c and parent.c: filters of many parts; most under the chain's lock */
int bf_redis_attach_part(bf_filter *f, bf_piece *p, bf_desc *d, bf_error *err);
enum { BF_WHOLE_ARGS = 22 };
void bf_redis_put_whole(
    bf_redis *whole, const bf_desc *d, uint64_t secret_check); /* so many arguments */
void bf_redis_born_text(const bf_redis *whole, char text[16]); /* for scripts to compare */
int bf_redis_delete_parts(bf_redis *whole, bf_error *err); /* K:meta, if it is still this one's */
int bf_redis_expire_parts(bf_redis *whole, double seconds, bf_error *err); /* the same */
int bf_redis_no_part(
    const bf_redis *r, bf_error *err); /* somebody else's string has the name of a part */
int bf_redis_whole_alike(bf_filter *f, uint32_t *born, bf_error *err);
int bf_redis_whole_anew(bf_filter *f, uint32_t born, bf_error *err);
char *bf_redis_part_key(
    const bf_redis *whole, char letter, int64_t i); /* to be freed; NULL: no memory */
int bf_redis_window_create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_pieces(bf_filter *f, bf_error *err); /* the ring, with nothing in it */
int bf_redis_window_look(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_stale(const bf_filter *f, int64_t now);
int bf_redis_window_turn(bf_filter *f, int64_t *now, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
int bf_redis_window_past(bf_filter *f, int64_t epoch, bf_error *err);
#endif
