/* watch.c - what every host does around batches of keys, decided once: how many keys a call has,
 * when to look whether a filter is overfull, and what a warning says.  Knows homes by what their
 * stores say; counts nothing. */
#include "base/base.h"
#include "parts/filter.h"
#include <string.h>

/* Near: as many as keep the hosts' objects in the first caches until their bytes are hashed. */
enum { NEAR = 256 };

size_t bf_at_once(const bf_filter *f)
{
    const unsigned batch = f->part.store.ops->batch, k = f->part.g.k;
    const size_t most = batch > BF_AT_ONCE_MAX ? BF_AT_ONCE_MAX : batch;
    if (most == 0) return NEAR;
    return BF_TRIP_POSITIONS / k < most ? BF_TRIP_POSITIONS / k : most;
}

static bool is_near(const bf_info *info)
{
    return !strcmp(info->home, "memory") || !strcmp(info->home, "file");
}

/* In memory the first look is free, or nearly; a file is looked at with the first new key. */
int64_t bf_watch(bf_filter *f, bool made)
{
    bf_info info;
    uint64_t wait = 0;
    bf_get_info(f, &info);
    if (!is_near(&info)) return INT64_MAX;
    if (!made || strcmp(info.home, "memory") != 0) return 0;
    if (bf_saturated(f, &wait, NULL) == BF_OVERFULL) return 0;
    return wait < INT64_MAX ? (int64_t)wait : INT64_MAX;
}

int bf_look(bf_filter *f, int64_t *left, char *sentence, size_t cap)
{
    bf_info info;
    uint64_t wait = INT64_MAX;
    *left = INT64_MAX;
    bf_get_info(f, &info);
    const int full = is_near(&info) ? bf_saturated(f, &wait, NULL) : 0;
    if (full >= 0 && full < BF_OVERFULL && wait < INT64_MAX) *left = (int64_t)wait;
    if (full != BF_OVERFULL) return 0;
    bf_print(sentence, cap,
        "more than half of the %s of a filter sized for n=%llu keys are set, so it holds more keys "
        "and its rate of false positives rises; create a larger one",
        bf_cells_of(&f->part.g)->names, (unsigned long long)info.n);
    return 1;
}
