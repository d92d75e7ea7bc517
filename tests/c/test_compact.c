/* test_compact.c - images of few bits have no header page: round trips, every way they can be
 * wrong, and that only images with a page are opened as files.  About core/format/compact.c. */
#define XXH_INLINE_ALL
#include "../../core/bloomfilter_host.h"
#include "folder.h"
#include "check.h"
#include "optional.h"
#include "paged.h"
#include <xxhash.h>

static bf_error e;
static const char *const numbers[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
static double noon(void *ctx) { return 1700000000.5; }
static uint64_t twice(const void *key, size_t len)
{
    return len ? 31 * (uint64_t)*(const uint8_t *)key + len : 7;
}
static bf_function *const list[] = { twice };
static const bf_functions functions = { .count = 1, .function = list };
static const uint8_t secret[] = "0123456789abcdef";

/* head: of the image, the part's included where the filter has one; 0: it has pages */
static const struct {
    const char *name;
    bf_spec spec;
    unsigned head;
} rows[] = {
    { "ten keys", { .n = 10, .p = 0.01 }, 64 },
    { "ten keys, few false positives", { .n = 10, .p = 1e-6 }, 64 },
    { "one bit", { .m = 1, .k = 1 }, 64 },
    { "odd", { .m = 1001, .k = 5, .scheme = "classic" }, 64 },
    { "below 4 KiB", { .m = 32704, .k = 5, .scheme = "classic" }, 64 },
    { "4 KiB", { .m = 32705, .k = 5, .scheme = "classic" }, 0 },
    { "keyed", { .m = 512, .k = 5, .scheme = "block", .secret = secret, .secret_len = 16 }, 72 },
    { "counting", { .m = 1001, .k = 3, .counting = true }, 64 },
    { "counting, 4 KiB", { .m = 8177, .k = 3, .counting = true }, 0 },
    { "sharded", { .m = 1024, .k = 3, .scheme = "classic", .shards = 4 }, 72 },
    { "older", { .m = 800, .n = 40, .scheme = "guava:long" }, 80 },
    { "older, named alone", { .m = 800, .k = 4, .scheme = "redisson" }, 64 },
    { "functions", { .m = 800, .functions = &functions }, 72 },
    { "growing", { .n = 10, .p = 0.01, .grow = 2 }, 80 + 80 },
    { "forgetting", { .n = 10, .p = 0.01, .window = 60, .parts = 2, .clock = noon }, 88 + 3 * 80 },
    { "keyed and growing", { .n = 10, .p = 0.01, .grow = 2, .secret = secret, .secret_len = 16 },
        88 + 88 },
};
enum { ROWS = COUNT(rows) };

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

static bf_filter *made(unsigned i)
{
    bf_filter *f = bf_open(&rows[i].spec, &e);
    if (!f) {
        FAILED("%s: %s\n", rows[i].name, e.msg);
        exit(1);
    }
    for (int j = 0; j < 8; j++) CHECK(bf_add(f, numbers[j], 1, &e) >= 0);
    return f;
}

static uint8_t *bytes_of(bf_filter *f, uint64_t *len)
{
    const bf_info i = info_of(f);
    uint8_t *b = malloc(*len = i.image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, *len - 1, &e), BF_EINVAL);
    CHECK_EQ(bf_to_bytes(f, b, *len, &e), 0);
    CHECK_EQ(bf_bytes_as(f, NULL, &e), *len);
    return b;
}

static bf_filter *read_(unsigned i, const uint8_t *b, uint64_t len)
{
    const bf_spec spec = to_read(i);
    uint8_t *at =
        malloc(len + 1); /* at any address, and exactly that long: ASan sees a byte too far */
    memcpy(at + 1, b, len);
    bf_filter *f = bf_from_bytes(at + 1, len, &spec, &e);
    free(at);
    return f;
}

static void write_file(const uint8_t *b, uint64_t len)
{
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(write(fd, b, len) == (ssize_t)len);
    close(fd);
}

static void same(bf_filter *f, bf_filter *g, unsigned i)
{
    bf_info a, b;
    CHECK(g != NULL);
    if (!g) {
        fprintf(stderr, "%s: %s\n", rows[i].name, e.msg);
        return;
    }
    bf_get_info(f, &a);
    bf_get_info(g, &b);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    CHECK(a.m == b.m && a.n == b.n && a.k == b.k && a.p == b.p && !strcmp(a.scheme, b.scheme));
    CHECK(a.grow == b.grow && a.window == b.window && a.parts == b.parts && a.shards == b.shards);
    CHECK(a.counting == b.counting && a.keyed == b.keyed && a.part_count == b.part_count);
    for (int j = 0; j < 8; j++) CHECK_EQ(bf_test(g, numbers[j], 1, &e), 1);
    CHECK(bf_add(g, "9", 1, &e) >= 0);
    bf_close(g);
}

