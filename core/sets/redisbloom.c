/* redisbloom.c - filters as the bytes of RedisBloom's BF.SCANDUMP: the header, which is the piece
 * of iterator 1, and then the bits of all links (our parts), which the other pieces are slices of.
 * All numbers are little-endian.
 *
 *      0 keys u64    8 links u32   12 options u32   16 growth u32   then for each link:
 *      0 bytes u64   8 bits   16 keys   24 error f64   32 bits per key f64   40 k u32
 *     44 capacity u64   52 n2 u8: 0
 *
 * Bit i is 1 << i % 8 of byte i / 8. A filter that does not scale has one link, and is a fixed
 * filter here; all others grow. */
#include "parts/parts.h"
#include "sets/sets.h"
#include <math.h>
#include <stdlib.h>

enum { HEAD = 20, LINK = 53, MANY_KEYS_BITS = 46 };
/* options: NOROUND, BITS (capacity is log2 of the bits), FORCE64, NO_SCALING */
enum { EXACT_SIZE = 1, SIZE_IN_BITS = 2, HASH_64 = 4, NO_SCALING = 8, ALL_OPTIONS = 15 };
enum { USUAL_GROWTH = 2 }; /* the module's default, which a filter that does not scale ignores */

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0) v = v << 8 | p[bytes];
    return v;
}
static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++, v >>= 8) p[i] = (uint8_t)v;
}
static double get_real(const uint8_t *p)
{
    const uint64_t v = get(p, 8);
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static void put_real(uint8_t *p, double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    put(p, 8, v);
}

/* ---- writing ---- */
static int refuse(const bf_filter *f, bf_error *err)
{
    const bf_params *d = &f->desc;
    if (d->scheme->parts != &bf_sizes_redisbloom)
        return bf_fail(err, BF_EINVAL,
            "format redisbloom is for scheme redisbloom, got a filter of scheme %s", d->name);
    if (d->g.counting)
        return bf_fail(err, BF_ENOTSUP,
            "other systems' formats hold bits, not counters: convert to a plain filter first");
    if (f->variant->many || bf_redisbloom_possible(&d->g)) return 0;
    return bf_fail(err, BF_EINVAL,
        "m=%llu and k=%u are not those of RedisBloom for n=%llu at p=%.10g: it would refuse the "
        "filter",
        (ull)d->g.m, d->g.k, (ull)d->g.n, d->g.p);
}

static uint64_t length_of(const bf_filter *f, unsigned parts)
{
    uint64_t bytes = HEAD;
    for (unsigned i = 0; i < parts; i++) bytes += LINK + f->part[i]->bitmap.g.m / 8;
    return bytes;
}

size_t bf_redisbloom_head(const void *bytes)
{
    return HEAD + (size_t)get((const uint8_t *)bytes + 8, 4) * LINK;
}

int64_t bf_redisbloom_bytes(bf_filter *f, bf_error *err)
{
    int rc = refuse(f, err);
    if (rc < 0 || (rc = bf_parts_refresh(f, err)) < 0) return rc;
    return (int64_t)length_of(f, bf_parts_count(f));
}

/* Sets *keys to the number of keys in part i. A fixed filter knows it only until its first add. */
static int keys_in(bf_filter *f, unsigned i, uint64_t *keys, bf_error *err)
{
    bf_part *p = f->part[i];
    uint64_t ones;
    bf_state st;
    *keys = (uint64_t)bf_live(p->live);
    const bool known = f->variant->many || (*keys && bf_int_load_acquire(&f->state) == BF_FRESH);
    const int rc = known ? 0 : bf_part_ones(p, &ones, NULL, err);
    if (known || rc < 0) return rc;
    bf_estimate(f->desc.scheme, f->secret, &p->bitmap.g, ones, &st);
    *keys = (uint64_t)fmin(st.count + 0.5, (double)p->bitmap.g.n);
    return 0;
}

static int write_link(bf_filter *f, unsigned i, uint8_t *link, uint64_t *sum, bf_error *err)
{
    const bf_geometry *g = &f->part[i]->bitmap.g;
    uint64_t keys;
    const int rc = keys_in(f, i, &keys, err);
    if (rc < 0) return rc;
    *sum += keys;
    put(link, 8, g->m / 8);
    put(link + 8, 8, g->m);
    put(link + 16, 8, keys);
    put_real(link + 24, g->p);
    put_real(link + 32, bf_redisbloom_bits_per_key(g->p));
    put(link + 40, 4, g->k);
    put(link + 44, 8, g->n);
    link[52] = 0;
    return 0;
}

static int write_bits(bf_part *p, uint8_t *to, bf_error *err)
{
    bf_block_reader v;
    const uint64_t *w;
    int rc = bf_reader_open(&v, p, err);
    for (; (w = bf_reader_next(&v, &rc)); to += v.n * 8) bf_reverse_bytes(w, to, v.n * 8);
    bf_reader_close(&v);
    return rc;
}

static int write_head(bf_filter *f, unsigned parts, uint8_t *to, bf_error *err)
{
    const bool grows = f->variant->many;
    uint64_t keys = 0;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < parts; i++)
        rc = write_link(f, i, to + HEAD + (size_t)i * LINK, &keys, err);
    put(to, 8, keys);
    put(to + 8, 4, parts);
    put(to + 12, 4, EXACT_SIZE | HASH_64 | (grows ? 0 : NO_SCALING));
    put(to + 16, 4, grows ? (uint64_t)f->desc.grow : USUAL_GROWTH);
    return rc;
}

