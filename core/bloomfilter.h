/* bloomfilter.h - the whole public interface of the core: what is not declared here is private.
 *
 * A filter answers "was this key added before?" with "surely not" or "probably".  The same key sets
 * the same bits in every home and every language.
 *
 *     bf_error e;
 *     bf_spec spec = { .n = 1000000, .p = 0.01, .storage = "seen.bloom" };
 *     bf_filter *f = bf_open(&spec, &e);
 *     if (!f) return puts(e.msg);
 *     if (bf_add(f, "key", 3, &e) == BF_ADDED) puts("the key is new");
 *     if (bf_test(f, "key", 3, &e) == 1) puts("the key was probably added");
 *     bf_close(f);
 *
 * Conventions, once for all functions:
 *   - m = bits, n = keys the filter is sized for, k = positions per key, p = false-positive rate at
 *     n keys.  Sizes and lengths are bytes, times are seconds.
 *   - A key is (pointer, length): any bytes, NUL included, length 0 included.  Keys are borrowed
 *     for the call.  ptr may be NULL where len is 0.
 *   - Answers are >= 0.  A negative answer is one of BF_E..., and then *err, if err is not NULL,
 *     holds one sentence that names the value at fault.  *err is left alone otherwise.  A function
 *     that returns a pointer returns NULL on error.
 *   - Nothing here prints, exits, aborts, installs signal handlers or touches the host's allocator
 *     or random generators.  Memory comes from malloc.  A thread needs 128 KiB of stack; no file or
 *     socket gets descriptor 0, 1 or 2, even where those are closed.
 *   - Any handle may be tested by several threads at once.  Adding from several threads needs a
 *     shared home or `threads`.  Opening, closing, clearing and set operations need the handle for
 *     themselves.
 *   - The host's code (a clock, a client) that runs in the middle of a call may call anything here,
 *     but not with the filters of that call: the same thread gets BF_EBUSY.  Other threads wait.
 */
#ifndef BLOOMFILTER_H
#define BLOOMFILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_VERSION "0.1.0"

typedef struct bf_filter bf_filter;                      /* opaque handle */
typedef struct { const void *ptr; size_t len; } bf_key;  /* the caller owns the bytes */
typedef struct bf_spec bf_spec;                          /* what to open */
typedef struct bf_error bf_error;                        /* what went wrong */

/* ---- open, add, test, close ------------------------------------------------------------------ */
/* Opens what the storage holds, or creates what spec describes. */
bf_filter *bf_open(const bf_spec *spec, bf_error *err);
/* One key.  add: BF_ADDED, the key is surely new, or BF_PRESENT.  test: 1 probably present, 0
 * surely absent. */
int bf_add(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_test(bf_filter *f, const void *key, size_t len, bf_error *err);
void bf_close(bf_filter *f);                              /* NULL is fine; a secret is wiped */
/* Batches.  Returns how many keys were new (add) or present (test).  each, if not NULL, receives n
 * bytes: add 1 = new, 0 = seen; test 1 = present, 0 = absent.  An error in a remote home may leave
 * a part of the batch added.  A key that the scheme cannot hold (no UTF-8 where it hashes UTF-16)
 * is BF_EINVAL: err->key says which one, the keys before it are added and answered, the others are
 * not. */
int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int64_t bf_test_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);

/* ---- answers and errors ---------------------------------------------------------------------- */
/* One int carries three answers of an add: added, present, error.  Never use
 * `if (!bf_add(...))`. */
enum {
    BF_PRESENT = 0,          /* add: every position was already set, nothing changed           */
    BF_ADDED = 1,            /* add: at least one bit changed, so the key is surely new         */
    BF_EINVAL = -1,          /* an argument is out of range, or two filters do not match        */
    BF_ENOMEM = -2,          /* memory cannot hold it                                           */
    BF_EIO = -3,             /* a system call or the network failed; see sys_errno              */
    BF_EFORMAT = -4,         /* the bytes or the file are not a filter, or are damaged          */
    BF_EMISMATCH = -5,       /* a stored filter, but with other parameters or another secret    */
    BF_ENOTSUP = -6,         /* not possible in this home, for this scheme, or in this build    */
    BF_EHOST = -7,           /* a client callback failed; the host's own exception stands       */
    BF_EBUSY = -8,           /* the filter is in use: not now                                   */
    BF_ENOENT = -9,          /* nothing is there under that name: no file (sys_errno is ENOENT),
                              * or no such key in Redis (0) */
    BF_ELOST = -10           /* never returned: for hosts that report BF_EIO with bf_error.lost as
                              * a code of its own */
};

