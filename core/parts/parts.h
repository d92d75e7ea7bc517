/* parts.h - filters of many parts: growing and forgetting ones.  Private.
 *
 *   bf_filter { bitmap: no bits, only the store that leads to the parts }
 *      `- part[0] part[1] ... part[count - 1]
 *         each a bf_bitmap, as a fixed filter has one, and a live word
 *
 *   chain.c    opening, the lock, parameters      span.c     takes keys over the parts
 *   grow.c     growing filters                    window.c   forgetting filters
 *
 * Parts are stored by home/, redis/scalable.c and redis/window.c.  sets/ uses them as sets of bits.
 *
 * All parts have the same scheme and k: a key is hashed once for all of them. */
#ifndef BF_PARTS_H
#define BF_PARTS_H
#include "bits/bits.h"
#include "parts/filter.h"

/* What differs between the variants of filters: one row each, in the file of its name.  No file
 * above this folder asks for a variant. */
typedef struct bf_span bf_span;
struct bf_variant_ops {
    const bf_variant_format *stored;
    bool many;    /* has a header page or companion hash of its own, and parts */
    bool grows;   /* appends parts; their live words (filter.h) count keys */
    bool forgets; /* reuses parts in a ring; their live words (filter.h) are epochs */
    /* Test and add a span. test: only parts elsewhere. add: in addressable memory at most BF_CHUNK
     * keys. */
    int (*test)(bf_filter *f, bf_span *span, bf_error *err);
    int (*add)(bf_filter *f, bf_span *span, bf_error *err);
    /* For parts in addressable memory. parts_to_test returns the views that a test looks at; room
     * has BF_PARTS_MAX of them. add_one adds one key; NULL: added as a span of one. */
    int (*parts_to_test)(
        bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err);
    int (*add_one)(bf_filter *f, const uint64_t *digest, bf_error *err);
    /* Parts of counters: adds, removes or counts the keys of a span, as its op says.  NULL: of
     * bits, which add and test suffice for. */
    int (*count)(bf_filter *f, bf_span *span, bf_error *err);
};
extern const bf_variant_ops *const bf_variants[][2]; /* tables.c, by kind, of bits and counters */

