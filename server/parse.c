/* parse.c - parses requests with llhttp, checks the limits, and routes the requests.  A request
 * that arrives in one read is not copied: its texts point into the worker's read buffer. */
#include "resp.h"
#include <stdlib.h>

enum {
    /* UNSENT_MAX: bytes of unsent replies after which parsing stops.  BLANKS: most CR and LF before
     * a request. */
    UNSENT_MAX = 256 << 10,
    BLANKS = 8
};

#define MARKUP                                                                                     \
    "the body is JSON or a form (Content-Type): send one key per text line, or the bytes of a filter"

static worker *worker_of(llhttp_t *p) { return p->data; }

static int stop(request_in *x, int status)
{
    if (!x->refused_with) x->refused_with = status;
    return HPE_USER;
}

static int no_room(request_in *x)
{
    if (!x->refused_with) x->why = BUDGET_FULL;
    return stop(x, 503);
}

static int stop_why(request_in *x, const char *why)
{
    if (!x->refused_with) x->why = why;
    return stop(x, 400), -1;
}

void request_in_drop(worker *w, request_in *x)
{
    if (x->owns_memory) {
        budget_release(w, x->held);
        buffer_drop(&x->url);
        buffer_drop(&x->body);
        for (size_t i = 0; i < HEADERS; i++) buffer_drop(&x->headers[i]);
    }
    bytes_clear(x, sizeof *x);
}

/* Counts the memory of the request in --max-buffered.  Returns false if the bytes are not free. */
static bool count_request(worker *w, request_in *x)
{
    uint64_t all = sizeof *x + x->url.cap + x->body.cap;
    for (size_t i = 0; i < HEADERS; i++) all += x->headers[i].cap;
    if (!budget_reserve_beside(w, all - x->held, x->held)) return false;
    x->held = all;
    return true;
}

/* Appends bytes to a text of the request: see buffer_extend().  Returns false if out of memory. */
static bool append_bytes(request_in *x, buffer *b, const char *at, size_t len)
{
    const bool ok = buffer_extend(b, at, len);
    x->owns_memory |= b->cap > 0;
    return ok;
}

/* ---- callbacks of llhttp ---- */
static int on_begin(llhttp_t *p)
{
    request_in *x = &worker_of(p)->current;
    x->active = x->deadline_unset = true;
    return 0;
}

static int on_url(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    request_in *x = &w->current;
    if (x->url.len + len > w->s->o.max_url) return stop(x, 414);
    return append_bytes(x, &x->url, at, len) ? 0 : stop(x, 503);
}

static int header_bytes(worker *w, size_t len)
{
    request_in *x = &w->current;
    x->header_bytes += len;
    return x->header_bytes > w->s->o.max_header ? stop(x, 431) : 0;
}

static int on_field(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    request_in *x = &w->current;
    const size_t room = sizeof x->field - x->field_len, n = len < room ? len : room;
    memcpy(x->field + x->field_len, at, n);
    x->field_len += (unsigned)n;
    return header_bytes(w, len);
}

/* bit i is set if `wanted` below contains a name of i characters */
enum { LENGTHS = 1 << 4 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 16 | 1 << 17 };

/* Selects the buffer for the value.  Refuses a header of `wanted` that occurs twice, because a
 * proxy may use the other value.  Other headers, and trailers, are skipped. */
static int on_field_end(llhttp_t *p)
{
    static const text wanted[HEADERS] = { [TYPE] = { "content-type", 12 },
        [AUTHORIZATION] = { "authorization", 13 },
        [EXPECT] = { "expect", 6 },
        [TRANSFER] = { "transfer-encoding", 17 },
        [CODING] = { "content-encoding", 16 },
        [HOST_NAME] = { "host", 4 },
        [ORIGIN] = { "origin", 6 },
        [REFERER] = { "referer", 7 },
        [SITE] = { "sec-fetch-site", 14 } };
    worker *w = worker_of(p);
    request_in *x = &w->current;
    const text name = { x->field, x->field_len };
    const bool may_be = !x->head_done && (LENGTHS >> name.len & 1);
    x->value = NULL;
    for (size_t i = 0; may_be && i < HEADERS; i++) {
        if (name.len != wanted[i].len || !text_is_nocase(name, wanted[i])) continue;
        if (x->seen >> i & 1) return stop_why(x, "a header that must be given once is given twice");
        x->seen |= 1u << i;
        x->value = &x->headers[i];
    }
    return header_bytes(w, 4); /* the two bytes ": " and the two that end the line */
}

