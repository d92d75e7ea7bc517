/* fuzz_bytes.c - bf_from_bytes on any bytes.  The header carries checksums that no fuzzer guesses:
 * the first byte of the input says which of them are made right before, so that the checks behind
 * them are reached; an image without a page has one sum over all.  Or (MADE) the input says which
 * filter of many parts is made, with pages or without, and what is then written into its headers,
 * live words above all. */
#define XXH_INLINE_ALL
#include "../c/helpers/chain_bytes.h"
#include "../c/helpers/paged.h"
#include "fuzz.h"
#include <unistd.h>
#include <xxhash.h>

enum {
    HEADER = 4096,
    LEAST = 64,
    COMPACT = 2,
    FIX_HEADER = 1,
    FIX_BITS = 2,
    FIX_PAGE = 4,
    FIX_DIRTY = 8,
    STRETCH = 16,
    MADE = 128,
    SECONDS = 20
};

static void mend_some(uint8_t *page, size_t len, uint8_t how)
{
    uint8_t copy[HEADER];
    if (len >= LEAST && page[8] == COMPACT) {
        if (how & FIX_HEADER) put(page + 16, 8, XXH3_64bits(page + 24, len - 24));
        return;
    }
    if (len < HEADER) return;
    if (how & FIX_DIRTY) memcpy(page + 2048, page + 2056, 8);
    if (how & FIX_HEADER) put(page + 16, 8, XXH3_64bits(page + 24, 2048 - 24));
    if (how & FIX_BITS) put(page + 2072, 8, XXH3_64bits(page + HEADER, len - HEADER));
    memcpy(copy, page, HEADER);
    memcpy(copy + 2048, copy + 2056, 8);
    if (copy[29] & 7) memset(copy + 2080, 0, 8); /* the live word has a check of its own */
    if (how & FIX_PAGE) put(page + 4088, 8, XXH3_64bits(copy, 4088));
}

static uint8_t *short_bytes(bf_filter *f, uint64_t *len)
{
    bf_error e;
    bf_info i;
    bf_get_info(f, &i);
    uint8_t *b = malloc(*len = i.image_bytes);
    MUST(b && bf_to_bytes(f, b, *len, &e) == 0);
    return b;
}

static uint8_t *filled(const bf_spec *spec, unsigned keys, bool paged, uint64_t *len)
{
    bf_error e;
    bf_filter *f = bf_open(spec, &e);
    if (!f) return NULL;
    for (unsigned i = 0; i < keys; i++) MUST(bf_add(f, &i, sizeof i, &e) >= 0);
    uint8_t *image = (paged ? paged_bytes : short_bytes)(f, len);
    bf_close(f);
    return image;
}

/* The header of one part, or of all: the page's live word is at a place of its own, that of a
 * header without a page is its last field. */
static void scribble(uint8_t *page, size_t head, size_t bits, input *in, uint64_t now)
{
    const bool paged = head == HEADER;
    uint8_t *at = page + (paged ? 2080 : head - 8);
    static const uint64_t far[] = { 0, 1, UINT64_C(1) << 45, UINT64_C(1) << 46,
        (UINT64_C(1) << 47) - 1, UINT64_C(1) << 47, UINT64_MAX };
    uint64_t what = take(in, 1);
    if (what < 64)
        put(at, 8, live((int64_t)(now + what - 32)));
    else if (what < 96)
        put(at, 8, live((int64_t)(far[what % 7] + take(in, 1) % 8)));
    else if (what < 128)
        put(at, 8, live((int64_t)(take(in, 6))));
    else if (what < 160) {
        size_t byte = 24 + take(in, 1) % (paged ? 180 : head + bits - 24);
        page[byte] = (uint8_t)take(in, 1);
    }
    mend_some(page, paged ? HEADER : head + bits, FIX_HEADER | FIX_PAGE);
}

