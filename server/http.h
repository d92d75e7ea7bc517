/* http.h - a request as the routes see it, and the reply they give.  Knows no socket and no parser.
 */
#ifndef BFD_HTTP_H
#define BFD_HTTP_H
#include "bytes.h"

enum { LARGE = 64 << 10 };              /* bodies from here on are not copied */
enum { GET, POST, PUT, DELETE, OTHER }; /* HEAD is GET with head set */

typedef struct {
    int method;
    bool head, keep_alive, old;   /* old: HTTP/1.0 */
    text target, path, authority; /* authority: of http://authority/path, else nothing */
    text type, authorization, host, origin, referer, site, body;
} request;

typedef struct {
    int status;
    bool defer; /* a job must do it, or the rest of it */
    /* How far keys got that a job goes on with: made has the answers of those that are done, of the
     * filter with this serial number.  Of so many further ones the bytes behind those are 1 if the
     * key was new, though they must be added again. */
    uint64_t serial;
    size_t half;
    const char *type; /* Content-Type, a literal           */
    text body;        /* a literal, or inside `made`       */
    buffer made;      /* owned: whoever sends it drops it  */
    uint64_t held;    /* of made, in server.buffered       */
    bool understood;  /* its path is one that is served    */
    bool ends;        /* the connection ends with it       */
    /* further header lines, each \r\n.  Last: of it only the first byte need be zeroed */
    char more[256];
} reply;

const char *http_reason(int status);
/* The status with its own words as the body; why, if not NULL, goes to the header X-Error, and
 * behind the words of all but 400. */
void reply_status(reply *a, int status, const char *why);
void reply_text(reply *a, text body);        /* 200 */
void reply_made(reply *a, const char *type); /* 200, the body is in made */
/* The reply as it goes over the wire, without its body where that is large: then `tail` takes it
 * over. */
bool reply_write(reply *a, const request *q, const char *date, buffer *out, buffer *tail);
#endif
