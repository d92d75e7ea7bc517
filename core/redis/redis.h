/* redis.h - a filter in Redis. Private. Each section below declares what one file offers to the
 * other files; connection.h declares connections and round trips.
 *
 *   meta.c      names, and K:meta, the companion hash   generation.c  reads and compares the mark
 *   open.c      opens and checks an existing key        keyset.c      shards or parts of one filter
 *   batch.c     a batch in one round trip               bitfield.c    tests of bits and counters
 *   cache.c     keys known to be present                bitmap.c      complete bitmaps; samples
 *   parts.c     a batch over all parts                  scripts.c     the Lua scripts
 *   scalable.c  parts of growing filters                window.c      parts of forgetting filters
 *   store.c     the operations of the home
 *
 * A filter under key K:
 *   K        the bits (bit i is in byte i/8, mask 0x80 >> (i % 8)), zeros up to a multiple of 4
 *            bytes, then the mark
 *   K:meta   its parameters as text, and the mark
 * With shards:
 *   K:meta   the parameters of the filter; its mark belongs to no bitmap
 *   K:i      a shard, like K above; K:i:meta is its companion hash
 * The filter's id is the first mark of the filter (field `born` of K:meta). Clearing and rebuilding
 * keep the id; re-creating the filter changes it. The field `owner` of every companion hash is K.
 * The companion hash of a part or a shard also has the field `filter`: the id of the filter and the
 * name of the filter's K:meta. The mark is a random number other than 0, a new one for each
 * generation of the bits. Every round trip reads the mark last. A mark never returns once it is
 * gone, so if a round trip finds the known mark, all earlier replies in it came from the same
 * bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/connection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 }; /* in bytes */
/* The maximum number of bits of a key that has a mark after them, and of any key. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)
#define BF_REDIS_BITS (UINT64_C(1) << 32)

/* Maximum number of times that a call reads again because other clients change the keys. Then
 * the call fails. */
enum { BF_REDIS_TRIES = 8 };
/* A filter of Redisson has no mark. In its place: its parameters in {K}:config are the same as at
 * opening, or changed; 0: they are lost. */
enum { BF_REDISSON_SAME = 1, BF_REDISSON_CHANGED };

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_conn *conn; /* the filter's connection, shared by its parts and shards */
    /* the filter of which this is a part or shard; otherwise this itself */
    struct bf_redis *whole;
    char *key, label[BF_LABEL]; /* K; for a part {K}:p0 or {K}:w0; for a shard K:0 */
    char *meta;                 /* the name of its companion hash */
    bf_params desc;
    /* number of bits in one key: m times the bits per cell, divided by the number of shards */
    uint64_t bits;
    uint64_t mark_at; /* byte offset of the mark */
    /* the known mark; 0: a foreign bitmap without mark. With shards: the mark in K:meta */
    uint32_t mark;
    uint32_t filter_id; /* the first mark; clearing and rebuilding keep it */
    uint32_t whole_id;  /* in a part or shard: the filter_id of the filter */
    /* an error has already reported that the keys are lost, so there is no second error */
    bool loss_reported;
    bool making; /* K:meta shows that some shards do not exist yet */
    /* forgetting filter: every round trip to its parts ends by reading the field born of K:meta */
    bool by_born;
    /* forgetting filter: the clocks of its users give the time, not Redis's clock */
    bool users_clock;
    bool made;      /* of a shard: opening created it; of a filter: it created a shard */
    bool doubt;     /* a round trip found that a part is lost or belongs to another filter */
    uint64_t added; /* number of new keys added since the filter was opened or re-created */
    bool foreign;
    bool adopted;           /* another system writes the bits, too */
    bool redisson;          /* foreign, and `meta` is Redisson's {K}:config */
    unsigned shards;        /* number of keys that contain bits */
    struct bf_redis *shard; /* the shards; NULL: there are none */
    bf_redis_buffer room;   /* buffer for the current batch (batch.c, parts.c) */
    unsigned wait_replicas;
    bool caches; /* the caller wants a cache; also set in parts */
    double cache_max_age;
    bf_redis_cache *cache; /* the cache, or NULL */
    uint64_t keys;         /* part of a growing filter: the number of its keys, from K:meta */
    bool prefetched;       /* bf_redis_prefetch_keys has opened it */
    bool missing; /* opening found that a part is missing, so create() may replace the filter */
} bf_redis;

