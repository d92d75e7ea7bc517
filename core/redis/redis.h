/* redis.h - what the files of the Redis home share.  Private.
 *
 *   url.c       storage text -> where and as whom            reply.c     what a reply is made of
 *   link.c      commands into a buffer, a trip, fork         socket.c    a connection of our own (hiredis), with tls.c, hosts.c
 *   client.c    the host's client instead
 *   meta.c      K:meta, the companion hash <-> bf_desc       mark.c      the mark, and following it; which key is selected
 *   trip.c      a batch of positions as one trip             cells.c     what is asked of bits and counters
 *   scripts.h   what scripts have in common                  counting.c  counters down; sums of them
 *   bulk.c      whole bitmaps: making, reading, uniting      sharded.c   a filter of several keys: K:0, K:1, ...
 *   cache.c     keys known to be present                     redisson.c  filters that Redisson keeps
 *   attach.c    opening what is there                        adopt.c     making another system's bits ours
 *   store.c     what the home offers                        glance.c    about how full it is
 *   parts.c     a batch over all parts, one trip             parent.c    what parts have in common
 *   grown.c     parts of growing filters                     epochs.c    parts of forgetting ones
 *
 * A filter under key K:   K        the bits, byte i/8 mask 0x80 >> (i % 8), zeros up to a multiple of 4 bytes, then the mark
 *                         K:meta   its parameters as text, and the mark
 * With shards:            K:meta   the same, for all of them; its mark is nobody's bits'
 *                         K:i      a shard, as K above; {K:i}:meta beside it, or K:i:meta where K has a hash tag
 * K:meta says too which mark the filter was made with (born): clearing and rebuilding keep that,
 * re-creating does not. The mark is a random number other than 0, new for every generation of the
 * bits.  Every trip ends by reading it: as it never comes back once it is gone, finding it says
 * that everything earlier in the trip met the same bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/reply.h"
#include <pthread.h>
#include <sys/types.h>

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 }; /* bytes */
enum { BF_LABEL = 96 }; /* what messages call a key: no password, no control characters */
/* What every reply may hold (an error's text, a number), and what a companion hash may, fields of
 * others among them. */
enum {
    BF_REPLY_LEAVES = 64,
    BF_REPLY_BYTES = 4096,
    BF_HASH_LEAVES = 4096,
    BF_HASH_BYTES = 1 << 18
};
/* The bits of one key: with the mark after them, and at most. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)
#define BF_REDIS_BITS (UINT64_C(1) << 32)

typedef struct {             /* every string is owned */
    char *host, *path;       /* one of the two */
    char *user, *pass, *key; /* user and pass may be NULL */
    bool tls;                /* rediss:// */
    char *ca, *cert;         /* its files, or NULL */
    unsigned port, db;
    double timeout;
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u); /* wipes the password */

typedef struct bf_link bf_link;
typedef struct bf_tls bf_tls;
typedef struct bf_lookup bf_lookup;
/* What moves commands and replies.  Each is called with the link locked, send and next after a
 * begin that succeeded. */
typedef struct {
    int (*begin)(bf_link *l, bool probe, bf_error *err);
    void (*about)(bf_link *l, const char *key); /* NULL = it makes no difference */
    void (*push)(bf_link *l);                   /* NULL = not before send        */
    int (*send)(bf_link *l, bf_error *err);
    int (*next)(bf_link *l, bf_error *err);
    void (*drop)(bf_link *l);
    void (*abandon)(bf_link *l); /* in a fork's child: what may be half changed is left alone */
    void (*free)(bf_link *l);
} bf_transport;

