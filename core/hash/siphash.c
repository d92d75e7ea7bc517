/* siphash.c - SipHash-2-4 of libsodium, keyed by the filter's secret, for keys that strangers
 * choose.  By its name, not as crypto_shorthash: what that stands for may change, the bits of
 * stored filters may not. */
#include "hash/hash.h"
#ifdef BF_HAVE_SODIUM
#include "base/load.h"
#include <sodium/crypto_shorthash_siphash24.h>

_Static_assert(
    crypto_shorthash_siphash24_KEYBYTES == BF_SECRET_BYTES, "the secret is the SipHash key");

static void one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    unsigned char out[crypto_shorthash_siphash24_BYTES];
    crypto_shorthash_siphash24(out, key, len, secret);
    *digest = load_le64(out);
}

static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    for (size_t i = 0; i < n; i++) one(secret, keys[i].ptr, keys[i].len, digests + i);
}

const bf_hash bf_hash_siphash = { .name = "siphash", .width = 1, .run = run, .one = one };
#else
const bf_hash bf_hash_siphash = { .name = "siphash",
    .width = 1 }; /* secret.c says what is missing */
#endif
