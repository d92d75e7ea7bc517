/* bloomfilter.h - the interface for C programs.  bloomfilter_host.h adds what language bindings and
 * servers need.  All other headers are private.
 *
 * A filter answers "was this key added before?" with "surely not" or "probably".  Its home is where
 * its bits are: memory, a mapped file, Redis, or an object of the host ("client").  The same key
 * sets the same bits in every home and every language.
 *
 *     bf_error e;
 *     bf_spec spec = { .n = 1000000, .p = 0.01, .storage = "seen.bloom" };
 *     bf_filter *f = bf_open(&spec, &e);
 *     if (!f) return puts(e.msg);
 *     if (bf_add(f, "key", 3, &e) == BF_ADDED) puts("the key is new");
 *     if (bf_test(f, "key", 3, &e) == 1) puts("the key was probably added");
 *     bf_close(f);
 *
 * Conventions for all functions:
 *   - m = bits, n = keys the filter is sized for, k = positions per key, p = false-positive rate at
 *     n keys.  Sizes and lengths are bytes, times are seconds.
 *   - A key is (pointer, length): any bytes, including NUL; the length may be 0.  The library does
 *     not keep keys after a call.  ptr may be NULL if len is 0.
 *   - Answers are >= 0.  A negative answer is an error, one of BF_E...; a function that returns a
 *     pointer returns NULL on error.  Then *err contains the code and one sentence.  Read *err only
 *     after an error; err may be NULL.
 *   - No function prints, exits, aborts, installs signal handlers, or uses the host's allocator or
 *     random generators.  Memory comes from malloc.  A thread needs 128 KiB of stack.  No file or
 *     socket gets descriptor 0, 1 or 2, even if these are closed.
 *   - Several threads may test through the same handle at the same time.  Several threads may add
 *     if bf_spec.threads is set, or if the filter is in Redis or in a file without `exclusive`.
 *     While one thread opens, closes or clears a filter, or runs a set operation on it, no other
 *     thread may use the handle.
 *   - Code of the host (a clock, a client) that runs during a call may call any function with
 *     other filters. With a filter of that call it gets BF_EBUSY. */
#ifndef BLOOMFILTER_H
#define BLOOMFILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_VERSION "1.0.0-rc1"

typedef struct bf_filter bf_filter;                      /* opaque handle */
typedef struct { const void *ptr; size_t len; } bf_key;  /* the caller owns the bytes */
typedef struct bf_spec bf_spec;                          /* what to open */
typedef struct bf_error bf_error;                        /* what went wrong */

/* ---- open, add, test, close ------------------------------------------------------------------ */
/* Opens the filter in the storage. If there is none, creates the filter that spec describes. */
bf_filter *bf_open(const bf_spec *spec, bf_error *err);
/* bf_open without a struct, for callers through a foreign function interface. Zero and NULL mean
 * "not given". */
bf_filter *bf_create(uint64_t m, uint64_t n, unsigned k, double p, const char *scheme,
    const char *storage, bf_error *err);
/* Add and test one key.  bf_add returns BF_ADDED (the key is surely new) or BF_PRESENT.  bf_test
 * returns 1 (probably present) or 0 (surely absent). */
