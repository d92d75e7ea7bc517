/* header.c - writes and checks the 4096-byte header page before the bits. Fields are little-endian.
 * All values of a header are checked here before any other code uses them.
 *
 *      0 magic 8      8 version u32   12 header bytes u32   16 sum of bytes 24..2047 (XXH3-64)
 *     24 scheme id   28 flags        32 m    40 n    48 k u32    52 bits per cell u32    56 p
 *     64 length of the bits in bytes   72 secret check   80 scheme name (64 bytes)
 *    144 grow   152 window   160 parts u32   ... zero ...
 *    192 shards u32, 0 if there is one   ... zero ...
 *   2048 dirty sequence   2056 clean sequence   2064 ones   2072 sum of the bits   2080 state
 *   ... zero ...   4088 sum of bytes 0..4087
 *
 * A growing or forgetting filter is a page without bits (flag GROW or WINDOW), followed by its
 * parts; each part is a page (flag PART) and its bits.
 *
 * Two fields are written in place: the state (bf_live) and the dirty sequence. Each contains its
 * own check. The page's sum stays valid, because it is computed with 0 as the state and the clean
 * sequence as the dirty sequence. While the two sequences are equal, no bit was written since the
 * filter was saved, and the sum of the bits is valid. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/load.h"
#include "bits/bits.h"
#include "format/fields.h"
#include <math.h>

static bool all_zero(const uint8_t *p, size_t n)
{
    while (n && !p[n - 1]) n--;
    return n == 0;
}

static bool sequence_valid(uint64_t s) { return s == bf_sequence((uint32_t)s); }

/* Returns the 16 check bits of a state. The check must be cheap, because a test of a key in a
 * forgetting filter reads one state per part. */
static uint64_t live_check(uint64_t v) { return ~(v ^ v >> 16 ^ v >> 32) & 0xFFFF; }

static uint64_t live_code(int64_t value)
{
    const uint64_t v = (uint64_t)value & UINT64_C(0xFFFFFFFFFFFF);
    uint64_t word;
    store_le64((uint8_t *)&word, live_check(v) << 48 | v);
    return word;
}

static bool live_decode(uint64_t word, int64_t *value)
{
    const uint64_t v = load_le64((const uint8_t *)&word);
    *value = (int64_t)(v << 16) >> 16;
    return v >> 48 == live_check(v & UINT64_C(0xFFFFFFFFFFFF));
}

/* The shadow is mapped, so it begins at a multiple of 64 KiB, the largest page size. */
uint64_t bf_shadow_from(uint64_t bits)
{
    enum { ALIGNED = 1 << 16 };
    return (bf_image_bytes(bits) + ALIGNED - 1) / ALIGNED * ALIGNED;
}
uint64_t bf_shadow_to(uint64_t bits) { return bf_shadow_from(bits) + bf_cells_bytes(bits) + 8; }

uint64_t bf_shadow_sum(const uint64_t *shadow, uint64_t nwords, int64_t generation)
{
    uint64_t word;
    store_le64((uint8_t *)&word, XXH3_64bits_withSeed(shadow, nwords * 8, (uint64_t)generation));
    return word;
}

