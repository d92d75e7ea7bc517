/* test_image.c - the bytes of filters of every kind, with a header page and without one: round
 * trips, every bit and every length that is wrong, saved files, and how much of a stream to read.
 * Values with right checksums: test_header.c.  Sets and copies too.  About core/sets/image.c,
 * core/format/compact.c, core/format/header.c, core/sets/algebra.c, core/sets/stats.c,
 * core/parts/secret.c. */
#define XXH_INLINE_ALL
#include "../../core/bloomfilter_host.h"
#include "folder.h"
#include "numbers.h"
#include "native.h"
#include "optional.h"
#include "paged.h"
#include <xxhash.h>

static double noon(void *ctx) { return 1700000000.5; }
static uint64_t twice(const void *key, size_t len)
{
    return len ? 31 * (uint64_t)*(const uint8_t *)key + len : 7;
}
static bf_function *const list[] = { twice };
static const bf_functions functions = { .count = 1, .function = list };
static const uint8_t secret[] = "0123456789abcdef", another[] = "fedcba9876543210";

/* head: of the image, the part's included where the filter has one; 0: it has pages */
#define KEYED .secret = secret, .secret_len = 16
static const struct {
    const char *name;
    bf_spec spec;
    unsigned head;
} rows[] = {
    { "ten keys", { .n = 10, .p = 0.01 }, 64 },
    { "ten keys, few false positives", { .n = 10, .p = 1e-6 }, 64 },
    { "one bit", { .m = 1, .k = 1 }, 64 },
    { "63 bits", { .m = 63, .k = 2, .scheme = "classic" }, 64 },
    { "odd", { .m = 1001, .k = 5, .scheme = "classic" }, 64 },
    { "below 4 KiB", { .m = 32704, .k = 5, .scheme = "classic" }, 64 },
    { "4 KiB", { .m = 32705, .k = 5, .scheme = "classic" }, 0 },
    { "large", { .m = 100000, .k = 9, .scheme = "block2", KEYED }, 0 },
    { "keyed", { .m = 512, .k = 5, .scheme = "block", KEYED }, 72 },
    { "counting", { .m = 1001, .k = 3, .counting = true }, 64 },
    { "counting, 4 KiB", { .m = 8177, .k = 3, .counting = true }, 0 },
    { "sharded", { .m = 1024, .k = 3, .scheme = "classic", .shards = 4 }, 72 },
    { "older", { .m = 800, .n = 40, .scheme = "guava:long" }, 80 },
    { "older, named alone", { .m = 800, .k = 4, .scheme = "redisson" }, 64 },
    { "functions", { .m = 800, .functions = &functions }, 72 },
    { "growing", { .n = 10, .p = 0.01, .grow = 2 }, 80 + 80 },
    { "counting and growing", { .n = 10, .p = 0.01, .grow = 2, .counting = true }, 80 + 80 },
    { "forgetting", { .n = 10, .p = 0.01, .window = 60, .parts = 2, .clock = noon }, 88 + 3 * 80 },
    { "keyed and growing", { .n = 10, .p = 0.01, .grow = 2, KEYED }, 88 + 88 },
    { "grown", { .n = 6, .p = 0.05, .grow = 1 }, 0 },
    { "grown and keyed", { .n = 6, .p = 0.05, .grow = 1, KEYED }, 0 },
    { "grown counters", { .n = 6, .p = 0.05, .grow = 1, .counting = true }, 0 },
};
enum { ROWS = COUNT(rows), KEYS = 8, COMPACT = 0, PAGED = 1 };
#define ODD 4
#define GROWING 15
#define FORGETTING 17

static bool can(unsigned i) { return !rows[i].spec.secret || !lacks_sodium(); }
static bf_spec to_read(unsigned i)
{
    const bf_spec *s = &rows[i].spec;
    return (bf_spec){ .secret = s->secret,
        .secret_len = s->secret_len,
        .functions = s->functions,
        .clock = s->clock,
        .counting = s->counting };
}

/* Keys are digits: schemes of numbers take them. */
static bf_filter *made(unsigned i)
{
    bf_filter *f = MADE(&rows[i].spec);
    for (int j = 0; j < KEYS; j++) CHECK(bf_add(f, &"01234567"[j], 1, &e) >= 0);
    return f;
}

