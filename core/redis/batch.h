/* batch.h - a batch of positions under one name or several in one round trip.  Private. */
#ifndef BF_REDIS_BATCH_H
#define BF_REDIS_BATCH_H
#include "redis/generation.h"

typedef struct { /* the positions of a batch in one key of Redis, a shard or a part */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k per key */
    size_t nkeys;
    unsigned k;
    /* as in bf_store_ops.apply; a test keeps its plan here until the reply is read */
    uint8_t *present;
    const uint8_t *by; /* by how much an add of one key raises each counter; NULL: by 1 */
    uint32_t mark;     /* the mark that the round trip read */
    bool as_string;    /* the complete string is read with one GETRANGE, the mark included */
    bool mark_inside;  /* the last command that reads positions also reads the mark */
    bool pending;      /* not sent yet, or to be sent again */
} bf_redis_request;
/* Sends all requests of r, or of r's parts, in one round trip: tests, changes, or changes followed
 * by tests. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
/* a request to a filter, split over its shards */
int bf_redis_apply(const bf_redis_request *g, bf_error *err);
/* Appends WAIT if the filter waits for replicas; then checks its reply: too few replicas are an
 * error. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* Returns the error of a change with an unknown outcome; done: "added" or "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
typedef struct {      /* what differs between tests, adds and removes */
    const char *done; /* what it does to the keys; NULL: nothing, so it may be sent again */
    /* Appends the commands; about: the key that decides the node of a cluster. */
    void (*put)(bf_redis_request *g, const char *about);
    /* Reads the replies into present and mark. */
    int (*take)(bf_redis_request *g, bf_redis_outcome *a);
} bf_redis_op;
extern const bf_redis_op bf_redis_tests;                  /* bitfield.c */
extern const bf_redis_op bf_redis_adds, bf_redis_removes; /* changes.c */

/* changes.c: bf_redis_unite for counters; after an error a part of them may be added */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);
#endif