static int write_all(bf_filter *f, unsigned parts, uint8_t *to, bf_error *err)
{
    uint8_t *bits = to + HEAD + (size_t)parts * LINK;
    int rc = write_head(f, parts, to, err);
    for (unsigned i = 0; rc == 0 && i < parts; i++) {
        rc = write_bits(f->part[i], bits, err);
        bits += f->part[i]->bitmap.g.m / 8;
    }
    return rc;
}

static int lock_readable(bf_filter *f, bf_error *err)
{
    int rc = refuse(f, err);
    if (rc == 0) rc = bf_require_readable(f, f->bitmap.store.ops->read, "be written out", err);
    return rc < 0 ? rc : bf_parts_lock_all(f, err);
}

int64_t bf_redisbloom_dump(bf_filter *f, uint64_t iterator, void *to, size_t cap, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    int rc = lock_readable(f, err);
    if (rc < 0) return rc;
    const unsigned parts = bf_parts_count(f);
    uint64_t len = iterator ? 0 : HEAD + (uint64_t)parts * LINK, from = 0;
    if (len && len <= cap) rc = write_head(f, parts, to, err);
    for (unsigned i = 0; iterator && i < parts; i++) {
        const uint64_t end = from + f->part[i]->bitmap.g.m / 8, at = iterator - 1;
        if (at >= from && at < end) {
            len = end - at < BF_REDISBLOOM_PIECE ? end - at : BF_REDISBLOOM_PIECE;
            if (len <= cap) rc = bf_part_read(f->part[i], at - from, to, len, err);
            if (len <= cap && rc == 0) bf_reverse_bytes(to, to, (size_t)len);
        }
        from = end;
    }
    bf_parts_unlock(f);
    return rc < 0 ? rc : (int64_t)len;
}

int bf_redisbloom_write(bf_filter *f, uint8_t *to, uint64_t cap, bf_error *err)
{
    int rc = lock_readable(f, err);
    if (rc < 0) return rc;
    const unsigned parts = bf_parts_count(f);
    const uint64_t need = length_of(f, parts);
    rc = cap < need ? bf_fail(err, BF_EINVAL, "cap must be at least %llu bytes, got %llu",
                          (ull)need, (ull)cap)
                    : write_all(f, parts, to, err);
    bf_parts_unlock(f);
    return rc;
}