static uint8_t *bytes_of(bf_filter *f, uint64_t *len)
{
    uint8_t *b = malloc(*len = info_of(f).image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, *len - 1, &e), BF_EINVAL);
    CHECK_EQ(bf_to_bytes(f, b, *len, &e), 0);
    CHECK_EQ(bf_bytes_as(f, NULL, &e), *len);
    return b;
}
static uint8_t *image_of(bf_filter *f, int form, uint64_t *len)
{
    return (form == PAGED ? paged_bytes : bytes_of)(f, len);
}

static bf_filter *read_(unsigned i, const uint8_t *b, uint64_t len)
{
    const bf_spec spec = to_read(i);
    /* at any address, and exactly that long: ASan sees a byte too far */
    uint8_t *at = malloc(len + 1);
    memcpy(at + 1, b, len);
    bf_filter *f = bf_from_bytes(at + 1, len, &spec, &e);
    free(at);
    return f;
}

static void same(bf_filter *f, bf_filter *g, unsigned i)
{
    if (!g) {
        FAILED("%s: %s\n", rows[i].name, e.msg);
        return;
    }
    const bf_info a = info_of(f), b = info_of(g);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    CHECK(a.m == b.m && a.n == b.n && a.k == b.k && a.p == b.p && !strcmp(a.scheme, b.scheme));
    CHECK(a.grow == b.grow && a.window == b.window && a.parts == b.parts && a.shards == b.shards);
    CHECK(a.counting == b.counting && a.keyed == b.keyed && a.part_count == b.part_count);
    for (int j = 0; j < KEYS; j++) CHECK_EQ(bf_test(g, &"01234567"[j], 1, &e), 1);
    CHECK(bf_add(g, "9", 1, &e) >= 0);
    bf_close(g);
}

/* ---- what is right ---- */
TEST(round_trips)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i)) continue;
        uint64_t len, paged_len, bits = 0;
        bf_filter *f = made(i);
        uint8_t *b = bytes_of(f, &len), *paged = paged_bytes(f, &paged_len);
        CHECK_EQ(b[8], rows[i].head ? 2 : 1);
        CHECK(rows[i].head || (len == paged_len && !memcmp(b, paged, len)));
        for (unsigned j = 0; rows[i].head && j < info_of(f).part_count; j++) {
            bf_part_info part;
            CHECK_EQ(bf_get_part(f, j, &part, &e), 0);
            bits += (part.m * (rows[i].spec.counting ? 4 : 1) + 63) / 64 * 8;
        }
        if (rows[i].head) CHECK_EQ(len, rows[i].head + bits);
        const bf_spec spec = to_read(i);
        same(f, read_(i, b, len), i);
        same(f, read_(i, paged, paged_len), i);
        same(f, bf_from_bytes_as(b, len, NULL, &spec, &e), i); /* format NULL is ours */
        CHECK(bf_to_bytes_as(f, NULL, paged, len, &e) == 0 && !memcmp(paged, b, len));
        for (uint64_t at = 0; rows[i].spec.secret && at + 16 <= len; at++)
            CHECK(memcmp(b + at, secret, 16)); /* never stored */
        free(paged);
        free(b);
        bf_close(f);
    }
}

/* What was written once is read for ever: the whole image of one filter. */
TEST(these_bytes_for_ever)
{
    static const uint8_t bytes[] = { 0x8B, 0x42, 0x4C, 0x4D, 0x0D, 0x0A, 0x1A, 0x0A, 0x02, 0x00,
        0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x5A, 0x4F, 0x88, 0x38, 0x4A, 0x70, 0x77, 0x6E, 0x01,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x0A, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
        0x00, 0xBB, 0x63, 0xEA, 0xF6, 0xEC, 0xAD, 0x82, 0x3F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
        0x00, 0x20, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x34, 0x00 };
    bf_filter *f = bf_open(&(bf_spec){ .m = 128, .k = 3, .n = 10, .scheme = "classic" }, &e), *g;
    uint64_t len;
    CHECK(f && bf_add(f, "a", 1, &e) == 1 && bf_add(f, "b", 1, &e) == 1);
    uint8_t *b = bytes_of(f, &len);
    if (len != sizeof bytes || memcmp(b, bytes, len)) {
        failed_here++;
        for (uint64_t i = 0; i < len; i++)
            fprintf(stderr, "0x%02X,%c", b[i], i % 16 == 15 ? '\n' : ' ');
    }
    CHECK((g = bf_from_bytes(bytes, sizeof bytes, NULL, &e)) && bf_equal(f, g, &e) == 1);
    CLOSE(g, f);
    free(b);
}

