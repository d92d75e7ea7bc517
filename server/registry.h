/* registry.h - the list of the filters that are served, as filters.c has it and filter_admin.c
 * needs it.
 */
#ifndef BFD_REGISTRY_H
#define BFD_REGISTRY_H
#include "filters.h"

static inline text name_of(const served *s) { return (text){ s->name, strlen(s->name) }; }
static inline bool raised(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void raise_(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELEASE); }

void registry_let_go(served *s); /* a reference less; NULL is fine */
/* Takes f and storage over, also where it fails.  One reference: the list's to be. */
served *registry_serve(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err);
/* What the list has of this name, with a reference; NULL: nothing. */
served *registry_take(filters *fs, text name);
/* Puts fresh, which is taken over, in the place of seen (NULL: nobody had the name), unless
 * somebody was faster.  The one that is in the list now, with a reference; NULL: no memory. */
served *registry_enlist(filters *fs, served *seen, served *fresh);
void registry_unlist(filters *fs, served *s);
/* The filter of this name, with a reference, opened again where what is open is not what is there.
 * NULL: *err says why, with FILTER_ABSENT where there is nothing. */
served *registry_look_up(filters *fs, text name, bf_error *err);
/* The error where look_up found nothing, as clients are told it. */
int registry_missing(text name, bf_error *err);
/* As filters_find; alone: for whoever changes all of it. */
served *registry_find(filters *fs, text name, bool alone, bf_error *err);
#endif
