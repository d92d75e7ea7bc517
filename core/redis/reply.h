/* reply.h - one reply of Redis, flat: arrays leave only their leaves.  Private. */
#ifndef BF_REDIS_REPLY_H
#define BF_REDIS_REPLY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
#endif
