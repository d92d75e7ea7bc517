/* size.h - schemes (a hash and a layout), the parameters of a filter, and the formulas that derive
 * m, n, k and p from each other. Private. */
#ifndef BF_SIZE_H
#define BF_SIZE_H
#include "hash/hash.h"
#include "layout/layout.h"

/* slices of a bitmap whose set cells are counted separately */
enum { BF_SLICES = 64 };

typedef struct bf_part_sizes bf_part_sizes;
/* ---- scheme: one row of tables.c. The id is written to files and never reused ---- */
typedef struct {
    uint32_t id;
    const char *name;
    const bf_hash *hash;
    const bf_hash *keyed; /* the hash with a secret; NULL: the scheme cannot be keyed */
    const bf_layout *layout;
    /* Values that an older system fixes. 0 or NULL: not fixed. */
    unsigned k;            /* the only possible k */
    unsigned usual_k;      /* the default k */
    unsigned bits_per_key; /* m / n if only n is given */
    /* m is rounded up to a power of two if it is derived from n and p */
    bool power_of_two;
    uint64_t m, m_max; /* m: the only possible m; m_max: the largest m */
    uint64_t values;   /* number of different digests; 0: so many that keys do not collide */
    /* a position is a number below `range`, modulo m; 0: the range is much larger than m */
    uint64_t range;
    /* false-positive rate; NULL: the layout's rate; if set, fill must be set, too */
    double (*rate)(double m, double n, unsigned k);
    double (*fill)(double m, double n, unsigned k); /* fraction of set cells */
    /* Sets count and fpr of *state from the set cells of each slice; NULL: bf_estimate suffices. */
    void (*estimate)(const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);
    /* derives m, n and k as the older system does (sizing_older.c) */
    int (*size)(bf_geometry *g, const char *name, bf_error *err);
    const bf_part_sizes *parts; /* growing filters of an older system; NULL: it has none */
} bf_scheme;

/* Only native layouts have kernels. */
static inline bool bf_is_native(const bf_scheme *s) { return s->layout->kernels[0][0]; }

/* What a header page or K:meta describes: a fixed filter, a complete growing or forgetting filter
 * (the bits are in its parts), or one part. */
enum { BF_FIXED, BF_GROW, BF_WINDOW, BF_PART };
/* flags in header pages */
enum { BF_FLAG_GROW = 0x100, BF_FLAG_WINDOW = 0x200, BF_FLAG_PART = 0x400 };
#define BF_NEVER (-(INT64_C(1) << 47)) /* epoch of a part that was never used */
enum { BF_PARTS_MAX = 256, BF_WINDOW_PARTS = 4 };

/* The parameters of a filter: as stored, or from which a new filter is created. */
typedef struct {
    const bf_scheme *scheme;
    bf_geometry g;
    uint64_t secret_check;      /* check value of the secret (secret.c); 0: not keyed */
    char name[BF_SCHEME_BYTES]; /* the scheme's name, including its argument */
    bf_argument argument;       /* the argument in the name, prepared for the hash */
    unsigned kind;              /* BF_FIXED to BF_PART */
    double grow, window;        /* growth factor (BF_GROW); seconds (BF_WINDOW) */
    unsigned parts;             /* BF_WINDOW: parts that a window has; the ring has one more */
    unsigned index;             /* BF_PART: its index, from 0 */
    /* the state (bf_live): number of parts (BF_GROW), newest epoch (BF_WINDOW), part state
     * (BF_PART) */
    int64_t live;
    bool dirty; /* bits were written in place since the filter was saved */
} bf_params;

/* ---- the parts of growing filters of an older system. They have words without kernels, and each
 * has its own k ---- */
