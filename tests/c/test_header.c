/* test_header.c - what a header says of the bits that follow it, asked of the function itself: a
 * source of words that counts who asks, and that lets another process begin to add meanwhile.  And
 * headers whose checksums are right and whose values are not; docs/format.md has the offsets. About
 * core/format/header.c, core/format/compact.c. */
#include "../../core/format/format.h"
#include "chain_bytes.h"
#include "folder.h"
#include "numbers.h"
#include "optional.h"
#include "paged.h"

enum { DIRTY = 2048, WORDS = 10, M = 630, LAST = (WORDS - 1) * 64 };
static _Alignas(8) uint8_t page[BF_HEADER];
static uint64_t bits[WORDS];
static int asked, begins_at, fails_at;

static void begin_to_add(void)
{
    const uint64_t next = UINT64_C(0xFFFFFFFE00000001);
    memcpy(page + DIRTY, &next, 8);
}
static const uint64_t *counted(void *from, uint64_t at, uint64_t n)
{
    CHECK(from == bits && at + n <= WORDS);
    if (++asked == fails_at) return NULL;
    if (asked == begins_at) begin_to_add();
    return bits + at;
}

/* A filter of M bits, as it was saved. */
static void saved(void)
{
    uint64_t len;
    bf_filter *f = OPEN(.m = M, .k = 3, .scheme = "classic");
    for (int i = 0; i < 20; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
    uint8_t *b = paged_bytes(f, &len);
    CHECK_EQ(len, sizeof page + sizeof bits);
    memcpy(page, b, sizeof page);
    memcpy(bits, b + sizeof page, sizeof bits);
    free(b);
    bf_close(f);
    begins_at = fails_at = 0;
}
static int verify(void)
{
    asked = 0;
    e = (bf_error){ 0 };
    return bf_header_verify_of(page, counted, bits, WORDS, "this", &e);
}
static void flip(unsigned i) { ((uint8_t *)bits)[i / 8] ^= 0x80 >> i % 8; }

TEST(every_bit_is_summed)
{
    for (unsigned i = 0; i < M; i++) {
        saved();
        flip(i);
        CHECK_REFUSED(verify(), BF_EFORMAT, "this is damaged: the bits' checksum does not match");
        flip(i);
        CHECK_EQ(verify(), 0);
        CHECK_EQ(asked, 2); /* the last word, and all */
    }
}

TEST(no_bit_past_m)
{
    for (unsigned i = M; i < LAST + 64; i++) {
        saved();
        begin_to_add(); /* looked at in every file */
        CHECK_EQ(verify(), 0);
        flip(i);
        CHECK_REFUSED(verify(), BF_EFORMAT, "this is damaged: a bit past m is set");
    }
}

/* The sum of a file that somebody adds to is nothing that one can wait for. */
TEST(a_file_in_use_is_not_summed)
{
    saved();
    begin_to_add();
    flip(5);
    CHECK_EQ(verify(), 0);
    CHECK_EQ(asked, 1);
    saved();
    flip(5);
    begins_at = 2;
    CHECK_EQ(verify(), 0);
    CHECK_EQ(asked, 2);
}

TEST(what_cannot_be_read)
{
    for (fails_at = 1; fails_at <= 2; fails_at++) {
        const int at = fails_at;
        saved();
        fails_at = at;
        CHECK_EQ(verify(), BF_EIO);
        CHECK_EQ(asked, at);
    }
}

/* One bit more in the sequence numbers, or one less, is damage. */
TEST(sequence_numbers)
{
    for (unsigned at = DIRTY; at < DIRTY + 16; at++) {
        bf_params d;
        saved();
        CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e), 0);
        page[at] ^= 1;
        CHECK_REFUSED(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e),
            BF_EFORMAT, "this is damaged");
    }
}

/* However often it was begun: the sum of the page leaves that number out, all of it. */
TEST(a_page_that_is_in_use)
{
    static const uint32_t numbers[] = { 1, 1 << 8, 1 << 16, 1 << 24, UINT32_MAX };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const uint64_t dirty = (uint64_t)~numbers[i] << 32 | numbers[i];
        bf_params d;
        saved();
        memcpy(page + DIRTY, &dirty, 8);
        CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e), 0);
    }
}

