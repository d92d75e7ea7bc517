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

/* Returns true if the bits can be replaced while others use them.  If not, the generation belongs
 * to the handle alone and is always settled. */
static inline bool bf_rebuilds_in_place(const bf_filter *f)
{
    return f->bitmap.store.words && f->bitmap.store.ops->shadow;
}

/* Read the generation before, and compare it after an add without the lock. */
static inline uint64_t bf_generation(const bf_filter *f) { return bf_load_acquire(f->generation); }
static inline bool bf_unchanged(const bf_filter *f, uint64_t before)
{
    bf_fence(); /* either all threads see the bits that were set before, or this reads a change */
    return bf_word(f->generation) == before;
}

/* Takes the lock and completes or drops a rebuild whose process died. bf_unlock releases it. */
typedef struct {
    int64_t generation;
    uint64_t *shadow; /* NULL: no rebuild is open */
} bf_guard;
int bf_guard_lock(bf_filter *f, bf_guard *g, bf_error *err);
/* true: no bits were replaced since the generation `before` */
bool bf_same_bits(const bf_guard *g, uint64_t before);

#endif
