/* during.h - adds and removes where the filter may be rebuilt meanwhile, its words in addressable
 * memory.  Private to batch.c and during.c. */
#ifndef BF_DURING_H
#define BF_DURING_H
#include "parts/rebuild.h"

/* Keys as positions, and how many of them: all, or those before the one whose hashing failed.
 * Hashes and layouts see no more keys at once than ever. */
size_t bf_place(const bf_filter *f, const bf_key *keys, size_t n, uint64_t *pos, bf_error *err);
/* How many keys come before the first that the scheme cannot hold; then *err names that one. */
size_t bf_acceptable(const bf_filter *f, const bf_key *keys, size_t n, bf_error *err);

/* A run of keys that does not look at the generation. */
typedef int64_t bf_run(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int64_t bf_change(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_run *run, bf_error *err);
/* Adds a key again that was added while the generation changed; its answer was present. */
int bf_add_again(
    bf_filter *f, const void *key, size_t len, uint64_t before, bool present, bf_error *err);
#endif
