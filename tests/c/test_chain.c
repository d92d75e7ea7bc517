/* test_chain.c - growing and forgetting filters at their edges: headers whose sums are right and
 * whose values are not, files that change under the map, a filter that can grow no more, others
 * who grew it a moment ago, clocks that fail. docs/format.md has the offsets.  About
 * core/parts/chain.c, core/home/file_parts.c. */
#define _GNU_SOURCE
#include "../../core/bits/bits.h"
#include "../../core/parts/parts.h"
#include "chain_bytes.h"
#include "numbers.h"
#include "paged.h"

static char path[] = "/tmp/bf-edges-XXXXXX";

#define OPEN(...) must(bf_open(&(bf_spec){ __VA_ARGS__ }, &e), __LINE__)
#define GROWS .n = 10, .p = 0.1, .grow = 2

/* ---- headers ---- */
enum { GROW, WINDOW, FIXED, SHARDED, FIRST = PAGE }; /* FIRST: the page of the first part */
static const struct {
    int made;
    unsigned at, bytes;
    uint64_t value;
    const char *says;
} wrong[] = {
    { GROW, 144, 8, 0, "grow is out of range" },
    { WINDOW, 144, 8, 1, "grow is out of range" },
    { WINDOW, 152, 8, 0, "window is out of range" },
    { GROW, 152, 8, 1, "window is out of range" },
    { GROW, 160, 4, 1, "parts is out of range" },
    { WINDOW, 160, 4, 0, "parts is out of range" },
    { WINDOW, 160, 4, 256, "parts is out of range" },
    { GROW, 2080, 8, 0, "the state of a part is invalid" },
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
    { FIXED, 56, 8, UINT64_C(0x4000000000000000), "p is out of range" },
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
    { GROW, FIRST + 28, 4, 0, "a part does not belong to it" },
    { GROW, FIRST + 160, 4, 1, "a part does not belong to it" },
    { GROW, FIRST + 48, 4, 1, "a part does not belong to it" },
    { GROW, FIRST + 12, 4, 1, "bad version or header size" },
    { WINDOW, FIRST + 160, 4, 2, "a part does not belong to it" },
    { WINDOW, FIRST + 40, 8, 0, "n is out of range" },
    { GROW, FIRST + 2088, 1, 1, "a reserved byte is set" },
};

static bf_filter *made(int kind)
{
    bf_filter *f = kind == GROW     ? OPEN(GROWS)
                   : kind == WINDOW ? OPEN(.n = 100, .p = 0.1, .window = 1e9, .parts = 3)
                   : kind == FIXED  ? OPEN(.m = 1000, .k = 3)
                                    : OPEN(.m = 1024, .k = 3, .shards = 2);
    add_numbers(f, 0, 5);
    return f;
}

TEST(headers_with_right_sums)
{
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const int before = failed_here;
        uint64_t len, value = wrong[i].value;
        bf_filter *f = made(wrong[i].made), *g;
        uint8_t *b = paged_bytes(f, &len), *page = b + wrong[i].at / PAGE * PAGE;
        mend(page);
        CHECK((g = bf_from_bytes(b, len, NULL, &e)) &&
              bf_equal(f, g, &e) == 1); /* mending alone changes nothing */
        bf_close(g);
        if (wrong[i].bytes == 8 && wrong[i].at % PAGE >= 144 && wrong[i].at % PAGE < 160)
            value = real((double)value);
        put(b + wrong[i].at, wrong[i].bytes, value);
        mend(page);
        e = (bf_error){ 0 };
        CHECK(!(g = bf_from_bytes(b, len, NULL, &e)));
        CHECK_EQ(e.code, BF_EFORMAT);
        CHECK_HAS(e.msg, wrong[i].says);
        if (failed_here > before) fprintf(stderr, "  ... row %zu\n", i);
        CLOSE(g, f);
        free(b);
    }
}

/* How many parts a growing filter says that it has, in its live word, which carries its own check.
 */