/* Pointers that may be NULL: where nothing is read or written, and errors. */
TEST(nothing_at_all)
{
    static const char *const formats[] = { NULL, "guava", "bits", "bits-lsb", "cells" };
    for (size_t i = 0; i < COUNT(formats); i++)
        CHECK(!bf_from_bytes_as(NULL, 0, formats[i], NULL, &e) && e.code < 0);
    CHECK(!bf_from_bytes(NULL, 0, NULL, NULL));
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i) || rows[i].spec.scheme || rows[i].spec.functions) continue;
        bf_filter *f = made(i);
        uint8_t byte;
        uint64_t pos;
        CHECK(bf_read_bits(f, 0, NULL, 0, &e) == 0 && bf_read_bits(f, 0, &byte, 1, NULL) == 0);
        CHECK(
            bf_hashcode(f, NULL, 0, NULL, 0, &e) > 0 && bf_hashcode(f, "x", 1, &pos, 1, NULL) > 0);
        CHECK(
            bf_add_many(f, NULL, 0, NULL, NULL) == 0 && bf_test_many(f, NULL, 0, NULL, NULL) == 0);
        CHECK(bf_add(f, NULL, 0, NULL) >= 0 && bf_test(f, NULL, 0, NULL) == 1);
        CHECK(bf_get_part(f, 999, NULL, NULL) < 0);
        bf_close(f);
    }
    bf_close(NULL);
}

/* ---- files ---- */
TEST(saved_files_have_a_page)
{
    bf_filter *f = made(0), *g;
    struct stat st;
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(stat(path, &st) == 0 && st.st_size == 4096 + 64);
    CHECK((g = bf_open(&(bf_spec){ .storage = path }, &e)) && bf_add(g, "new", 3, &e) == 1);
    bf_close(g);
    CHECK((g = bf_load(path, NULL, &e)) && bf_test(g, "new", 3, &e) == 1);
    CHECK_EQ(bf_save(f, "/nonexistent/x.bloom", &e), BF_EIO);
    CHECK_EQ(bf_save(f, folder, &e), BF_EIO); /* and leaves nothing */
    CLOSE(g, f);
    unlink(path);
}

/* It cannot be mapped: nobody is told so by a copy that others do not see. */
TEST(an_image_in_a_file_is_not_opened)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i) || !rows[i].head) continue;
        uint64_t len;
        bf_spec spec = to_read(i);
        bf_filter *f = made(i), *g;
        uint8_t *b = bytes_of(f, &len), now[8192];
        put_file(path, b, len);
        same(f, bf_load(path, &spec, &e), i);
        for (int way = 0; way < 3; way++) {
            spec = way == 2 ? rows[i].spec : to_read(i);
            spec.storage = path;
            spec.read_only = way == 1;
            CHECK_NO_FILTER(bf_open(&spec, &e), BF_ENOTSUP,
                "has a compact header and cannot be mapped: use load(), or convert it with "
                "bloomfilter convert");
        }
        const int fd = open(path, O_RDONLY);
        CHECK(read(fd, now, sizeof now) == (ssize_t)len && !memcmp(now, b, len));
        close(fd);
        spec = to_read(i);
        CHECK((g = bf_load(path, &spec, &e)) && bf_save(g, path, &e) == 0); /* what convert does */
        bf_close(g);
        spec.storage = path;
        same(f, bf_open(&spec, &e), i);
        unlink(path);
        free(b);
        bf_close(f);
    }
}

/* ---- what is wrong ---- */
static void refused(unsigned i, const uint8_t *b, uint64_t len, const char *what, uint64_t at)
{
    bf_filter *f = read_(i, b, len);
    if (!f && e.code == BF_EFORMAT) return;
    FAILED("%s: %s %llu: %s\n", rows[i].name, what, (unsigned long long)at, f ? "accepted" : e.msg);
    bf_close(f);
}
/* The same of files, which are read in another way: loaded, and those with pages opened, by what is
 * there and as a constructor does. */
