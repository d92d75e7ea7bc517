/* resp.c - the protocol of Redis (RESP2 and RESP3). Stores replies that a client passes as values
 * or as bytes. Splits commands into arguments for clients that need arguments. All leaves are in
 * one array and all texts in one buffer, so there is no allocation per value. The server is not
 * trusted: replies that are larger than the commands allow are refused before memory is allocated.
 *
 *   reply i = leaves[from, from + n) of one array, in order of arrival */
#include "redis/connection.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS_MOST = 8, DROPPED_MOST = 1 << 16, REST_KEPT = 1 << 20, HEAD = 64 };

/* ---- reading stored replies ---- */
void bf_replies_free(bf_redis_replies *r)
{
    free(r->leaves.at);
    free(r->text.at);
    free(r->ranges.at);
    *r = (bf_redis_replies){ 0 };
}

static bf_reply_range *range_of(const bf_redis_replies *r, size_t i)
{
    return (bf_reply_range *)r->ranges.at + i;
}

bf_redis_reply bf_replies_next(bf_redis_replies *r)
{
    const bf_reply_range *range;
    do range = range_of(r, r->next++);
    while (range->echo);
    const bf_redis_leaf *leaves = r->leaves.at; /* NULL if all replies are empty */
    return (bf_redis_reply){
        .leaves = range->n ? leaves + range->from : NULL, .n = range->n, .text = r->text.at
    };
}

const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len)
{
    *len = 0;
    if (i >= r->n || r->leaves[i].type != BF_LEAF_TEXT) return NULL;
    *len = r->leaves[i].len;
    return *len ? r->text + r->leaves[i].value : "";
}

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
    if (!text || len == 0 || len >= sizeof digits) return INT64_MIN;
    memcpy(digits, text, len);
    v = strtoll(digits, &end, base);
    return *end ? INT64_MIN : v;
}

/* Cuts "ERR unknown command `AUTH`, with args beginning with: ..." before "with args". */
void bf_reply_clean(char *text)
{
    char *args = strstr(text, "with args");
    if (args) *args = 0;
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p)) *p = '?';
}

bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap)
{
    size_t i = 0; /* in a reply to EXEC the error may be in a later leaf */
    while (i < r->n && r->leaves[i].type != BF_LEAF_ERROR) i++;
    if (i == r->n) return false;
    size_t len = r->leaves[i].len < cap - 1 ? r->leaves[i].len : cap - 1;
    if (len) memcpy(text, r->text + r->leaves[i].value, len);
    text[len] = 0;
    bf_reply_clean(text);
    return true;
}

/* ---- receiving replies value by value ---- */
static void begin_reply(bf_reply_sink *s)
{
    s->open = s->got->size;
    s->left = 1;
    s->pushed = false;
}

/* Checks a reply to ECHO when it arrives, because a later reply may replace it: if a cluster has
 * redirected commands, they are sent again with their ECHO. */
static void check_echo(bf_reply_sink *s, const bf_reply_range *range)
{
    const bf_redis_leaf *l = (bf_redis_leaf *)s->got->leaves.at + range->from;
    const bool one = range->n == 1 && s->got->size.values == s->open.values + 1;
    const bool error = one && l->type == BF_LEAF_ERROR;
    const bool same = one && l->type == BF_LEAF_TEXT && l->len == BF_ECHO &&
                      !memcmp((char *)s->got->text.at + l->value, s->echo, BF_ECHO);
    if (error) bf_reply_fault(s, 0, (char *)s->got->text.at + l->value, l->len);
    s->echo_refused |= error;
    s->out_of_step |= !error && !same;
}

