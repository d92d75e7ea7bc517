/* http.c - replies: status lines, header, body.  Knows what HTTP/1.1 requires of a reply; knows no
 * socket and no parser. */
#include "http.h"
#include <stdio.h>

static const struct {
    int status;
    const char *reason;
} reasons[] = { { 200, "OK" }, { 201, "Created" }, { 400, "Error Command" },
    { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" }, { 408, "Request Timeout" },
    { 409, "Conflict" }, { 413, "Content Too Large" }, { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" }, { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" }, { 503, "Service Unavailable" },
    { 507, "Insufficient Storage" }, { 0, "Unknown" } };

const char *http_reason(int status)
{
    size_t i = 0;
    while (reasons[i].status && reasons[i].status != status) i++;
    return reasons[i].reason;
}

/* Control characters in a quoted value must not end the header line. */
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
    a->status = status;
    a->type = "text/plain";
    a->body = (text){ reason, strlen(reason) };
    if (why) add_why(a, why);
    /* Clients of the older server compare the body of a 400; other bodies include the reason. */
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
