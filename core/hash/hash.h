/* hash.h - a hash turns the bytes of a key into digests, words of 64 bits.  It knows neither m nor
 * k.  One file a hash, which ends in one const bf_hash; hashes of older systems are in older/.
 * Private.  Uses base and bits.h. */
#ifndef BF_HASH_H
#define BF_HASH_H
#include "base/base.h"

/* What follows the colon in a scheme's name, prepared for its hash, and what it fixes. */
typedef struct {
    const char *scheme; /* the scheme's name, for messages */
    unsigned k;         /* its only k; 0: any */
    _Alignas(8) uint8_t bytes[BF_SECRET_BYTES];
    const bf_functions *functions; /* scheme "functions" */
} bf_argument;

typedef struct bf_hash bf_hash;
struct bf_hash {
    const char *name;
    unsigned width; /* digests per key, 1..BF_WIDTH_MAX; 0: k of them */
    void (*run)(const void *secret, const bf_key *keys, size_t n, uint64_t *digests);
    /* the same for one key */
    void (*one)(const void *secret, const void *key, size_t len, uint64_t *digest);
    /* For schemes of older systems. prepare turns the text after the scheme's colon (NULL: none)
     * into a->bytes, which run and one get in place of the secret, and may fix a->k; NULL: the
     * scheme takes no text. accept returns 0, or BF_EINVAL for a key that cannot be hashed: run and
     * one never get such a key; NULL: all keys are accepted.  Both need a layout without kernels.
     */
    int (*prepare)(bf_argument *a, const char *text, bf_error *err);
    int (*accept)(const void *secret, const void *key, size_t len, bf_error *err);
    /* Replaces run for hashes that may fail: returns how many keys were hashed before the one that
     * *err is about. */
    size_t (*try)(
        const void *secret, const bf_key *keys, size_t n, uint64_t *digests, bf_error *err);
    /* Writes the names of those functions of the argument that are weak on ordinary keys, and
     * returns how many there are.  NULL: none. */
    unsigned (*weak)(const void *argument, char *names, size_t cap);
    /* Returns how many different values digest i has, if that differs between digests; NULL: as
     * many as the scheme says. apart: no value of digest i is ever a value of digest j. */
    double (*values)(const void *argument, unsigned i);
    bool (*apart)(const void *argument, unsigned i, unsigned j);
    const bf_hash *(*best)(void); /* the fastest version for this machine; NULL: this one */
};

/* Defines run for a hash that has only one: key after key. */
#define BF_RUN_BY_ONE(run, one, words)                                                             \
    static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)           \
    {                                                                                              \
        const size_t width = (words);                                                              \
        for (size_t i = 0; i < n; i++) one(secret, keys[i].ptr, keys[i].len, digests + width * i); \
    }

extern const bf_hash bf_hash_xxh3; /* xxh3.c; used wherever any good hash will do */
/* functions.c */
extern const bf_hash bf_hash_functions;
/* computes the check value that is stored, as for a secret */
int bf_functions_check(const bf_functions *f, uint64_t *check, bf_error *err);
#endif
