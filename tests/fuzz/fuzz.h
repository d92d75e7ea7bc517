/* fuzz.h - what the fuzz targets share: values taken off the input's front, and what must hold of
 * any filter that was opened.  A target includes this file, the whole core is compiled in with the
 * sanitizers. */
#ifndef FUZZ_H
#define FUZZ_H
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: MUST(%s)\n", __FILE__, __LINE__, #cond);                       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct {
    const uint8_t *at;
    size_t left;
} input;

static inline uint64_t take(input *in, unsigned bytes)
{
    uint64_t v = 0;
    for (; bytes && in->left; bytes--, in->left--) v = v << 8 | *in->at++;
    return v;
}

/* A NULL or a text of at most `most` characters: the input up to the next 0. */
static inline char *take_text(input *in, size_t most)
{
    size_t n = 0;
    while (n < in->left && n < most && in->at[n]) n++;
    char *text = malloc(n + 1);
    memcpy(text, in->at, n);
    text[n] = 0;
    in->at += n + (n < in->left);
    in->left -= n + (n < in->left);
    return text;
}

/* An error is a negative code and one line of printable text; what the text quotes may be any bytes
 * but no newline. */
static inline void sound_error(const bf_error *e)
{
    MUST(e->code < 0 && (e->code >= BF_EHOST || e->code == BF_ENOENT));
    MUST(memchr(e->msg, 0, sizeof e->msg) && e->msg[0]);
}

/* What was added is present, alone and in a batch.  false: the scheme cannot hold these keys, and
 * said so. */
static inline bool sound_keys(bf_filter *f, const uint8_t *bytes, size_t len)
{
    bf_error e = { 0 };
    enum { KEYS = 9 };
    bf_key keys[KEYS];
    uint8_t each[KEYS];
    size_t part = len / KEYS;
    for (size_t i = 0; i < KEYS; i++) keys[i] = (bf_key){ bytes + i * part, part };
    int64_t n = bf_add_many(f, keys, KEYS, each, &e);
    if (n < 0) {
        sound_error(&e);
        MUST(e.key == BF_NO_KEY || e.key < KEYS);
        return false;
    }
    MUST(n <= KEYS && bf_test_many(f, keys, KEYS, each, &e) == KEYS);
    for (size_t i = 0; i < KEYS; i++) MUST(each[i] == 1 && bf_test(f, keys[i].ptr, part, &e) == 1);
    return true;
}

/* Whatever a filter was made from: keys are kept, their positions are inside and set. */
static inline void sound_filter(bf_filter *f, const uint8_t *bytes, size_t len)
{
    bf_error e = { 0 };
    bf_info info;
    bf_state state;
    bf_get_info(f, &info);
    MUST(info.m >= 1 && info.m <= BF_M_MAX && info.k >= 1 && info.k <= BF_K_MAX && info.n >= 1);
    if (!sound_keys(f, bytes, len)) return;
    MUST(bf_add(f, bytes, len / 9, &e) == BF_PRESENT);
    uint64_t pos[BF_K_MAX];
    int64_t k = bf_hashcode(f, bytes, len / 9, pos, BF_K_MAX, &e);
    bf_get_info(f, &info); /* a growing filter has more parts now, and the key may be in any */
    MUST(k == info.k || (info.grow != 0 && k >= 1 && k <= BF_K_MAX));
    for (int64_t i = 0; info.part_count == 1 && i < k; i++) {
        uint8_t byte;
        MUST(pos[i] < info.m && bf_read_bits(f, pos[i] / 8, &byte, 1, &e) == 0 &&
             (byte & 0x80 >> pos[i] % 8));
    }
    MUST(bf_get_state(f, &state, &e) == 0 && state.ones >= 1 && state.ones <= info.m &&
         state.fpr >= 0 && state.fpr <= 1);
}

/* A counting filter: what is counted up is counted down again, and never below what others hold. */
static inline void sound_counts(bf_filter *f, const uint8_t *bytes, size_t len)
{
    bf_error e = { 0 };
    size_t part = len / 9;
    if (!sound_keys(f, bytes, len)) return;
    int before = bf_count_of(f, bytes, part, &e);
    MUST(before >= 1 && before <= 15 && bf_add(f, bytes, part, &e) >= 0);
    int after = bf_count_of(f, bytes, part, &e);
    MUST(after >= before && after <= 15 && (after > before || before == 15));
    MUST(bf_remove(f, bytes, part, &e) == 1 && bf_count_of(f, bytes, part, &e) >= before &&
         bf_test(f, bytes, part, &e) == 1);
}

/* The clock of every window here: two looks at one are looks at the same moment. */
static inline double still(void *ctx)
{
    (void)ctx;
    return 1e6;
}

/* To bytes and back: the same filter. */
static inline void sound_bytes(bf_filter *f)
{
    bf_error e = { 0 };
    bf_info info;
    bf_get_info(f, &info);
    bf_spec expect = { .clock = info.window > 0 ? still : NULL, .counting = info.counting };
    uint8_t *bytes = malloc(info.image_bytes);
    MUST(bytes && bf_to_bytes(f, bytes, info.image_bytes, &e) == 0);
    if (!info.keyed && strcmp(info.scheme, "functions")) {
        bf_filter *again = bf_from_bytes(bytes, info.image_bytes, &expect, &e);
        MUST(again && bf_equal(f, again, &e) == 1);
        bf_close(again);
    }
    free(bytes);
}
#endif
