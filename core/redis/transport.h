/* transport.h - what moves a link's commands and replies: a connection of our own, in the clear
 * or by TLS, or the host's client.  Private. */
#ifndef BF_REDIS_TRANSPORT_H
#define BF_REDIS_TRANSPORT_H
#include "parts/filter.h"
#include "redis/link.h"
#include <sys/types.h>

/* What moves commands and replies.  Each is called with the link locked. */
struct bf_transport {
    void (*begin)(bf_link *l);                  /* NULL = nothing */
    void (*about)(bf_link *l, const char *key); /* NULL = it makes no difference */
    void (*push)(bf_link *l);                   /* NULL = not before they are exchanged */
    /* All commands there and all replies back, to got; may be called again for the same. */
    int (*exchange)(bf_link *l, bf_error *err);
    void (*drop)(bf_link *l);
    void (*abandon)(bf_link *l); /* in a fork's child: what may be half changed is left alone */
    void (*free)(bf_link *l);    /* NULL = nothing */
};

/* socket.c: what passes the socket before the trip's deadline: bytes, 0 = closed, -1 and errno.  A
 * fault ends the connection. */
ssize_t bf_socket_in(bf_link *l, void *bytes, size_t cap);
int bf_socket_out(bf_link *l, const char *bytes, size_t len);
int bf_socket_broken(bf_link *l, int e, bf_error *err);
/* tls.c: the same through TLS; begin makes l->tls of a fresh connection. */
int bf_tls_begin(bf_link *l, bf_error *err);
ssize_t bf_tls_in(bf_link *l, void *bytes, size_t cap);
int bf_tls_out(bf_link *l, const char *bytes, size_t len);
void bf_tls_free(bf_tls *t); /* tells the other side nothing */

int bf_client_open(
    bf_link *l, const bf_spec *spec, bf_error *err); /* client.c: through the host's client */
int bf_socket_open(bf_link *l, const bf_spec *spec, bf_error *err); /* socket.c: by URL */
int bf_link_ready(bf_link *l, int rc); /* the end of both: rc is what came of it so far */
#endif
