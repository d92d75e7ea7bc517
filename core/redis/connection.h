/* connection.h - the way to Redis: a round trip is begun, commands are appended and sent, and each
 * reply is read.  Private. */
#ifndef BF_REDIS_CONNECTION_H
#define BF_REDIS_CONNECTION_H
#include "redis/socket.h"
#include <pthread.h>

enum { BF_LABEL = 96 }; /* what messages call a key: no password, no control characters */
/* What every reply may hold (an error's text, a number), and what a companion hash may, fields of
 * others among them. */
enum {
    BF_REPLY_LEAVES = 64,
    BF_REPLY_BYTES = 4096,
    BF_HASH_LEAVES = 4096,
    BF_HASH_BYTES = 1 << 18
};

/* What goes between a filter and its server: the commands of a round trip, and the client that
 * exchanges them for replies. */
typedef struct bf_conn {
    bf_redis_url url;              /* of a host's client only the key and the time-out */
    const bf_redis_client *client; /* the host's, or the socket's */
    bf_socket *socket;             /* NULL: it is a host's client */
    const char *key, *label;       /* the selected key: of commands and of messages; borrowed */
    char own_label[BF_LABEL];      /* of url.key */
    pthread_mutex_t mutex;
    int process;         /* bf_process() of the one that the connection belongs to */
    bool one_slot;       /* a round trip must keep to keys of one slot: the server is a cluster */
    bool no_bitfield_ro; /* the server is older than Redis 6.2, or has renamed the command */
    bool healthy;        /* no fault since the last begin */
    uint64_t connection_id; /* grows with each new connection, whose server may have lost bits */
    /* of this round trip: */
    bf_redis_buffer out, parts; /* the commands; the same by the keys that they are about */
    size_t out_len, nparts, commands;
    size_t open, args;    /* the last command: where it begins, how many arguments it has so far */
    bool opened;          /* they are not counted in its header yet */
    size_t leaves, bytes; /* what the replies may hold */
    bool changes;         /* it must not be sent twice */
    bool new_request;     /* see bf_conn_new_request */
    bool no_memory;       /* out could not grow */
    bool fresh, sent;     /* it made a new connection; it sent bytes */
    bool timed_out;       /* or must not be sent again for another reason */
    bf_reply_sink sink;
    bf_redis_replies got;
    bf_redis_reply reply; /* the one read last */
} bf_conn;

/* Through the host's client, or by URL. */
int bf_conn_open(bf_conn *l, const bf_spec *spec, bf_error *err);
void bf_conn_free(bf_conn *l);
void bf_conn_lock(bf_conn *l); /* also: a fork's child lets go of its parent's connection */
void bf_conn_unlock(bf_conn *l);
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL]);
void bf_conn_drop(bf_conn *l); /* closes a connection that may be out of step */
/* A round trip: begin, write commands, send, one next() per command.  send fails if the connection
 * fails, and no reply is read then; an error reply is a reply.  Commands that only read are sent
 * once more if a fault ended a connection that had worked; never after a time-out. */
enum { BF_READS, BF_WRITES };
void bf_conn_begin(bf_conn *l, int changes);
/* The key that the next commands are about (K; its companion keys are in the same slot); borrowed
 * until send.  Without this call it is the selected key. */
void bf_conn_route(bf_conn *l, const char *key);
void bf_conn_new_request(bf_conn *l); /* the next route begins a new request, also for its key */
/* A command, its arguments separated by one space each: a word as it stands, %s a text, %n a
 * uint64_t, %i an int64_t (BF_NEVER: an empty text), %g a double, %b bytes and a size_t, %x a
 * uint32_t as 8 hex digits (0: an empty text), %r its 4 bytes, the highest first.  Its reply is
 * small unless expect allows more. */
void bf_conn_command(bf_conn *l, const char *format, ...);
void bf_conn_append(bf_conn *l, const char *format, ...); /* more arguments of the same command */
char *bf_conn_begin_arg(bf_conn *l, size_t len); /* returns where its bytes go; NULL: no end_arg */
void bf_conn_end_arg(bf_conn *l, size_t len);
/* Returns where bytes can be written; the caller advances out_len and args.  NULL: no memory. */
char *bf_conn_room(bf_conn *l, size_t bytes);
void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes); /* more values and bytes of text */
/* EVAL, in whose script `call` is redis.call; the caller appends that many keys, then arguments. */
void bf_conn_eval(bf_conn *l, const char *script, unsigned keys);
int bf_conn_send(bf_conn *l, bf_error *err);
void bf_conn_next(bf_conn *l);                        /* fills l->reply */
int bf_conn_refusal(const bf_conn *l, bf_error *err); /* the reply as an error; 0 if it is none */
/* Sends and looks for error replies; the first one is the error.  The last reply stays in l->reply,
 * and next() begins with the first. */
int bf_conn_finish(bf_conn *l, bf_error *err);
/* A round trip of one command that only reads. */
int bf_conn_ask(bf_conn *l, bf_error *err, const char *format, ...);
/* A round trip of one script, whose reply is a number. */
int bf_conn_run_script(bf_conn *l, long long *v, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* decimal; returns the end */
#endif
