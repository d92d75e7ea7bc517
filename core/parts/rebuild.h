/* rebuild.h - other contents for a filter of fixed size, while others use it.  Private.
 *
 * The bits stay where they are.  A rebuild has a shadow, a second bitmap of the same size: what is
 * added while the rebuild is open goes to the bits and to the shadow.  At its end the new keys'
 * bits join the shadow; then the shadow is united into the bits, and then each word becomes the
 * shadow's.  So a key that is in the old and in the new contents is present at every moment, and a
 * test reads nothing but the bits.
 *
 * The generation (format.h), a word that is shared as the bits are, says how far the rebuild is.
 * It never has a value twice: begin, end and giving up all count it up, under the filter's lock.
 * An add reads it once before and once after it sets its bits.  If it was settled and is the same
 * number still, no rebuild began in between, and the add is done.  If not, the key is added again
 * under the lock, to the bits and to the shadow.  A counter that was decremented cannot be
 * decremented again: a remove takes the lock from the start. */
#ifndef BF_REBUILD_H
#define BF_REBUILD_H
#include "bits/bits.h"
#include "parts/filter.h"

/* How a home stores a shadow.  All operations are called under the lock. */
typedef enum { BF_SYNC_SHADOW, BF_SYNC_BITS, BF_SYNC_GENERATION } bf_sync_what;
typedef struct bf_shadow_ops {
    /* Returns 1 and the shadow's words, or 0 if there is none. create: replaces any shadow by an
     * empty one of this process. */
    int (*words)(bf_filter *f, bool create, uint64_t **shadow, bf_error *err);
    int (*drop)(bf_filter *f, bf_error *err);
    /* Syncs to disk; NULL: nothing to sync. */
    int (*sync)(bf_filter *f, bf_sync_what what, bf_error *err);
    /* Is the rebuilding process alive? 1 yes, 0 no, -1 unknown.  NULL: it is this process. */
    int (*maker_lives)(const bf_filter *f);
} bf_shadow_ops;
extern const bf_shadow_ops bf_shadow_memory, bf_shadow_file;

/* Can it be rebuilt in place?  If not, its generation is its own and always settled. */
static inline bool bf_rebuilds_in_place(const bf_filter *f)
{
    return f->bitmap.store.words && f->bitmap.store.ops->shadow;
}

/* Read the generation before, and compare it after an add without the lock. */
static inline uint64_t bf_generation(const bf_filter *f) { return bf_load_acquire(f->generation); }
static inline bool bf_unchanged(const bf_filter *f, uint64_t before)
{
    bf_fence(); /* the bits are visible to all threads, or the change is seen */
    return bf_word(f->generation) == before;
}

/* Takes the lock and completes or drops a rebuild whose process died. bf_unlock releases it. */
typedef struct {
    int64_t generation;
    uint64_t *shadow; /* NULL: no rebuild is open */
} bf_guard;
int bf_guard_lock(bf_filter *f, bf_guard *g, bf_error *err);
/* Were no bits replaced since the generation `before`? */
bool bf_same_bits(const bf_guard *g, uint64_t before);

/* The steps of a rebuild. open: *number identifies it. install: words are the new contents; number
 * 0: they belong to no rebuild that was opened. discard: does nothing if that rebuild is over. */
int bf_shadow_open(bf_filter *f, int64_t *number, bf_error *err);
int bf_shadow_install(bf_filter *f, int64_t number, const uint64_t *words, bf_error *err);
int bf_shadow_discard(bf_filter *f, int64_t number, bf_error *err);
#endif
