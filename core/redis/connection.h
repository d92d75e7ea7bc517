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
typedef struct {             /* bf_redis_url_free frees all strings */
    char *host, *path;       /* one of these two is set */
    char *user, *pass, *key; /* user and pass may be NULL */
    bool tls;                /* rediss:// */
    char *ca, *cert;         /* certificate files, or NULL */
    unsigned port, db;
    double timeout, retry_after; /* in seconds */
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u); /* wipes the password */

/* ---- resp.c: replies, and the sink that receives them. A reply is stored as a flat array of its
 * leaves: integers, texts, errors and nils. The nesting of arrays is not stored ---- */
typedef struct { /* a buffer that is reused */
    void *at;
    size_t cap; /* in bytes */
} bf_redis_buffer;
/* Enlarges the buffer to at least `bytes` bytes and returns it; NULL: out of memory, the buffer is
 * unchanged. Clears the pointer first: a child forked at any moment finds a valid buffer or
 * NULL. */
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
enum { BF_ECHO = 16 }; /* hexadecimal digits of the number in an ECHO */
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

typedef struct { /* where the leaves of a reply are in bf_redis_replies.leaves */
    size_t from, n;
    bool there; /* the reply has arrived */
    bool echo;  /* the command is an ECHO that the exchange has appended */
} bf_reply_range;
typedef struct {
    size_t values, leaves, bytes; /* values: leaves and array headers; bytes: of text */
} bf_reply_size;
typedef struct {
    bf_redis_buffer leaves, text, ranges;
    bf_reply_size size;             /* size of what is stored so far */
    size_t values_most, bytes_most; /* maximum of size.values and size.bytes */
    bool no_memory, too_much;       /* too_much: the server sent more than the maximum */
    size_t n, next;                 /* n: number of replies; next: index of the next to read */
} bf_redis_replies;
void bf_replies_free(bf_redis_replies *r);
bf_redis_reply bf_replies_next(bf_redis_replies *r); /* skips replies to ECHO */

/* Returns leaf i as text, or NULL if there is no such leaf or the leaf is not text. */
const char *bf_reply_text(const bf_redis_reply *r, size_t i, size_t *len);
/* Returns the text of a reply that has only one leaf; NULL: any other reply. */
const char *bf_reply_only_text(const bf_redis_reply *r, size_t *len);
/* Sets *v to leaf i. Returns false if leaf i is not an integer. */
bool bf_reply_integer(const bf_redis_reply *r, size_t i, long long *v);
/* Returns leaf i, an integer or a text of digits in this base. INT64_MIN: leaf i is neither. */
int64_t bf_reply_number(const bf_redis_reply *r, size_t i, int base);
/* Returns true if a leaf is an error; text then receives its message. */
bool bf_reply_error(const bf_redis_reply *r, char *text, size_t cap);
/* For messages: replaces control characters, and cuts off the arguments of commands. */
void bf_reply_clean(char *text);

/* A sink receives the replies of one round trip. */
struct bf_reply_sink {
    bf_redis_replies *got;
    const bf_redis_range *expected;
    bf_redis_range every;
    size_t nexpected, inside; /* nexpected: ranges left; inside: complete replies in the first */
    int64_t came;             /* number of complete replies since the last bf_reply_expect */
    bf_reply_size open;       /* got->size at the beginning of the current reply */
    size_t left;              /* number of values that the current reply still needs */
    size_t heads;             /* number of array headers since the last leaf */
    bool pushed;              /* the current reply is a push message of RESP3 */
    bool too_many;            /* a reply arrived that belongs to no command */
    char echo[BF_ECHO + 1];   /* the number that the commands ECHO of this round trip have sent */
    bool out_of_step;         /* another text than this number arrived as a reply to ECHO */
    bool echo_refused;        /* an error arrived as a reply to ECHO */
    size_t dropped;           /* number of push messages and unexpected replies */
    uint64_t connection;      /* the newest connection that the client reported */
    bf_redis_buffer rest;     /* the received bytes of an incomplete value */
    size_t rest_len;
    int sys_errno;
    char fault[BF_FAULT_BYTES];
};
/* Prepares the sink for the replies to `commands` commands. values, bytes: maximum of all replies
 * together. Returns false: out of memory. */
bool bf_sink_begin(
    bf_reply_sink *s, bf_redis_replies *got, size_t commands, size_t values, size_t bytes);
void bf_sink_expect_echo(bf_reply_sink *s, size_t i); /* command i is an ECHO of s->echo */
/* returns true if every command has its reply and no bytes are left */
bool bf_sink_complete(const bf_reply_sink *s);
/* Returns false if a reply to ECHO is missing although another command has a reply that is no
 * error. */
bool bf_sink_in_step(const bf_reply_sink *s);

