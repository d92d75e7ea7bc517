/* redis.h - a filter in Redis.  Private.  Each section below declares what one file offers to the
 * others; connection.h declares the way to Redis.
 *
 *   meta.c      names, and K:meta, the companion hash   generation.c  the mark: read and compared
 *   open.c      opening what is under a key             keyset.c      shards or parts of one filter
 *   batch.c     a batch in one round trip               bitfield.c    tests of bits and counters
 *   cache.c     keys known to be present                bitmap.c      complete bitmaps; samples
 *   parts.c     a batch over all parts                  scripts.c     the Lua scripts
 *   scalable.c  parts of growing filters                window.c      parts of forgetting filters
 *   store.c     what the home offers
 *
 * A filter under key K:
 *   K        the bits, byte i/8 mask 0x80 >> (i % 8), zeros up to a multiple of 4 bytes, then the
 *            mark
 *   K:meta   its parameters as text, and the mark
 * With shards:
 *   K:meta   the same, for all of them; its mark belongs to no bitmap
 *   K:i      a shard, as K above; K:i:meta is its companion hash
 * The filter's id is the mark that it was created with (field `born` of K:meta): clearing and
 * rebuilding keep it, re-creating does not.  The field `owner` of every companion hash is K; that
 * of a part or a shard also has `filter`, the id and the name of the filter's K:meta.  The mark is
 * a random number other than 0, new for every generation of the bits.  Every round trip ends by
 * reading it.  A mark never comes back once it is gone, so finding it shows that everything earlier
 * in the round trip met the same bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/connection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 }; /* bytes */
/* The most bits of a key that has a mark after them, and of any key. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)
#define BF_REDIS_BITS (UINT64_C(1) << 32)

/* How often a call reads again if other clients change the keys meanwhile, before it is an error.
 */
enum { BF_REDIS_TRIES = 8 };
/* What a filter of Redisson has in place of a mark; 0: it is lost. */
enum { BF_REDISSON_SAME = 1, BF_REDISSON_CHANGED };

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_conn *conn;              /* one per filter, shared by its parts and shards */
    struct bf_redis *whole;     /* the filter that it is a part or shard of; otherwise itself */
    char *key, label[BF_LABEL]; /* K; for a part {K}:p0 or {K}:w0, for a shard K:0 */
    char *meta;                 /* name of its companion hash */
    bf_params desc;
    uint64_t bits;      /* bits of one key: m, or m / shards */
    uint64_t mark_at;   /* byte offset */
    uint32_t mark;      /* 0: a foreign bitmap without mark.  With shards: the mark in K:meta */
    uint32_t filter_id; /* the mark that it was created with; clearing and rebuilding keep it */
    uint32_t whole_id;  /* in a part or shard: the filter_id of its filter */
    bool loss_reported; /* the caller knows that the keys are lost: no second error */
    bool making;        /* K:meta says that some shards do not exist yet */
    /* forgetting filter: every round trip to its parts ends by reading born of K:meta */
    bool by_born;
    bool users_clock; /* forgetting filter: its users' clocks decide, not Redis's */
    bool made;        /* opening created this shard, or a shard of this filter */
    bool doubt;       /* a round trip found a part that is lost or another filter's */
    uint64_t added;   /* new keys added since it was opened or re-created */
    bool foreign;
    bool adopted;           /* another system writes the bits too */
    bool redisson;          /* foreign, and meta is Redisson's {K}:config */
    unsigned shards;        /* number of keys that hold bits */
    struct bf_redis *shard; /* those keys; NULL: only its own */
    bf_redis_buffer room;   /* buffer for the current batch (batch.c, parts.c) */
    unsigned wait_replicas;
    bool caches; /* the caller asked for a cache; also set in parts */
    double cache_max_age;
    bf_redis_cache *cache; /* or NULL */
    uint64_t keys;         /* part of a growing filter: number of keys that K:meta counted */
    bool prefetched;       /* bf_redis_prefetch_keys opened it */
    bool missing; /* opening found that a part is missing: create() may replace filter_id */
} bf_redis;