/* ---- reading ---- */
typedef struct {
    uint64_t bytes, bits, keys, capacity;
    double error, per_key;
    unsigned k, n2;
} link;

static link read_link(const uint8_t *head, unsigned i)
{
    const uint8_t *at = head + HEAD + (size_t)i * LINK;
    return (link){ .bytes = get(at, 8),
        .bits = get(at + 8, 8),
        .keys = get(at + 16, 8),
        .error = get_real(at + 24),
        .per_key = get_real(at + 32),
        .k = (unsigned)get(at + 40, 4),
        .capacity = get(at + 44, 8),
        .n2 = at[52] };
}

static int damaged(bf_error *err, const char *what, uint64_t value)
{
    return bf_fail(err, BF_EFORMAT, "the data is not a RedisBloom filter, or is damaged: %s %llu",
        what, (ull)value);
}

static int check_link(const link *l, bf_error *err)
{
    if (l->bits < 64 || l->bits > BF_M_MAX || l->bits % 64 || l->bytes != l->bits / 8)
        return damaged(err, "a link has bits", l->bits);
    if (l->capacity < 1 || l->capacity > BF_N_MAX)
        return damaged(err, "a link has capacity", l->capacity);
    if (!(l->error >= DBL_MIN && l->error < 1))
        return damaged(err, "a link has error rate bits", 0);
    const double per_key = bf_redisbloom_bits_per_key(l->error);
    if (!(fabs(l->per_key - per_key) <= 1e-9 * per_key))
        return damaged(
            err, "a link does not have the bits per key of its error rate, capacity", l->capacity);
    if (l->keys >> MANY_KEYS_BITS) return damaged(err, "a link has keys", l->keys);
    return l->n2 ? damaged(err, "a link has n2", l->n2) : 0;
}

/* Checks all but the lengths and the sizes of links, and returns the number of links. */
static int check_head(const uint8_t *head, size_t len, bf_error *err)
{
    if (len < HEAD + LINK) return damaged(err, "a header has 73 bytes or more, got", len);
    const uint64_t links = get(head + 8, 4), options = get(head + 12, 4),
                   growth = get(head + 16, 4);
    if (options & ~(uint64_t)ALL_OPTIONS) return damaged(err, "options", options);
    if ((options & (EXACT_SIZE | SIZE_IN_BITS | HASH_64)) != (EXACT_SIZE | HASH_64))
        return bf_fail(err, BF_ENOTSUP,
            "the filter has options %llu: only filters of 64-bit hashes and exact sizes are read, "
            "as RedisBloom makes them since 2.0 (options 5 or 13)",
            (ull)options);
    const bool scales = !(options & NO_SCALING);
    if (links < 1 || links > (scales ? BF_PARTS_MAX : 1))
        return damaged(err, "the number of links (1 to 256) is", links);
    if (scales && growth < 1) return damaged(err, "growth", growth);
    if (len < HEAD + links * LINK) return damaged(err, "the header is cut off after bytes:", len);
    uint64_t keys = 0;
    for (unsigned i = 0; i < links; i++) {
        const link l = read_link(head, i);
        const int rc = check_link(&l, err);
        if (rc < 0) return rc;
        keys += l.keys;
    }
    return keys == get(head, 8) ? (int)links
                                : damaged(err, "its links do not have as many keys:", get(head, 8));
}

int64_t bf_redisbloom_length(const void *header, size_t len, bf_error *err)
{
    const uint8_t *head = header;
    const int links = check_head(head, len, err);
    if (links < 0) return links;
    int64_t all = HEAD + (int64_t)links * LINK;
    for (int i = 0; i < links; i++) all += (int64_t)read_link(head, (unsigned)i).bytes;
    return all;
}

