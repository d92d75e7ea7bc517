/* test_file_durable.c - mapped files keep what was acknowledged: the mark that a saved file is
 * written in place is on disk before a bit is.  About core/home/file.c, core/home/file_parts.c. */
/* wraps: msync pread */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include "chain_bytes.h"
#include "numbers.h"
#include "one_folder.h"

enum { DIRTY = 2048, CLEAN = 2056, MOST = 1 << 20 };
static uint8_t saved[MOST], now[MOST];
static const bf_spec kinds[] = { { .n = 1000, .p = 0.01 },
    { .n = 1000, .p = 0.01, .counting = true }, { .n = 100, .p = 0.01, .grow = 2 },
    { .n = 100, .p = 0.01, .window = 1e9 } };
enum { KINDS = COUNT(kinds), KEYS = 5000 };

static bf_filter *open_it(const char *storage, bool counting)
{
    return OPEN(.storage = storage, .counting = counting);
}
static size_t get_file(uint8_t *b)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, b, MOST);
    close(fd);
    CHECK(n >= PAGE && n < MOST);
    return (size_t)n;
}
static bf_filter *in_memory(const bf_spec *s)
{
    bf_filter *f = MADE(s);
    add_numbers(f, 0, s->grow != 0 ? KEYS : 100);
    return f;
}
static void save_it(const bf_spec *s)
{
    bf_filter *f = in_memory(s);
    CHECK_EQ(bf_save(f, path, &e), 0);
    bf_close(f);
}

/* ---- the mark ---- */
static int marks, syncs, sync_errno, sync_fails_at; /* the n-th from now, 0: none */
static bool watched;
/* The dirty word of the first page, or of a part's. */
static bool is_mark(size_t at, size_t len)
{
    for (size_t page = 0; page < len;
        page += PAGE + (page || !(now[29] & 7) ? get(now + page + 64, 8) : 0))
        if (at >= page + DIRTY && at < page + CLEAN) return true;
    return false;
}

static void compare_bits(void)
{
    const size_t len = get_file(now);
    for (size_t i = 0; i < len; i++) {
        if (now[i] == saved[i]) continue;
        if (!is_mark(i, len)) {
            CHECK(!"a bit was there first");
            break;
        }
        marks++;
    }
    memcpy(saved, now, len);
}

REPLACED(int, msync, (void *p, size_t n, int how))
{
    syncs++;
    if (watched) compare_bits();
    if (sync_errno || (sync_fails_at && --sync_fails_at == 0)) {
        errno = sync_errno ? sync_errno : EIO;
        return -1;
    }
    return __real_msync(p, n, how);
}

static int64_t add_one(bf_filter *f) { return bf_add(f, "new", 3, &e); }
static int64_t (*const writes[])(bf_filter *) = { add_one, add_two, clear, unite };

TEST(the_mark_is_on_disk_before_any_bit)
{
    for (size_t k = 0; k < KINDS; k++)
        for (size_t w = 0; w < COUNT(writes); w++) {
            save_it(&kinds[k]);
            get_file(saved);
            bf_filter *f = open_it(path, kinds[k].counting);
            const bf_info info = info_of(f);
            marks = syncs = 0;
            watched = true;
            CHECK(writes[w](f) >= 0);
            const int pages =
                kinds[k].grow != 0 || kinds[k].window != 0 ? 1 + (int)info.part_count : 1;
            CHECK(syncs == pages && marks >= pages);
            CHECK(add_two(f) >= 0);
            CHECK_EQ(syncs, pages); /* once is enough */
            watched = false;
            bf_close(f);
            unlink(path);
        }
}

/* docs/format.md: the number, and its complement above it. */
TEST(the_mark_is_the_next_number)
{
    save_it(kinds);
    bf_filter *f = open_it(path, false);
    get_file(saved);
    CHECK_EQ(get(saved + DIRTY, 8), get(saved + CLEAN, 8));
    CHECK(add_one(f) >= 0 && add_two(f) >= 0);
    get_file(now);
    CHECK_EQ((uint32_t)get(now + DIRTY, 8), (uint32_t)get(saved + DIRTY, 8) + 1);
    CHECK_EQ((uint32_t)~(get(now + DIRTY, 8) >> 32), (uint32_t)get(now + DIRTY, 8));
    CHECK_EQ(get(now + CLEAN, 8), get(saved + CLEAN, 8));
    bf_close(f);
    unlink(path);
}