typedef struct {
    size_t leaves, bytes;
} bf_redis_most;
struct bf_link {
    const bf_transport *transport;
    bf_redis_url url;              /* of a client only the key */
    const bf_redis_client *client; /* NULL = a connection of our own */
    const char *key, *label;       /* the name that commands and messages are about; borrowed */
    char own_label[BF_LABEL];      /* of url.key */
    bool stands;                   /* no fault since the last begin */
    struct redisContext *context;  /* socket: NULL = not connected */
    struct redisReader *reader;
    char *in;             /* socket: what was just received, on its way to reader */
    bf_tls *tls;          /* socket: NULL = in the clear */
    bf_lookup *lookup;    /* socket: of the host's name, that goes on; NULL = none */
    bf_reply_sink *sink;  /* client: replies of this trip */
    bf_redis_reply reply; /* the last one */
    char *out;            /* commands to send */
    size_t out_len, out_cap;
    size_t commands;         /* of this trip */
    bf_redis_most each, all; /* of this trip: what one reply may hold, what all of them may */
    bool apart;              /* client: see bf_link_apart */
    bool no_memory;          /* out could not grow */
    uint64_t era;            /* grows with each new connection: what answers may have lost bits */
    bool fresh, sent, heard; /* this trip: made a new connection, sent bytes, got bytes */
    bool timed_out;
    int64_t deadline; /* ms, monotonic */
    pthread_mutex_t mutex;
    int pid;             /* of the process the connection belongs to */
    bool one_slot;       /* a trip must keep to keys of one slot: what answers is a cluster */
    bool no_bitfield_ro; /* before Redis 6.2, or renamed */
};

/* socket.c: what passes the socket before the trip's deadline: bytes, 0 = closed, -1 and errno.  A
 * fault ends the connection. */
ssize_t bf_socket_in(bf_link *l, void *bytes, size_t cap);
int bf_socket_out(bf_link *l, const char *bytes, size_t len);
int bf_socket_broken(bf_link *l, int e, bf_error *err);
/* hosts.c: the host's addresses within so many ms; what a thread still looks for is let go. */
struct addrinfo;
int bf_names_find(bf_link *l, int64_t ms, struct addrinfo **all, bf_error *err);
void bf_names_abandon(bf_link *l);
/* tls.c: the same through TLS; begin makes l->tls of a fresh connection. */
int bf_tls_begin(bf_link *l, bf_error *err);
ssize_t bf_tls_in(bf_link *l, void *bytes, size_t cap);
int bf_tls_out(bf_link *l, const char *bytes, size_t len);
void bf_tls_free(bf_tls *t); /* tells the other side nothing */

int bf_client_open(
    bf_link *l, const bf_spec *spec, bf_error *err); /* client.c: through the host's client */
int bf_socket_open(bf_link *l, const bf_spec *spec, bf_error *err); /* socket.c: by URL */
int bf_link_ready(bf_link *l, int rc); /* the end of both: rc is what came of it so far */
void bf_link_free(bf_link *l);
void bf_link_lock(bf_link *l); /* also: a fork's child lets go of its parent's connection */
void bf_link_unlock(bf_link *l);
void bf_link_label(const bf_link *l, const char *key, char label[BF_LABEL]);
void bf_link_drop(bf_link *l);
int bf_link_no_memory(bf_link *l, bf_error *err); /* both drop it */
int bf_link_nonsense(bf_link *l, bf_error *err);
int bf_link_too_much(bf_link *l, bf_error *err); /* the same: a reply has more than it may have */
/* A trip: begin, put commands, send, one next() a command.  An error of the connection drops it; an
 * error reply does not. */
int bf_link_begin(bf_link *l, bool probe,
    bf_error *err); /* probe: make sure that a connection of before still stands */
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
void bf_link_apart(bf_link *l); /* the next one begins apart from those before, also of its key */
void bf_link_push(bf_link *l);  /* what fits now: the server starts while commands are written */
int bf_link_send(bf_link *l, bf_error *err);
int bf_link_next(bf_link *l, bf_error *err);          /* fills l->reply */
int bf_link_refusal(const bf_link *l, bf_error *err); /* the reply as an error; 0 if it is none */
/* One whole trip of what was put: n replies, the last one stays in l->reply; the first error reply
 * is the error. */