static int on_value(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    request_in *x = &w->current;
    if (header_bytes(w, len)) return HPE_USER;
    return !x->value || append_bytes(x, x->value, at, len) ? 0 : stop(x, 503);
}

static int on_value_end(llhttp_t *p)
{
    request_in *x = &worker_of(p)->current;
    x->field_len = 0;
    return 0;
}

static text text_of(const buffer *b) { return (text){ b->ptr ? b->ptr : "", b->len }; }

/* Returns the header's value without blanks at its end; empty if the header was not sent. */
static text header(const request_in *x, int which)
{
    if (!(x->seen >> which & 1)) return (text){ "", 0 };
    text t = text_of(&x->headers[which]);
    while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t')) t.len--;
    return t;
}

static int method_of(const llhttp_t *p)
{
    switch (p->method) {
    case HTTP_GET:
    case HTTP_HEAD: return GET;
    case HTTP_POST: return POST;
    case HTTP_PUT: return PUT;
    case HTTP_DELETE: return DELETE;
    default: return OTHER;
    }
}

/* True if all characters may occur in a host name, an address or a port. */
static bool is_authority(text t)
{
    for (size_t i = 0; i < t.len; i++) {
        const char c = t.ptr[i];
        const bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (!plain && !memchr(".-:[]", c, 5)) return false;
    }
    return t.len > 0;
}

/* Sets path, and authority if the target is http://authority/path, as proxies send it. */
static void split_target(request *q)
{
    q->path = q->target;
    q->authority = (text){ "", 0 };
    if (!text_starts(q->target, TEXT("http://"))) return;
    text rest = text_after(q->target, 7);
    const char *slash = memchr(rest.ptr, '/', rest.len);
    const text authority = { rest.ptr, slash ? (size_t)(slash - rest.ptr) : rest.len };
    if (!slash || !is_authority(authority)) return;
    q->authority = authority;
    q->path = text_after(rest, authority.len);
}

static request request_of(const llhttp_t *p, const request_in *x)
{
    request q = { .method = x->active ? method_of(p) : OTHER,
        .head = p->method == HTTP_HEAD,
        .keep_alive = false,
        .old = p->http_major == 1 && p->http_minor == 0,
        .target = text_of(&x->url),
        .path = { "", 0 },
        .authority = { "", 0 },
        .body = text_of(&x->body),
        .type = header(x, TYPE),
        .authorization = header(x, AUTHORIZATION),
        .host = header(x, HOST_NAME),
        .origin = header(x, ORIGIN),
        .referer = header(x, REFERER),
        .site = header(x, SITE) };
    split_target(&q);
    return q;
}

/* True for JSON of all kinds and for the forms that contain files. */
static bool is_markup(text type)
{
    const text form = { type.ptr, type.len < 10 ? type.len : 10 };
    bool json = false;
    for (size_t i = 0; i + 4 <= type.len && type.ptr[i] != ';' && !json; i++)
        json = text_is_nocase((text){ type.ptr + i, 4 }, TEXT("json"));
    return json || text_is_nocase(form, TEXT("multipart/"));
}

/* Refuses a body that is too large, whose end is ambiguous, or that is compressed or markup,
 * because its bytes would be used as keys.  Returns 1: there is a body; 0: no body; -1: refused. */
static int check_body(worker *w, const llhttp_t *p, request_in *x)
{
    const options *o = &w->s->o;
    const bool sized = p->flags & F_CONTENT_LENGTH, chunked = p->flags & F_CHUNKED;
    if (x->seen >> TRANSFER & 1) {
        const bool alone = text_is_nocase(header(x, TRANSFER), TEXT("chunked"));
        if (sized || !chunked || p->http_minor == 0 || !alone)
            return stop_why(x, "Transfer-Encoding must be chunked alone, and in HTTP/1.1");
    } else if (chunked)
        return stop_why(x, "Transfer-Encoding must be on one line");
    if (sized && p->content_length > o->max_body) return stop(x, 413), -1;
    if (!chunked && !(sized && p->content_length > 0)) return 0;
    if (p->method == HTTP_CONNECT) return stop_why(x, "CONNECT must not have a body");
    const text coding = header(x, CODING);
    if (coding.len && !text_is_nocase(coding, TEXT("identity"))) return stop(x, 415), -1;
    if (is_markup(header(x, TYPE))) {
        if (!x->refused_with) x->why = MARKUP;
        return stop(x, 415), -1;
    }
    const uint64_t least = o->max_buffered > READ_BYTES ? o->max_buffered : READ_BYTES;
    if (sized && p->content_length > least) return no_room(x), -1;
    return 1;
}

