/* layout.h - layouts compute positions from digests. Native layouts also have kernels, which test
 * and add digests in words directly. Each file of a layout ends in const bf_layout; layouts of
 * older systems are in older/. Private. */
#ifndef BF_LAYOUT_H
#define BF_LAYOUT_H
#include "bits/words.h"

enum {
    BF_CHUNK = 64, /* maximum number of keys per call of a kernel: one bit of a uint64_t for each */
    /* length of the ring buffer of digests (keys/ring.c): a power of two, at least lag + step of
     * every kernel */
    BF_RING = 128,
    /* maximum number of positions per call of a store, at least BF_K_MAX */
    BF_POSITIONS = 4096,
    BF_TRIP_POSITIONS = 1 << 16 /* the same for a store that prefers large batches */
};

typedef struct {
    /* m: number of cells (bits or counters); n: number of keys that m is sized for */
    uint64_t m, n;
    uint64_t lines; /* m / line_bits of the layout */
    double p;
    unsigned k;
    unsigned shards; /* number of equal slices of the m cells (shards.c); 0 means 1 */
    bool avx2;       /* positions() may use AVX2; set when the filter is opened */
    bool counting;   /* cells are counters of 4 bits, otherwise bits */
} bf_geometry;
static inline const bf_cell_ops *bf_cell_ops_of(const bf_geometry *g)
{
    return g->counting ? &bf_cells_counters : &bf_cells_bits;
}
static inline uint64_t bf_bits(const bf_geometry *g) /* number of bits of all cells */
{
    return g->m * bf_cell_ops_of(g)->bits;
}
static inline uint64_t bf_words_of(const bf_geometry *g) { return (bf_bits(g) + 63) / 64; }

/* Tests or adds the n keys with the digests d, at most BF_CHUNK. Bit i of the result is set if key
 * i was present. Also prefetches the lines of nahead keys with the digests `ahead`, which are `lag`
 * keys later in the batch. nahead is at most n. */
typedef uint64_t bf_test_kernel(const bf_geometry *g, const uint64_t *words, const uint64_t *d,
    size_t n, const uint64_t *ahead, size_t nahead);
typedef uint64_t bf_add_kernel(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n,
    const uint64_t *ahead, size_t nahead);
typedef struct {
    const uint64_t *words;
    const bf_geometry *g;
    uint64_t lines; /* g->lines */
} bf_part_view;
enum { BF_LARGE = 1 << 14 }; /* parts of at least this many words are prefetched */
/* Tests keys in all parts of a growing or forgetting filter. Bit i of the result is set if a part
 * contains key i. All parts have the same k, and no part is smaller than the part before it. */
typedef uint64_t bf_any_kernel(const bf_part_view *views, size_t nviews, const uint64_t *d,
    size_t n, const uint64_t *ahead, size_t nahead);
/* How a key is added. PLAIN: no other thread writes the words. ATOMIC: other threads or processes
 * may write the words. IF_ABSENT: like PLAIN, but kernels of bits do not write a present key,
 * because a write makes a page of the file dirty. */
typedef enum { BF_ADD_PLAIN, BF_ADD_ATOMIC, BF_ADD_IF_ABSENT } bf_add_mode;
typedef struct {
    /* step: number of keys per call, a multiple of 8. lag: the lines of a key are
     * prefetched this many keys ahead of the key that is tested or added; a multiple of step. See
     * BF_RING. */
    unsigned step, lag;
    void (*fetch)(const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n);
    bf_test_kernel *test;
    bf_add_kernel *add[3]; /* the index is a bf_add_mode */
    /* return true if the key was present */
    bool (*test_one)(const bf_geometry *g, const uint64_t *words, const uint64_t *d);
    bool (*add_one[3])(const bf_geometry *g, uint64_t *words, const uint64_t *d);
    bf_any_kernel *any; /* NULL: each part is tested by a call of `test` */
} bf_kernels;

typedef struct {
    const char *name;
    unsigned k_max;
    unsigned line_bits;                              /* m must be a multiple of this */
    double (*rate)(double bits_per_key, unsigned k); /* rates.c: false-positive rate */
    double (*distinct)(unsigned k); /* rates.c: mean number of different bits that a key sets */
    /* computes n * k positions as if there were one shard; bf_positions computes all others */
    void (*positions)(const bf_geometry *g, const uint64_t *digests, size_t n, uint64_t *pos);
    /* indexes: g->counting, bf_cpu(). NULL: the kernels of the previous bf_cpu() value; NULL for
     * the first value: no kernels. */
    const bf_kernels *kernels[2][BF_CPUS];
    enum { BF_WHOLE, BF_SHARDS_OF_LINES, BF_SHARDS_BY_HASH } sharding; /* see shards.c */
} bf_layout;
/* Defines a layout of an older system: no kernels, no shards, the textbook's rates. */
#define BF_LAYOUT_OLDER(its_name, most_k, bits, function)                                          \
    { .name = its_name,                                                                            \
        .k_max = most_k,                                                                           \
        .line_bits = bits,                                                                         \
        .rate = bf_rate_classic,                                                                   \
        .distinct = bf_distinct_classic,                                                           \
        .positions = function }

/* sample.c. bf_fill returns the fraction of cells that are set, bf_sample their number. Both are
 * estimates if the bitmap is large. */
double bf_fill(const uint64_t *words, uint64_t nwords, const bf_geometry *g);
uint64_t bf_sample(const uint64_t *words, uint64_t nwords, const bf_geometry *g);

/* shards.c */
uint64_t bf_shard_step(const bf_layout *l, unsigned shards); /* m is a multiple of this */
void bf_positions(
    const bf_layout *l, const bf_geometry *g, const uint64_t *digests, size_t n, uint64_t *pos);
/* returns true if the stored number of shards is possible */
bool bf_shards_fit(const bf_layout *l, const bf_geometry *g);
/* returns g->shards, or 1 if the positions do not depend on the number of shards */
unsigned bf_shards_that_matter(const bf_layout *l, const bf_geometry *g);

/* rates.c; distinct: mean number of different bits that a key sets */
double bf_rate_classic(double bits_per_key, unsigned k);
double bf_rate_block(double bits_per_key, unsigned k);
double bf_rate_block2(double bits_per_key, unsigned k);
double bf_distinct_classic(unsigned k);
double bf_distinct_block(unsigned k);
double bf_distinct_block2(unsigned k);
/* The rate of a classic filter with fewer than BF_RATE_SMALL bits. bf_rate_classic would return too
 * low a rate. */
enum { BF_RATE_SMALL = 65536 };
double bf_rate_small(double m, double n, unsigned k);
#endif
