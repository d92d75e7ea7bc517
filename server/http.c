/* http.c - writes replies of HTTP/1.1: status line, headers, body. */
#include "http.h"
#include <stdio.h>

/* why: the sentence for X-Error if reply_status() is called without one. */
static const struct {
    int status;
    const char *reason, *why;
} reasons[] = { { 200, "OK", NULL }, { 201, "Created", NULL },
    { 400, "Error Command", "this path does not exist, or not with this method" },
    { 401, "Unauthorized", "the token is missing or wrong" },
    { 403, "Forbidden", "the request is not allowed" },
    { 404, "Not Found", "no filter has this name" },
    { 408, "Request Timeout", "the request did not arrive within --deadline" },
    { 409, "Conflict", "the filter does not allow this" },
    { 413, "Content Too Large", "the body is larger than --max-body" },
    { 414, "URI Too Long", "the URL is longer than --max-url" },
    { 415, "Unsupported Media Type", "the body is compressed (Content-Encoding)" },
    { 431, "Request Header Fields Too Large", "the header is larger than --max-header" },
    { 500, "Internal Server Error", "unexpected error" },
    { 503, "Service Unavailable", "out of memory" },
    { 507, "Insufficient Storage", "out of memory" }, { 0, "Unknown", "unexpected error" } };

static size_t row_of(int status)
{
    size_t i = 0;
    while (reasons[i].status && reasons[i].status != status) i++;
    return i;
}

const char *http_reason(int status) { return reasons[row_of(status)].reason; }

/* Appends the header X-Error.  Replaces control characters, because they could end the line. */
static void add_why(reply *a, const char *why)
{
    size_t at = strlen(a->more);
    int n = snprintf(a->more + at, sizeof a->more - at, "X-Error: %s", why);
    size_t end = n < 0 ? at : at + (size_t)n;
    if (end > sizeof a->more - 3) end = sizeof a->more - 3;
    for (size_t i = at; i < end; i++)
        if ((unsigned char)a->more[i] < ' ' || a->more[i] == 127) a->more[i] = '?';
    memcpy(a->more + end, "\r\n", 3);
}

void reply_status(reply *a, int status, const char *why)
{
    buffer_drop(&a->made);
    const char *reason = http_reason(status);
    if (!why) why = reasons[row_of(status)].why;
    a->status = status;
    a->type = "text/plain";
    a->body = (text){ reason, strlen(reason) };
    if (why) add_why(a, why);
    /* Clients of the older server compare the body of a 400 with the reason phrase. */
    if (why && status != 400 && buffer_print(&a->made, "%s: %s", reason, why))
        a->body = (text){ a->made.ptr, a->made.len };
}

void reply_text(reply *a, text body)
{
    a->status = 200;
    a->type = "text/plain";
    a->body = body;
}

void reply_made(reply *a, const char *type)
{
    buffer_trim(&a->made);
    a->status = 200;
    a->type = type;
    a->body = (text){ a->made.ptr, a->made.len };
}

static char *put(char *to, const char *s)
{
    size_t n = strlen(s);
    memcpy(to, s, n);
    return to + n;
}

static char *put_number(char *to, uint64_t v)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n) *to++ = digits[--n];
    return to;
}

static char *put_head(char *to, const reply *a, const request *q, const char *date)
{
    to = put(to, "HTTP/1.1 ");
    to = put_number(to, (uint64_t)a->status);
    *to++ = ' ';
    to = put(to, http_reason(a->status));
    to = put(to, "\r\nDate: ");
    to = put(to, date);
    to = put(to, "\r\nContent-Type: ");
    to = put(to, a->type);
    to = put(to, "\r\nContent-Length: ");
    to = put_number(to, a->body.len);
    to = put(to, "\r\nCache-Control: no-store\r\n");
    to = put(to, a->more);
    if (!q->keep_alive)
        to = put(to, "Connection: close\r\n");
    else if (q->old)
        to = put(to, "Connection: keep-alive\r\n");
    return put(to, "\r\n");
}

bool reply_write(reply *a, const request *q, const char *date, buffer *out, buffer *tail)
{
    bool large = a->made.cap && a->body.len >= LARGE && !q->head;
    size_t body = large || q->head ? 0 : a->body.len;
    if (!buffer_reserve(out, 512 + sizeof a->more + body)) return false;
    char *end = put_head(out->ptr + out->len, a, q, date);
    if (body) memcpy(end, a->body.ptr, body);
    out->len = (size_t)(end - out->ptr) + body;
    if (large) {
        *tail = a->made;
        a->made = (buffer){ 0 };
    }
    buffer_drop(&a->made);
    return true;
}
