/* size.h - schemes and sizes: the rows that pair a hash with a layout, the parameters of a filter
 * (bf_params), and the formulas that derive m, n, k and p from each other.  Private.  Uses base,
 * hash and layout; knows no home and no file. */
#ifndef BF_SIZE_H
#define BF_SIZE_H
#include "hash/hash.h"
#include "layout/layout.h"

enum { BF_SLICES = 64 }; /* slices of a bitmap whose set cells are counted separately */

/* ---- scheme: one row of tables.c.  The id is written to files and never reused. ---- */
typedef struct {
    uint32_t id;
    const char *name;
    const bf_hash *hash;
    const bf_hash *keyed; /* hash if a secret is given; NULL: the scheme cannot be keyed */
    const bf_layout *layout;
    /* Values that an older system fixes; 0 or NULL: not fixed. */
    unsigned k;            /* the only k */
    unsigned usual_k;      /* default k */
    unsigned bits_per_key; /* m / n if only n is given */
    bool power_of_two;     /* m derived from n and p is a power of two, as the layout needs */
    uint64_t m, m_max;     /* the only m; the largest m */
    uint64_t values;       /* number of different digests, if small: rates_older.c */
    uint64_t range;        /* positions are numbers below this, modulo m; 0: m is far below */
    double (*rate)(double m, double n, unsigned k); /* replaces the layout's rate; needs fill */
    double (*fill)(double m, double n, unsigned k); /* fraction of set cells */
    /* Estimates keys and rate from the set cells of each slice; NULL: bf_estimate. */
    void (*estimate)(const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);
    /* sizing_older.c: the older system's formulas */
    int (*size)(bf_geometry *g, const char *name, bf_error *err);
} bf_scheme;

/* The kinds. A header page or a companion hash describes a fixed filter, a growing or forgetting
 * filter (its bits are in its parts), or one part. bf_variant_formats has one row per kind. */
enum { BF_FIXED, BF_GROW, BF_WINDOW, BF_PART };
enum { BF_FLAG_GROW = 0x100, BF_FLAG_WINDOW = 0x200, BF_FLAG_PART = 0x400 }; /* in header pages */
#define BF_NEVER (-(INT64_C(1) << 47)) /* epoch of a part that was never used */
enum { BF_PARTS_MAX = 256, BF_WINDOW_PARTS = 4 };

/* The parameters of a filter, as stored or as a new filter is created from them. */
typedef struct {
    const bf_scheme *scheme;
    bf_geometry g;
    uint64_t secret_check;      /* 0: not keyed */
    char name[BF_SCHEME_BYTES]; /* the scheme's name, with its argument */
    bf_argument argument;       /* that, read                                 */
    unsigned kind;              /* BF_FIXED, ...                              */
    double grow, window;        /* BF_GROW: factor; BF_WINDOW: seconds */
    unsigned parts;             /* BF_WINDOW: parts of the window; the ring has one more */
    unsigned index;             /* BF_PART: its index */
    int64_t live; /* the live word: number of parts (BF_GROW), newest epoch (BF_WINDOW), keys of a
                     part or its epoch (BF_PART) */
    bool dirty;   /* written in place since it was saved */
} bf_params;

/* ---- kind: one row of tables.c.  How a kind of filter is stored, and how large its parts are.
 * ---- */
typedef struct {
    const char *is;     /* in messages                                       */
    unsigned flag;      /* BF_FLAG_...                                       */
    bool is_part;       /* part of a growing or forgetting filter */
    bool even;          /* all parts have the same m */
    int64_t least_live; /* the live word of a new part, and the least valid one */
    /* Returns a message about an invalid field that only this variant has, or NULL. */
    const char *(*wrong)(const bf_params *d);
    /* Fills in the geometry of part i, which follows `before` bits.  Returns 1, 0 if no more bits
     * fit, or an error.  NULL: no parts. */
    int (*part)(const bf_params *d, unsigned i, uint64_t before, bf_geometry *g, bf_error *err);
    bool (*part_possible)(const bf_params *of, const bf_params *part);
} bf_variant_format;
extern const bf_variant_format bf_format_fixed, bf_format_grow, bf_format_window, bf_format_part;
extern const bf_variant_format *const bf_variant_formats[]; /* by kind */
static inline const bf_variant_format *bf_format_of(const bf_params *d)
{
    return bf_variant_formats[d->kind];
}
static inline bool bf_has_parts(const bf_params *d) { return bf_format_of(d)->part != NULL; }

/* rows in tables.c, functions in schemes.c */
extern const bf_scheme bf_schemes[]; /* the last one has a NULL name */
/* sets scheme, argument and name of d, and all its other fields to 0 */
int bf_find_scheme(bf_params *d, const char *name, const bf_functions *functions, bf_error *err);
const bf_scheme *bf_find_scheme_id(uint32_t id);
/* checks m and k against what the scheme fixes */
int bf_check_limits(const bf_params *d, bf_error *err);

