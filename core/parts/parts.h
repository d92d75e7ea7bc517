/* parts.h - filters of many parts: growing and forgetting ones.  Private.
 *
 *   bf_filter { part: no bits, only the store of the whole }
 *      `- bf_chain { part[0] part[1] ... part[count - 1] }
 *                    each a bf_bitmap as a fixed filter has one, and a live word
 *
 *   chain.c    life, the lock, what it is           span.c     how keys go over the parts
 *   grow.c     when a part is full, the next one    window.c   which part is whose time
 *
 * Where parts live: home/, redis/scalable.c and redis/window.c.  The whole as a set of bits: sets/.
 *
 * All parts have one scheme and one k: a key is hashed once for all of them. */
#ifndef BF_CHAIN_H
#define BF_CHAIN_H
#include "bits/bits.h"
#include "parts/filter.h"

/* What the kinds of filters differ in.  One row a kind, in the file of its name; nobody above
 * parts/ asks for a kind. */
typedef struct bf_span bf_span;
struct bf_variant_ops {
    const bf_variant_format *stored;
    bool many;    /* a header page or a companion hash of the whole, and parts that have theirs */
    bool grows;   /* parts are appended; the live word of a part counts its keys                */
    bool forgets; /* parts take turns; the live word of a part is its epoch                     */
    /* Tests a span in parts elsewhere; adds one, which has at most BF_CHUNK keys for parts in
     * addressable memory. */
    int (*test)(bf_filter *f, bf_span *span, bf_error *err);
    int (*add)(bf_filter *f, bf_span *span, bf_error *err);
    /* Parts in addressable memory: those that a test asks, room is for BF_PARTS_MAX of them; adds
     * one key, NULL: as a span of one. */
    int (*parts_to_test)(
        bf_filter *f, bf_part_view *room, const bf_part_view **views, unsigned *n, bf_error *err);
    int (*add_one)(bf_filter *f, const uint64_t *digest, bf_error *err);
};
extern const bf_variant_ops *const bf_variants[]; /* tables.c: by kind */

struct bf_chain {
    bf_params desc; /* as stored; desc.live is of the moment of opening                        */
    unsigned count; /* parts there are; grows under the lock, read by bf_chain_count          */
    bf_part *part[BF_PARTS_MAX]; /* Redis may keep more of them than count */
    bf_part_view
        view[BF_PARTS_MAX]; /* the same for the kernels, where parts are in addressable memory */
    unsigned dirty_parts;   /* parts whose page says that it is written in place   */
    bool at_limit; /* m has reached its limit: the last part takes all                        */
    _Alignas(8) uint64_t own;
    uint64_t *epoch; /* window: the newest epoch that anybody added in                          */
    int64_t newest;  /* Redis, window: the newest epoch that has a part, as K:meta said it last */
    double (*clock)(void *);
    void *clock_ctx;
    bool own_clock; /* the clock is the caller's                                               */
    _Alignas(8) uint64_t
        clock_offset; /* Redis, window: its clock less this machine's, in us; 0 = not known */
    _Alignas(8) uint64_t clock_read_at; /* the moment of this machine's when that was found out */
};

