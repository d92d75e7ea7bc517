/* connection.h - the way to Redis, and what it is made of.  Private.
 *
 *   url.c      address and login          connection.c  round trips: commands and their replies
 *   resp.c     the protocol, both ways    socket.c      the client of a URL
 *   tls.c      the same through TLS       breaker.c     servers that do not answer */
#ifndef BF_REDIS_CONNECTION_H
#define BF_REDIS_CONNECTION_H
#include "base/base.h"
#include "bits/bits.h"
#include "bloomfilter_host.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>

/* ---- url.c ---- */
typedef struct {             /* owns all strings */
    char *host, *path;       /* one of the two is set */
    char *user, *pass, *key; /* user and pass may be NULL */
    bool tls;                /* rediss:// */
    char *ca, *cert;         /* certificate files, or NULL */
    unsigned port, db;
    double timeout, retry_after; /* s */
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u); /* wipes the password */

/* ---- resp.c: replies as flat arrays (of nested arrays only the leaves are kept), and the sink
 * into which a client puts them ---- */
typedef struct { /* a reused buffer */
    void *at;
    size_t cap;
} bf_redis_buffer;
/* Returns at least so many bytes; NULL: out of memory.  The pointer is cleared first: a child
 * forked at any moment finds a buffer or NULL. */
static inline void *bf_redis_room(bf_redis_buffer *b, size_t bytes)
{
    void *old = b->at;
    if (old && bytes <= b->cap) return old;
    b->at = NULL;
    bf_fence();
    void *more = realloc(old, 2 * bytes + 64);
    if (more) b->cap = 2 * bytes + 64;
    bf_fence();
    b->at = more ? more : old;
    return more;
}

enum { BF_FAULT_BYTES = 76 };
enum { BF_LEAF_INTEGER, BF_LEAF_TEXT, BF_LEAF_ERROR, BF_LEAF_NIL };
typedef struct {
    int type;
    long long value; /* an integer's value; for a text, where it begins in `text` */
    size_t len;
} bf_redis_leaf;
typedef struct { /* one reply; borrowed until the next round trip */
    const bf_redis_leaf *leaves;
    size_t n;
    const char *text;
} bf_redis_reply;

/* Reply number i of a round trip is the leaves [from, from + n), in order of arrival. */
typedef struct {
    size_t from, n;
    bool there;
} bf_reply_range;
typedef struct {
    size_t values, leaves, bytes; /* values: leaves and array headers */
} bf_reply_size;
typedef struct {
    bf_redis_buffer leaves, text, ranges;
    bf_reply_size size;             /* size of what is kept so far */
    size_t values_most, bytes_most; /* the allowed size */
    bool no_memory, too_much;       /* too_much: more arrived than was allowed */
    size_t n, next;                 /* number of replies; index of the next to read */
} bf_redis_replies;
void bf_replies_free(bf_redis_replies *r);
bf_redis_reply bf_replies_next(bf_redis_replies *r);

/* Returns leaf i as text; NULL if there is no such leaf or it is not text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
/* text of a reply with a single leaf */
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len);
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Leaf i, an integer or text with digits of this base; INT64_MIN if it is
 * neither. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
/* Removes control characters, and the arguments of commands, from a text for a message. */
void bf_reply_clean(char *text);

/* Receives the replies of one round trip. */
struct bf_reply_sink {
    bf_redis_replies *got;
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* ranges left; replies received in the first of them */
    int64_t came;             /* replies since the last expect */
    bf_reply_size open;       /* where the reply that is being received begins */
    size_t left;              /* members of it that are still missing */
    size_t heads;             /* nested array headers in it without a value so far */
    bool pushed;              /* a push message of RESP3, not a reply */
    bool too_many;            /* a reply arrived that no command asked for */
    size_t dropped;           /* push messages and unexpected replies */
    uint64_t connection;      /* the newest connection that the client reported */
    bf_redis_buffer rest;     /* received bytes of an incomplete leaf */
    size_t rest_len;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* Prepares the sink for the replies to `commands` commands, with at most so many values and bytes
 * of text in all.  False: out of memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes);
/* has every command its reply, and is nothing left over? */
bool bf_sink_complete(const bf_reply_sink *s);

/* ---- breaker.c: after a time-out, calls of this process fail immediately for a while; then one of
 * them tries again ---- */
typedef struct {
    uint64_t server;      /* hash of the server's address */
    int64_t retry_after;  /* ms; 0: no circuit breaker */
    int64_t longest_call; /* ms; a trial that takes longer counts as dead */
} bf_breaker;
uint64_t bf_breaker_server(const char *host_or_path, unsigned port);
/* connected: the call uses a connection on which this server has answered before.  Returns true if
 * the call may go on; it must then report timed_out or answered.  Returns false if it must fail
 * now; *silent_for is the time in ms since the server stopped answering. */
bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for);
void bf_breaker_timed_out(const bf_breaker *b, bool connected);
void bf_breaker_answered(
    const bf_breaker *b, bool connected); /* also called after an error reply */

