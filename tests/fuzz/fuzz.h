/* fuzz.h - what the fuzz targets share: values taken off the input's front, and what must hold of any filter that was
 * opened.  A target includes this file, the whole core is compiled in with the sanitizers. */
#ifndef FUZZ_H
#define FUZZ_H
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MUST(cond) do { if (!(cond)) { fprintf(stderr, "%s:%d: MUST(%s)\n", __FILE__, __LINE__, #cond); abort(); } } while (0)

typedef struct { const uint8_t *at; size_t left; } input;

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

/* An error is a negative code and one line of printable text; what the text quotes may be any bytes but no newline. */
static inline void sound_error(const bf_error *e)
{
    MUST(e->code < 0 && e->code >= BF_EHOST);
    MUST(memchr(e->msg, 0, sizeof e->msg) && e->msg[0]);
}

/* Whatever a filter was made from: what was added is present, alone and in a batch, and its positions are inside. */
static inline void sound_filter(bf_filter *f, const uint8_t *bytes, size_t len)
{
    bf_error e = { 0 };
    bf_info info;
    bf_state state;
    bf_get_info(f, &info);
    MUST(info.m >= 1 && info.m <= BF_M_MAX && info.k >= 1 && info.k <= BF_K_MAX && info.n >= 1);
    enum { KEYS = 9 };
    bf_key keys[KEYS];
    uint8_t each[KEYS];
    size_t part = len / KEYS;
    for (size_t i = 0; i < KEYS; i++) keys[i] = (bf_key){ bytes + i * part, part };
    int64_t n = bf_add_many(f, keys, KEYS, each, &e);
    if (n < 0) {                                            /* a key that the scheme cannot hold */
        sound_error(&e);
        MUST(e.key == BF_NO_KEY || e.key < KEYS);
        return;
    }
    MUST(n <= KEYS && bf_test_many(f, keys, KEYS, each, &e) == KEYS);
    for (size_t i = 0; i < KEYS; i++) MUST(each[i] == 1 && bf_test(f, keys[i].ptr, part, &e) == 1);
    MUST(bf_add(f, keys[0].ptr, part, &e) == BF_PRESENT);
    uint64_t pos[BF_K_MAX];
    int64_t k = bf_hashcode(f, keys[0].ptr, part, pos, BF_K_MAX, &e);
    MUST(k == info.k);
    for (int64_t i = 0; i < k; i++) {
        uint8_t byte;
        MUST(pos[i] < info.m && bf_read_bits(f, pos[i] / 8, &byte, 1, &e) == 0 && (byte & 0x80 >> pos[i] % 8));
    }
    MUST(bf_get_state(f, &state, &e) == 0 && state.ones >= 1 && state.ones <= info.m && state.fpr >= 0 && state.fpr <= 1);
}

/* To bytes and back: the same filter. */
static inline void sound_bytes(bf_filter *f)
{
    bf_error e = { 0 };
    bf_info info;
    bf_get_info(f, &info);
    uint8_t *bytes = malloc(info.image_bytes);
    MUST(bytes && bf_to_bytes(f, bytes, info.image_bytes, &e) == 0);
    if (!info.keyed && strcmp(info.scheme, "functions")) {
        bf_filter *again = bf_from_bytes(bytes, info.image_bytes, NULL, &e);
        MUST(again && bf_equal(f, again, &e) == 1);
        bf_close(again);
    }
    free(bytes);
}
#endif