int bf_add(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_test(bf_filter *f, const void *key, size_t len, bf_error *err);
void bf_close(bf_filter *f);                              /* accepts NULL; wipes a secret */
/* Add and test many keys. Return how many were new (add) or present (test). If each is not NULL, it
 * receives n bytes: for an add 1 = new, 0 = present before; for a test 1 = present, 0 = absent. If
 * the scheme cannot hash a key (a scheme that hashes UTF-16 needs keys in UTF-8), returns BF_EINVAL
 * with the index of that key in err->key: the keys before it were added and have their answers;
 * that key and the later keys were not added. After any other error, some keys of the batch may
 * have been added. */
int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int64_t bf_test_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
/* The same for keys that are hashed already, in a filter of scheme "hashes64". A hash is a uniform
 * 64-bit number, for example of XXH3 or BLAKE2b; it selects the bits itself. Such a filter takes
 * hashes only: functions of keys return BF_EINVAL, as these two do for other schemes. */
int64_t bf_add_hashes(
    bf_filter *f, const uint64_t *hashes, size_t n, uint8_t *each, bf_error *err);
int64_t bf_test_hashes(
    bf_filter *f, const uint64_t *hashes, size_t n, uint8_t *each, bf_error *err);
/* Sets the number of threads for the functions above, bf_remove_many and bf_count_many, in all
 * later calls of this thread: 0 = one per processor; 1 = only the calling thread, as at first; at
 * most 64. The answers, the bits and the errors do not depend on it. The other threads exist only
 * during a call, and run no code of the host. They work on batches of 16,384 keys or more, in
 * memory and in files: docs/arrow.md has a table. */
void bf_use_threads(unsigned threads);

/* ---- answers and errors ---------------------------------------------------------------------- */
/* An add has three results in one int: added, present, error.  Never use `if (!bf_add(...))`. */
enum {
    BF_PRESENT = 0,          /* add: every position was already set                            */
    BF_ADDED = 1,            /* add: at least one position was not set: the key is surely new   */
    BF_EINVAL = -1,          /* an argument is out of range, or two filters do not match        */
    BF_ENOMEM = -2,          /* out of memory, or the filter is larger than the memory          */
    BF_EIO = -3,             /* a system call or the network failed; see sys_errno              */
    BF_EFORMAT = -4,         /* the bytes or the file are not a filter, or are damaged          */
    BF_EMISMATCH = -5,       /* the stored filter has other parameters or another secret        */
    BF_ENOTSUP = -6,         /* not possible with this storage or scheme, or in this build      */
    BF_EHOST = -7,           /* code of the host failed; its own exception is still set         */
    BF_EBUSY = -8,           /* the filter is in use: try again later                           */
    BF_ENOENT = -9,          /* nothing has that name: no file (sys_errno is ENOENT), or no such
                              * key in Redis (sys_errno is 0) */
    BF_ELOST = -10,          /* never returned; a host may use this code for BF_EIO with
                              * bf_error.lost */
    BF_EFULL = -11           /* no room for a new key: BF_OVERFULL_RAISE and the filter holds n
                              * keys, or it cannot grow any more (with any value but IGNORE);
                              * err->key: index of the first key that was not added */
};

/* Structs end in space for fields of later versions.  Set it to 0 in structs that you fill. */
#define BF_RESERVED 64

struct bf_error {            /* valid after an error */
    int code;                /* BF_E..., as returned                     */
    int sys_errno;           /* errno of the failed system call, or 0    */
    char msg[160];           /* one English sentence, no newline         */
    size_t key;              /* index of the key at fault in a batch, or BF_NO_KEY           */
    bool lost;               /* BF_EIO: Redis lost the filter or a part of it, or it was re-created,
                              * or another process replaced or deleted its file.  Open or create
                              * the filter again; a re-created one continues */
    char reserved[BF_RESERVED];  /* for later versions                                           */
};
#define BF_NO_KEY SIZE_MAX

/* ---- what to open ---------------------------------------------------------------------------- */
#define BF_M_MAX (UINT64_C(1) << 40)      /* bits: 128 GiB */
#define BF_N_MAX ((uint64_t)INT64_MAX)    /* keys */
#define BF_K_MAX 4096                     /* positions per key */
#define BF_SHARDS_MAX 4096                /* slices of a filter */
#define BF_SECRET_BYTES 16
#define BF_SCHEME_BYTES 64                /* longest bf_info.scheme, with its NUL */

/* Scheme "functions": hash functions of the user.  Function i returns any number; position i is
 * that number modulo m. */
typedef uint64_t bf_function(const void *key, size_t len);
enum { BF_FUNCTIONS_MAX = 16 };
typedef struct {
    unsigned count;                  /* 1..BF_FUNCTIONS_MAX; k is this number */
    bf_function *const *function;    /* the array must outlive the filter and its copies; this
                                      * struct is copied */
    /* For hosts whose functions may fail; if not NULL, `function` is not used.  Writes the `count`
     * numbers of a key to digests.  Returns 0, or non-zero on failure.  After a failure the host
     * keeps its own exception; the core returns BF_EHOST, and err->key is the key's index in a
     * batch: the keys before it were added and have their answers. */
    int (*call)(void *ctx, const void *key, size_t len, uint64_t *digests);
    void *ctx;                       /* argument of call; must outlive the filter and its copies */
} bf_functions;

typedef struct bf_client bf_client;                      /* see bloomfilter_host.h */
typedef struct bf_redis_client bf_redis_client;

/* The value of bf_spec.retry_after with which every call tries to reach the server.  In PHP, Python
 * and URLs this value is 0. */
#define BF_ALWAYS_TRY (-1.0)

/* bf_spec.overfull. WARN: hosts warn once when bf_saturated would return BF_OVERFULL. RAISE: the
 * filter takes n keys; then an add is a test, and an absent key returns BF_EFULL. IGNORE: nothing.
 * docs/counting.md has the details. */
enum { BF_OVERFULL_WARN = 1, BF_OVERFULL_RAISE = 2, BF_OVERFULL_IGNORE = 3 };

/* What to open. Zero means "not given". To create a filter, give (m,n), (n,p), (m,k) or (m,p); k
 * can be added to each pair. `storage` alone opens a filter that exists. All pointers are borrowed
 * for the call, except client, redis_client and clock_ctx, which must outlive the filter. */
struct bf_spec {
    uint64_t m, n;           /* bits 1..BF_M_MAX; keys 1..BF_N_MAX                               */
    unsigned k;              /* 1..BF_K_MAX, or the scheme's own limit                           */
    double p;                /* 0 < p < 1                                                        */
    const char *scheme;      /* name of a scheme, for some with an argument after a colon, e.g.
                              * "classic", "guava:chars"; NULL = the default.  docs/migrate.md
                              * lists the schemes of older systems */
    const bf_functions *functions;   /* for scheme "functions"; scheme may be NULL */
    const void *secret;      /* BF_SECRET_BYTES bytes: keyed hash; NULL = unkeyed                */
    size_t secret_len;
    const char *storage;     /* NULL = process memory;
                              * redis://[user:pass@]host:port/db?key=K&timeout=S&retry_after=S,
                              * rediss:// (the same with TLS), unix:///path?db=0&key=K;
                              * otherwise the path of a mapped file */
    const char *key;         /* name of the filter in Redis, if the URL has none; or NULL        */
    const bf_client *client; /* home "client"; NULL = none                                       */
    const bf_redis_client *redis_client;     /* home "redis" through the host's client; needs
                                              * key, and no storage; NULL = none */
    bool counting;           /* 4-bit counters instead of bits, so keys can be removed; m is the
                              * number of counters.  An existing filter must have the same value */
    double grow;             /* growth factor, 1..1024 (1 = parts of equal size); 0 = fixed size.
                              * Needs n and p, or m and n: docs/growing.md */
    double window;           /* seconds to remember a key, 1e-4 or more per part, at most 1e300;
                              * 0 = for ever.  Needs n and p */
    unsigned shards;         /* number of equal slices, 1..BF_SHARDS_MAX; 0 = one, or in Redis as
                              * many as m needs.  All bits of a key are in one slice; in Redis each
                              * slice is a separate string */
    unsigned parts;          /* for a window: number of steps in which it forgets, 1..255; 0 = 4 */
    double (*clock)(void *); /* for a window: called with clock_ctx, in a long batch several times;
                              * returns seconds since 1970, or NaN if it failed (BF_EHOST).
                              * NULL = the system's clock, in Redis the server's */
    void *clock_ctx;         /* argument of clock                                                */
    double timeout;          /* Redis: seconds a round trip may take, 0.001..86400; 0 = as in the
                              * URL, or 5 */
    double retry_after;      /* Redis: after the server did not answer in time, calls of this
                              * process fail immediately for this many seconds, at most 86400; then
                              * one call tries again.  0 = as in the URL, or 1; BF_ALWAYS_TRY =
                              * every call tries */
    bool cache;              /* Redis: keys known to be present need no round trip; takes at most
                              * m/8 bytes */
    double cache_max_age;    /* Redis: seconds for which the cache answers without a check that the
                              * bits in Redis are still valid; 0 = the default, 1 second */
    unsigned wait_replicas;  /* Redis: an add returns when this many replicas have it; 0 = none  */
    bool adopt;              /* Redis: makes another system's bitmap a filter of this library    */
    bool exclusive;          /* files: only this handle may write while it is open; its adds need
                              * no atomic instructions.  BF_EBUSY if another process writes;
                              * other writers get BF_EBUSY while this handle is open */
    unsigned overfull;       /* BF_OVERFULL_...; 0 = WARN.  Belongs to the handle and its copies,
                              * and is not stored */
    bool threads;            /* several threads add through this handle                          */
    bool must_exist;         /* open what the storage holds, never create                        */
    bool read_only;          /* like must_exist, and refuse all changes                          */
    bool may_count;          /* for tools: the stored filter may be counting or plain, whatever
                              * `counting` is; bf_info.counting has the answer */
    char planned[BF_SCHEME_BYTES];   /* memory of bf_plan: `scheme` may point to it              */
    char reserved[BF_RESERVED];      /* 0                                                        */
};

typedef struct {             /* parameters of a filter */
    uint64_t m, n;
    unsigned k;
    double p;                /* as given or computed; higher if the scheme's hash has too few
                              * values for the given p */
    const char *scheme;      /* this and the strings below are valid until bf_close              */
    const char *home;        /* "memory", "file", "redis", "client"                              */
    const char *storage;     /* path or URL as given (with its password), or NULL                */
    const char *shown;       /* storage for messages and logs, without a password, or NULL       */
    const char *key;         /* name inside the storage as given, or NULL                        */
    uint64_t bitset_bytes;   /* ceil(m / 8); for counters ceil(m / 2)                            */
    uint64_t image_bytes;    /* bytes that bf_to_bytes writes.  If the bits take less than 4 KiB, a
                              * saved file is longer, because its header always takes 4 KiB */
    unsigned shards;         /* 1 = not sharded                                                  */
    bool keyed, read_only;
    double grow, window;     /* as given; 0 = does not grow, does not forget                     */
    unsigned parts;          /* forgetting: as given or by default; else 0                       */
    unsigned part_count;     /* number of parts now; 1 for a fixed filter                        */
    bool counting;           /* the cells are counters, not bits                                 */
    unsigned overfull;       /* as in bf_spec                                                    */
    bool created;            /* bf_open created the filter, or a lost shard of it in Redis, so the
                              * caller must fill it. false: the filter existed, another function
                              * returned it, the home is "client", or a rebuild (in a file: by any
                              * process) has filled it */
    char reserved[BF_RESERVED];
} bf_info;

typedef struct {             /* a part of a filter that grows or forgets, or a whole fixed filter */
    uint64_t first_bit, m;   /* its bits are first_bit .. first_bit + m - 1 of the filter        */
    uint64_t n;              /* keys it is sized for                                             */
    uint64_t keys;           /* keys added to it (growing filters; else 0)                       */
    double p;                /* its share of the filter's p                                      */
    double since, until;     /* for a window, in seconds since 1970: keys added from `since` on
                              * are forgotten at `until`; else 0 */
} bf_part_info;

typedef struct {             /* contents of a filter, see bf_get_state */
    uint64_t ones;           /* bits set, or counters above 0                                    */
    double fill;             /* ones / m                                                         */
    double count;            /* estimated number of distinct keys: -m/k ln(1 - fill), for some
                              * schemes another formula */
    double fpr;              /* the scheme's false-positive rate at this fill                    */
    int saturated;           /* 0, BF_HALF_FULL or BF_OVERFULL: see bf_saturated                 */
} bf_state;

/* ---- the filter as a whole ------------------------------------------------------------------- */
/* Sets m, n, k, p, shards and scheme of *spec to the values of the filter that bf_open would
 * create; the scheme gets the name that bf_info has. Creates nothing. */
int bf_plan(bf_spec *spec, bf_error *err);
/* Stores a new secret of BF_SECRET_BYTES bytes from the kernel's random generator.  Keep it like
 * a password: a keyed filter can be opened only with its secret, which is stored nowhere.
 * Returns 0 or BF_EIO. */
int bf_random_secret(void *secret, bf_error *err);
/* Reads a secret from a file: 16 bytes, or 32 hexadecimal digits that may be followed by white
 * space.  Stores BF_SECRET_BYTES bytes in secret.  No message contains any of it. */
int bf_read_secret(const char *path, void *secret, bf_error *err);
/* Returns a copy in memory. */
bf_filter *bf_copy(bf_filter *f, bf_error *err);
/* Sets all bits to 0. If another process adds a key at the same time, all, some or none of the
 * key's bits may remain: stop the writers first, or replace the file. (In Redis each shard is
 * cleared in one step.) */
int bf_clear(bf_filter *f, bf_error *err);
/* For mapped files: call it before bf_close, which returns no error. Returns 0 if everything that
 * this handle wrote is in the file that now has this name. Returns BF_EIO with lost set if another
 * process replaced or deleted the file. Batches and bf_sync check this themselves; single adds
 * check it about once in 1,024 adds. */
int bf_check_file(bf_filter *f, bf_error *err);
/* Mapped files: writes all earlier adds to disk (msync, fsync), so that they survive a power loss.
 * Without this call adds survive the end of any process, also by kill -9. In other homes bf_sync
 * does nothing and returns 0. */
int bf_sync(bf_filter *f, bf_error *err);
/* Filters in Redis (BF_ENOTSUP elsewhere). bf_expire: Redis deletes the filter after this time; 0 =
 * never. bf_delete: deletes it immediately. Handles that are still open then get an error, never
 * "absent". If bf_open creates a new filter of that name, each older handle gets one error ("was
 * re-created") and then uses the new filter. An add whose reply was lost is never repeated; its
 * error reports an unknown outcome. */
int bf_expire(bf_filter *f, double seconds, bf_error *err);
int bf_delete(bf_filter *f, bf_error *err);
/* Replace the contents of a fixed filter in one step: keys that are in the old and in the new
 * contents are present at every moment.  bf_rebuild_begin returns an empty filter in memory; fill
 * it with bf_add_many.  bf_rebuild_end replaces f's bits by the bits of fresh, for all handles and
 * processes.  bf_rebuild_cancel leaves f unchanged.  Both leave f and fresh open.  f can be used
 * during the rebuild.
 * Memory and mapped files: keys that any process adds to f after bf_rebuild_begin are kept.  The
 * rebuild needs a second bitmap of the same size (in a file, after the bits), and adds take a lock
 * until the end.  bf_rebuild_begin by another process or handle returns BF_EBUSY; a second call
 * with f cancels the first rebuild.  If the rebuilding process dies, the filter has the old keys or
 * the new keys.
 * Redis: the time to live stays.  Keys that other processes add after bf_rebuild_begin remain only
 * if fresh contains them.  Shards are replaced one after the other. */
bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err);
int bf_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err);
int bf_rebuild_cancel(bf_filter *f, bf_filter *fresh, bf_error *err);