/* Called before the body is read.  If there is a body, checks its kind and the access. */
static int on_head_end(llhttp_t *p)
{
    worker *w = worker_of(p);
    request_in *x = &w->current;
    /* a request to upgrade the protocol is an ordinary request here */
    p->upgrade = 0;
    x->head_done = true;
    if (p->http_major != 1) return stop(x, 400), -1;
    int rc = check_body(w, p, x);
    if (rc <= 0) return rc;
    request q = request_of(p, x);
    reply a = { 0 };
    const bool refused = access_refuses(w->s, &q, &a);
    buffer_drop(&a.made);
    if (refused) return stop(x, a.status), -1;
    if (q.old || !text_is_nocase(header(x, EXPECT), TEXT("100-continue"))) return 0;
    return buffer_add(&w->out, "HTTP/1.1 100 Continue\r\n\r\n", 25) ? 0 : (stop(x, 503), -1);
}

bool body_grow(worker *w, request_in *x, size_t more)
{
    x->owns_memory = true;
    if (buffer_reserve(&x->body, more) && count_request(w, x)) return true;
    no_room(x);
    return false;
}

static int on_body(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    request_in *x = &w->current;
    x->body_bytes += len;
    if (x->body_bytes > w->s->o.max_body) return stop(x, 413);
    if (p->method != HTTP_POST) return 0; /* no route uses the body of another method */
    bool borrows = !x->body.cap && (!x->body.len || x->body.ptr + x->body.len == at),
         direct = x->body.cap && x->body.ptr + x->body.len == at;
    if (!borrows && !direct && !body_grow(w, x, len)) return HPE_USER;
    return append_bytes(x, &x->body, at, len) ? 0 : stop(x, 503);
}

void finish_reply(worker *w, conn *c, request *q, reply *a, uint64_t began)
{
    if (q->resp) {
        resp_finish(w, c, q, a, began);
        return;
    }
    budget_reply(w, a);
    if (a->ends) q->keep_alive = false;
    int status = a->status;
    const size_t bytes = q->head ? 0 : a->body.len;
    count_status(w, status, 1);
    if (w->s->o.access_log) log_request(w, c, q, a, bytes, began);
    if (!reply_write(a, q, w->date, &w->out, &w->tail)) c->close = c->broken = true;
    if (w->tail.len)
        w->tail_held += a->held;
    else
        budget_release(w, a->held);
    a->held = 0;
    if (!q->keep_alive) c->close = true;
    buffer_drop(&a->made);
}

static void answer_request(worker *w, conn *c, request *q, reply *a)
{
    uint64_t began = w->s->o.access_log ? clock_ns() : 0;
    const char *why;
    if (a->status == 0) route(w, q, a);
    if (a->defer) {
        c->job = job_start(w, c, q, a, began, &why);
        if (c->job) return;
        reply_status(a, 503, why);
    }
    finish_reply(w, c, q, a, began);
}

static int on_end(llhttp_t *p)
{
    worker *w = worker_of(p);
    request q = request_of(p, &w->current);
    reply a;
    memset(&a, 0, offsetof(reply, more) + 1);
    q.keep_alive = llhttp_should_keep_alive(p) && !is_draining(w->s);
    answer_request(w, w->current_conn, &q, &a);
    request_in_drop(w, &w->current);
    w->answered = true;
    return 0;
}

static const llhttp_settings_t settings = { .on_message_begin = on_begin,
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_field_complete = on_field_end,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_end,
    .on_headers_complete = on_head_end,
    .on_body = on_body,
    .on_message_complete = on_end };

/* ---- for conn.c ---- */
void parse_start(conn *c) { llhttp_init(&c->parser, HTTP_REQUEST, &settings); }

void parse_resume(worker *w, conn *c)
{
    w->current_conn = c;
    c->parser.data = w;
    if (!c->suspended) return;
    ptrdiff_t into = c->suspended->value ? (char *)c->suspended->value - (char *)c->suspended : -1;
    w->current = *c->suspended;
    if (into >= 0) w->current.value = (buffer *)((char *)&w->current + into);
}

static bool own_memory(request_in *x)
{
    x->owns_memory = true;
    bool ok = buffer_own(&x->url) && buffer_own(&x->body);
    for (size_t i = 0; ok && i < HEADERS; i++) ok = buffer_own(&x->headers[i]);
    return ok;
}

