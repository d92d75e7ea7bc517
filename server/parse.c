/* parse.c - bytes to requests, by llhttp, and each request to its route.  Knows llhttp and the limits; knows no socket.
 *
 * What arrives whole in one read is never copied: the pieces of the request point into the worker's read buffer. */
#include "server.h"
#include <stdlib.h>

enum { STOP = 256 << 10 };                           /* replies that are sent before more is parsed */

static worker *worker_of(llhttp_t *p) { return p->data; }

static int stop(exchange *x, int status)
{
    if (!x->fail) x->fail = status;
    return HPE_USER;
}

void exchange_drop(worker *w, exchange *x)
{
    if (x->held) __atomic_fetch_sub(&w->s->buffered, x->held, __ATOMIC_RELAXED);
    buffer *all[] = { &x->url, &x->type, &x->authorization, &x->expect, &x->transfer, &x->coding, &x->body };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buffer_drop(all[i]);
    *x = (exchange){ 0 };
}

/* ---- what llhttp calls ---- */
static int on_begin(llhttp_t *p)
{
    exchange *x = &worker_of(p)->asked;
    x->active = x->fresh = true;
    return 0;
}

static int on_url(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    if (x->url.len + len > w->s->o.max_url) return stop(x, 414);
    return buffer_see(&x->url, at, len) ? 0 : stop(x, 503);
}

static int header_bytes(worker *w, size_t len)
{
    exchange *x = &w->asked;
    x->header_bytes += len;
    return x->header_bytes > w->s->o.max_header ? stop(x, 431) : 0;
}

static int on_field(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    for (size_t i = 0; i < len && x->field_len < sizeof x->field; i++) {
        char c = at[i];
        x->field[x->field_len++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return header_bytes(w, len);
}

static int on_field_end(llhttp_t *p)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    const struct { text name; buffer *value; } wanted[] = {
        { TEXT("content-type"), &x->type }, { TEXT("authorization"), &x->authorization }, { TEXT("expect"), &x->expect },
        { TEXT("transfer-encoding"), &x->transfer }, { TEXT("content-encoding"), &x->coding }
    };
    if (x->field_len == 0) return stop(x, 400);
    x->into = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (text_is((text){ x->field, x->field_len }, wanted[i].name)) x->into = wanted[i].value;
    return header_bytes(w, 4);                       /* ": " and the end of the line */
}

static int on_value(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    if (header_bytes(w, len)) return HPE_USER;
    return !x->into || buffer_see(x->into, at, len) ? 0 : stop(x, 503);
}

static int on_value_end(llhttp_t *p)
{
    exchange *x = &worker_of(p)->asked;
    x->field_len = 0;
    return 0;
}

static text text_of(const buffer *b) { return (text){ b->ptr ? b->ptr : "", b->len }; }

static request request_of(const llhttp_t *p, const exchange *x)
{
    return (request){
        .method = p->method == HTTP_GET || p->method == HTTP_HEAD ? GET : p->method == HTTP_POST ? POST : p->method == HTTP_PUT ? PUT
                : p->method == HTTP_DELETE ? DELETE : OTHER,
        .head = p->method == HTTP_HEAD, .old = p->http_major == 1 && p->http_minor == 0, .target = text_of(&x->url),
        .type = text_of(&x->type), .authorization = text_of(&x->authorization), .body = text_of(&x->body)
    };
}

/* A body that is packed would be taken for other keys than were meant. */
static int packed(const exchange *x)
{
    if (x->transfer.len && !text_is_nocase(text_of(&x->transfer), TEXT("chunked"))) return 400;
    return x->coding.len && !text_is_nocase(text_of(&x->coding), TEXT("identity")) ? 415 : 0;
}

static int on_head_end(llhttp_t *p)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    bool has_body = (p->flags & F_CHUNKED) || ((p->flags & F_CONTENT_LENGTH) && p->content_length > 0);
    p->upgrade = 0;                                  /* there is nothing to upgrade to */
    x->head_done = true;
    if (p->http_major != 1) return stop(x, 400), -1;
    if ((p->flags & F_CONTENT_LENGTH) && p->content_length > w->s->o.max_body) return stop(x, 413), -1;
    if (!has_body) return 0;
    if (packed(x)) return stop(x, packed(x)), -1;
    request q = request_of(p, x);
    if (!route_allowed(w->s, &q)) return stop(x, 401), -1;       /* no body is taken from strangers */
    if (text_is_nocase(text_of(&x->expect), TEXT("100-continue")) && !buffer_add(&w->out, "HTTP/1.1 100 Continue\r\n\r\n", 25)) return stop(x, 503), -1;
    return 0;
}

/* Room for more of the body in memory of its own, as far as all bodies together may grow. */
bool body_grow(worker *w, exchange *x, size_t more)
{
    if (!buffer_reserve(&x->body, more)) { stop(x, 503); return false; }
    uint64_t grown = x->body.cap - x->held;
    x->held = x->body.cap;
    if (__atomic_add_fetch(&w->s->buffered, grown, __ATOMIC_RELAXED) <= w->s->o.max_buffered) return true;
    stop(x, 503);
    return false;
}