/* Each field's bytes are its own: none is read with its neighbour's.  The largest m is one. */
TEST(what_is_written_is_read)
{
    static const uint64_t m[] = { M, BF_M_MAX, BF_M_MAX - 64 };
    for (size_t i = 0; i < COUNT(m); i++) {
        bf_params d, read;
        const uint64_t len = BF_HEADER + (m[i] + 63) / 64 * 8;
        saved();
        CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e), 0);
        d.secret_check = UINT64_MAX;
        d.g.n = 12345;
        d.g.m = m[i];
        bf_header_new(page, &d);
        CHECK_EQ(bf_header_read(page, BF_HEADER, len, &read, "this", &e), 0);
        CHECK(read.secret_check == UINT64_MAX && read.g.n == 12345 && read.g.k == 3);
        CHECK(read.scheme == d.scheme && read.g.m == m[i] && read.g.p == d.g.p);
    }
}

/* ---- values that are wrong, under checksums that are right ---- */
static const uint8_t secret[] = "0123456789abcdef";
enum {
    GROW,
    WINDOW,
    FIXED,
    SHARDED,
    GROWS,
    FORGETS,
    SAX,
    GOZERO,
    JAVA7,
    GUAVA,
    GENERATION,
    TEN, /* from here on without a page */
    KEYED,
    CUT,
    LONG,
    SMALL,
    FIRST = PAGE, /* the page of the first part */
    LIVE = 6      /* bytes of a live word, which has its own check */
};
static const bf_spec made[] = {
    [GROW] = { .n = 10, .p = 0.1, .grow = 2 },
    [WINDOW] = { .n = 100, .p = 0.1, .window = 1e9, .parts = 3 },
    [FIXED] = { .m = 1000, .k = 3 },
    [SHARDED] = { .m = 1024, .k = 3, .shards = 2 },
    [GROWS] = { .n = 1000, .p = 0.01, .grow = 2 },
    [FORGETS] = { .n = 1000, .p = 0.01, .window = 60 },
    [SAX] = { .m = 6400, .k = 2, .scheme = "sax-sdbm" },
    [GOZERO] = { .m = 6400, .k = 14, .scheme = "gozero" },
    [JAVA7] = { .m = 6400, .k = 7, .scheme = "java7" },
    [GUAVA] = { .m = 6400, .k = 7, .scheme = "guava" },
    [GENERATION] = { .n = 2000, .p = 0.001 },
    [TEN] = { .n = 10, .p = 0.01 },
    [KEYED] = { .m = 512, .k = 5, .scheme = "block", .secret = secret, .secret_len = 16 },
    [CUT] = { .m = 1024, .k = 3, .scheme = "classic", .shards = 4 },
    [LONG] = { .m = 800, .n = 40, .scheme = "guava:long" },
    [SMALL] = { .n = 10, .p = 0.01, .grow = 2 },
};
/* Doubles. */
#define ONE UINT64_C(0x3FF0000000000000)
#define HALF UINT64_C(0x3FE0000000000000)
#define TWO UINT64_C(0x4000000000000000)
#define NEARLY_ONE UINT64_C(0x3FEFFF2E48E8A71E)
#define TINY UINT64_C(0x01A56E1FC2F8F359)
#define BILLIONTH UINT64_C(0x3E112E0BE826D695)
#define INFINITE UINT64_C(0x7FF0000000000000)
static const struct {
    int kind;
    unsigned at, bytes;
    uint64_t value;
    const char *says;
} wrong[] = {
    { GROW, 144, 8, 0, "grow is out of range" },
    { GROW, 144, 8, INFINITE, "grow is out of range" },
    { WINDOW, 144, 8, ONE, "grow is out of range" },
    { WINDOW, 152, 8, 0, "window is out of range" },
    { WINDOW, 152, 8, INFINITE, "window is out of range" },
    { GROW, 152, 8, ONE, "window is out of range" },
    { GROW, 160, 4, 1, "parts is out of range" },
    { WINDOW, 160, 4, 0, "parts is out of range" },
    { WINDOW, 160, 4, 256, "parts is out of range" },
    { GROW, 2080, 8, 0, "the state of a part is invalid" },
    { GROW, 2080, LIVE, 0, "its number of parts is out of range" },
    { GROW, 2080, LIVE, (uint64_t)-1, "its number of parts is out of range" },
    { GROW, 2080, LIVE, BF_PARTS_MAX + 1, "its number of parts is out of range" },
    { GROW, 2080, LIVE, 2, "its part 1 is missing" },
    { GROW, 164, 1, 1, "a reserved byte is set" },
    { WINDOW, 2047, 1, 1, "a reserved byte is set" },
    { GROW, 2088, 1, 1, "a reserved byte is set" },
    { GROW, 28, 4, 0x300, "uses features (flags 768" },
    { GROW, 28, 4, 0x110, "uses features (flags 272" },
    { GROW, 28, 4, 0x2000, "uses features" },
    { GROW, 52, 4, 4, "its length field does not fit m" },
    { FIXED, 52, 4, 2, "uses features (flags 0, 2 bits per position)" },
    { FIXED, 144, 1, 1, "a reserved byte is set" },
    { FIXED, 196, 1, 1, "a reserved byte is set" },
    { FIXED, 2000, 1, 1, "a reserved byte is set" },
    { FIXED, 2100, 1, 1, "a reserved byte is set" },
    { FIXED, 192, 4, 2, "its shards do not fit m" },
    { FIXED, 192, 4, 1, "its shards do not fit m" },
    { SHARDED, 192, 4, 0, "its shards do not fit m" },
    { SHARDED, 192, 4, 3, "its shards do not fit m" },
    { SHARDED, 192, 4, 5000, "its shards do not fit m" },
    { FIXED, 56, 8, UINT64_MAX, "p is out of range" },
    { FIXED, 56, 8, TWO, "p is out of range" },
    { FIXED, 40, 8, 0, "n is out of range" },
    { FIXED, 40, 8, UINT64_MAX, "n is out of range" },
    { FIXED, 48, 4, 0, "k is out of range" },
    { FIXED, 48, 4, 4097, "k is out of range" },
    { FIXED, 32, 8, 0, "m is out of range" },
    { FIXED, 32, 8, BF_M_MAX * 2, "m is out of range" },
    { FIXED, 72, 8, 1, "secret check and flags disagree" },
    { FIXED, 28, 4, 1, "secret check and flags disagree" },
    { FIXED, 64, 8, 8, "its length field does not fit m" },
    { FIXED, 12, 4, 8192, "bad version or header size" },
    { FIXED, 8, 4, 0, "bad version or header size" },
    { FIXED, 8, 4, 3, "has format version 3" },
    { FIXED, 24, 4, 999, "has scheme number 999" },
    { FIXED, 80, 1, 'C', "scheme name and number disagree" },
    { FIXED, 143, 1, 'x', "scheme name and number disagree" },
    { FIXED, 2056, 8, 5, "a sequence number is invalid" },
    { FIXED, 2048, 8, 5, "a sequence number is invalid" },
    { GENERATION, 2080, LIVE, 1 << 16, "its generation is invalid" }, /* of a clean file */
    { GROW, FIRST + 28, 4, 0, "a part does not belong to it" },
    { GROW, FIRST + 160, 4, 1, "a part does not belong to it" },
    { GROW, FIRST + 48, 4, 1, "a part does not belong to it" },
    { GROW, FIRST + 12, 4, 1, "bad version or header size" },
    { WINDOW, FIRST + 160, 4, 2, "a part does not belong to it" },
    { WINDOW, FIRST + 40, 8, 0, "n is out of range" },
    { WINDOW, FIRST + 2080, LIVE, UINT64_C(1) << 45, "later than the newest" },
    { WINDOW, FIRST + 2080, LIVE, 1, "belongs in another part" },
    { WINDOW, 2080, LIVE, UINT64_C(1) << 46, "is out of range" },
    { GROW, FIRST + 2088, 1, 1, "a reserved byte is set" },
    /* sizes that no spec makes, and that would make gigabytes of one add */
    { GROWS, 40, 8, 1000000, "is not what n=1000000" },
    { GROWS, 40, 8, BF_N_MAX, "is not what" },
    { GROWS, 56, 8, TINY, "is not what" },
    { GROWS, 56, 8, NEARLY_ONE, "is not what" },
    { GROWS, 48, 4, 1, "is not what" },
    { GROWS, FIRST + 40, 8, 1, "its part 0 has n=1" },
    { GROWS, FIRST + 40, 8, 100000, "its part 0 has n=100000" },
    { GROWS, FIRST + 56, 8, TINY, "its part 0" },
    { GROWS, FIRST + 56, 8, HALF, "its part 0" },
    { FORGETS, 40, 8, 1000000, "is not what n=1000000" },
    { FORGETS, 56, 8, BILLIONTH, "is not what" },
    { FORGETS, FIRST + 40, 8, 1, "its part 0 has n=1" },
    { FORGETS, FIRST + 56, 8, HALF, "its part 0" },
    /* what a scheme does not allow */
    { SAX, 48, 4, 3, "" },
    { GOZERO, 48, 4, 13, "" },
    { JAVA7, 48, 4, 8, "" },
    { GUAVA, 48, 4, 256, "" },
    { GUAVA, 24, 4, 26, "" },
    { GUAVA, 32, 8, 6399, "" },
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
    { TEN, 56, 8, TWO, "p is out of range" },
    { KEYED, 64, 8, 0, "secret check and flags disagree" },
    { CUT, 64, 8, 3, "its shards do not fit m" },
    { CUT, 64, 8, UINT64_C(1) << 32 | 4, "a reserved byte is set" },
    { CUT, 64, 8, 1, "its shards do not fit m" },
    { LONG, 64, 1, 'x', "scheme name and number disagree" },
    { LONG, 79, 1, 'x', "scheme name and number disagree" },
    { SMALL, 64, 8, 0, "grow is out of range" },
    { SMALL, 72, 8, 1, "the state of a part is invalid" },
    { SMALL, 28, 4, 0x300, "bad header size" },
};

