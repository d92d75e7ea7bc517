/* connection.h - connections and round trips to Redis. Private.
 *
 *   url.c      address and login          connection.c  round trips: commands and their replies
 *   resp.c     parses replies             socket.c      the client that a URL uses
 *   tls.c      socket.c with TLS          breaker.c     servers that do not answer */
#ifndef BF_REDIS_CONNECTION_H
#define BF_REDIS_CONNECTION_H
#include "base/base.h"
#include "bits/bits.h"
#include "bloomfilter_host.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>

/* ---- url.c ---- */
typedef struct {             /* owns all its strings */
    char *host, *path;       /* one of these two is set */
    char *user, *pass, *key; /* user and pass may be NULL */
    bool tls;                /* rediss:// */
    char *ca, *cert;         /* certificate files, or NULL */
    unsigned port, db;
    double timeout, retry_after; /* in seconds */
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u); /* wipes the password */

/* ---- resp.c: replies as flat arrays (of nested arrays only the leaves are stored), and the
 * sink that receives them from a client ---- */
typedef struct { /* a buffer that is reused */
    void *at;
    size_t cap;
} bf_redis_buffer;
/* Returns a buffer of at least `bytes` bytes with the old content, or NULL: out of memory. Clears
 * the pointer first, so that a child forked at any moment finds a buffer or NULL. */
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
    long long value; /* the value of an integer; for a text, its offset in bf_redis_reply.text */
    size_t len;
} bf_redis_leaf;
typedef struct { /* one reply; valid until the next round trip */
    const bf_redis_leaf *leaves;
    size_t n;
    const char *text;
} bf_redis_reply;

/* The leaves of reply i of a round trip: [from, from + n). The leaves are stored in order of
 * arrival. */
typedef struct {
    size_t from, n;
    bool there;
} bf_reply_range;
typedef struct {
    size_t values, leaves, bytes; /* values: number of leaves and array headers */
} bf_reply_size;
typedef struct {
    bf_redis_buffer leaves, text, ranges;
    bf_reply_size size;             /* size of what is stored so far */
    size_t values_most, bytes_most; /* the maximum sizes */
    bool no_memory, too_much;       /* too_much: more was received than the maximum */
    size_t n, next;                 /* number of replies; index of the next reply to read */
} bf_redis_replies;
void bf_replies_free(bf_redis_replies *r);
bf_redis_reply bf_replies_next(bf_redis_replies *r);

/* Returns leaf i as text, or NULL if there is no such leaf or the leaf is not text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
/* the text of a reply that has only one leaf */
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len);
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Returns leaf i, which is an integer or text with digits of this base. Returns INT64_MIN if it
 * is neither. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
/* Makes a text suitable for a message: removes control characters and the arguments of commands. */
void bf_reply_clean(char *text);

/* A sink receives the replies of one round trip. */
struct bf_reply_sink {
    bf_redis_replies *got;
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* ranges left; number of replies received in the first of them */
    int64_t came;             /* replies since the last bf_reply_expect */
    bf_reply_size open;       /* where the reply that is being received begins */
    size_t left;              /* number of its members that are still missing */
    size_t heads;             /* number of nested array headers in it that have no value yet */
    bool pushed;              /* it is a push message of RESP3, not a reply */
    bool too_many;            /* a reply arrived that belongs to no command */
    size_t dropped;           /* number of push messages and unexpected replies */
    uint64_t connection;      /* the newest connection that the client reported */
    bf_redis_buffer rest;     /* the received bytes of an incomplete leaf */
    size_t rest_len;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* Prepares the sink for the replies to `commands` commands, with at most `values` values and
 * `bytes` bytes of text in total. Returns false: out of memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes);
/* returns true if every command has its reply and no bytes are left */
bool bf_sink_complete(const bf_reply_sink *s);

/* ---- breaker.c: after a time-out, calls of this process fail immediately for some time; then
 * one call tries again ---- */
typedef struct {
    uint64_t server;      /* hash of the server's address */
    int64_t retry_after;  /* in ms; 0: no circuit breaker */
    int64_t longest_call; /* in ms; a trial that takes longer counts as dead */
} bf_breaker;
uint64_t bf_breaker_server(const char *host_or_path, unsigned port);
/* Returns true if a call may use the server; the call must then report timed_out or answered.
 * Returns false if the call must fail now; *silent_for is the time in ms since the server
 * stopped answering. connected: the call uses a connection on which this server has answered
 * before. */
bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for);
void bf_breaker_timed_out(const bf_breaker *b, bool connected);
void bf_breaker_answered(
    const bf_breaker *b, bool connected); /* called also after an error reply */

/* ---- socket.c, tls.c ---- */
typedef struct bf_tls bf_tls;
typedef struct {
    bf_redis_client client; /* its ctx is this bf_socket */
    const bf_redis_url *url;
    const char *label; /* the key for messages; the caller sets it before each exchange */
    int fd;            /* -1: not connected */
    bf_tls *tls;       /* NULL: the connection does not use TLS */
    char *in;          /* buffer for received bytes */
    bf_breaker breaker;
    /* this exchange has made a new connection, sent bytes, received bytes */
    bool fresh, sent, got_bytes;
    bool timed_out;
    size_t ahead;        /* number of bytes of the next exchange that were already sent */
    uint64_t connection; /* number of connections made so far */
    int64_t deadline;    /* monotonic time in ms */
    bf_error fault;      /* why the exchange failed; code 0: the sink refused the received bytes */
} bf_socket;

/* *url must exist until bf_socket_free; returns NULL: out of memory */
bf_socket *bf_socket_new(const bf_redis_url *url);
void bf_socket_free(bf_socket *s);
void bf_socket_close(bf_socket *s);
/* Sends the first len bytes of the next exchange without waiting, if they are enough, so that
 * the server works while the caller writes more commands. If that exchange does not take place,
 * the caller closes the connection. */
void bf_socket_send_ahead(bf_socket *s, const char *bytes, size_t len);
/* In a forked child: closes the descriptor and frees nothing, because another thread of the parent
 * may have been changing the memory at the fork. */
void bf_socket_abandon(bf_socket *s);

/* socket.c, for tls.c. bf_socket_in receives before the deadline: returns a number of bytes, 0 if
 * the connection is closed, or -1 and errno. bf_socket_out sends all bytes before the deadline:
 * returns 0, or -1 and errno. bf_socket_broken and bf_socket_no_memory store the fault, close the
 * connection and return false. */
ssize_t bf_socket_in(bf_socket *s, void *bytes, size_t cap);
int bf_socket_out(bf_socket *s, const char *bytes, size_t len);
bool bf_socket_broken(bf_socket *s, int e);
bool bf_socket_no_memory(bf_socket *s);
/* tls.c: the same with TLS. bf_tls_begin creates s->tls for a new connection. */
bool bf_tls_begin(bf_socket *s);
ssize_t bf_tls_in(bf_socket *s, void *bytes, size_t cap);
int bf_tls_out(bf_socket *s, const char *bytes, size_t len);
/* returns true if there are decrypted bytes that bf_tls_in has not returned yet */
bool bf_tls_has_more(const bf_tls *t);
void bf_tls_free(bf_tls *t); /* does not send a message to the server */

/* ---- connection.c ---- */
/* size of a label, which names a key and its server in messages */
enum { BF_LABEL = 96 };
/* Maximum size of a reply: of an ordinary command (BF_REPLY_), and of HGETALL of a companion
 * hash, which may have fields of other programs (BF_HASH_). */
enum {
    BF_REPLY_LEAVES = 64,
    BF_REPLY_BYTES = 4096,
    BF_HASH_LEAVES = 4096,
    BF_HASH_BYTES = 1 << 18
};

/* A connection: the commands of a round trip, and the client that sends them and returns the
 * replies. */
