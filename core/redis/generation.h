/* generation.h - the mark after the last bit; selecting a key.  Private. */
#ifndef BF_REDIS_GENERATION_H
#define BF_REDIS_GENERATION_H
#include "redis/redis.h"

uint32_t bf_redis_mark_in(const char *bytes, size_t len);
bool bf_redis_marked(const bf_redis *r); /* false: a foreign bitmap, whose loss goes unnoticed */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* GETRANGE */
/* the error of a reply of unexpected form; drops the connection */
int bf_redis_fail_protocol(bf_redis *r, bf_error *err);
typedef struct { /* the result of a round trip */
    bf_error *err;
    int refused;        /* code of the first error reply; its text is in err */
    bool looks;         /* the replies read now are those of commands that only read */
    bool unknown;       /* the server does not know one of those commands */
    int64_t filter_id;  /* filter id in K:meta, if the trip read it */
    long long replicas; /* the smallest reply to WAIT; -1: none */
} bf_redis_outcome;
/* reads the next reply; false: it is an error */
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a);
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
void bf_redis_lock(bf_redis *r); /* locks the connection and selects r; bf_conn_unlock ends this */
void bf_redis_select(bf_redis *r); /* from now on commands and messages are about its key */
/* selects and returns shard i, or r if it has no shards */
bf_redis *bf_redis_key(bf_redis *r, unsigned i);
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* reads the present mark */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
/* Compares the mark that a round trip read with the known one. *changed: the bits were replaced, r
 * has the new mark, and what the trip read does not count.  An error with *changed: the filter was
 * re-created; r uses the new one, and the next call succeeds.  Any other error: the key is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err);             /* reads K:meta into conn->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* 0: K:meta has no id */
#endif
