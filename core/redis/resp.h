/* resp.h - RESP, the protocol of Redis: replies as flat arrays (of nested arrays only the leaves
 * are kept), and the sink into which a client puts them, in pieces or as bytes.  Private. */
#ifndef BF_REDIS_RESP_H
#define BF_REDIS_RESP_H
#include "bloomfilter_host.h"
#include <stdlib.h>

typedef struct { /* a reused buffer */
    void *at;
    size_t cap;
} bf_redis_buffer;
static inline void *bf_redis_room(
    bf_redis_buffer *b, size_t bytes) /* returns at least so many bytes; NULL: out of memory */
{
    if (b->at && bytes <= b->cap) return b->at;
    void *more = realloc(b->at, 2 * bytes + 64);
    if (!more) return NULL;
    b->at = more;
    b->cap = 2 * bytes + 64;
    return more;
}

enum { BF_FAULT_BYTES = 76 };
enum { BF_LEAF_INTEGER, BF_LEAF_TEXT, BF_LEAF_ERROR, BF_LEAF_NIL };
typedef struct {
    int type;
    long long value; /* an integer's value; for a text, where it begins in `text` */
    size_t len;
} bf_redis_leaf;
typedef struct { /* one reply; borrowed until the next round trip */
    const bf_redis_leaf *leaves;
    size_t n;
    const char *text;
} bf_redis_reply;

/* Reply number i of a round trip is the leaves [from, from + n), in order of arrival. */
typedef struct {
    size_t from, n;
    bool there;
} bf_reply_range;
typedef struct {
    size_t values, leaves, bytes; /* values: leaves and array headers */
} bf_reply_size;
typedef struct {
    bf_redis_buffer leaves, text, ranges;
    bf_reply_size size;             /* size of what is kept so far */
    size_t values_most, bytes_most; /* the allowed size */
    bool no_memory, too_much;       /* too_much: more arrived than was allowed */
    size_t n, next;                 /* number of replies; index of the next to read */
} bf_redis_replies;
void bf_replies_free(bf_redis_replies *r);
bf_redis_reply bf_replies_next(bf_redis_replies *r);

/* Returns leaf i as text; NULL if there is no such leaf or it is not text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
/* text of a reply with a single leaf */
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len);
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Leaf i, an integer or text with digits of this base; -1 if it is neither. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
/* Removes control characters, and the arguments of commands, from a text for a message. */
void bf_reply_clean(char *text);

/* Receives the replies of one round trip. */
struct bf_reply_sink {
    bf_redis_replies *got;
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* ranges left; replies received in the first of them */
    int64_t came;             /* replies since the last expect */
    bf_reply_size open;       /* where the reply that is being received begins */
    size_t left;              /* members of it that are still missing */
    size_t heads;             /* nested array headers in it without a value so far */
    bool pushed;              /* a push message of RESP3, not a reply */
    bool too_many;            /* a reply arrived that no command asked for */
    size_t dropped;           /* push messages and unexpected replies */
    uint64_t connection;      /* the newest connection that the client reported */
    bf_redis_buffer rest;     /* received bytes of an incomplete leaf */
    size_t rest_len;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* Prepares the sink for the replies to `commands` commands, with at most so many values and bytes
 * of text in all.  False: out of memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes);
/* has every command its reply, and is nothing left over? */
bool bf_sink_complete(const bf_reply_sink *s);
#endif