struct bf_error {            /* on the caller's stack; filled on error only */
    int code;                /* BF_E..., as returned                     */
    int sys_errno;           /* errno where a system call failed, else 0 */
    char msg[160];           /* one English sentence, no newline         */
    size_t key;              /* which key of a batch is at fault; BF_NO_KEY where it is none */
    bool lost;               /* BF_EIO: Redis lost the filter or a part of it, or others replaced
                              * or deleted its file; it can be opened or made again */
};
#define BF_NO_KEY SIZE_MAX

/* ---- what to open ---------------------------------------------------------------------------- */
#define BF_M_MAX (UINT64_C(1) << 40)      /* bits: 128 GiB */
#define BF_N_MAX ((uint64_t)INT64_MAX)    /* keys */
#define BF_K_MAX 4096                     /* positions per key */
#define BF_SHARDS_MAX 4096               /* parts of a filter */
#define BF_SECRET_BYTES 16
#define BF_SCHEME_BYTES 64                /* longest scheme name, its NUL included */

/* Scheme "functions": the user's own hash functions.  Function i answers with any number; it modulo
 * m is position i. */
typedef uint64_t bf_function(const void *key, size_t len);
enum { BF_FUNCTIONS_MAX = 16 };
typedef struct {
    unsigned count;                  /* 1..BF_FUNCTIONS_MAX: it is k */
    bf_function *const *function;    /* both must outlive the filter and its copies */
    /* For hosts whose functions may fail, instead of function: puts the count numbers of a key into
     * digests.  0, or non-zero = failed (the host keeps its own exception; the core answers
     * BF_EHOST, and err->key says which key of a batch: those before it are added and answered). */
    int (*call)(void *ctx, const void *key, size_t len, uint64_t *digests);
    void *ctx;
} bf_functions;

typedef struct bf_client bf_client;                      /* callbacks: see the end of this file */
typedef struct bf_redis_client bf_redis_client;

/* bf_spec.retry_after: what the other languages write as 0. */
#define BF_ALWAYS_TRY (-1.0)

/* What to open.  Zero means "not given".  Sufficient sets: (m,n) (n,p) (m,k) (m,p), each also with
 * k; with `storage` alone what is there is opened.  All pointers are borrowed for the call, except
 * client and redis_client. */
