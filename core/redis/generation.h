/* generation.h - the mark after the last bit, and which key is selected.  Private. */
#ifndef BF_REDIS_GENERATION_H
#define BF_REDIS_GENERATION_H
#include "redis/redis.h"

bool bf_redis_marked(const bf_redis *r); /* does a trip tell whether the bits are the same? */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* GETRANGE */
int bf_redis_fail_protocol(
    bf_redis *r, bf_error *err); /* a reply of another form: the connection is dropped */
typedef struct {                 /* what a trip told */
    bf_error *err;
    int refused;        /* the first error reply, as a code; its text is in err */
    bool looks;         /* what is being taken changed nothing */
    bool unknown;       /* of that one said: unknown command */
    int64_t filter_id;  /* of the whole, where it is asked for */
    long long replicas; /* the fewest that WAIT told of, -1: not asked */
} bf_redis_outcome;
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a); /* false: it was refused */
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
void bf_redis_lock(bf_redis *r);   /* the link, for r: its key is selected; bf_conn_unlock */
void bf_redis_select(bf_redis *r); /* what the link's commands and messages are about */
bf_redis *bf_redis_key(bf_redis *r, unsigned i); /* of those that hold its bits; selected */
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* as it is now */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
/* Is the mark just read this filter's?  *changed: it is, and another one than before.  An error
 * with *changed: the filter was re-created.  That is said once; from then on r is at home in the
 * new one. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
/* The sentence that says so; note: what became of the keys just sent, or "". */
#define BF_SENT_IN ", the last sent are in it"
#define BF_SENT_OUT ", the last sent are not in it"
int bf_redis_fail_recreated(const char *label, uint64_t gone, const char *note, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err); /* K:meta as it is now, to l->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* 0: K:meta has none */
#endif
