/* link.h - the way to Redis as those see it who speak: a trip is begun, commands are put,
 * sent, and each answered.  Private. */
#ifndef BF_REDIS_LINK_H
#define BF_REDIS_LINK_H
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

/* What goes between a filter and its server: the commands of a trip, and the client that exchanges
 * them for replies. */
typedef struct bf_link {
    bf_redis_url url;              /* of a host's client only the key */
    const bf_redis_client *client; /* the host's; NULL = a connection of our own: */
    bf_socket *socket;             /* or NULL */
    const char *key, *label;       /* the name that commands and messages are about; borrowed */
    char own_label[BF_LABEL];      /* of url.key */
    bool stands;                   /* no fault since the last begin */
    bf_reply_sink sink;
    bf_redis_replies got; /* of this trip */
    bf_redis_reply reply; /* the one read last: a view of got */
    char *out;            /* the commands of this trip */
    size_t out_len, out_cap, commands;
    size_t open, args;    /* the last command: where it begins, what it has so far */
    bool opened;          /* and is there one whose arguments are not counted yet? */
    bf_redis_part *parts; /* the same commands by the keys that they are about */
    size_t *part_from;    /* where each part begins: offset in out, command number */
    size_t nparts, parts_cap;
    size_t leaves, bytes; /* what the replies of this trip may hold */
    bool apart;           /* see bf_link_apart */
    bool changes;         /* what this trip does may not be done twice */
    bool no_memory;       /* out could not grow */
    uint64_t era;         /* grows with each new connection: what answers may have lost bits */
    bool fresh, sent;     /* this trip: made a new connection, sent bytes */
    bool timed_out;
    pthread_mutex_t mutex;
    int process;         /* bf_process() of the one that the connection belongs to */
    bool one_slot;       /* a trip must keep to keys of one slot: what answers is a cluster */
    bool no_bitfield_ro; /* before Redis 6.2, or renamed */
} bf_link;

/* Through the host's client, or by URL. */
int bf_link_open(bf_link *l, const bf_spec *spec, bf_error *err);
void bf_link_free(bf_link *l);
void bf_link_lock(bf_link *l); /* also: a fork's child lets go of its parent's connection */
void bf_link_unlock(bf_link *l);
void bf_link_label(const bf_link *l, const char *key, char label[BF_LABEL]);
void bf_link_drop(bf_link *l);
int bf_link_no_memory(bf_link *l, bf_error *err); /* both drop it */
int bf_link_nonsense(bf_link *l, bf_error *err);
int bf_link_too_much(bf_link *l, bf_error *err); /* the same: a reply has more than it may have */
/* A trip: begin, put commands, send, one next() a command.  An error of the connection drops it and
 * comes from send, when no reply was read yet; an error reply does not.  What changes nothing is
 * sent once more there, on a new connection, where a fault ended the one that it was sent on; not
 * after a time-out, and not what could not be connected at all. */
enum { BF_LOOKS, BF_CHANGES };
void bf_link_begin(bf_link *l, int changes);
/* Which key the commands put from now on are about (K, its companions in the same slot); borrowed
 * until send.  A trip in which nobody says so is about the link's own key. */
void bf_link_about(bf_link *l, const char *key);
char *bf_link_room(
    bf_link *l, size_t bytes); /* to write at, or NULL; then out_len is advanced by the caller */
void bf_link_count(
    bf_link *l, size_t args); /* a command begins; its reply is small unless more is allowed: */
void bf_link_allow(
    bf_link *l, size_t leaves, size_t bytes); /* so many values, so many bytes of text */
void bf_link_arg(bf_link *l, const void *bytes, size_t len);
char *bf_link_begin_arg(bf_link *l, size_t len); /* where its bytes go, or NULL: then no end */
void bf_link_end_arg(bf_link *l, size_t len);
void bf_link_word(bf_link *l, const char *word);
void bf_link_number(bf_link *l, uint64_t v);
/* A command whose arguments are counted as they come.  kinds has a letter for each: s a text, n a
 * uint64_t, x a uint32_t as 8 hex digits ("" where it is 0), r its 4 bytes, the highest first, b
 * bytes and a size_t. */
void bf_link_say(bf_link *l, const char *kinds, ...);
void bf_link_more(bf_link *l, const char *kinds, ...); /* of the same command */
/* EVAL, in whose script `call` is redis.call; the caller says so many keys next, and then the
 * arguments. */
void bf_link_eval(bf_link *l, const char *script, unsigned keys);
void bf_link_apart(bf_link *l); /* the next one begins apart from those before, also of its key */
void bf_link_push(bf_link *l);  /* what fits now: the server starts while commands are written */
int bf_link_send(bf_link *l, bf_error *err);
void bf_link_next(bf_link *l);                        /* fills l->reply */
int bf_link_refusal(const bf_link *l, bf_error *err); /* the reply as an error; 0 if it is none */
/* One whole trip of what was put; the first error reply is the error.  The last reply stays in
 * l->reply, and next() begins with the first. */
int bf_link_finish(bf_link *l, bf_error *err);
/* A trip of one command, written as by bf_link_say, that changes nothing. */
int bf_link_ask(bf_link *l, bf_error *err, const char *kinds, ...);
/* One whole trip of one script, which answers with a number. */
int bf_link_run(bf_link *l, long long *v, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* decimal; returns the end */
#endif