struct bf_spec {
    uint64_t m, n;           /* bits 1..BF_M_MAX; keys 1..BF_N_MAX                               */
    unsigned k;              /* 1..BF_K_MAX, or the scheme's own limit                           */
    double p;                /* 0 < p < 1                                                        */
    const char *scheme;      /* row of the schemes table, e.g. "classic" or, with what some take
                              * after a colon, "guava:chars"; NULL = the default.
                              * docs/migrate.md has those of older systems */
    const bf_functions *functions;   /* scheme "functions", also where scheme is NULL */
    const void *secret;      /* BF_SECRET_BYTES bytes: keyed hash; NULL = unkeyed                */
    size_t secret_len;
    const char *storage;     /* NULL = process memory;
                              * redis://[user:pass@]host:port/db?key=K&timeout=S&retry_after=S,
                              * unix:///path?db=0&key=K; else the path of a mapped file */
    const char *key;         /* name inside the storage, where it has names                      */
    const bf_client *client; /* home "client"; NULL = none                                       */
    const bf_redis_client *redis_client;     /* home "redis" through it, with key, without
                                              * storage; NULL = none */
    bool counting;           /* 4-bit counters instead of bits: keys can be removed; m =
                              * counters.  What is opened must be of that kind: neither is ever
                              * taken for the other */
    double grow, window;     /* growth factor > 1; seconds to remember, 1e-4 or more for each
                              * part; both to 1e300 and with n and p: docs/growing.md */
    unsigned shards;         /* equal slices, all bits of a key in one; in Redis each is a key of
                              * its own.  1..BF_SHARDS_MAX; where not given: 1, in Redis as many
                              * as m needs */
    unsigned parts;          /* of a window: how finely it forgets, 1..255; default 4            */
    double (*clock)(void *); /* of a window: seconds since the epoch, called with clock_ctx at
                              * each call and in long batches; not a number = it failed
                              * (BF_EHOST).  NULL = the system's clock */
    void *clock_ctx;         /* both must outlive the filter                                     */
    double timeout;          /* Redis: seconds a trip may take, 0.001..86400; it overrides the
                              * URL's */
    double retry_after;      /* Redis: seconds for which the calls of this process fail at once
                              * after the server did not answer in time; then one call tries.  To
                              * 86400; 0 = 1; BF_ALWAYS_TRY: each call tries; it overrides the
                              * URL's */
    bool cache;              /* Redis: keys known to be present need no trip; takes m/8 bytes at
                              * most */
    double cache_max_age;    /* seconds since the bits were last seen for which that is good; 0 =
                              * 1 */
    unsigned wait_replicas;  /* Redis: an add returns when so many replicas have it              */
    bool adopt;              /* Redis: a bitmap that another system made gets mark and companion
                              * hash */
    bool exclusive;          /* files: this handle is the only writer while it is open: plain
                              * words, as in memory.  BF_EBUSY while others write; for others
                              * who want to write, as long as it is open */
    bool threads;            /* several threads add through this handle: atomic kernels          */
    bool must_exist;         /* open what the storage holds, never create                        */
    bool read_only;          /* the same, and refuse to add                                      */
    bool may_count;          /* for tools: what is there may be counting too, bf_get_info tells  */
};

typedef struct {             /* what a filter is; see bf_get_state for what is in it */
    uint64_t m, n;
    unsigned k;
    double p;                /* as asked, or the scheme's formula at n keys                      */
    const char *scheme;      /* lives as long as the filter                                      */
    const char *home;        /* "memory", "file", "redis", "client"                              */
    const char *storage;     /* path or URL as given (with its password), or NULL; lives as long
                              * as the filter */
    const char *shown;       /* the same for messages and logs: never a password                 */
    const char *key;         /* name inside the storage as given, or NULL; the same              */
    uint64_t bitset_bytes;   /* ceil(m / 8), of counters ceil(m / 2)                             */
    uint64_t image_bytes;    /* length of bf_to_bytes; of less than 4 KiB of bits a saved file
                              * has more: a page */
    unsigned shards;         /* 1 = not sharded                                                  */
    bool keyed, read_only;
    double grow, window;         /* as asked, 0 where it does not                                */
    unsigned parts;              /* of a window: as asked or the default                         */
    unsigned part_count;         /* parts there are now; 1 for a fixed filter                    */
    bool counting;           /* counters, not bits: bitset_bytes is ceil(m / 2)                  */
    bool created;            /* bf_open just made it, or in Redis a lost part of it: it is to be
                              * filled.  false: bf_open found it; a copy, a union, a filter from
                              * bytes; home "client" */
} bf_info;

typedef struct {             /* one part of a filter that grows or forgets; of a fixed filter,
                              * all of it */
    uint64_t first_bit, m;       /* its bits are first_bit .. first_bit + m - 1 of the filter    */
    uint64_t n;                  /* keys it is sized for                                         */
    uint64_t keys;               /* keys added to it (growing filters; else 0)                   */
    double p;                    /* its share of the rate                                        */
    double since, until;         /* of a window: keys added from `since` on are forgotten at
                                  * `until`; else 0 */
} bf_part_info;

typedef struct {             /* what is in a filter now: one pass over its bits */
    uint64_t ones;           /* bits set, or counters above 0                                    */
    double fill;             /* ones / m                                                         */
    double count;            /* estimated number of distinct keys: -m/k ln(1 - fill) and its kin */
    double fpr;              /* the scheme's false-positive rate at this fill                    */
    int saturated;           /* 0, BF_HALF_FULL or BF_OVERFULL: see bf_saturated                 */
} bf_state;
/* ---- the filter as a whole ------------------------------------------------------------------- */
/* Derive what is missing in *spec from what is given, without allocating: fills m, n, k, p, scheme.
 * */