/* sizing.c */
/* Derives scheme and geometry of a spec. most_bits: largest shard of the home, 0 = no limit. */
int bf_size(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
bool bf_sufficient(const bf_spec *spec); /* is a size given?  */
static inline bool bf_may_create(const bf_spec *spec)
{
    return !spec->read_only && !spec->must_exist && bf_sufficient(spec);
}
double bf_bits_for(const bf_layout *l, double p, unsigned k); /* bits per key that reach a rate */
/* the same with the k that needs the fewest */
double bf_best_k(const bf_layout *l, double p, unsigned *k);

/* sizing_parts.c: filters of many parts */
/* bf_size, and also growing and forgetting filters. */
int bf_size_any(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
/* Returns d as the parameters of its part i; the geometry is still d's.  A fixed filter is its
 * only part. */
bf_params bf_part_of(const bf_params *d, unsigned i);
/* Fills in the parameters of part i, which follows `before` bits.  Returns 1, 0 if no more bits
 * fit, or an error. */
int bf_chain_part(const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err);
/* Returns true if a spec gives these parameters, up to rounding to a line.  Stored values are
 * checked by this, because the sizes of later parts follow from them. */
bool bf_chain_possible(const bf_params *d);
bool bf_chain_part_possible(const bf_params *of, const bf_params *part);
/* checks those of m, n, k, p and shards that are given */
int bf_check_ranges(const bf_spec *spec, bf_error *err);
/* bf_check_ranges, and the scheme's name.  Called before the storage is opened, so that a wrong
 * parameter is not reported as a missing file. */
int bf_check_before_open(const bf_spec *spec, bf_error *err);

/* sizing_older.c: formulas of older systems */
int bf_size_guava(bf_geometry *g, const char *name, bf_error *err);
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err);
int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err);
const char *bf_default_scheme(const bf_spec *spec); /* if spec names none */
void bf_estimate(
    const bf_scheme *s, const void *argument, const bf_geometry *g, uint64_t ones, bf_state *out);
/* Returns the rate at n keys: g.p, or more if the scheme's hash, generator or double hashing raises
 * it. */
double bf_effective_p(const bf_params *d);

/* rates_older.c: the false-positive rate of a scheme with n keys in m cells, with all effects of
 * its hash and generator; and for a hash with few values the part of the rate that remains for any
 * m. argument: the text after the scheme's colon, prepared. */
double bf_rate(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
bool bf_rate_is_formula(const bf_scheme *s); /* does the rate depend on m / n and k only?  */
/* Returns the fraction of cells that n keys set. */
double bf_fill_of(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
/* how many keys set this many cells */
double bf_keys_of(const bf_scheme *s, const void *argument, double m, double ones, unsigned k);
double bf_rate_floor(const bf_scheme *s, double n);
double bf_rate_left(const bf_scheme *s, double p, double n); /* p without that part */
double bf_rate_redisson(double m, double n, unsigned k);
double bf_fill_redisson(double m, double n, unsigned k);
double bf_rate_scrapy_redis(double m, double n, unsigned k);
double bf_fill_scrapy_redis(double m, double n, unsigned k);
void bf_estimate_scrapy_redis(
    const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);

/* compatible.c: all comparisons of parameters */
typedef enum {
    BF_SAME_HASH,  /* scheme, k, secret, bits or counters: a key has the same digests */
    BF_SAME_BITS,  /* the above, m, shards: a key also has the same positions */
    BF_SAME_FILTER /* the above, variant, grow, window, parts */
} bf_scope;
/* Returns the name of the first parameter that differs, or NULL. */
const char *bf_difference(const bf_params *a, const bf_params *b, bf_scope scope);
/* Returns 0, or BF_EINVAL with a message that names both values.  For filters that are united,
 * compared or intersected. */
int bf_check_same(const bf_params *a, const bf_params *b, bf_error *err);
/* Returns 0 if a filter is what spec asks for, or BF_EMISMATCH with a message. */
int bf_check_match(const bf_params *have, const bf_spec *want, const char *where, bf_error *err);

/* As a spec gives it, and as it may be stored. */
static inline bool bf_grow_valid(double factor) { return factor >= 1 && factor <= 1024; }
static inline bool bf_grow_stored(double factor) { return factor >= 1 && factor <= 1e300; }
/* No clock of today could count epochs shorter than 0.1 ms. */
static inline bool bf_window_valid(double seconds, unsigned parts)
{
    return seconds / parts >= 1e-4 && seconds <= 1e300;
}
#endif