struct bf_part_sizes {
    /* Sets *g to the geometry of part i. Returns 1, or 0 if there can be no such part. */
    int (*part)(const bf_params *d, unsigned i, bf_geometry *g);
    unsigned (*k)(double p);           /* the k of a part with this rate */
    const char *(*wrong)(double grow); /* what grow must be; NULL: it is valid */
    bool (*possible)(const bf_params *of, const bf_params *part);
};
extern const bf_part_sizes bf_sizes_redisbloom; /* sizing_redisbloom.c */
static inline unsigned bf_k_of_part(const bf_params *d, double p)
{
    return d->scheme->parts ? d->scheme->parts->k(p) : d->g.k;
}
/* Returns true if filters with these parameters can have parts: native ones, and growing ones of an
 * older system if it has them. */
static inline bool bf_may_have_parts(const bf_params *d)
{
    return bf_is_native(d->scheme) || (d->scheme->parts && d->kind != BF_WINDOW && !d->g.counting);
}

/* ---- one row of tables.c per kind: how it is stored, and the sizes of its parts ---- */
typedef struct {
    const char *is;     /* in messages, for example "grows" */
    unsigned flag;      /* BF_FLAG_... */
    bool is_part;       /* part of a growing or forgetting filter */
    bool even;          /* all parts have the same m */
    int64_t least_live; /* the state of a new part, and the smallest valid state */
    /* Returns a message about the first invalid field of this kind, or NULL. */
    const char *(*wrong)(const bf_params *d);
    /* Sets *g to the geometry of part i; the parts before it have `before` cells. Returns 1, 0 if
     * the largest m would be exceeded, or an error. NULL: this kind has no parts. */
    int (*part)(const bf_params *d, unsigned i, uint64_t before, bf_geometry *g, bf_error *err);
    bool (*part_possible)(const bf_params *of, const bf_params *part); /* see bf_chain_possible */
} bf_variant_format;
extern const bf_variant_format bf_format_fixed, bf_format_grow, bf_format_window, bf_format_part;
extern const bf_variant_format *const bf_variant_formats[]; /* by kind */
static inline const bf_variant_format *bf_format_of(const bf_params *d)
{
    return bf_variant_formats[d->kind];
}
static inline bool bf_has_parts(const bf_params *d) { return bf_format_of(d)->part != NULL; }

extern const bf_scheme bf_schemes[]; /* tables.c; the last row has a NULL name */
/* schemes.c: sets scheme, argument and name of *d, and all other fields to 0 */
int bf_find_scheme(bf_params *d, const char *name, const bf_functions *functions, bf_error *err);
const bf_scheme *bf_find_scheme_id(uint32_t id);
/* checks m and k against the limits of the scheme */
int bf_check_limits(const bf_params *d, bf_error *err);

/* sizing.c: derives the scheme and the geometry of a spec. most_bits: the largest shard of the
 * home; 0: no limit. */
int bf_size(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
bool bf_sufficient(const bf_spec *spec); /* true if spec gives enough to size a filter */
static inline bool bf_may_create(const bf_spec *spec)
{
    return !spec->read_only && !spec->must_exist && bf_sufficient(spec);
}
/* bits per key that give the rate p */
double bf_bits_for(const bf_layout *l, double p, unsigned k);
/* sets *k to the k that needs the fewest bits per key, and returns these bits */
double bf_best_k(const bf_layout *l, double p, unsigned *k);

/* sizing_parts.c: bf_size for every kind of filter. */
int bf_size_any(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
/* Returns the parameters of part i of d, but with the geometry of d. A fixed filter is its own
 * only part. */
bf_params bf_part_of(const bf_params *d, unsigned i);
/* Sets *part to the parameters of part i; the parts before it have `before` cells. Returns 1, 0 if
 * the largest m would be exceeded, or an error. */
int bf_chain_part(const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err);
/* Return true if some spec gives these parameters, apart from rounding to a line. For stored
 * parameters, because the sizes of later parts are computed from them. */
bool bf_chain_possible(const bf_params *d);
bool bf_chain_part_possible(const bf_params *of, const bf_params *part);
/* sizing.c: checks the ranges of m, n, k, p, shards and overfull */
int bf_check_ranges(const bf_spec *spec, bf_error *err);
/* Calls bf_check_ranges and checks the scheme's name. Call it before the storage is opened, so
 * that a wrong parameter is not reported as a missing file. */
int bf_check_before_open(const bf_spec *spec, bf_error *err);

/* sizing_older.c: formulas of older systems */
int bf_size_guava(bf_geometry *g, const char *name, bf_error *err);
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err);
int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err);
/* sizing_redisbloom.c */
int bf_size_redisbloom(bf_geometry *g, const char *name, bf_error *err);
double bf_redisbloom_bits_per_key(double p);
unsigned bf_redisbloom_k(double p);
/* Returns true if m and k are those of RedisBloom for n and p. */
bool bf_redisbloom_possible(const bf_geometry *g);
/* sizing.c */
#define BF_HASHES64 "hashes64" /* names the scheme that takes hashes and has the default layout */
/* the scheme that spec names; if it names none, or hashes64: the default */
const char *bf_scheme_of(const bf_spec *spec);
/* Sets *out to the state of a bitmap in which `ones` cells are set. */
void bf_estimate(
    const bf_scheme *s, const void *argument, const bf_geometry *g, uint64_t ones, bf_state *out);
