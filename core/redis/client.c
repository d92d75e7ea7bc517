/* client.c - the transport of a client object: a trip's commands go to the host's client in one
 * call, its replies come back through a sink.  Knows Redis's protocol both ways; knows neither
 * sockets nor filters.
 *
 *   out       | part: key, commands ... | part: key, commands ... |
 *             one part for each key, so that each can go to its node
 *   replies   reply i = leaves[from, from + n) of one flat array, in whatever order they came */
#include "parts/filter.h"
#include "redis/transport.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEWS_MOST = 1 << 16, REST_KEPT = 1 << 20, FAULT_BYTES = 76, HEAD = 64 };
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
    size_t news;         /* how many replies nobody waits for were dropped      */
    uint64_t connection; /* the newest one that the host has told of            */
    char *rest;          /* bytes fed that are no whole leaf yet                */
    size_t rest_len, rest_cap;
    bf_redis_part *parts;
    size_t *part_from; /* where each begins: offset in out, command number    */
    size_t nparts, parts_cap;
    int sys_errno;
    char fault[FAULT_BYTES];
};

/* ---- replies in, piece by piece ---- */
/* What nobody waits for takes no room, and does not go on for ever. */
static void forget(bf_reply_sink *s)
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

static void finished(bf_reply_sink *s)
{
    const bf_redis_range *r = s->expected;
    const size_t place =
        s->nexpected && r->first != BF_NO_REPLY ? r->first + s->inside : BF_NO_REPLY;
    if (s->pushed)
        forget(s); /* not asked for */
    else if (s->nexpected == 0 || (place != BF_NO_REPLY && place >= s->got->n))
        s->too_many = true;
    else {
        if (place != BF_NO_REPLY)
            s->got->window[place] = (bf_redis_window){ s->open, s->got->all.n - s->open, true };
        else
            forget(s);
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

static void put(bf_reply_sink *s, int type, long long value, const void *text, size_t len)
{
    bf_reply_leaf(&s->got->all, type, value, text, len);
    if (s->got->all.too_much) return;
    if (--s->left == 0) finished(s);
}

void bf_reply_put_integer(bf_reply_sink *s, int64_t value)
{
    put(s, BF_LEAF_INTEGER, value, NULL, 0);
}
void bf_reply_put_text(bf_reply_sink *s, const void *bytes, size_t len)
{
    put(s, BF_LEAF_TEXT, 0, len ? bytes : "", len);
}
void bf_reply_put_error(bf_reply_sink *s, const void *bytes, size_t len)
{
    put(s, BF_LEAF_ERROR, 0, len ? bytes : "", len);
}
void bf_reply_put_nil(bf_reply_sink *s) { put(s, BF_LEAF_NIL, 0, NULL, 0); }
void bf_reply_put_array(bf_reply_sink *s, size_t n)
{
    if (!bf_reply_array(&s->got->all, n)) return;
    s->left += n;
    if (--s->left == 0) finished(s);
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
static bool number(const char *at, const char *end, long long *v)
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
static ptrdiff_t take_text(
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

static ptrdiff_t take(bf_reply_sink *s, const char *at, const char *end)
{
    const char *line = memchr(at, '\r', (size_t)(end - at));
    long long v = 0;
    if (!line || end - line < 2) {
        s->got->all.too_much |=
            (size_t)(end - at) > s->got->all.most_text - s->got->all.used + HEAD;
        return s->got->all.too_much ? -1 : 0;
    }
    if (line[1] != '\n' || (strchr(":$*%~>", *at) && !number(at + 1, line, &v))) return -1;
    const ptrdiff_t whole = line + 2 - at;
    switch (*at) {
    case ':': bf_reply_put_integer(s, v); return whole;
    case '+':
    case ',':
    case '(': bf_reply_put_text(s, at + 1, (size_t)(line - at - 1)); return whole;
    case '-': bf_reply_put_error(s, at + 1, (size_t)(line - at - 1)); return whole;
    case '_': bf_reply_put_nil(s); return whole;
    case '$': return take_text(s, at, end, line, v);
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
    while (at < end && !s->got->all.too_much && (c = take(s, at, end)) > 0) at += c;
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
static bool head(bf_commands *c, char kind, size_t *n)
{
    const char *line =
        c->at < c->end && *c->at == kind ? memchr(c->at, '\r', (size_t)(c->end - c->at)) : NULL;
    long long v;
    if (!line || !number(c->at + 1, line, &v)) return false;
    c->at = line + 2;
    *n = (size_t)v;
    return true;
}

bool bf_command_next(bf_commands *c)
{
    bf_key skipped;
    while (c->args) bf_command_arg(c, &skipped);
    return head(c, '*', &c->args);
}

bool bf_command_arg(bf_commands *c, bf_key *arg)
{
    if (c->args == 0 || !head(c, '$', &arg->len)) {
        c->args = 0;
        return false;
    }
    arg->ptr = c->at;
    c->at += arg->len + 2;
    c->args--;
    return true;
}

/* ---- the transport ---- */
static void begin(bf_link *l)
{
    if (!l->sink && !(l->sink = calloc(1, sizeof *l->sink)))
        l->no_memory = true;
    else {
        l->sink->got = &l->got;
        l->sink->nparts = 0;
    }
}

static void about(bf_link *l, const char *key)
{
    bf_reply_sink *s = l->sink;
    if (!s) return;
    if (s->nparts && !l->apart && !strcmp(s->parts[s->nparts - 1].key, key)) return;
    l->apart = false;
    if (s->nparts == s->parts_cap) {
        size_t cap = s->parts_cap ? 2 * s->parts_cap : 4;
        bf_redis_part *parts = realloc(s->parts, cap * sizeof *parts);
        if (parts) s->parts = parts;
        size_t *from = realloc(s->part_from, 2 * cap * sizeof *from);
        if (from) s->part_from = from;
        if (!parts || !from) {
            l->no_memory = true;
            return;
        }
        s->parts_cap = cap;
    }
    s->part_from[2 * s->nparts] = l->out_len;
    s->part_from[2 * s->nparts + 1] = l->commands;
    s->parts[s->nparts++] = (bf_redis_part){ .key = key, .key_len = strlen(key) };
}

/* out stands still by now: the parts' addresses, and their ends, where the next begins. */
static void settle_parts(bf_link *l)
{
    bf_reply_sink *s = l->sink;
    for (size_t i = 0; i < s->nparts; i++) {
        const size_t *from = s->part_from + 2 * i;
        bool last = i + 1 == s->nparts;
        s->parts[i].bytes = l->out + from[0];
        s->parts[i].len = (last ? l->out_len : from[2]) - from[0];
        s->parts[i].commands = (last ? l->commands : from[3]) - from[1];
    }
}

static int failed(bf_link *l, int how, bf_error *err)
{
    bf_reply_sink *s = l->sink;
    const bool unsent = how == BF_CLIENT_UNSENT;
    l->sent = !unsent;
    l->fresh = unsent;
    l->timed_out = s->sys_errno == ETIMEDOUT || how == BF_CLIENT_STOP || s->got->all.too_much;
    bf_link_drop(l);
    if (how == BF_CLIENT_STOP)
        return bf_fail(err, BF_EHOST, "%s: the client was interrupted", l->label);
    if (s->got->all.too_much) return bf_link_too_much(l, err);
    if (s->sys_errno)
        return bf_fail_sys(err, s->sys_errno, unsent ? "reach" : "get a reply from", l->label);
    return bf_fail(err, BF_EIO, "%s: %s", l->label, *s->fault ? s->fault : "the client failed");
}

static bool expect_all(bf_link *l)
{
    bf_reply_sink *s = l->sink;
    if (s->rest_cap > REST_KEPT) {
        free(s->rest);
        s->rest = NULL;
        s->rest_cap = 0;
    }
    s->open = s->text_open = s->arrays_open = s->news = 0;
    s->too_many = false;
    s->sys_errno = 0;
    s->fault[0] = 0;
    if (!bf_replies_begin(&l->got, l->commands)) return false;
    bf_reply_limit(&l->got.all, l->all.leaves, l->all.bytes);
    s->every = (bf_redis_range){ 0, l->commands };
    bf_reply_expect(s, &s->every, 1);
    return true;
}

static bool all_there(const bf_reply_sink *s)
{
    bool all = !s->too_many && s->left == 1 && s->rest_len == 0;
    for (size_t i = 0; i < s->got->n; i++) all &= s->got->window[i].there;
    return all;
}

/* The client looks after its connections. */
static int exchange(bf_link *l, bf_error *err)
{
    bf_reply_sink *s = l->sink;
    l->stands = true;
    l->sent = l->fresh = false;
    if (s->nparts == 0) {
        about(l, l->key);
        if (s->nparts) s->part_from[0] = s->part_from[1] = 0;
    }
    if (l->no_memory || !expect_all(l)) return bf_link_no_memory(l, err);
    settle_parts(l);
    int how = l->client->exchange(l->client->ctx, s->parts, s->nparts, err != NULL, s);
    l->era = s->connection;
    if (how != BF_CLIENT_ANSWERED) return failed(l, how, err);
    l->sent = true;
    if (l->got.all.no_memory) return bf_link_no_memory(l, err);
    if (l->got.all.too_much) return bf_link_too_much(l, err);
    return all_there(s) ? 0 : bf_link_nonsense(l, err);
}

static void drop(bf_link *l) { (void)l; } /* its connections are the client's own */

static void abandon(bf_link *l) { l->sink = NULL; }

static void free_(bf_link *l)
{
    bf_reply_sink *s = l->sink;
    if (!s) return;
    free(s->rest);
    free(s->parts);
    free(s->part_from);
    free(s);
}

static const bf_transport client_transport = { .begin = begin,
    .about = about,
    .exchange = exchange,
    .drop = drop,
    .abandon = abandon,
    .free = free_ };

static int from_client(bf_link *l, const bf_spec *spec, bf_error *err)
{
    l->client = spec->redis_client;
    l->transport = &client_transport;
    if (!l->client->exchange)
        return bf_fail(err, BF_EINVAL, "redis_client must have an exchange callback, got NULL");
    if (spec->timeout != 0 || spec->retry_after != 0)
        return bf_fail(err, BF_EINVAL, "%s is for URLs: a Redis client has its own policy",
            spec->timeout != 0 ? "timeout" : "retry_after");
    l->url.timeout = 2; /* what WAIT goes by: the client's own is not known */
    if (!spec->key || !*spec->key)
        return bf_fail(err, BF_EINVAL, "a Redis client needs key, the name of the filter in Redis");
    return (l->url.key = strdup(spec->key)) ? 0 : bf_fail(err, BF_ENOMEM, "out of memory");
}

int bf_client_open(bf_link *l, const bf_spec *spec, bf_error *err)
{
    return bf_link_ready(l, from_client(l, spec, err));
}
