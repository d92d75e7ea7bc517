/* redis_reply.h - one reply of Redis, flat: arrays leave only their leaves.  Private. */
#ifndef BF_REDIS_REPLY_H
#define BF_REDIS_REPLY_H
#include <hiredis/hiredis.h>
#include <stdbool.h>

typedef struct {
    int type;                  /* REDIS_REPLY_INTEGER, STRING, STATUS, ERROR or NIL */
    long long value;           /* of an integer; of a text where it begins in text  */
    size_t len;
} bf_redis_leaf;
typedef struct {
    bf_redis_leaf *leaves;
    size_t n, cap;
    char *text;
    size_t used, room;
    bool no_memory;
} bf_redis_reply;

redisReader *bf_reply_reader(bf_redis_reply *r);           /* fills *r, which must stay where it is */
void bf_reply_reset(bf_redis_reply *r);
void bf_reply_free(bf_redis_reply *r);
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
#endif