static inline bool bf_redis_is_shard(const bf_redis *r) { return r->whole != r && r->whole->shard; }
static inline bool bf_redis_is_part(const bf_redis *r) { return r->whole != r && !r->whole->shard; }
static inline uint64_t bf_redis_cells(const bf_redis *r) /* of a key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* If the bits take up the longest possible string, there is no room for the mark.  Then only K:meta
 * has it, and the bits count as present while the string has its full length. */
static inline bool bf_redis_mark_apart(const bf_redis *r)
{
    return r->mark_at > BF_REDIS_M_MAX / 8;
}
static inline uint64_t bf_redis_length(const bf_redis *r) /* of the string, in bytes */
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
/* Returns a name, which the caller frees; NULL: out of memory. i is used only by names with a
 * number. */
char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i);
/* Does the key have a hash tag ({...}, not empty)?  In a cluster only the tag decides the slot. */
bool bf_redis_tagged(const char *key);

/* ---- meta.c: the companion hash ---- */
typedef struct {
    bf_params desc;
    uint32_t mark,
        id; /* mark: 0 if there is none (format 2).  id: 0 if the hash has no field born. */
    uint32_t whole_id; /* in a part or shard: the id of its filter */
    uint64_t keys;     /* keys in it, if it is a part of a growing filter */
    bool adopted;      /* another system writes the bits too */
    bool making;       /* some shards do not exist yet */
    bool users_clock;  /* not Redis's */
} bf_redis_meta;
/* Reads a reply to HGETALL. */
int bf_redis_meta_read(const bf_redis *r, bf_redis_meta *m, bf_error *err);
int bf_redis_reread_meta(bf_redis *r, bf_redis_meta *m, bf_error *err);      /* generation.c */
int bf_redis_fail_field(const bf_redis *r, const char *what, bf_error *err); /* invalid */
bool bf_redis_has_field(const bf_redis *r, const char *name);
/* Returns the index of the leaf with this field's value in a reply to HGETALL, or n. */
size_t bf_redis_field(const bf_redis_reply *r, const char *name);
/* Read a leaf as an integer of this base within a range, and as a number from 0 to 1. */
bool bf_redis_whole_number(
    const bf_redis_reply *r, size_t leaf, int base, uint64_t least, uint64_t most, uint64_t *out);
bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out);

void bf_redis_set_params(bf_redis *r, const bf_params *d); /* sets desc, bits and mark_at */
/* the most bits that a key can have */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g);
void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark); /* arguments */

/* ---- generation.c ---- */
/* Leaf of a reply: a mark or an id of 8 hex digits; 0 if it is none. */
uint32_t bf_redis_id_in(const bf_redis_reply *reply, size_t leaf);
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
bool bf_redis_marked(const bf_redis *r); /* false: a foreign bitmap, whose loss goes unnoticed */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* GETRANGE */
/* the error of a reply of unexpected form; drops the connection */
int bf_redis_fail_protocol(bf_redis *r, bf_error *err);
typedef struct { /* the result of a round trip */
    bf_error *err;
    int refused;        /* code of the first error reply; its text is in err */
    bool looks;         /* the replies read now are those of commands that only read */
    bool unknown;       /* the server does not know one of those commands */
    uint32_t filter_id; /* in K:meta, if the trip read it; 0: none */
    long long replicas; /* the smallest reply to WAIT; -1: none */
} bf_redis_outcome;
/* reads the next reply; false: it is an error */
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a);
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
bf_conn *bf_redis_lock(bf_redis *r); /* locks the connection and selects r */
static inline void bf_redis_unlock(bf_conn *const *l) { bf_conn_unlock(*l); }
/* Locks the connection until the end of the block. */
#define BF_REDIS_LOCK(r)                                                                           \
    bf_conn *const locked_ __attribute__((cleanup(bf_redis_unlock), unused)) = bf_redis_lock(r)
void bf_redis_select(bf_redis *r); /* from now on commands and messages are about its key */
/* selects and returns shard i, or r if it has no shards */
bf_redis *bf_redis_key(bf_redis *r, unsigned i);
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* reads the present mark */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
/* Compares the mark that a round trip read with the known one. *changed: the bits were replaced, r
 * has the new mark, and what the trip read does not count.  An error with *changed: the filter was
 * re-created; r uses the new one, and the next call succeeds.  Any other error: the key is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err);             /* reads K:meta into conn->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* 0: K:meta has no id */

