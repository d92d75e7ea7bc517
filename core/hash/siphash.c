/* siphash.c - SipHash-2-4, keyed by the filter's secret, for keys that an attacker may choose. One
 * key is hashed by libsodium. With AVX2, batches are hashed eight keys at a time, one in each lane
 * of two vectors; tests/c/test_siphash.c compares all versions. */
#include "hash/hash.h"
#ifdef BF_HAVE_SODIUM
#include "base/load.h"
#include <sodium/crypto_shorthash_siphash24.h>

_Static_assert(
    crypto_shorthash_siphash24_KEYBYTES == BF_SECRET_BYTES, "the secret is the SipHash key");

/* Does not call crypto_shorthash: a later libsodium may use another hash there, but the bits of
 * stored filters must not change. */
static void siphash_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    unsigned char out[crypto_shorthash_siphash24_BYTES];
    crypto_shorthash_siphash24(out, key, len, secret);
    *digest = load_le64(out);
}

static void siphash_run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    for (size_t i = 0; i < n; i++) siphash_one(secret, keys[i].ptr, keys[i].len, digests + i);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define SIP static inline __attribute__((target("avx2"), always_inline))
enum { LANES = 4, AT_ONCE = 2 * LANES };

typedef struct {
    __m256i v[4];
} sip;

SIP __m256i rotated(__m256i x, int by)
{
    return _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by));
}
SIP __m256i half(__m256i x) { return _mm256_shuffle_epi32(x, 0xB1); }

SIP sip sip_round(sip s)
{
    __m256i *v = s.v;
    v[0] = _mm256_add_epi64(v[0], v[1]);
    v[2] = _mm256_add_epi64(v[2], v[3]);
    v[1] = _mm256_xor_si256(rotated(v[1], 13), v[0]);
    v[3] = _mm256_xor_si256(rotated(v[3], 16), v[2]);
    v[0] = half(v[0]);
    v[2] = _mm256_add_epi64(v[2], v[1]);
    v[0] = _mm256_add_epi64(v[0], v[3]);
    v[1] = _mm256_xor_si256(rotated(v[1], 17), v[2]);
    v[3] = _mm256_xor_si256(rotated(v[3], 21), v[0]);
    v[2] = half(v[2]);
    return s;
}

/* Four keys of at least 8 bytes, one per lane. last: index of the last word, which contains
 * the last len % 8 bytes of the key and its length (highest byte). These bytes are loaded as the
 * last 8 bytes of the key, shifted right by `shift` bits. */
typedef struct {
    const bf_key *keys;
    __m256i last, shift, length;
} sip_keys;

SIP sip_keys sip_of(const bf_key *k)
{
    const __m256i len = _mm256_setr_epi64x(
        (long long)k[0].len, (long long)k[1].len, (long long)k[2].len, (long long)k[3].len);
    const __m256i left = _mm256_and_si256(len, _mm256_set1_epi64x(7));
    return (sip_keys){ k, _mm256_srli_epi64(len, 3),
        _mm256_sub_epi64(_mm256_set1_epi64x(64), _mm256_slli_epi64(left, 3)),
        _mm256_slli_epi64(len, 56) };
}

/* Loads word i, all 8 bytes of which must be in the key. */
SIP long long sip_whole(const bf_key *key, size_t i)
{
    return (long long)load_le64((const uint8_t *)key->ptr + 8 * i);
}
SIP sip sip_take(sip s, __m256i w)
{
    s.v[3] = _mm256_xor_si256(s.v[3], w);
    s = sip_round(sip_round(s));
    s.v[0] = _mm256_xor_si256(s.v[0], w);
    return s;
}
SIP sip sip_next(sip s, const bf_key *k, size_t i)
{
    return sip_take(s, _mm256_setr_epi64x(sip_whole(k, i), sip_whole(k + 1, i), sip_whole(k + 2, i),
                           sip_whole(k + 3, i)));
}

/* Loads word i, or the last 8 bytes of the key if word i is not complete. */
SIP long long sip_load(const bf_key *key, size_t i)
{
    const size_t at = 8 * i, end = key->len - 8;
    return (long long)load_le64((const uint8_t *)key->ptr + (at < end ? at : end));
}