/* How a home stores parts. */
typedef struct bf_chain_ops {
    /* Creates a filter.  Returns 1 if it is created and open with its first parts, 0 if it exists
     * by now, or an error.  NULL: the store's create does this. */
    int (*create)(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
    /* Appends a part, under the lock.  When it returns, all processes can see the part. */
    int (*append)(bf_filter *f, const bf_params *part, bf_error *err);
    /* follow opens the parts that others appended; NULL: there are no others. has_new_parts says
     * whether there are any. */
    int (*follow)(bf_filter *f, bf_error *err);
    bool (*has_new_parts)(const bf_filter *f);
    /* Called after an error rc of ask or put.  If the filter was re-created, the first call returns
     * that error; further calls return 0, and the caller sends the keys again. */
    int (*explain)(bf_filter *f, int rc, bf_error *err);
    /* For parts that are not in addressable memory; each call is a round trip. ask: sets
     * span->present for the keys that any of these parts has and returns how many; with add, adds
     * the keys to the first part. put: adds keys that are in no part to the last part until it has
     * `most`, and drops the decided keys from the span.  The other keys stay in the span, because
     * the part is full or another process appended a part.  Of parts of counters put also removes
     * and counts. */
    int64_t (*ask)(
        bf_filter *f, bf_part *const *parts, unsigned n, bool add, bf_span *span, bf_error *err);
    int (*put)(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most, bf_span *span,
        bf_error *err);
    /* Returns true if create() may replace a filter that was opened and lacks a part. */
    bool (*can_recreate)(bf_filter *f);
    /* For windows whose parts are created and expire.  Both are called under the lock and may move
     * *now on to an epoch that others have published. list_parts opens the living parts; `anyway`:
     * even if no reply has shown new ones. open_current opens the part of epoch now, or creates it;
     * `past`: a part of a past epoch that is still living. */
    int (*list_parts)(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
    int (*open_current)(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
    bool (*is_stale)(const bf_filter *f,
        int64_t now); /* true: the last reply showed a part newer than epoch now */
    /* Gets the time of the filter's clock in *now, and replaces it by the server's time if that
     * clock decides.  NULL: the filter's clock decides. */
    int (*server_time)(bf_filter *f, double *now, bf_error *err);
    int (*expire)(bf_filter *f, double seconds, bf_error *err); /* as in bf_store_ops */
    int (*remove)(bf_filter *f, bf_error *err);
} bf_chain_ops;
extern const bf_chain_ops bf_chain_memory, bf_chain_file, bf_chain_redis;

static inline bool bf_part_exists(const bf_part *p)
{
    return p->bitmap.store.words || p->bitmap.store.impl;
}

/* chain.c */
/* Gives f room for many parts; it has none of them yet. */
int bf_chain_begin(bf_filter *f, const bf_spec *spec, bf_error *err);
void bf_chain_free(bf_filter *f);
int bf_chain_add_part(bf_filter *f, bf_part *p); /* appends p, under the lock */
int bf_chain_open_new_parts(bf_filter *f, bf_error *err);
/* Opens the parts that others appended, if there are any. */
static inline int bf_chain_follow(bf_filter *f, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    return ops->has_new_parts && ops->has_new_parts(f) ? bf_chain_open_new_parts(f, err) : 0;
}
/* Appends a part after the `count` known ones, or opens the one that another process appended
 * first. */
int bf_chain_next(bf_filter *f, unsigned count, bf_error *err);
int bf_chain_next_locked(bf_filter *f, unsigned count, bf_error *err); /* under the lock */

/* window.c */
/* may ask Redis for the time */
int bf_window_epoch(bf_filter *f, int64_t *epoch, bf_error *err);
/* the part of the ring that this epoch uses; it may still belong to another epoch */
bf_part *bf_window_part(const bf_filter *f, int64_t epoch);
bool bf_window_is_living(const bf_filter *f, const bf_part *p, int64_t now);
/* In addressable memory: the part, emptied for this epoch; *p is NULL if the epoch is over. */
int bf_window_reuse_part(bf_filter *f, int64_t epoch, bf_part **p, bf_error *err);
/* Calls work with the part of that epoch, unless the epoch is over.  Holds the lock, so that the
 * part cannot be emptied for another epoch. */
int bf_window_with_part(bf_filter *f, int64_t epoch, int (*work)(void *, bf_part *, bf_error *),
    void *ctx, bf_error *err);
/* Checks stored live words before they are used. write: the newest epoch may be raised to that of
 * the parts. */
int bf_window_check(bf_filter *f, bool write, const char *where, bf_error *err);
double bf_window_step(const bf_filter *f); /* length of an epoch in seconds */

/* chain.c: the parts of a filter, be they one or many.  All files above this folder go over the
 * parts with these functions and do not ask how many there are. */
static inline unsigned bf_parts_count(const bf_filter *f)
{
    return bf_uint_load_acquire(&f->count);
}
static inline const bf_part *bf_parts_newest(const bf_filter *f)
{
    return f->part[bf_parts_count(f) - 1];
}
static inline bool bf_part_is_living(const bf_filter *f, const bf_part *p, int64_t now)
{
    return !f->variant->forgets || bf_window_is_living(f, p, now);
}

uint64_t bf_parts_cells(const bf_filter *f); /* cells of all parts */
/* The length of the image of the first `parts` parts, and whether it is compact. */
uint64_t bf_image_length_of(const bf_filter *f, unsigned parts);
bool bf_image_is_compact(const bf_filter *f, unsigned parts);
/* parameters as the image of part i has them */
bf_params bf_part_params(const bf_filter *f, unsigned i);
uint64_t bf_parts_stored(const bf_params *d); /* number of parts of a new or stored filter */

/* Checks that its words are still there; called before a map is first read. follow and refresh do
 * this too. */
int bf_parts_check(bf_filter *f, bf_error *err);
/* opens new parts that a reply or the header page has shown */
int bf_parts_follow(bf_filter *f, bf_error *err);
/* opens all parts that others have appended so far */
int bf_parts_refresh(bf_filter *f, bf_error *err);
int bf_parts_writable(bf_filter *f, bf_error *err);
/* call bf_parts_check first; *now is 0 if the filter does not forget */
int bf_parts_now(bf_filter *f, int64_t *now, bf_error *err);
/* The known parts, or all that exist, do not change until bf_parts_unlock. */
int bf_parts_lock(bf_filter *f, bf_error *err);
int bf_parts_lock_all(bf_filter *f, bf_error *err);
void bf_parts_unlock(bf_filter *f);

/* Forgetting filters: the oldest living epoch at that time; the part of an epoch, or NULL. */
static inline int64_t bf_oldest_epoch(const bf_filter *f, int64_t now)
{
    return now - (int64_t)f->desc.parts;
}
bf_part *bf_part_of_epoch(const bf_filter *f, int64_t epoch);

/* The part that a new key would be added to. */
int bf_parts_target(bf_filter *f, const bf_part **p, bf_error *err);
void bf_parts_info(bf_filter *f, unsigned i, bf_part_info *info);

/* For copies in memory (bf_new_like): a spec with f's secret and clock; appending a part. */
bf_spec bf_copy_spec(bf_filter *f);
int bf_parts_append(bf_filter *f, const bf_params *part, bf_error *err);

/* home/memory.c: an empty filter in memory; a growing or forgetting one has no parts yet. spec
 * gives secret or functions, threads and clock, and may be NULL. */
bf_filter *bf_new_like(const bf_params *d, const bf_spec *spec, bf_error *err);

/* ---- runs of keys on their way over many parts: span.c ---- */
/* A run of hashed keys, some of them undecided. */
enum { BF_SPAN = 1000 };
enum { BF_SPAN_NEW = 2 }; /* in present[]: no part had the key, so it was added: answer 1 */
struct bf_span {
    uint64_t d[BF_SPAN];
    uint16_t key[BF_SPAN]; /* the index in the run of the key with that digest */
    size_t n;
    unsigned asked;           /* number of parts that are known to have none of the keys */
    uint8_t present[BF_SPAN]; /* result of the last step: 0 absent, 1 present, or the answer + 1 */
    uint8_t *answer; /* answers of the run, initially 0: 1 is present (test) or new (add) */
    int op;          /* BF_OP_... */
};
/* Adds the first n keys to a part in addressable memory.  Returns how many were present;
 * span->present says which. */
int64_t bf_span_add(const bf_filter *f, bf_part *p, bf_span *span, size_t n);
/* Tests all these parts.  Keys that are found get `value` as their answer and leave the span. */
int bf_span_test(
    bf_filter *f, bf_part *const *parts, unsigned n, bf_span *span, uint8_t value, bf_error *err);
/* For parts in addressable memory: returns true if any key is in one of them, and sets
 * span->present. */
bool bf_span_find(bf_part *const *parts, unsigned n, bf_span *span);
/* Removes the keys that span->present decides; those that are present get `value` as their answer.
 */
void bf_span_drop_decided(bf_span *span, uint8_t value);

/* At most BF_CHUNK digests to work on, and further ones whose lines are to be prefetched. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} bf_digests;
/* For parts in addressable memory. fetch prefetches the keys' lines; ask tests or adds them: bit i
 * of present says that key i was there before.  The functions for one key answer as bf_test and
 * bf_add do. */
void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n);
int bf_chain_ask(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err);
int bf_chain_test_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Is the key in any of these parts?  Inline, because a single key would notice the call. */
static inline bool bf_chain_any(
    const bf_filter *f, const bf_part_view *views, unsigned n, const uint64_t *d)
{
    const bf_kernels *k = f->part[0]->bitmap.kernels;
    if (n > 1 && k->any) return k->any(views, n, d, 1, NULL, 0) != 0;
    while (n-- > 0)
        if (k->test_one(views[n].g, views[n].words, d)) return true;
    return false;
}
#endif