TEST(a_mark_that_is_not_on_disk)
{
    for (size_t k = 0; k < KINDS; k++) {
        save_it(&kinds[k]);
        get_file(saved);
        bf_filter *f = open_it(path, kinds[k].counting);
        sync_errno = EIO;
        CHECK_REFUSED(add_one(f), BF_EIO, "cannot sync ");
        sync_errno = 0;
        CHECK_EQ(bf_test(f, "new", 3, &e), 0);
        bf_close(f);
        unlink(path);
    }
}

/* Each part has a page of its own: whichever cannot be marked, nothing is added, nor by the call
 * after it. */
TEST(a_part_whose_mark_is_not_on_disk)
{
    for (size_t kind = 2; kind < KINDS; kind++)
        for (size_t w = 0; w < 2; w++) {
            int at = 1;
            int64_t rc = BF_EIO;
            for (; at < 20 && rc < 0; at++) {
                save_it(&kinds[kind]);
                bf_filter *f = open_it(path, false);
                for (int again = 0; again < 2; again++) {
                    sync_fails_at = again ? 1 : at;
                    if ((rc = writes[w](f)) >= 0) break;
                    CHECK_EQ(rc, BF_EIO);
                    CHECK_HAS(e.msg, "cannot sync ");
                    CHECK_EQ(bf_test(f, "new", 3, &e), 0);
                }
                sync_fails_at = 0;
                CHECK(writes[w](f) >= 0 && bf_test(f, "new", 3, &e) == 1);
                bf_close(f);
                unlink(path);
            }
            CHECK(at >= 4 && at < 20); /* of the whole, and of parts */
        }
}

/* Another handle may have set the mark and still wait for the disk. */
TEST(each_handle_waits_for_the_mark)
{
    for (size_t k = 0; k < KINDS; k++) {
        save_it(&kinds[k]);
        bf_filter *f = open_it(path, kinds[k].counting), *g = open_it(path, kinds[k].counting);
        syncs = 0;
        CHECK(add_one(f) >= 0);
        const int pages = syncs;
        CHECK(pages > 0 && add_one(g) >= 0);
        CHECK_EQ(syncs, 2 * pages);
        CHECK(add_two(g) >= 0 && add_two(f) >= 0);
        CHECK_EQ(syncs, 2 * pages);
        bf_close(f);
        f = open_it(path, kinds[k].counting);
        sync_errno = EIO;
        CHECK_EQ(add_two(f), BF_EIO);
        sync_errno = 0;
        CHECK(add_two(g) >= 0);
        CLOSE(f, g);
        unlink(path);
    }
}

/* ---- loading while others write ---- */
static bf_filter *writer;
static int read_page, read_bits; /* the writer adds so many keys before that is read */
REPLACED(ssize_t, pread, (int fd, void *b, size_t n, off_t at))
{
    int *const many = at == 0 ? &read_page : n == PAGE ? NULL : &read_bits;
    const int keys = writer && many ? *many : 0;
    if (keys) {
        *many = 0;
        add_numbers(writer, 0, keys);
    }
    return __real_pread(fd, b, n, at);
}

TEST(loaded_while_others_begin_to_write)
{
    for (size_t k = 0; k < KINDS; k++)
        for (int when = 0; when < 2; when++) {
            const bool counting = kinds[k].counting;
            save_it(&kinds[k]);
            get_file(saved);
            writer = open_it(path, counting);
            *(when ? &read_bits : &read_page) = kinds[k].grow != 0 ? 8 * KEYS : 200;
            e = (bf_error){ 0 };
            bf_filter *f = bf_load(path, &(bf_spec){ .counting = counting }, &e);
            CHECK(f && read_page == 0 && read_bits == 0);
            if (!f)
                fprintf(stderr, "  kind %zu, %d: %s\n", k, when, e.msg);
            else
                CHECK_EQ(found(f, 0, 100), 100);
            CLOSE(f, writer);
            writer = NULL;
            unlink(path);
        }
}

int main(void) { return main_in_folder(); }