static void end_reply(bf_reply_sink *s)
{
    bf_redis_replies *got = s->got;
    const bf_redis_range *r = s->expected;
    size_t place = BF_NO_REPLY;
    if (!s->pushed && s->nexpected) {
        if (r->first != BF_NO_REPLY) place = r->first + s->inside;
        if (++s->inside == r->count) {
            s->expected++;
            s->nexpected--;
            s->inside = 0;
        }
        s->came++;
    } else
        s->too_many |= !s->pushed;
    if (place < got->n) {
        bf_reply_range *range = range_of(got, place);
        *range = (bf_reply_range){ s->open.leaves, got->size.leaves - s->open.leaves, true,
            range->echo };
        if (range->echo) check_echo(s, range);
    } else {
        s->too_many |= place != BF_NO_REPLY;
        got->size = s->open; /* an unexpected reply is not stored */
        got->too_much |= ++s->dropped > DROPPED_MOST;
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
    s->inside = s->rest_len = 0;
    s->came = 0;
    s->got->size = s->open;
    begin_reply(s);
}

/* text: the bytes to copy; NULL: the leaf is an integer or nil */
static void put_leaf(bf_reply_sink *s, int type, long long value, const void *text, size_t len)
{
    bf_redis_replies *got = s->got;
    bf_reply_size *size = &got->size;
    s->heads = 0;
    got->too_much |= size->values >= got->values_most || len > got->bytes_most - size->bytes;
    if (got->too_much) return;
    bf_redis_leaf *leaves = bf_redis_room(&got->leaves, (size->leaves + 1) * sizeof(bf_redis_leaf));
    char *bytes = bf_redis_room(&got->text, size->bytes + len);
    if (leaves && bytes) {
        if (text) value = (long long)size->bytes;
        if (len) memcpy(bytes + size->bytes, text, len);
        size->bytes += len;
        leaves[size->leaves++] = (bf_redis_leaf){ type, value, len };
        size->values++;
    } else
        got->no_memory = true;
    if (--s->left == 0) end_reply(s);
}

void bf_reply_put_integer(bf_reply_sink *s, int64_t value)
{
    put_leaf(s, BF_LEAF_INTEGER, value, NULL, 0);
}
void bf_reply_put_text(bf_reply_sink *s, const void *bytes, size_t len)
{
    put_leaf(s, BF_LEAF_TEXT, 0, len ? bytes : "", len);
}
void bf_reply_put_status(bf_reply_sink *s, const void *bytes, size_t len)
{
    static const char queued[] = "QUEUED",
                      why[] = "the Redis object is in a pipeline or transaction: end it first";
    if (len == sizeof queued - 1 && !memcmp(bytes, queued, len))
        bf_reply_put_error(s, why, sizeof why - 1);
    else
        bf_reply_put_text(s, bytes, len);
}
void bf_reply_put_error(bf_reply_sink *s, const void *bytes, size_t len)
{
    put_leaf(s, BF_LEAF_ERROR, 0, len ? bytes : "", len);
}
void bf_reply_put_nil(bf_reply_sink *s) { put_leaf(s, BF_LEAF_NIL, 0, NULL, 0); }
void bf_reply_put_array(bf_reply_sink *s, size_t n)
{
    bf_redis_replies *got = s->got;
    got->too_much |= ++s->heads > HEADS_MOST || ++got->size.values > got->values_most ||
                     n > got->values_most - got->size.values;
    if (got->too_much) return;
    if (n == 0) s->heads = 0;
    s->left += n;
    if (--s->left == 0) end_reply(s);
}

size_t bf_reply_refusal(const bf_reply_sink *s, size_t i, const char **text)
{
    const bf_redis_replies *got = s->got;
    if (i >= got->n || !range_of(got, i)->there || range_of(got, i)->n == 0) return 0;
    const bf_redis_leaf *l = (bf_redis_leaf *)got->leaves.at + range_of(got, i)->from;
    if (l->type != BF_LEAF_ERROR) return 0;
    *text = l->len ? (char *)got->text.at + l->value : "";
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

/* ---- receiving replies as bytes ---- */
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

/* Parses one leaf or array header. Returns its length, 0 if it is incomplete, or -1 if it is not
 * RESP or is too large. */
static ptrdiff_t parse_value(bf_reply_sink *s, const char *at, const char *end)
{
    bf_redis_replies *got = s->got;
    const size_t room = got->bytes_most - got->size.bytes;
    const char *line = memchr(at, '\r', (size_t)(end - at));
    long long v = 0;
    if (!line || end - line < 2) {
        got->too_much |= (size_t)(end - at) > room + HEAD;
        return got->too_much ? -1 : 0;
    }
    if (line[1] != '\n' || (strchr(":$*%~>", *at) && !parse_integer(at + 1, line, &v))) return -1;
    const ptrdiff_t head = line + 2 - at;
    const size_t len = (size_t)(line - at - 1);
    if (v < 0 && *at != ':' && (v != -1 || *at == '>')) return -1;
    switch (*at) {
    case ':': bf_reply_put_integer(s, v); return head;
    case '+': bf_reply_put_status(s, at + 1, len); return head;
    case ',':
    case '(': bf_reply_put_text(s, at + 1, len); return head;
    case '-': bf_reply_put_error(s, at + 1, len); return head;
    case '_': bf_reply_put_nil(s); return head;
    case '$':
        if (v == -1) break;
        got->too_much |= (uint64_t)v > room;
        if (got->too_much) return -1;
        if (end - (line + 2) < v + 2) return 0;
        if (line[2 + v] != '\r' || line[3 + v] != '\n') return -1;
        bf_reply_put_text(s, line + 2, (size_t)v);
        return head + v + 2;
    case '>':
        if (got->size.values != s->open.values || v < 1) return -1;
        s->pushed = true; /* fall through */
    case '*':
    case '~':
    case '%':
        if (v == -1) break;
        got->too_much |= (uint64_t)v > got->values_most;
        if (got->too_much) return -1;
        bf_reply_put_array(s, (size_t)v * (*at == '%' ? 2 : 1));
        return head;
    default: return -1;
    }
    bf_reply_put_nil(s); /* $-1 or *-1 of RESP2 */
    return head;
}

static bool keep_rest(bf_reply_sink *s, const char *bytes, size_t len)
{
    char *rest = bf_redis_room(&s->rest, s->rest_len + len);
    s->got->no_memory |= !rest;
    if (!rest) return false;
    if (len) memcpy(rest + s->rest_len, bytes, len);
    s->rest_len += len;
    return true;
}

static bool is_between_replies(const bf_reply_sink *s)
{
    return s->rest_len == 0 && s->got->size.values == s->open.values;
}

int64_t bf_reply_feed(bf_reply_sink *s, const void *bytes, size_t len)
{
    const bf_redis_replies *got = s->got;
    const char *at = bytes, *end = at + len;
    const bool joined = s->rest_len > 0;
    ptrdiff_t c = 0;
    if (joined) {
        if (!keep_rest(s, bytes, len)) return BF_ENOMEM;
        at = s->rest.at;
        end = at + s->rest_len;
    }
    while (at < end && !got->too_much && (c = parse_value(s, at, end)) > 0) at += c;
    if (c < 0 || got->too_much) return BF_EFORMAT;
    if (joined) {
        memmove(s->rest.at, at, (size_t)(end - at));
        s->rest_len = (size_t)(end - at);
    } else if (!keep_rest(s, at, (size_t)(end - at)))
        return BF_ENOMEM;
    if (got->no_memory) return BF_ENOMEM;
    const bool unasked = s->nexpected == 0 && !is_between_replies(s);
    return s->too_many || unasked || s->out_of_step ? BF_EFORMAT : s->came;
}

/* ---- splitting commands into arguments ---- */
ptrdiff_t bf_command_header(const char *at, const char *end, char kind, size_t *n)
{
    enum { DIGITS = 10 };
    const char *p = at;
    uint64_t v = 0;
    if (p == end) return 0;
    if (*p++ != kind) return -1;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (p - at > DIGITS) return -1;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (p == end) return 0;
    if (p == at + 1 || *p != '\r') return -1;
    if (p + 1 == end) return 0;
    if (p[1] != '\n' || v > SIZE_MAX) return -1;
    *n = (size_t)v;
    return p + 2 - at;
}

static bool parse_header(bf_commands *c, char kind, size_t *n)
{
    const ptrdiff_t len = bf_command_header(c->at, c->end, kind, n);
    if (len <= 0) return false;
    c->at += len;
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

/* ---- beginning and end of an exchange ---- */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes)
{
    if (s->rest.cap > REST_KEPT) {
        free(s->rest.at);
        s->rest = (bf_redis_buffer){ 0 };
    }
    if (!bf_redis_room(&got->ranges, commands * sizeof(bf_reply_range))) return false;
    got->size = s->open = (bf_reply_size){ 0 };
    got->no_memory = got->too_much = false;
    got->values_most = values;
    got->bytes_most = bytes;
    got->n = commands;
    got->next = 0;
    memset(got->ranges.at, 0, commands * sizeof(bf_reply_range));
    s->got = got;
    s->dropped = s->heads = 0;
    s->too_many = s->out_of_step = s->echo_refused = false;
    s->sys_errno = 0;
    s->fault[0] = 0;
    s->every = (bf_redis_range){ 0, commands };
    bf_reply_expect(s, &s->every, 1);
    return true;
}

void bf_sink_expect_echo(bf_reply_sink *s, size_t i) { range_of(s->got, i)->echo = true; }

bool bf_sink_in_step(const bf_reply_sink *s)
{
    const char *text;
    bool all_refused = s->echo_refused;
    for (size_t i = 0; all_refused && i < s->got->n; i++)
        all_refused = range_of(s->got, i)->echo || bf_reply_refusal(s, i, &text) > 0;
    return !s->out_of_step && (!s->echo_refused || all_refused);
}

bool bf_sink_complete(const bf_reply_sink *s)
{
    bool all = !s->too_many && is_between_replies(s);
    for (size_t i = 0; i < s->got->n; i++) all &= range_of(s->got, i)->there;
    return all;
}