/* ---- batch.c ---- */
typedef struct { /* the positions of a batch in one key of Redis, a shard or a part */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k per key */
    size_t nkeys;
    unsigned k;
    /* as in bf_store_ops.apply; a test keeps its plan here until the reply is read */
    uint8_t *present;
    const uint8_t *by; /* by how much an add of one key raises each counter; NULL: by 1 */
    uint32_t mark;     /* the mark that the round trip read */
    bool as_string;    /* the complete string is read with one GETRANGE, the mark included */
    bool mark_inside;  /* the last command that reads positions also reads the mark */
    bool pending;      /* not sent yet, or to be sent again */
} bf_redis_request;
/* Sends all requests of r, or of r's parts, in one round trip: tests, changes, or changes followed
 * by tests. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
/* a request to a filter, split over its shards */
int bf_redis_apply(const bf_redis_request *g, bf_error *err);
/* Appends WAIT if the filter waits for replicas; then checks its reply: too few replicas are an
 * error. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* Returns the error of a change with an unknown outcome; done: "added" or "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
/* bitfield.c: appends the commands of a test; about is the key that decides the node of a cluster.
 * Then reads the replies into present and mark. */
void bf_redis_append_tests(bf_redis_request *g, const char *about);
int bf_redis_take_tests(bf_redis_request *g, bf_redis_outcome *a);
/* BF_UNITE of counters; after an error a part of them may be added */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);

/* ---- cache.c: of one key in Redis; without a cache all of these do nothing ---- */
int bf_redis_cache_new(bf_redis *r, bf_error *err); /* creates it, if the filter has one */
void bf_redis_cache_free(bf_redis *r);
void bf_redis_cache_forget(
    bf_redis *r); /* of all shards; called after each round trip that failed */
double bf_redis_cache_now(void);
/* True: the key of the filter is known to be present.  Called for each key before a round trip. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
void bf_redis_cache_unlearn(bf_redis *r, const uint64_t *pos, unsigned k); /* may be absent now */
/* Takes over the cells that a round trip found or made other than 0. */
void bf_redis_cache_learn(const bf_redis_request *g, double at);

/* ---- bitmap.c ---- */
/* returns 1 if created, 0 if another process was faster */
int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err);
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
int bf_redis_count(bf_redis *r, uint64_t *ones, uint64_t *slices, bf_error *err);
/* Combines all bits with bytes (NULL: zeros), with a new mark unless it unites. */
int bf_redis_change(bf_redis *r, bf_change how, const void *bytes, bf_error *err);
/* Runs a command on K and K:meta: the format and its argument are those of bf_conn_append, as in
 * "DEL" or "PEXPIRE %n". */
int bf_redis_run(bf_redis *r, const char *command, uint64_t argument, bf_error *err);
/* Returns the command that expires a key, or that keeps it for ever if seconds is 0. */
static inline const char *bf_redis_expiry(double seconds, uint64_t *ms)
{
    *ms = seconds < 0.001 ? 1 : (uint64_t)(seconds * 1000 + 0.5);
    return seconds == 0 ? "PERSIST" : "PEXPIRE %n";
}

/* creates a key of zeros, with a mark */
int bf_redis_zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err);
void bf_redis_discard(bf_redis *r, const char *temp);
/* Fails with the error of a script that found no temporary key. */
int bf_redis_fail_temp(const bf_redis *r, bf_error *err);
/* Samples the bitmap: *ones of *of cells are set. */
int bf_redis_sample(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err);

/* ---- open.c ---- */
bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
typedef struct {
    long long bytes; /* length of the string */
    uint32_t end;    /* the last four bytes of the string as a mark; 0: the string is shorter */
    int refused;     /* 0, or the error if the key is not a string */
} bf_redis_key_snapshot;
/* l->reply has K:meta */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Reads several parts, or all shards (r is NULL), in one round trip, and opens those that are
 * intact.  For the others, bf_redis_attach_key finds the error. */
