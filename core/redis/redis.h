/* redis.h - a filter in Redis. Private. Each section declares the functions of one file;
 * connection.h declares connections and round trips.
 *
 *   meta.c      names, and K:meta, the companion hash   generation.c  reads and compares the mark
 *   open.c      opens and checks an existing key        shards.c      several keys for one filter
 *   batch.c     a batch in one round trip               bitfield.c    tests of bits and counters
 *   cache.c     a copy of known bits                    bitmap.c      complete bitmaps; samples
 *   parts.c     the parts of a handle                   span.c        keys in all parts
 *   scripts.c   the Lua scripts                         store.c       the operations of the home
 *
 * A filter under key K:
 *   K        the bits of its parts, one part after the other (bit i is in byte i/8, mask
 *            0x80 >> (i % 8)), zeros up to a multiple of 4 bytes, then the mark
 *   K:meta   its parameters as text, and the mark
 * With shards:
 *   K:meta   the parameters of the filter; its mark belongs to no bitmap
 *   K:i      a shard, like K above; K:i:meta is its companion hash
 * The mark is a random number other than 0. Bits that are replaced get a new mark, and so does a
 * filter that gets a part or a new epoch; old marks never return. A round trip reads the mark last.
 * If that is the known mark, all earlier replies in the same round trip came from the same bits,
 * and the known parts are all parts. In a growing or forgetting filter one byte more is read,
 * because the string may be longer, with bits where the mark was: only the four bytes of the mark
 * are the known mark. The id of a filter is a random number in the field `born` of K:meta.
 * Clearing, rebuilding and growing keep the id; re-creating the filter changes it. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/connection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BF_REDIS_STEP = 1 << 20, /* maximum number of bytes that one command transfers */
    BF_REDIS_MARK = 4        /* length of the mark in bytes */
};
/* Maximum number of bits in one Redis key. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64) /* with the mark after the bits */
#define BF_REDIS_BITS (UINT64_C(1) << 32)         /* without a mark */

/* maximum number of tries of a call, if other processes change the Redis keys during each try */
enum { BF_REDIS_TRIES = 8 };
/* A filter of Redisson has no mark. These values replace the mark: the parameters in {K}:config are
 * the same as at opening, or have changed. 0: {K}:config is lost. */
enum { BF_REDISSON_SAME = 1, BF_REDISSON_CHANGED };

typedef struct { /* a part in the string of a growing filter, or a slice of a forgetting filter */
    uint64_t m, n;
    double p;
    uint64_t keys; /* growing filter: number of keys in the part */
} bf_redis_size;
typedef struct {
    unsigned n;
    bf_redis_size part[BF_PARTS_MAX];
} bf_redis_sizes;

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_conn *conn;          /* the filter's connection; also used by its shards */
    struct bf_redis *whole; /* shard: the filter; otherwise this struct */
    char *key;              /* K; for a shard K:0 */
    char label[BF_LABEL];   /* the key and its server, for messages */
    char *meta;             /* name of the companion hash */
    bf_params desc;
    bf_redis_sizes *sizes; /* the parts or slices in the string; NULL: a fixed filter */
    /* forgetting filter: the newest epoch (BF_NEVER: no key was added), and that of the last call
     */
    int64_t epoch, now;
    uint64_t bits;    /* number of bits in one Redis key */
    uint64_t mark_at; /* byte offset of the mark */
    /* the known mark; 0: a foreign bitmap without mark. With shards: the mark in K:meta */
    uint32_t mark;
    uint32_t filter_id; /* field born of this filter or shard */
    uint32_t whole_id;  /* shard: filter_id of the filter */
    /* an error has reported that keys are lost; a re-creation is then not reported again */
    bool loss_reported;
    bool making; /* K:meta has the field making: some shards may not exist yet */
    /* forgetting filter: the time comes from the callers' clocks, not from Redis */
    bool users_clock;
    bool made;       /* this handle created the shard; in the filter: one of its shards */
    uint64_t added;  /* number of new keys added since the filter was opened or re-created */
    bool foreign;    /* a bitmap of another system that is not adopted, or a filter of Redisson */
    bool adopted;    /* another system writes the bits, too */
    bool redisson;   /* foreign is also set, and `meta` is Redisson's {K}:config */
    unsigned shards; /* number of shards; 1: no shards */
    struct bf_redis *shard; /* array of the shards; NULL: no shards */
    bf_redis_buffer room;   /* buffer for the current batch (batch.c, parts.c) */
    unsigned wait_replicas; /* number of replicas that must confirm a change; 0: none */
    bool caches;            /* the caller wants a cache; also set in shards */
    double cache_max_age;   /* in seconds; 0: default */
    bf_redis_cache *cache;  /* NULL: no cache */
    bool prefetched;        /* bf_redis_prefetch_shards has opened this key */
    const bf_store *store;  /* not in a shard: the store whose impl this is */
} bf_redis;