int bf_link_finish(bf_link *l, size_t n, bf_error *err);
char *bf_redis_digits(char *at, uint64_t v); /* decimal; returns the end */

/* ---- the store's own state ---- */
typedef struct { /* one of the keys of a filter with shards; the last one is K and K:meta themselves
                  */
    char *key, *meta, label[BF_LABEL];
    uint32_t mark, born;
    bool told; /* that its keys are gone: it was lost, or re-created together with others */
} bf_redis_slot;

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_link *link; /* one a filter: its parts share it.  key and label: of what is selected */
    bool guest;    /* a part: the link is its filter's */
    char *key, label[BF_LABEL]; /* K; of a part {K}:p0 or {K}:w0 */
    char *meta;                 /* K:meta, or the selected shard's; the same for mark */
    bf_desc desc;
    uint64_t bits;    /* of a key: m, or m / shards */
    uint64_t mark_at; /* byte */
    uint32_t mark;    /* 0: a foreign bitmap, which has none */
    uint32_t born; /* the mark it was made with, the same for all its life; 0: by a version that did
                      not note it */
    uint32_t seen; /* the mark K:meta had when it was looked at, 0 = there was none */
    bool told;     /* of the key selected: see bf_redis_slot */
    bool making;   /* K:meta said so when it was looked at */
    bool
        by_born; /* a filter that forgets: every trip to its parts ends by reading born of K:meta */
    bool made;   /* attach made a shard that was missing */
    enum {
        BF_FINE,
        BF_MISSING,
        BF_ANEW,
        BF_ANEW_IN
    } fate;           /* how the last trip found it; IN: and what was added is in it */
    const char *note; /* for bf_redis_anew; NULL = nothing */
    uint64_t added,
        gone; /* keys that were new, since it was opened or re-created; before that, of a part */
    bool foreign;
    bool adopted;  /* another system goes on writing bits */
    bool redisson; /* foreign, and meta is Redisson's {K}:config */
    uint8_t *old;  /* of every bit an add sets: was it set before? */
    size_t old_cap;
    unsigned shards, at; /* how many keys hold bits; which one is selected */
    bf_redis_slot *slot; /* shards + 1 of them, or NULL */
    uint32_t whole;      /* with shards: the mark of K:meta */
    char *room;          /* of a batch that is sorted by shards */
    size_t room_cap;
    unsigned wait_replicas;
    bool caches; /* as asked, also of parts */
    double cache_max_age;
    bf_redis_cache *cache; /* or NULL */
    uint64_t keys;         /* a part that grows: how many K:meta said there are */
    bool peeked;           /* bf_redis_peek found it sound and opened it */
    bool missing;          /* it, or a part of it, was not there when it was to be opened */
    bool again;            /* so it is to be made again in place of the one that was born so, */
    unsigned old_parts;    /* which had so many parts */
} bf_redis;

/* meta.c */
bool bf_redis_tagged(const char *key);                   /* has it a hash tag, {...}, of its own? */
void bf_redis_place(bf_redis *r, const bf_desc *d);      /* desc, bits and mark_at */
static inline uint64_t bf_redis_cells(const bf_redis *r) /* of a key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* Where bits go up to the last one that a string can have, there is no room for the mark: only
 * K:meta has it, and the bits are there as long as their string is at its full length. */
static inline bool bf_redis_mark_apart(const bf_redis *r)
{
    return r->mark_at > BF_REDIS_M_MAX / 8;
}
static inline uint64_t bf_redis_length(const bf_redis *r) /* of the string, in bytes */
{
    return r->mark_at + (bf_redis_mark_apart(r) ? 0 : BF_REDIS_MARK);
}
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g); /* that a key may have */
int bf_redis_meta_read(
    const bf_redis *r, bf_desc *d, uint32_t *mark, bf_error *err); /* from l->reply, of HGETALL */