static int on_body(llhttp_t *p, const char *at, size_t len)
{
    worker *w = worker_of(p);
    exchange *x = &w->asked;
    x->body_bytes += len;
    if (x->body_bytes > w->s->o.max_body) return stop(x, 413);
    if (p->method != HTTP_POST) return 0;            /* nobody reads it */
    bool borrows = !x->body.cap && (!x->body.len || x->body.ptr + x->body.len == at), direct = x->body.cap && x->body.ptr + x->body.len == at;
    if (!borrows && !direct && !body_grow(w, x, len)) return HPE_USER;
    return buffer_see(&x->body, at, len) ? 0 : stop(x, 503);
}

static void answer(worker *w, conn *c, const request *q, reply *a)
{
    uint64_t began = w->s->log_fd >= 0 ? clock_ns() : 0;
    if (a->status == 0) route(w, q, a);
    int status = a->status;
    size_t bytes = a->body.len;
    count_status(w, status);
    if (w->s->log_fd >= 0) log_request(w, c, q, a, bytes, began);
    if (!reply_write(a, q, w->date, &w->out, &w->tail)) c->close = c->broken = true;
    if (!q->keep_alive) c->close = true;
    buffer_drop(&a->made);
}

static int on_end(llhttp_t *p)
{
    worker *w = worker_of(p);
    request q = request_of(p, &w->asked);
    reply a = { 0 };
    q.keep_alive = llhttp_should_keep_alive(p) && !is_draining(w->s);
    answer(w, w->at, &q, &a);
    exchange_drop(w, &w->asked);
    w->answered = true;
    return w->at->close || w->tail.len || w->out.len > STOP ? HPE_PAUSED : 0;
}

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin, .on_url = on_url, .on_header_field = on_field, .on_header_field_complete = on_field_end,
    .on_header_value = on_value, .on_header_value_complete = on_value_end, .on_headers_complete = on_head_end, .on_body = on_body, .on_message_complete = on_end
};

/* ---- what conn.c calls ---- */
void parse_start(conn *c) { llhttp_init(&c->parser, HTTP_REQUEST, &settings); }

void parse_resume(worker *w, conn *c)
{
    w->at = c;
    c->parser.data = w;
    if (!c->part) return;
    ptrdiff_t into = c->part->into ? (char *)c->part->into - (char *)c->part : -1;
    w->asked = *c->part;
    if (into >= 0) w->asked.into = (buffer *)((char *)&w->asked + into);
}

static bool keep(exchange *x)
{
    return buffer_keep(&x->url) && buffer_keep(&x->type) && buffer_keep(&x->authorization) && buffer_keep(&x->expect)
        && buffer_keep(&x->transfer) && buffer_keep(&x->coding);
}

void parse_suspend(worker *w, conn *c)
{
    exchange *x = &w->asked;
    bool ok = keep(x) && (x->body.cap || !x->body.len || body_grow(w, x, 1));
    if (!c->part) c->part = ok ? malloc(sizeof *c->part) : NULL;
    if (ok && c->part) {
        ptrdiff_t into = x->into ? (char *)x->into - (char *)x : -1;
        *c->part = *x;
        if (into >= 0) c->part->into = (buffer *)((char *)c->part + into);
        *x = (exchange){ 0 };
    } else refuse(w, c, 503);
}

bool body_direct(const conn *c, size_t *left)
{
    if (!c->part || !c->part->head_done || c->parser.method != HTTP_POST || (c->parser.flags & F_CHUNKED)) return false;
    *left = c->parser.content_length;
    return *left > 0;
}

void refuse(worker *w, conn *c, int status)
{
    request q = request_of(&c->parser, &w->asked);
    reply a = { 0 };
    q.head = q.head && w->asked.head_done;
    q.keep_alive = false;
    reply_status(&a, status, NULL);
    answer(w, c, &q, &a);
    exchange_drop(w, &w->asked);
    c->close = c->broken = true;
}

/* Endless blanks reach no callback: a head that grows from read to read is counted here. */
static void check_raw(worker *w, conn *c, size_t len)
{
    exchange *x = &w->asked;
    const options *o = &w->s->o;
    if (x->head_done || w->answered) return;
    x->raw += len;
    if (x->raw > READ_BYTES + 2 * (o->max_url + o->max_header)) refuse(w, c, 431);
}

size_t parse(worker *w, conn *c, const char *bytes, size_t len)
{
    w->answered = false;
    llhttp_errno_t rc = llhttp_execute(&c->parser, bytes, len);
    if (rc == HPE_OK) { check_raw(w, c, len); return len; }
    if (rc == HPE_PAUSED) {
        size_t done = (size_t)(llhttp_get_error_pos(&c->parser) - bytes);
        llhttp_resume(&c->parser);
        return done;
    }
    refuse(w, c, w->asked.fail ? w->asked.fail : 400);
    return len;
}