static inline bool bf_redis_is_shard(const bf_redis *r) { return r->whole != r; }
static inline uint64_t bf_redis_cells(const bf_redis *r) /* number of cells in one Redis key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* Returns true if the bits fill the longest possible string, so the mark does not fit after them.
 * Then only K:meta has the mark, and a shorter string means that the bits are lost. */
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
    BF_NAME_TEMP,   /* {K}:tmp:<random>                                               */
    BF_NAME_CONFIG, /* {K}:config, Redisson's hash                                    */
};
/* Returns a name, which the caller frees; NULL: out of memory. i: index. */
char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i);
/* Returns true if the key has a hash tag ({...}, not empty). In a cluster the hash tag alone
 * determines the slot. */
bool bf_redis_tagged(const char *key);

/* ---- meta.c: the companion hash ---- */
typedef struct {
    bf_params desc;
    uint32_t mark;
    uint32_t id;                       /* the field born; 0: none */
    uint32_t whole_id;                 /* in a shard: the id of the filter */
    bool adopted, making, users_clock; /* as in bf_redis */
    int64_t epoch;                     /* as in bf_redis */
    bf_redis_sizes sizes;              /* not in a fixed filter */
} bf_redis_meta;
/* Reads and checks the companion hash; conn->reply is the reply to HGETALL. */
int bf_redis_meta_read(const bf_redis *r, bf_redis_meta *m, bf_error *err);
int bf_redis_fail_field(const bf_redis *r, const char *what, bf_error *err);
bool bf_redis_has_field(const bf_redis *r, const char *name);
/* Returns the index of the field's value in a reply to HGETALL; r->n: there is no such field. */
size_t bf_redis_field(const bf_redis_reply *r, const char *name);
/* bf_redis_whole_number reads a leaf as an integer in this base, from least to most.
 * bf_redis_share reads a leaf as a number from 0 to 1. Both return false for other values. */
bool bf_redis_whole_number(
    const bf_redis_reply *r, size_t leaf, int base, uint64_t least, uint64_t most, uint64_t *out);
bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out);

/* Sets desc, sizes, bits and mark_at. sizes: not used for a fixed filter. */
int bf_redis_set_params(
    bf_redis *r, const bf_params *d, const bf_redis_sizes *sizes, bf_error *err);
uint64_t bf_redis_mark_at(const bf_redis_meta *m);
/* Sets *sizes to the parts of a new filter, which are those of contents unless it is NULL, or
 * returns an error if they do not fit. */
int bf_redis_first_parts(
    const bf_params *d, const bf_filter *contents, bf_redis_sizes *sizes, bf_error *err);
enum { BF_SIZE_TEXT = 72 };
void bf_redis_size_text(const bf_redis_size *s, char text[BF_SIZE_TEXT]); /* "m n p" */
void bf_redis_append_keys(const bf_redis *r); /* appends the fields keys<i> */
/* maximum number of bits that one Redis key can have */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g);
/* appends the fields of the companion hash to the last command */
void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark);

/* Returns what a new or rebuilt filter contains (see bf_store), or NULL. */
static inline const bf_filter *bf_redis_contents(const bf_redis *r)
{
    return r->whole->store->contents;
}

