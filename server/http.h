/* http.h - a request as the routes see it, and the reply they give.  Knows no socket and no parser.
 */
#ifndef BFD_HTTP_H
#define BFD_HTTP_H
#include "bytes.h"

enum { LARGE = 64 << 10 };              /* larger bodies are not copied */
enum { GET, POST, PUT, DELETE, OTHER }; /* HEAD is GET with head set */

typedef struct {
    int method;
    bool head, keep_alive, old;   /* old: HTTP/1.0 */
    text target, path, authority; /* authority: of http://authority/path, else nothing */
    text type, authorization, host, origin, referer, site, body;
} request;

typedef struct {
    int status;
    bool defer; /* a job must answer it, or the rest of it */
    /* If a job continues a batch: `made` has the answers of the keys that are done, by the filter
     * with this serial number, and then `half` bytes for keys that the job must add again; such a
     * byte is 1 if the key was new the first time. */
    uint64_t serial;
    size_t half;
    const char *type; /* Content-Type, a literal           */
    text body;        /* a literal, or inside `made`       */
    buffer made;      /* owned; dropped after it was sent */
    uint64_t held;    /* bytes of `made` that count in server.buffered */
    bool understood;  /* its path exists */
    bool ends;        /* close the connection after it */
    /* further header lines, each with \r\n; last, because only its first byte is zeroed */
    char more[256];
} reply;

const char *http_reason(int status);
/* Replies with a status and its standard text.  why, if not NULL, goes to the header X-Error, and
 * is appended to the text of all statuses but 400. */
void reply_status(reply *a, int status, const char *why);
void reply_text(reply *a, text body);        /* 200 */
void reply_made(reply *a, const char *type); /* 200, the body is in made */
/* Writes the reply as it is sent.  A large body is not copied: `tail` takes it over. */
bool reply_write(reply *a, const request *q, const char *date, buffer *out, buffer *tail);
#endif