uint64_t *bf_header_live(uint8_t *page) { return (uint64_t *)(void *)(page + AT_LIVE); }
void bf_live_set(uint64_t *word, int64_t value)
{
    BF_STEP(word, true);
    __atomic_store_n((bf_shared *)word, live_code(value), __ATOMIC_SEQ_CST);
}
int64_t bf_live(const uint64_t *word)
{
    int64_t v;
    BF_STEP(word, false);
    return live_decode(__atomic_load_n((const bf_shared *)word, __ATOMIC_SEQ_CST), &v) ? v : 0;
}
bool bf_live_is_valid(const uint64_t *word)
{
    int64_t v;
    BF_STEP(word, false);
    return live_decode(__atomic_load_n((const bf_shared *)word, __ATOMIC_SEQ_CST), &v);
}
void bf_live_add(uint64_t *word, uint64_t more, bool atomic)
{
    BF_STEP(word, false);
    uint64_t old = __atomic_load_n((const bf_shared *)word, __ATOMIC_RELAXED);
    int64_t v;
    do {
        if (!live_decode(old, &v)) v = 0;
        BF_STEP(word, true);
    } while (atomic ? !__atomic_compare_exchange_n((bf_shared *)word, &old,
                          live_code(v + (int64_t)more), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
                    : (__atomic_store_n(
                           (bf_shared *)word, live_code(v + (int64_t)more), __ATOMIC_RELAXED),
                          false));
}
void bf_live_raise(uint64_t *word, int64_t to)
{
    BF_STEP(word, false);
    uint64_t old = __atomic_load_n((const bf_shared *)word, __ATOMIC_SEQ_CST);
    int64_t v;
    while (!live_decode(old, &v) || v < to) {
        BF_STEP(word, true);
        if (__atomic_compare_exchange_n(
                (bf_shared *)word, &old, live_code(to), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return;
    }
}

static uint64_t header_sum(const uint8_t *page)
{
    return XXH3_64bits(page + AT_SCHEME, AT_DIRTY - AT_SCHEME);
}
static uint64_t page_sum(const uint8_t *page)
{
    uint8_t copy[AT_PAGE_SUM];
    memcpy(copy, page, sizeof copy);
    memcpy(copy + AT_DIRTY, copy + AT_CLEAN, 8);
    memset(copy + AT_LIVE, 0, 8);
    return XXH3_64bits(copy, sizeof copy);
}

unsigned bf_header_flags(const bf_params *d)
{
    return (d->secret_check ? FLAG_KEYED : 0) | (d->g.shards > 1 ? FLAG_SHARDED : 0) |
           bf_format_of(d)->flag;
}

uint64_t bf_image_bytes(uint64_t bits) { return BF_HEADER + bf_cells_bytes(bits); }

static void write_chain(uint8_t *page, const bf_params *d)
{
    uint64_t live = live_code(d->live);
    bf_put(page + AT_GROW, 8, bf_double_bits(d->grow));
    bf_put(page + AT_WINDOW, 8, bf_double_bits(d->window));
    bf_put(page + AT_PARTS, 4, bf_format_of(d)->is_part ? d->index : d->parts);
    memcpy(page + AT_LIVE, &live, 8);
}

static void write_static(uint8_t page[BF_HEADER], const bf_params *d)
{
    memset(page, 0, BF_HEADER);
    bf_put(page + AT_SCHEME, 4, d->scheme->id);
    bf_put(page + AT_FLAGS, 4, bf_header_flags(d));
    bf_put(page + AT_M, 8, d->g.m);
    bf_put(page + AT_N, 8, d->g.n);
    bf_put(page + AT_K, 4, d->g.k);
    bf_put(page + AT_CELL, 4, bf_cell_ops_of(&d->g)->bits);
    bf_put(page + AT_P, 8, bf_double_bits(d->g.p));
    bf_put(page + AT_BYTES, 8, bf_cells_bytes(bf_bits(&d->g)));
    bf_put(page + AT_SECRET, 8, d->secret_check);
    bf_put(page + AT_SHARDS, 4, d->g.shards > 1 ? d->g.shards : 0);
    memcpy(page + AT_NAME, d->name, strlen(d->name));
    if (bf_format_of(d)->flag) write_chain(page, d);
}

/* Completes a page: writes magic, version, equal sequences and the sums. */
void bf_header_seal(uint8_t *page, uint64_t ones, uint64_t bits_sum)
{
    memcpy(page, bf_magic, sizeof bf_magic);
    bf_put(page + AT_VERSION, 4, VERSION);
    bf_put(page + AT_HEADER, 4, BF_HEADER);
    bf_put(page + AT_SUM, 8, header_sum(page));
    bf_put(page + AT_DIRTY, 8, bf_sequence(0));
    bf_put(page + AT_CLEAN, 8, bf_sequence(0));
    bf_put(page + AT_ONES, 8, ones);
    bf_put(page + AT_BITS_SUM, 8, bits_sum);
    bf_put(page + AT_PAGE_SUM, 8, page_sum(page));
}

/* Checks magic, version and the header's own sum. */
static int check_frame(const uint8_t *page, uint64_t len, const char *where, bf_error *err)
{
    if (len < sizeof bf_magic || memcmp(page, bf_magic, sizeof bf_magic) != 0)
        return bf_fail(err, BF_EFORMAT,
            len < sizeof bf_magic
                ? "%.80s is not a filter file: it has only %llu bytes, a header has 4096"
                : "%.80s is not a filter file (bad magic bytes, %llu bytes)",
            where, (ull)len);
    uint64_t version = len < AT_HEADER ? VERSION : bf_get(page + AT_VERSION, 4);
    if (len < BF_HEADER && version <= VERSION)
        return bf_fail(
            err, BF_EFORMAT, "%.80s is truncated: %llu bytes, a header has 4096", where, (ull)len);
    if (version > VERSION_COMPACT)
        return bf_fail(err, BF_EFORMAT, "%.80s has format version %llu, this build reads up to %d",
            where, (ull)version, VERSION_COMPACT);
    if (version != VERSION || bf_get(page + AT_HEADER, 4) != BF_HEADER)
        return bf_damaged(err, where, "bad version or header size");
    if (bf_get(page + AT_SUM, 8) != header_sum(page))
        return bf_damaged(err, where, "the header's checksum does not match");
    return 0;
}

static int check_scheme(const uint8_t *page, bf_params *d, const char *where, bf_error *err)
{
    uint64_t id = bf_get(page + AT_SCHEME, 4);
    const bf_scheme *s = bf_find_scheme_id((uint32_t)id);
    char name[BF_SCHEME_BYTES] = "";
    if (!s)
        return bf_fail(err, BF_EFORMAT,
            "%.80s has scheme number %llu, which this build does not know", where, (ull)id);
    memcpy(name, page + AT_NAME, sizeof name - 1);
    size_t len = strlen(name);
    if (!all_zero(page + AT_NAME + len, sizeof name - len) ||
        bf_find_scheme(d, name, NULL, NULL) < 0 || d->scheme != s)
        return bf_damaged(err, where, "scheme name and number disagree");
    return 0;
}

/* Finds the variant by its flag and checks the fields that only filters of many parts have. */
static int check_chain(
    const uint8_t *page, bf_params *d, uint64_t flags, const char *where, bf_error *err)
{
    uint64_t live;
    while (bf_format_of(d)->flag != flags) d->kind++;
    unsigned *const number = bf_format_of(d)->is_part ? &d->index : &d->parts;
    d->grow = bf_double_of(bf_get(page + AT_GROW, 8)) + 0.0; /* -0 becomes 0 */
    d->window = bf_double_of(bf_get(page + AT_WINDOW, 8)) + 0.0;
    *number = (unsigned)bf_get(page + AT_PARTS, 4);
    if (!bf_may_have_parts(d)) return bf_damaged(err, where, "its scheme has no parts");
    memcpy(&live, page + AT_LIVE, 8);
    if (!live_decode(live, &d->live))
        return bf_damaged(err, where, "the state of a part is invalid");
    const char *wrong = bf_format_of(d)->wrong(d);
    if (wrong) return bf_damaged(err, where, wrong);
    return all_zero(page + AT_CHAIN_REST, AT_DIRTY - AT_CHAIN_REST)
               ? 0
               : bf_damaged(err, where, "a reserved byte is set");
}

/* Checks every value. A valid sum shows that the bytes are unchanged, but not that this library
 * wrote them. */
static int check_values(const uint8_t *page, bf_params *d, const char *where, bf_error *err)
{
    uint64_t flags = bf_get(page + AT_FLAGS, 4);
    int rc = check_scheme(page, d, where, err);
    if (rc < 0) return rc;
    const bf_layout *l = d->scheme->layout;
    d->g = (bf_geometry){ .m = bf_get(page + AT_M, 8),
        .n = bf_get(page + AT_N, 8),
        .k = (unsigned)bf_get(page + AT_K, 4),
        .p = bf_double_of(bf_get(page + AT_P, 8)),
        .counting = bf_get(page + AT_CELL, 4) == BF_CELL_BITS };
    d->secret_check = bf_get(page + AT_SECRET, 8);
    d->g.lines = d->g.m / l->line_bits;
    if (d->g.m < 1 || d->g.m > BF_M_MAX || d->g.m % l->line_bits)
        return bf_damaged(err, where, "m is out of range");
    if (d->g.n < 1 || d->g.n > BF_N_MAX) return bf_damaged(err, where, "n is out of range");
    if (d->g.k < 1 || d->g.k > l->k_max) return bf_damaged(err, where, "k is out of range");
    if (bf_check_limits(d, NULL) < 0)
        return bf_damaged(err, where, "m or k is not what its scheme fixes");
    if (!(d->g.p >= 0 && d->g.p <= 1)) return bf_damaged(err, where, "p is out of range");
    const uint64_t chain = flags & FLAGS_CHAIN;
    if ((flags & ~(uint64_t)(FLAG_KEYED | FLAG_SHARDED | FLAGS_CHAIN)) || (chain & (chain - 1)) ||
        (chain && (flags & FLAG_SHARDED)) ||
        bf_get(page + AT_CELL, 4) != bf_cell_ops_of(&d->g)->bits ||
        (d->g.counting && chain == BF_FLAG_WINDOW))
        return bf_fail(err, BF_EFORMAT,
            "%.80s uses features (flags %llu, %llu bits per position) that this build does not "
            "know",
            where, (ull)flags, (ull)bf_get(page + AT_CELL, 4));
    if ((flags & FLAG_KEYED) != (d->secret_check != 0))
        return bf_damaged(err, where, "secret check and flags disagree");
    if (bf_get(page + AT_BYTES, 8) != bf_cells_bytes(bf_bits(&d->g)))
        return bf_damaged(err, where, "its length field does not fit m");
    if (chain) return check_chain(page, d, chain, where, err);
    if (!all_zero(page + AT_GAP, AT_SHARDS - AT_GAP) ||
        !all_zero(page + AT_REST, AT_DIRTY - AT_REST))
        return bf_damaged(err, where, "a reserved byte is set");
    d->g.shards = (unsigned)bf_get(page + AT_SHARDS, 4);
    if (((flags & FLAG_SHARDED) != 0) != (d->g.shards > 1) || d->g.shards == 1 ||
        !bf_shards_fit(l, &d->g))
        return bf_damaged(err, where, "its shards do not fit m");
    if (d->g.shards == 0) d->g.shards = 1;
    return 0;
}

/* Checks the sequence numbers, the generation and the page's sum. */
static int check_live(const uint8_t *page, const char *where, bf_error *err)
{
    const uint64_t dirty = bf_get(page + AT_DIRTY, 8), clean = bf_get(page + AT_CLEAN, 8);
    if (!sequence_valid(dirty) || !sequence_valid(clean) || (uint32_t)clean > (uint32_t)dirty)
        return bf_damaged(err, where, "a sequence number is invalid");
    uint64_t generation;
    int64_t number;
    memcpy(&generation, page + AT_LIVE, 8);
    const bool chain = (bf_get(page + AT_FLAGS, 4) & FLAGS_CHAIN) != 0;
    if (!chain && generation && (dirty == clean || !live_decode(generation, &number)))
        return bf_damaged(err, where, "its generation is invalid");
    if (!all_zero(page + AT_LIVE + 8, AT_PAGE_SUM - AT_LIVE - 8))
        return bf_damaged(err, where, "a reserved byte is set");
    return bf_get(page + AT_PAGE_SUM, 8) == page_sum(page)
               ? 0
               : bf_damaged(err, where, "the header page's checksum does not match");
}

int bf_header_read(const uint8_t *page, unsigned head, uint64_t len, bf_params *d,
    const char *where, bf_error *err)
{
    int rc = check_frame(page, len - head + BF_HEADER, where, err);
    if (rc < 0 || (rc = check_values(page, d, where, err)) < 0) return rc;
    d->dirty = bf_get(page + AT_DIRTY, 8) != bf_get(page + AT_CLEAN, 8);
    if (bf_format_of(d)->is_part)
        return bf_fail(err, BF_EFORMAT, "%.80s is one part of a filter, not all of it", where);
    if (bf_has_parts(d) && !bf_chain_possible(d))
        return bf_fail(err, BF_EFORMAT,
            "%.80s is damaged: m=%llu is not what n=%llu, p=%g, k=%u need", where, (ull)d->g.m,
            (ull)d->g.n, d->g.p, d->g.k);
    /* bf_header_read_part checks the lengths */
    if (bf_has_parts(d)) return check_live(page, where, err);
    /* a file that is copied during a rebuild may be longer by a shadow, whatever its phase is */
    const uint64_t bits = bf_bits(&d->g), want = head + bf_cells_bytes(bits);
    if (len < want || (len > want && (len > bf_shadow_to(bits) || !d->dirty)))
        return bf_fail(err, BF_EFORMAT, "%.80s is %s: %llu bytes, m=%llu needs %llu", where,
            len < want ? "truncated" : "too long", (ull)len, (ull)d->g.m, (ull)want);
    return check_live(page, where, err);
}

int bf_header_read_part(const uint8_t *page, unsigned head, uint64_t len, const bf_params *of,
    unsigned index, bf_params *d, const char *where, bf_error *err)
{
    int rc = check_frame(page, len - head + BF_HEADER, where, err);
    if (rc < 0 || (rc = check_values(page, d, where, err)) < 0) return rc;
    if (!bf_format_of(d)->is_part || d->index != index ||
        bf_difference(d, of, bf_format_of(of)->even ? BF_SAME_BITS : BF_SAME_HASH))
        return bf_damaged(err, where, "a part does not belong to it");
    if (!bf_chain_part_possible(of, d))
        return bf_fail(err, BF_EFORMAT,
            "%.80s is damaged: its part %u has n=%llu, "
            "which does not fit m=%llu, p=%g, k=%u",
            where, index, (ull)d->g.n, (ull)d->g.m, d->g.p, d->g.k);
    if (d->live < bf_format_of(of)->least_live)
        return bf_damaged(err, where, "a part's number of keys is below 0");
    if (len < head + bf_cells_bytes(bf_bits(&d->g)))
        return bf_fail(err, BF_EFORMAT,
            "%.80s is truncated: its part %u has %llu bytes and needs %llu", where, index, (ull)len,
            (ull)(head + bf_cells_bytes(bf_bits(&d->g))));
    return check_live(page, where, err);
}

/* The page of a new mapped file is dirty, because its bits will be written in place. */
void bf_header_new(uint8_t page[BF_HEADER], const bf_params *d)
{
    write_static(page, d);
    bf_header_seal(page, 0, 0);
    bf_put(page + AT_DIRTY, 8, bf_sequence(1));
    bf_put(page + AT_PAGE_SUM, 8, page_sum(page));
}

/* Returns the words that begin with word `at`, at most BF_BLOCK; sets *c to their number. */
static const uint64_t *next(bf_block *of, void *from, uint64_t nwords, uint64_t at, uint64_t *c)
{
    *c = nwords - at < BF_BLOCK ? nwords - at : BF_BLOCK;
    return of(from, at, *c);
}

/* Writes an image, the bits first and the header last. Other threads may add keys meanwhile, so the
 * sum is computed from a copy of each block, and the copy is written. Returns 0, the value of
 * out->write, or BF_EIO if the words could not be read. */
int bf_image_write(
    const bf_params *d, bf_block *of, void *from, uint64_t nwords, const bf_output *out)
{
    uint8_t page[BF_HEADER];
    uint64_t block[BF_BLOCK], ones = 0;
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    for (uint64_t at = 0, c; at < nwords; at += c) {
        const uint64_t *words = next(of, from, nwords, at, &c);
        if (!words) return BF_EIO;
        bf_words_copy(block, words, c);
        ones += bf_cell_ops_of(&d->g)->count(block, c);
        XXH3_64bits_update(&sum, block, c * 8);
        int rc = out->write(out->ctx, out->from + BF_HEADER + at * 8, block, c * 8);
        if (rc) return rc;
    }
    write_static(page, d);
    bf_header_seal(page, ones, XXH3_64bits_digest(&sum));
    return out->write(out->ctx, out->from, page, BF_HEADER);
}

int bf_image_write_compact(
    const bf_params *d, const uint64_t *words, uint64_t nwords, const bf_output *out)
{
    uint8_t page[BF_HEADER], image[BF_COMPACT_MAX];
    uint64_t bits[BF_COMPACT_BITS / 8], head = bf_header_bytes(d, true);
    bf_words_copy(bits, words, nwords);
    memcpy(image + head, bits, nwords * 8);
    write_static(page, d);
    memcpy(page, bf_magic, sizeof bf_magic);
    bf_compact_pack(image, page, d, nwords * 8);
    return out->write(out->ctx, out->from, image, head + nwords * 8);
}

bool bf_header_clean(const uint8_t *page)
{
    const uint64_t *at = (const uint64_t *)(const void *)(page + AT_CLEAN);
    return *at ==
           __atomic_load_n((const bf_shared *)(const void *)(page + AT_DIRTY), __ATOMIC_SEQ_CST);
}

static bool sum_of(bf_block *of, void *from, uint64_t nwords, uint64_t *sum)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (uint64_t at = 0, c; at < nwords; at += c) {
        const uint64_t *words = next(of, from, nwords, at, &c);
        if (!words) return false;
        XXH3_64bits_update(&state, words, c * 8);
    }
    *sum = XXH3_64bits_digest(&state);
    return true;
}

/* Checks the bits after a valid header: no bit past m is set, and in a clean file their sum
 * matches. Other threads and processes may write the words during the check. page: aligned to 8
 * bytes. */
int bf_header_verify_of(const uint8_t *page, bf_block *of, void *from, uint64_t nwords,
    const char *where, bf_error *err)
{
    uint64_t sum, tail = bf_get(page + AT_M, 8) * bf_get(page + AT_CELL, 4) % 64;
    const uint64_t *last = of(from, nwords - 1, 1);
    if (!last) return bf_code_of(err);
    for (uint64_t i = tail; tail && i < 64; i++)
        if (*last & bf_mask_of(i)) return bf_damaged(err, where, "a bit past m is set");
    if (!bf_header_clean(page)) return 0;
    if (!sum_of(of, from, nwords, &sum)) return bf_code_of(err);
    if (bf_get(page + AT_BITS_SUM, 8) == sum) return 0;
    bf_fence();
    if (!bf_header_clean(page)) return 0; /* an add began during the check, so the sum may differ */
    return bf_damaged(err, where, "the bits' checksum does not match");
}

void bf_header_dirty(uint8_t *page)
{
    uint64_t *word = (uint64_t *)(void *)(page + AT_DIRTY),
             old = __atomic_load_n((const bf_shared *)word, __ATOMIC_SEQ_CST), next;
    uint8_t bytes[8];
    if (!bf_header_clean(page)) return;
    memcpy(bytes, &old, 8);
    bf_put(bytes, 8, bf_sequence((uint32_t)bf_get(bytes, 8) + 1));
    memcpy(&next, bytes, 8);
    /* if this fails, another process has already marked the page */
    __atomic_compare_exchange_n(
        (bf_shared *)word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    bf_fence(); /* a process that reads a bit set after this also reads the dirty page */
}

bf_stamp bf_header_stamp(const uint8_t *page)
{
    return (bf_stamp){ bf_get(page + AT_SUM, 8), bf_get(page + AT_CLEAN, 8),
        bf_get(page + AT_PAGE_SUM, 8) };
}
bool bf_header_is(const uint8_t *page, const bf_stamp *stamp)
{
    bf_stamp now = bf_header_stamp(page);
    return now.header == stamp->header && now.clean == stamp->clean && now.page == stamp->page;
}