TEST(numbers_of_parts)
{
    static const struct {
        int64_t parts;
        const char *says;
    } rows[] = { { 0, "its number of parts is out of range" },
        { -1, "its number of parts is out of range" },
        { BF_PARTS_MAX + 1, "its number of parts is out of range" },
        { 2, "its part 1 is missing" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t len;
        bf_filter *f = made(GROW);
        uint8_t *b = paged_bytes(f, &len);
        put(b + 2080, 8, live(rows[i].parts));
        mend(b);
        CHECK_NO_FILTER(bf_from_bytes(b, len, NULL, &e), BF_EFORMAT, rows[i].says);
        bf_close(f);
        free(b);
    }
}

/* Infinite factors, windows; a window's part of another size; a part cut short, or alone. */
TEST(values_past_reason)
{
    uint64_t len;
    bf_filter *f = made(GROW);
    uint8_t *b = paged_bytes(f, &len);
    CHECK_NO_FILTER(bf_from_bytes(b + FIRST, len - FIRST, NULL, &e), BF_EFORMAT,
        "is one part of a filter, not all of it");
    put(b + 144, 8, real(INFINITY));
    mend(b);
    CHECK(!bf_from_bytes(b, len, NULL, &e));
    CHECK_HAS(e.msg, "grow is out of range");
    put(b + 144, 8, real(2));
    mend(b);
    for (uint64_t cut = 1; cut < len; cut += 977) {
        CHECK_NO_FILTER(bf_from_bytes(b, len - cut, NULL, &e), BF_EFORMAT,
            len - cut < 8 ? "it has only" : "truncated");
    }
    bf_close(f);
    free(b);
    f = made(WINDOW);
    b = paged_bytes(f, &len);
    put(b + 152, 8, real(INFINITY));
    mend(b);
    CHECK(!bf_from_bytes(b, len, NULL, &e));
    CHECK_HAS(e.msg, "window is out of range");
    put(b + 152, 8, real(1e9));
    uint64_t m = f->bitmap.g.m;
    put(b + FIRST + 32, 8, m - 512); /* its bits then end a line earlier */
    put(b + FIRST + 64, 8, (m - 512) / 8);
    mend(b);
    mend(b + FIRST);
    CHECK(!bf_from_bytes(b, len, NULL, &e));
    CHECK_HAS(e.msg, "a part does not belong to it");
    bf_close(f);
    free(b);
}

/* Of another scheme: a whole that has no parts, and a part that the whole's does not fit. */
TEST(schemes_that_do_not_fit)
{
    uint64_t len;
    bf_filter *f = made(GROW);
    uint8_t *b = paged_bytes(f, &len), *copy = malloc(len);
    memcpy(copy, b, len);
    put(b + 24, 4, 25);
    memcpy(b + 80, "guava", 6);
    mend(b);
    CHECK_NO_FILTER(bf_from_bytes(b, len, NULL, &e), BF_EFORMAT, "its scheme has no parts");
    put(copy + FIRST + 24, 4, 1);
    memset(copy + FIRST + 80, 0, 8);
    memcpy(copy + FIRST + 80, "classic", 7);
    mend(copy + FIRST);
    CHECK_NO_FILTER(bf_from_bytes(copy, len, NULL, &e), BF_EFORMAT, "a part does not belong to it");
    bf_close(f);
    free(b);
    free(copy);
}

TEST(a_secret_is_wiped)
{
    bf_filter *f =
        bf_open(&(bf_spec){ .m = 512, .k = 3, .secret = "0123456789abcdef", .secret_len = 16 }, &e);
    if (!f && e.code == BF_ENOTSUP) SKIP("this build lacks libsodium");
    CHECK(f && !memcmp(f->secret, "0123456789abcdef", 16));
    bf_secret_wipe(f); /* as bf_close does */
    for (unsigned i = 0; i < 16; i++) CHECK_EQ(f->secret[i], 0);
    bf_close(f);
}

/* ---- files ---- */
TEST(files_of_other_lengths)
{
    uint64_t len;
    bf_filter *f = made(WINDOW), *g;
    uint8_t *b = paged_bytes(f, &len), *longer = calloc(1, len + 10);
    memcpy(longer, b, len);
    put_file(path, longer, len + 10);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = path }, &e), BF_EFORMAT, "is too long");
    CHECK_NO_FILTER(bf_load(path, NULL, &e), BF_EFORMAT, "is too long");
    bf_close(f);
    free(b);
    free(longer);
    f = made(GROW);
    b = paged_bytes(f, &len);
    longer = calloc(1, len + 10);
    memcpy(longer, b, len);
    put_file(path, longer, len + 10); /* saved, not written in place: nobody was about to grow it */
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = path }, &e), BF_EFORMAT, "is too long");
    for (uint64_t cut = 1; cut < len; cut += 977) {
        put_file(path, b, len - cut);
        CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = path }, &e), BF_EFORMAT,
            len - cut < 8 ? "it has only" : "truncated");
        CHECK(!bf_load(path, NULL, &e) && e.code == BF_EFORMAT);
    }
    put(longer + 2048, 8, UINT64_C(0xFFFFFFFE00000001)); /* dirty: somebody was */
    put_file(path, longer, len + 10);
    CHECK((g = bf_open(&(bf_spec){ .storage = path }, &e)) && bf_equal(f, g, &e) == 1);
    bf_close(g);
    CHECK((g = bf_load(path, NULL, &e)) && bf_equal(f, g, &e) == 1);
    CLOSE(g, f);
    free(b);
    free(longer);
    unlink(path);
}

