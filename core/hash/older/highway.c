/* highway.c - HighwayHash-128 (J. Alakuijala, B. Cox, J. Wassenberg, 2016) with Redisson's
 * built-in key. The key is public, so this hash does not protect against chosen keys. */
#include "base/load.h"
#include "hash/hash.h"

enum { LANES = 4, PACKET = 32 };
static const uint64_t key_of_redisson[LANES] = { UINT64_C(0x9e3779b97f4a7c15),
    UINT64_C(0xf39cc0605cedc834), UINT64_C(0x1082276bf3a27251), UINT64_C(0xf86c6a11d0c18e95) };
static const uint64_t init0[LANES] = { UINT64_C(0xdbe6d5d5fe4cce2f), UINT64_C(0xa4093822299f31d0),
    UINT64_C(0x13198a2e03707344), UINT64_C(0x243f6a8885a308d3) };
static const uint64_t init1[LANES] = { UINT64_C(0x3bd39e10cb0ef593), UINT64_C(0xc0acf169b5f18a8c),
    UINT64_C(0xbe5466cf34e90c6c), UINT64_C(0x452821e638d01377) };

typedef struct {
    uint64_t v0[LANES], v1[LANES], mul0[LANES], mul1[LANES];
} state;

static void highway_start(state *s)
{
    for (unsigned i = 0; i < LANES; i++) {
        s->mul0[i] = init0[i];
        s->mul1[i] = init1[i];
        s->v0[i] = init0[i] ^ key_of_redisson[i];
        s->v1[i] = init1[i] ^ rotl64(key_of_redisson[i], 32);
    }
}

static inline uint64_t byte(uint64_t v, unsigned from, unsigned to)
{
    return (v >> (8 * from) & 0xFF) << (8 * to);
}

/* Shuffles the bytes of two lanes of v0 or v1 and adds them to two lanes of the other vector. The
 * order alternates well mixed and poorly mixed bytes. */
static inline void zipper(uint64_t odd, uint64_t even, uint64_t *to_odd, uint64_t *to_even)
{
    *to_even += byte(even, 3, 0) | byte(odd, 4, 1) | byte(even, 2, 2) | byte(even, 5, 3) |
                byte(odd, 6, 4) | byte(even, 1, 5) | byte(odd, 7, 6) | byte(even, 0, 7);
    *to_odd += byte(odd, 3, 0) | byte(even, 4, 1) | byte(odd, 2, 2) | byte(odd, 5, 3) |
               byte(odd, 1, 4) | byte(even, 6, 5) | byte(odd, 0, 6) | byte(even, 7, 7);
}

static void update(state *s, const uint64_t lane[LANES])
{
    for (unsigned i = 0; i < LANES; i++) {
        s->v1[i] += s->mul0[i] + lane[i];
        s->mul0[i] ^= (s->v1[i] & UINT32_MAX) * (s->v0[i] >> 32);
        s->v0[i] += s->mul1[i];
        s->mul1[i] ^= (s->v0[i] & UINT32_MAX) * (s->v1[i] >> 32);
    }
    for (unsigned i = 0; i < LANES; i += 2)
        zipper(s->v1[i + 1], s->v1[i], &s->v0[i + 1], &s->v0[i]);
    for (unsigned i = 0; i < LANES; i += 2)
        zipper(s->v0[i + 1], s->v0[i], &s->v1[i + 1], &s->v1[i]);
}

static void packet(state *s, const uint8_t *p)
{
    uint64_t lane[LANES];
    for (unsigned i = 0; i < LANES; i++) lane[i] = load_le64(p + 8 * i);
    update(s, lane);
}

static inline uint64_t rotate_halves(uint64_t v, unsigned r)
{
    uint32_t low = (uint32_t)v, high = (uint32_t)(v >> 32);
    low = low << r | low >> (32 - r);
    high = high << r | high >> (32 - r);
    return (uint64_t)high << 32 | low;
}

/* Mixes the last 1 to 31 bytes and their number into the state. */
static void remainder_(state *s, const uint8_t *p, unsigned len)
{
    uint8_t last[PACKET] = { 0 };
    const unsigned rest = len % 4, whole = len - rest;
    for (unsigned i = 0; i < LANES; i++) {
        s->v0[i] += ((uint64_t)len << 32) + len;
        s->v1[i] = rotate_halves(s->v1[i], len);
    }
    memcpy(last, p, whole);
    if (len & 16)
        memcpy(last + 28, p + len - 4, 4);
    else if (rest) {
        last[16] = p[whole];
        last[17] = p[whole + rest / 2];
        last[18] = p[len - 1];
    }
    packet(s, last);
}

static void highway_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *p = key;
    state s;
    (void)secret;
    highway_start(&s);
    for (size_t left = len / PACKET; left; left--, p += PACKET) packet(&s, p);
    if (len % PACKET) remainder_(&s, p, (unsigned)(len % PACKET));
    for (unsigned round = 0; round < 6; round++) {
        uint64_t lane[LANES];
        for (unsigned i = 0; i < LANES; i++) lane[i] = rotl64(s.v0[(i + 2) % LANES], 32);
        update(&s, lane);
    }
    digest[0] = s.v0[0] + s.mul0[0] + s.v1[2] + s.mul1[2];
    digest[1] = s.v0[1] + s.mul0[1] + s.v1[3] + s.mul1[3];
}

BF_RUN_BY_ONE(highway_run, highway_one, 2)

const bf_hash bf_hash_highway = {
    .name = "highway", .width = 2, .run = highway_run, .one = highway_one
};