void parse_suspend(worker *w, conn *c)
{
    request_in *x = &w->current, *part = c->suspended;
    c->suspended = NULL; /* w->current has taken over its buffers */
    x->active_at = w->now;
    if (!part) part = malloc(sizeof *part);
    if (part && own_memory(x) && count_request(w, x)) {
        ptrdiff_t into = x->value ? (char *)x->value - (char *)x : -1;
        *part = *x;
        if (into >= 0) part->value = (buffer *)((char *)part + into);
        *x = (request_in){ 0 };
        c->suspended = part;
        return;
    }
    free(part);
    no_room(x);
    refuse(w, c, 503);
}

bool body_direct(const conn *c, size_t *left)
{
    if (!c->suspended || !c->suspended->head_done || c->parser.method != HTTP_POST ||
        (c->parser.flags & F_CHUNKED))
        return false;
    *left = c->parser.content_length;
    return *left > 0;
}

void refuse(worker *w, conn *c, int status)
{
    if (resp_is(c)) {
        resp_refuse(w, c, status);
        return;
    }
    request q = request_of(&c->parser, &w->current);
    reply a = { 0 };
    q.head = q.head && w->current.head_done;
    q.keep_alive = false;
    const bool stranger = status == 401 || status == 403;
    if (!stranger || !access_refuses(w->s, &q, &a)) reply_status(&a, status, w->current.why);
    answer_request(w, c, &q, &a);
    request_in_drop(w, &w->current);
    c->close = c->broken = true;
}

/* True if the head is longer than the limits allow.  Counts blanks, too: llhttp calls no callback
 * for blanks. */
static bool head_is_too_long(worker *w, size_t len)
{
    request_in *x = &w->current;
    const options *o = &w->s->o;
    if (x->head_done) return false;
    x->head_bytes += len;
    return x->head_bytes > READ_BYTES + 2 * (o->max_url + o->max_header);
}

/* Skips empty lines before a request, because some clients send them after a body.  Returns false
 * if the byte belongs to a request; true if it was skipped, or refused (c->close). */
static bool skip_blank(worker *w, conn *c, char byte)
{
    if (w->current.active) return false;
    const bool half = c->blanks & 1, blank = byte == (half ? '\n' : '\r');
    if (!blank && !half && byte != '\n') {
        c->blanks = 0;
        return false;
    }
    if (blank && ++c->blanks <= BLANKS) return true;
    w->current.why = "a request must not begin with more than four empty lines, each CR LF";
    refuse(w, c, 400);
    return true;
}

/* Sets *took to the number of bytes that belong to the present head or body.  Returns 0, or the
 * status for an invalid byte. */
static int framed_length(worker *w, const conn *c, const char *bytes, size_t len, size_t *took)
{
    request_in *x = &w->current;
    const options *o = &w->s->o;
    if (!x->head_done) return framing_head(&x->framing, bytes, len, took);
    if (c->parser.flags & F_CHUNKED)
        return framing_chunks(&x->framing, bytes, len, o->max_body, o->max_header, took);
    *took = len < c->parser.content_length ? len : (size_t)c->parser.content_length;
    return 0;
}

/* Parses bytes of one head or one body.  Returns the number of bytes used. */
static size_t parse_some(worker *w, conn *c, const char *bytes, size_t len)
{
    request_in *x = &w->current;
    size_t took = 0;
    if (skip_blank(w, c, *bytes)) return c->close ? len : 1;
    w->answered = false;
    int bad = framed_length(w, c, bytes, len, &took);
    llhttp_errno_t rc = took ? llhttp_execute(&c->parser, bytes, took) : HPE_OK;
    if (rc == HPE_OK && w->answered) return took;
    if (rc != HPE_OK) {
        if (!x->refused_with) x->why = llhttp_get_error_reason(&c->parser);
        bad = x->refused_with ? x->refused_with : 400;
    } else if (bad == 400 || took == 0) {
        bad = 400;
        x->why = "lines and chunks must end with CR LF and hold only what HTTP/1.1 allows there";
    } else if (!bad && head_is_too_long(w, took))
        bad = 431;
    if (!bad) return took;
    refuse(w, c, bad);
    return len;
}

size_t parse(worker *w, conn *c, const char *bytes, size_t len)
{
    size_t done = 0;
    if (!c->protocol) c->protocol = *bytes == '*' ? 2 : 1;
    if (resp_is(c)) return resp_parse(w, c, bytes, len);
    do done += parse_some(w, c, bytes + done, len - done);
    while (done < len && !c->close && !c->job && !w->tail.len && w->out.len <= UNSENT_MAX);
    return done;
}
