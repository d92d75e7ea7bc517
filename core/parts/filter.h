/* filter.h - the handle of an open filter, and the glossary of the library. Private.
 *
 *   handle.c  parameters, names in messages, permission to write, lock
 *   secret.c  keyed filters           lifetime.c  references and active calls
 *
 * Glossary. In the whole library these words have only these meanings:
 *
 *   scheme      a hash (keys to digests) and a layout (digests to positions) under one name
 *   cell        a bit, or in a counting filter a counter of 4 bits
 *   part        one bitmap of a growing or forgetting filter; a fixed filter is one part
 *   part state  64 bits that a part has besides its cells: number of keys, or epoch (bf_live)
 *   shard       one of the equal slices of a fixed filter, under its own Redis name
 *   epoch       the time slot of a part of a forgetting filter
 *   window      the time that a forgetting filter remembers a key
 *   word        64 bits of a bitmap
 *   digest      the result of a hash, 64 bits
 *   position    the index of a bit or counter
 *   mark        the generation number that follows the last bit in Redis
 *   image       a filter as bytes in our format
 *   client      the host's Redis object
 *   line        a cache line of 64 bytes (a line of text is a "text line")
 *   round trip  one exchange with Redis
 *   generation  the number that changes when bits are replaced (file, Redis)
 *   shadow      the copy that a rebuild fills
 *   home        a kind of place where bits are: memory, file, redis, client
 *   store       the code and the data of a home for one filter or part (store.h)
 *   kernel      a function that tests or adds keys in addressable memory (memory or a mapped file)
 *   K:meta      in Redis, the companion hash of the filter K: its parameters and its mark */
#ifndef BF_FILTER_H
#define BF_FILTER_H
#include "bits/bits.h"
#include "parts/store.h"

/* The bits of a fixed filter or of one part. */
typedef struct {
    bf_geometry g;
    bf_store store;
    const bf_kernels *kernels; /* NULL: no kernels; keys are handled by positions */
} bf_bitmap;

static inline bf_part_view bf_part_view_of(const bf_bitmap *p)
{
    return (bf_part_view){ p->store.words, &p->g, p->g.lines };
}

typedef struct {
    bf_bitmap bitmap;
    uint64_t start; /* number of cells in the parts before this one */
    /* the part state (bf_live): number of keys in a growing filter, epoch in a forgetting one;
     * points to own, or into page */
    uint64_t *live;
    _Alignas(8) uint64_t own; /* the part state of a part that is not in a mapped file */
    uint8_t *page;            /* the part's header page in a mapped file, or NULL */
} bf_part;

typedef struct bf_variant_ops bf_variant_ops; /* parts.h */

typedef struct bf_call {
    struct bf_call *next, **from;
    bf_filter *f;
} bf_call; /* an active call, see lifetime.c */
typedef struct {
    int (*enter)(void *ctx, bool second);
    void (*leave)(void *ctx);
    void *ctx;
} bf_turn_hooks;

/* The write state of a handle, in the order in which it changes. FRESH: nothing was written yet.
 * WRITABLE: adds check nothing. NAMED: adds check from time to time that the file still has its
 * name, or with BF_OVERFULL_RAISE that the filter has room. REPLACED: the file was replaced,
 * moved or deleted; each write checks the name again. */
enum { BF_FRESH, BF_WRITABLE, BF_NAMED, BF_REPLACED };