/* ---- generation.c ---- */
/* Returns the mark or id in a leaf (hex digits); 0: there is none. */
uint32_t bf_redis_id_in(const bf_redis_reply *reply, size_t leaf);
uint32_t bf_redis_mark_in(const char *bytes, size_t len);
/* Number of bytes that a round trip reads for the mark. If the string may grow, one byte more: if
 * that byte exists, the string has grown and its mark is elsewhere. */
static inline uint64_t bf_redis_mark_bytes(const bf_redis *r)
{
    return BF_REDIS_MARK + (r->desc.kind != BF_FIXED);
}
bool bf_redis_marked(const bf_redis *r); /* false: a foreign bitmap; its loss cannot be detected */
void bf_redis_append_mark(bf_redis *r);
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes); /* appends GETRANGE */
/* Returns the error for a reply of unexpected form, and closes the connection. */
int bf_redis_fail_protocol(bf_redis *r, bf_error *err);
typedef struct { /* the result of a round trip */
    bf_error *err;
    int refused;  /* code of the first error reply; its message is in err; 0: none */
    bool looks;   /* the caller sets this while it reads replies to commands that only read */
    bool unknown; /* the first error reply is "unknown command", to a command that only reads */
    long long replicas; /* the smallest reply to WAIT; -1: none */
} bf_redis_outcome;
/* Moves conn->reply to the next reply. Returns false if this or an earlier reply is an error. */
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a);
/* Reads the replies to bf_redis_append_mark. Returns the mark; 0: there is none. */
uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a);
/* Locks the connection and selects r. NULL: another thread has held the lock too long (BF_EIO). */
bf_conn *bf_redis_lock(bf_redis *r, bf_error *err);
static inline void bf_redis_unlock(bf_conn *const *l)
{
    if (*l) bf_conn_unlock(*l);
}
/* Locks the connection until the end of the block. If that fails, the function returns BF_EIO with
 * its `err`, or with _OR another value. */
#define BF_REDIS_LOCK_OR(r, err, failed)                                                           \
    bf_conn *const locked_ __attribute__((cleanup(bf_redis_unlock))) = bf_redis_lock(r, err);      \
    if (!locked_) return failed
#define BF_REDIS_LOCK(r) BF_REDIS_LOCK_OR(r, err, BF_EIO)
void bf_redis_select(bf_redis *r); /* later commands and messages use the key of r */
/* selects and returns shard i, or r if it has no shards */
bf_redis *bf_redis_key(bf_redis *r, unsigned i);
int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err); /* reads the present mark */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err);
typedef struct {
    long long bytes; /* length of the string; 0: no string; -1: the server sent no length */
    uint32_t end;    /* the last four bytes of the string as a mark; 0: the string is too short */
    int refused;     /* 0, or the code of an error reply: the key is not a string */
} bf_redis_key_snapshot;
/* Commands that read K:meta, then the length and the last bytes of K. If these bytes are the mark
 * in K:meta, all replies belong to the same bits. Afterwards conn->reply is the first reply. */
void bf_redis_append_key_reads(bf_redis *r);
int bf_redis_take_key_reads(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Reads K:meta and the end of K. Afterwards conn->reply is the reply to HGETALL of K:meta. */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err);
/* Returns 1 if the string has the length and the mark that its companion hash gives, 0 if not. */
int bf_redis_is_complete(
    bf_redis *r, const bf_redis_meta *m, const bf_redis_key_snapshot *s, bf_error *err);
/* Compares `seen`, the mark that a round trip read, with the known mark. If they differ, or if seen
 * is 0, reads K:meta and the mark. This is the one place where a filter that was replaced, has
 * grown, has a new epoch, was re-created or is lost is found. Sets *changed if the bits of r are
 * not those that were known: r then has the new mark, parts and epoch, and the caller must ignore
 * the other replies of the round trip. Returns an error if the bits are lost. If the filter was
 * re-created with the same parameters, r uses the new filter; one error reports this. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err);
/* Takes mark, ids and sizes from the companion hash. */
int bf_redis_take_meta(bf_redis *r, const bf_redis_meta *m, bf_error *err);
/* gone: number of lost keys that this handle has added */
int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err);
int bf_redis_fetch_meta(bf_redis *r, bf_error *err);             /* reads K:meta into conn->reply */
int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err); /* *id is 0 if K:meta has no id */