/* ---- breaker.c ---- */
typedef struct {
    uint64_t server;      /* hash of the server's address */
    int64_t retry_after;  /* in ms; 0: no circuit breaker */
    int64_t longest_call; /* in ms; after this time, another call may try */
} bf_breaker;
uint64_t bf_breaker_server(const char *host_or_path, unsigned port);
/* Returns true if a call may use the server. The call must then report timed_out or answered.
 * Returns false if the call must fail; *silent_for is the time in ms since the last time-out.
 * connected: the call has a connection on which the server has answered before. */
bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for);
void bf_breaker_timed_out(const bf_breaker *b, bool connected);
/* called after every other result, also after an error reply */
void bf_breaker_answered(const bf_breaker *b, bool connected);

/* ---- socket.c, tls.c ---- */
typedef struct bf_tls bf_tls;
typedef struct {
    bf_redis_client client; /* its ctx is this bf_socket */
    const bf_redis_url *url;
    const char *label; /* the key for messages; the caller sets the label before each exchange */
    int fd;            /* -1: not connected */
    bf_tls *tls;       /* NULL: the connection does not use TLS */
    char *in;          /* buffer for received bytes */
    bf_breaker breaker;
    /* this exchange has opened a new connection (fresh), sent or received bytes, timed out */
    bool fresh, sent, got_bytes, timed_out;
    size_t ahead;        /* number of bytes of the next exchange that are already sent */
    uint64_t connection; /* number of connections made so far */
    int64_t deadline;    /* monotonic time in ms */
    bf_error fault;      /* why the exchange failed; code 0: the sink refused the received bytes */
} bf_socket;

/* Returns NULL if out of memory. *url must exist until bf_socket_free. */
bf_socket *bf_socket_new(const bf_redis_url *url);
void bf_socket_free(bf_socket *s);
void bf_socket_close(bf_socket *s);
/* Sends the first len bytes of the next exchange without waiting, unless they are few. So the
 * server works while the caller writes more commands. If the exchange does not take place, the
 * caller closes the connection. */
void bf_socket_send_ahead(bf_socket *s, const char *bytes, size_t len);
/* For a forked child: closes the descriptor but frees no memory, because another thread of the
 * parent may have been changing the memory at the fork. */
void bf_socket_abandon(bf_socket *s);

/* socket.c, for tls.c. bf_socket_in receives some bytes: returns their number, 0 if the connection
 * is closed, or -1 and errno. bf_socket_out sends all bytes: returns 0, or -1 and errno. Both fail
 * after the deadline. bf_socket_broken and bf_socket_no_memory store the fault, close the
 * connection and return false. */
ssize_t bf_socket_in(bf_socket *s, void *bytes, size_t cap);
int bf_socket_out(bf_socket *s, const char *bytes, size_t len);
bool bf_socket_broken(bf_socket *s, int e);
bool bf_socket_no_memory(bf_socket *s);
/* tls.c: the same with TLS. bf_tls_begin creates s->tls for a new connection. */
bool bf_tls_begin(bf_socket *s);
ssize_t bf_tls_in(bf_socket *s, void *bytes, size_t cap);
int bf_tls_out(bf_socket *s, const char *bytes, size_t len);
/* returns true if bf_tls_in has not returned all received bytes, decrypted or not, yet */
bool bf_tls_has_more(const bf_tls *t);
void bf_tls_free(bf_tls *t); /* does not send a message to the server */

/* ---- connection.c ---- */
enum { BF_LABEL = 96 }; /* size of a label, which names a key and its server in messages */
/* Maximum size of the reply to an ordinary command (BF_REPLY_), and to HGETALL of a companion hash
 * (BF_HASH_), to which other programs may add fields. */
enum {
    BF_REPLY_LEAVES = 64,
    BF_REPLY_BYTES = 4096,
    BF_HASH_LEAVES = 4096,
    BF_HASH_BYTES = 1 << 18
};

