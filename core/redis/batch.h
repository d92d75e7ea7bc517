/* batch.h - a batch of positions under one name or several in one round trip.  Private. */
#ifndef BF_REDIS_BATCH_H
#define BF_REDIS_BATCH_H
#include "redis/generation.h"

typedef struct { /* the positions of a batch that are under one name: a shard's or a part's */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k of each key */
    size_t nkeys;
    unsigned k;
    /* as bf_store_ops.apply has it; of a test, its plan until the reply is read */
    uint8_t *present;
    const uint8_t *by; /* of an add of one key to counters: how much to each; NULL: 1 */
    uint32_t mark;     /* as the round trip read it */
    bool as_string;    /* the complete string is read, its mark included */
    bool mark_inside;  /* the mark is read by a command that reads positions too */
    bool pending;      /* to be sent, or sent again */
} bf_redis_request;
/* All requests, of r or of r's parts, in one round trip: tests, changes, or changes and after them
 * tests. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
int bf_redis_apply(const bf_redis_request *g, bf_error *err); /* of a filter, to all its shards */
/* WAIT, if the filter waits for replicas; of its reply: an error if too few have the change. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* A fault during a change; done: "added", "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
typedef struct {      /* what differs between testing, adding and removing */
    const char *done; /* what it does to the keys; NULL: nothing, it may be sent again */
    /* Appends the commands; about: the key whose node of a cluster they go to. */
    void (*put)(bf_redis_request *g, const char *about);
    int (*take)(bf_redis_request *g, bf_redis_outcome *a); /* reads their replies: present, mark */
} bf_redis_op;
extern const bf_redis_op bf_redis_tests;                  /* bitfield.c */
extern const bf_redis_op bf_redis_adds, bf_redis_removes; /* changes.c */

/* changes.c: bf_redis_unite of counters; a part of it, after an error */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);
#endif
