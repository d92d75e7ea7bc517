/* test_chain.c - growing and forgetting filters at their edges: files that are too long, a filter
 * that can grow no more, others who grew it a moment ago, clocks that fail.  What is wrong in their
 * headers: test_header.c.  About core/parts/chain.c, core/home/file_parts.c. */
#define _GNU_SOURCE
#include "../../core/bits/bits.h"
#include "../../core/parts/parts.h"
#include "chain_bytes.h"
#include "numbers.h"
#include "paged.h"

static char path[] = "/tmp/bf-edges-XXXXXX";

#define GROWS .n = 10, .p = 0.1, .grow = 2

enum { GROW, WINDOW };
static bf_filter *made(int kind)
{
    bf_filter *f = kind == GROW ? OPEN(GROWS) : OPEN(.n = 100, .p = 0.1, .window = 1e9, .parts = 3);
    add_numbers(f, 0, 5);
    return f;
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
/* A file longer than its parts is one that somebody was about to grow, or a wrong one; saved and
 * not written in place it is always wrong: test_image.c.  No room is taken for what is no part. */
TEST(files_that_are_too_long)
{
    for (int kind = GROW; kind <= WINDOW; kind++)
        for (int way = 0; way < 3; way++) { /* loaded, read, opened */
            uint64_t len;
            struct stat st;
            bf_filter *f = made(kind);
            uint8_t *b = paged_bytes(f, &len);
            put(b + 2048, 8, UINT64_C(0xFFFFFFFE00000001)); /* dirty: somebody was at it */
            put_file(path, b, len);
            CHECK_EQ(truncate(path, way ? 64 << 20 : (off_t)len + 10), 0);
            bf_filter *g = way ? bf_open(&(bf_spec){ .storage = path, .read_only = way == 1 }, &e)
                               : bf_load(path, NULL, &e);
            CHECK_EQ(g && bf_equal(f, g, &e) == 1, kind == GROW);
            if (!g) CHECK_HAS(e.msg, "is too long");
            CHECK(stat(path, &st) == 0 && st.st_blocks * 512 < 1 << 20);
            CLOSE(f, g);
            free(b);
            unlink(path);
        }
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
        CHECK_EQ(bf_add_many(f, &(bf_key){ "a", 1 }, 1, NULL, &e), want);
        CHECK_EQ(bf_hashcode(f, "a", 1, pos, 20, &e), want);
        CHECK_EQ(bf_get_state(f, &state, &e), want);
        CHECK_EQ(bf_unite(f, g, &e), want);
    }
    now_is = 1000;
    CHECK_EQ(found(f, 0, 10), 10);
    CLOSE(f, g);
}

int main(void)
{
    close(mkstemp(path));
    unlink(path);
    run_tests();
    return FINISH();
}