/* What a filter that was read does must end, and keep its keys. */
static void uses(bf_filter *f, const bf_spec *spec)
{
    bf_error e = { 0 };
    bf_state state;
    uint64_t wait;
    bf_filter *other = bf_open(spec, &e), *copy = bf_copy(f, &e);
    MUST(other && copy && bf_add(other, "other", 5, &e) == 1);
    MUST(bf_add(f, "x", 1, &e) >= 0 && bf_test(f, "x", 1, &e) == 1 && bf_remove(f, "x", 1, &e) < 0);
    if (bf_unite(other, f, &e) == 0)
        MUST(bf_test(other, "other", 5, &e) == 1 && bf_test(other, "x", 1, &e) == 1);
    if (bf_unite(f, other, &e) == 0)
        MUST(bf_test(f, "x", 1, &e) == 1); /* the other's keys may be of its past */
    MUST((bf_unite(copy, f, &e) == 0 || e.code == BF_EINVAL) &&
         bf_get_state(copy, &state, &e) == 0 && bf_saturated(copy, &wait, &e) >= 0 &&
         bf_clear(copy, &e) == 0);
    bf_close(other);
    bf_close(copy);
}

static void made(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    input in = { data, len };
    uint64_t bytes;
    const uint64_t kind = take(&in, 1);
    const bool grow = kind & 1, paged = kind & 2;
    bf_spec spec = { .n = 1 + take(&in, 1), .p = 0.01, .clock = still }, mine = { .clock = still };
    if (grow)
        spec.grow = 1 + (double)take(&in, 2) / 16 + 1e-9;
    else {
        spec.window = 1 + (double)take(&in, 2);
        spec.parts = 1 + (unsigned)take(&in, 1) % 5;
    }
    uint8_t *image = filled(&spec, (unsigned)take(&in, 1), paged, &bytes);
    if (!image) return;
    const uint64_t now = grow ? spec.n : (uint64_t)(still(NULL) / (spec.window / spec.parts));
    for (size_t at = 0, bits = 0, head; at < bytes; at += head + bits) {
        head = image[at + 12] | (size_t)image[at + 13] << 8;
        bits = at ? (size_t)(get(image + at + 32, 8) + 63) / 64 * 8 : 0;
        scribble(image + at, head, bits, &in, now);
    }
    bf_filter *f = bf_from_bytes(image, bytes, &mine, &e);
    if (f) {
        bf_info i;
        uses(f, &spec);
        bf_get_info(f, &i);
        MUST(i.image_bytes < 64 * bytes + (1 << 20));
    } else
        sound_error(&e);
    bf_close(f);
    free(image);
}

/* A copy.  A short input may stand for a whole header: the zeros in the middle of one are not worth
 * the fuzzer's time. */
static uint8_t *stretched(const uint8_t *data, size_t bytes, bool stretch, size_t *whole)
{
    stretch = stretch && bytes >= 200;
    *whole = stretch ? bytes - 200 + HEADER : bytes;
    uint8_t *copy = calloc(1, *whole + 1);
    memcpy(copy, data, stretch ? 160 : bytes);
    if (stretch) {
        memcpy(copy + 2048, data + 160, 32);
        memcpy(copy + 4088, data + 192, 8);
        memcpy(copy + HEADER, data + 200, bytes - 200);
    }
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    if (len < 1) return 0;
    alarm(SECONDS); /* what does not end is a fault */
    uint8_t how = data[0];
    if (how & MADE) {
        made(data + 1, len - 1);
        return 0;
    }
    size_t whole;
    uint8_t *copy = stretched(data + 1, len - 1, how & STRETCH, &whole);
    mend_some(copy, whole, how);
    static const char secret[BF_SECRET_BYTES + 1] = "fuzz fuzz fuzz f";
    bf_spec expect = { .clock = still };
    if (how & 32) {
        expect.secret = secret;
        expect.secret_len = BF_SECRET_BYTES;
    }
    bf_filter *f = bf_from_bytes(copy, whole, &expect, &e);
    expect.clock = NULL; /* only filters that forget take one */
    if (!f) f = bf_from_bytes(copy, whole, &expect, &e);
    if (f) {
        sound_bytes(f);
        sound_filter(f, copy, whole);
    } else
        sound_error(&e);
    bf_close(f);
    free(copy);
    return 0;
}