int bf_plan(bf_spec *spec, bf_error *err);
/* A new secret from the kernel's random generator: BF_SECRET_BYTES bytes.  Keep it as you keep a
 * password: a keyed filter can be opened with it only.  Nothing is stored.  0 or BF_EIO. */
int bf_random_secret(void *secret, bf_error *err);
/* A memory copy, whatever the home. */
bf_filter *bf_copy(bf_filter *f, bf_error *err);
/* All bits 0.  In a shared home the keys that others add meanwhile may or may not survive, and a
 * key may for a moment be present in part: stop the writers, or replace the file.  (In Redis it is
 * at once, a shard at a time.) */
int bf_clear(bf_filter *f, bf_error *err);
/* For hosts, before bf_close, which returns nothing: is all that this handle wrote in the file that
 * has the name?  0, or BF_EIO with lost: others replaced or deleted it.  Batches and bf_sync return
 * that error by themselves, single adds once in about 1,024. */
int bf_check_file(bf_filter *f, bf_error *err);
/* Returns once everything added before is on disk (mapped files: msync, fsync): it survives a power
 * loss.  Without it a mapped file survives any death of a process, kill -9 included.  Nothing to do
 * for memory: 0. */
int bf_sync(bf_filter *f, bf_error *err);
/* Filters in Redis (BF_ENOTSUP elsewhere).  Expire: the filter is gone for everybody after so many
 * seconds, 0 = never. Delete: at once.  Whoever still uses it gets an error that says so, never
 * "absent"; opening it again with its parameters makes a new one, and whoever used it before is
 * told once ("was re-created") and goes on with that.  An add whose reply was lost is never
 * repeated: the error says that it is not known. */
int bf_expire(bf_filter *f, double seconds, bf_error *err);
int bf_delete(bf_filter *f, bf_error *err);
/* Other contents at once, without a moment in which keys are missing; not for filters that grow or
 * forget.  begin gives an empty filter in memory that fits; fill it by bf_add_many; end puts its
 * bits in the place of those of f, for everybody who has f's home open.  cancel instead of end
 * leaves f as it was.  Both close nothing.  Until then f is used as ever by everybody.
 * Memory and mapped files: keys that anybody adds after begin are kept.  It needs a second bitmap
 * of the same size (in a file, behind the bits); adding takes a lock until it ends.  A second
 * rebuild by another process or handle is BF_EBUSY; begin again by f gives up the one before.  A
 * process that dies leaves the old keys or the new ones.
 * Redis: keeps the time to live.  Of keys that others add after begin those survive that are in
 * fresh.  A filter with shards changes one shard after the other. */
bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err);
int bf_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err);
int bf_rebuild_cancel(bf_filter *f, bf_filter *fresh, bf_error *err);
/* Switch between plain and atomic kernels.  No other thread may be inside the filter at that
 * moment. */
void bf_set_threads(bf_filter *f, bool threads);

/* ---- positions ------------------------------------------------------------------------------- */
/* The key's k positions in the scheme's order, at most cap of them written to pos; repeats are
 * allowed. Returns k.  Of a filter that grows or forgets: in the newest part, counted from the
 * filter's first bit. */
int64_t bf_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err);

/* ---- counting filters (BF_ENOTSUP for others): docs/counting.md ------------------------------ */
/* Takes one add of the key back: 1, each of its counters is one less (15 = "15 or more" stays for
 * ever); 0, it was absent and nothing changed.  Remove only what was added: a key that is there as
 * a false positive takes a share of others with it. */
