/* http.h - a request and its reply.  Knows no socket and no parser. */
#ifndef BFD_HTTP_H
#define BFD_HTTP_H
#include "bytes.h"

enum { LARGE = 64 << 10 };              /* bytes; larger bodies are sent without a copy */
enum { GET, POST, PUT, DELETE, OTHER }; /* HEAD is GET and request.head */

typedef struct {
    int method;
    bool head, keep_alive, old; /* old: HTTP/1.0 */
    /* authority: host and port of an absolute URL http://authority/path, else empty */
    text target, path, authority;
    text type, authorization, host, origin, referer, site, body;
} request;

typedef struct {
    int status;
    bool defer; /* a job must answer the request, or the rest of a batch */
    /* If a job continues a batch: the filter with this serial number has answered a->made.len keys;
     * their answers are in `made`.  The next `half` bytes belong to keys that the job must add
     * again; such a byte is 1 if the key was new the first time. */
    uint64_t serial;
    size_t half;
    const char *type; /* Content-Type, a literal */
    text body;        /* a literal, or bytes of `made` */
    buffer made;      /* owned by the reply */
    uint64_t held;    /* bytes of `made` that are counted in server.buffered */
    bool understood;  /* the path exists */
    bool ends;        /* the connection closes after this reply */
    /* further header lines, each with \r\n.  The last member, because parse.c zeroes only its first
     * byte */
    char more[256];
} reply;

const char *http_reason(int status);
/* Replies with a status and its reason phrase.  why, one sentence, becomes the header X-Error, and
 * is appended to the body, except for 400.  NULL: the sentence that http.c has for the status. */
void reply_status(reply *a, int status, const char *why);
void reply_text(reply *a, text body);        /* status 200 */
void reply_made(reply *a, const char *type); /* status 200; the body is a->made */
/* Writes the reply's bytes to `out`.  A large body is not copied: `tail` takes it over. */
bool reply_write(reply *a, const request *q, const char *date, buffer *out, buffer *tail);
#endif
