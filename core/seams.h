/* seams.h - what the core is built from.  Private.  Data flows one way, in batches:
 *
 *   keys --hash--> digests --layout--> positions --store--> present or not
 *
 * A hash, a layout, a store is one file that ends in one const struct; tables.c lists them: a scheme is
 * a row that pairs a hash with a layout, a home is a row that names a store.
 * Where a store has its bits in addressable memory and the layout brings kernels, the kernels go from
 * digests to answers directly (filter.c, run_direct); everywhere else positions are handed to the store
 * (run_positions).  Both give the same bits: tests/c/test_schemes.c compares them. */
#ifndef BF_SEAMS_H
#define BF_SEAMS_H
#include "bloomfilter.h"
#include <float.h>
#include <stdarg.h>
/* Sizes, and the positions of some older schemes, are computed in doubles: rounded once more they are not those of other machines. */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#error "bloomfilter: doubles must be computed as doubles; on 32-bit x86 add -msse2 -mfpmath=sse to CFLAGS"
#endif

enum {
    BF_CHUNK = 64,             /* keys per kernel call at most: the answers fit one uint64_t        */
    BF_RING = 128,             /* digests in flight: a power of two, >= lag + step of any kernel     */
    BF_WIDTH_MAX = 16,         /* 64-bit words a hash may give per key                              */
    BF_POSITIONS = 4096,       /* positions handed to a store at once, >= BF_K_MAX                  */
    BF_TRIP_POSITIONS = 1 << 16  /* the same where a store asks for larger batches                  */
};

/* ---- hash: bytes to 64-bit words.  Knows neither m nor k. ---- */
typedef struct bf_desc bf_desc;
typedef struct {
    const char *name;
    unsigned width;                                    /* words per key, 1..BF_WIDTH_MAX; 0 = k     */
    void (*run)(const void *secret, const bf_key *keys, size_t n, uint64_t *digests);
    void (*one)(const void *secret, const void *key, size_t len, uint64_t *digest);    /* the same for one key */
    /* Schemes of older systems.  prepare: what comes after the scheme's colon (NULL: nothing) becomes d->argument, which
     * run and one get in the secret's place, and may fix d->k; NULL = takes none.  accept: 0, or BF_EINVAL for a key that
     * cannot be hashed; run and one see no other.  NULL = takes all; needs a layout without kernels. */
    int (*prepare)(bf_desc *d, const char *text, bf_error *err);
    int (*accept)(const void *secret, const void *key, size_t len, bf_error *err);
} bf_hash;

/* ---- layout: digests to positions.  Knows neither the keys nor where the bits live. ---- */
typedef struct {
    uint64_t m, n;             /* cells, keys it is sized for    */
    uint64_t lines;            /* m / line_bits of the layout    */
    double p;
    unsigned k;
    unsigned shards;           /* equal parts of m bits; 0 is 1, see shards.c */
    bool avx2;                 /* set at opening: positions() may use it */
    bool counting;             /* a cell is a counter of 4 bits, else a bit */
} bf_geometry;
static inline uint64_t bf_bits(const bf_geometry *g) { return g->counting ? 4 * g->m : g->m; }    /* of all cells */
/* What keys are asked to do, beside BF_OP_TEST and BF_OP_ADD: with counters only. */
enum { BF_OP_REMOVE = 2, BF_OP_COUNT = 3 };

/* Work on at most BF_CHUNK keys in addressable memory.  Bit i of the answer: key i was present.  While it works it
 * fetches the lines of the keys that come `lag` later (ahead, at most n of them): memory is asked at an even pace. */
typedef uint64_t bf_test_kernel(const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n, const uint64_t *ahead, size_t nahead);
typedef uint64_t bf_add_kernel(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n, const uint64_t *ahead, size_t nahead);
/* The parts of a filter that grows or forgets, asked at once: bit i of the answer: key i is in any of them.  All have one k. */
typedef struct { const uint64_t *words; const bf_geometry *g; } bf_plane;
typedef uint64_t bf_any_kernel(const bf_plane *planes, size_t nplanes, const uint64_t *d, size_t n);
typedef struct {
    unsigned step, lag;        /* keys per call; keys fetched ahead of the ones probed: multiples of step, see BF_RING */
    void (*fetch)(const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n);
    bf_test_kernel *test;
    bf_add_kernel *add[2];                                                           /* [atomic]            */
    bool (*test_one)(const bf_geometry *g, const uint64_t *words, const uint64_t *d);  /* true: was present   */
    bool (*add_one[2])(const bf_geometry *g, uint64_t *words, const uint64_t *d);
    bf_any_kernel *any;        /* NULL: part after part                                                  */
    bool any_fetches;          /* any() fetches lines ahead by itself, from 64 keys on                   */
} bf_kernels;