static inline bool bf_redis_is_shard(const bf_redis *r) { return r->whole != r && r->whole->shard; }
static inline bool bf_redis_is_part(const bf_redis *r) { return r->whole != r && !r->whole->shard; }
static inline uint64_t bf_redis_cells(const bf_redis *r) /* number of bits or counters in one key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* Returns true if the bits take up the longest possible string, so that there is no space for
 * the mark after them. Then only K:meta has the mark, and the bits count as present while the
 * string has its full length. */
static inline bool bf_redis_mark_apart(const bf_redis *r)
{
    return r->mark_at > BF_REDIS_M_MAX / 8;
}
static inline uint64_t bf_redis_length(const bf_redis *r) /* length of the string, in bytes */
{
    return r->mark_at + (bf_redis_mark_apart(r) ? 0 : BF_REDIS_MARK);
}

/* ---- meta.c: names ---- */
enum bf_redis_kind_of_name {
    BF_NAME_META,   /* K:meta, the companion hash of the string K                     */
    BF_NAME_SHARD,  /* K:i                                                            */
    BF_NAME_PART,   /* {K}:p<i>, of a growing filter                                  */
    BF_NAME_EPOCH,  /* {K}:w<i>, of a forgetting filter                               */
    BF_NAME_TEMP,   /* {K}:tmp:<random>                                               */
    BF_NAME_CONFIG, /* {K}:config, Redisson's hash                                    */
};
/* Returns a name, which the caller frees; NULL: out of memory. i is the number in names that
 * have one. */
char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i);
/* Returns true if the key has a hash tag ({...}, not empty). In a cluster the hash tag alone
 * determines the slot. */
bool bf_redis_tagged(const char *key);

/* ---- meta.c: the companion hash ---- */
typedef struct {
    bf_params desc;
    uint32_t mark,
        id; /* mark: 0 if there is none (format 2); id: 0 if the hash has no field born */
    uint32_t whole_id; /* in a part or shard: the id of the filter */
    uint64_t keys;     /* number of keys in the part, if it is a part of a growing filter */
    bool adopted;      /* another system writes the bits, too */
    bool making;       /* some shards do not exist yet */
    bool users_clock;  /* the clocks of the users give the time, not Redis's clock */
} bf_redis_meta;
/* Reads the fields from a reply to HGETALL. */
int bf_redis_meta_read(const bf_redis *r, bf_redis_meta *m, bf_error *err);
int bf_redis_reread_meta(bf_redis *r, bf_redis_meta *m, bf_error *err); /* generation.c */
/* the error for an invalid or missing field */
int bf_redis_fail_field(const bf_redis *r, const char *what, bf_error *err);
bool bf_redis_has_field(const bf_redis *r, const char *name);
/* Returns the index of the leaf that contains this field's value in a reply to HGETALL, or n. */
size_t bf_redis_field(const bf_redis_reply *r, const char *name);
/* bf_redis_whole_number reads a leaf as an integer in this base, from least to most.
 * bf_redis_share reads a leaf as a number from 0 to 1. */
bool bf_redis_whole_number(
    const bf_redis_reply *r, size_t leaf, int base, uint64_t least, uint64_t most, uint64_t *out);
bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out);

void bf_redis_set_params(bf_redis *r, const bf_params *d); /* sets desc, bits and mark_at */
/* the maximum number of bits that one key can have */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g);
/* appends the fields as arguments */
void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark);

/* ---- generation.c ---- */
/* Reads a leaf as a mark or an id of 8 hex digits. Returns 0 if it is neither. */
uint32_t bf_redis_id_in(const bf_redis_reply *reply, size_t leaf);
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
bool bf_redis_marked(const bf_redis *r); /* false: a foreign bitmap; its loss cannot be detected */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* appends GETRANGE */
/* The error for a reply of unexpected form. Closes the connection. */
int bf_redis_fail_protocol(bf_redis *r, bf_error *err);
typedef struct { /* the result of a round trip */
    bf_error *err;
    int refused;        /* the code of the first error reply, whose text is in err; 0: none */
    bool looks;         /* the replies that are read now belong to commands that only read */
    bool unknown;       /* the server does not know one of these commands */
    uint32_t filter_id; /* the id in K:meta, if the round trip read it; 0: there is none */
    long long replicas; /* the smallest reply to WAIT; -1: there was none */
} bf_redis_outcome;
/* reads the next reply; returns false if it is an error reply */
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a);
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
bf_conn *bf_redis_lock(bf_redis *r); /* locks the connection and selects r */
static inline void bf_redis_unlock(bf_conn *const *l) { bf_conn_unlock(*l); }
/* Locks the connection until the end of the block. */
#define BF_REDIS_LOCK(r)                                                                           \
    bf_conn *const locked_ __attribute__((cleanup(bf_redis_unlock), unused)) = bf_redis_lock(r)
