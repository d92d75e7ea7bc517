/* filter.h - the handle: what every floor above shares of an open filter.  Private.
 * handle.c: what it is, its name in messages, may it be written, closing.  secret.c: keyed filters.
 */
#ifndef BF_FILTER_H
#define BF_FILTER_H
#include "parts/store.h"

/* A filter of fixed size is one part; a growing or forgetting one is a chain of them (parts.h). */
typedef struct {
    bf_geometry g;
    bf_store store;
    const bf_kernels *kernels; /* NULL = go by positions */
} bf_bitmap;

static inline bf_part_view bf_part_view_of(const bf_bitmap *p)
{
    return (bf_part_view){ p->store.words, &p->g, p->g.lines };
}

/* A part as one of its filter's. */
typedef struct {
    bf_bitmap bitmap;
    uint64_t start; /* bits of the parts before it                                             */
    uint64_t *live; /* keys in it (grow), its epoch (window); see bf_live                       */
    _Alignas(8) uint64_t own; /* what live points to where it is nobody else's */
    uint8_t *page; /* its header page in a mapped file, or NULL                               */
    uint32_t last_mark; /* Redis: its mark, when it was last sure that no part follows it */
} bf_part;

typedef struct bf_chain bf_chain;
typedef struct bf_variant_ops bf_variant_ops; /* parts.h */

typedef struct bf_call {
    struct bf_call *next, **from;
    bf_filter *f;
} bf_call; /* lifetime.c: one call of its thread */

/* May this handle write?  It only moves forward.  FRESH: it has not written yet.  WRITABLE: it may,
 * and nobody can take its home's name away.  NAMED: it may, as long as its file has its name, which
 * is looked at from time to time.  REPLACED: others replaced or deleted the file. */
enum { BF_FRESH, BF_WRITABLE, BF_NAMED, BF_REPLACED };

struct bf_filter {
    union { /* a fixed filter is its only part; of a chain: no bits, no kernels; the store is the
               one that leads to the parts' */
        bf_bitmap bitmap;
        bf_part part;
    };
    bf_chain *chain; /* NULL: a fixed filter; asked in parts/ and where parts live */
    const bf_variant_ops *variant;
    const bf_scheme *scheme;
    const bf_hash *hash;     /* scheme->hash or scheme->keyed */
    uint64_t *generation;    /* rebuild.h: the store's word, or own_generation         */
    bool atomic, exclusive;  /* words that others write too; the only writer of a file */
    uint8_t add_mode;        /* bf_add_mode: which add kernel                               */
    int state;               /* BF_FRESH ...                                           */
    int opened_by;           /* bf_process()                                           */
    bool never_written;      /* created empty in memory: still empty while state is BF_FRESH */
    bool read_only;          /* as asked; the store's own flag may come from the file's rights */
    bool created;            /* bf_open made what it opened   */
    int64_t fill_checked_at; /* keys/warning.c: ms, when a trip last told how full it is; 0 never */
    bool runs_host_code;     /* calls run the host's code: a clock, a client                    */
    _Alignas(8) uint8_t secret[BF_SECRET_BYTES]; /* or the scheme's argument   */
    uint64_t secret_check;                       /* 0 where not keyed             */
    double info_p;                               /* what bf_info says of p        */
    char name[BF_SCHEME_BYTES];                  /* the scheme's, with its argument */
    const bf_functions *functions;
    char *storage, *key; /* as given, or NULL             */
    bool closed;         /* shut: all that it held is freed                                 */
    bool first_in_use;
    int process;               /* bf_process() of the one whose calls are counted                 */
    _Alignas(8) uint64_t refs; /* lifetime.c: owners, and calls inside */
    bf_call first;             /* of those that run the host's code; others are allocated         */
    /* rebuild.h */
    _Alignas(8) uint64_t own_generation; /* of a filter in memory                                */
    uint64_t *shadow;                    /* of a filter in memory, or NULL                       */
    int64_t rebuild_opened; /* the generation of the rebuild that this handle opened, or 0 */
    int rebuild_by;     /* the process that did                                                  */
    int64_t rebuild_of; /* the generation of the rebuild that its keys are for, or 0             */
    int lock_holder;    /* the process that holds the lock of this handle, or 0                   */
    int lock_fd;        /* open while the store's lock is held, else -1                           */
    bf_wait_hooks wait; /* bf_set_wait_hooks */
};
/* handle.c: one thread of one process at a time changes which parts there are, or replaces bits.
 * First within the process, then among the processes that share the store. */
int bf_lock(bf_filter *f, bf_error *err);
void bf_unlock(bf_filter *f);

/* lifetime.c: who is inside.  A call that may run the host's code is between bf_call_enter and
 * bf_call_leave; where both filters are given, both are in it.  bf_call_enter: 0, or BF_EBUSY,
 * because this thread is inside already.  Neither costs anything elsewhere. */
typedef struct {
    bf_call *a, *b;
} bf_calls;
void bf_ref_init(bf_filter *f); /* its first owner: of a handle that is all zeros */
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
/* The first line of a public function that may run the host's code: it is inside until it returns.
 * failed: what it returns if it may not enter; `entered` is the error's code. */
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
bf_params bf_describe(const bf_filter *f);
int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err); /* bf_check_same */
const char *bf_where(const bf_filter *f, const bf_spec *spec);       /* its storage, for messages */
int bf_writable(bf_filter *f, bf_error *err);
/* After keys were added, or whatever else was written: is that in the file that has the name?  0,
 * or an error, also for all that is written later. */
int bf_still_named(bf_filter *f, bf_error *err);
/* The same for a single key that was added, and its answer: once in about 1,024 keys, by its
 * digest, because a counter would be shared by threads. */
static inline int bf_sometimes_named(bf_filter *f, uint64_t digest, int answer, bf_error *err)
{
    enum { ONE_IN = 1024 };
    if (digest % ONE_IN || answer < 0) return answer;
    const int rc = bf_still_named(f, err);
    return rc < 0 ? rc : answer;
}
/* *holder: 0 releases it */
int bf_lock_threads(const bf_filter *f, int *holder, bf_error *err);

const bf_kernels *bf_choose_kernels(const bf_layout *l, const bf_geometry *g);
void bf_release(bf_filter *f); /* all that it holds, but not itself */
bf_filter *bf_handle_new(
    const bf_store_ops *ops, bf_error *err); /* with one owner and nothing in it */
/* Takes on what a description says, and spec's secret or functions.  Before the store exists: a new
 * one stores their check. */
int bf_filter_init_from(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
void bf_finish_open(bf_filter *f, bool threads); /* its kernels, once its store is open */
#endif