int bf_remove(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Returns how many were removed; each as in bf_add_many: 1 = removed, 0 = was absent. */
int64_t bf_remove_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
/* How often the key was added and not removed, at most: 0 surely absent, 15 means 15 or more.  For
 * many keys: how many are present; each receives the counts. */
int bf_count_of(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_count_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
/* A plain filter in memory with the same keys: a bit is 1 where the counter is above 0. */
bf_filter *bf_to_plain(bf_filter *f, bf_error *err);

/* ---- what it is, what is in it --------------------------------------------------------------- */
void bf_get_info(const bf_filter *f, bf_info *info);
int bf_get_state(bf_filter *f, bf_state *state, bf_error *err);
/* Part i, counted from 0 to bf_info.part_count - 1: the oldest first (growing), in the order of the
 * bits (window).  With part 0 those are taken in that others have made by now: bf_get_info, which
 * asks nobody, knows them from then on. */
int bf_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err);
/* Are more than half of the cells set?  0 no; BF_HALF_FULL: as it is where a filter holds about
 * what it was sized for; BF_OVERFULL: and by the estimate it holds a tenth more than n keys, a
 * reason to warn.  *wait: how many new keys may be added before it is worth asking again whether it
 * is overfull.  Large filters are sampled (well within 0.1 %), which takes some 10 us; in Redis it
 * is a trip.  A filter that grows or forgets is BF_OVERFULL where its parts together have a rate
 * above 1.5 p (more than n keys in a window, growth that has come to its end, a union), as of its
 * newest add; else 0.  For hosts that warn: asked before the first add it is free for a new filter
 * in memory. */
enum { BF_HALF_FULL = 1, BF_OVERFULL = 2 };
int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
/* Copies len bytes of the bitset from byte `offset` on: bit i is byte i/8, mask 0x80 >> (i % 8);
 * counter i is byte i/2, the high half for even i. */
int bf_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err);

/* ---- sets: filters of equal m, k, scheme and secret, else BF_EINVAL naming both -------------- */
/* into |= from; counters are added up, to 15 at most */
int bf_unite(bf_filter *into, bf_filter *from, bf_error *err);
/* into &= from; of two counters the lesser */
int bf_intersect(bf_filter *into, bf_filter *from, bf_error *err);
/* The union and the intersection as a new filter in memory; a and b do not change.  NULL: *err. */
bf_filter *bf_union(bf_filter *a, bf_filter *b, bf_error *err);
bf_filter *bf_intersection(bf_filter *a, bf_filter *b, bf_error *err);
/* 1 all bits of a are in b (of each counter: not more than b's), 0 not.  If b has all keys of a, it
 * is 1. */
int bf_subset(bf_filter *a, bf_filter *b, bf_error *err);
/* How many keys are in a or in b, estimated without a union of them; and how many are in both: |a| +
 * |b| - |a or b|. */
int bf_union_count(bf_filter *a, bf_filter *b, double *count, bf_error *err);
int bf_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err);
/* 1 same parameters and bits, 0 not; other parameters are 0, not an error. */
int bf_equal(bf_filter *a, bf_filter *b, bf_error *err);

/* ---- bytes: one format for every home and language, docs/format.md --------------------------- */
/* Writes info.image_bytes bytes to buf; cap must be at least that: of a filter that others make
 * grow, as much as bf_bytes_as answers. */
int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* expect may be NULL; the parameters given in it must be those of the bytes (BF_EMISMATCH names
 * both), its secret opens a keyed filter.  The bytes are copied. */
bf_filter *bf_from_bytes(const void *data, size_t len, const bf_spec *expect, bf_error *err);
/* The bytes of other systems; what comes before the bits in theirs is checked, the rest must come
 * in expect:
 *   "guava"     Guava's BloomFilter.writeTo, for the schemes guava, guava-31 and guava32; expect
 *   may be NULL
 *   "bits"      the bits alone, in this order (a Redis string); expect must size the filter and
 *   name the scheme
 *   "bits-lsb"  the bits alone, bit i is 1 << (i % 8) of byte i/8 (most C programs, Java's BitSet,
 *   .NET's BitArray)
 *   "cells"     one byte a cell, set where it is not 0; read only
 *   NULL        our own, as bf_to_bytes; of a filter that grew since its length was asked for, the
 *   parts that fit
 * Bits alone may be shorter than m: what is cut off at the end is zeros.  bf_bytes_as answers how
 * many bytes bf_to_bytes_as writes. */
int64_t bf_bytes_as(bf_filter *f, const char *format, bf_error *err);
int bf_to_bytes_as(bf_filter *f, const char *format, void *buf, uint64_t cap, bf_error *err);
bf_filter *bf_from_bytes_as(
    const void *data, size_t len, const char *format, const bf_spec *expect, bf_error *err);