/* ---- positions ------------------------------------------------------------------------------- */
/* Writes the key's k positions to pos in the scheme's order, at most cap of them; a position may
 * occur twice. Returns k. In a filter that grows or forgets, the positions are in the part to which
 * a new key would be added. They are counted from the filter's first bit. In a growing filter of
 * scheme redisbloom, k is that of this part, which may be above bf_info.k. */
int64_t bf_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err);

/* ---- counting filters (BF_ENOTSUP for others): docs/counting.md ------------------------------ */
/* Undoes one add of the key.  Returns 1 if the key was present: each of its counters is now one
 * less (15 means "15 or more" and never changes).  Returns 0 if the key was absent: nothing
 * changed.  Remove only keys that were added: the removal of a false positive decrements
 * counters of other keys. */
int bf_remove(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Returns how many keys were removed.  If each is not NULL, it receives one byte per key: 1 =
 * removed, 0 = was absent. */
int64_t bf_remove_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
/* bf_count_of returns an upper bound for the number of adds minus the number of removals of the
 * key: 0 means surely absent, 15 means 15 or more.  bf_count_many returns how many keys are
 * present; each receives the counts. */
int bf_count_of(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_count_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
/* Returns a plain filter in memory with the same keys: a bit is 1 if the counter is above 0. */
bf_filter *bf_to_plain(bf_filter *f, bf_error *err);

/* ---- what it is, what is in it --------------------------------------------------------------- */
void bf_get_info(const bf_filter *f, bf_info *info);
int bf_get_state(bf_filter *f, bf_state *state, bf_error *err);
/* Reads part i, from 0 to bf_info.part_count - 1: the oldest part first (growing), or in the order
 * of the bits (forgetting). The call for part 0 also opens parts that other processes have
 * appended; bf_get_info does no I/O and includes them only afterwards. */
int bf_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err);
/* Checks whether a filter has too many keys. Returns 0 if at most half of the cells are set.
 * Returns BF_HALF_FULL if more are set, which is normal with about n keys. Returns BF_OVERFULL if,
 * in addition, the estimated number of keys is at least 1.1 n + 10. For a filter that grows or
 * forgets, returns BF_OVERFULL if its parts together had a rate above 1.5 p at the newest add,
 * else 0. A growing filter must also have a part with more than 1.1 n + 10 keys, where n is that
 * of the part. Sets *wait to the number of new keys after which the next check is worth its cost.
 * In large filters a check reads a sample of the bits (error well below 0.1 %) and takes about
 * 10 us; in Redis it takes a round trip per part. A check before the first add to a new filter in
 * memory costs nothing. */
enum { BF_HALF_FULL = 1, BF_OVERFULL = 2 };
int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err);
/* Copies len bytes of the bits, starting with byte `offset`.  Bit i is in byte i/8, mask 0x80 >>
 * (i % 8); counter i is in byte i/2, in the high half if i is even. */