bool bf_redis_meta_whole(const bf_redis *r); /* the same: does it say a format at all? */
bool bf_redis_meta_adopted(const bf_redis *r);
bool bf_redis_meta_making(const bf_redis *r);   /* the same: not all shards have been there yet */
uint32_t bf_redis_meta_born(const bf_redis *r); /* the same; 0: it does not say */
uint64_t bf_redis_meta_keys(const bf_redis *r); /* the same */
size_t bf_redis_meta_args(const bf_desc *d);
void bf_redis_meta_put(bf_redis *r, const bf_desc *d, uint32_t mark); /* so many arguments */
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
void bf_redis_mark_bytes(uint32_t mark, uint8_t bytes[BF_REDIS_MARK]); /* as Redis keeps it */
uint32_t bf_redis_new_mark(void);

/* bulk.c; each is called with the link locked, and works on the key selected */
int bf_redis_make(
    bf_redis *r, const bf_desc *d, bf_error *err); /* 1 made, 0 another one was there first */
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, bf_error *err);
int bf_redis_replace(
    bf_redis *r, const void *bytes, bf_error *err); /* by these, NULL: by zeros; a new mark */
int bf_redis_unite(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_intersect(bf_redis *r, const void *bytes, bf_error *err);
int bf_redis_expire(bf_redis *r, double seconds, bf_error *err);
uint64_t bf_redis_ms(double seconds); /* as EXPIRE's cousins want it, 0 = never */
int bf_redis_remove(bf_redis *r, bf_error *err);

char *bf_redis_temp_name(const bf_redis *r); /* to be freed; NULL: no memory */
int bf_redis_zeros(
    bf_redis *r, const char *temp, uint32_t mark, bf_error *err); /* a key of zeros and the mark */
void bf_redis_discard(bf_redis *r, const char *temp);

/* mark.c */
bool bf_redis_marked(const bf_redis *r); /* does a trip tell whether the bits are the same? */
void bf_redis_put_mark(bf_redis *r);
void bf_redis_put_range(bf_redis *r, uint64_t from, uint64_t bytes); /* GETRANGE */
int bf_redis_nonsense(
    bf_redis *r, bf_error *err); /* a reply of another form: the connection is dropped */
typedef struct {                 /* what a trip told */
    int refused;                 /* the first error reply, as a code; its text is in err */
    bool looks;                  /* what is being taken changed nothing */
    bool unknown;                /* of that one said: unknown command */
    int64_t born;                /* of the whole, where it is asked for */
    long long replicas;          /* the fewest that WAIT told of, -1: not asked */
} bf_redis_answers;
int bf_redis_next(bf_redis *r, bf_redis_answers *a, bf_error *err); /* the next reply */
/* The replies to it; a: NULL = an error reply is an error. */
int bf_redis_take_mark(bf_redis *r, bf_redis_answers *a, uint32_t *mark, bf_error *err);
void bf_redis_lock(bf_redis *r); /* the link, for r: its key is selected; bf_link_unlock */
void bf_redis_select(bf_redis *r, unsigned i); /* a shard, or r->shards for K itself */
const char *bf_redis_label(const bf_redis *r); /* of what is selected */
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* as it is now */
int bf_redis_lost(const bf_redis *r, bf_error *err);
/* Is the mark just read this filter's?  *changed: it is, and another one than before.  An error
 * with *changed: the filter was re-created.  That is said once; from then on r is at home in the
 * new one. */
int bf_redis_follow(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
/* The sentence that says so; note: what became of the keys just sent, or "". */
#define BF_SENT_IN ", the last sent are in it"
#define BF_SENT_OUT ", the last sent are not in it"
int bf_redis_anew(const char *label, uint64_t gone, const char *note, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err); /* K:meta as it is now, to l->reply */
bool bf_redis_same_shape(const bf_desc *a, const bf_desc *b);

/* trip.c */
typedef struct bf_redis_question bf_redis_question;
typedef struct { /* the positions of a batch that are under one name: a shard's or a part's */
    bf_redis *of;
    unsigned shard;
    int op;
    const bf_redis_question *how; /* of op */
    const uint64_t *pos;
    size_t nkeys;
    uint8_t *present;  /* as bf_store_ops.apply has it */
    uint8_t *old;      /* of an add to bits: was each set before? */
    const uint8_t *by; /* of an add of one key to counters: how much to each; NULL: 1 */
    uint32_t mark;     /* as the trip read it */
    bool pending;      /* to be asked, or asked again */
} bf_redis_group;
/* All groups in one trip, of r or of r's parts: what looks, what changes, or what changes and after
 * it what looks. */
int bf_redis_ask(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_error *err);
int bf_redis_marks(bf_redis *r, bf_redis_group *g, size_t n,
    bf_error *err); /* nothing but the marks, as they are now */
/* A group whose bits were exchanged meanwhile is to be asked again: *pending. */
int bf_redis_follow_group(bf_redis_group *g, bool *pending, bf_error *err);
/* WAIT, where the filter waits for replicas; of its reply: an error where too few have it. */
void bf_redis_put_wait(bf_redis *r);
int bf_redis_enough(const bf_redis *r, const char *done, long long have, bf_error *err);
/* A fault while something was changed; done: "added", "removed". */
int bf_redis_not_sure(bf_redis *r, const char *done, bf_error *err);
struct bf_redis_question { /* what differs between looking, adding and removing */
    const char *done;      /* what it does to the keys; NULL: nothing, it may be sent again */
    /* The commands; about: the key whose node of a cluster they go to. */
    void (*put)(const bf_redis_group *g, unsigned k, const char *about);
    /* Their replies: present and mark.  What was not done goes on as the group. */
    int (*take)(bf_redis_group *g, unsigned k, bf_redis_answers *a, bf_error *err);
    /* It was done though the key was lost: takes that back.  NULL: then it did nothing. */
    void (*undo)(const bf_redis_group *g, unsigned k);
};
extern const bf_redis_question bf_redis_looks, bf_redis_adds; /* cells.c */
extern const bf_redis_question bf_redis_removes;              /* counting.c */

/* sharded.c */
int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_desc *d, uint32_t mark, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_desc *d, bf_error *err); /* as bf_redis_make */
int bf_redis_remove_whole(bf_redis *r, bf_error *err); /* K:meta, after the shards */
int bf_redis_expire_whole(bf_redis *r, double seconds, bf_error *err);
void bf_redis_free_shards(bf_redis *r);
int bf_redis_apply(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err);
void *bf_redis_room(bf_redis *r, size_t bytes); /* NULL = out of memory */

/* redisson.c */
bool bf_is_redisson(const char *scheme);
char *bf_redisson_config(const char *key); /* its name, to be freed; NULL = out of memory */
bool bf_redisson_found(const bf_redis *r); /* in l->reply, of HGETALL; the same for read */
int bf_redisson_read(const bf_redis *r, bf_desc *d, bf_error *err);
void bf_redisson_place(bf_redis *r, const bf_desc *d);
int bf_redisson_make(bf_redis *r, const bf_desc *d, bf_error *err); /* as bf_redis_make */
void bf_redisson_put_mark(bf_redis *r); /* what is asked in the mark's place; then, of the reply: */
uint32_t bf_redisson_mark(const bf_redis *r);
int bf_redisson_changed(const bf_redis *r, uint32_t seen, bf_error *err);

/* cache.c */
int bf_redis_cache_new(bf_redis *r, double max_age, bf_error *err);
void bf_redis_cache_free(bf_redis_cache *c);
void bf_redis_cache_forget(bf_redis_cache *c); /* NULL is fine */
double bf_redis_cache_now(void);
/* Of a part; without a cache they do nothing.  knows: the key is present, as far as is known.
 * heard: after each trip, with what came of it; then, what it told. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
bool bf_redis_cache_heard(bf_redis *r, int rc);
void bf_redis_cache_learn(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    const uint8_t *present, double at);
typedef int bf_redis_applier(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err);
/* far: what asks Redis for those that are not known. */
int bf_redis_cache_apply(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_redis_applier *far, bf_error *err);

/* counting.c: bf_redis_unite of counters; a part of it, after an error */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);