/* ---- what is right ---- */
TEST(round_trips)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i)) continue;
        uint64_t len, paged_len;
        bf_filter *f = made(i);
        const bf_info info = info_of(f);
        uint8_t *b = bytes_of(f, &len), *paged = paged_bytes(f, &paged_len);
        CHECK_EQ(b[8], rows[i].head ? 2 : 1);
        if (rows[i].head) {
            uint64_t bits = 0;
            bf_part_info part;
            for (unsigned j = 0; j < info.part_count; j++) {
                CHECK_EQ(bf_get_part(f, j, &part, &e), 0);
                bits += (part.m * (info.counting ? 4 : 1) + 63) / 64 * 8;
            }
            CHECK_EQ(len, rows[i].head + bits);
        } else
            CHECK(len == paged_len && !memcmp(b, paged, len));
        same(f, read_(i, b, len), i);
        same(f, read_(i, paged, paged_len), i); /* images with a page open as ever */
        free(paged);
        free(b);
        bf_close(f);
    }
    uint64_t len;
    bf_filter *ten = made(0);
    free(bytes_of(ten, &len));
    CHECK(len < 200);
    bf_close(ten);
    ten = made(1);
    free(bytes_of(ten, &len));
    CHECK(len < 200);
    bf_close(ten);
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
    CLOSE(g, f);
    unlink(path);
}

/* It cannot be mapped: nobody is told so by a copy that others do not see. */
TEST(an_image_in_a_file_is_not_opened)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i) || !rows[i].head) continue;
        uint64_t len, now_len;
        struct stat st;
        bf_spec spec = to_read(i);
        bf_filter *f = made(i);
        uint8_t *b = bytes_of(f, &len), now[8192];
        write_file(b, len);
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
        CHECK(fstat(fd, &st) == 0 && (now_len = (uint64_t)st.st_size) == len &&
              read(fd, now, sizeof now) == (ssize_t)len && !memcmp(now, b, now_len));
        close(fd);
        spec = to_read(i);
        bf_filter *g = bf_load(path, &spec, &e); /* what the command does */
        CHECK(g && bf_save(g, path, &e) == 0);
        bf_close(g);
        spec.storage = path;
        CHECK((g = bf_open(&spec, &e)) && bf_equal(f, g, &e) == 1 && bf_add(g, "77", 2, &e) >= 0);
        bf_close(g);
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

TEST(every_bit_and_every_length)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i) || !rows[i].head) continue;
        uint64_t len;
        bf_filter *f = made(i);
        uint8_t *b = bytes_of(f, &len), *longer = calloc(1, len + 4096);
        for (uint64_t at = 0; at < len; at += at < 400 ? 1 : 13)
            for (int bit = 0; bit < 8; bit++) {
                b[at] ^= (uint8_t)(1 << bit);
                refused(i, b, len, "bit flipped at", at);
                b[at] ^= (uint8_t)(1 << bit);
            }
        for (uint64_t at = 0; at < len; at += at < 400 ? 1 : 13) {
            b[at] ^= 0xFF;
            refused(i, b, len, "byte flipped at", at);
            b[at] ^= 0xFF;
            b[at] ^= 3; /* version 2 becomes 1 */
            refused(i, b, len, "two bits flipped at", at);
            b[at] ^= 3;
        }
        for (uint64_t l = 0; l < len; l++) refused(i, b, l, "cut to", l);
        memcpy(longer, b, len);
        for (uint64_t more = 1; more <= 4096; more += more < 100 ? 1 : 499)
            refused(i, longer, len + more, "longer by", more);
        free(longer);
        free(b);
        bf_close(f);
    }
}

/* The same of files, which are read in another way. */
static void file_refused(unsigned i, const uint8_t *b, uint64_t len, const char *what, uint64_t at)
{
    const bf_spec spec = to_read(i);
    write_file(b, len);
    bf_filter *f = bf_load(path, &spec, &e);
    if (f || e.code != BF_EFORMAT)
        FAILED("%s: file %s %llu: %s\n", rows[i].name, what, (unsigned long long)at,
            f ? "accepted" : e.msg);
    bf_close(f);
}

TEST(files_with_other_bytes_and_lengths)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (!can(i) || !rows[i].head) continue;
        uint64_t len;
        bf_filter *f = made(i);
        uint8_t *b = bytes_of(f, &len), *longer = calloc(2, len);
        for (uint64_t at = 0; at < len; at += 29) {
            b[at] ^= 0x10;
            file_refused(i, b, len, "byte changed at", at);
            b[at] ^= 0x10;
        }
        for (uint64_t l = 0; l < len; l += 17) file_refused(i, b, l, "cut to", l);
        memcpy(longer, b, len);
        for (uint64_t more = 1; more <= len; more += 31)
            file_refused(i, longer, len + more, "longer by", more);
        memcpy(longer + len, b, len);
        file_refused(i, longer, 2 * len, "twice", len);
        free(longer);
        free(b);
        bf_close(f);
    }
    unlink(path);
}