/* ---- batch.c ---- */
typedef struct { /* a batch, or the keys of a batch that belong to one shard */
    bf_redis *of;
    int op;
    const uint64_t *pos; /* k per key */
    size_t nkeys;
    unsigned k;
    /* Results as in bf_store_ops.apply. Until the reply is read, a test stores here how it reads
     * each key (bitfield.c). */
    uint8_t *present;
    const uint8_t *by; /* increments of the k counters of a key, for an add; NULL: 1 each */
    uint32_t mark;     /* the mark that the round trip read */
    bool as_string;    /* one GETRANGE reads the complete string, including the mark */
    bool mark_inside;  /* the last command that reads positions also reads the mark */
    bool pending;      /* not sent yet, or must be sent again */
    double time;       /* forgetting filter: Redis's time, which a test reads beside the mark */
} bf_redis_request;
/* Sends n requests about r or its shards in one round trip; in one per shard if one_slot is set.
 * Sends requests again if bits were replaced. In a growing or forgetting filter returns 1 instead,
 * because the positions may be others now. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err);
/* executes a request about a filter: uses the cache, and sends one request per shard */
int bf_redis_apply(const bf_redis_request *g, bf_error *err);
/* bf_redis_append_wait appends WAIT if the filter waits for replicas. bf_redis_check_replicas
 * checks the reply: too few replicas are an error. */
void bf_redis_append_wait(bf_redis *r);
int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err);
/* Returns the error of a change that Redis may have executed; done: "added" or "removed". */
int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err);
/* bitfield.c: bf_redis_append_tests appends the commands of a test. bf_redis_take_tests reads the
 * replies into present, time and mark. */
void bf_redis_append_tests(bf_redis_request *g);
int bf_redis_take_time(bf_redis *r, double *time, bf_error *err); /* reads the reply to TIME */
int bf_redis_take_tests(bf_redis_request *g, bf_redis_outcome *a);
/* Adds the counters in words to the counters of r. After an error, some may have been added. */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err);

/* ---- cache.c: the cache of one Redis key. Without a cache these functions do nothing ---- */
/* creates the cache if r->caches is set */
int bf_redis_cache_new(bf_redis *r, bf_error *err);
void bf_redis_cache_free(bf_redis *r);
/* empties the caches of r and its shards: after a failed batch, a re-creation or a deletion */
void bf_redis_cache_forget(bf_redis *r);
double bf_redis_cache_now(void); /* monotonic time in seconds, for the parameter `at` */
/* Returns true if all these positions are in the cache. Called for each key before a round trip. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at);
/* removes these positions from the cache */
void bf_redis_cache_unlearn(bf_redis *r, const uint64_t *pos, unsigned k);
/* Stores the positions that a round trip found or set to values other than 0. */
void bf_redis_cache_learn(const bf_redis_request *g, double at);

/* ---- bitmap.c ---- */
/* Creates K and K:meta, with bf_redis_contents(r). Returns 1, 0 if the name is in use, or an
 * error. */
int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err);
int bf_redis_unite_contents(bf_redis *r, bf_error *err); /* adds these contents to an existing K */
/* The same for the parameters and sizes of r, with these bits; NULL: zeros. lost: the mark in the
 * K:meta of a lost filter that may be replaced, or 0. */
int bf_redis_upload_new(bf_redis *r, uint32_t lost, const void *bytes, bf_error *err);
int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err);
/* Counts the set bits of `bits` bits from byte `from` on. bf_redis_sample samples these cells:
 * *ones of the *of cells are not 0. */
int bf_redis_count(
    bf_redis *r, uint64_t from, uint64_t bits, uint64_t *ones, uint64_t *slices, bf_error *err);
