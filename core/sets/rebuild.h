/* rebuild.h - replaces the contents of a fixed filter while other threads and processes use it.
 * Private.
 *
 * The words stay at their place. A rebuild has a shadow, a second bitmap of the same size. Keys
 * that are added while the rebuild is open are added to the bits and to the shadow. When the
 * rebuild ends, first the bits of the new keys are united into the shadow, then the shadow is
 * united into the bits, and then each word of the bits is replaced by the word of the shadow. So
 * a key that is in the old and in the new contents is present at every moment, and a test reads
 * only the bits.
 *
 * The generation (format.h), a word shared in the same way as the bits, shows the phase of the
 * rebuild. It never has the same value twice: beginning, ending and cancelling a rebuild all
 * increase it, under the filter's lock. An add reads the generation before and after it sets its
 * bits. If the generation was settled and has not changed, no rebuild began in between, and the
 * add is complete. Otherwise the key is added again under the lock, to the bits and to the
 * shadow. A remove takes the lock from the start, because a counter must not be decremented
 * twice. */
#ifndef BF_REBUILD_H
#define BF_REBUILD_H
#include "bits/bits.h"
#include "parts/filter.h"

/* Returns true if the bits can be replaced while other threads and processes use them. If false,
 * the generation belongs to this handle alone and is always settled. */
static inline bool bf_rebuilds_in_place(const bf_filter *f)
{
    return f->bitmap.store.words && f->bitmap.store.ops->shadow;
}

/* For an add without the lock: read the generation before the add, and call bf_unchanged after
 * it. */
static inline uint64_t bf_generation(const bf_filter *f) { return bf_load_acquire(f->generation); }
static inline bool bf_unchanged(const bf_filter *f, uint64_t before)
{
    /* either all threads see the bits that were set before, or this read sees the change */
    bf_fence();
    return bf_word(f->generation) == before;
}

/* Takes the lock. If a rebuild's process has died, completes or drops that rebuild. bf_unlock
 * releases the lock. */
typedef struct {
    int64_t generation;
    uint64_t *shadow; /* NULL: no rebuild is open */
} bf_guard;
int bf_guard_lock(bf_filter *f, bf_guard *g, bf_error *err);
/* returns true if no bits were replaced since the generation `before` */
bool bf_same_bits(const bf_guard *g, uint64_t before);

#endif
