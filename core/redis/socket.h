/* socket.h - the client of a URL: a connection of our own.  Private. */
#ifndef BF_REDIS_SOCKET_H
#define BF_REDIS_SOCKET_H
#include "redis/breaker.h"
#include "redis/resp.h"
#include "redis/url.h"
#include <sys/types.h>

typedef struct bf_tls bf_tls;
typedef struct {
    bf_redis_client client; /* its ctx is this socket */
    const bf_redis_url *url;
    const char *label; /* what messages call the key: the caller sets it before each exchange */
    int fd;            /* -1: not connected */
    bf_tls *tls;       /* NULL: no TLS */
    char *in;          /* what was just received */
    bf_breaker breaker;
    bool fresh, sent, got_bytes; /* this exchange: made a new connection, sent bytes, got bytes */
    bool timed_out;
    uint64_t connection; /* grows with each new one */
    int64_t deadline;    /* ms, monotonic */
    bf_error fault;      /* why the exchange failed; code 0: because of what it received */
} bf_socket;

bf_socket *bf_socket_new(const bf_redis_url *url); /* url must outlive it; NULL: no memory */
void bf_socket_free(bf_socket *s);
void bf_socket_close(bf_socket *s);
void bf_socket_abandon(bf_socket *s); /* in a fork's child: its memory may be half changed */

/* socket.c for tls.c: what passes the socket before the deadline: bytes, 0: closed, -1 and errno;
 * and the faults, which close the connection and return false. */
ssize_t bf_socket_in(bf_socket *s, void *bytes, size_t cap);
int bf_socket_out(bf_socket *s, const char *bytes, size_t len);
bool bf_socket_broken(bf_socket *s, int e);
bool bf_socket_no_memory(bf_socket *s);
/* tls.c: the same through TLS; begin makes s->tls for a new connection. */
bool bf_tls_begin(bf_socket *s);
ssize_t bf_tls_in(bf_socket *s, void *bytes, size_t cap);
int bf_tls_out(bf_socket *s, const char *bytes, size_t len);
bool bf_tls_has_more(const bf_tls *t); /* Has it received bytes that bf_tls_in did not give? */
void bf_tls_free(bf_tls *t);           /* does not tell the server */
#endif