typedef struct {
    const char *name;
    unsigned k_max;
    unsigned line_bits;        /* m is rounded up to a multiple of it                                     */
    double (*rate)(double bits_per_key, unsigned k);   /* sizing.c: the false-positive rate                */
    double (*distinct)(unsigned k);                    /* sizing.c: different bits a key sets, on average  */
    void (*positions)(const bf_geometry *g, const uint64_t *digests, size_t n, uint64_t *pos); /* n * k    */
    const bf_kernels *portable, *avx2;                 /* NULL = none: positions only                       */
    const bf_kernels *counting[2];                     /* [AVX2]: the same where cells are counters         */
    enum { BF_WHOLE, BF_SHARDS_OF_LINES, BF_SHARDS_BY_HASH } sharding;   /* how it is cut into shards: shards.c */
} bf_layout;

/* ---- scheme: one row of tables.c.  The id is written to files and never reused. ---- */
typedef struct {
    uint32_t id;
    const char *name;
    const bf_hash *hash;
    const bf_hash *keyed;      /* used instead when a secret is given; NULL = cannot be keyed */
    const bf_layout *layout;
    /* What an older system fixes, 0 or NULL where it leaves it open. */
    unsigned k;                /* its only k                                                  */
    unsigned bits_per_key;     /* m where only n is given                                     */
    bool power_of_two;         /* m made from n and p is one: the layout needs it             */
    uint64_t m, m_max;         /* its only m, its largest m                                   */
    int (*size)(bf_geometry *g, const char *name, bf_error *err);    /* sizing_older.c: its own formulas */
} bf_scheme;

/* What a header page or a companion hash is of: a whole filter of one part; a filter of many, which has no bits itself; one
 * of those parts. */
enum { BF_FIXED, BF_GROW, BF_WINDOW, BF_PART };
enum { BF_PARTS_MAX = 256, BF_WINDOW_PARTS = 4 };

/* What a stored filter says of itself, and what a new one is made from. */
struct bf_desc {
    const bf_scheme *scheme;
    bf_geometry g;
    uint64_t secret_check;     /* 0 = not keyed */
    char name[BF_SCHEME_BYTES];               /* the scheme's, with what followed the colon */
    unsigned k;                               /* the only k of that scheme, 0 = any         */
    _Alignas(8) uint8_t argument[BF_SECRET_BYTES];
    const bf_functions *functions;            /* scheme "functions"                         */
    unsigned kind;                            /* BF_FIXED, ...                              */
    double grow, window;                      /* of BF_GROW, of BF_WINDOW: as asked          */
    unsigned parts;                           /* of BF_WINDOW: as asked; there is one more  */
    unsigned index;                           /* of BF_PART: which                          */
    int64_t live;                             /* what goes on changing: the number of parts (BF_GROW), the newest epoch (BF_WINDOW),
                                               * the keys in a part or its epoch (BF_PART) */
    bool dirty;                               /* as read: written in place since it was saved */
};