int bf_redis_prefetch_keys(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err);
/* Are all keys with bits, and their companion hashes, still those of this handle? */
bool bf_redis_keys_current(bf_redis *r);
int bf_redis_no_cache(const bf_redis *r, bf_error *err); /* the error for a bitmap without mark */
bool bf_is_redisson(const char *scheme);
int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err); /* as bf_redis_make */
/* Opens the selected key and checks it against spec.  Returns as bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);

/* ---- scripts.c ---- */
extern const char bf_script_create[], bf_script_exchange[], bf_script_care[], bf_script_append[],
    bf_script_turn[], bf_script_put[], bf_script_count[], bf_script_count_down[], bf_script_add[],
    bf_script_add_foreign[], bf_script_add_redisson[], bf_script_adopt[];

/* ---- keyset.c ---- */
static inline bf_redis *bf_redis_whole(const bf_filter *f) { return f->bitmap.store.impl; }
static inline bf_redis *bf_redis_of(const bf_part *p) { return p->bitmap.store.impl; } /* or NULL */
static inline uint32_t bf_redis_mark_of(const bf_part *p)
{
    return bf_redis_of(p) ? __atomic_load_n(&bf_redis_of(p)->mark, __ATOMIC_ACQUIRE) : 0;
}

/* ---- shards ---- */
int bf_redis_attach_shards(bf_redis *r, const bf_spec *spec, const bf_params *d, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_params *d, bf_error *err); /* as bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
bool bf_redis_has_other_id(bf_redis *r); /* true: the filter was re-created since it was opened */

/* ---- parts, under the chain's lock ---- */
/* returns part i of the chain, allocating it if needed */
bf_part *bf_redis_part_slot(bf_filter *f, unsigned i, bf_error *err);
/* Gives the part its name (by index or epoch), but does not open it. */
int bf_redis_name_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err);
/* Opens n parts in one round trip.  After an error some of them may be open. */
int bf_redis_open_parts(
    bf_filter *f, bf_part *const *p, const int64_t *number, unsigned n, bf_error *err);
void bf_redis_close_part(bf_part *p);
typedef struct {
    const bf_params *desc;
    int64_t number, newest; /* newest: number of the part before it; BF_NEVER: there is none */
    uint64_t ms;            /* for an epoch: its time to live, and the oldest living epoch */
    int64_t oldest;
} bf_redis_new_part;
/* Creates the part in Redis under its name.  Returns 1 if created, 0 if another process was faster,
 * 2 if K:meta or the newest part has changed, or an error, also if the name is in use by anything
 * but a part of this filter. */
int bf_redis_make_part(bf_filter *f, bf_part *p, const bf_redis_new_part *new, bf_error *err);
/* bf_redis_run on K:meta alone.  An error if another filter has that key by now. */
int bf_redis_run_meta(bf_redis *r, const char *command, uint64_t argument, bf_error *err);
/* Ends an HMGET of n fields of K:meta, the first of which is the filter id.  Returns 0, or 1 if it
 * is another filter's. */
int bf_redis_finish_fields(bf_redis *whole, size_t n, bf_error *err);
/* Called when K:meta belongs to another filter.  If that has the same parameters, the handle uses
 * it from now on; the call is an error once, unless the filter is being opened. */
int bf_redis_follow_id(bf_filter *f, bool opening, bf_error *err);

/* parts.c: operations of bf_chain_ops */
struct bf_span;
int64_t bf_redis_parts_ask(
    bf_filter *f, bf_part *const *parts, unsigned n, bool add, struct bf_span *s, bf_error *err);
int bf_redis_parts_explain(bf_filter *f, int rc, bf_error *err);
int bf_redis_parts_put(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most,
    struct bf_span *s, bf_error *err);

/* scalable.c, window.c: growing and forgetting filters; most are called under the chain's lock */
/* appends so many arguments, on which bf_script_append relies */
static inline unsigned bf_redis_params_args(const bf_params *d) { return d->g.counting ? 26 : 24; }
void bf_redis_append_params(bf_redis *whole, const bf_params *d, uint64_t secret_check);
int bf_redis_window_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
int bf_redis_window_ring(bf_filter *f, bf_error *err); /* allocates the ring; opens no part */
int bf_redis_window_list(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
bool bf_redis_window_is_stale(const bf_filter *f, int64_t now);
int bf_redis_window_open(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
int bf_redis_window_time(bf_filter *f, double *now, bf_error *err);
#endif