int bf_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err);

/* ---- sets: filters of equal m, k, scheme and secret, else BF_EINVAL naming both -------------- */
/* into |= from; counters are added, up to 15 */
int bf_unite(bf_filter *into, bf_filter *from, bf_error *err);
/* into &= from; of two counters the smaller one */
int bf_intersect(bf_filter *into, bf_filter *from, bf_error *err);
/* Return the union and the intersection as a new filter in memory; a and b do not change.  NULL:
 * see *err. */
bf_filter *bf_union(bf_filter *a, bf_filter *b, bf_error *err);
bf_filter *bf_intersection(bf_filter *a, bf_filter *b, bf_error *err);
/* Returns 1 if all bits of a are set in b (no counter of a is above the same counter of b), else 0.
 * The result is 1 if all keys of a were added to b. In counting filters, each key must have been
 * added to b at least as often as to a, and no key removed. */
int bf_subset(bf_filter *a, bf_filter *b, bf_error *err);
/* bf_union_count estimates how many keys are in a or in b, bf_intersection_count how many are in
 * both: |a| + |b| - |a or b|. They create no filter. */
int bf_union_count(bf_filter *a, bf_filter *b, double *count, bf_error *err);
int bf_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err);
/* Returns 1 if parameters and bits are the same, else 0.  Different parameters are not an error. */
int bf_equal(bf_filter *a, bf_filter *b, bf_error *err);

