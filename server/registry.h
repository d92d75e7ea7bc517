/* registry.h - changes to the list of filters, for filter_admin.c and storage.c.  Implemented in
 * filters.c. */
#ifndef BFD_REGISTRY_H
#define BFD_REGISTRY_H
#include "filters.h"

static inline bool flag_is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void flag_set(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELEASE); }

void registry_release(served *s); /* drops a reference; accepts NULL */
/* Creates an entry for the open filter f.  Takes over f and storage, even on failure.  The entry
 * has one reference. */
served *registry_new(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err);
/* Returns the entry of this name with a reference, or NULL. */
served *registry_take(filters *fs, text name);
/* Puts `fresh` into the list, in place of `seen` (NULL: no entry has this name), and takes over the
 * reference of `fresh`.  If another thread was faster, the list keeps that thread's entry.  Returns
 * the entry that is now in the list, with a reference; NULL: out of memory. */
served *registry_replace(filters *fs, served *seen, served *fresh);
void registry_remove(filters *fs, served *s);
/* Returns the filter of this name with a reference, and opens it first if it is not current.  NULL:
 * *err has the reason; code FILTER_ABSENT if nothing is stored. */
served *registry_look_up(filters *fs, text name, bf_error *err);
/* The same; as: the parameters of a foreign bitmap in Redis, used if the name alone does not open
 * it.  as->adopt: adopts the bitmap. */
served *registry_look_up_as(filters *fs, text name, const bf_spec *as, bf_error *err);
/* Turns the error of registry_look_up into the error that clients get. */
int registry_missing(text name, bf_error *err);
/* As filters_get; alone: takes the lock for this thread alone. */
served *registry_find(filters *fs, text name, bool alone, bf_error *err);
#endif
