/* key_ops.h - the functions that answer requests about filters.
 *
 *   routes.c --> key_ops.c (keys), filter_ops.c (complete filters) --> filter_ref.c (one filter) */
#ifndef BFD_KEY_OPS_H
#define BFD_KEY_OPS_H
#include "server.h"

typedef enum { VERB_TEST, VERB_ADD, VERB_REMOVE, VERB_COUNT } verb;
typedef struct {
    verb verb;
    bool one; /* true: one key, in `key`; false: a batch, in `body` and `form` */
    bf_key key;
    text body;
    int form;           /* KEYS_LINES, KEYS_FRAMED or KEYS_COMMANDS */
    size_t count;       /* KEYS_COMMANDS: number of keys */
    size_t prefix;      /* KEYS_COMMANDS: bytes before each key */
    double seconds;     /* argument of filter_expire; 0: never */
    const char *format; /* of filter_image_on; NULL: ours */
} call;
/* How a request is answered.  FAST: by a worker, if the filter is open and not locked.  SLOW: by a
 * job, because the time depends on the size of filters.  WHOLE: as SLOW, and the request may keep
 * Redis busy. */
enum { FAST, SLOW, WHOLE };
typedef void action(worker *w, served *f, const call *c, reply *a);
static inline bool changes(const call *c) { return c->verb == VERB_ADD || c->verb == VERB_REMOVE; }

/* filter_ref.c */
void reply_error(worker *w, text name, reply *a, int code, bf_error *err);
void reply_filter_error(worker *w, const served *f, reply *a, int code, bf_error *err);
/* As reply_error(), but BF_EMISMATCH becomes 409, not 503.  For requests whose parameters, image or
 * kind of operation may not fit the filter. */
void reply_conflict(worker *w, text name, reply *a, int code, bf_error *err);
/* True if the filters are in Redis and Redis hangs. */
bool redis_hangs(const worker *w);
void reply_reset(worker *w, reply *a);
/* Calls `what` with the filter of this name.  Repeats the call if another process replaced the
 * filter meanwhile. */
void with_filter(worker *w, text name, action *what, const call *c, reply *a);

/* key_ops.c */
void key_single(worker *w, text name, text raw, verb v, reply *a);
void key_batch(worker *w, text name, const request *q, verb v, reply *a);
/* For KEYS_COMMANDS: a->made gets one byte per key, as in the body of POST.  After an error,
 * a->answers has the bytes of the keys before the one at fault. */
action key_batch_on;

/* filter_ops.c */
typedef void filter_op(worker *w, text name, text query, const request *q, reply *a);
filter_op filter_put, filter_delete, filter_merge, filter_image, filter_upload, filter_clear,
    filter_expire;
/* Reserves memory for an image or a piece in a->made.  Returns false after setting the status
 * 507. */
bool image_fits(worker *w, uint64_t bytes, reply *a);
action filter_image_on; /* a->body gets the bytes of the filter */
#endif
