/* rs.c - RSHash with 31 bits, for the schemes rs-rand (C) and rs-dotnet (C#). rs-rand hashes signed
 * chars, rs-dotnet UTF-16 code units; the digests are equal for ASCII keys only. */
#include "hash/hash.h"
#include "base/utf16.h"

typedef struct {
    uint32_t h, a;
} state;

static const state start = { 0, 63689 };
static inline state rs_step(state s, uint32_t c) { return (state){ s.h * s.a + c, s.a * 378551 }; }

static void rs_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const int8_t *c = key;
    state s = start;
    (void)secret;
    for (size_t i = 0; i < len; i++) s = rs_step(s, (uint32_t)c[i]);
    *digest = s.h & INT32_MAX;
}

static void one_utf16(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *at = key, *end = utf16_end(key, len);
    uint16_t u[2];
    state s = start;
    (void)secret;
    for (unsigned units; at < end && (units = utf16_next(&at, end, u));)
        for (unsigned i = 0; i < units; i++) s = rs_step(s, u[i]);
    *digest = s.h & INT32_MAX;
}

BF_RUN_BY_ONE(rs_run, rs_one, 1)
BF_RUN_BY_ONE(run_utf16, one_utf16, 1)

const bf_hash bf_hash_rs = { .name = "rs", .width = 1, .run = rs_run, .one = rs_one };
const bf_hash bf_hash_rs_utf16 = {
    .name = "rs-utf16", .width = 1, .run = run_utf16, .one = one_utf16, .accept = utf16_accept
};
