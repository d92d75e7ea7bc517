/* size.h - schemes and sizes: the rows that pair a hash with a layout, the parameters of a
 * filter (bf_params), and the formulas that derive m, n, k and p from each other. Uses base,
 * hash and layout; knows no home and no file. Private. */
#ifndef BF_SIZE_H
#define BF_SIZE_H
#include "hash/hash.h"
#include "layout/layout.h"

/* number of slices of a bitmap in which the set cells are counted separately */
enum { BF_SLICES = 64 };

/* ---- scheme: one row of tables.c. The id is written to files and never reused ---- */
typedef struct {
    uint32_t id;
    const char *name;
    const bf_hash *hash;
    const bf_hash *keyed; /* the hash if a secret is given; NULL: the scheme cannot be keyed */
    const bf_layout *layout;
    /* Values that an older system fixes. 0 or NULL: not fixed. */
    unsigned k;            /* the only possible k */
    unsigned usual_k;      /* the default k */
    unsigned bits_per_key; /* m / n if only n is given */
    /* the m derived from n and p is rounded up to a power of two, as the layout needs */
    bool power_of_two;
    uint64_t m, m_max; /* m: the only possible m; m_max: the largest m */
    uint64_t values;   /* number of different digests, if it is small (rates_older.c) */
    /* a position is a number below this, modulo m; 0: m is much smaller than the range */
    uint64_t range;
    /* false-positive rate, in place of the layout's; if set, fill must be set, too */
    double (*rate)(double m, double n, unsigned k);
    double (*fill)(double m, double n, unsigned k); /* fraction of set cells */
    /* Estimates the number of keys and the rate from the set cells of each slice. NULL:
     * bf_estimate does this. */
    void (*estimate)(const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);
    /* sizing_older.c: the formulas of the older system */
    int (*size)(bf_geometry *g, const char *name, bf_error *err);
} bf_scheme;

/* The kinds. A header page or a companion hash describes a fixed filter, a growing or forgetting
 * filter (its bits are in its parts), or one part. bf_variant_formats has one row per kind. */
enum { BF_FIXED, BF_GROW, BF_WINDOW, BF_PART };
/* flags in header pages */
enum { BF_FLAG_GROW = 0x100, BF_FLAG_WINDOW = 0x200, BF_FLAG_PART = 0x400 };
#define BF_NEVER (-(INT64_C(1) << 47)) /* epoch of a part that was never used */
enum { BF_PARTS_MAX = 256, BF_WINDOW_PARTS = 4 };

/* The parameters of a filter: as stored, or from which a new filter is created. */
typedef struct {
    const bf_scheme *scheme;
    bf_geometry g;
    uint64_t secret_check;      /* 0: not keyed */
    char name[BF_SCHEME_BYTES]; /* the scheme's name, including its argument */
    bf_argument argument;       /* the argument in the name, prepared for the hash */
    unsigned kind;              /* BF_FIXED to BF_PART */
    double grow, window;        /* growth factor (BF_GROW); seconds (BF_WINDOW) */
    unsigned parts;             /* BF_WINDOW: parts that a window has; the ring has one more */
    unsigned index;             /* BF_PART: its index, from 0 */
    /* the state (bf_live): number of parts (BF_GROW), newest epoch (BF_WINDOW), number of keys
     * or epoch of the part (BF_PART) */
    int64_t live;
    bool dirty; /* bits were written in place since the filter was saved */
} bf_params;

/* ---- kind: one row of tables.c. How a kind of filter is stored, and the sizes of its parts
 * ---- */
typedef struct {
    const char *is;     /* in messages, for example "grows" */
    unsigned flag;      /* BF_FLAG_...                                       */
    bool is_part;       /* part of a growing or forgetting filter */
    bool even;          /* all parts have the same m */
    int64_t least_live; /* the state (bf_live) of a new part; also the smallest valid one */
    /* Checks the fields that only this kind has. Returns a message about an invalid field, or
     * NULL. */
    const char *(*wrong)(const bf_params *d);
    /* Computes the geometry of part i; the parts before it have `before` bits together. Returns
     * 1, 0 if no more bits fit, or an error. NULL: this kind has no parts. */
    int (*part)(const bf_params *d, unsigned i, uint64_t before, bf_geometry *g, bf_error *err);
    bool (*part_possible)(const bf_params *of, const bf_params *part);
} bf_variant_format;
extern const bf_variant_format bf_format_fixed, bf_format_grow, bf_format_window, bf_format_part;
extern const bf_variant_format *const bf_variant_formats[]; /* the index is the kind */
static inline const bf_variant_format *bf_format_of(const bf_params *d)
{
    return bf_variant_formats[d->kind];
}
static inline bool bf_has_parts(const bf_params *d) { return bf_format_of(d)->part != NULL; }

