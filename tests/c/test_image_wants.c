/* test_image_wants.c - bf_image_wants: how much of a stream to read, from the headers of the
 * image.  About core/sets/image.c. */
#define XXH_INLINE_ALL
#include "../../core/bloomfilter_host.h"
#include "folder.h"
#include "check.h"
#include "paged.h"
#include <xxhash.h>

static bf_error e;
static double noon(void *ctx) { return 1700000000.5; }
#define LARGE { .m = 100000, .k = 5, .scheme = "classic" }
#define SMALL { .n = 10, .p = 0.01 }

static bf_filter *opened(const bf_spec *spec, int keys)
{
    bf_filter *f = bf_open(spec, &e);
    if (!f) {
        FAILED("%s\n", e.msg);
        exit(1);
    }
    for (int i = 0; i < keys; i++) {
        char key[12];
        CHECK(bf_add(f, key, (size_t)snprintf(key, sizeof key, "%d", i), &e) >= 0);
    }
    return f;
}

static uint8_t *bytes_of(bf_filter *f, uint64_t *len)
{
    bf_info info;
    bf_get_info(f, &info);
    uint8_t *b = malloc(*len = info.image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, *len, &e), 0);
    return b;
}

/* Reads an image that other bytes follow, as from a stream. Returns how many bytes were read. */
static uint64_t read_by_wants(const uint8_t *b, uint64_t len)
{
    uint8_t *stream = calloc(1, len + 4096), *got = malloc(1);
    uint64_t have = 0, wants;
    memcpy(stream, b, len);
    while ((wants = bf_image_wants(got, have)) > 0 && have < len + 1) {
        CHECK(have + wants <= len + 1);
        got = realloc(got, have + wants); /* exactly that long: ASan sees a byte too far */
        memcpy(got + have, stream + have, wants);
        have += wants;
    }
    CHECK_EQ(wants, 0);
    free(got);
    free(stream);
    return have;
}

static void wanted(bf_filter *f)
{
    uint64_t len[2];
    uint8_t *both[2] = { bytes_of(f, &len[0]), paged_bytes(f, &len[1]) };
    for (int j = 0; j < 2; j++) {
        uint8_t *b = both[j];
        CHECK_EQ(read_by_wants(b, len[j]), len[j]);
        for (uint64_t n = 0; n < len[j]; n += n < 300 ? 1 : 997) {
            const uint64_t wants = bf_image_wants(b, n);
            CHECK(wants > 0 && wants <= len[j] - n);
        }
        CHECK_EQ(bf_image_wants(b, len[j]), 0);
        if (j == 1) b[100] ^= 1; /* then the sum of the page is wrong */
        if (j == 1) CHECK_EQ(bf_image_wants(b, 4096), 0);
        b[7] ^= 1;
        CHECK_EQ(bf_image_wants(b, 8), 0);
        free(b);
    }
    bf_close(f);
}

TEST(the_length_of_a_stream_is_known_from_its_headers)
{
    const bf_spec specs[] = { { .n = 100, .p = 0.01, .grow = 1 },
        { .n = 10000, .p = 0.01, .window = 60, .parts = 3, .clock = noon },
        { .n = 10000, .p = 0.01, .counting = true, .grow = 2 }, LARGE, SMALL,
        { .m = 32704, .k = 5, .scheme = "classic" }, { .m = 1001, .k = 3, .counting = true },
        { .m = 1024, .k = 3, .scheme = "classic", .shards = 4 },
        { .m = 800, .n = 40, .scheme = "guava:long" }, { .n = 10, .p = 0.01, .grow = 2 },
        { .n = 10, .p = 0.01, .window = 60, .parts = 2, .clock = noon } };
    for (unsigned i = 0; i < COUNT(specs); i++) wanted(opened(&specs[i], i < 3 ? 5000 : 5));
    CHECK_EQ(bf_image_wants("", 0), 64);
    CHECK_EQ(bf_image_wants("x", 1), 0);
}

/* A file that is copied to a stream while it is rebuilt: a shadow follows the bits. */
TEST(a_shadow_may_follow_the_bits)
{
    bf_spec spec = LARGE;
    spec.storage = path;
    bf_filter *f = opened(&spec, 5), *fresh = bf_rebuild_begin(f, &e);
    static uint8_t bytes[1 << 20];
    FILE *in = fopen(path, "rb");
    CHECK(fresh && in);
    const uint64_t len = fread(bytes, 1, sizeof bytes, in);
    CHECK(len > 4096 + 12504);
    const uint64_t bits = read_by_wants(bytes, len);
    CHECK(bits > 4096 && bits <= len / 2 + 4096);
    bf_filter *g = bf_from_bytes(bytes, bits, NULL, &e);
    CHECK(g && bf_test(g, "4", 1, &e) == 1);
    fclose(in);
    CLOSE(f, fresh, g);
}

/* A header page with valid sums that says it is 8 EiB long, and a compact header of 512 MiB. */
TEST(a_header_that_claims_too_much_wants_nothing)
{
    uint8_t *b;
    uint64_t len;
    bf_filter *f = opened(&(bf_spec)LARGE, 0);
    b = bytes_of(f, &len);
    for (unsigned at = 64; at < 72; at++) b[at] = 0x7f;
    const uint64_t sum = XXH3_64bits(b + 24, 2048 - 24);
    memcpy(b + 16, &sum, 8);
    CHECK_EQ(bf_image_wants(b, 4096), 0);
    bf_close(f);
    free(b);
    f = opened(&(bf_spec)SMALL, 0);
    b = bytes_of(f, &len);
    b[36] = 1;
    CHECK_EQ(bf_image_wants(b, 64), 0);
    bf_close(f);
    free(b);
}

int main(void) { return main_in_folder(); }
