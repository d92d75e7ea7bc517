/* store.h - a store: where the bits of a part live.  Private.  A home is a row of tables.c that
 * names one; the stores are in home/ and redis/.  What knows bits but not where they live goes
 * through this. */
#ifndef BF_STORE_H
#define BF_STORE_H
#include "format/format.h"

/* ---- store: where the bits live.  Either it has words, or apply() does it from positions. ---- */
enum { BF_STORE_ATOMIC = 1 }; /* others write the words too: atomic kernels always */
typedef struct bf_store bf_store;
typedef struct {
    const char *name;
    unsigned flags;
    unsigned batch;     /* keys that apply() likes to be given at once, 0 = BF_CHUNK */
    uint64_t most_bits; /* of a shard; larger filters get shards by themselves, 0 = no limit */
    /* Open what is there: 1 and *desc, 0 nothing there, or an error.  NULL: nothing is ever there.
     */
    int (*attach)(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err);
    /* Make a new one: 1 made and open, 0 it is there now, whoever made it (attach again), or an
     * error. */
    int (*create)(bf_store *s, const bf_params *desc, const bf_spec *spec, bf_error *err);
    /* present[i], a key: test and add, was it there before; remove, was it there and is one less
     * now; count, the least counter. */
    int (*apply)(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
        uint8_t *present, bf_error *err);
    /* Before a handle writes for the first time; at the start of every batch call. */
    int (*before_write)(bf_store *s, bf_error *err);
    int (*check)(bf_store *s, bf_error *err);
    int (*sync)(bf_store *s, bf_error *err);
    bool (*current)(const bf_store *s); /* is what is open still what its name leads to? */
    /* Does the name that it was opened by still lead to it?  NULL: nobody can take that away. */
    bool (*has_name)(const bf_store *s);
    /* Whole bitmaps where there are no words; NULL = this home cannot.  Bytes are those of the
     * bitset. */
    int (*read)(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
    /* Bits that are set; where slices is not NULL, also those of each 64th of the bitmap. */
    int (*count)(bf_store *s, uint64_t *ones, uint64_t *slices, bf_error *err);
    /* Of bits: about how many of how many, for a warning; it concludes nothing about the rest.
     * Where it is not NULL, a look is a trip. */
    int (*glance)(bf_store *s, uint64_t *ones, uint64_t *of, bf_error *err);
    int (*clear)(bf_store *s, bf_error *err);
    int (*unite)(bf_store *s, const uint64_t *words, bf_error *err);     /* bits |= words */
    int (*intersect)(bf_store *s, const uint64_t *words, bf_error *err); /* bits &= words */
    int (*replace)(bf_store *s, const uint64_t *words, bf_error *err);   /* bits = words  */
    int (*expire)(bf_store *s, double seconds, bf_error *err);           /* 0 = never     */
    int (*remove)(bf_store *s, bf_error *err);                           /* for everybody */
    /* A lock among the processes that share the bits; NULL: no other process has them. */
    int (*lock)(bf_filter *f, bf_error *err);
    void (*unlock)(bf_filter *f);
    void (*close)(bf_store *s); /* also after a failed attach or create */
    const struct bf_chain_ops
        *chain; /* filters of many parts, parts.h; NULL = this home has none */
    const struct bf_shadow_ops
        *shadow; /* rebuild.h; NULL: words of this home cannot be rebuilt in place */
} bf_store_ops;
struct bf_store {
    const bf_store_ops *ops;
    uint64_t *words;      /* NULL = the bits are elsewhere; memory order is the format's: bits.h */
    uint64_t *generation; /* a word that changes when bits are replaced, rebuild.h; or NULL     */
    uint64_t nwords; /* ceil(bits / 64), set by filter.c before create and after attach        */
    bool read_only;
    bool made;         /* what attach opened was made just now, by this opening               */
    bool compact;      /* attach failed: an image without a page, which no store works in      */
    void *impl;        /* the store's own state                                               */
    const char *label; /* what messages call it, NULL = its storage text; never a password    */
    const bf_wait_hooks *wait; /* of its filter; NULL = none */
};
#endif