/* the rows are in tables.c, the functions in schemes.c */
extern const bf_scheme bf_schemes[]; /* the last row has a NULL name */
/* sets scheme, argument and name of *d, and all other fields to 0 */
int bf_find_scheme(bf_params *d, const char *name, const bf_functions *functions, bf_error *err);
const bf_scheme *bf_find_scheme_id(uint32_t id);
/* checks m and k against the limits of the scheme */
int bf_check_limits(const bf_params *d, bf_error *err);

/* sizing.c: derives the scheme and the geometry of a spec. most_bits: the largest shard of the
 * home; 0: no limit. */
int bf_size(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
bool bf_sufficient(const bf_spec *spec); /* returns true if spec gives enough to size a filter */
static inline bool bf_may_create(const bf_spec *spec)
{
    return !spec->read_only && !spec->must_exist && bf_sufficient(spec);
}
/* bits per key that give the rate p */
double bf_bits_for(const bf_layout *l, double p, unsigned k);
/* stores the k that needs the fewest bits per key, and returns these */
double bf_best_k(const bf_layout *l, double p, unsigned *k);

/* sizing_parts.c: bf_size, also for growing and forgetting filters. */
int bf_size_any(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
/* Returns the parameters of part i of d, but with the geometry of d. A fixed filter is its own
 * only part. */
bf_params bf_part_of(const bf_params *d, unsigned i);
/* Computes the parameters of part i; the parts before it have `before` bits together. Returns 1,
 * 0 if no more bits fit, or an error. */
int bf_chain_part(const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err);
/* Return true if some spec gives these parameters, apart from rounding to a line. Stored
 * parameters are checked in this way, because the sizes of later parts follow from them. */
bool bf_chain_possible(const bf_params *d);
bool bf_chain_part_possible(const bf_params *of, const bf_params *part);
/* checks m, n, k, p and shards, as far as they are given */
int bf_check_ranges(const bf_spec *spec, bf_error *err);
/* Calls bf_check_ranges and checks the scheme's name. Call it before the storage is opened, so
 * that a wrong parameter is not reported as a missing file. */
int bf_check_before_open(const bf_spec *spec, bf_error *err);

/* sizing_older.c: formulas of older systems */
int bf_size_guava(bf_geometry *g, const char *name, bf_error *err);
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err);
int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err);
const char *bf_default_scheme(const bf_spec *spec); /* the scheme if spec names none */
void bf_estimate(
    const bf_scheme *s, const void *argument, const bf_geometry *g, uint64_t ones, bf_state *out);
/* Returns the rate at n keys: g.p, or a higher rate if the scheme's hash, generator or double
 * hashing causes one. */
double bf_effective_p(const bf_params *d);

/* rates_older.c. bf_rate: the false-positive rate of a scheme with n keys in m cells, with all
 * effects of its hash and generator. argument: the text after the scheme's colon, prepared.
 * bf_rate_floor: the part of the rate that does not depend on m, because the hash has few
 * values. */
double bf_rate(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
bool bf_rate_is_formula(const bf_scheme *s); /* true if the rate depends on m / n and k only */
/* Returns the fraction of cells that n keys set. */
double bf_fill_of(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
/* estimated number of keys that set this many cells */
double bf_keys_of(const bf_scheme *s, const void *argument, double m, double ones, unsigned k);
double bf_rate_floor(const bf_scheme *s, double n);
/* the rate that the bits may have, so that together with bf_rate_floor the rate is p */
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
    BF_SAME_BITS,  /* these, and m, shards: a key also has the same positions */
    BF_SAME_FILTER /* these, and kind, grow, window, parts */
} bf_scope;
/* Returns the name of the first parameter that differs, or NULL. */
const char *bf_difference(const bf_params *a, const bf_params *b, bf_scope scope);
/* Call it before filters are united, compared or intersected. Returns 0, or BF_EINVAL with a
 * message that names both values. */
int bf_check_same(const bf_params *a, const bf_params *b, bf_error *err);
/* Returns 0 if the filter has what spec asks for, or BF_EMISMATCH with a message. */
int bf_check_match(const bf_params *have, const bf_spec *want, const char *where, bf_error *err);

/* grow as a spec may give it; as it may be stored */
static inline bool bf_grow_valid(double factor) { return factor >= 1 && factor <= 1024; }
static inline bool bf_grow_stored(double factor) { return factor >= 1 && factor <= 1e300; }
/* The system's clock is too coarse for epochs shorter than 0.1 ms. */
static inline bool bf_window_valid(double seconds, unsigned parts)
{
    return seconds / parts >= 1e-4 && seconds <= 1e300;
}
#endif
