/* redis_reply.c - replies without an allocation a leaf: hiredis parses, these callbacks put the leaves into one array.
 * Knows hiredis's reader; knows neither sockets nor filters. */
#include "seams.h"
#ifdef BF_HAVE_HIREDIS
#include "redis_reply.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void *leaf(const redisReadTask *task, long long value, size_t len)
{
    bf_redis_reply *r = task->privdata;
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 64;
        bf_redis_leaf *more = realloc(r->leaves, cap * sizeof *more);
        if (!more) { r->no_memory = true; return r; }
        r->leaves = more;
        r->cap = cap;
    }
    r->leaves[r->n++] = (bf_redis_leaf){ task->type, value, len };
    return r;
}

static void *on_text(const redisReadTask *task, char *bytes, size_t len)
{
    bf_redis_reply *r = task->privdata;
    if (len > r->room - r->used) {
        size_t room = 2 * r->used + len + 256;
        char *more = realloc(r->text, room);
        if (!more) { r->no_memory = true; return r; }
        r->text = more;
        r->room = room;
    }
    if (len) memcpy(r->text + r->used, bytes, len);
    r->used += len;
    return leaf(task, (long long)(r->used - len), len);
}

#if HIREDIS_MAJOR >= 1
static void *on_array(const redisReadTask *task, size_t n) { (void)n; return task->privdata; }
#else
static void *on_array(const redisReadTask *task, int n) { (void)n; return task->privdata; }
#endif
static void *on_integer(const redisReadTask *task, long long v) { return leaf(task, v, 0); }
static void *on_nil(const redisReadTask *task) { return leaf(task, 0, 0); }
static void on_free(void *r) { (void)r; }
static redisReplyObjectFunctions callbacks = { .createString = on_text, .createArray = on_array, .createInteger = on_integer,
                                               .createNil = on_nil, .freeObject = on_free };

redisReader *bf_reply_reader(bf_redis_reply *r)
{
    redisReader *reader = redisReaderCreateWithFunctions(&callbacks);
    if (!reader) return NULL;
    reader->privdata = r;
    reader->maxbuf = 1 << 20;      /* kept from trip to trip */
    return reader;
}

void bf_reply_reset(bf_redis_reply *r) { r->n = r->used = 0; r->no_memory = false; }
void bf_reply_free(bf_redis_reply *r) { free(r->leaves); free(r->text); *r = (bf_redis_reply){ 0 }; }

/* NULL where leaf i is no text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len)
{
    *len = 0;
    if (i >= r->n || (r->leaves[i].type != REDIS_REPLY_STRING && r->leaves[i].type != REDIS_REPLY_STATUS)) return NULL;
    *len = r->leaves[i].len;
    return *len ? r->text + r->leaves[i].value : "";
}

bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v)
{
    if (i >= r->n || r->leaves[i].type != REDIS_REPLY_INTEGER) return false;
    *v = r->leaves[i].value;
    return true;
}

/* "ERR unknown command `AUTH`, with args beginning with: ..." must not go further than the comma. */
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap)
{
    size_t i = 0;                                          /* EXEC may hold one further on */
    while (i < r->n && r->leaves[i].type != REDIS_REPLY_ERROR) i++;
    if (i == r->n) return false;
    size_t len = r->leaves[i].len < cap - 1 ? r->leaves[i].len : cap - 1;
    if (len) memcpy(text, r->text + r->leaves[i].value, len);
    text[len] = 0;
    char *args = strstr(text, "with args");
    if (args) *args = 0;
    for (char *p = text; *p; p++) if (iscntrl((unsigned char)*p)) *p = '?';
    return true;
}
#endif
