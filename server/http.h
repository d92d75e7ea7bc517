/* http.h - a request and its reply.  Independent of sockets and of the parser. */
#ifndef BFD_HTTP_H
#define BFD_HTTP_H
#include "bytes.h"

enum { LARGE = 64 << 10 };                 /* bytes; larger bodies are sent without a copy */
enum { RESP_HEAD = 256, RESP_ANSWER = 4 }; /* bytes of a reply's head and error; of one answer */
enum { GET, POST, PUT, DELETE, OTHER };    /* HEAD is GET and request.head */

typedef struct {
    int method;
    bool head, keep_alive, old; /* old: HTTP/1.0 */
    /* path: with its query.  authority: of a target http://authority/path, else empty */
    text target, path, authority;
    text type, authorization, host, origin, referer, site, body;
    /* RESP: body contains `commands` equal commands, which differ in their last argument only: see
     * resp.h.  command NULL: unknown.  resp: protocol version of the reply; 0: HTTP */
    const struct command *command;
    unsigned resp;
    size_t commands, prefix; /* prefix: bytes before the last argument, if commands > 1 */
} request;

typedef struct {
    int status;
    bool defer; /* a job must answer the request, or the rest of a batch */
    /* For a job that continues the work of a worker: the serial number of the filter that the
     * worker used; 0: nothing was done.  `made` contains the answers so far of a batch. */
    uint64_t serial;
    /* Batch: number of keys that the job must add again, because the first add was incomplete; the
     * bytes after made.len are 1 if the key was new then.  Single key: 1 if it was new then. */
    size_t half;
    const char *type; /* Content-Type, a literal */
    text body;        /* a literal, or bytes of `made` */
    buffer made;      /* owned by the reply */
    int code;         /* error of the core or of filters.h, or 0 */
    buffer answers;   /* RESP: answers before an error.  See key_batch_on() */
    bool encoded;     /* RESP: `made` contains complete replies */
    uint64_t held;    /* bytes of `made` that are counted in server.buffered */
    bool understood;  /* the path exists */
    bool ends;        /* the connection closes after this reply */
    /* further header lines, each with \r\n.  Must be the last member: parse.c sets only its first
     * byte to 0 */
    char more[256];
} reply;

const char *http_reason(int status);
/* Sets a status, and its reason phrase as the body.  why: one sentence for the header X-Error, also
 * appended to the body unless the status is 400.  NULL: the default sentence of the status. */
void reply_status(reply *a, int status, const char *why);
void reply_text(reply *a, text body);        /* status 200 */
void reply_made(reply *a, const char *type); /* status 200; the body is a->made */
/* Writes the reply's bytes to `out`.  A large body is not copied: `tail` takes its buffer over.
 * Returns false if out of memory. */
bool reply_write(reply *a, const request *q, const char *date, buffer *out, buffer *tail);
#endif