/* ---- store: where the bits live.  Either it has words, or apply() does it from positions. ---- */
enum { BF_STORE_ATOMIC = 1 };  /* others write the words too: atomic kernels always */
typedef struct bf_store bf_store;
typedef struct {
    const char *name;
    unsigned flags;
    unsigned batch;            /* keys that apply() likes to be given at once, 0 = BF_CHUNK */
    uint64_t most_bits;        /* of a shard; larger filters get shards by themselves, 0 = no limit */
    /* Open what is there: 1 and *desc, 0 nothing there, or an error.  NULL: nothing is ever there. */
    int (*attach)(bf_store *s, const bf_spec *spec, bf_desc *desc, bf_error *err);
    /* Make a new one: 1 made and open, 0 it is there now, whoever made it (attach again), or an error. */
    int (*create)(bf_store *s, const bf_desc *desc, const bf_spec *spec, bf_error *err);
    /* present[i], a key: test and add, was it there before; remove, was it there and is one less now; count, the least counter. */
    int (*apply)(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present, bf_error *err);
    /* Before bits are written, by a batch each time, by single keys once / at the start of every batch call. */
    int (*before_write)(bf_store *s, bf_error *err);
    int (*check)(bf_store *s, bf_error *err);
    int (*sync)(bf_store *s, bf_error *err);
    bool (*current)(const bf_store *s);       /* is what is open still what its name leads to? */
    /* Whole bitmaps where there are no words; NULL = this home cannot.  Bytes are those of the bitset. */
    int (*read)(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
    int (*count)(bf_store *s, uint64_t *ones, bf_error *err);
    int (*clear)(bf_store *s, bf_error *err);
    int (*unite)(bf_store *s, const uint64_t *words, bf_error *err);          /* bits |= words */
    int (*intersect)(bf_store *s, const uint64_t *words, bf_error *err);      /* bits &= words */
    int (*replace)(bf_store *s, const uint64_t *words, bf_error *err);        /* bits = words  */
    int (*expire)(bf_store *s, double seconds, bf_error *err);                /* 0 = never     */
    int (*remove)(bf_store *s, bf_error *err);                                /* for everybody */
    void (*close)(bf_store *s);               /* also after a failed attach or create */
    const struct bf_chain_ops *chain;         /* filters of many parts, chain.h; NULL = this home has none */
} bf_store_ops;
struct bf_store {
    const bf_store_ops *ops;
    uint64_t *words;           /* NULL = the bits are elsewhere; memory order is the format's: bits.h */
    uint64_t nwords;           /* ceil(bits / 64), set by filter.c before create and after attach        */
    bool read_only;
    void *impl;                /* the store's own state                                               */
    const char *label;         /* what messages call it, NULL = its storage text; never a password    */
};

/* A filter of fixed size is one part; a growing or forgetting one is a chain of them (chain.h). */
typedef struct {
    bf_geometry g;
    bf_store store;
    const bf_kernels *kernels; /* NULL = go by positions */
} bf_part;

typedef struct bf_chain bf_chain;

struct bf_filter {
    bf_part part;              /* of a chain: no bits, no kernels; its store is the one that leads to the parts' */
    bf_chain *chain;           /* NULL: a fixed filter          */
    const bf_scheme *scheme;
    const bf_hash *hash;       /* scheme->hash or scheme->keyed */
    bool atomic;               /* which add kernel              */
    bool may_write;            /* bf_writable has said yes      */
    bool untouched;            /* made empty in memory: it still is where may_write is not raised     */
    bool read_only;            /* as asked; the store's own flag may come from the file's rights */
    _Alignas(8) uint8_t secret[BF_SECRET_BYTES];    /* or the scheme's argument   */
    uint64_t secret_check;     /* 0 where not keyed             */
    char name[BF_SCHEME_BYTES];               /* the scheme's, with its argument */
    const bf_functions *functions;
    char *storage, *key;       /* as given, or NULL             */
};

/* tables.c */
extern const bf_scheme bf_schemes[];                     /* ended by a NULL name */
int bf_find_scheme(bf_desc *d, const char *name, const bf_functions *functions, bf_error *err);  /* clears and fills d */
const bf_scheme *bf_find_scheme_id(uint32_t id);
int bf_check_limits(const bf_desc *d, bf_error *err);    /* m and k against what the scheme fixes */
const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err);