/* The number of parts in the first page, broken under the map: an error, and no part is looked for
 * where none can be. */
TEST(a_number_of_parts_broken_under_the_map)
{
    bf_filter *f = OPEN(GROWS, .storage = path);
    bf_part_info part;
    bf_state state;
    add_numbers(f, 0, 5);
    int fd = open(path, O_RDWR);
    uint8_t word[8];
    CHECK(pread(fd, word, 8, 2080) == 8);
    for (int64_t parts = -1; parts <= BF_PARTS_MAX + 1; parts += BF_PARTS_MAX + 2) {
        uint8_t bad[8];
        put(bad, 8, live(parts));
        CHECK(pwrite(fd, bad, 8, 2080) == 8);
        CHECK_REFUSED(
            bf_get_state(f, &state, &e), BF_EFORMAT, "its number of parts is out of range");
    }
    CHECK_EQ(bf_get_part(f, 0, &part, &e), BF_EFORMAT);
    CHECK_EQ(bf_test(f, "a", 1, &e), BF_EFORMAT);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_EFORMAT);
    CHECK_EQ(bf_test_many(f, &(bf_key){ "a", 1 }, 1, NULL, &e), BF_EFORMAT);
    CHECK_EQ(bf_sync(f, &e), BF_EFORMAT);
    CHECK_EQ(bf_clear(f, &e), BF_EFORMAT);
    CHECK(!bf_copy(f, &e));
    bf_filter *memory = OPEN(GROWS);
    CHECK_EQ(bf_unite(f, memory, &e), BF_EFORMAT);
    CHECK_EQ(bf_unite(memory, f, &e), BF_EFORMAT);
    CHECK_EQ(bf_equal(f, memory, &e), BF_EFORMAT);
    CHECK_EQ(bf_equal(memory, f, &e), BF_EFORMAT);
    CHECK_EQ(bf_save(f, "/tmp/never", &e), BF_EFORMAT);
    CHECK(pwrite(fd, word, 8, 2080) == 8);
    CHECK_EQ(found(f, 0, 5), 5); /* mended: it goes on */
    close(fd);
    CLOSE(memory, f);
    unlink(path);
}