/* glance.c */
int bf_redis_glance(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err);

/* adopt.c: 1 it is ours, 0 something else is there by now: to be looked at again */
int bf_redis_adopt(bf_redis *r, const bf_desc *d, bf_error *err);

/* attach.c */
bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
int bf_redis_look(
    bf_redis *r, long long *bytes, bf_error *err); /* HGETALL of meta and STRLEN of the key */
/* Several keys of whole's in one trip: those that are sound are open then, and peeked.  What is
 * wrong with another says bf_redis_attach_key. */
int bf_redis_peek(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err);
int bf_redis_part_cache(bf_redis *r, bf_error *err); /* of a part that was just opened, if asked */
int bf_redis_no_cache(const bf_redis *r, bf_error *err);
int bf_redis_attach_redisson(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err);
int bf_redis_like(bf_store *s, const bf_redis *of, const char *key,
    bf_error *err); /* the same server, another key; not opened */
/* What is under the key selected, which the spec (its parameters, if it may be made) expects: as
 * bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err);

/* parts.c: see bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_piece *const *pieces, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_piece *const *pieces, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* grown.c, epochs.c and parent.c: filters of many parts; most under the chain's lock */
int bf_redis_attach_part(bf_filter *f, bf_piece *p, bf_desc *d, bf_error *err);
enum { BF_WHOLE_ARGS = 22 };
/* Lua: not over a string of another system, which has the name (KEYS[3], KEYS[4] its companion
 * hash) of the part that is ready in KEYS[2].  What has a companion hash, or the length of the part
 * and a mark, is a part of a filter before. */
