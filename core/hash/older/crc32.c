/* crc32.c - CRC-32 (IEEE 802.3, the variant of zlib and PHP), eight bytes per step. CRC is linear:
 * macros compute the 256 entries of each table row as XORs of the eight entries of single bits. */
#include "base/load.h"
#include "hash/hash.h"

#define E(b, c0, c1, c2, c3, c4, c5, c6, c7)                                                       \
    (((b) & 1 ? c0 : 0) ^ ((b) & 2 ? c1 : 0) ^ ((b) & 4 ? c2 : 0) ^ ((b) & 8 ? c3 : 0) ^           \
        ((b) & 16 ? c4 : 0) ^ ((b) & 32 ? c5 : 0) ^ ((b) & 64 ? c6 : 0) ^ ((b) & 128 ? c7 : 0))
#define E4(b, ...)                                                                                 \
    E((b), __VA_ARGS__), E((b) + 1, __VA_ARGS__), E((b) + 2, __VA_ARGS__), E((b) + 3, __VA_ARGS__)
#define E16(b, ...)                                                                                \
    E4((b), __VA_ARGS__), E4((b) + 4, __VA_ARGS__), E4((b) + 8, __VA_ARGS__),                      \
        E4((b) + 12, __VA_ARGS__)
#define E64(b, ...)                                                                                \
    E16((b), __VA_ARGS__), E16((b) + 16, __VA_ARGS__), E16((b) + 32, __VA_ARGS__),                 \
        E16((b) + 48, __VA_ARGS__)
#define SLICE(...)                                                                                 \
    E64(0, __VA_ARGS__), E64(64, __VA_ARGS__), E64(128, __VA_ARGS__), E64(192, __VA_ARGS__)

/* table[s][b] is the CRC of byte b followed by s zero bytes */
static const uint32_t table[8][256] = { { SLICE(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u,
                                            0x1db71064u, 0x3b6e20c8u, 0x76dc4190u, 0xedb88320u) },
    { SLICE(0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u,
        0xf0794f05u, 0x3b83984bu) },
    { SLICE(0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u,
        0x709a8dc0u, 0xe1351b80u) },
    { SLICE(0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu,
        0x9b14583du, 0xed59b63bu) },
    { SLICE(0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u,
        0x58f35849u, 0xb1e6b092u) },
    { SLICE(0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u,
        0x0f580a6cu, 0x1eb014d8u) },
    { SLICE(0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu,
        0x440b7579u, 0x8816eaf2u) },
    { SLICE(0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u,
        0x299dc2edu, 0x533b85dau) } };

static void crc32_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *p = key;
    uint32_t crc = UINT32_MAX;
    (void)secret;
    for (; len >= 8; len -= 8, p += 8) {
        uint64_t v = load_le64(p) ^ crc;
        crc = 0;
        for (unsigned i = 0; i < 8; i++, v >>= 8) crc ^= table[7 - i][v & 0xFF];
    }
    for (; len; len--, p++) crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xFF];
    *digest = crc ^ UINT32_MAX;
}

BF_RUN_BY_ONE(crc32_run, crc32_one, 1)

const bf_hash bf_hash_crc32 = { .name = "crc32", .width = 1, .run = crc32_run, .one = crc32_one };
