/* rebuild.h - replaces the contents of a fixed filter while other threads and processes use it.
 * Private.
 *
 * The words stay at their addresses. A rebuild has a shadow, a second bitmap of the same size. Keys
 * that are added while the rebuild is open are added to the bits and to the shadow. When the
 * rebuild ends, the new contents are united into the shadow, and the shadow into the bits. Then
 * each word of the bits is replaced by the word of the shadow. So a key that is in the old and in
 * the new contents is present at every moment, and a test reads only the bits.
 *
 * The generation (format.h) is a word that is shared like the bits. It contains the phase of the
 * rebuild, and only increases: when a rebuild begins, ends or is cancelled, under the filter's
 * lock. An add reads the generation before and after it sets its bits. If the generation was
 * settled and has not changed, no rebuild began in between, and the add is complete. Otherwise the
 * key is added again under the lock, to the bits and to the shadow. A remove takes the lock first,
 * because a counter must not be decremented twice. */
#ifndef BF_REBUILD_H
#define BF_REBUILD_H
#include "bits/bits.h"
#include "parts/filter.h"

/* Returns true if a rebuild replaces the words of this home (rebuild.c). If not, the generation is
 * always settled. */
static inline bool bf_rebuilds_in_place(const bf_filter *f)
{
    return f->bitmap.store.words && f->bitmap.store.ops->shadow;
}

/* For an add without the lock: read the generation before the add, and call bf_unchanged after
 * it. */
static inline uint64_t bf_generation(const bf_filter *f) { return bf_load_acquire(f->generation); }
static inline bool bf_unchanged(const bf_filter *f, uint64_t before)
{
    /* the bits must be set before this read; otherwise a rebuild could begin in between and clear
     * them */
    bf_fence();
    return bf_word(f->generation) == before;
}

/* Takes the lock (bf_unlock releases it), sets *g, and completes or drops the rebuild of a process
 * that died. */
typedef struct {
    int64_t generation;
    uint64_t *shadow; /* NULL: no rebuild is open */
} bf_guard;
int bf_guard_lock(bf_filter *f, bf_guard *g, bf_error *err);
/* returns true if no rebuild has replaced the bits since the generation `before` */
bool bf_same_bits(const bf_guard *g, uint64_t before);
/* Returns true if a rebuild in place has replaced the first bits: the generation then increases to
 * a multiple of BF_REPLACEMENT. */
enum { BF_REPLACEMENT = 1 << 16 };
static inline bool bf_was_rebuilt(const bf_filter *f)
{
    return bf_generation_number(bf_generation(f)) >= BF_REPLACEMENT;
}

#endif
