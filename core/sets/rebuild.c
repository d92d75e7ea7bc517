/* rebuild.c - the steps of a rebuild. In Redis the store replaces the bits; in addressable memory
 * this file replaces the bits while other threads and processes use them (rebuild.h).
 *
 * If a process dies, the filter has either the old or the new contents. The generation changes
 * before a shadow is created and after a shadow is dropped. So it shows whether there may be a
 * shadow, also after a power loss. The old contents are valid until the phase is REPLACING. If a
 * process dies in that phase, the next process that takes the lock copies the shadow again.
 *
 * A program may copy the file meanwhile, byte by byte, during any number of rebuilds. In its copy
 * the bits have every key that was in the filter all the time, because such a key is never absent
 * from the bits. The shadow may be of another rebuild, or incomplete: then its sum does not match
 * the generation in the header, and the shadow is dropped. */
#include "parts/parts.h"
#include "sets/rebuild.h"
#include "sets/sets.h"
#include <stdlib.h>

/* A step increases the generation to a new multiple of STEP, a replacement of the bits to a new
 * multiple of SAME_BITS; the phase is added. */
enum { SAME_BITS = BF_REPLACEMENT, STEP = 4 };

bool bf_same_bits(const bf_guard *g, uint64_t before)
{
    return g->generation / SAME_BITS == bf_generation_number(before) / SAME_BITS;
}

static const bf_shadow_ops *ops_of(const bf_filter *f) { return f->bitmap.store.ops->shadow; }

static int sync_(bf_filter *f, bf_sync_what what, bf_error *err)
{
    return ops_of(f)->sync ? ops_of(f)->sync(f, what, err) : 0;
}

/* ---- steps; the caller holds the lock ---- */
static int64_t next(const bf_guard *g, unsigned phase, bool replaced)
{
    const int64_t step = replaced ? SAME_BITS : STEP;
    return (g->generation / step + 1) * step + phase;
}

static int move_to(bf_filter *f, bf_guard *g, unsigned next_phase, bool replaced, bf_error *err)
{
    g->generation = next(g, next_phase, replaced);
    bf_live_set(f->generation, g->generation);
    bf_fence();
    return sync_(f, BF_SYNC_GENERATION, err);
}

static int settle(bf_filter *f, bf_guard *g, bf_error *err)
{
    g->shadow = NULL;
    const int rc = ops_of(f)->drop(f, err);
    return rc < 0 ? rc : move_to(f, g, BF_SETTLED, bf_phase(g->generation) == BF_REPLACING, err);
}

/* Unites the shadow into the bits, then copies it: a bit that is set in both is never 0. */
static int replace(bf_filter *f, bf_guard *g, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    bf_cell_ops_of(&f->bitmap.g)->unite(s->words, g->shadow, s->nwords, true);
    int rc = sync_(f, BF_SYNC_BITS, err);
    if (rc < 0) return rc;
    for (uint64_t i = 0; i < s->nwords; i++) bf_word_store(s->words + i, bf_word(g->shadow + i));
    rc = sync_(f, BF_SYNC_BITS, err);
    return rc < 0 ? rc : settle(f, g, err);
}

/* Returns true if the shadow is complete and for this generation. */
static bool is_for(const bf_filter *f, const uint64_t *shadow, int64_t generation)
{
    const uint64_t nwords = f->bitmap.store.nwords;
    return bf_word(shadow + nwords) == bf_shadow_sum(shadow, nwords, generation);
}

/* Sets *g, and completes or drops the rebuild of a process that died. */
static int complete(bf_filter *f, bf_guard *g, bf_error *err)
{
    const bf_shadow_ops *ops = ops_of(f);
    g->shadow = NULL;
    g->generation = bf_generation_number(bf_generation(f));
    if (bf_phase(g->generation) == BF_SETTLED) return 0;
    int rc = ops->words(f, false, &g->shadow, err);
    if (rc < 0) return rc;
    const bool replacing = bf_phase(g->generation) == BF_REPLACING,
               whole = replacing && rc && is_for(f, g->shadow, g->generation);
    if (rc && !replacing && (!ops->maker_lives || ops->maker_lives(f) != 0)) return 0;
    if (ops->sync) rc = bf_refuse_wait(err, bf_where(f), "has an unfinished rebuild");
    if (rc < 0) return rc;
    return whole ? replace(f, g, err) : settle(f, g, err);
}

int bf_guard_lock(bf_filter *f, bf_guard *g, bf_error *err)
{
    int rc = bf_lock(f, err);
    if (rc == 0 && (rc = complete(f, g, err)) < 0) bf_unlock(f);
    return rc;
}

/* ---- a rebuild in place ---- */
static int busy(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EBUSY,
        "%.80s is being rebuilt by another process or handle: wait until that has ended",
        bf_where(f));
}

/* Returns true if this handle has opened the rebuild. After a fork, a rebuild in memory is the
 * child's own, because the child has a copy of the memory; a rebuild in a file is still the
 * parent's. */
static bool is_own(const bf_filter *f, const bf_guard *g)
{
    return g->shadow && f->rebuild_opened == g->generation &&
           (!ops_of(f)->maker_lives || f->rebuild_by == bf_process());
}

