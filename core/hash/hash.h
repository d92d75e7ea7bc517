/* hash.h - hashes convert the bytes of a key to digests of 64 bits, independently of m. Each file
 * ends in one or two const bf_hash; hashes of older systems are in older/. Private. */
#ifndef BF_HASH_H
#define BF_HASH_H
#include "base/base.h"

/* The argument of a scheme (the text after the colon of its name), prepared for the hash. */
typedef struct {
    const char *scheme; /* the scheme's name, for messages */
    unsigned k;         /* the k that the argument fixes; 0: any k */
    _Alignas(8) uint8_t bytes[BF_SECRET_BYTES];
    const bf_functions *functions; /* scheme "functions": the host's functions, or NULL */
} bf_argument;

typedef struct bf_hash bf_hash;
struct bf_hash {
    const char *name;
    unsigned width; /* digests per key, 1 to BF_WIDTH_MAX; 0: k digests */
    void (*run)(const void *secret, const bf_key *keys, size_t n, uint64_t *digests);
    /* run for one key */
    void (*one)(const void *secret, const void *key, size_t len, uint64_t *digest);
    /* Converts the argument of the scheme (NULL: none) to a->bytes, and may set a->k. The other
     * functions get a->bytes in place of the secret. NULL: the scheme has no argument. A hash with
     * prepare or accept needs a layout without kernels. */
    int (*prepare)(bf_argument *a, const char *text, bf_error *err);
    /* Writes the one spelling of the argument that is stored, where prepare accepts several. NULL:
     * the text of prepare. */
    void (*spell)(const void *argument, char *text, size_t cap);
    /* Returns 0, or BF_EINVAL for a key that cannot be hashed; run and one never get such a key.
     * NULL: all keys are accepted. */
    int (*accept)(const void *secret, const void *key, size_t len, bf_error *err);
    /* Replaces run for hashes that may fail. Returns the number of keys that were hashed; if this
     * is less than n, *err describes the failure of the next key. */
    size_t (*try)(
        const void *secret, const bf_key *keys, size_t n, uint64_t *digests, bf_error *err);
    /* Writes the names of the argument's functions that are weak on ordinary keys, and returns
     * their number. NULL: no function is weak. */
    unsigned (*weak)(const void *argument, char *names, size_t cap);
    /* Returns the number of different values of digest i. NULL: bf_scheme.values. */
    double (*values)(const void *argument, unsigned i);
    /* Returns true if digests i and j never have the same value. NULL if values is NULL. */
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

extern const bf_hash bf_hash_xxh3; /* xxh3.c */
/* ready.c: for filters that take digests; nothing is hashed */
extern const bf_hash bf_hash_ready;
/* functions.c */
extern const bf_hash bf_hash_functions;
/* Checks the functions and computes their check value, which is stored in the filter. Returns 0,
 * BF_EINVAL, or BF_EHOST if a function failed. */
int bf_functions_check(const bf_functions *f, uint64_t *check, bf_error *err);
#endif
