/* registry.h - the list of filters, for filter_admin.c and storage.c.  Implemented in filters.c. */
#ifndef BFD_REGISTRY_H
#define BFD_REGISTRY_H
#include "filters.h"

static inline bool raised(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void raise_(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELEASE); }

void registry_let_go(served *s); /* drops a reference; NULL is fine */
/* Takes over f and storage, even on failure.  The result has one reference, for the list. */
served *registry_serve(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err);
/* The entry of this name, with a reference, or NULL. */
served *registry_take(filters *fs, text name);
/* Replaces `seen` (NULL: no entry) by `fresh`, which it takes over, unless another thread replaced
 * it first.  Returns the entry that is in the list now, with a reference; NULL: no memory. */
served *registry_enlist(filters *fs, served *seen, served *fresh);
void registry_unlist(filters *fs, served *s);
/* The filter of this name, with a reference, opened again if it is not current.  NULL: *err has the
 * reason, with the code FILTER_ABSENT if nothing is stored. */
served *registry_look_up(filters *fs, text name, bf_error *err);
/* Turns the error of registry_look_up into the one that clients get. */
int registry_missing(text name, bf_error *err);
/* As filters_find; alone: with the lock held alone. */
served *registry_find(filters *fs, text name, bool alone, bf_error *err);
#endif
