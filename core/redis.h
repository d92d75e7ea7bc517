/* redis.h - what the files of the Redis home share.  Private, and built only with BF_HAVE_HIREDIS.
 *
 *   redis_url.c    storage text -> where and as whom
 *   redis_link.c   one connection: bytes out, replies in, deadlines, fork
 *   redis_reply.c  what a reply is made of
 *   redis_meta.c   K:meta, the companion hash  <->  bf_desc
 *   redis_bulk.c   whole bitmaps: making, reading, clearing, uniting
 *   redis_counting.c  the same for counters of 4 bits
 *   store_redis.c  the store: opening, and a batch of positions as one trip
 *
 * A filter under key K:   K        the bits, byte i/8 mask 0x80 >> (i % 8), zeros up to a multiple of 4 bytes, then the mark
 *                         K:meta   its parameters as text, and the mark
 * The mark is a random number other than 0, new for every generation of the bits.  Every trip ends by reading it: as it
 * never comes back once it is gone, finding it says that everything earlier in the trip met the same bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "seams.h"
#include "redis_reply.h"
#include <pthread.h>

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 };         /* bytes */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)

typedef struct {               /* every string is owned */
    char *host, *path;         /* one of the two */
    char *user, *pass, *key;   /* user and pass may be NULL */
    unsigned port, db;
    double timeout;
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u);                     /* wipes the password */

typedef struct {
    bf_redis_url url;
    char label[96];            /* for messages: no password, no control characters */
    redisContext *context;     /* NULL = not connected */
    redisReader *reader;
    bf_redis_reply reply;      /* the last one */
    char *out;                 /* commands to send */
    size_t out_len, out_cap;
    bool no_memory;            /* out could not grow */
    bool fresh, sent, heard;   /* this trip: made a new connection, sent bytes, got bytes */
    bool timed_out;
    int64_t deadline;          /* ms, monotonic */
    pthread_mutex_t mutex;
    int pid;                   /* of the process the connection belongs to */
} bf_link;

int bf_link_init(bf_link *l, const char *storage, const char *key, bf_error *err);
void bf_link_free(bf_link *l);
void bf_link_lock(bf_link *l);                               /* also: a fork's child lets go of its parent's connection */
void bf_link_unlock(bf_link *l);
void bf_link_drop(bf_link *l);
/* A trip: begin, put commands, send, one next() a command.  An error of the connection drops it; an error reply does not. */
int bf_link_begin(bf_link *l, bool probe, bf_error *err);    /* probe: make sure that a connection of before still stands */
char *bf_link_room(bf_link *l, size_t bytes);                /* to write at, or NULL; then out_len is advanced by the caller */
void bf_link_count(bf_link *l, size_t args);
void bf_link_arg(bf_link *l, const void *bytes, size_t len);
void bf_link_word(bf_link *l, const char *word);
void bf_link_number(bf_link *l, uint64_t v);
void bf_link_push(bf_link *l);                               /* what fits now: the server starts while commands are written */
int bf_link_send(bf_link *l, bf_error *err);
int bf_link_next(bf_link *l, bf_error *err);                 /* fills l->reply */
int bf_link_refusal(const bf_link *l, bf_error *err);        /* the reply as an error; 0 if it is none */
/* One whole trip of what was put: n replies, the last one stays in l->reply; the first error reply is the error. */
int bf_link_finish(bf_link *l, size_t n, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v);                 /* decimal; returns the end */

/* ---- the store's own state ---- */
typedef struct {
    bf_link link;
    char *meta;                /* K:meta */
    bf_desc desc;
    uint64_t mark_at;          /* byte */
    uint32_t mark;             /* 0: a foreign bitmap, which has none */
    bool foreign;
    bool no_bitfield_ro;       /* before Redis 6.2, or renamed */
    uint8_t *old;              /* of every bit an add sets: was it set before? */
    size_t old_cap;
} bf_redis;

/* redis_meta.c */
void bf_redis_place(bf_redis *r, const bf_desc *d);          /* desc and mark_at */
int bf_redis_meta_read(const bf_redis *r, bf_desc *d, uint32_t *mark, bf_error *err);    /* from l->reply, of HGETALL */
enum { BF_META_ARGS = 18 };
void bf_redis_meta_put(bf_redis *r, const bf_desc *d, uint32_t mark);                    /* BF_META_ARGS arguments */
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
uint32_t bf_redis_new_mark(void);

/* redis_bulk.c; each is called with the link locked */
int bf_redis_make(bf_redis *r, const bf_desc *d, bf_error *err);       /* 1 made, 0 another one was there first */
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, bf_error *err);
int bf_redis_clear(bf_redis *r, bf_error *err);
int bf_redis_unite(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_expire(bf_redis *r, double seconds, bf_error *err);
int bf_redis_remove(bf_redis *r, bf_error *err);
int bf_redis_undo(bf_redis *r, const uint64_t *pos, size_t n, bf_error *err);  /* unset bits r->old has as new; drop an empty stub */

/* redis_counting.c; with the link locked */
int bf_redis_count_apply(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer, bf_error *err);
int bf_redis_count_unite(bf_redis *r, const uint64_t *words, bf_error *err);    /* a part of it, after an error */

/* store_redis.c */
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err);                  /* as it is now */
int bf_redis_lost(const bf_redis *r, bf_error *err);
int bf_redis_follow(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);  /* is the mark just read this filter's? */
#endif
