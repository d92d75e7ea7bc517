/* hash.h - a hash: the bytes of a key to digests, words of 64 bits.  Knows neither m nor k.
 * Private. One file a hash, which ends in one const bf_hash; those of older systems are in older/.
 * Uses base and bits.h. */
#ifndef BF_HASH_H
#define BF_HASH_H
#include "base/base.h"

/* What a scheme takes after the colon of its name, and what it fixes. */
typedef struct {
    const char *scheme; /* its name, for messages             */
    unsigned k;         /* the only k of that scheme, 0 = any */
    _Alignas(8) uint8_t bytes[BF_SECRET_BYTES];
    const bf_functions *functions; /* scheme "functions" */
} bf_argument;

typedef struct bf_hash bf_hash;
struct bf_hash {
    const char *name;
    unsigned width; /* words per key, 1..BF_WIDTH_MAX; 0 = k     */
    void (*run)(const void *secret, const bf_key *keys, size_t n, uint64_t *digests);
    void (*one)(const void *secret, const void *key, size_t len,
        uint64_t *digest); /* the same for one key */
    /* Schemes of older systems.  prepare: what comes after the scheme's colon (NULL: nothing)
     * becomes a->bytes, which run and one get in the secret's place, and may fix a->k; NULL = takes
     * none.  accept: 0, or BF_EINVAL for a key that cannot be hashed; run and one see no other.
     * NULL = takes all; needs a layout without kernels. */
    int (*prepare)(bf_argument *a, const char *text, bf_error *err);
    int (*accept)(const void *secret, const void *key, size_t len, bf_error *err);
    /* Instead of run, where hashing may fail: how many keys were hashed before the one that *err is
     * about. */
    size_t (*try)(
        const void *secret, const bf_key *keys, size_t n, uint64_t *digests, bf_error *err);
    /* Those of the argument's functions that fail on ordinary keys: how many, and their names. NULL
     * = none. */
    unsigned (*weak)(const void *argument, char *names, size_t cap);
    /* How many different values digest i has, where each has its own number of them.  NULL = as
     * many as there are.  apart: no value of digest i is ever one of digest j. */
    double (*values)(const void *argument, unsigned i);
    bool (*apart)(const void *argument, unsigned i, unsigned j);
    const bf_hash *(*best)(void); /* the same digests by what this machine has; NULL = this */
};

/* The run of a hash without a faster way: key after key. */
#define BF_RUN_BY_ONE(run, one, words)                                                             \
    static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)           \
    {                                                                                              \
        const size_t width = (words);                                                              \
        for (size_t i = 0; i < n; i++) one(secret, keys[i].ptr, keys[i].len, digests + width * i); \
    }

extern const bf_hash bf_hash_xxh3; /* xxh3.c: also where any digest will do */
/* functions.c */
extern const bf_hash bf_hash_functions;
int bf_functions_check(
    const bf_functions *f, uint64_t *check, bf_error *err); /* a check value, as of a secret */
#endif
