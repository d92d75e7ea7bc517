/* sax_sdbm.c - scheme sax-sdbm: the two 32-bit hashes of the Bloom filter of LiteratePrograms.
 * Bytes after the first NUL are ignored, because that program hashes C strings. */
#include "hash/hash.h"

static void sax_sdbm_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *s = key;
    uint32_t sax = 0, sdbm = 0;
    (void)secret;
    for (size_t i = 0; i < len && s[i]; i++) {
        sax ^= (sax << 5) + (sax >> 2) + s[i];
        sdbm = s[i] + (sdbm << 6) + (sdbm << 16) - sdbm;
    }
    digest[0] = sax;
    digest[1] = sdbm;
}

BF_RUN_BY_ONE(sax_sdbm_run, sax_sdbm_one, 2)

const bf_hash bf_hash_sax_sdbm = {
    .name = "sax-sdbm", .width = 2, .run = sax_sdbm_run, .one = sax_sdbm_one
};