/* How a home keeps parts. */
typedef struct bf_chain_ops {
    /* A new filter: 1 made and open, with its first parts; 0 it is there now, whoever made it; or
     * an error.  NULL: the store's own create does it. */
    int (*create)(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
    /* One more part at the end, under the lock.  It is there for everybody once this returned. */
    int (*append)(bf_filter *f, const bf_params *part, bf_error *err);
    /* Takes in the parts that others appended; NULL: there are no others.  has_new_parts: is there
     * anything to take in? */
    int (*follow)(bf_filter *f, bf_error *err);
    bool (*has_new_parts)(const bf_filter *f);
    /* After an error of ask or put (rc): what became of the filter?  If it was re-created, the
     * error says so, once; 0: an earlier one said it, and the keys are to be asked for again. */
    int (*explain)(bf_filter *f, int rc, bf_error *err);
    /* Parts that are not in addressable memory, each a trip.  ask: which keys of the span are in
     * any of these parts (span->present; how many), and with add: adds them to the first.  put:
     * adds those that no part has to the last one, which may have so many, and settles the span:
     * in it stay the keys that were neither found nor added, for lack of room or because there are
     * other parts by now. */
    int64_t (*ask)(
        bf_filter *f, bf_part *const *parts, unsigned n, bool add, bf_span *span, bf_error *err);
    int (*put)(bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most, bf_span *span,
        bf_error *err);
    /* What was to be opened has lost a part: may create() make it again in its place? */
    bool (*can_recreate)(bf_filter *f);
    /* Windows whose parts are not always there.  Both under the lock, both may move *now on to what
     * others have published. list_parts: takes in which living parts there are; anyway: even if
     * nothing has shown that there are more.  open_current: makes the part of now, or takes it in;
     * past: that of an epoch that others may have been later than, if its time is not over. */
    int (*list_parts)(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
    int (*open_current)(bf_filter *f, int64_t *epoch, bool past, bf_error *err);
    bool (*is_stale)(
        const bf_filter *f, int64_t now); /* has the last trip shown that there is a part more? */
    /* Whose clock counts: *now is what the filter's clock gave, and becomes what counts.  NULL:
     * that one. */
    int (*server_time)(bf_filter *f, double *now, bf_error *err);
    int (*expire)(bf_filter *f, double seconds, bf_error *err); /* as of a store */
    int (*remove)(bf_filter *f, bf_error *err);
} bf_chain_ops;
extern const bf_chain_ops bf_chain_memory, bf_chain_file, bf_chain_redis;

static inline bool bf_part_exists(const bf_part *p)
{
    return p->bitmap.store.words || p->bitmap.store.impl;
}
static inline unsigned bf_chain_count(const bf_chain *c) { return bf_uint_load_acquire(&c->count); }

/* chain.c */
int bf_chain_begin(
    bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err); /* no parts yet */
void bf_chain_free(bf_filter *f);
/* The filter's clock; if that is the system's, as of its last tick: some ms late, never early. */
double bf_chain_tick(const bf_chain *c);
int bf_chain_join(bf_chain *c, bf_part *p); /* takes p over as the last part, under the lock */
int bf_chain_take_in(bf_filter *f, bf_error *err);
/* The parts that others have appended, if there is news of any. */
static inline int bf_chain_follow(bf_filter *f, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    return ops->has_new_parts && ops->has_new_parts(f) ? bf_chain_take_in(f, err) : 0;
}
/* The part after the `count` that are known; somebody else's, where he was faster. */
int bf_chain_next(bf_filter *f, unsigned count, bf_error *err);
uint64_t bf_chain_bytes(const bf_filter *f); /* of its file */

/* window.c */
/* may ask Redis for its time */
int bf_window_now(bf_filter *f, int64_t *epoch, bf_error *err);
/* the same by this machine's clock, without a trip */
int bf_window_here(const bf_filter *f, int64_t *epoch, bf_error *err);
bf_part *bf_window_part(
    const bf_chain *c, int64_t epoch); /* whose turn it is; maybe it is another epoch's still */
bool bf_window_lives(const bf_chain *c, const bf_part *p, int64_t now);
/* In addressable memory: that part, emptied and of that epoch; *p NULL: too late. */
int bf_window_turn(bf_filter *f, int64_t epoch, bf_part **p, bf_error *err);
/* Works with the part of that epoch, unless it is too late.  Under the lock: the part cannot be
 * emptied for another epoch meanwhile. */
int bf_window_into(bf_filter *f, int64_t epoch, int (*work)(void *, bf_part *, bf_error *),
    void *ctx, bf_error *err);
void bf_window_empty(bf_filter *f, bf_part *p,
    int64_t epoch); /* under the lock; nothing where it is of that epoch, or a later one */
/* is its epoch later than any that was published? */
int bf_window_late(const bf_filter *f, const bf_part *p, bf_error *err);
/* The live words of what was stored, before they are used; write: the newest epoch may be raised to
 * that of its parts. */
int bf_window_check(bf_filter *f, bool write, const char *where, bf_error *err);
double bf_window_step(const bf_chain *c); /* seconds an epoch takes */

/* chain.c: a filter as its parts, be they one or many.  What is above parts/ goes over the parts by
 * these and does not ask how many a filter has. */
static inline unsigned bf_whole_count(const bf_filter *f)
{
    return f->chain ? bf_chain_count(f->chain) : 1;
}
static inline bf_part *bf_whole_part(bf_filter *f, unsigned i)
{
    return f->chain ? f->chain->part[i] : &f->part;
}
static inline const bf_part *bf_whole_newest(const bf_filter *f)
{
    return bf_whole_part((bf_filter *)f, bf_whole_count(f) - 1);
}
static inline bool bf_whole_lives(const bf_filter *f, const bf_part *p, int64_t now)
{
    return !f->variant->forgets || bf_window_lives(f->chain, p, now);
}

uint64_t bf_whole_cells(const bf_filter *f); /* of all parts                                   */
/* Of an image of the first so many parts: its bytes; has it no pages?  The bytes before the first
 * part's; a part's. */
uint64_t bf_whole_bytes(const bf_filter *f, unsigned parts);
bool bf_whole_compact(const bf_filter *f, unsigned parts);
uint64_t bf_whole_head(const bf_filter *f, bool compact);
uint64_t bf_whole_part_bytes(const bf_filter *f, unsigned i, bool compact);
bf_params bf_whole_describe(
    const bf_filter *f, unsigned parts); /* as an image of so many parts is */
bf_params bf_whole_describe_part(
    const bf_filter *f, const bf_part *p, unsigned i); /* as part i's image is */
uint64_t bf_whole_parts(const bf_params *d); /* a new or a stored filter of this description has */

/* Opened: takes in all parts that are there.  Created: 1, 0 somebody else was faster. */
int bf_whole_attach(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
int bf_whole_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err);
int bf_whole_plan(bf_params *d, bf_error *err); /* d->g.m becomes that of all its first parts */

/* Are its words where they were?  Asked before the first look at a map; follow and refresh ask too.
 */
int bf_whole_check(bf_filter *f, bf_error *err);
int bf_whole_follow(bf_filter *f, bf_error *err);  /* takes in the parts that it was told of    */
int bf_whole_refresh(bf_filter *f, bf_error *err); /* all that others appended before           */
int bf_whole_writable(bf_filter *f, bf_error *err);
int bf_whole_now(
    bf_filter *f, int64_t *now, bf_error *err); /* after a check; 0 where time is nothing */
/* The parts that it knows, or all that are there, stay as they are until it is let go. */
int bf_whole_hold(bf_filter *f, bf_error *err);
int bf_whole_hold_all(bf_filter *f, bf_error *err);
void bf_whole_let(bf_filter *f);
int bf_whole_expire(bf_filter *f, double seconds, bf_error *err);
int bf_whole_remove(bf_filter *f, bf_error *err);

/* Those that forget: the epoch of the newest add; the oldest epoch that counts at that time; the
 * part of an epoch, NULL where it has none; do its parts stay where they are (else they come and
 * go with the time)? */
int64_t bf_whole_latest(const bf_filter *f);
int64_t bf_whole_oldest(const bf_filter *f, int64_t now);
bf_part *bf_whole_of(const bf_filter *f, int64_t epoch);
bool bf_whole_stands(const bf_filter *f);

/* The part that a key would go into now. */
int bf_whole_target(bf_filter *f, const bf_part **p, bf_error *err);
void bf_whole_tell(bf_filter *f, unsigned i, bf_part_info *info);

/* What an empty one in memory is made from (bf_new_like): f's secret and clock.  Parts are appended
 * to it one after the other, and then it goes on where f is. */
bf_spec bf_whole_spec(bf_filter *f);
int bf_whole_append(bf_filter *f, const bf_params *part, bf_error *err);
void bf_whole_go_on(bf_filter *f, const bf_filter *as);

/* home/memory.c: in memory, empty; one that grows or forgets without parts.  spec gives secret or
 * functions, threads and clock, and may be NULL. */
bf_filter *bf_new_like(const bf_params *d, const bf_spec *spec, bf_error *err);
#endif