static uint8_t *image_of(int kind, uint64_t *len)
{
    bf_filter *f = MADE(&made[kind]);
    for (int i = 0; i < 5; i++) CHECK(bf_add(f, &"01234"[i], 1, &e) >= 0);
    uint8_t *b = kind < TEN ? paged_bytes(f, len) : malloc(*len = info_of(f).image_bytes);
    if (kind >= TEN) CHECK_EQ(bf_to_bytes(f, b, *len, &e), 0);
    bf_close(f);
    return b;
}
/* The checksum of a header without a page is over the bits that m says. */
static void mend_compact(uint8_t *b, uint64_t len, int kind)
{
    const uint64_t m = get(b + 32, 8);
    uint64_t end = kind == SMALL ? 80 : len;
    if (kind == TEN && m * b[52] < 512) end = 64 + (m * b[52] + 63) / 64 * 8;
    put(b + 16, 8, XXH3_64bits(b + 24, end - 24));
}
static void is_refused(const uint8_t *b, uint64_t len, int kind, const char *says)
{
    const bf_spec *keyed = kind == KEYED ? &made[KEYED] : NULL;
    CHECK_NO_FILTER(bf_from_bytes(b, len, keyed, &e), BF_EFORMAT, says);
    put_file(path, b, len);
    CHECK(!bf_load(path, keyed, &e) && e.code == BF_EFORMAT);
    if (kind < TEN) CHECK(!bf_open(&(bf_spec){ .storage = path }, &e) && e.code == BF_EFORMAT);
    unlink(path);
}

