/* resp.c - the protocol of Redis (RESP2 and RESP3), both ways: the replies to the commands of an
 * exchange, which a client puts piece by piece or feeds as bytes, and commands as arguments for
 * clients that want those.  Replies take no allocation a value: all values are in one array, all
 * texts in one buffer.  A server is not trusted: what is more than was asked for is refused before
 * memory is taken for it.  Knows neither sockets nor what replies mean.
 *
 *   reply i = leaves[from, from + n) of one flat array, in whatever order they came */
#include "redis/resp.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS_MOST = 8, NEWS_MOST = 1 << 16, REST_KEPT = 1 << 20, HEAD = 64 };

/* ---- replies as they are kept ---- */
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

/* ---- replies in, piece by piece ---- */
/* What nobody waits for takes no room, and does not go on for ever. */
static void drop_news(bf_reply_sink *s)
{
    s->got->all.n = s->open;
    s->got->all.used = s->text_open;
    s->got->all.arrays = s->arrays_open;
    if (++s->news > NEWS_MOST) s->got->all.too_much = true;
}

static void begin_reply(bf_reply_sink *s)
{
    s->open = s->got->all.n;
    s->text_open = s->got->all.used;
    s->arrays_open = s->got->all.arrays;
    s->left = 1;
    s->pushed = false;
}

static void end_reply(bf_reply_sink *s)
{
    const bf_redis_range *r = s->expected;
    const size_t place =
        s->nexpected && r->first != BF_NO_REPLY ? r->first + s->inside : BF_NO_REPLY;
    if (s->pushed)
        drop_news(s); /* not asked for */
    else if (s->nexpected == 0 || (place != BF_NO_REPLY && place >= s->got->n))
        s->too_many = true;
    else {
        if (place != BF_NO_REPLY)
            s->got->window[place] = (bf_redis_window){ s->open, s->got->all.n - s->open, true };
        else
            drop_news(s);
        if (++s->inside == r->count) {
            s->expected++;
            s->nexpected--;
            s->inside = 0;
        }
        s->came++;
    }
    begin_reply(s);
}

void bf_reply_expect(bf_reply_sink *s, const bf_redis_range *ranges, size_t n)
{
    while (n && ranges->count == 0) {
        ranges++;
        n--;
    }
    s->expected = ranges;
    s->nexpected = n;
    s->inside = 0;
    s->came = 0;
    s->rest_len = 0;
    s->got->all.n = s->open;
    s->got->all.used = s->text_open;
    s->got->all.arrays = s->arrays_open;
    begin_reply(s);
}

static void put_value(bf_reply_sink *s, int type, long long value, const void *text, size_t len)
{
    bf_reply_leaf(&s->got->all, type, value, text, len);
    s->heads = 0;
    if (s->got->all.too_much) return;
    if (--s->left == 0) end_reply(s);
}

void bf_reply_put_integer(bf_reply_sink *s, int64_t value)
{
    put_value(s, BF_LEAF_INTEGER, value, NULL, 0);
}
void bf_reply_put_text(bf_reply_sink *s, const void *bytes, size_t len)
{
    put_value(s, BF_LEAF_TEXT, 0, len ? bytes : "", len);
}
void bf_reply_put_error(bf_reply_sink *s, const void *bytes, size_t len)
{
    put_value(s, BF_LEAF_ERROR, 0, len ? bytes : "", len);
}
void bf_reply_put_nil(bf_reply_sink *s) { put_value(s, BF_LEAF_NIL, 0, NULL, 0); }
void bf_reply_put_array(bf_reply_sink *s, size_t n)
{
    if (++s->heads > HEADS_MOST) s->got->all.too_much = true;
    if (!bf_reply_array(&s->got->all, n)) return;
    if (n == 0) s->heads = 0;
    s->left += n;
    if (--s->left == 0) end_reply(s);
}

size_t bf_reply_refusal(const bf_reply_sink *s, size_t i, const char **text)
{
    const bf_redis_replies *got = s->got;
    if (i >= got->n || !got->window[i].there || got->window[i].n == 0) return 0;
    const bf_redis_leaf *l = got->all.leaves + got->window[i].from;
    if (l->type != BF_LEAF_ERROR) return 0;
    *text = l->len ? s->got->all.text + l->value : "";
    return l->len;
}

void bf_reply_connection(bf_reply_sink *s, uint64_t number)
{
    if (number > s->connection) s->connection = number;
}

void bf_reply_fault(bf_reply_sink *s, int sys_errno, const void *text, size_t len)
{
    s->sys_errno = sys_errno;
    len = len < sizeof s->fault ? len : sizeof s->fault - 1;
    if (len) memcpy(s->fault, text, len);
    s->fault[len] = 0;
    bf_reply_clean(s->fault);
}

/* ---- replies in, as bytes ---- */
static bool parse_integer(const char *at, const char *end, long long *v)
{
    bool minus = at < end && *at == '-';
    *v = 0;
    at += minus;
    if (at == end || end - at > 18) return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return false;
        *v = *v * 10 + (*at - '0');
    }
    if (minus) *v = -*v;
    return true;
}

/* The bytes of one leaf or of one array's head at the beginning: how many, 0 = not all there yet,
 * -1 = nonsense. */