/* Writes a temporary file beside path, syncs it, renames it over path: no partial file stays
 * behind.  BF_EBUSY where path leads to a file that this process has open for writing: save under
 * another name and rename, or close it first. */
int bf_save(bf_filter *f, const char *path, bf_error *err);
bf_filter *bf_load(const char *path, const bf_spec *expect, bf_error *err);   /* into memory */

/* ---- for language bindings and servers: clients of the host ---------------------------------- */
enum { BF_OP_TEST = 0, BF_OP_ADD = 1 };

/* Home "client": the host's own object moves the bits (a Redis client it already has, or
 * a test). */
struct bf_client {
    /* For each of nkeys keys: pos holds its k positions one after another.  BF_OP_TEST: present[i]
     * = 1 if all are set.  BF_OP_ADD: the same answer as before the add, then set them.  0 or
     * non-zero = failed (the host keeps its own exception; the core answers BF_EHOST).  Duplicate
     * positions are allowed. */
    int (*apply)(
        void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present);
    void *ctx;               /* passed on as it is; must outlive the filter */
};

/* Home "redis" through a client that the host already has: it knows servers, logins, TLS and the
 * nodes of a cluster; the core knows the commands.  Its commands are in Redis's own protocol, ready
 * to be sent; a client that wants arguments instead walks them with bf_command_next and
 * bf_command_arg. */
typedef struct {
    const char *key;         /* what all commands of this part are about: it says which node of a
                              * cluster */
    size_t key_len;
    const void *bytes;       /* commands, one after another */
    size_t len, commands;
} bf_redis_part;
typedef struct bf_reply_sink bf_reply_sink;
enum {
    BF_CLIENT_ANSWERED = 0,  /* every command has its reply in the sink; an error reply is a
                              * reply */
    BF_CLIENT_UNSENT = 1,    /* nothing was sent: no connection                                   */
    BF_CLIENT_LOST = 2,      /* whether Redis did it is not known                                 */
    BF_CLIENT_STOP = 3       /* the host wants to stop (an interrupt): BF_EHOST, nothing is tried
                              * again */
};
struct bf_redis_client {
    /* Send all parts, and put the replies into the sink in the order of the commands, whichever
     * node they came from.  It never sends a command twice unless Redis said that it was not
     * executed (MOVED, ASK, TRYAGAIN), and never gives a connection back that may be out of step.
     * One of BF_CLIENT_...; other than ANSWERED after bf_reply_fault.  report = false: no one will
     * hear of a fault, so the host must not keep an exception. */
    int (*exchange)(
        void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink);
    const char *name;        /* what messages call it, e.g. "127.0.0.1:6379"; no password */
    bool cluster;            /* keys that are used together must share a hash slot */
    void *ctx;
};                           /* it and what it points to must outlive the filter */

/* ---- for language bindings and servers: inside bf_redis_client.exchange ---------------------- */
/* A reply, put piece by piece.  An array is array(n) and then its n members; each command's reply
 * is complete by itself. */
