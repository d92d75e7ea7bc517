/* spec.h - the roof's own: checks of a bf_spec, and which home it names.  Private. */
#ifndef BF_SPEC_H
#define BF_SPEC_H
#include "parts/filter.h"

int bf_check_variants(const bf_spec *spec, bf_error *err);
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);

/* batch.c: keys with a filter of fixed size whose words are here, as its words are; as positions,
 * before the first whose hashing fails; before the first that its scheme cannot hold. */
int64_t bf_run_here(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
size_t bf_place(const bf_filter *f, const bf_key *keys, size_t n, uint64_t *pos, bf_error *err);
size_t bf_acceptable(const bf_filter *f, const bf_key *keys, size_t n, bf_error *err);

/* during.c: the same for adds and removes, and also right where the filter is rebuilt meanwhile.
 * meanwhile: a key that was added, and the edition has moved from that word; its answer was
 * present. */
int64_t bf_change(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int bf_add_meanwhile(
    bf_filter *f, const void *key, size_t len, uint64_t was, bool present, bf_error *err);

/* The public functions of the same name, which entrances.c lets in: filter.c. */
int bf_do_fits(const bf_filter *f, const bf_spec *spec, bf_error *err);
int64_t bf_do_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err);
#endif
