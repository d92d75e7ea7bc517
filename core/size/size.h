/* size.h - schemes and sizes: the rows that pair a hash with a layout, what a filter is
 * (bf_params), and m, n, k, p out of each other.  Private.  Uses base, hash and layout; knows no
 * home and no file. */
#ifndef BF_SIZE_H
#define BF_SIZE_H
#include "hash/hash.h"
#include "layout/layout.h"

enum { BF_SLICES = 64 }; /* equal slices of a bitmap, whose set cells are counted apart */

/* ---- scheme: one row of tables.c.  The id is written to files and never reused. ---- */
typedef struct {
    uint32_t id;
    const char *name;
    const bf_hash *hash;
    const bf_hash *keyed; /* used instead when a secret is given; NULL = cannot be keyed */
    const bf_layout *layout;
    /* Values that an older system fixes; 0 or NULL: not fixed. */
    unsigned k;            /* its only k                                                  */
    unsigned usual_k;      /* default k: any other is allowed too                         */
    unsigned bits_per_key; /* m / n if only n is given                                    */
    bool power_of_two;     /* m made from n and p is one: the layout needs it             */
    uint64_t m, m_max;     /* its only m, its largest m                                   */
    uint64_t values;       /* number of different digests, if small: rates_older.c        */
    uint64_t range;        /* positions are numbers below this modulo m, if m may be near */
    double (*rate)(double m, double n, unsigned k); /* instead of the layout's, with      */
    double (*fill)(double m, double n, unsigned k); /* the share of cells that are set    */
    /* Estimates keys and rate from the set cells of each slice; NULL: bf_estimate. */
    void (*estimate)(const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);
    int (*size)(
        bf_geometry *g, const char *name, bf_error *err); /* sizing_older.c: its own formulas */
} bf_scheme;

/* What a header page or a companion hash describes: a fixed filter; a growing or a forgetting
 * filter, which has no bits itself; or one part of such a filter.  bf_variant_formats has a row for
 * each. */
enum { BF_FIXED, BF_GROW, BF_WINDOW, BF_PART };
enum { BF_FLAG_GROW = 0x100, BF_FLAG_WINDOW = 0x200, BF_FLAG_PART = 0x400 }; /* in header pages */
#define BF_NEVER (-(INT64_C(1) << 47)) /* the epoch of a part that was never used */
enum { BF_PARTS_MAX = 256, BF_WINDOW_PARTS = 4 };

/* The parameters of a filter: as stored, or as a new filter is created from them. */
typedef struct {
    const bf_scheme *scheme;
    bf_geometry g;
    uint64_t secret_check;      /* 0 = not keyed */
    char name[BF_SCHEME_BYTES]; /* the scheme's, with what followed the colon */
    bf_argument argument;       /* that, read                                 */
    unsigned kind;              /* BF_FIXED, ...                              */
    double grow, window;        /* of BF_GROW, of BF_WINDOW: as asked          */
    unsigned parts;             /* of BF_WINDOW: as asked; there is one more  */
    unsigned index;             /* of BF_PART: which                          */
    int64_t live; /* what goes on changing: the number of parts (BF_GROW), the newest epoch
                   * (BF_WINDOW), the keys in a part or its epoch (BF_PART) */
    bool dirty;   /* as read: written in place since it was saved */
} bf_params;

/* ---- kind: one row of tables.c.  How a kind of filter is stored, and how large its parts are.
 * ---- */
