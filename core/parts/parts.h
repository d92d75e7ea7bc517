/* parts.h - filters of many parts: growing and forgetting filters. Private.
 *
 *   bf_filter { bitmap: no bits }
 *      `- part[0] part[1] ... part[count - 1]
 *         each is a bf_bitmap (a fixed filter has one) and a part state (bf_live)
 *
 *   chain.c    the list of parts, checks, locks   span.c     runs keys through the parts
 *   grow.c     growing filters                    window.c   forgetting filters
 *
 * All parts have the same scheme and k, so a key is hashed once for all of them. */
#ifndef BF_PARTS_H
#define BF_PARTS_H
#include "bits/bits.h"
#include "parts/filter.h"

/* A variant: a kind of filter, fixed (chain.c), growing (grow.c) or forgetting (window.c), whose
 * parts are in addressable memory. */
typedef struct bf_span bf_span;
struct bf_variant_ops {
    const bf_variant_format *stored;
    bool many;    /* the filter may have more than one part */
    bool grows;   /* appends parts; the state of a part (bf_live) is its number of keys */
    bool forgets; /* reuses parts in a ring; the state of a part (bf_live) is its epoch */
    /* Adds the keys of a span, at most BF_CHUNK. */
    int (*add)(bf_filter *f, bf_span *span, bf_error *err);
    /* parts_to_test sets *views and *n to the views of the parts that a test reads; room has space
     * for BF_PARTS_MAX views. add_one adds one key; NULL: the key is added as a span of one. */
    int (*parts_to_test)(
        bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err);
    int (*add_one)(bf_filter *f, const uint64_t *digest, bf_error *err);
    /* Counting filters: adds, removes or counts the keys of a span; `add` is NULL. Other filters:
     * NULL. */
    int (*count)(bf_filter *f, bf_span *span, bf_error *err);
    /* Parts without kernels: tests or adds the keys of a span. Other filters: NULL. */
    int (*run)(bf_filter *f, bf_span *span, bf_error *err);
};
/* tables.c: by kind, then by counting; bf_variant_of also knows the scheme */
extern const bf_variant_ops *const bf_variants[][2];
const bf_variant_ops *bf_variant_of(const bf_params *d);

/* The operations of a home on parts. */
typedef struct bf_chain_ops {
    /* Appends a part for all processes. The caller holds the lock. */
    int (*append)(bf_filter *f, const bf_params *part, bf_error *err);
    /* follow opens the parts of a filter that has none yet; later, those that other processes
     * appended. has_new_parts returns true if there are any; NULL: there are none, or run opens
     * them. The caller of follow holds the lock. */
    int (*follow)(bf_filter *f, bf_error *err);
    bool (*has_new_parts)(const bf_filter *f);
    /* For parts that are not in addressable memory, else NULL: tests, adds, removes or counts the
     * keys of a span, in all parts. An add of no keys only begins a new epoch. */
    int (*run)(bf_filter *f, bf_span *span, bf_error *err);
    /* Replaces *now, the time of the filter's clock, by the server's time if the filter uses the
     * server's clock. NULL: there is no server. */
    int (*server_time)(bf_filter *f, double *now, bf_error *err);
} bf_chain_ops;
extern const bf_chain_ops bf_chain_memory, bf_chain_file, bf_chain_redis;

static inline bool bf_part_exists(const bf_part *p)
{
    return p->bitmap.store.words || p->bitmap.store.impl;
}

/* chain.c: replaces f's array of parts by an empty one for BF_PARTS_MAX parts. */
int bf_chain_begin(bf_filter *f, const bf_spec *spec, bf_error *err);
void bf_chain_free(bf_filter *f);
int bf_chain_add_part(bf_filter *f, bf_part *p); /* appends p; the caller holds the lock */
int bf_chain_open_new_parts(bf_filter *f, bf_error *err);
/* Opens the parts that other processes appended, if there are any. */
static inline int bf_chain_follow(bf_filter *f, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    return ops->has_new_parts && ops->has_new_parts(f) ? bf_chain_open_new_parts(f, err) : 0;
}
/* Appends a part after the `count` known parts, or opens it if another process appended it first.
 * bf_chain_next_locked: the caller holds the lock. */
int bf_chain_next(bf_filter *f, unsigned count, bf_error *err);
int bf_chain_next_locked(bf_filter *f, unsigned count, bf_error *err);

/* grow.c: the number of keys that fit the newest part of a growing filter */
uint64_t bf_grow_room(const bf_filter *f);

/* window.c: the present epoch; may read the time from Redis. bf_window_epoch_at: of this time. */
int bf_window_epoch(bf_filter *f, int64_t *epoch, bf_error *err);
int bf_window_epoch_at(const bf_filter *f, double now, int64_t *epoch, bf_error *err);
/* The part of the ring that this epoch uses. The part may still belong to another epoch. */
bf_part *bf_window_part(const bf_filter *f, int64_t epoch);
bool bf_window_is_living(const bf_filter *f, const bf_part *p, int64_t now);
/* For parts in addressable memory: sets *p to the part of this epoch. Empties the part if it
 * belongs to an older epoch; sets *p to NULL if it belongs to a later epoch. */
int bf_window_reuse_part(bf_filter *f, int64_t epoch, bf_part **p, bf_error *err);
/* Calls work(ctx, part of that epoch, err), unless the part already belongs to a later epoch. Holds
 * the lock, so that the part is not reused for another epoch during the call. */
int bf_window_with_part(bf_filter *f, int64_t epoch, int (*work)(void *, bf_part *, bf_error *),
    void *ctx, bf_error *err);
