/* rebuild.c - replaces the contents of a filter in one step: gives an empty filter in memory for
 * the new keys, then puts its bits in the place of the old ones.  Words in addressable memory are
 * exchanged while others use them (parts/rebuild.h); any other store replaces its bits itself. */
#include "parts/parts.h"
#include "parts/rebuild.h"
#include "sets/sets.h"
#include <stdlib.h>

static int check_rebuildable(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    int rc = ops->shadow && ops->check ? ops->check(&f->bitmap.store, err) : 0;
    if (rc < 0) return rc;
    if (f->variant->many)
        return bf_fail(err, BF_ENOTSUP, "%.60s %s", bf_where(f, NULL),
            f->variant->grows
                ? "grows: it cannot be rebuilt, its parts follow from the keys it had; create "
                  "another one"
                : "forgets: it cannot be rebuilt, the keys do not say when they were added");
    if (ops->replace || ops->shadow) return bf_writable(f, err);
    return bf_fail(err, BF_ENOTSUP,
        "home %s cannot be rebuilt: only filters in memory, files and Redis can", ops->name);
}

bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, NULL);
    if (check_rebuildable(f, err) < 0) return NULL;
    bf_filter *fresh = bf_empty_like(f, err);
    if (!fresh || !f->bitmap.store.ops->shadow) return fresh;
    f->never_written = false;
    if (bf_shadow_open(f, &fresh->rebuild_of, err) == 0) return fresh;
    bf_close(fresh);
    return NULL;
}

int bf_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    BF_CALL(f, fresh, entered);
    bf_store *s = &f->bitmap.store;
    uint64_t *w, *copy = NULL;
    int rc = check_rebuildable(f, err);
    if (rc == 0 && (rc = bf_alike(f, fresh, err)) == 0 &&
        (rc = bf_fixed_words(fresh, "be built from", &w, &copy, err)) == 0)
        rc = s->ops->shadow ? bf_shadow_install(f, fresh->rebuild_of, w, err)
                            : s->ops->replace(s, w, err);
    if (rc == 0) fresh->rebuild_of = 0;
    free(copy);
    return rc < 0 ? rc : bf_check_named(f, err);
}

int bf_rebuild_cancel(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    BF_CALL(f, fresh, entered);
    const int64_t number = fresh->rebuild_of;
    fresh->rebuild_of = 0;
    return bf_rebuilds_in_place(f) ? bf_shadow_discard(f, number, err) : 0;
}
