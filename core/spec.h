/* spec.h - the roof's own: checks of a bf_spec, and which home it names.  Private. */
#ifndef BF_SPEC_H
#define BF_SPEC_H
#include "parts/store.h"

int bf_check_variants(const bf_spec *spec, bf_error *err);
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);
#endif
