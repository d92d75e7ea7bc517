/* filter.h - the handle of an open filter, which all folders above share.  Private.
 *
 *   handle.c  parameters, names in messages, permission to write, closing
 *   secret.c  keyed filters           lifetime.c  owners and active calls */
#ifndef BF_FILTER_H
#define BF_FILTER_H
#include "parts/store.h"

/* The bits of a fixed filter, or of one part. */
typedef struct {
    bf_geometry g;
    bf_store store;
    const bf_kernels *kernels; /* NULL: no kernels, only positions */
} bf_bitmap;

static inline bf_part_view bf_part_view_of(const bf_bitmap *p)
{
    return (bf_part_view){ p->store.words, &p->g, p->g.lines };
}

/* A part of a growing or forgetting filter. */
typedef struct {
    bf_bitmap bitmap;
    uint64_t start; /* cells in the parts before this one */
    /* the live word: its number of keys (grow) or its epoch (window); see bf_live */
    uint64_t *live;
    _Alignas(8) uint64_t own; /* the live word of a part that no other process shares */
    uint8_t *page;            /* header page in a mapped file, or NULL */
    uint32_t last_mark;       /* Redis: the part's mark when it was last known to be the newest */
} bf_part;

typedef struct bf_variant_ops bf_variant_ops; /* parts.h */

typedef struct bf_call {
    struct bf_call *next, **from;
    bf_filter *f;
} bf_call; /* lifetime.c: an active call */

/* Write state of a handle; it only moves forward.  FRESH: nothing written yet.  WRITABLE: it may
 * write, and its home cannot lose its name.  NAMED: it may write while its file has its name; that
 * is checked from time to time.  REPLACED: the file was replaced or deleted. */
enum { BF_FRESH, BF_WRITABLE, BF_NAMED, BF_REPLACED };

struct bf_filter {
    union { /* a fixed filter is its only part; in a filter of many parts this bitmap has no bits,
               only the store that leads to the parts' stores */
        bf_bitmap bitmap;
        bf_part only;
    };
    bf_part **part; /* its parts: one, or room for BF_PARTS_MAX */
    unsigned count; /* parts in use; grows under the lock, read by bf_parts_count */
    const bf_variant_ops *variant;
    const bf_hash *hash;  /* the scheme's hash, or its keyed hash if there is a secret */
    uint64_t *generation; /* sets/rebuild.h: the store's word or own_generation */
    /* atomic: others write the words too; exclusive: the only writer of its file */
    bool atomic, exclusive;
    uint8_t add_mode;   /* bf_add_mode of its add kernel */
    int state;          /* BF_FRESH ...                                           */
    int opened_by;      /* bf_process()                                           */
    bool never_written; /* created empty in memory; still empty while state is BF_FRESH */
    bool read_only; /* as the caller asked; the store's flag may come from the file's permissions */
    bool created;   /* bf_open created the filter */
    int64_t fill_checked_at; /* keys/warning.c: when Redis was last asked for the fill, in ms; 0:
                                never */
    bool runs_host_code;     /* its calls run code of the host: a clock or a client */
    _Alignas(8) uint8_t secret[BF_SECRET_BYTES]; /* the secret, or the scheme's argument */
    bf_params desc;                              /* its parameters; desc.live is as of opening */
    double info_p;                               /* the p that bf_info shows */
    bf_functions functions;                      /* of the host; count 0: none */
    char *storage, *key;                         /* as given, or NULL */
    bool first_in_use;
    int process;               /* bf_process() of the process whose calls are counted */
    _Alignas(8) uint64_t refs; /* lifetime.c: owners and active calls */
    bf_call first; /* the first active call that runs host code; further ones are allocated */
    /* sets/rebuild.h */
    _Alignas(8) uint64_t own_generation; /* generation of a filter in memory */
    uint64_t *shadow;                    /* shadow of a filter in memory, or NULL */
    int64_t rebuild_opened; /* generation of the rebuild that this handle opened, or 0 */
    int rebuild_by;         /* the process that opened it */
    int64_t rebuild_of;     /* generation of the rebuild that this filter's keys are for, or 0 */
    int lock_holder;        /* the process that holds this handle's lock, or 0 */
    int lock_fd;            /* descriptor while the store's lock is held, else -1 */
    bf_wait_hooks wait;     /* bf_set_wait_hooks */
    /* filters of many parts (parts.h) */
    bf_part *itself;      /* what `part` points to in a fixed filter */
    bf_part_view *view;   /* views of the parts for kernels, if they are in addressable memory */
    unsigned dirty_parts; /* parts whose page is marked as dirty */
    bool at_limit;        /* growing: m is at its limit, the last part takes all further keys */
    _Alignas(8) uint64_t own_epoch;
    uint64_t *epoch; /* window: the newest epoch in which any process added */
    /* window in Redis: the newest epoch that has a part, as last read from K:meta */
    int64_t newest;
    double (*clock)(void *);
    void *clock_ctx;
    bool own_clock; /* the caller gave the clock */
    /* window in Redis: Redis's clock minus this machine's, in us; 0: unknown */
    _Alignas(8) uint64_t clock_offset;
    _Alignas(8) uint64_t clock_read_at; /* this machine's time when clock_offset was read */
};
/* handle.c: the lock under which parts are appended or dropped and bits are replaced: among
 * threads, then among the processes that share the store. */