/* ---- bytes: one format for every home and language, docs/format.md --------------------------- */
/* Writes the filter to buf, which has room for cap bytes. The length is bf_info.image_bytes; if
 * other processes may make the filter grow, call bf_bytes_as(f, NULL, err) to get the length. */
int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err);
/* Returns a filter in memory; the bytes are copied. expect may be NULL. If expect gives parameters
 * that differ from those in the bytes, the error BF_EMISMATCH names both values. The secret of a
 * keyed filter must be in expect. */
bf_filter *bf_from_bytes(const void *data, size_t len, const bf_spec *expect, bf_error *err);
/* Formats of other systems.  If the bytes have a header, it is checked. expect must give the
 * parameters that the bytes do not contain:
 *   "guava"     Guava's BloomFilter.writeTo, for the schemes guava, guava-31 and guava32; expect
 *   may be NULL
 *   "redisbloom"  RedisBloom's BF.SCANDUMP: the header and the data of all pieces one after the
 *   other, for the scheme redisbloom; expect may be NULL
 *   "bits"      the bits alone, in our order (a Redis string); expect must size the filter and
 *   name the scheme
 *   "bits-lsb"  the bits alone, bit i is 1 << (i % 8) of byte i/8 (most C programs, Java's BitSet,
 *   .NET's BitArray)
 *   "cells"     one byte per cell, set if it is not 0; can only be read
 *   NULL        our own format, as bf_to_bytes. If the filter has grown since its length was read,
 *   only as many parts as fit into buf are written
 * Bits alone may be shorter than m: missing bytes at the end are zeros.  bf_bytes_as returns how
 * many bytes bf_to_bytes_as writes. */