typedef struct bf_conn {
    bf_redis_url url;              /* if the host's client is used, only key and timeout are set */
    const bf_redis_client *client; /* the host's client, or socket->client */
    bf_socket *socket;             /* NULL: the host's client is used */
    const char *key, *label;       /* the selected key, for commands and messages; not owned */
    char own_label[BF_LABEL];      /* the label of url.key */
    pthread_mutex_t mutex;
    int process;   /* bf_process() of the process that owns the connection */
    bool one_slot; /* cluster: all keys of a round trip must be in one slot */
    /* the server does not know BITFIELD_RO (before Redis 6.2, or renamed) */
    bool no_bitfield_ro;
    bool healthy; /* no fault since the exchange began */
    /* number of the connection; a new connection may lead to a server that has lost bits */
    uint64_t connection_id;
    /* the fields below are about the current round trip */
    bf_redis_buffer out, parts; /* bytes of the commands; one bf_redis_part for each request */
    size_t out_len, nparts, commands;
    size_t open, args; /* the last command: its offset, and its number of arguments so far */
    /* the header of the last command is not written yet, because the number of arguments is not
     * known */
    bool opened;
    size_t leaves, bytes; /* maximum number of values and bytes in the replies */
    bool changes;         /* started with BF_WRITES, so it is not sent a second time */
    bool new_request;     /* see bf_conn_new_request */
    bool no_memory;       /* out of memory while the commands were written */
    bool fresh, sent;     /* the exchange made a new connection; the exchange sent bytes */
    bool timed_out;       /* timed out, or must not be repeated for another reason */
    bf_reply_sink sink;
    bf_redis_replies got;
    bf_redis_reply reply; /* the reply that was read last */
} bf_conn;

/* Opens a connection: through the host's client, or to the server in the URL. */
int bf_conn_open(bf_conn *l, const bf_spec *spec, bf_error *err);
void bf_conn_free(bf_conn *l);
void bf_conn_lock(bf_conn *l); /* in a forked child, first replaces the parent's connection */
void bf_conn_unlock(bf_conn *l);
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL]);
/* Closes a connection whose next bytes may be the reply to an earlier command. */
void bf_conn_drop(bf_conn *l);
/* A round trip: call bf_conn_begin, write the commands, call bf_conn_exchange, then call
 * bf_conn_next once for each command. If bf_conn_exchange fails, no reply can be read. An error
 * reply is a reply. Commands that only read are sent once more if a connection breaks that has
 * worked; never after a time-out. */
enum { BF_READS, BF_WRITES };
void bf_conn_begin(bf_conn *l, int changes);
/* Sets the key that the next commands are about, which determines their node in a cluster.
 * Default: the selected key. The string must exist until bf_conn_exchange. */
void bf_conn_route(bf_conn *l, const char *key);
/* the next bf_conn_route starts a new request even if its key is the same */
void bf_conn_new_request(bf_conn *l);
/* Appends a command. The format has arguments separated by one space: literal words, %s text, %n
 * uint64_t, %i int64_t (BF_NEVER: empty), %g double, %b bytes and size_t, %x uint32_t as 8 hex
 * digits (0: empty), %r uint32_t as 4 bytes, big-endian. Call bf_conn_expect if its reply may be
 * large. */
void bf_conn_command(bf_conn *l, const char *format, ...);
/* appends arguments to the last command */
void bf_conn_append(bf_conn *l, const char *format, ...);
/* returns where to write an argument; NULL: do not call bf_conn_end_arg */
char *bf_conn_begin_arg(bf_conn *l, size_t len);
void bf_conn_end_arg(bf_conn *l, size_t len);
/* Returns space for `bytes` bytes of output, or NULL: out of memory. The caller adds what it
 * used to out_len and args. */
char *bf_conn_room(bf_conn *l, size_t bytes);
/* the reply may have this many more values and bytes of text */
void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes);
/* Appends EVAL of a script that calls redis.call under the name `call`. The caller then appends
 * the keys and the arguments. */
void bf_conn_eval(bf_conn *l, const char *script, unsigned keys);
int bf_conn_exchange(bf_conn *l, bf_error *err);
void bf_conn_next(bf_conn *l); /* sets l->reply to the next reply */
/* returns 0, or the error code if l->reply is an error reply */
int bf_conn_refusal(const bf_conn *l, bf_error *err);
/* Sends the commands. Returns the first error reply as an error. Afterwards l->reply is the last
 * reply, and bf_conn_next starts again with the first. */
int bf_conn_finish(bf_conn *l, bf_error *err);
/* A round trip with one command that only reads. */
int bf_conn_query(bf_conn *l, bf_error *err, const char *format, ...);
/* A round trip with one script, which returns a number. */
int bf_conn_run_script(bf_conn *l, long long *v, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* writes v in decimal at `at`; returns the end */
#endif