/* Mixes word i into four states; a key without a word i keeps its state. */
SIP sip sip_word(sip s, const sip_keys *k, size_t i)
{
    const __m256i number = _mm256_set1_epi64x((long long)i),
                  is_last = _mm256_cmpeq_epi64(number, k->last),
                  is_over = _mm256_cmpgt_epi64(number, k->last);
    __m256i w = _mm256_setr_epi64x(sip_load(k->keys, i), sip_load(k->keys + 1, i),
        sip_load(k->keys + 2, i), sip_load(k->keys + 3, i));
    w = _mm256_srlv_epi64(w, _mm256_and_si256(is_last, k->shift));
    w = _mm256_or_si256(w, _mm256_and_si256(is_last, k->length));
    sip t = sip_take(s, w);
    for (unsigned j = 0; j < 4; j++) t.v[j] = _mm256_blendv_epi8(t.v[j], s.v[j], is_over);
    return t;
}

SIP sip sip_begin(const uint8_t *secret)
{
    const uint64_t a = load_le64(secret), b = load_le64(secret + 8);
    return (sip){ { _mm256_set1_epi64x((long long)(a ^ UINT64_C(0x736f6d6570736575))),
        _mm256_set1_epi64x((long long)(b ^ UINT64_C(0x646f72616e646f6d))),
        _mm256_set1_epi64x((long long)(a ^ UINT64_C(0x6c7967656e657261))),
        _mm256_set1_epi64x((long long)(b ^ UINT64_C(0x7465646279746573))) } };
}

SIP void sip_end(sip s, uint64_t *digests)
{
    s.v[2] = _mm256_xor_si256(s.v[2], _mm256_set1_epi64x(0xFF));
    s = sip_round(sip_round(sip_round(sip_round(s))));
    _mm256_storeu_si256((__m256i *)digests,
        _mm256_xor_si256(_mm256_xor_si256(s.v[0], s.v[1]), _mm256_xor_si256(s.v[2], s.v[3])));
}

SIP void eight(
    const uint8_t *secret, const bf_key *keys, size_t shortest, size_t longest, uint64_t *digests)
{
    sip a = sip_begin(secret), b = a;
    const sip_keys ka = sip_of(keys), kb = sip_of(keys + LANES);
    size_t i = 0;
    for (; i < shortest / 8; i++) {
        a = sip_next(a, keys, i);
        b = sip_next(b, keys + LANES, i);
    }
    for (; i <= longest / 8; i++) {
        a = sip_word(a, &ka, i);
        b = sip_word(b, &kb, i);
    }
    sip_end(a, digests);
    sip_end(b, digests + LANES);
}

/* lengths of keys that are hashed in lanes; all lanes would wait for a longer key */
enum { SHORT = 8, LONG = 256 };
SIP void run_lanes(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    for (; n >= AT_ONCE; n -= AT_ONCE, keys += AT_ONCE, digests += AT_ONCE) {
        size_t longest = 0, shortest = SIZE_MAX;
        for (size_t i = 0; i < AT_ONCE; i++) {
            longest = keys[i].len > longest ? keys[i].len : longest;
            shortest = keys[i].len < shortest ? keys[i].len : shortest;
        }
        if (shortest >= SHORT && longest <= LONG)
            eight(secret, keys, shortest, longest, digests);
        else
            siphash_run(secret, keys, AT_ONCE, digests);
    }
    siphash_run(secret, keys, n, digests);
}

/* Two versions, for AVX2 and AVX-512. AVX-512VL rotates a 256-bit vector by one instruction instead
 * of three. */
#define LANES_BY(instructions, its_run, row)                                                       \
    __attribute__((target(instructions))) static void its_run(                                     \
        const void *secret, const bf_key *keys, size_t n, uint64_t *digests)                       \
    {                                                                                              \
        run_lanes(secret, keys, n, digests);                                                       \
    }                                                                                              \
    static const bf_hash row = {                                                                   \
        .name = "siphash", .width = 1, .run = its_run, .one = siphash_one                          \
    };
LANES_BY("avx2", run_avx2, by_avx2)
LANES_BY("avx2,avx512f,avx512vl", run_avx512, by_avx512)

extern const bf_hash bf_hash_siphash;
static const bf_hash *best(void)
{
    return bf_has_avx512() ? &by_avx512 : bf_has_avx2() ? &by_avx2 : &bf_hash_siphash;
}
#define BEST best
#else
#define BEST NULL
#endif

const bf_hash bf_hash_siphash = {
    .name = "siphash", .width = 1, .run = siphash_run, .one = siphash_one, .best = BEST
};
#else
const bf_hash bf_hash_siphash = { .name = "siphash",
    .width = 1 }; /* built without libsodium: secret.c refuses a secret */
#endif