/* ---- socket.c, tls.c ---- */
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

/* ---- connection.c ---- */
enum { BF_LABEL = 96 }; /* a key as messages show it: no password, no control characters */
/* The largest reply that is read: of an ordinary command, and of HGETALL of a companion hash, which
 * may have fields of other programs. */
enum {
    BF_REPLY_LEAVES = 64,
    BF_REPLY_BYTES = 4096,
    BF_HASH_LEAVES = 4096,
    BF_HASH_BYTES = 1 << 18
};

/* A connection: the commands of a round trip, and the client that exchanges them for replies. */
typedef struct bf_conn {
    bf_redis_url url;              /* for a host's client only key and timeout are set */
    const bf_redis_client *client; /* the host's client, or the socket's */
    bf_socket *socket;             /* NULL: a host's client is used */
    const char *key, *label;       /* the selected key, for commands and messages; borrowed */
    char own_label[BF_LABEL];      /* of url.key */
    pthread_mutex_t mutex;
    int process;            /* bf_process() of the process that owns the connection */
    bool one_slot;          /* a cluster: the keys of a round trip must be in one slot */
    bool no_bitfield_ro;    /* the server has no BITFIELD_RO (before Redis 6.2, or renamed) */
    bool healthy;           /* no fault since begin */
    uint64_t connection_id; /* counts the connections; a new one may lead to a server that has lost
                               bits */
    /* the rest is about the current round trip */
    bf_redis_buffer out, parts; /* bytes of the commands; bf_redis_part for each key */
    size_t out_len, nparts, commands;
    size_t open, args;    /* the last command: its offset and its number of arguments so far */
    bool opened;          /* true: its header still lacks the number of arguments */
    size_t leaves, bytes; /* the most values and bytes that the replies may contain */
    bool changes;         /* begun as BF_WRITES: it is not sent a second time */
    bool new_request;     /* see bf_conn_new_request */
    bool no_memory;       /* out of memory while it was written */
    bool fresh, sent;     /* made a new connection; sent bytes */
    bool timed_out;       /* timed out, or must not be repeated for another reason */
    bf_reply_sink sink;
    bf_redis_replies got;
    bf_redis_reply reply; /* the reply that was read last */
} bf_conn;

/* Opens a connection through the host's client, or by URL. */
int bf_conn_open(bf_conn *l, const bf_spec *spec, bf_error *err);
void bf_conn_free(bf_conn *l);
void bf_conn_lock(bf_conn *l); /* in a forked child it first gives up the parent's connection */
void bf_conn_unlock(bf_conn *l);
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL]);
/* closes a connection whose next bytes may belong to an earlier command */
void bf_conn_drop(bf_conn *l);
/* A round trip: begin, write commands, send, then next() once per command.  If send fails, no reply
 * is read.  An error reply is a reply.  Commands that only read are sent once more if a working
 * connection breaks; never after a time-out. */
enum { BF_READS, BF_WRITES };
void bf_conn_begin(bf_conn *l, int changes);
/* Sets the key that the next commands are about, which decides their node in a cluster (default:
 * the selected key).  Borrowed until send. */
void bf_conn_route(bf_conn *l, const char *key);
/* the next route begins a new request even if its key is the same */
void bf_conn_new_request(bf_conn *l);
/* Appends a command.  The format has arguments separated by one space: literal words, %s text, %n
 * uint64_t, %i int64_t (BF_NEVER: empty), %g double, %b bytes and size_t, %x uint32_t as 8 hex
 * digits (0: empty), %r its 4 bytes, big-endian.  Its reply is small unless bf_conn_expect allows
 * more. */
void bf_conn_command(bf_conn *l, const char *format, ...);
/* appends arguments to the same command */
void bf_conn_append(bf_conn *l, const char *format, ...);
/* returns where to write the argument; NULL: do not call end_arg */
char *bf_conn_begin_arg(bf_conn *l, size_t len);
void bf_conn_end_arg(bf_conn *l, size_t len);
/* Returns free output bytes, NULL if out of memory.  The caller adds to out_len and args. */
char *bf_conn_room(bf_conn *l, size_t bytes);
/* allows the reply more values and bytes of text */
void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes);
/* Appends EVAL of a script that calls redis.call as `call`.  The caller appends the keys, then the
 * arguments. */
void bf_conn_eval(bf_conn *l, const char *script, unsigned keys);
int bf_conn_send(bf_conn *l, bf_error *err);
void bf_conn_next(bf_conn *l); /* fills l->reply */
/* if the reply is an error, returns its code; else 0 */
int bf_conn_refusal(const bf_conn *l, bf_error *err);
/* Sends the commands and returns the first error reply as an error. l->reply is the last reply;
 * next() starts again with the first. */
int bf_conn_finish(bf_conn *l, bf_error *err);
/* A round trip of one command that only reads. */
int bf_conn_query(bf_conn *l, bf_error *err, const char *format, ...);
/* A round trip of one script that returns a number. */
int bf_conn_run_script(bf_conn *l, long long *v, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* writes v in decimal; returns the end */
#endif
