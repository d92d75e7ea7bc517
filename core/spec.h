/* spec.h - the roof's own: checks of a bf_spec, and which home it names.  Private. */
#ifndef BF_SPEC_H
#define BF_SPEC_H
#include "parts/store.h"

int bf_check_variants(const bf_spec *spec, bf_error *err);
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);

/* The public functions of the same name, which entrances.c lets in: filter.c. */
int bf_do_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err);
int64_t bf_do_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err);
/* entrances.c, for watch.c: is a fixed filter whose bits are far overfull, about?  1, 0 or an
 * error. */
int bf_glance(bf_filter *f, bf_error *err);
#endif
