/* test_header.c - what a header says of the bits that follow it, asked of the function itself: a
 * source of words that counts who asks, and that lets another process begin to add meanwhile.
 * About core/format/header.c. */
#include "../../core/format/format.h"
#include "must.h"
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
    bf_filter *f = must(bf_open(&(bf_spec){ .m = M, .k = 3, .scheme = "classic" }, &e), __LINE__);
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

/* The largest m is one. */
TEST(the_largest_filter)
{
    static const uint64_t m[] = { BF_M_MAX, BF_M_MAX - 64 };
    for (size_t i = 0; i < 2; i++) {
        bf_params d, read;
        saved();
        CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e), 0);
        d.g.m = m[i];
        bf_header_new(page, &d);
        CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + m[i] / 8, &read, "this", &e), 0);
        CHECK_EQ(read.g.m, m[i]);
    }
}

/* Each field's bytes are its own: none is read with its neighbour's. */
TEST(what_is_written_is_read)
{
    bf_params d, read;
    saved();
    CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &d, "this", &e), 0);
    d.secret_check = UINT64_MAX;
    d.g.n = 12345;
    bf_header_new(page, &d);
    CHECK_EQ(bf_header_read(page, BF_HEADER, BF_HEADER + sizeof bits, &read, "this", &e), 0);
    CHECK(read.secret_check == UINT64_MAX && read.g.n == 12345 && read.g.k == 3);
    CHECK(read.scheme == d.scheme && read.g.m == M && read.g.p == d.g.p);
}

int main(void) { return main_of_tests(); }