#define BF_NOT_OVER_OTHERS                                                                         \
    "local kind=redis.call('TYPE',KEYS[3]).ok "                                                    \
    "if kind~='none' and (kind~='string' or (redis.call('HEXISTS',KEYS[4],'mark')==0 "             \
    "and (redis.call('STRLEN',KEYS[3])~=redis.call('STRLEN',KEYS[2]) "                             \
    "or redis.call('GETRANGE',KEYS[3],-4,-1)=='\\0\\0\\0\\0'))) then "                             \
    "redis.call('DEL',KEYS[2]) return 3 end "
void bf_redis_put_whole(
    bf_redis *whole, const bf_desc *d, uint64_t secret_check); /* so many arguments */
void bf_redis_born_text(const bf_redis *whole, char text[16]); /* for scripts to compare */
int bf_redis_delete_parts(bf_redis *whole, bf_error *err); /* K:meta, if it is still this one's */
int bf_redis_expire_parts(bf_redis *whole, double seconds, bf_error *err); /* the same */
int bf_redis_no_part(
    const bf_redis *r, bf_error *err); /* somebody else's string has the name of a part */
int bf_redis_whole_alike(bf_filter *f, uint32_t *born, bf_error *err);
int bf_redis_whole_anew(bf_filter *f, uint32_t born, bf_error *err);
char *bf_redis_part_key(
    const bf_redis *whole, char letter, int64_t i); /* to be freed; NULL: no memory */
int bf_redis_window_create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_pieces(bf_filter *f, bf_error *err); /* the ring, with nothing in it */
int bf_redis_window_look(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_stale(const bf_filter *f, int64_t now);
int bf_redis_window_turn(bf_filter *f, int64_t *now, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
int bf_redis_window_past(bf_filter *f, int64_t epoch, bf_error *err);
#endif