static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(v >> (8 * i));
}

/* With a right sum: the values are checked all the same. */
TEST(values_with_right_sums)
{
    enum { TEN = 0, KEYED = 6, SHARDED = 9, GUAVA = 10, GROWS = 13 };
    static const struct {
        unsigned row, at, bytes;
        uint64_t value;
        const char *says;
    } wrong[] = {
        { TEN, 12, 4, 63, "format version 2 has 64 to" },
        { TEN, 12, 4, 56, "format version 2 has 64 to" },
        { TEN, 12, 4, 65, "truncated" },
        { TEN, 12, 4, 0xFFFFFFFF, "truncated" },
        { TEN, 24, 4, 77, "scheme number 77" },
        { TEN, 28, 4, 2, "uses features (flags 2" },
        { TEN, 28, 4, 1, "bad header size" },
        { TEN, 32, 8, 0, "m is out of range" },
        { TEN, 32, 8, 511, "m is out of range" },
        { TEN, 32, 8, 32769, "m is too large for a header without a page" },
        { TEN, 32, 8, UINT64_C(1) << 62, "m is too large for a header without a page" },
        { TEN, 32, 8, 256, "m is out of range" },
        { TEN, 32, 8, 1024, "truncated: 128 bytes, m=1024 needs 192" },
        { TEN, 40, 8, 0, "n is out of range" },
        { TEN, 48, 4, 0, "k is out of range" },
        { TEN, 48, 4, 40, "k is out of range" },
        { TEN, 52, 4, 0, "uses features" },
        { TEN, 52, 4, 4, "truncated" },
        { TEN, 52, 4, 5, "m is too large for a header without a page" },
        { TEN, 56, 8, UINT64_C(0x4000000000000000), "p is out of range" },
        { KEYED, 64, 8, 0, "secret check and flags disagree" },
        { SHARDED, 64, 8, 3, "its shards do not fit m" },
        { SHARDED, 64, 8, UINT64_C(1) << 32 | 4, "a reserved byte is set" },
        { SHARDED, 64, 8, 1, "its shards do not fit m" },
        { GUAVA, 64, 1, 'x', "scheme name and number disagree" },
        { GUAVA, 79, 1, 'x', "scheme name and number disagree" },
        { GROWS, 64, 8, 0, "grow is out of range" },
        { GROWS, 72, 8, 1, "the state of a part is invalid" },
        { GROWS, 28, 4, 0x300, "bad header size" },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const unsigned row = wrong[i].row;
        const int before = failed_here;
        uint64_t len;
        if (!can(row)) continue;
        bf_filter *f = made(row), *g;
        uint8_t *b = bytes_of(f, &len);
        put(b + wrong[i].at, wrong[i].bytes, wrong[i].value);
        uint64_t end = row == GROWS ? 80 : len; /* the sum is over the bits that m says */
        const uint64_t m = wrong[i].at == 32 ? wrong[i].value : 512;
        if (row == TEN && m * b[52] < 512) end = 64 + (m * b[52] + 63) / 64 * 8;
        put(b + 16, 8, XXH3_64bits(b + 24, end - 24));
        CHECK_NO_FILTER((g = read_(row, b, len)), BF_EFORMAT, wrong[i].says);
        if (failed_here > before) fprintf(stderr, "  ... row %zu\n", i);
        bf_close(g);
        free(b);
        bf_close(f);
    }
}

/* Bits past m, under a right sum; a header with a page before a part without one, and the other way
 * round. */
TEST(what_no_filter_writes)
{
    uint64_t len, paged_len;
    bf_filter *f = made(3), *grows = made(13);
    uint8_t *b = bytes_of(f, &len), mixed[4096 * 4];
    b[len - 1] ^= 1;
    put(b + 16, 8, XXH3_64bits(b + 24, len - 24));
    refused(3, b, len, "a bit past m", len - 1);
    CHECK_HAS(e.msg, "a bit past m is set");
    free(b);
    b = bytes_of(grows, &len);
    uint8_t *paged = paged_bytes(grows, &paged_len);
    memcpy(mixed, b, 80);
    memcpy(mixed + 80, paged + 4096, paged_len - 4096);
    refused(13, mixed, 80 + paged_len - 4096, "a page after none", 0);
    CHECK_HAS(e.msg, "some of its parts have a header page and some have not");
    memcpy(mixed, paged, 4096);
    memset(mixed + 4096, 0, sizeof mixed - 4096);
    memcpy(mixed + 4096, b + 80, len - 80);
    refused(13, mixed, paged_len, "none after a page", 0);
    CHECK_HAS(e.msg, "some of its parts have a header page and some have not");
    free(paged);
    free(b);
    CLOSE(grows, f);
}

int main(void) { return main_in_folder(); }
