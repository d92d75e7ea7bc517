/* forgetting.h - what filters that forget promise, whatever home they have.  Knows calls, their
 * clocks and outcomes (calls.h). In epochs:
 *
 *   - a key whose add took epoch e for now is found by every test that begins later, while no call
 * that was under way since then read a clock beyond e + parts;
 *   - it is found by none whose own clock is beyond e + parts;
 *   - of the adders of one new key at least one is told that it is new; who adds what is remembered
 * is not told so;
 *   - nobody waits for ever. */
#ifndef FORGETTING_H
#define FORGETTING_H
#include "calls.h"

enum {
    THEN = 100,
    UNITED = 2
}; /* the epoch in which it all begins; the key of `other`, of that epoch */
static unsigned parts;
static double step;
static int old_epoch; /* the epoch of key KEYS - 1, added before the threads begin, or 0 */

/* The epoch that a call took for now. */
static inline int epoch_of(const outcome *o)
{
    const int64_t seen = o->saw ? bf_live(&o->saw) : BF_NEVER;
    return seen > o->now ? (int)seen : o->now;
}

/* Did a call that was under way after add (t, i) had begun, and before call (u, j) had ended, see a
 * later clock? */
static inline bool over_by(int t, int i, int u, int j)
{
    EACH_CALL(v, c)
    {
        const outcome *o = &out[v][c];
        if (!before(v, c, t, i) && !before(u, j, v, c) &&
            o->latest > epoch_of(&out[t][i]) + (int)parts)
            return true;
    }
    return false;
}
/* The same for the key that was there before. */
static inline bool old_is_over_by(int u, int j)
{
    EACH_CALL(v, c)
    if (!before(u, j, v, c) && out[v][c].latest > old_epoch + (int)parts) return true;
    return false;
}

static inline bool remembers(int t, int i, int u, int j)
{
    return before(t, i, u, j) && !over_by(t, i, u, j);
}

/* May a key be there for a call whose clock says `now`? */
static inline bool may_be_there(int key, int u, int j)
{
    const int now = out[u][j].now;
    if (key == UNITED && now <= THEN + (int)parts) return true;
    if (key == KEYS - 1 && old_epoch && now <= old_epoch + (int)parts) return true;
    EACH_CALL(t, i)
    {
        if (adds(&(*doing)[t][i], key) && !before(u, j, t, i) &&
            now <= epoch_of(&out[t][i]) + (int)parts)
            return true;
    }
    return false;
}

static inline bool tests_are_right(void)
{
    EACH_CALL(u, j)
    {
        const int key = (*doing)[u][j].key;
        if ((*doing)[u][j].op != TEST || !out[u][j].ended) continue;
        EACH_CALL(t, i)
        if (adds(&(*doing)[t][i], key) && remembers(t, i, u, j) && out[u][j].rc != 1) return false;
        if (key == KEYS - 1 && old_epoch && !old_is_over_by(u, j) && out[u][j].rc != 1)
            return false;
        if (out[u][j].rc == 1 && !may_be_there(key, u, j)) return false;
    }
    return true;
}

static inline bool adds_are_right(void)
{
    for (int key = 0; key < KEYS; key++) {
        if (!somebody_adds_it_as_new(key) && !(old_epoch && key == KEYS - 1)) return false;
        EACH_CALL(u, j)
        if (adds(&(*doing)[u][j], key)) EACH_CALL(t, i)
        if (adds(&(*doing)[t][i], key) && remembers(t, i, u, j) && told(u, j, key) != BF_PRESENT)
            return false;
    }
    return true;
}

/* Afterwards: what no clock is beyond is there; when the newest clock has moved on by the window
 * and a step nothing is. */
static inline bool afterwards(void)
{
    int latest = old_epoch ? old_epoch : THEN;
    EACH_CALL(t, i) if (out[t][i].latest > latest) latest = out[t][i].latest;
    clock_of_verdict = latest;
    for (int key = 0; key < KEYS; key++) EACH_CALL(t, i)
    if (out[t][i].ended && adds(&(*doing)[t][i], key) && latest <= out[t][i].now + (int)parts &&
        has_key(f, key) != 1)
        return false;
    clock_of_verdict = latest + (int)parts + 1;
    for (int key = 0; key < KEYS; key++)
        if (has_key(f, key) != 0) return false;
    return add_key(f, 0) == BF_ADDED && has_key(f, 0) == 1;
}

static inline bool forgetting_promises(void)
{
    return no_errors() && tests_are_right() && adds_are_right() && afterwards();
}
#endif