static void file_refused(
    unsigned i, int form, const uint8_t *b, uint64_t len, const char *what, uint64_t at)
{
    struct stat st;
    put_file(path, b, len);
    for (int way = 0; way < (form == PAGED ? 3 : 1); way++) {
        bf_spec spec = way == 2 ? rows[i].spec : to_read(i);
        if (way) spec.storage = path;
        bf_filter *f = way ? bf_open(&spec, &e) : bf_load(path, &spec, &e);
        if (f || e.code != BF_EFORMAT)
            FAILED("%s: file %s %llu: %s\n", rows[i].name, what, (unsigned long long)at,
                f ? "accepted" : e.msg);
        bf_close(f);
    }
    CHECK(stat(path, &st) == 0 && (uint64_t)st.st_size == len); /* as it was */
}

/* Each image: of every kind, in both forms. */
static void each_image(void (*check)(unsigned i, int form, uint8_t *b, uint64_t len))
{
    for (unsigned i = 0; i < ROWS; i++)
        for (int form = COMPACT; form <= PAGED; form++) {
            if (!can(i) || (form == COMPACT && !rows[i].head)) continue;
            uint64_t len;
            bf_filter *f = made(i);
            uint8_t *b = image_of(f, form, &len);
            check(i, form, b, len);
            free(b);
            bf_close(f);
        }
}

/* All bits of a compact image, and of the page of one kind of filter; a bit of each byte of pages
 * that have parts.  Version 2 becomes 1 where two bits are flipped. */
static void with_other_bits(unsigned i, int form, uint8_t *b, uint64_t len)
{
    const bool all = form == COMPACT || i == ODD;
    const uint64_t each = i == ODD ? len : i == GROWING || i == FORGETTING ? 8300 : 400;
    for (uint64_t at = 0; at < len; at += at < each ? 1 : 13 + len / 400) {
        static const uint8_t some[] = { 1, 2, 4, 8, 16, 32, 64, 128, 3, 0xFF };
        for (size_t s = all ? 0 : at % 8; s < (all ? COUNT(some) : at % 8 + 1); s++) {
            b[at] ^= some[s];
            refused(i, b, len, "other bits at", at);
            if (at < 8) CHECK_HAS(e.msg, "magic");
            b[at] ^= some[s];
        }
    }
}
TEST(every_bit) { each_image(with_other_bits); }

static void with_other_lengths(unsigned i, int form, uint8_t *b, uint64_t len)
{
    uint8_t *longer = calloc(1, len + 4096);
    const uint64_t step = form == COMPACT ? 1 : 61 + len / 200;
    for (uint64_t l = 0; l < len; l += l < 300 || l % 4096 > 4080 ? 1 : step) {
        refused(i, b, l, "cut to", l);
        CHECK_HAS(e.msg, l < 8 ? "it has only " : "truncated: ");
    }
    memcpy(longer, b, len);
    for (uint64_t more = 1; more <= 4096; more += more < (form == COMPACT ? 100 : 10) ? 1 : 499)
        refused(i, longer, len + more, "longer by", more);
    CHECK_HAS(e.msg, "is too long");
    free(longer);
}
TEST(every_length) { each_image(with_other_lengths); }

/* Each byte and length of one with a page. */
static void in_files(unsigned i, int form, uint8_t *b, uint64_t len)
{
    uint8_t *longer = calloc(2, len);
    const uint64_t step = form == COMPACT ? 29 : i == ODD ? 1 : len / 8;
    for (uint64_t at = 0; at < len; at += step) {
        b[at] ^= 0x10;
        file_refused(i, form, b, len, "byte changed at", at);
        b[at] ^= 0x10;
        file_refused(i, form, b, at, "cut to", at);
    }
    memcpy(longer, b, len);
    for (uint64_t more = 1; more <= len; more += (i == ODD ? 300 : step) + 2)
        file_refused(i, form, longer, len + more, "longer by", more);
    memcpy(longer + len, b, len);
    file_refused(i, form, longer, 2 * len, "twice", len);
    free(longer);
    unlink(path);
}
TEST(files_with_other_bytes_and_lengths) { each_image(in_files); }

