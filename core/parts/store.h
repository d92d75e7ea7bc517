/* store.h - the interface of stores: the code of a home (home/, redis/) that creates, opens, reads
 * and writes the bits of a filter or a part. Private. */
#ifndef BF_STORE_H
#define BF_STORE_H
#include "format/format.h"

/* Operations on the shadow of a rebuild (sets/rebuild.h). The caller holds the lock. */
typedef enum { BF_SYNC_SHADOW, BF_SYNC_BITS, BF_SYNC_GENERATION } bf_sync_what;
typedef struct bf_shadow_ops {
    /* Returns 1 and sets *shadow to the shadow's words and the word of its sum, or returns 0 if
     * there is no shadow.
     * create: replaces any shadow by an empty one that belongs to this process. */
    int (*words)(bf_filter *f, bool create, uint64_t **shadow, bf_error *err);
    int (*drop)(bf_filter *f, bf_error *err);
    /* Syncs to disk; NULL: nothing to sync. */
    int (*sync)(bf_filter *f, bf_sync_what what, bf_error *err);
    /* Returns 1 if the rebuilding process is alive, 0 if it has ended, -1 if that is unknown. NULL:
     * no other process can rebuild. */
    int (*maker_lives)(const bf_filter *f);
} bf_shadow_ops;
extern const bf_shadow_ops bf_shadow_memory, bf_shadow_file; /* home/shadow.c */

/* ---- a store has words, or it has apply(), which tests and changes positions ---- */
enum { BF_STORE_ATOMIC = 1 }; /* other processes write the words too: use atomic kernels */
typedef struct bf_store bf_store;
/* bits = 0, bits = words, bits |= words, bits &= words */
typedef enum { BF_CLEAR, BF_REPLACE, BF_UNITE, BF_INTERSECT } bf_change;
/* handle.c: the changes in messages, for example "be cleared" */
extern const char *const bf_change_names[];
typedef struct {
    const char *name;
    unsigned flags;
    unsigned batch; /* preferred number of keys per call of apply(); 0: BF_CHUNK */
    /* largest shard in bits; larger filters are split into shards; 0: no limit */
    uint64_t most_bits;
    /* Opens an existing filter. Returns 1 and *desc, 0 if there is none, or an error. NULL:
     * the store never has existing filters. */
    int (*attach)(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err);
    /* Creates a filter. Returns 1 if the filter is created and open, or an error. Returns 0 if
     * attach must open the filter, which this or another process has created. */
    int (*create)(bf_store *s, const bf_params *desc, const bf_spec *spec, bf_error *err);
    /* Sets present[i] for key i. add and test: 1 if the key was present before. remove: 1 if the
     * key was present and its counters were decremented. count: the smallest counter. */
    int (*apply)(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
        uint8_t *present, bf_error *err);
    /* Called before a handle's first write, and before its first write to each part. */
    int (*before_write)(bf_store *s, bf_error *err);
    int (*check)(bf_store *s, bf_error *err); /* an error if the words cannot be read */
    int (*sync)(bf_store *s, bf_error *err);
    /* Returns 1 if opening the storage again would open this same filter, else 0. NULL: no. */
    int (*current)(const bf_store *s, bf_error *err);
    /* Returns true unless the file was deleted or replaced by another file. NULL: neither is
     * possible. */
    bool (*has_name)(const bf_store *s);
    /* Operations on all bits; NULL: not possible. Offsets are in bytes of the bitmap. */
    int (*read)(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
    /* Counts the bits that are set: in the bitmap, and in each 64th of the bitmap if slices is not
     * NULL. */
    int (*count)(bf_store *s, uint64_t *ones, uint64_t *slices, bf_error *err);
    /* Reads some bits for warnings: sets *of to their number, and *ones to how many are set. NULL:
     * the bits are in addressable memory, or are never sampled. */
    int (*sample)(bf_store *s, uint64_t *ones, uint64_t *of, bf_error *err);
    /* words: nwords words of all parts. Returns 1 if the parts have other words now. */
    int (*change)(
        bf_store *s, bf_change how, const uint64_t *words, uint64_t nwords, bf_error *err);
    int (*expire)(bf_store *s, double seconds, bf_error *err); /* 0 seconds: it never expires */
    /* Sets *seconds to the time left until the filter expires; 0: never. NULL: it cannot expire. */
    int (*expires_in)(bf_store *s, double *seconds, bf_error *err);
    /* deletes the filter for all processes */
    int (*remove)(bf_store *s, bf_error *err);
    /* Excludes other processes, as part of bf_lock. NULL: bf_lock excludes only threads. */
    int (*lock)(bf_filter *f, bf_error *err);
    void (*unlock)(bf_filter *f);
    void (*close)(bf_store *s); /* also called after a failed attach or create; may be NULL */
    /* operations on parts (parts.h); NULL: the home has no growing or forgetting filters */
    const struct bf_chain_ops *chain;
    const bf_shadow_ops *shadow; /* for rebuilds in place (sets/rebuild.h); NULL: not possible */
} bf_store_ops;
struct bf_store {
    const bf_store_ops *ops;
    /* the words, in the bit order of the format (bits.h); NULL: the bits are not in addressable
     * memory */
    uint64_t *words;
    uint64_t *generation; /* the generation of shared bits, or NULL */
    uint64_t nwords;      /* ceil(bits / 64); set after attach, before create */
    bool read_only;
    bool made;  /* attach opened a filter that this handle created */
    void *impl; /* private to the store */
    /* name in messages, without passwords; NULL: the storage text */
    const char *label;
    const bf_wait_hooks *wait; /* the filter's hooks, or NULL */
    /* what a new filter, or a growing one after its rebuild, contains; NULL: nothing */
    const bf_filter *contents;
};
/* tables.c: returns the store of the home that spec names */
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);
#endif