int bf_redis_sample(
    bf_redis *r, uint64_t from, uint64_t bits, uint64_t *ones, uint64_t *of, bf_error *err);
/* Combines all bits with bytes (NULL: zeros). Gives K a new mark unless `how` is BF_UNITE. Returns
 * 1 without a change if the filter has got parts or a new epoch: the bytes are for the old ones. */
int bf_redis_change(bf_redis *r, bf_change how, const void *bytes, bf_error *err);
/* Runs a command on K and K:meta. The format and its argument are those of bf_conn_append, for
 * example "DEL" or "PEXPIRE %n". */
int bf_redis_run(bf_redis *r, const char *command, uint64_t argument, bf_error *err);
/* Returns the command that makes a key expire after `seconds` (0: never). *ms: its argument. */
static inline const char *bf_redis_expiry(double seconds, uint64_t *ms)
{
    *ms = seconds < 0.001 ? 1 : (uint64_t)(seconds * 1000 + 0.5);
    return seconds == 0 ? "PERSIST" : "PEXPIRE %n";
}

/* ---- open.c ---- */
/* Returns the bf_redis of s. The first call creates it with its connection. NULL: error. */
bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err);
/* Reads all shards in one round trip, and opens the intact ones. Later bf_redis_attach_key reads
 * the others again. */
int bf_redis_prefetch_shards(bf_redis *whole, bf_error *err);
/* Returns 1 if all Redis keys of the filter are complete and have the known ids, else 0. */
int bf_redis_keys_current(bf_redis *r, bf_error *err);
/* Returns the error for a cache of a bitmap that has no mark. */
int bf_redis_no_cache(const bf_redis *r, bf_error *err);
bool bf_is_redisson(const char *scheme);
int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err); /* like bf_redis_make */
/* Opens the key of r, which is selected. Returns the same as bf_store_ops.attach. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err);

/* ---- scripts.c ---- */
extern const char bf_script_create[], bf_script_exchange[], bf_script_care[], bf_script_append[],
    bf_script_put[], bf_script_remember[], bf_script_count[], bf_script_count_down[],
    bf_script_add[], bf_script_add_one[], bf_script_add_foreign[], bf_script_add_redisson[],
    bf_script_adopt[];

/* ---- shards.c ---- */
/* Opens the shards. d: the parameters in K:meta. Returns 1; 0 if all shards are lost and spec
 * creates a filter with other parameters; or an error. */
int bf_redis_attach_shards(bf_redis *r, const bf_spec *spec, const bf_params *d, bf_error *err);
int bf_redis_make_shards(bf_redis *r, const bf_params *d, bf_error *err); /* like bf_redis_make */
void bf_redis_free_shards(bf_redis *r);
bool bf_redis_has_other_id(bf_redis *r); /* true: the filter was re-created since it was opened */
/* Runs a command on K:meta alone. Returns an error if K:meta now belongs to another filter. */
int bf_redis_run_meta(bf_redis *r, const char *command, uint64_t argument, bf_error *err);

/* ---- parts.c ---- */
static inline bf_redis *bf_redis_of(const bf_filter *f) { return f->bitmap.store.impl; }
/* Makes the parts of the handle those of the string. The caller has locked the connection and, in a
 * forgetting filter, the filter. */
int bf_redis_take_parts(bf_filter *f, bf_error *err);
/* bf_chain_ops.follow and .server_time */
int bf_redis_follow(bf_filter *f, bf_error *err);
int bf_redis_server_time(bf_filter *f, double *now, bf_error *err);
/* Returns an error if the filter was created with a clock, and the handle has none. */
int bf_redis_has_clock(const bf_filter *f, bf_error *err);
/* *now: the time of the handle's clock; becomes the time that counts. Returns an error if the two
 * clocks differ too much. */
int bf_redis_choose_time(const bf_filter *f, double redis, double *now, bf_error *err);
int bf_redis_fail_clock(const bf_filter *f, double own, double redis, bf_error *err);
#endif
