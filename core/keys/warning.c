/* warning.c - decisions that all hosts share: how many keys a batch has, when to check whether
 * the filter is overfull, and the texts of warnings. Knows homes by the operations of their
 * stores, and weak hashes by bf_hash.weak. */
#include "base/base.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <time.h>

/* NEAR is the number of keys whose host objects stay in the first-level caches until the keys
 * are hashed. A call on a file also checks the file's name, so it gets more keys. */
enum { NEAR = 256 };

size_t bf_batch_size(const bf_filter *f)
{
    const unsigned batch = f->bitmap.store.ops->batch, k = f->bitmap.g.k;
    const size_t most = batch > BF_BATCH_SIZE_MAX ? BF_BATCH_SIZE_MAX : batch;
    if (most == 0) return f->bitmap.store.ops->has_name ? BF_BATCH_SIZE_MAX : NEAR;
    return BF_TRIP_POSITIONS / k < most ? BF_TRIP_POSITIONS / k : most;
}

/* REMOTE: a check takes a round trip, so checks depend on the time and not on the number of keys
 * that this process adds. */
enum { NEVER, NEAR_BY, REMOTE };

/* Returns true once a minute. */
static bool is_due(bf_filter *f)
{
    enum { MINUTE = 60000 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000,
                  last = __atomic_load_n(&f->fill_checked_at, __ATOMIC_RELAXED);
    if (last && now - last < MINUTE) return false;
    __atomic_store_n(&f->fill_checked_at, now, __ATOMIC_RELAXED);
    return true;
}

int bf_check_fill(bf_filter *f, int64_t *left, char *sentence, size_t cap)
{
    bf_info info;
    uint64_t wait = INT64_MAX;
    bool full = false;
    const int where = f->part[0]->bitmap.store.words ? NEAR_BY
                      : f->bitmap.store.ops->sample  ? REMOTE
                                                     : NEVER;
    *left = INT64_MAX;
    if (where == REMOTE) {
        full = is_due(f) && bf_sample_overfull(f, NULL) == 1;
        if (!full) *left = 0;
    } else if (where == NEAR_BY) {
        const int now = bf_saturated(f, &wait, NULL);
        full = now == BF_OVERFULL;
        if (now >= 0 && !full && wait < INT64_MAX) *left = (int64_t)wait;
        if (now == BF_EBUSY) *left = 0; /* the next new key checks again */
    }
    if (!full) return 0;
    bf_get_info(f, &info);
    bf_print(sentence, cap,
        "more than half of the %s of a filter sized for n=%llu keys are set, so it holds more keys "
        "and its rate of false positives rises; create a larger one",
        bf_cell_ops_of(&f->bitmap.g)->names, (ull)info.n);
    return 1;
}

int bf_hash_warning(const bf_filter *f, char *sentence, size_t cap)
{
    char names[64] = "";
    if (!f->hash->weak || f->hash->weak(f->secret, names, sizeof names) == 0) return 0;
    bf_print(sentence, cap,
        "scheme %s: many URLs or numbers have the same value of %s, so the rate of false positives "
        "is far above p; use it only for a bitmap that another system fills",
        f->desc.scheme->name, names);
    return 1;
}