typedef struct {
    const char *is;     /* in messages                                       */
    unsigned flag;      /* BF_FLAG_...                                       */
    bool is_part;       /* no whole filter, but a part of one                */
    bool even;          /* all its parts have the m of the whole             */
    int64_t least_live; /* the live word of a part: of a new one, and of any */
    /* Returns what is wrong with a field that only filters of many parts have, or NULL. */
    const char *(*wrong)(const bf_params *d);
    /* Fills in the geometry of part i, after `before` bits.  Returns 1, 0 if no more bits fit, or
     * an error.  NULL: this kind has no parts. */
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

/* tables.c has the rows; schemes.c looks into them */
extern const bf_scheme bf_schemes[]; /* ended by a NULL name */
int bf_find_scheme(bf_params *d, const char *name, const bf_functions *functions,
    bf_error *err); /* clears and fills d */
const bf_scheme *bf_find_scheme_id(uint32_t id);
int bf_check_limits(const bf_params *d, bf_error *err); /* m and k against what the scheme fixes */

/* sizing.c */
/* Derives scheme and geometry of a spec.  most_bits: the limit of a shard in its home, 0 = none. */
int bf_size(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
bool bf_sufficient(const bf_spec *spec); /* does it size a filter?        */
static inline bool bf_may_create(const bf_spec *spec)
{
    return !spec->read_only && !spec->must_exist && bf_sufficient(spec);
}
double bf_bits_for(const bf_layout *l, double p, unsigned k); /* bits per key for a rate       */
unsigned bf_best_k(const bf_layout *l, double p);             /* the k with the fewest of them */

/* sizing_parts.c: filters of many parts */
/* bf_size, also where spec asks to grow or to forget. */
int bf_size_any(bf_params *out, const bf_spec *spec, uint64_t most_bits, bf_error *err);
/* Part i of d, with d's geometry still. */
bf_params bf_part_of(const bf_params *d, unsigned i);
/* Describes part i of d, after `before` bits.  Returns 1, 0 if no more bits fit, or an error. */
int bf_chain_part(const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err);
/* Could a spec have created this, up to rounding to a line?  Checked because the size of the next
 * part follows from the stored values. */
bool bf_chain_possible(const bf_params *d);
bool bf_chain_part_possible(const bf_params *of, const bf_params *part);
int bf_check_ranges(const bf_spec *spec, bf_error *err); /* m, n, k, p where they are given */
/* bf_check_ranges and a check of the scheme's name.  Called before the storage is opened, so that a
 * wrong parameter is not reported as a missing file. */
int bf_check_size_given(const bf_spec *spec, bf_error *err);

/* sizing_older.c: the formulas of older systems */
int bf_size_guava(bf_geometry *g, const char *name, bf_error *err);
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err);
int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err);
const char *bf_default_scheme(const bf_spec *spec); /* where none is named           */
void bf_estimate(
    const bf_scheme *s, const void *argument, const bf_geometry *g, uint64_t ones, bf_state *out);
/* The rate at n keys: g.p, or more if the scheme's hash, generator or walk raises it. */
double bf_told_p(const bf_params *d);

/* rates_older.c: the false-positive rate of a scheme with n keys in m cells, with all effects of
 * its hash and generator; for a hash of few values also the part of the rate that no m can lower.
 * argument: the text after the scheme's colon, as read */
double bf_rate(const bf_scheme *s, const void *argument, double m, double n, unsigned k);
bool bf_rate_is_formula(const bf_scheme *s); /* does the rate depend on m / n and k alone? */
double bf_keys_of(const bf_scheme *s, const void *argument, double m, double ones,
    unsigned k); /* that set so many */
double bf_rate_floor(const bf_scheme *s, double n);
double bf_rate_left(const bf_scheme *s, double p, double n); /* of p, what is left for positions */
double bf_rate_redisson(double m, double n, unsigned k);
double bf_fill_redisson(double m, double n, unsigned k);
double bf_rate_scrapy_redis(double m, double n, unsigned k);
double bf_fill_scrapy_redis(double m, double n, unsigned k);
void bf_estimate_scrapy_redis(
    const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state);

/* compatible.c: the one comparison of parameters */
typedef enum {
    BF_SAME_HASH,  /* a key's digests mean the same: scheme, k, secret      */
    BF_SAME_BITS,  /* and its positions: also bits or counters, m, shards   */
    BF_SAME_FILTER /* and its parts: also kind, grow, window, parts         */
} bf_scope;
/* Names the first parameter in which they differ, or NULL. */
const char *bf_difference(const bf_params *a, const bf_params *b, bf_scope scope);
/* 0, or BF_EINVAL with a sentence that names both values: to be united, compared, intersected. */
int bf_check_same(const bf_params *a, const bf_params *b, bf_error *err);
/* 0, or BF_EMISMATCH with a sentence: is this what was asked for? */
int bf_match(const bf_params *have, const bf_spec *want, const char *where, bf_error *err);

static inline bool bf_grow_valid(double factor) { return factor > 1 && factor <= 1e300; }
/* Epochs shorter than 0.1 ms could not be counted by any clock of today. */
static inline bool bf_window_valid(double seconds, unsigned parts)
{
    return seconds / parts >= 1e-4 && seconds <= 1e300;
}
#endif
