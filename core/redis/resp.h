/* resp.h - the protocol of Redis: replies, flat (arrays leave only their leaves), and the sink that
 * a client puts them into, in pieces or as bytes.  Private. */
#ifndef BF_REDIS_RESP_H
#define BF_REDIS_RESP_H
#include "bloomfilter_host.h"

enum { BF_FAULT_BYTES = 76 };
enum { BF_LEAF_INTEGER, BF_LEAF_TEXT, BF_LEAF_ERROR, BF_LEAF_NIL };
typedef struct {
    int type;
    long long value; /* of an integer; of a text where it begins in text  */
    size_t len;
} bf_redis_leaf;
typedef struct {
    bf_redis_leaf *leaves;
    size_t n, cap;
    char *text;
    size_t used, room;
    size_t most, most_text; /* what was asked for: leaves and arrays, and bytes of text */
    size_t arrays;
    bool no_memory, too_much; /* too_much: it has more than that                          */
} bf_redis_reply;

/* The replies of a trip: number i is the leaves [from, from + n) of all, in whatever order they
 * came. */
typedef struct {
    size_t from, n;
    bool there;
} bf_redis_window;
typedef struct {
    bf_redis_reply all;
    bf_redis_window *window;
    size_t n, cap, next; /* how many there are to be; which one is read next */
} bf_redis_replies;
bool bf_replies_begin(bf_redis_replies *r, size_t n); /* none is there; false: no memory */
void bf_replies_free(bf_redis_replies *r);

void bf_reply_leaf(bf_redis_reply *r, int type, long long value, const void *text,
    size_t len);                                        /* text: bytes to copy, or NULL */
bool bf_reply_array(bf_redis_reply *r, size_t members); /* its head; false: too much */
void bf_reply_limit(bf_redis_reply *r, size_t most, size_t most_text);
void bf_reply_reset(bf_redis_reply *r);
void bf_reply_free(bf_redis_reply *r);
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len);
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Leaf i, an integer or digits of the base; -1: it is none. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
void bf_reply_clean(
    char *text); /* for messages: no control characters, no arguments of a command */

/* Takes the replies of one exchange. */
struct bf_reply_sink {
    bf_redis_replies *got;
    size_t open, left; /* the reply being put: first leaf, members still due  */
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* ranges left, replies of the first that came         */
    int64_t came;             /* replies since the last expect                       */
    bool too_many;
    bool pushed;         /* RESP3: what comes is news, no reply                 */
    size_t text_open;    /* where the text of the reply being put begins        */
    size_t arrays_open;  /* how many arrays came before it                      */
    size_t heads;        /* of arrays one inside the other, no value yet        */
    size_t news;         /* how many replies nobody waits for were dropped      */
    uint64_t connection; /* the newest one that the client has told of          */
    char *rest;          /* bytes fed that are no whole leaf yet                */
    size_t rest_len, rest_cap;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* The sink takes `commands` replies, with so many values and bytes of text in all; false: no
 * memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t most, size_t most_text);
bool bf_sink_complete(const bf_reply_sink *s); /* each command has its reply, and nothing is left */
#endif
