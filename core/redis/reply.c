/* reply.c - replies without an allocation a leaf: all leaves in one array, all texts in one buffer.
 * A server is not trusted: what is more than was asked for is refused before memory is taken for
 * it. Knows neither who parses replies nor what they mean. */
#include "redis/reply.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool more_leaves(bf_redis_reply *r)
{
    size_t cap = r->cap ? 2 * r->cap : 64;
    bf_redis_leaf *more = realloc(r->leaves, cap * sizeof *more);
    if (!more) return false;
    r->leaves = more;
    r->cap = cap;
    return true;
}

static bool more_text(bf_redis_reply *r, size_t len)
{
    size_t room = 2 * r->used + len + 256;
    char *more = realloc(r->text, room);
    if (!more) return false;
    r->text = more;
    r->room = room;
    return true;
}

void bf_reply_leaf(bf_redis_reply *r, int type, long long value, const void *text, size_t len)
{
    r->too_much |= r->n + r->arrays >= r->most || len > r->most_text - r->used;
    if (r->too_much) return;
    if ((r->n == r->cap && !more_leaves(r)) || (len > r->room - r->used && !more_text(r, len))) {
        r->no_memory = true;
        return;
    }
    if (text) value = (long long)r->used;
    if (len) memcpy(r->text + r->used, text, len);
    r->used += len;
    r->leaves[r->n++] = (bf_redis_leaf){ type, value, len };
}

bool bf_reply_array(bf_redis_reply *r, size_t members)
{
    r->arrays++;
    r->too_much |= r->n + r->arrays > r->most || members > r->most - r->n;
    return !r->too_much;
}

void bf_reply_limit(bf_redis_reply *r, size_t most, size_t most_text)
{
    r->most = most;
    r->most_text = most_text;
}

void bf_reply_reset(bf_redis_reply *r)
{
    r->n = r->used = r->arrays = 0;
    r->no_memory = r->too_much = false;
}

void bf_reply_free(bf_redis_reply *r)
{
    free(r->leaves);
    free(r->text);
    *r = (bf_redis_reply){ 0 };
}

bool bf_replies_begin(bf_redis_replies *r, size_t n)
{
    bf_reply_reset(&r->all);
    r->n = r->next = 0;
    if (n > r->cap) {
        bf_redis_window *more = realloc(r->window, n * sizeof *more);
        if (!more) return false;
        r->window = more;
        r->cap = n;
    }
    for (; r->n < n; r->n++) r->window[r->n].there = false;
    return true;
}

void bf_replies_free(bf_redis_replies *r)
{
    bf_reply_free(&r->all);
    free(r->window);
    *r = (bf_redis_replies){ 0 };
}

/* NULL where leaf i is no text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len)
{
    *len = 0;
    if (i >= r->n || r->leaves[i].type != BF_LEAF_TEXT) return NULL;
    *len = r->leaves[i].len;
    return *len ? r->text + r->leaves[i].value : "";
}

/* NULL where the reply is anything but one text. */
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len)
{
    const char *text = bf_reply_text(r, 0, len);
    return r->n == 1 ? text : NULL;
}

bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v)
{
    if (i >= r->n || r->leaves[i].type != BF_LEAF_INTEGER) return false;
    *v = r->leaves[i].value;
    return true;
}

int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base)
{
    size_t len;
    long long v;
    char digits[20] = "", *end;
    if (bf_reply_integer(r, i, &v)) return v;
    const char *text = bf_reply_text(r, i, &len);
    if (!text || len == 0 || len >= sizeof digits) return -1;
    memcpy(digits, text, len);
    v = strtoll(digits, &end, base);
    return *end ? -1 : v;
}

/* "ERR unknown command `AUTH`, with args beginning with: ..." must not go further than the comma.
 */
void bf_reply_clean(char *text)
{
    char *args = strstr(text, "with args");
    if (args) *args = 0;
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p)) *p = '?';
}

bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap)
{
    size_t i = 0; /* EXEC may hold one further on */
    while (i < r->n && r->leaves[i].type != BF_LEAF_ERROR) i++;
    if (i == r->n) return false;
    size_t len = r->leaves[i].len < cap - 1 ? r->leaves[i].len : cap - 1;
    if (len) memcpy(text, r->text + r->leaves[i].value, len);
    text[len] = 0;
    bf_reply_clean(text);
    return true;
}
