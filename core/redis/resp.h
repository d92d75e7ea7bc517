/* resp.h - the protocol of Redis: replies, flat (of an array only its leaves are kept), and the
 * sink that a client puts them into, in pieces or as bytes.  Private. */
#ifndef BF_REDIS_RESP_H
#define BF_REDIS_RESP_H
#include "bloomfilter_host.h"
#include <stdlib.h>

typedef struct { /* memory that grows and is used again */
    void *at;
    size_t cap;
} bf_redis_buffer;
static inline void *bf_redis_room(bf_redis_buffer *b, size_t bytes) /* NULL: out of memory */
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
    long long value; /* of an integer; of a text where it begins in text */
    size_t len;
} bf_redis_leaf;
typedef struct { /* one reply; borrowed from the replies of its round trip */
    const bf_redis_leaf *leaves;
    size_t n;
    const char *text;
} bf_redis_reply;

/* The replies of a round trip: number i is the leaves [from, from + n) of all, in the order in
 * which they came. */
typedef struct {
    size_t from, n;
    bool there;
} bf_reply_range;
typedef struct {
    size_t values, leaves, bytes; /* values: leaves and the heads of arrays */
} bf_reply_size;
typedef struct {
    bf_redis_buffer leaves, text, ranges;
    bf_reply_size size;             /* of what is kept so far */
    size_t values_most, bytes_most; /* what was asked for */
    bool no_memory, too_much;       /* too_much: more than that came */
    size_t n, next;                 /* how many replies there will be; the one that is read next */
} bf_redis_replies;
void bf_replies_free(bf_redis_replies *r);
bf_redis_reply bf_replies_next(bf_redis_replies *r);

/* Leaf i as a text; NULL: it is none. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len); /* of a reply of one leaf */
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Leaf i, an integer or digits of the base; -1: it is none. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
/* For messages: removes control characters and the arguments of a command. */
void bf_reply_clean(char *text);

/* Takes the replies of one exchange. */
struct bf_reply_sink {
    bf_redis_replies *got;
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* ranges left; how many replies of the first of them came  */
    int64_t came;             /* replies since the last expect                            */
    bf_reply_size open;       /* where the reply that is being put begins                 */
    size_t left;              /* its members that are still due                           */
    size_t heads;             /* its arrays one inside the other, without a value so far  */
    bool pushed;              /* it is a push message of RESP3, no reply                  */
    bool too_many;            /* a reply came that no command asked for                   */
    size_t dropped;           /* push messages and replies that nobody waits for          */
    uint64_t connection;      /* the newest one that the client reported                  */
    bf_redis_buffer rest;     /* bytes fed that are no complete leaf yet                  */
    size_t rest_len;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* The sink takes `commands` replies, with at most so many values and bytes of text in all; false:
 * no memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes);
bool bf_sink_complete(const bf_reply_sink *s); /* each command has its reply, and nothing is left */
#endif
