/* generation.h - the mark after the last bit, and which key is selected.  Private. */
#ifndef BF_REDIS_GENERATION_H
#define BF_REDIS_GENERATION_H
#include "redis/redis.h"

uint32_t bf_redis_mark_in(const char *bytes, size_t len);
bool bf_redis_marked(const bf_redis *r); /* false: a foreign bitmap, whose loss is not noticed */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* GETRANGE */
/* a reply of another form: the connection is dropped */
int bf_redis_fail_protocol(bf_redis *r, bf_error *err);
typedef struct { /* of a round trip */
    bf_error *err;
    int refused;        /* the first error reply, as a code; its text is in err */
    bool looks;         /* the commands whose replies are read now only read */
    bool unknown;       /* one of those was an unknown command */
    int64_t filter_id;  /* of the filter, if the trip asked for it */
    long long replicas; /* the lowest reply to WAIT, -1: none was sent */
} bf_redis_outcome;
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a); /* false: it was refused */
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
void bf_redis_lock(bf_redis *r);   /* locks the connection and selects r; bf_conn_unlock ends it */
void bf_redis_select(bf_redis *r); /* commands and messages are about its key from now on */
bf_redis *bf_redis_key(bf_redis *r, unsigned i); /* selects and returns shard i, or r itself */
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* as it is now */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
/* Compares the mark that a trip read with the one that is known.  *changed: the bits were replaced
 * and r has the new mark, so what the trip read does not count.  An error with *changed: the filter
 * was re-created; r uses the new one, and the next call raises nothing.  Else an error means that
 * the key is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err);             /* reads K:meta into conn->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* 0: K:meta has none */
#endif