/* Returns BF_EFORMAT if the stored epochs are impossible. write: also raises the newest epoch to
 * the latest epoch of the parts. where: the storage in messages. */
int bf_window_check(bf_filter *f, bool write, const char *where, bf_error *err);
double bf_window_step(const bf_filter *f); /* length of an epoch in seconds */

/* ---- chain.c: the parts of a filter, one or many ---- */
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

uint64_t bf_parts_cells(const bf_filter *f); /* number of bits or counters in all parts */
/* For an image of the first `parts` parts: its length in bytes, and whether it is compact. */
uint64_t bf_image_length_of(const bf_filter *f, unsigned parts);
bool bf_image_is_compact(const bf_filter *f, unsigned parts);
/* the parameters of part i, as an image contains them */
bf_params bf_part_params(const bf_filter *f, unsigned i);
uint64_t bf_parts_stored(const bf_params *d); /* number of parts of a new or stored filter */

/* Returns an error if the words cannot be read, because the file was truncated or overwritten. Call
 * it before a call first reads the words; bf_parts_follow and bf_parts_refresh do so. */
int bf_parts_check(bf_filter *f, bf_error *err);
/* opens the new parts that a reply or the header page has shown */
int bf_parts_follow(bf_filter *f, bf_error *err);
/* opens all parts that other processes have appended so far */
int bf_parts_refresh(bf_filter *f, bf_error *err);
/* bf_writable, and in a file marks the pages of all parts as dirty */
int bf_parts_writable(bf_filter *f, bf_error *err);
/* Sets *now to the present epoch, or to 0 if the filter does not forget. Call bf_parts_check
 * first. */
int bf_parts_now(bf_filter *f, int64_t *now, bf_error *err);
/* Between lock and unlock the list of parts does not change. bf_parts_lock_all also opens all parts
 * that exist. */
int bf_parts_lock(bf_filter *f, bf_error *err);
int bf_parts_lock_all(bf_filter *f, bf_error *err);
void bf_parts_unlock(bf_filter *f);

/* Forgetting filters: the oldest epoch that is living at epoch `now`. */
static inline int64_t bf_oldest_epoch(const bf_filter *f, int64_t now)
{
    return now - (int64_t)f->desc.parts;
}
/* returns NULL if no part has the keys of this epoch */
bf_part *bf_part_of_epoch(const bf_filter *f, int64_t epoch);

/* Sets *p to the part to which a new key would be added. */
int bf_parts_target(bf_filter *f, const bf_part **p, bf_error *err);
void bf_parts_info(bf_filter *f, unsigned i, bf_part_info *info);

/* For copies in memory (bf_new_like). bf_copy_spec returns a spec with what a copy needs, such as
 * f's secret and clock. bf_parts_append appends a part; in a fixed filter it does nothing. */
bf_spec bf_copy_spec(bf_filter *f);
int bf_parts_append(bf_filter *f, const bf_params *part, bf_error *err);

/* home/memory.c: creates an empty filter in memory; a growing or forgetting one has no part yet.
 * spec may be NULL; only its secret, functions, threads, clock and overfull are used. */
bf_filter *bf_new_like(const bf_params *d, const bf_spec *spec, bf_error *err);

/* ---- span.c: spans ---- */
/* A span has up to BF_SPAN digests of consecutive keys of a batch (its run), `width` per key. Keys
 * whose answer is known leave the span. */
enum { BF_SPAN = 1000 };
enum { BF_SPAN_NEW = 2 }; /* in present[]: the key was absent and was added; its answer is 1 */
struct bf_span {
    uint64_t d[BF_SPAN];
    unsigned width;
    const bf_layout *layout; /* for parts without kernels */
    uint16_t key[BF_SPAN];   /* for each key in the span, the index of its key in the run */
    size_t n;
    unsigned asked; /* number of the oldest parts that are known to contain none of the keys */
    /* result of the last step for each key: 0 absent, 1 present; above that, the answer plus 1 */
    uint8_t present[BF_SPAN];
    /* for each key of the run: 1 if it is present (test) or new (add), or its count; 0 at first */
    uint8_t *answer;
    int op; /* BF_OP_TEST, ... */
};
/* Adds the first n keys to a part in addressable memory. Sets span->present. Returns the number of
 * keys that were present before. */
int64_t bf_span_add(const bf_filter *f, bf_part *p, bf_span *span, size_t n);
/* Tests the keys in all these parts. Keys that are found leave the span with the answer 0. */
void bf_span_test(bf_part *const *parts, unsigned n, bf_span *span);
/* For parts (at least one) in addressable memory: sets span->present, and returns true if any of
 * the keys is in one of the parts. */
bool bf_span_find(bf_part *const *parts, unsigned n, bf_span *span);
/* Removes the decided keys (present[] is not 0) from the span and stores their answers: `value` if
 * present[] is 1, else present[] minus 1. */
void bf_span_drop_decided(bf_span *span, uint8_t value);

/* At most BF_CHUNK digests to test or add; ahead: digests whose lines are prefetched meanwhile. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} bf_digests;
/* For parts in addressable memory. bf_chain_fetch prefetches the keys' lines. bf_chain_ask tests or
 * adds the keys; bit i of *present is set if key i was present before. bf_chain_test_one and
 * bf_chain_add_one return the same as bf_test and bf_add. */
void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n);
/* bf_chain_known: bit i of the result is set if one of the first n parts contains key i. */
uint64_t bf_chain_known(const bf_filter *f, unsigned n, const bf_digests *k);
int bf_chain_ask(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err);
int bf_chain_test_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Returns true if any of these parts contains the key. Inline, because a function call slows a test
 * of a single key measurably. */
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
