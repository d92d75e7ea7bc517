/* hash.h - a hash turns the bytes of a key into digests of 64 bits. It knows neither m nor k.
 * Each hash has one file, which ends in one const bf_hash; hashes of older systems are in
 * older/. Uses base and bits.h. Private. */
#ifndef BF_HASH_H
#define BF_HASH_H
#include "base/base.h"

/* The text after the colon of a scheme's name, prepared for the hash, and the k that the text
 * fixes. */
typedef struct {
    const char *scheme; /* the scheme's name, for messages */
    unsigned k;         /* the only possible k; 0: any k */
    _Alignas(8) uint8_t bytes[BF_SECRET_BYTES];
    const bf_functions *functions; /* for scheme "functions" */
} bf_argument;

typedef struct bf_hash bf_hash;
struct bf_hash {
    const char *name;
    unsigned width; /* digests per key, 1 to BF_WIDTH_MAX; 0: k digests */
    void (*run)(const void *secret, const bf_key *keys, size_t n, uint64_t *digests);
    /* like run, for one key */
    void (*one)(const void *secret, const void *key, size_t len, uint64_t *digest);
    /* For schemes of older systems; both need a layout without kernels. prepare turns the text
     * after the scheme's colon (NULL: there is none) into a->bytes, which run and one get in
     * place of the secret; it may also set a->k. If prepare is NULL, the scheme takes no text.
     * accept returns 0, or BF_EINVAL for a key that cannot be hashed; run and one never get such
     * a key. If accept is NULL, all keys are accepted. */
    int (*prepare)(bf_argument *a, const char *text, bf_error *err);
    int (*accept)(const void *secret, const void *key, size_t len, bf_error *err);
    /* Replaces run for hashes that may fail. Returns the number of keys that were hashed; if it
     * is less than n, *err is about the next key. */
    size_t (*try)(
        const void *secret, const bf_key *keys, size_t n, uint64_t *digests, bf_error *err);
    /* Writes the names of the functions in the argument that are weak on ordinary keys, and
     * returns their number. NULL: no function is weak. */
    unsigned (*weak)(const void *argument, char *names, size_t cap);
    /* values returns the number of different values of digest i. NULL: all digests have the
     * number that the scheme gives. apart returns true if no value of digest i is a value of
     * digest j. */
    double (*values)(const void *argument, unsigned i);
    bool (*apart)(const void *argument, unsigned i, unsigned j);
    /* returns the fastest version for this machine; NULL: there is only this version */
    const bf_hash *(*best)(void);
};

/* Defines run for a hash that has only `one`. */
#define BF_RUN_BY_ONE(run, one, words)                                                             \
    static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)           \
    {                                                                                              \
        const size_t width = (words);                                                              \
        for (size_t i = 0; i < n; i++) one(secret, keys[i].ptr, keys[i].len, digests + width * i); \
    }

extern const bf_hash bf_hash_xxh3; /* xxh3.c; also used if any good hash will do */
/* functions.c */
extern const bf_hash bf_hash_functions;
/* computes the check value of the functions, which is stored in the filter */
int bf_functions_check(const bf_functions *f, uint64_t *check, bf_error *err);
#endif
