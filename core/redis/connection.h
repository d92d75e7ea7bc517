/* connection.h - round trips to Redis: commands are collected and sent, then their replies are read
 * one by one.  Private. */
#ifndef BF_REDIS_CONNECTION_H
#define BF_REDIS_CONNECTION_H
#include "redis/socket.h"
#include <pthread.h>

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