/* error.c: the only writers of bf_error; each returns the code */
int bf_fail(bf_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int bf_fail_sys(bf_error *err, int sys_errno, const char *what, const char *path);   /* BF_EIO, or BF_ENOMEM for ENOMEM */

/* real.c: for texts with floating-point numbers in them, vsnprintf, snprintf and strtod that no setlocale() changes */
int bf_vprint(char *out, size_t cap, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
int bf_print(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
double bf_real(const char *text, char **end);

/* shards.c: a filter as equal parts */
uint64_t bf_shard_step(const bf_layout *l, unsigned shards);        /* m is a multiple of it */
void bf_positions(const bf_layout *l, const bf_geometry *g, const uint64_t *digests, size_t n, uint64_t *pos);
bool bf_shards_fit(const bf_layout *l, const bf_geometry *g);       /* a stored number of them */
unsigned bf_shards_that_matter(const bf_layout *l, const bf_geometry *g);  /* for which positions, 1 where for none */

/* sizing.c: ln and pow */
double bf_rate_classic(double bits_per_key, unsigned k);
double bf_rate_block(double bits_per_key, unsigned k);
double bf_rate_block2(double bits_per_key, unsigned k);
double bf_distinct_classic(unsigned k);
double bf_distinct_block(unsigned k);
double bf_distinct_block2(unsigned k);
int bf_size(bf_desc *out, const bf_spec *spec, bf_error *err);      /* scheme and geometry of a spec */
bool bf_sufficient(const bf_spec *spec);                            /* does it size a filter?        */
int bf_refuse_u64(bf_error *err, const char *name, uint64_t v);
int bf_refuse_real(bf_error *err, const char *name, double v);
double bf_bits_for(const bf_layout *l, double p, unsigned k);       /* bits a key for a rate         */
unsigned bf_best_k(const bf_layout *l, double p);                   /* the k with the fewest of them */

/* sizing_chain.c: filters of many parts */
int bf_size_any(bf_desc *out, const bf_spec *spec, bf_error *err);  /* bf_size, also where spec asks to grow or to forget */
/* Part i of d, before which there are so many bits: 1, 0 where no more fit, or an error. */
int bf_chain_part(const bf_desc *d, unsigned i, uint64_t before, bf_desc *part, bf_error *err);
int bf_check_ranges(const bf_spec *spec, bf_error *err);             /* m, n, k, p where they are given */

/* sizing_older.c: the formulas of older systems; no other file has ln */
int bf_size_guava(bf_geometry *g, const char *name, bf_error *err);
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err);
int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err);
const char *bf_default_scheme(const bf_spec *spec);                 /* where none is named           */
void bf_estimate(const bf_layout *l, const bf_geometry *g, uint64_t ones, bf_state *out);

/* match.c: is this what was asked for? */
int bf_match(const bf_desc *have, const bf_spec *want, const char *where, bf_error *err);
int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err);

/* hash_functions.c */
extern const bf_hash bf_hash_functions;
int bf_functions_check(const bf_functions *f, uint64_t *check, bf_error *err);   /* a check value, as of a secret */

/* secret.c: keyed filters */
int bf_secret_check(const bf_scheme *scheme, const bf_spec *spec, uint64_t *check, bf_error *err);
int bf_secret_match(uint64_t stored, uint64_t given, const char *where, bf_error *err);
int bf_secret_set(bf_filter *f, const bf_spec *spec, bf_error *err);
void bf_secret_wipe(bf_filter *f);

/* format.c: the only file that knows file bytes */
enum { BF_HEADER = 4096 };
uint64_t bf_image_bytes(uint64_t bits);
typedef int bf_sink(void *ctx, uint64_t offset, const void *bytes, size_t len);   /* 0, or stop with that code */
int bf_image_write(const bf_desc *d, const uint64_t *words, uint64_t nwords, bf_sink *sink, void *ctx);
int bf_header_read(const uint8_t *page, uint64_t len, bf_desc *d, const char *where, bf_error *err);
int bf_header_verify(const uint8_t *page, const uint64_t *words, uint64_t nwords, const char *where, bf_error *err);
void bf_header_new(uint8_t page[BF_HEADER], const bf_desc *d);
int bf_header_read_part(const uint8_t *page, uint64_t len, const bf_desc *of, unsigned index, bf_desc *d, const char *where, bf_error *err);
uint64_t *bf_header_live(uint8_t *page);                 /* the page's live word, which has a check of its own: */
int64_t bf_live(const uint64_t *word);                   /* all atomic; a broken word reads as 0                */
void bf_live_set(uint64_t *word, int64_t value);
void bf_live_add(uint64_t *word, uint64_t more, bool atomic);
void bf_live_raise(uint64_t *word, int64_t to);          /* never lowers it */
void bf_header_dirty(uint8_t *page);                     /* atomic: other processes may do the same */
typedef struct { uint64_t header, clean, page; } bf_stamp;
bf_stamp bf_header_stamp(const uint8_t *page);
bool bf_header_is(const uint8_t *page, const bf_stamp *stamp);