TEST(secrets)
{
    NEEDS_SODIUM;
    static const struct {
        unsigned row;
        bf_spec asked;
        int code;
        const char *says;
    } said[] = { { ODD, { KEYED }, BF_EMISMATCH, "is not keyed" },
        { ODD, { .secret = secret, .secret_len = 15 }, BF_EINVAL,
            "must be 16 bytes, got 15 bytes" },
        { 8, { 0 }, BF_EMISMATCH, "its secret must be given" },
        { 8, { .secret = another, .secret_len = 16 }, BF_EMISMATCH, "another secret" },
        { 18, { 0 }, BF_EMISMATCH, "its secret must be given" },
        { 18, { .secret = another, .secret_len = 16 }, BF_EMISMATCH, "another secret" } };
    for (size_t i = 0; i < COUNT(said); i++)
        for (int form = COMPACT; form <= PAGED; form++) {
            uint64_t len;
            bf_filter *f = made(said[i].row);
            uint8_t *b = image_of(f, form, &len);
            CHECK_NO_FILTER(bf_from_bytes(b, len, &said[i].asked, &e), said[i].code, said[i].says);
            free(b);
            bf_close(f);
        }
}

/* ---- streams: bf_image_wants says how much to read, from the headers alone ---- */
/* Reads an image that other bytes follow.  Returns how many bytes were read. */
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

static void by_wants(unsigned i, int form, uint8_t *b, uint64_t len)
{
    CHECK_EQ(read_by_wants(b, len), len);
    for (uint64_t n = 0; n < len; n += n < 300 ? 1 : 997) {
        const uint64_t wants = bf_image_wants(b, n);
        CHECK(wants > 0 && wants <= len - n);
    }
    CHECK_EQ(bf_image_wants(b, len), 0);
    if (form == PAGED) b[100] ^= 1; /* then the sum of the page is wrong */
    if (form == PAGED) CHECK_EQ(bf_image_wants(b, 4096), 0);
    b[7] ^= 1;
    CHECK_EQ(bf_image_wants(b, 8), 0);
}
TEST(the_length_of_a_stream_is_known_from_its_headers)
{
    each_image(by_wants);
    CHECK_EQ(bf_image_wants("", 0), 64);
    CHECK_EQ(bf_image_wants("x", 1), 0);
}

/* A file that is copied to a stream while it is rebuilt: a shadow follows the bits. */
TEST(a_shadow_may_follow_the_bits)
{
    static uint8_t bytes[1 << 20];
    bf_filter *f = OPEN(.m = 100000, .k = 5, .storage = path);
    CHECK(bf_add(f, "4", 1, &e) == 1);
    bf_filter *fresh = bf_rebuild_begin(f, &e);
    FILE *in = fopen(path, "rb");
    CHECK(fresh && in);
    const uint64_t len = fread(bytes, 1, sizeof bytes, in), bits = read_by_wants(bytes, len);
    CHECK(len > 4096 + 12504 && bits > 4096 && bits <= len / 2 + 4096);
    bf_filter *g = bf_from_bytes(bytes, bits, NULL, &e);
    CHECK(g && bf_test(g, "4", 1, &e) == 1);
    fclose(in);
    CLOSE(f, fresh, g);
    unlink(path);
}

/* A header page with valid sums that says it is 8 EiB long, and a compact header of 512 MiB. */
TEST(a_header_that_claims_too_much_wants_nothing)
{
    uint64_t len;
    bf_filter *f = made(0);
    uint8_t *b = image_of(f, PAGED, &len);
    memset(b + 64, 0x7f, 8);
    const uint64_t sum = XXH3_64bits(b + 24, 2048 - 24);
    memcpy(b + 16, &sum, 8);
    CHECK_EQ(bf_image_wants(b, 4096), 0);
    free(b);
    b = image_of(f, COMPACT, &len);
    b[36] = 1;
    CHECK_EQ(bf_image_wants(b, 64), 0);
    free(b);
    bf_close(f);
}

int main(void) { return main_in_folder(); }
