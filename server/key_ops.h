/* key_ops.h - what requests do to a filter, between their paths (routes.c) and the filters:
 *
 *   routes.c --path--> key_ops.c (keys) or filter_ops.c (whole filters) --> filter_ref.c (the
 * filter of a name)
 *
 * Knows replies and filters; knows neither sockets nor the parser. */
#ifndef BFD_KEY_OPS_H
#define BFD_KEY_OPS_H
#include "server.h"

typedef enum { VERB_TEST, VERB_ADD, VERB_REMOVE, VERB_COUNT } verb;
typedef struct {
    verb verb;
    bool one; /* a single key: key; else a body of keys in this form */
    bf_key key;
    text body;
    int form;
} call;
typedef void action(worker *w, served *f, const call *c, reply *a);
static inline bool changes(const call *c) { return c->verb == VERB_ADD || c->verb == VERB_REMOVE; }

/* filter_ref.c */
void fail(worker *w, text name, reply *a, int code, bf_error *err);
void fail_on(worker *w, const served *f, reply *a, int code, bf_error *err);
/* fail() for PUT, DELETE, merge and removal, for which a mismatch is a 409 and not a 503. */
void conflict(worker *w, text name, reply *a, int code, bf_error *err);
bool unanswered(const worker *w); /* Redis hangs: do not send it requests */
void start_again(worker *w, reply *a);
/* Calls `what` with the filter of this name, again if the filter was replaced meanwhile. */
void with(worker *w, text name, action *what, const call *c, reply *a);

/* key_ops.c */
void one_key(worker *w, text name, text raw, verb v, reply *a);
void batch(worker *w, text name, const request *q, verb v, reply *a);

/* filter_ops.c */
void put(worker *w, text name, text query, reply *a);
void drop(worker *w, text name, reply *a);
void merge(worker *w, text name, const request *q, reply *a);
void image(worker *w, text name, reply *a);
#endif