void bf_redis_select(bf_redis *r); /* later commands and messages use the key of r */
/* selects and returns shard i, or r if it has no shards */
bf_redis *bf_redis_key(bf_redis *r, unsigned i);
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* reads the present mark */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
/* Compares `seen`, the mark that a round trip read, with the known mark. Sets *changed if the
 * bits were replaced: then r has the new mark, and the caller must ignore the other replies of
 * the round trip. An error with *changed set means that the filter was re-created: r uses the
 * new filter, and the next call succeeds. Any other error means that the key is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err);             /* reads K:meta into conn->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* *id is 0 if K:meta has no id */

/* ---- batch.c ---- */
typedef struct { /* the positions of a batch that are in one Redis key (a shard or a part) */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k per key */
    size_t nkeys;
    unsigned k;
    /* results, see bf_store_ops.apply; until the reply is read, a test stores here how each key
     * is read (choose_way) */
    uint8_t *present;
    const uint8_t *by; /* how much an add of a key increments each counter; NULL: by 1 */
    uint32_t mark;     /* the mark that the round trip read */
    bool as_string;    /* one GETRANGE reads the complete string, including the mark */
    bool mark_inside;  /* the last command that reads positions also reads the mark */
    bool pending;      /* not sent yet, or must be sent again */
} bf_redis_request;
/* Sends all requests about r, its shards or its parts in one round trip. First come the changes,
 * then the tests. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
/* handles a request about a filter; splits it over the shards */
int bf_redis_apply(const bf_redis_request *g, bf_error *err);
/* bf_redis_append_wait appends WAIT if the filter waits for replicas. bf_redis_check_replicas
 * checks the reply: too few replicas are an error. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* Returns the error of a change whose outcome is unknown; done: "added" or "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
/* bitfield.c: bf_redis_append_tests appends the commands of a test; `about` is the key that
 * determines the node of a cluster. bf_redis_take_tests reads the replies into present and mark. */
void bf_redis_append_tests(bf_redis_request *g, const char *about);
int bf_redis_take_tests(bf_redis_request *g, bf_redis_outcome *a);
/* adds the counters in words to those of r; after an error some of them may have been added */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);

/* ---- cache.c: the cache of one Redis key. Without a cache these functions do nothing ---- */
/* creates the cache, if the caller of bf_open wants one */
int bf_redis_cache_new(bf_redis *r, bf_error *err);
void bf_redis_cache_free(bf_redis *r);
void bf_redis_cache_forget(
    bf_redis *r); /* empties the caches of all shards; called after each failed round trip */
double bf_redis_cache_now(void);
/* Returns true if a key with these positions is known to be present. Called for each key before
 * a round trip. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
/* a key with these positions may be absent now */
void bf_redis_cache_unlearn(bf_redis *r, const uint64_t *pos, unsigned k);
/* Stores the cells that a round trip found or set to values other than 0. */
void bf_redis_cache_learn(const bf_redis_request *g, double at);

/* ---- bitmap.c ---- */
/* returns 1 if created, 0 if another process created it first */
int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err);
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, uint64_t *slices, bf_error *err);
/* Combines all bits with bytes (NULL: zeros). Gives K a new mark, unless how is BF_UNITE. */
int bf_redis_change(bf_redis *r, bf_change how, const void *bytes, bf_error *err);
/* Runs a command on K and K:meta. The format and its argument are those of bf_conn_append, for
 * example "DEL" or "PEXPIRE %n". */
int bf_redis_run(bf_redis *r, const char *command, uint64_t argument, bf_error *err);
/* Sets *ms, and returns the command that lets a key expire after *ms, or never if seconds is 0. */
static inline const char *bf_redis_expiry(double seconds, uint64_t *ms)
{
    *ms = seconds < 0.001 ? 1 : (uint64_t)(seconds * 1000 + 0.5);
    return seconds == 0 ? "PERSIST" : "PEXPIRE %n";
}

/* creates a key with zeros and a mark */
int bf_redis_zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err);
void bf_redis_discard(bf_redis *r, const char *temp);
/* The error of a script that did not find its temporary key. */
int bf_redis_fail_temp(const bf_redis *r, bf_error *err);
/* Samples the bitmap: *ones of the *of cells are not 0. */
int bf_redis_sample(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err);

