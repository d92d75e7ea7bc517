/* socket.h - our own client, for URLs: a connection by socket.  Private. */
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
    const char *label; /* the key as messages show it; the caller sets it before each exchange */
    int fd;            /* -1: not connected */
    bf_tls *tls;       /* NULL: no TLS */
    char *in;          /* buffer for received bytes */
    bf_breaker breaker;
    /* in this exchange: made a new connection, sent bytes, received bytes */
    bool fresh, sent, got_bytes;
    bool timed_out;
    size_t ahead;        /* bytes of the next exchange that are already sent */
    uint64_t connection; /* counts the connections */
    int64_t deadline;    /* ms, monotonic */
    bf_error fault;      /* why the exchange failed; code 0: what it received was refused */
} bf_socket;

bf_socket *bf_socket_new(const bf_redis_url *url); /* url must outlive it; NULL: out of memory */
void bf_socket_free(bf_socket *s);
void bf_socket_close(bf_socket *s);
/* Sends the first len bytes of the next exchange without waiting, if there are enough of them, so
 * that the server works while the other commands are written.  If that exchange is given up, the
 * caller closes the connection. */
void bf_socket_send_ahead(bf_socket *s, const char *bytes, size_t len);
void bf_socket_abandon(bf_socket *s); /* in a forked child: closes the descriptor only, because the
                                         memory may be half changed */

/* socket.c, for tls.c: send and receive before the deadline; bytes, 0 if closed, -1 and errno. Then
 * the faults, which close the connection and return false. */
ssize_t bf_socket_in(bf_socket *s, void *bytes, size_t cap);
int bf_socket_out(bf_socket *s, const char *bytes, size_t len);
bool bf_socket_broken(bf_socket *s, int e);
bool bf_socket_no_memory(bf_socket *s);
/* tls.c: the same through TLS. begin creates s->tls for a new connection. */
bool bf_tls_begin(bf_socket *s);
ssize_t bf_tls_in(bf_socket *s, void *bytes, size_t cap);
int bf_tls_out(bf_socket *s, const char *bytes, size_t len);
/* has it decrypted bytes that bf_tls_in has not returned yet? */
bool bf_tls_has_more(const bf_tls *t);
void bf_tls_free(bf_tls *t); /* without telling the server */
#endif
