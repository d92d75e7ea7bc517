/* murmur3.c - MurmurHash3 x64 128 with seed 0 (A. Appleby, 2011). Guava's schemes use one hash of
 * the bytes that a funnel (Guava's serializer) makes from the key. go-zero's scheme uses fourteen
 * hashes of the key with one byte appended. */
#include "hash/hash.h"
#include "base/load.h"
#include "base/utf16.h"

static const uint64_t C1 = UINT64_C(0x87c37b91114253d5), C2 = UINT64_C(0x4cf5ad432745937f);
enum { BLOCK = 16, GOZERO_K = 14 };

typedef struct {
    uint64_t h1, h2;
} state;

static inline uint64_t mix1(uint64_t k) { return rotl64(k * C1, 31) * C2; }
static inline uint64_t mix2(uint64_t k) { return rotl64(k * C2, 33) * C1; }
static inline uint64_t avalanche(uint64_t k)
{
    k = (k ^ k >> 33) * UINT64_C(0xff51afd7ed558ccd);
    k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ k >> 33;
}

static inline state block(state s, const uint8_t *p)
{
    s.h1 = (rotl64(s.h1 ^ mix1(load_le64(p)), 27) + s.h2) * 5 + 0x52dce729;
    s.h2 = (rotl64(s.h2 ^ mix2(load_le64(p + 8)), 31) + s.h1) * 5 + 0x38495ab5;
    return s;
}

static inline state blocks(state s, const uint8_t *p, size_t n)
{
    for (; n; n--, p += BLOCK) s = block(s, p);
    return s;
}

/* tail: the last len % 16 bytes, followed by zeros */
static inline state murmur_finish(state s, const uint8_t tail[BLOCK], uint64_t len)
{
    s.h1 ^= mix1(load_le64(tail)) ^ len;
    s.h2 ^= mix2(load_le64(tail + 8)) ^ len;
    s.h1 += s.h2;
    s.h2 += s.h1;
    s.h1 = avalanche(s.h1);
    s.h2 = avalanche(s.h2);
    s.h1 += s.h2;
    s.h2 += s.h1;
    return s;
}

static state of_bytes(const void *key, size_t len)
{
    uint8_t tail[BLOCK] = { 0 };
    size_t rest = len % BLOCK;
    state s = blocks((state){ 0, 0 }, key, len / BLOCK);
    if (rest) memcpy(tail, (const uint8_t *)key + len - rest, rest);
    return murmur_finish(s, tail, len);
}

/* ---- Guava's funnels ---- */
enum { BYTES, CHARS, LONG, INT };
static const char *const funnels[] = { "bytes", "chars", "long", "int" };

/* unencodedCharsFunnel: UTF-16 code units, low byte first */
static state of_chars(const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes;
    uint8_t buf[BLOCK + 2];
    uint16_t u[2];
    size_t fill = 0, len = 0;
    state s = { 0, 0 };
    for (unsigned units; at < end && (units = utf16_next(&at, end, u));) {
        for (unsigned i = 0; i < units; i++, fill += 2) {
            buf[fill] = (uint8_t)u[i];
            buf[fill + 1] = (uint8_t)(u[i] >> 8);
        }
        if (fill < BLOCK) continue;
        s = block(s, buf);
        len += BLOCK;
        fill -= BLOCK;
        memcpy(buf, buf + BLOCK, fill);
    }
    memset(buf + fill, 0, BLOCK - fill);
    return murmur_finish(s, buf, len + fill);
}

/* Reads a decimal number: -?[0-9]+ without leading zeros. Returns false if the key is not a decimal
 * number or exceeds a signed integer of `bits` bits. */
static bool number(const uint8_t *s, size_t len, unsigned bits, uint64_t *v)
{
    const bool minus = len && *s == '-';
    const uint64_t most = (UINT64_C(1) << (bits - 1)) - !minus;
    if (minus) {
        s++;
        len--;
    }
    if (len < 1 || len > 19 || (len > 1 && *s == '0') || (minus && *s == '0')) return false;
    for (*v = 0; len; len--, s++) {
        if (*s < '0' || *s > '9') return false;
        *v = *v * 10 + (*s - '0');
    }
    if (*v > most) return false;
    if (minus) *v = -*v;
    return true;
}

static state of_number(const void *key, size_t len, unsigned bits)
{
    uint8_t tail[BLOCK] = { 0 };
    uint64_t v = 0;
    number(key, len, bits, &v);
    for (unsigned i = 0; i < bits / 8; i++) tail[i] = (uint8_t)(v >> (8 * i));
    return murmur_finish((state){ 0, 0 }, tail, bits / 8);
}

static void guava_one(const void *argument, const void *key, size_t len, uint64_t *digest)
{
    uint8_t funnel = *(const uint8_t *)argument;
    state s = funnel == BYTES   ? of_bytes(key, len)
              : funnel == CHARS ? of_chars(key, len)
                                : of_number(key, len, funnel == LONG ? 64 : 32);
    digest[0] = s.h1;
    digest[1] = s.h2;
}

BF_RUN_BY_ONE(guava_run, guava_one, 2)

static int guava_prepare(bf_argument *a, const char *text, bf_error *err)
{
    for (uint8_t i = 0; text && i < sizeof funnels / sizeof *funnels; i++)
        if (!strcmp(funnels[i], text)) {
            a->bytes[0] = i;
            return 0;
        }
    if (!text) return 0;
    return bf_fail(err, BF_EINVAL,
        "scheme %s takes bytes, chars, long or int after the colon, got %.40s", a->scheme, text);
}

static int accept(const void *argument, const void *key, size_t len, bf_error *err)
{
    uint8_t funnel = *(const uint8_t *)argument;
    uint64_t v;
    if (funnel == BYTES) return 0;
    if (funnel == CHARS) return utf16_accept(argument, key, len, err);
    if (number(key, len, funnel == LONG ? 64 : 32, &v)) return 0;
    return bf_fail(err, BF_EINVAL,
        "the key must be a decimal %d-bit number for the funnel %s, got \"%.*s\"",
        funnel == LONG ? 64 : 32, funnels[funnel], len < 40 ? (int)len : 40,
        len ? (const char *)key : "");
}

const bf_hash bf_hash_murmur3 = { .name = "murmur3",
    .width = 2,
    .run = guava_run,
    .one = guava_one,
    .prepare = guava_prepare,
    .accept = accept };

/* ---- go-zero: digest i is the first half of murmur3(key || byte i), i = 0..13 ---- */
static void one_14(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    uint8_t tail[BLOCK] = { 0 };
    static const uint8_t none[BLOCK];
    size_t rest = len % BLOCK;
    state s = blocks((state){ 0, 0 }, key, len / BLOCK);
    (void)secret;
    if (rest) memcpy(tail, (const uint8_t *)key + len - rest, rest);
    for (unsigned i = 0; i < GOZERO_K; i++) {
        tail[rest] = (uint8_t)i;
        digest[i] = (rest + 1 < BLOCK ? murmur_finish(s, tail, len + 1)
                                      : murmur_finish(block(s, tail), none, len + 1))
                        .h1;
    }
}

BF_RUN_BY_ONE(run_14, one_14, GOZERO_K)

const bf_hash bf_hash_murmur3_14 = {
    .name = "murmur3-14", .width = GOZERO_K, .run = run_14, .one = one_14
};
