/* store.h - a store: where the bits of a filter or a part live.  Private.  A home is a row of
 * tables.c that names a store; stores are in home/ and redis/. All code that does not know where
 * the bits live goes through this interface. */
#ifndef BF_STORE_H
#define BF_STORE_H
#include "format/format.h"

/* ---- shadow: the new bits of a rebuild (sets/rebuild.h) ----
 * How a home stores it.  All operations are called under the lock. */
typedef enum { BF_SYNC_SHADOW, BF_SYNC_BITS, BF_SYNC_GENERATION } bf_sync_what;
typedef struct bf_shadow_ops {
    /* Returns 1 and the shadow's words, or 0 if there is none. create: replaces any shadow by an
     * empty one of this process. */
    int (*words)(bf_filter *f, bool create, uint64_t **shadow, bf_error *err);
    int (*drop)(bf_filter *f, bf_error *err);
    /* Syncs to disk; NULL: nothing to sync. */
    int (*sync)(bf_filter *f, bf_sync_what what, bf_error *err);
    /* Is the rebuilding process alive? 1 yes, 0 no, -1 unknown.  NULL: it is this process. */
    int (*maker_lives)(const bf_filter *f);
} bf_shadow_ops;
extern const bf_shadow_ops bf_shadow_memory, bf_shadow_file; /* home/shadow.c */

/* ---- store: where the bits live.  Either it has words, or apply() does it from positions. ---- */
enum { BF_STORE_ATOMIC = 1 }; /* others write the words too: always use atomic kernels */
typedef struct bf_store bf_store;
/* Changes of a complete bitmap: bits = 0, bits = words, bits |= words, bits &= words. */
typedef enum { BF_CLEAR, BF_REPLACE, BF_UNITE, BF_INTERSECT } bf_change;
extern const char *const bf_change_names[]; /* handle.c: "be cleared" and so on, for messages */
typedef struct {
    const char *name;
    unsigned flags;
    unsigned batch; /* preferred keys per call of apply(); 0: BF_CHUNK */
    /* largest shard in bits; larger filters are split automatically; 0: no limit */
    uint64_t most_bits;
    /* Opens an existing filter: 1 and *desc, 0 if there is none, or an error.  NULL: there never is
     * one. */
    int (*attach)(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err);
    /* Creates a filter: 1 if it is created and open, 0 if it exists by now (attach again), or an
     * error. */
    int (*create)(bf_store *s, const bf_params *desc, const bf_spec *spec, bf_error *err);
    /* Sets present[i] for each key. test and add: was it present before; remove: was it present,
     * and was its count decremented; count: the smallest counter. */
    int (*apply)(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
        uint8_t *present, bf_error *err);
    /* Called before a handle's first write and at the start of every batch. */
    int (*before_write)(bf_store *s, bf_error *err);
    int (*check)(bf_store *s, bf_error *err);
    int (*sync)(bf_store *s, bf_error *err);
    bool (*current)(const bf_store *s); /* does the name still lead to what is open? */
    /* Does the name it was opened by still lead to the file?  NULL: the name cannot be lost. */
    bool (*has_name)(const bf_store *s);
    /* Operations on whole bitmaps, for stores without words; NULL: not possible.  Offsets are bytes
     * of the bitset. */
    int (*read)(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
    /* Counts set bits; if slices is not NULL, also those of each 64th of the bitmap. */
    int (*count)(bf_store *s, uint64_t *ones, uint64_t *slices, bf_error *err);
    /* Samples some bits for a warning: about `ones` of `of` are set.  Not NULL: the sample needs a
     * round trip. */
    int (*sample)(bf_store *s, uint64_t *ones, uint64_t *of, bf_error *err);
    int (*change)(bf_store *s, bf_change how, const uint64_t *words, bf_error *err);
    int (*expire)(bf_store *s, double seconds, bf_error *err); /* 0: never */
    int (*remove)(bf_store *s, bf_error *err);                 /* deletes it for all processes */
    /* The lock among the processes that share the bits; NULL: no other process has them. */
    int (*lock)(bf_filter *f, bf_error *err);
    void (*unlock)(bf_filter *f);
    void (*close)(bf_store *s); /* called also after a failed attach or create; may be NULL */
    /* parts of growing and forgetting filters (parts.h); NULL: the home has none */
    const struct bf_chain_ops *chain;
    const bf_shadow_ops *shadow; /* for rebuilds in place (sets/rebuild.h); NULL: not possible */
} bf_store_ops;
struct bf_store {
    const bf_store_ops *ops;
    uint64_t *words; /* NULL: the bits are not in addressable memory; byte order as in the format
                        (bits.h) */
    uint64_t
        *generation; /* sets/rebuild.h: a word that changes when the bits are replaced, or NULL */
    uint64_t nwords; /* ceil(bits / 64); set by filter.c before create and after attach */
    bool read_only;
    bool made;         /* attach created what it opened */
    bool compact;      /* attach failed: a compact image, which cannot be written in place */
    void *impl;        /* private to the store */
    const char *label; /* its name in messages, without passwords; NULL: the storage text */
    const bf_wait_hooks *wait; /* hooks of its filter, or NULL */
};
/* tables.c: the home that spec names */
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);
#endif