int bf_lock(bf_filter *f, bf_error *err);
void bf_unlock(bf_filter *f);

/* lifetime.c: active calls.  A call that may run host code is between bf_call_enter and
 * bf_call_leave, in one filter or in two. bf_call_enter returns 0, or BF_EBUSY if this thread
 * already has an active call of that filter.  Other calls pay nothing for it. */
typedef struct {
    bf_call *a, *b;
} bf_calls;
void bf_ref_init(bf_filter *f); /* gives a zeroed handle its first owner */
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
/* The first line of a public function that may run host code: enters the filters until the function
 * returns. failed: what the function returns if it cannot enter; `entered` is the error's code. */
#define BF_CALL(a, b, failed)                                                                      \
    bf_calls call_ __attribute__((cleanup(bf_call_leave)));                                        \
    const int entered = bf_call_enter(&call_, a, b, err);                                          \
    if (entered < 0) return failed

/* secret.c: keyed filters */
int bf_secret_check(const bf_scheme *scheme, const bf_spec *spec, uint64_t *check, bf_error *err);
int bf_secret_match(uint64_t stored, uint64_t given, const char *where, bf_error *err);
int bf_secret_set(bf_filter *f, const bf_spec *spec, bf_error *err);
void bf_secret_wipe(bf_filter *f);

/* handle.c */
int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err); /* bf_check_same */
const char *bf_where(const bf_filter *f); /* its storage as messages show it */
int bf_writable(bf_filter *f, bf_error *err);
/* Called after a write.  Returns 0 if the name still leads to the file that was written to, or
 * BF_EIO, then for all further writes of the handle too. */
int bf_check_named(bf_filter *f, bf_error *err);
/* bf_check_named for a single key: checks once in about 1,024 keys, chosen by the digest (threads
 * would contend for a counter).  Returns answer or the error. */
static inline int bf_check_named_sometimes(bf_filter *f, uint64_t digest, int answer, bf_error *err)
{
    enum { ONE_IN = 1024 };
    if (digest % ONE_IN || answer < 0) return answer;
    const int rc = bf_check_named(f, err);
    return rc < 0 ? rc : answer;
}

const bf_kernels *bf_choose_kernels(const bf_layout *l, const bf_geometry *g);
void bf_release(bf_filter *f); /* frees everything that it holds, but not the handle */
/* returns an empty handle with one owner */
bf_filter *bf_handle_new(const bf_store_ops *ops, bf_error *err);
/* Takes over parameters, and spec's secret or functions.  Called before the store is created,
 * because a new store contains their check value. */
int bf_filter_init_from(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
/* chooses the kernels; called when the store is open */
void bf_finish_open(bf_filter *f, bool threads);
#endif