/* files.c: flags of open(2); a negative BF_E code or a file descriptor, 0 */
int bf_open_file(const char *path, int flags, uint64_t *len, bf_error *err);
int bf_may_replace(const char *path, bf_error *err);         /* 0 or BF_EIO: there is a device, FIFO or socket */
int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err);
int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len);        /* 0 or errno */
int bf_reserve(int fd, uint64_t at, uint64_t bytes);         /* room in the file system; 0 or errno  */
int bf_off_standard(int fd);                                 /* as another one, if it is 0, 1 or 2; -1 and errno */
char *bf_temp_file(const char *path, int *fd, bf_error *err);
int bf_nameless_file(const char *path);                  /* fd of a file that vanishes unless linked, or -1 */
void bf_sync_folder(const char *path);

/* filter.c */
bf_filter *bf_new_like(const bf_desc *d, const bf_spec *spec, bf_error *err);     /* in memory, empty */
bf_desc bf_describe(const bf_filter *f);
const char *bf_where(const bf_filter *f, const bf_spec *spec);                    /* its storage, for messages */
int bf_writable(bf_filter *f, bf_error *err);
static inline bool bf_grow_valid(double factor) { return factor > 1 && factor <= 1e300; }
/* Epochs shorter than 0.1 ms could not be counted by any clock of today. */
static inline bool bf_window_valid(double seconds, unsigned parts) { return seconds / parts >= 1e-4 && seconds <= 1e300; }
int bf_check_variants(const bf_spec *spec, bf_error *err);

const bf_kernels *bf_choose_kernels(const bf_layout *l, const bf_geometry *g);
void bf_adopt(bf_filter *f, const bf_desc *d);                      /* all but the secret */

/* state.c: the filter's words, checked; BF_ENOTSUP in a home that has none, "home ... cannot <what>" */
int bf_words_of(bf_filter *f, const char *what, uint64_t **words, bf_error *err);
/* The same to read only: where there are none but the home can be read, those of a memory copy, *copy, to be closed. */
int bf_words_or_copy(bf_filter *f, const char *what, uint64_t **words, bf_filter **copy, bf_error *err);

/* image.c */
int64_t bf_image_length(bf_filter *f, bf_error *err);
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err);

/* words.c: whole bitmaps in addressable memory */
uint64_t bf_words_count(const uint64_t *w, uint64_t nwords);
uint64_t *bf_words_new(uint64_t nwords);                 /* to be freed */
void bf_words_copy(uint64_t *to, const uint64_t *from, uint64_t nwords);
uint64_t bf_words_count_of_both(const uint64_t *a, const uint64_t *b, uint64_t nwords);    /* in one or the other */
bool bf_words_within(const uint64_t *a, const uint64_t *b, uint64_t nwords);               /* all of a in b */
bool bf_words_equal(const uint64_t *a, const uint64_t *b, uint64_t nwords);
void bf_words_or(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
void bf_words_and(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
void bf_words_apply(uint64_t *w, bool atomic, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present);

/* counters.c: the same where the words hold counters */
uint64_t bf_counters_used(const uint64_t *w, uint64_t nwords);                      /* counters above 0 */
void bf_counters_add(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);      /* sums, 15 at most */
void bf_counters_least(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);    /* the lesser       */
uint64_t bf_counters_used_of_both(const uint64_t *a, const uint64_t *b, uint64_t nwords);    /* in one or the other */
bool bf_counters_within(const uint64_t *a, const uint64_t *b, uint64_t nwords);    /* none of a above that of b */
void bf_counters_to_bits(uint64_t *bits, const uint64_t *w, uint64_t nwords);       /* nwords: of the counters */
unsigned bf_counters_distinct(uint64_t *pos, unsigned k);        /* sorted, each once; how many */
void bf_counters_apply(uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer);

/* cpu.c */
bool bf_has_avx2(void);
#endif