int bf_redisbloom_piece(const void *header, size_t len, uint64_t iterator, bf_range *piece)
{
    const uint8_t *head = header;
    const int links = check_head(head, len, NULL);
    uint64_t from = 0;
    *piece = (bf_range){ 0, 0 };
    if (links < 0) return links;
    const uint64_t start = HEAD + (uint64_t)links * LINK;
    if (iterator == 0) piece->len = start;
    for (int i = 0; iterator && i < links; i++) {
        const uint64_t end = from + read_link(head, (unsigned)i).bytes, at = iterator - 1;
        if (at >= from && at < end) {
            const uint64_t left = end - at;
            *piece =
                (bf_range){ start + at, left < BF_REDISBLOOM_PIECE ? left : BF_REDISBLOOM_PIECE };
        }
        from = end;
    }
    return piece->len > 0;
}

/* Sets *d to the parameters of the filter, without its parts. */
static int params_of(const uint8_t *head, bf_params *d, bf_error *err)
{
    const link first = read_link(head, 0);
    const bool scales = !(get(head + 12, 4) & NO_SCALING);
    bf_spec spec = { .n = first.capacity, .scheme = "redisbloom" };
    spec.p = scales ? 2 * first.error : first.error;
    spec.grow = scales ? (double)get(head + 16, 4) : 0;
    if (!(spec.p < 1)) return damaged(err, "the first link has an error rate above 1 /", 2);
    if (!scales) {
        spec.m = first.bits;
        spec.k = first.k <= BF_K_MAX ? first.k : 0;
    }
    if (bf_size_any(d, &spec, 0, NULL) < 0)
        return damaged(err, "no filter has its capacity and error rate:", first.capacity);
    if (!scales && (!bf_redisbloom_possible(&d->g) || d->g.k != first.k))
        return damaged(err, "its bits or hashes do not follow from its capacity", first.capacity);
    return 0;
}

static int read_part(
    bf_filter *f, unsigned i, const uint8_t *head, const uint8_t *bits, bf_error *err)
{
    const link l = read_link(head, i);
    bf_params d = bf_part_of(&f->desc, i);
    if (f->variant->many) {
        d.g = (bf_geometry){ .m = l.bits, .n = l.capacity, .k = l.k, .p = l.error };
        d.g.lines = d.g.m / d.scheme->layout->line_bits;
        d.live = (int64_t)l.keys;
        if (!bf_chain_part_possible(&f->desc, &d))
            return damaged(
                err, "a link does not follow from the first one, its capacity is", l.capacity);
    }
    const int rc = bf_parts_append(f, &d, err);
    if (rc < 0) return rc;
    bf_part *p = f->part[i];
    if (!f->variant->many) bf_live_set(p->live, (int64_t)l.keys);
    bf_reverse_bytes(bits, p->bitmap.store.words, l.bytes);
    return 0;
}

bf_filter *bf_redisbloom_read(const void *data, size_t len, const bf_spec *expect, bf_error *err)
{
    const uint8_t *head = data;
    bf_spec spec = expect ? *expect : (bf_spec){ 0 };
    bf_params d;
    const int64_t need = bf_redisbloom_length(data, len, err);
    if (need < 0) return NULL;
    if (len != (uint64_t)need) {
        bf_fail(err, BF_EFORMAT, "wrong length: %zu bytes, the header describes %lld", len,
            (long long)need);
        return NULL;
    }
    spec.storage = spec.key = NULL;
    if (params_of(head, &d, err) < 0 || bf_check_match(&d, &spec, "the data", err) < 0) return NULL;
    bf_filter *f = bf_new_like(&d, &spec, err);
    const unsigned links = (unsigned)get(head + 8, 4);
    const uint8_t *bits = head + HEAD + (size_t)links * LINK;
    int rc = f ? 0 : BF_ENOMEM;
    for (unsigned i = 0; rc == 0 && i < links; i++) {
        rc = read_part(f, i, head, bits, err);
        bits += read_link(head, i).bytes;
    }
    if (rc == 0) return f;
    bf_close(f);
    return NULL;
}