struct bf_filter {
    /* A fixed filter is its own only part. In a filter of many parts this bitmap has no bits; its
     * store has what the parts share, such as the file. */
    union {
        bf_bitmap bitmap;
        bf_part only;
    };
    bf_part **part; /* array of the parts; length 1 (fixed filter) or BF_PARTS_MAX */
    /* number of open parts; changes under the lock; read it with bf_parts_count */
    unsigned count;
    const bf_variant_ops *variant;
    const bf_hash *hash; /* the scheme's hash; if there is a secret, its keyed hash */
    /* the kernels of the bitmap, for single keys; NULL: single keys are handled as batches */
    const bf_kernels *single;
    uint64_t *generation; /* points to the store's word or to own_generation */
    /* atomic: other threads or processes write the words too. exclusive: this handle is the only
     * writer of its file. */
    bool atomic, exclusive;
    uint8_t add_mode;   /* a bf_add_mode: selects the add kernel */
    int state;          /* BF_FRESH to BF_REPLACED */
    int opened_by;      /* bf_process() of the process that opened the handle */
    bool never_written; /* created empty in memory; still empty while state is BF_FRESH */
    /* the caller asked for read-only; store.read_only may also come from the file's permissions */
    bool read_only;
    bool created;     /* bf_open created the filter */
    uint8_t overfull; /* BF_OVERFULL_... as in the spec, or 0 */
    /* keys/capacity.c: left: new keys until the next check of the fill; with BF_OVERFULL_RAISE, for
     * how many keys there is room. checked: no check follows, so new keys need not be counted; with
     * BF_OVERFULL_RAISE, left is the result of a check. */
    bool checked;
    _Alignas(8) int64_t left;
    int (*give_warning)(void *ctx, const char *sentence); /* set by bf_set_warning */
    void *warning_ctx;
    /* calls of this filter run code of the host: a clock, a hash function or a client */
    bool runs_host_code;
    _Alignas(8) uint8_t secret[BF_SECRET_BYTES]; /* the secret, or the scheme's argument */
    /* the parameters; desc.live: the state (bf_live) when the filter was opened */
    bf_params desc;
    double info_p;          /* the value of p that bf_info shows */
    bf_functions functions; /* hash functions of the host; count 0: none */
    char *storage, *key;    /* copies of spec's strings, or NULL */
    bool first_in_use;
    int process;               /* bf_process() of the process whose calls are counted */
    _Alignas(8) uint64_t refs; /* lifetime.c: numbers of references and of active calls */
    bf_call first; /* memory of one active call that runs host code; other calls are allocated */
    /* sets/rebuild.h */
    _Alignas(8) uint64_t own_generation; /* the generation of a filter in memory */
    uint64_t *shadow;                    /* the shadow of a filter in memory, or NULL */
    int64_t rebuild_opened; /* the generation of the rebuild that this handle has open, or 0 */
    int rebuild_by;         /* bf_process() of the process that opened this rebuild */
    /* in the filter that bf_rebuild_begin returned: the generation of its rebuild; else 0 */
    int64_t rebuild_of;
    int lock_holder;    /* bf_process() of the process that holds this handle's lock, or 0 */
    int lock_fd;        /* the descriptor of the store's lock while it is held, else -1 */
    bf_wait_hooks wait; /* set by bf_set_wait_hooks */
    bf_turn_hooks turn; /* set by bf_set_turn_hooks */
    /* filters of many parts (parts.h) */
    bf_part *itself; /* the array of parts of a fixed filter */
    /* views of the parts for kernels, valid if the parts are in addressable memory */
    bf_part_view *view;
    unsigned dirty_parts; /* number of parts whose header page is marked as dirty */
    /* growing filter: m is at its limit, so all further keys are added to the last part */
    bool at_limit;
    _Alignas(8) uint64_t own_epoch;
    uint64_t *epoch; /* forgetting filter: the newest epoch in which any process added a key */
    double (*clock)(void *);
    void *clock_ctx;
    bool own_clock; /* the caller passed the clock */
};
/* Returns true if the filter takes digests instead of keys. */
static inline bool bf_takes_hashes(const bf_filter *f) { return f->hash == &bf_hash_ready; }

/* handle.c: the lock under which parts are appended or dropped and bits are replaced. The lock
 * excludes other threads and, for a file, other processes. bf_lock waits as bf_wait does. */
int bf_lock(bf_filter *f, bf_error *err);
void bf_unlock(bf_filter *f);

/* lifetime.c: active calls. A call that may run host code starts with bf_call_enter and ends
 * with bf_call_leave, for one filter or two. bf_call_enter returns 0 or an error; BF_EBUSY: host
 * code of an active call has made this call, and a call of the filter is active. Without host code
 * both functions do nothing. */