/* Cut short under the map: every call that looks says so. */
TEST(a_file_cut_short_under_the_map)
{
    bf_filter *f = OPEN(GROWS, .storage = path), *memory = OPEN(GROWS);
    bf_state state;
    uint64_t wait;
    uint8_t bytes[10];
    struct stat st;
    add_numbers(f, 0, 300);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(truncate(path, st.st_size - 5000), 0);
    CHECK_REFUSED(bf_get_state(f, &state, &e), BF_EFORMAT, "was truncated while it was open");
    CHECK_EQ(bf_to_bytes(f, &state, UINT64_MAX, &e), BF_EFORMAT);
    CHECK_EQ(bf_read_bits(f, 0, bytes, 10, &e), BF_EFORMAT);
    CHECK_EQ(bf_unite(f, memory, &e), BF_EFORMAT);
    CHECK_EQ(bf_unite(memory, f, &e), BF_EFORMAT);
    CHECK_EQ(bf_save(f, "/tmp/never", &e), BF_EFORMAT);
    CHECK_EQ(bf_clear(f, &e), BF_EFORMAT);
    CHECK(!bf_copy(f, &e));
    CLOSE(f, memory);
    unlink(path);
    bf_filter *fixed = OPEN(.m = 100000, .k = 3, .storage = path),
              *same = OPEN(.m = 100000, .k = 3);
    double count;
    add_numbers(fixed, 0, 3);
    CHECK_EQ(truncate(path, 5000), 0);
    CHECK_EQ(bf_saturated(fixed, &wait, &e), BF_EFORMAT);
    CHECK_EQ(bf_intersection_count(same, fixed, &count, &e), BF_EFORMAT);
    CHECK_EQ(bf_equal(same, fixed, &e), BF_EFORMAT);
    CHECK_EQ(bf_clear(fixed, &e), BF_EFORMAT);
    CHECK_EQ(bf_to_bytes_as(fixed, "bits", bytes, UINT64_MAX, &e), BF_EFORMAT);
    CLOSE(fixed, same);
    unlink(path);
    bf_filter *counts = OPEN(.m = 100000, .k = 3, .storage = path, .counting = true);
    CHECK_EQ(truncate(path, 5000), 0);
    CHECK(!bf_to_plain(counts, &e) && e.code == BF_EFORMAT);
    bf_close(counts);
    unlink(path);
}

/* ---- a filter that can grow no more ---- */
/* As if it had grown to all but the last bits: no part fits any more. The filter is full, but with
 * BF_OVERFULL_IGNORE the newest part takes what comes. */
TEST(a_filter_that_can_grow_no_more)
{
    for (int batch = 0; batch < 2; batch++) {
        bf_filter *f = OPEN(GROWS);
        bf_part *last = f->part[0];
        bf_key keys[200];
        int numbers[200];
        last->start = BF_M_MAX - last->bitmap.g.m;
        for (int i = 0; i < 200; i++) {
            numbers[i] = i;
            keys[i] = (bf_key){ numbers + i, sizeof *numbers };
        }
        CHECK_EQ(bf_add_many(f, keys, 200, NULL, &e), BF_EFULL);
        CHECK(e.key > 0 && e.key < 50 && found(f, 0, (int)e.key) == (int)e.key);
        f->overfull = BF_OVERFULL_IGNORE;
        if (batch)
            CHECK(bf_add_many(f, keys, 200, NULL, &e) > 50);
        else
            add_numbers(f, 0, 200);
        last->start = 0;
        const bf_info info = info_of(f);
        CHECK_EQ(info.part_count, 1);
        CHECK_EQ(found(f, 0, 200), 200);
        bf_close(f);
    }
}

/* ---- others who grew it a moment ago ---- */
/* Between the look at the file and the add: the key is set in what was the newest part, and a later
 * one has it already. */