/* Returns the rate at n keys that users see: the real rate if weaknesses of the scheme's hash raise
 * it more than 0.1 % above g.p and above the layout's formula; else g.p. */
double bf_effective_p(const bf_params *d);

/* rates_older.c: the false-positive rate of a scheme with n keys in m cells, with all weaknesses of
 * its hash. argument: the text after the scheme's colon, prepared. */
double bf_rate(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
bool bf_rate_is_formula(const bf_scheme *s); /* true if the rate depends only on m / n and k */
/* Returns the fraction of cells that n keys set. */
double bf_fill_of(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
/* estimated number of keys that set this many cells */
double bf_keys_of(const bf_scheme *s, const void *argument, double m, double ones, unsigned k);
/* the rate at which absent keys have the digest of one of n keys; it does not depend on m */
double bf_rate_floor(const bf_scheme *s, double n);
/* the rate that the bits may add to bf_rate_floor if the total is to be p; may be below 0 */
double bf_rate_left(const bf_scheme *s, double p, double n);
double bf_rate_redisson(double m, double n, unsigned k);
double bf_fill_redisson(double m, double n, unsigned k);
double bf_rate_scrapy_redis(double m, double n, unsigned k);
double bf_fill_scrapy_redis(double m, double n, unsigned k);
void bf_estimate_scrapy_redis(
    const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);

/* compatible.c: all comparisons of parameters */
typedef enum {
    BF_SAME_HASH,  /* scheme, k, secret, bits or counters: a key has the same digests */
    BF_SAME_BITS,  /* these and m, shards: a key has the same positions */
    BF_SAME_FILTER /* all these and kind, grow, window, parts */
} bf_scope;
/* Returns the name of the first parameter that differs, or NULL. */
const char *bf_difference(const bf_params *a, const bf_params *b, bf_scope scope);
/* Returns 0 if two filters can be united, intersected or compared; else BF_EINVAL. */
int bf_check_same(const bf_params *a, const bf_params *b, bf_error *err);
/* Returns 0 if the filter has all that spec gives, else BF_EMISMATCH or another error. */
int bf_check_match(const bf_params *have, const bf_spec *want, const char *where, bf_error *err);

/* the growth factors that a spec may give, and those that a stored filter may have */
static inline bool bf_grow_valid(double factor) { return factor >= 1 && factor <= 1024; }
static inline bool bf_grow_stored(double factor) { return factor >= 1 && factor <= 1e300; }
/* The system's clock is too coarse for epochs below 0.1 ms. */
static inline bool bf_window_valid(double seconds, unsigned parts)
{
    return seconds / parts >= 1e-4 && seconds <= 1e300;
}
#endif
