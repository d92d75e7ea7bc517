/* batch.h - a batch of positions under one name or several as one trip.  Private. */
#ifndef BF_REDIS_BATCH_H
#define BF_REDIS_BATCH_H
#include "redis/generation.h"

typedef struct { /* the positions of a batch that are under one name: a shard's or a part's */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k of each key */
    size_t nkeys;
    unsigned k;
    uint8_t
        *present; /* as bf_store_ops.apply has it; until the reply is read, how a key is asked */
    uint8_t *old; /* of an add to bits: was each set before? */
    const uint8_t *by; /* of an add of one key to counters: how much to each; NULL: 1 */
    uint32_t mark;     /* as the trip read it */
    bool as_string;    /* the complete string is read, its mark included */
    bool mark_inside;  /* the mark is read by a command that reads positions too */
    bool pending;      /* to be asked, or asked again */
} bf_redis_request;
/* All groups in one trip, of r or of r's parts: what looks, what changes, or what changes and after
 * it what looks. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
int bf_redis_apply(const bf_redis_request *g, bf_error *err); /* g: a filter's, of all its shards */
int bf_redis_read_marks(bf_redis *r, bf_redis_request *g, size_t n,
    bf_error *err); /* nothing but the marks, as they are now */
/* A group whose bits were exchanged meanwhile is to be asked again: *pending. */
int bf_redis_check_request(bf_redis_request *g, bool *pending, bf_error *err);
/* WAIT, where the filter waits for replicas; of its reply: an error where too few have it. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* A fault while something was changed; done: "added", "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
typedef struct {      /* what differs between looking, adding and removing */
    const char *done; /* what it does to the keys; NULL: nothing, it may be sent again */
    /* The commands; about: the key whose node of a cluster they go to. */
    void (*put)(bf_redis_request *g, const char *about);
    /* Their replies: present and mark.  What was not done goes on as the group. */
    int (*take)(bf_redis_request *g, bf_redis_outcome *a);
    /* It was done though the key was lost: takes that back.  NULL: then it did nothing. */
    void (*undo)(const bf_redis_request *g);
} bf_redis_op;
extern const bf_redis_op bf_redis_tests, bf_redis_adds; /* bitfield.c */
extern const bf_redis_op bf_redis_removes;              /* counting.c */

/* counting.c: bf_redis_unite of counters; a part of it, after an error */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);
#endif