void bf_reply_put_integer(bf_reply_sink *sink, int64_t value);
void bf_reply_put_text(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_error(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_nil(bf_reply_sink *sink);
void bf_reply_put_array(bf_reply_sink *sink, size_t n);
/* Or the bytes as they came from the server, cut anywhere.  How many replies were completed since
 * the beginning, or since the last bf_reply_expect; BF_EFORMAT: these are none. */
int64_t bf_reply_feed(bf_reply_sink *sink, const void *bytes, size_t len);
/* The error reply to command i (counted over all parts): its length, the text not ended by a NUL; 0
 * = it is none. */
size_t bf_reply_refusal(const bf_reply_sink *sink, size_t i, const char **text);
/* Whose the next replies are, where they do not come in the order of the commands: several nodes,
 * or commands sent again that Redis did not execute.  The ranges are borrowed until they are used
 * up; bytes of an unfinished reply are dropped. */
/* first = BF_NO_REPLY: replies nobody waits for */
typedef struct { size_t first, count; } bf_redis_range;
#define BF_NO_REPLY SIZE_MAX
void bf_reply_expect(bf_reply_sink *sink, const bf_redis_range *ranges, size_t nranges);
/* Which connection the replies come from: a number that is larger for each one that the client
 * makes.  What a cache learned before the newest one is forgotten; where the host does not tell,
 * after a trip that failed. */
void bf_reply_connection(bf_reply_sink *sink, uint64_t number);
/* Why there are no replies: an errno (ETIMEDOUT, ECONNRESET...) or 0, and the host's words. */
void bf_reply_fault(bf_reply_sink *sink, int sys_errno, const void *text, size_t len);
/* start: { bytes, bytes + len, 0 } */
typedef struct { const char *at, *end; size_t args; } bf_commands;
/* to the next command: it has c->args arguments, its name included */
bool bf_command_next(bf_commands *c);
bool bf_command_arg(bf_commands *c, bf_key *arg);         /* its next argument */

/* ---- for language bindings and servers: handles, batches, warnings --------------------------- */
/* Adds a reference and returns f.  Each bf_retain needs a bf_close of its own; the last bf_close
 * frees.  For hosts that take a handle out of a table under a lock and use it after that. */
bf_filter *bf_retain(bf_filter *f);                         /* NULL is fine */
/* For hosts that let their users close a filter at any time.  Between bf_enter and bf_leave the
 * caller is inside: bf_busy and bf_shut refuse, and a bf_close frees nothing before the last one
 * left.  Calls that run the host's code (a clock, a client) count as inside by themselves, with all
 * their filters.
 *   bf_enter  0, or BF_EINVAL after bf_shut
 *   bf_busy   0, or BF_EBUSY while someone is inside: then f must not be closed
 *   bf_shut   0: all that f holds is freed, bf_enter refuses from now on, and only bf_enter,
 *             bf_shut, bf_retain and bf_close may be called; or BF_EBUSY while someone is inside
 * In the child of a fork those who were inside in other threads of the parent are in nobody's way;
 * the memory of such a filter is freed with the process.  All of these are atomic. */
int bf_enter(bf_filter *f, bf_error *err);
void bf_leave(bf_filter *f);
int bf_busy(bf_filter *f, bf_error *err);
int bf_shut(bf_filter *f, bf_error *err);
/* For hosts that leave calls by longjmp: this thread's calls that run the host's code are over.
 * What they had allocated or locked stays so; their filters can be closed and nothing else. */
void bf_abandon_calls(void);
/* For hosts that keep a handle from request to request: would bf_open(spec) open what f has open?
 * 1 yes; 0 no, the file was replaced (device, inode, time of birth) or deleted: open it again;
 * negative: what bf_open would refuse. */
int bf_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err);
/* For hosts with a lock of their own (Python's): f calls begin(ctx) before it waits for a lock or
 * for a disk, and end(ctx, what begin returned) after, in the thread that called it.  Neither may
 * use f.  No lock is waited for longer than 120 seconds; then the call fails with BF_EIO. */
void bf_set_wait_hooks(
    bf_filter *f, void *(*begin)(void *ctx), void (*end)(void *ctx, void *began), void *ctx);
/* For hosts with event threads: after bf_set_nowait(true) no call of this thread waits for a lock
 * or for a disk, and none makes a filter grow.  A call that would have to returns BF_EBUSY ("...;
 * this call does not wait"): repeat it in another thread.  A batch may be done in part by then: the
 * first err->key keys are done and have their answers.  Add the others again, and of their each[]
 * keep what is 1, which is a key that was new; each[] must be zeros before the first call.  Filters
 * in Redis wait for the server in any case. */
void bf_set_nowait(bool on);
/* For hosts that keep connections or locks: a number above 0 that every forked child finds changed.
 * A process id does not tell, a child in a new pid namespace may have its parent's. */
int bf_process(void);
/* For hosts that gather keys: how many to pass to one call of a batch function, 1 to
 * BF_BATCH_SIZE_MAX.  In Redis so many keys take one round trip; elsewhere they fit the processor's
 * caches. */
#define BF_BATCH_SIZE_MAX 1000
size_t bf_batch_size(const bf_filter *f);
/* The lines of a buffer as keys; each ends before the byte sep.  A call takes at most bf_batch_size
 * lines and about 4 MiB, moves `at` past them and adds to keys and hits (new, or present).  Returns
 * 1, or 0 if no complete line is left.  err->key is the index of a refused line, counted from the
 * first line of all calls; then at, keys and hits do not change. */
typedef struct {
    const char *at, *end;    /* what is left of the buffer                                        */
    char sep;
    bool last;               /* what follows the last sep is a line as well, if it is not empty   */
    uint8_t *each;           /* receives an answer a line and is moved on; NULL = not wanted      */
    char *kept;              /* receives the lines whose answer is keep, each with its sep, and is
                              * moved on: end - at + 1 bytes of room suffice; NULL = not wanted   */
    uint8_t keep;
    uint64_t keys, hits;
} bf_lines;
int bf_add_lines(bf_filter *f, bf_lines *l, bf_error *err);
int bf_test_lines(bf_filter *f, bf_lines *l, bf_error *err);
/* The same without a filter: stores the next lines, at most cap, as keys that point into the
 * buffer, and returns how many. */
size_t bf_next_lines(bf_lines *l, bf_key *keys, size_t cap);
/* For hosts that warn once when a filter is overfull.  bf_check_after returns how many new keys may
 * be added before the first check; INT64_MAX: never, because this home cannot check.  just_opened
 * is false after a clear or a union.  The host counts its new keys down and, below 0, calls
 * bf_check_fill, which sets *left to how many more may come before the next check.  In Redis a
 * check takes a round trip per part and is made once a minute (BITCOUNT of a few places); in
 * between bf_check_fill returns immediately.  bf_check_fill returns 1 if the filter is overfull:
 * then sentence (cap bytes) is a warning without a full stop, to which the host adds how its
 * warnings are turned off.  0: no warning, also if the check failed. */
#define BF_SENTENCE_BYTES 224
int64_t bf_check_after(bf_filter *f, bool just_opened);
int bf_check_fill(bf_filter *f, int64_t *left, char *sentence, size_t cap);
/* For the same hosts, once when a filter is created or opened.  1: hash functions of its scheme
 * fail on ordinary keys, and sentence names them; 0: none does. */
int bf_hash_warning(const bf_filter *f, char *sentence, size_t cap);

/* ---- for language bindings and servers: texts ------------------------------------------------ */
/* The refusal of a value that does not fit bf_spec's types: name is "m", "n", "k", "p", ...; value
 * its text as the user wrote it.  Fills *err with "m must be 1 to 1099511627776, got -5"; returns
 * BF_EINVAL. */
int bf_refuse(bf_error *err, const char *name, const char *value);
/* Is this storage a URL?  Otherwise it is a path, or a mistake. */
bool bf_is_url(const char *storage);
/* 1: the storage is a file, *path its path, a part of storage (file:PATH names PATH, whatever that
 * looks like); 0: it is a URL; BF_EINVAL: it is a mistake, such as redis:host or http://host. */
int bf_storage_path(const char *storage, const char **path, bf_error *err);
/* A storage, or a text in which some may be, without what stands between :// and @ in a URL: never
 * a password.  Writes at most cap bytes, a NUL included; returns the length of all of it. */
size_t bf_hide_passwords(const char *text, char *out, size_t cap);
/* The URL of a filter beside that of url: the name of its key followed by more, which holds no
 * character that a URL must encode.  Written and returned as by bf_hide_passwords. */
size_t bf_url_beside(const char *url, const char *more, char *out, size_t cap);
/* The files that opening this URL uses, for hosts that restrict which: i = 0, 1, ...  1: *path is
 * one, to be freed; 0: there are no more; or what bf_open would refuse. */
int bf_url_file(const char *url, unsigned i, char **path, bf_error *err);
/* The secret in a file: 16 bytes, or 32 hexadecimal digits and white space after them.  secret
 * receives BF_SECRET_BYTES bytes; no message shows any of it. */
int bf_read_secret(const char *path, void *secret, bf_error *err);
/* Names of the schemes this build knows, i = 0, 1, ...; NULL past the last.  "php-hashes" needs
 * more after a colon. */
const char *bf_scheme_name(size_t i);
const char *bf_version(void);

#ifdef __cplusplus
}
#endif
#endif