/* Opens a shadow. First drops an open rebuild of the same handle, or of a process that may have
 * died. */
static int open_shadow(bf_filter *f, bf_guard *g, bf_error *err)
{
    const bf_shadow_ops *ops = ops_of(f);
    if (g->shadow && !is_own(f, g) && ops->maker_lives && ops->maker_lives(f) >= 0)
        return busy(f, err);
    int rc = g->shadow ? ops->drop(f, err) : 0;
    if (rc == 0) rc = move_to(f, g, BF_OPEN, false, err);
    if (rc == 0) rc = ops->words(f, true, &g->shadow, err);
    if (rc < 0) {
        settle(f, g, NULL);
        return rc;
    }
    f->rebuild_opened = g->generation;
    f->rebuild_by = bf_process();
    return 0;
}

/* Sets *number to the generation, which identifies the rebuild. */
static int begin(bf_filter *f, int64_t *number, bf_error *err)
{
    bf_guard g;
    int rc = bf_guard_lock(f, &g, err);
    if (rc < 0) return rc;
    rc = open_shadow(f, &g, err);
    *number = g.generation;
    bf_unlock(f);
    return rc;
}

static int install(bf_filter *f, bf_guard *g, const uint64_t *words, bf_error *err)
{
    const uint64_t nwords = f->bitmap.store.nwords;
    f->rebuild_opened = 0;
    bf_cell_ops_of(&f->bitmap.g)->unite(g->shadow, words, nwords, true);
    bf_word_store(
        g->shadow + nwords, bf_shadow_sum(g->shadow, nwords, next(g, BF_REPLACING, false)));
    int rc = sync_(f, BF_SYNC_SHADOW, err);
    if (rc < 0) {
        settle(f, g, NULL);
        return rc;
    }
    rc = move_to(f, g, BF_REPLACING, false, err);
    return rc < 0 ? rc : replace(f, g, err);
}

/* Replaces the bits by `words`. number: as from begin(), or 0 if no rebuild was opened. */
static int end(bf_filter *f, int64_t number, const uint64_t *words, bf_error *err)
{
    bf_guard g;
    int rc = bf_guard_lock(f, &g, err);
    if (rc < 0) return rc;
    if (number == 0)
        rc = g.shadow ? busy(f, err) : open_shadow(f, &g, err);
    else if (!is_own(f, &g) || g.generation != number)
        rc = bf_fail(err, BF_EBUSY, "%.80s: this rebuild is over, another one began after it%s",
            bf_where(f),
            ops_of(f)->maker_lives ? " or it is the parent process's: nothing was changed"
                                   : ": nothing was changed");
    if (rc == 0) rc = install(f, &g, words, err);
    bf_unlock(f);
    return rc;
}

/* ---- functions that the host calls ---- */
static int check_rebuildable(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    int rc = ops->shadow && ops->check ? ops->check(&f->bitmap.store, err) : 0;
    if (rc < 0) return rc;
    if (f->variant->forgets || (f->variant->grows && ops->shadow))
        return bf_fail(err, BF_ENOTSUP, "%.60s %s", bf_where(f),
            f->variant->grows
                ? "grows: it cannot be rebuilt outside of Redis, its parts follow from the keys it "
                  "had; create another one"
                : "forgets: it cannot be rebuilt, the keys do not say when they were added");
    if (ops->change || ops->shadow) return bf_writable(f, err);
    return bf_fail(err, BF_ENOTSUP,
        "home %s cannot be rebuilt: only filters in memory, files and Redis can", ops->name);
}

bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, NULL);
    if (check_rebuildable(f, err) < 0) return NULL;
    bf_filter *fresh = bf_empty_like(f, err);
    if (!fresh || !f->bitmap.store.ops->shadow) return fresh;
    bf_flag_clear(&f->never_written);
    if (begin(f, &fresh->rebuild_of, err) == 0) return fresh;
    bf_close(fresh);
    return NULL;
}

int bf_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    BF_CALL(f, fresh, entered);
    uint64_t *w, *copy = NULL;
    int rc = check_rebuildable(f, err);
    if (rc == 0) rc = bf_alike(f, fresh, err);
    if (rc == 0 && !ops_of(f))
        rc = bf_combine_remote(f, fresh, BF_REPLACE, err);
    else if (rc == 0 && (rc = bf_fixed_words(fresh, "be built from", &w, &copy, err)) == 0)
        rc = end(f, fresh->rebuild_of, w, err);
    if (rc == 0) {
        fresh->rebuild_of = 0;
        bf_flag_clear(&f->created);
    }
    bf_check_soon(f);
    free(copy);
    return rc < 0 ? rc : bf_check_named(f, err);
}

/* Does nothing if the rebuild has ended. */
int bf_rebuild_cancel(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    BF_CALL(f, fresh, entered);
    bf_guard g;
    const int64_t number = fresh->rebuild_of;
    fresh->rebuild_of = 0;
    if (!number || !bf_rebuilds_in_place(f)) return 0;
    int rc = bf_guard_lock(f, &g, err);
    if (rc < 0) return rc;
    if (is_own(f, &g) && g.generation == number) {
        f->rebuild_opened = 0;
        rc = settle(f, &g, err);
    }
    bf_unlock(f);
    return rc;
}
