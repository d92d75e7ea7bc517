/* fuzz_bytes.c - bf_from_bytes on any bytes.  The header carries checksums that no fuzzer guesses: the first byte of the
 * input says which of them are made right before, so that the checks behind them are reached. */
#define XXH_INLINE_ALL
#include "fuzz.h"
#include <xxhash.h>

enum { HEADER = 4096, FIX_HEADER = 1, FIX_BITS = 2, FIX_PAGE = 4, FIX_DIRTY = 8, STRETCH = 16 };

static void put64(uint8_t *at, uint64_t v) { for (int i = 0; i < 8; i++) at[i] = (uint8_t)(v >> 8 * i); }

static void mend(uint8_t *page, size_t len, uint8_t how)
{
    uint8_t copy[HEADER];
    if (len < HEADER) return;
    if (how & FIX_DIRTY) memcpy(page + 2048, page + 2056, 8);
    if (how & FIX_HEADER) put64(page + 16, XXH3_64bits(page + 24, 2048 - 24));
    if (how & FIX_BITS) put64(page + 2072, XXH3_64bits(page + HEADER, len - HEADER));
    memcpy(copy, page, HEADER);
    memcpy(copy + 2048, copy + 2056, 8);
    if (how & FIX_PAGE) put64(page + 4088, XXH3_64bits(copy, 4088));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    if (len < 1) return 0;
    uint8_t how = data[0];
    size_t bytes = len - 1;
    /* A short input may stand for a whole header: the zeros in the middle of one are not worth the fuzzer's time. */
    size_t whole = how & STRETCH && bytes >= 200 ? bytes - 200 + HEADER : bytes;
    uint8_t *copy = calloc(1, whole + 1);
    if (whole == bytes) memcpy(copy, data + 1, bytes);
    else {
        memcpy(copy, data + 1, 160);
        memcpy(copy + 2048, data + 161, 32);
        memcpy(copy + 4088, data + 193, 8);
        memcpy(copy + HEADER, data + 201, bytes - 200);
    }
    mend(copy, whole, how);
    static const char secret[BF_SECRET_BYTES + 1] = "fuzz fuzz fuzz f";
    bf_spec expect = { .clock = still };
    if (how & 32) { expect.secret = secret; expect.secret_len = BF_SECRET_BYTES; }
    bf_filter *f = bf_from_bytes(copy, whole, &expect, &e);
    if (f) { sound_bytes(f); sound_filter(f, copy, whole); }
    else sound_error(&e);
    bf_close(f);
    free(copy);
    return 0;
}