static ptrdiff_t parse_text(
    bf_reply_sink *s, const char *at, const char *end, const char *line, long long len)
{
    if (len == -1) {
        bf_reply_put_nil(s);
        return line + 2 - at;
    }
    if (len < 0) return -1;
    if ((uint64_t)len > s->got->all.most_text - s->got->all.used) {
        s->got->all.too_much = true;
        return -1;
    }
    if (end - (line + 2) < len + 2) return 0;
    if (line[2 + len] != '\r' || line[3 + len] != '\n') return -1;
    bf_reply_put_text(s, line + 2, (size_t)len);
    return line + 2 + len + 2 - at;
}

static ptrdiff_t parse_value(bf_reply_sink *s, const char *at, const char *end)
{
    const char *line = memchr(at, '\r', (size_t)(end - at));
    long long v = 0;
    if (!line || end - line < 2) {
        s->got->all.too_much |=
            (size_t)(end - at) > s->got->all.most_text - s->got->all.used + HEAD;
        return s->got->all.too_much ? -1 : 0;
    }
    if (line[1] != '\n' || (strchr(":$*%~>", *at) && !parse_integer(at + 1, line, &v))) return -1;
    const ptrdiff_t whole = line + 2 - at;
    switch (*at) {
    case ':': bf_reply_put_integer(s, v); return whole;
    case '+':
    case ',':
    case '(': bf_reply_put_text(s, at + 1, (size_t)(line - at - 1)); return whole;
    case '-': bf_reply_put_error(s, at + 1, (size_t)(line - at - 1)); return whole;
    case '_': bf_reply_put_nil(s); return whole;
    case '$': return parse_text(s, at, end, line, v);
    case '>':
    case '*':
    case '~':
    case '%':
        if (*at == '>' && (s->left != 1 || s->got->all.n != s->open || v < 1)) return -1;
        if (*at == '>') s->pushed = true;
        if (v == -1) {
            bf_reply_put_nil(s);
            return whole;
        }
        if (v < 0 || (uint64_t)v > s->got->all.most) {
            s->got->all.too_much |= v > 0;
            return -1;
        }
        bf_reply_put_array(s, (size_t)v * (*at == '%' ? 2 : 1));
        return whole;
    default: return -1;
    }
}

static bool keep_rest(bf_reply_sink *s, const char *bytes, size_t len)
{
    if (len > s->rest_cap - s->rest_len) {
        size_t cap = 2 * s->rest_len + len;
        char *more = realloc(s->rest, cap);
        if (!more) {
            s->got->all.no_memory = true;
            return false;
        }
        s->rest = more;
        s->rest_cap = cap;
    }
    if (len) memcpy(s->rest + s->rest_len, bytes, len);
    s->rest_len += len;
    return true;
}

int64_t bf_reply_feed(bf_reply_sink *s, const void *bytes, size_t len)
{
    const char *at = bytes, *end = at + len;
    const bool joined = s->rest_len > 0;
    ptrdiff_t c = 0;
    if (joined) {
        if (!keep_rest(s, bytes, len)) return BF_ENOMEM;
        at = s->rest;
        end = at + s->rest_len;
    }
    while (at < end && !s->got->all.too_much && (c = parse_value(s, at, end)) > 0) at += c;
    if (c < 0 || s->got->all.too_much) return BF_EFORMAT;
    if (joined) {
        memmove(s->rest, at, (size_t)(end - at));
        s->rest_len = (size_t)(end - at);
    } else if (!keep_rest(s, at, (size_t)(end - at)))
        return BF_ENOMEM;
    if (s->got->all.no_memory) return BF_ENOMEM;
    const bool more =
        s->nexpected == 0 && (s->rest_len > 0 || s->left != 1 || s->got->all.n != s->open);
    return s->too_many || more ? BF_EFORMAT : s->came; /* nobody asked for that: out of step */
}

/* ---- commands out ---- */
static bool parse_header(bf_commands *c, char kind, size_t *n)
{
    const char *line =
        c->at < c->end && *c->at == kind ? memchr(c->at, '\r', (size_t)(c->end - c->at)) : NULL;
    long long v;
    if (!line || !parse_integer(c->at + 1, line, &v)) return false;
    c->at = line + 2;
    *n = (size_t)v;
    return true;
}

bool bf_command_next(bf_commands *c)
{
    bf_key skipped;
    while (c->args) bf_command_arg(c, &skipped);
    return parse_header(c, '*', &c->args);
}

bool bf_command_arg(bf_commands *c, bf_key *arg)
{
    if (c->args == 0 || !parse_header(c, '$', &arg->len)) {
        c->args = 0;
        return false;
    }
    arg->ptr = c->at;
    c->at += arg->len + 2;
    c->args--;
    return true;
}

/* ---- an exchange ---- */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t most, size_t most_text)
{
    if (s->rest_cap > REST_KEPT) {
        free(s->rest);
        s->rest = NULL;
        s->rest_cap = 0;
    }
    s->got = got;
    s->open = s->text_open = s->arrays_open = s->news = s->heads = 0;
    s->too_many = false;
    s->sys_errno = 0;
    s->fault[0] = 0;
    if (!bf_replies_begin(got, commands)) return false;
    bf_reply_limit(&got->all, most, most_text);
    s->every = (bf_redis_range){ 0, commands };
    bf_reply_expect(s, &s->every, 1);
    return true;
}

bool bf_sink_complete(const bf_reply_sink *s)
{
    bool all = !s->too_many && s->left == 1 && s->rest_len == 0;
    for (size_t i = 0; i < s->got->n; i++) all &= s->got->window[i].there;
    return all;
}