/* ---- open.c ---- */
bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
typedef struct {
    long long bytes; /* length of the string; below 0: there is none */
    uint32_t end;    /* the last four bytes of the string as a mark; 0: the string is too short */
    int refused;     /* 0, or the error if the key is not a string */
} bf_redis_key_snapshot;
/* afterwards conn->reply is the reply to HGETALL of K:meta */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Reads several parts (or all shards, if r is NULL) in one round trip, and opens those that are
 * intact. bf_redis_attach_key reports what is wrong with the others. */
int bf_redis_prefetch_keys(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err);
/* Returns true if all keys with bits, and their companion hashes, are still those that this
 * handle uses. */
bool bf_redis_keys_current(bf_redis *r);
/* the error for a cache of a bitmap without mark */
int bf_redis_no_cache(const bf_redis *r, bf_error *err);
bool bf_is_redisson(const char *scheme);
int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err); /* like bf_redis_make */
/* Opens the selected key and checks it against spec. Returns the same as bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);

/* ---- scripts.c ---- */
extern const char bf_script_create[], bf_script_exchange[], bf_script_care[], bf_script_append[],
    bf_script_turn[], bf_script_put[], bf_script_count[], bf_script_count_down[], bf_script_add[],
    bf_script_add_foreign[], bf_script_add_redisson[], bf_script_adopt[];

/* ---- keyset.c ---- */
static inline bf_redis *bf_redis_whole(const bf_filter *f) { return f->bitmap.store.impl; }
/* or NULL if the part is not open */
static inline bf_redis *bf_redis_of(const bf_part *p) { return p->bitmap.store.impl; }
static inline uint32_t bf_redis_mark_of(const bf_part *p)
{
    return bf_redis_of(p) ? bf_uint_load_acquire(&bf_redis_of(p)->mark) : 0;
}

/* ---- shards ---- */
int bf_redis_attach_shards(bf_redis *r, const bf_spec *spec, const bf_params *d, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_params *d, bf_error *err); /* like bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
bool bf_redis_has_other_id(bf_redis *r); /* true: the filter was re-created since it was opened */

/* ---- parts: the caller holds the chain's lock ---- */
/* returns part i of the chain; allocates it if needed */
bf_part *bf_redis_part_slot(bf_filter *f, unsigned i, bf_error *err);
/* Gives the part its name, from its index or epoch. Does not open it. */
int bf_redis_name_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
/* Opens n parts in one round trip.  After an error some of them may be open. */
int bf_redis_open_parts(
    bf_filter *f, bf_part *const *p, const int64_t *number, unsigned n, bf_error *err);
void bf_redis_close_part(bf_part *p);
typedef struct {
    const bf_params *desc;
    /* newest: the number of the part before this one; BF_NEVER: there is none */
    int64_t number, newest;
    /* forgetting filter: time to live of the part; oldest: the oldest living epoch */
    uint64_t ms;
    int64_t oldest;
} bf_redis_new_part;
/* Creates the part in Redis under its name. Returns 1 if created, 0 if another process created
 * it first, 2 if K:meta or the newest part has changed, or an error. It is also an error if the
 * name is in use by anything but a part of this filter. */
int bf_redis_make_part(bf_filter *f, bf_part *p, const bf_redis_new_part *new, bf_error *err);
/* Runs a command on K:meta alone. Returns an error if K:meta now belongs to another filter. */
int bf_redis_run_meta(bf_redis *r, const char *command, uint64_t argument, bf_error *err);
/* Sends a round trip whose last command is an HMGET of n fields of K:meta; the first field is
 * the filter id. Returns 0, 1 if K:meta belongs to another filter, or an error. */
int bf_redis_finish_fields(bf_redis *whole, size_t n, bf_error *err);
/* Called if K:meta belongs to another filter. If that filter has the same parameters, the handle
 * uses it from now on, and this call returns one error (none if the filter is being opened). */
int bf_redis_follow_id(bf_filter *f, bool opening, bf_error *err);

/* parts.c: operations of bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_part *const *parts, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_explain(bf_filter *f, int rc, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* scalable.c, window.c: growing and forgetting filters. The caller of most of these functions
 * holds the chain's lock. */
/* number of arguments that bf_redis_append_params appends */
static inline unsigned bf_redis_params_args(const bf_params *d) { return d->g.counting ? 26 : 24; }
/* appends the fields of K:meta with their names to the command that is being written, and gives the
 * filter a new id */
void bf_redis_append_params(bf_redis *whole, const bf_params *d, uint64_t secret_check);
int bf_redis_window_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
/* allocates the ring; does not open the parts */
int bf_redis_window_ring(bf_filter *f, bf_error *err);
int bf_redis_window_list(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_is_stale(const bf_filter *f, int64_t now);
int bf_redis_window_open(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
#endif