typedef struct {
    bf_call *a, *b;
} bf_calls;
void bf_ref_init(bf_filter *f); /* gives a zeroed handle its first reference */
int bf_calls_enter(bf_calls *c, bf_filter *a, bf_filter *b, bf_error *err);
void bf_calls_leave(bf_calls *c);
static inline int bf_call_enter(bf_calls *c, bf_filter *a, bf_filter *b, bf_error *err)
{
    c->a = c->b = NULL;
    return a->runs_host_code || (b && b->runs_host_code) ? bf_calls_enter(c, a, b, err) : 0;
}
static inline void bf_call_leave(bf_calls *c)
{
    if (c->a) bf_calls_leave(c);
}
/* The first line of a public function that may run host code: enters the filters, and leaves them
 * when the function returns. failed: what the function returns if it cannot enter; the expression
 * may use the error code `entered`. */
#define BF_CALL(a, b, failed)                                                                      \
    bf_calls call_ __attribute__((cleanup(bf_call_leave)));                                        \
    const int entered = bf_call_enter(&call_, a, b, err);                                          \
    if (entered < 0) return failed
static inline void bf_close_kept(bf_filter **kept) { bf_close(*kept); }
/* The first line of a public function that uses f after a call that may have run host code: such
 * code may close f, also the host's warning, which is due if f->left is not above 0. */
#define BF_KEEP(f)                                                                                 \
    bf_filter *kept_ __attribute__((cleanup(bf_close_kept))) =                                     \
        (f)->runs_host_code || bf_hint_load(&(f)->left) <= 0 ? bf_retain(f) : NULL;                \
    (void)kept_

/* secret.c */
int bf_secret_check(const bf_scheme *scheme, const bf_spec *spec, uint64_t *check, bf_error *err);
int bf_secret_match(uint64_t stored, uint64_t given, const char *where, bf_error *err);
int bf_secret_set(bf_filter *f, const bf_spec *spec, bf_error *err);
void bf_secret_wipe(bf_filter *f);

/* handle.c */
/* Returns 0 if a and b have the same parameters, else BF_EINVAL. */
int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err);
/* Makes the next add check whether the filter is overfull. */
static inline void bf_check_soon(bf_filter *f)
{
    bf_hint_store(&f->left, 0);
    bf_flag_clear(&f->checked);
}
/* Returns BF_EFULL: the filter has no room for a new key. */
int bf_refuse_full(const bf_filter *f, bf_error *err);
/* Returns BF_EINVAL: the filter takes hashes. */
int bf_refuse_keys(const bf_filter *f, bf_error *err);
const char *bf_where(const bf_filter *f); /* the name of f's storage in messages */
/* Call it before a write. Returns 0, or an error that says why the handle cannot write. */
int bf_writable(bf_filter *f, bf_error *err);
/* Called after a write. Returns 0 if the name still leads to the file that was written.
 * Otherwise returns BF_EIO, as all later writes do until the file has its name again. */
int bf_check_named(bf_filter *f, bf_error *err);
/* Calls bf_check_named for about one key in 1,024. Selects keys by digest, because threads would
 * contend for a counter. Returns `answer`, or the error. */
static inline int bf_check_named_sometimes(bf_filter *f, uint64_t digest, int answer, bf_error *err)
{
    enum { ONE_IN = 1024 };
    if (digest % ONE_IN || answer < 0) return answer;
    const int rc = bf_check_named(f, err);
    return rc < 0 ? rc : answer;
}

const bf_kernels *bf_choose_kernels(const bf_layout *l, const bf_geometry *g);
void bf_release(bf_filter *f); /* frees all memory of the handle except the handle itself */
/* returns an empty handle with one reference; NULL: out of memory */
bf_filter *bf_handle_new(const bf_store_ops *ops, bf_error *err);
/* Copies the parameters, and spec's secret or functions, into the handle. Call it before the store
 * is created: a new store contains the check value of the secret. */
int bf_filter_init_from(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
/* chooses the kernels; call it after the store was opened */
void bf_finish_open(bf_filter *f, bool threads);
#endif