TEST(keys_that_another_added_a_moment_ago)
{
    bf_filter *f = OPEN(GROWS, .storage = path), *g = OPEN(GROWS, .storage = path);
    uint8_t answer[2] = { 0, 0 };
    bf_span span = { .n = 2, .width = 1, .answer = answer };
    int numbers[2] = { 299, 100000 };
    add_numbers(g, 0, 300);
    CHECK_EQ(bf_parts_count(f), 1);
    for (uint16_t i = 0; i < 2; i++) {
        f->hash->one(f->secret, numbers + i, sizeof *numbers, span.d + i);
        span.key[i] = i;
    }
    f->part[0]->bitmap.g.n = 1000000; /* as it looked when there was room */
    CHECK_EQ(f->variant->add(f, &span, &e), 0);
    CHECK_EQ(bf_parts_count(f), 2);
    CHECK_EQ(answer[0], 0); /* the other's */
    CHECK_EQ(answer[1], 1);
    CLOSE(f, g);
    unlink(path);
}

/* The child of a fork finds the lock held by a thread of its parent that it does not have. */
TEST(a_lock_that_a_parent_held)
{
    bf_filter *f = OPEN(GROWS);
    bf_int_store_release(&f->lock_holder, INT_MAX); /* a process that never is this one */
    add_numbers(f, 0, 300);
    CHECK_EQ(found(f, 0, 300), 300);
    CHECK_EQ(bf_int_load_acquire(&f->lock_holder), 0);
    bf_close(f);
}

/* ---- clocks ---- */
static double now_is;
static double clock_of(void *unused) { return now_is; }
TEST(clocks_that_fail_in_every_call)
{
    bf_filter *f = OPEN(.n = 100, .p = 0.01, .window = 40, .clock = clock_of),
              *g = must(bf_copy(f, &e), __LINE__);
    uint64_t pos[20];
    bf_state state;
    now_is = 1000;
    add_numbers(f, 0, 10);
    CHECK_EQ(bf_hashcode(f, "a", 1, pos, 20, &e), f->bitmap.g.k);
    const bf_info info = info_of(f);
    for (unsigned i = 0; i < f->bitmap.g.k; i++) CHECK(pos[i] < info.m);
    for (int i = 0; i < 2; i++) {
        now_is = i ? 1e300 : NAN;
        const int want = i ? BF_EINVAL : BF_EHOST;
        CHECK_EQ(bf_test(f, "a", 1, &e), want);
        CHECK_HAS(e.msg, "clock");
        CHECK_EQ(bf_add(f, "a", 1, &e), want);
        CHECK_EQ(bf_test_many(f, &(bf_key){ "a", 1 }, 1, NULL, &e), want);
        CHECK_EQ(bf_hashcode(f, "a", 1, pos, 20, &e), want);
        CHECK_EQ(bf_get_state(f, &state, &e), want);
        CHECK_EQ(bf_unite(f, g, &e), want);
    }
    now_is = 1000;
    CHECK_EQ(found(f, 0, 10), 10);
    CLOSE(f, g);
}

/* What the other has of older epochs is forgotten, what is later than our clock counts. */
TEST(unions_of_windows)
{
    bf_filter *f = OPEN(.n = 100, .p = 0.01, .window = 40, .parts = 4, .clock = clock_of),
              *g = OPEN(.n = 100, .p = 0.01, .window = 40, .parts = 4, .clock = clock_of);
    now_is = 1000;
    add_numbers(g, 0, 10);
    now_is = 1030;
    add_numbers(g, 10, 10);
    now_is = 1060;
    add_numbers(f, 20, 10);
    CHECK_EQ(bf_equal(f, g, &e), 0);
    CHECK_EQ(bf_unite(f, g, &e), 0);
    CHECK_EQ(found(f, 0, 10), 0);
    CHECK_EQ(found(f, 10, 20), 20);
    now_is = 1085;
    CHECK_EQ(found(f, 10, 10), 0);
    CHECK_EQ(found(f, 20, 10), 10);
    CLOSE(f, g);
}

int main(void)
{
    close(mkstemp(path));
    unlink(path);
    run_tests();
    return FINISH();
}