/* A connection: a client, and the commands and replies of the current round trip. */
typedef struct bf_conn {
    bf_redis_url url;              /* with a host's client, only key and timeout are set */
    const bf_redis_client *client; /* the host's client, or socket->client */
    bf_socket *socket;             /* NULL: a host's client is used */
    const char *key, *label;       /* the selected key: its name, and its label for messages */
    char own_label[BF_LABEL];      /* the label of url.key */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    bool locked;   /* by bf_conn_lock; protected by mutex */
    int process;   /* bf_process() of the process that uses the connection */
    bool one_slot; /* cluster: all keys of a round trip must be in one slot */
    /* the server does not know BITFIELD_RO (before Redis 6.2, or renamed) */
    bool no_bitfield_ro;
    bool healthy;           /* the last exchange ended with its replies (and echoes) */
    uint64_t connection_id; /* changes with each new connection to the server */
    /* the fields below are about the current round trip */
    bf_redis_buffer out, parts; /* out: bytes of the commands; parts: bf_redis_part per request */
    size_t out_len, nparts, commands, echoes; /* echoes: number of commands ECHO */
    size_t open, args; /* the last command: open: its offset; args: number of arguments so far */
    bool opened; /* the header of the last command, with its number of arguments, is missing */
    size_t leaves, bytes; /* maximum size of all replies: values, and bytes of text */
    bool changes;         /* started with BF_WRITES, so the commands are not sent a second time */
    bool new_request;     /* see bf_conn_new_request */
    bool no_memory;       /* out of memory while the commands were written */
    bool fresh, sent;     /* the exchange opened a new connection (fresh); it sent bytes (sent) */
    bool timed_out;       /* the commands must not be sent again: a time-out or a similar fault */
    bf_reply_sink sink;
    bf_redis_replies got;
    bf_redis_reply reply; /* the reply that was read last */
    uint64_t echo_number; /* of the next ECHO; 0: not drawn yet */
} bf_conn;

/* Prepares a connection through the host's client, or to the server in the URL. Sends nothing. */
int bf_conn_open(bf_conn *l, const bf_spec *spec, bf_error *err);
void bf_conn_free(bf_conn *l);
/* Waits up to BF_PATIENCE seconds. In a forked child, first closes the parent's connection. */
int bf_conn_lock(bf_conn *l, bf_error *err);
void bf_conn_unlock(bf_conn *l);
/* Writes the name of the key and its server for messages. */
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL]);
/* Closes a connection whose next bytes may be the reply to an earlier command. */
void bf_conn_drop(bf_conn *l);
/* A round trip: call bf_conn_begin, write the commands, call bf_conn_exchange, then call
 * bf_conn_next once for each command. If bf_conn_exchange fails, there are no replies. An error
 * reply is a reply, too. If a connection that has worked breaks, commands that only read are sent
 * once more. After a time-out, no command is sent again. */
enum { BF_READS, BF_WRITES };
void bf_conn_begin(bf_conn *l, int changes);
/* Sets the Redis key that determines the cluster node for the next commands. Default: the selected
 * key. The string must exist until bf_conn_exchange. */
void bf_conn_route(bf_conn *l, const char *key);
/* the next bf_conn_route starts a new request even if its key is the same */
void bf_conn_new_request(bf_conn *l);
/* For bf_conn_exchange: ends the last request; writes a fresh number into the ECHOs of the requests
 * to a host's client. */
void bf_conn_end(bf_conn *l);
void bf_conn_fresh_echo(bf_conn *l);
/* Appends a command. The format has arguments separated by one space: literal words, %s text, %n
 * uint64_t, %i int64_t (BF_NEVER: empty), %g double, %b bytes and size_t, %x uint32_t as 8 hex
 * digits (0: empty), %r uint32_t as 4 bytes, big-endian. If the reply may be large, call
 * bf_conn_expect, too. */
void bf_conn_command(bf_conn *l, const char *format, ...);
/* appends arguments to the last command */
void bf_conn_append(bf_conn *l, const char *format, ...);
/* Returns where to write an argument; NULL: out of memory, do not call bf_conn_end_arg. */
char *bf_conn_begin_arg(bf_conn *l, size_t len);
void bf_conn_end_arg(bf_conn *l, size_t len);
/* Returns space for `bytes` bytes of output; NULL: out of memory. The caller increases out_len and
 * args by what it has written. */
char *bf_conn_room(bf_conn *l, size_t bytes);
/* allows the replies this many more values and bytes of text */
void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes);
/* Appends EVAL of a script, in which `call` is redis.call. The caller then appends the keys and the
 * arguments. */
void bf_conn_eval(bf_conn *l, const char *script, unsigned keys);
int bf_conn_exchange(bf_conn *l, bf_error *err); /* sends the commands; returns 0 or an error */
void bf_conn_next(bf_conn *l);                   /* sets l->reply to the next reply */
/* returns 0, or the error code if l->reply is an error reply */
int bf_conn_refusal(const bf_conn *l, bf_error *err);
/* Sends the commands. Returns the first error reply as an error. If there is none, l->reply is the
 * last reply. Afterwards bf_conn_next starts with the first reply. */
int bf_conn_finish(bf_conn *l, bf_error *err);
/* bf_conn_begin, one command that only reads, and bf_conn_finish */
int bf_conn_query(bf_conn *l, bf_error *err, const char *format, ...);
/* bf_conn_finish; sets *v to the number that the script, the last command, returned */
int bf_conn_run_script(bf_conn *l, long long *v, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* writes v in decimal at `at`; returns the end */
#endif