int64_t bf_bytes_as(bf_filter *f, const char *format, bf_error *err);
int bf_to_bytes_as(bf_filter *f, const char *format, void *buf, uint64_t cap, bf_error *err);
bf_filter *bf_from_bytes_as(
    const void *data, size_t len, const char *format, const bf_spec *expect, bf_error *err);
/* path is a path as in bf_spec's storage, also file:PATH. Writes a temporary file next to it, syncs
 * it and renames it to path, so that path never has a partial file. Returns BF_EBUSY if this
 * process has the file at path open for writing: close that filter first, or save under another
 * name and rename. If path is a Redis URL, creates a filter in Redis with these contents, in one
 * step (with shards, one shard after the other); if that filter exists, returns BF_EIO with
 * sys_errno EEXIST. */
int bf_save(bf_filter *f, const char *path, bf_error *err);
/* Reads a saved file, or the filter at a Redis URL, into memory. */
bf_filter *bf_load(const char *path, const bf_spec *expect, bf_error *err);

/* ---- filters of the module RedisBloom -------------------------------------------------------- */
/* Reads the filter of the module at from->storage (a Redis URL) or from->redis_client, and key, by
 * BF.SCANDUMP into memory. Other parameters of from must be those of the filter, as in
 * bf_from_bytes. Returns NULL and BF_EBUSY if a key was added during the call: stop the writers
 * first. */
bf_filter *bf_from_redisbloom(const bf_spec *from, bf_error *err);
/* Creates a filter of the module with the contents of f at that place, by BF.LOADCHUNK: under a
 * temporary name, then it gets its name in one step. If the name is in use, returns BF_EIO with
 * sys_errno EEXIST. */
int bf_to_redisbloom(bf_filter *f, const bf_spec *to, bf_error *err);

/* ---- the build ------------------------------------------------------------------------------- */
/* Returns the name of scheme i of this build, i = 0, 1, ...; NULL after the last one.
 * "php-hashes" needs an argument after a colon. */
const char *bf_scheme_name(size_t i);
const char *bf_version(void);

#ifdef __cplusplus
}
#endif
#endif