TEST(values_with_right_sums)
{
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const int before = failed_here, kind = wrong[i].kind;
        if (kind == KEYED && lacks_sodium()) continue;
        uint64_t len;
        uint8_t *b = image_of(kind, &len), *at = b + wrong[i].at;
        if (kind < TEN) { /* mending alone changes nothing */
            mend(b);
            bf_close(must(bf_from_bytes(b, len, NULL, &e), __LINE__));
        }
        if (wrong[i].bytes == LIVE)
            put(at, 8, live((int64_t)wrong[i].value));
        else
            put(at, wrong[i].bytes, wrong[i].value);
        if (kind < TEN)
            mend(b + wrong[i].at / PAGE * PAGE);
        else
            mend_compact(b, len, kind);
        is_refused(b, len, kind, wrong[i].says);
        if (failed_here > before) fprintf(stderr, "  ... row %zu\n", i);
        free(b);
    }
}

/* A scheme that does not fit: a filter that has parts, a part, a number, an argument. */
TEST(names_with_right_sums)
{
    static const struct {
        int kind;
        unsigned page, id;
        const char *name, *says;
    } rows[] = {
        { GROW, 0, 25, "guava", "its scheme has no parts" },
        { GROW, FIRST, 1, "classic", "a part does not belong to it" },
        { GUAVA, 0, 25, "guava:nope", "" },
        { GUAVA, 0, 26, "guava32:", "" },
        { SAX, 0, 24, "php-hashes:JS,FNV", "" },
        { SAX, 0, 24, "php-hashes", "" },
        { SAX, 0, 16, "sax-sdbm:x", "" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t len;
        uint8_t *b = image_of(rows[i].kind, &len), *page = b + rows[i].page;
        put(page + 24, 4, rows[i].id);
        memset(page + 80, 0, 64);
        memcpy(page + 80, rows[i].name, strlen(rows[i].name));
        mend(page);
        is_refused(b, len, rows[i].kind, rows[i].says);
        free(b);
    }
}

/* A part alone; a header with a page before a part without one, and the other way round; a bit past
 * m; a window's part of another size. */
TEST(what_no_filter_writes)
{
    static const char mixed_says[] = "some of its parts have a header page and some have not";
    uint64_t len, paged_len;
    uint8_t mixed[PAGE * 4] = { 0 }, *b = image_of(SMALL, &len);
    bf_filter *f = must(bf_from_bytes(b, len, NULL, &e), __LINE__);
    uint8_t *paged = paged_bytes(f, &paged_len);
    bf_close(f);
    CHECK_NO_FILTER(bf_from_bytes(paged + FIRST, paged_len - FIRST, NULL, &e), BF_EFORMAT,
        "is one part of a filter, not all of it");
    memcpy(mixed, b, 80);
    memcpy(mixed + 80, paged + PAGE, paged_len - PAGE);
    is_refused(mixed, 80 + paged_len - PAGE, SMALL, mixed_says);
    memset(mixed, 0, sizeof mixed);
    memcpy(mixed, paged, PAGE);
    memcpy(mixed + PAGE, b + 80, len - 80);
    is_refused(mixed, paged_len, SMALL, mixed_says);
    free(paged);
    free(b);
    f = OPEN(.m = 1001, .k = 5, .scheme = "classic");
    CHECK_EQ(bf_to_bytes(f, mixed, len = info_of(f).image_bytes, &e), 0);
    bf_close(f);
    mixed[len - 1] ^= 1;
    put(mixed + 16, 8, XXH3_64bits(mixed + 24, len - 24));
    is_refused(mixed, len, TEN, "a bit past m is set");
    b = image_of(WINDOW, &len);
    put(b + FIRST + 32, 8, get(b + FIRST + 32, 8) - 512); /* its bits then end a line earlier */
    put(b + FIRST + 64, 8, get(b + FIRST + 64, 8) - 64);
    mend(b);
    mend(b + FIRST);
    is_refused(b, len, WINDOW, "a part does not belong to it");
    free(b);
}

int main(void) { return main_in_folder(); }
