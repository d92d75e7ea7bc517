/* registry.h - changes to the list of filters, for filter_admin.c and storage.c.  Implemented in
 * filters.c. */
#ifndef BFD_REGISTRY_H
#define BFD_REGISTRY_H
#include "filters.h"

static inline bool flag_is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void flag_set(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELEASE); }

void registry_release(served *s); /* drops a reference; accepts NULL */
/* Creates an entry, with one reference, for the open filter f.  Takes over f and storage, also on
 * failure. */
served *registry_new(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err);
/* Returns the entry of this name with a reference, or NULL. */
served *registry_take(filters *fs, text name);
/* Replaces the entry `seen` of the list by `fresh`; seen NULL: inserts `fresh`.  Takes over the
 * reference of `fresh`.  If another thread has changed the entry, its entry stays in the list.
 * Returns the entry in the list, with a reference; NULL: out of memory. */
served *registry_replace(filters *fs, served *seen, served *fresh);
void registry_remove(filters *fs, served *s);
/* Returns the filter of this name with a reference, and opens it first if it is not current.  NULL:
 * *err has the reason; code FILTER_ABSENT if nothing is stored. */
served *registry_look_up(filters *fs, text name, bf_error *err);
/* As registry_look_up().  as: the parameters of a foreign bitmap in Redis, or NULL; used if the
 * filter cannot be opened by name.  as->adopt: adopts the bitmap. */
served *registry_look_up_as(filters *fs, text name, const bf_spec *as, bf_error *err);
/* Turns the error of registry_look_up into the error for clients, and returns its code. */
int registry_missing(text name, bf_error *err);
/* As filters_get(); alone: takes the filter's lock for writing. */
served *registry_find(filters *fs, text name, bool alone, bf_error *err);
#endif
