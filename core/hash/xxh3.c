/* xxh3.c - XXH3-64 of libxxhash, inlined.  Unkeyed: whoever can choose keys can forge collisions.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "hash/hash.h"

static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    (void)secret;
    for (size_t i = 0; i < n; i++) digests[i] = XXH3_64bits(keys[i].ptr, keys[i].len);
}

static void one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    (void)secret;
    *digest = XXH3_64bits(key, len);
}

const bf_hash bf_hash_xxh3 = { .name = "xxh3", .width = 1, .run = run, .one = one };
