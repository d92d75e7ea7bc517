/* growing.h - what filters that grow promise, whatever home they have.  Knows calls and their
 * outcomes (calls.h). */
#ifndef GROWING_H
#define GROWING_H
#include "calls.h"

static unsigned old_keys; /* keys that are in before the threads begin: the last ones */

/* A part is made when the one before it is full, and once. */
static inline bool parts_are_plausible(void)
{
    uint64_t live = old_keys, sum = 0;
    EACH_CALL(t, i) if ((*doing)[t][i].op == ADD) live += out[t][i].rc == BF_ADDED;
    EACH_CALL(t, i)
    if ((*doing)[t][i].op == ADD_BOTH)
        live += BOTH; /* two batches may have put a key into a part each */
    for (unsigned i = 0; i < f->count; i++) {
        sum += (uint64_t)bf_live(f->part[i]->live);
        if (i + 1 < f->count && bf_live(f->part[i]->live) < room) return false;
    }
    bool batches = false, died = false;
    EACH_CALL(t, i) died |= begun[t] > i && !out[t][i].ended;
    if (died) return sum == live || sum == live + 1; /* who died may have counted his key, or not */
    EACH_CALL(t, i) batches |= (*doing)[t][i].op == ADD_BOTH;
    return batches ? sum <= live : sum == live;
}

static inline bool old_ones_are_there(bf_filter *in)
{
    for (unsigned i = 0; i < old_keys; i++)
        if (has_key(in, KEYS - 1 - (int)i) != 1) return false;
    return true;
}

static inline bool tests_of_old_ones(void)
{
    EACH_CALL(t, i)
    if ((*doing)[t][i].op == TEST && (*doing)[t][i].key >= KEYS - (int)old_keys &&
        out[t][i].rc != 1)
        return false;
    return true;
}

static inline bool growing_promises(void)
{
    bool kept = no_errors() && what_was_added_is_found() && all_are_there(f) &&
                old_ones_are_there(f) && tests_of_old_ones() && parts_are_plausible();
    for (int key = 0; key < KEYS; key++) kept &= somebody_adds_it_as_new(key);
    return kept;
}

#endif
