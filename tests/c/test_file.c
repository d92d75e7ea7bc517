/* test_file.c - mapped files: several handles on one file, readers, a file that is overwritten, a
 * full disk.  Wrong files: test_image.c; kill -9: test_killed.c.  BF_SMALL_DISK names a small file
 * system to fill.  About core/home/file.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter_host.h"
#include "numbers.h"
#include "one_folder.h"
#include "paged.h"
#include "native.h"

#define MAPPED(...) OPEN(.storage = path, __VA_ARGS__)
static int add(bf_filter *f, const char *who, unsigned i)
{
    char t[48];
    return bf_add(f, t, (size_t)sprintf(t, "%s-%u", who, i), &e);
}
static int has(bf_filter *f, const char *who, unsigned i)
{
    char t[48];
    return bf_test(f, t, (size_t)sprintf(t, "%s-%u", who, i), &e);
}

static const char *refused(bf_spec s, int code)
{
    memset(&e, 0, sizeof e);
    if (!s.storage) s.storage = path;
    bf_filter *f = bf_open(&s, &e);
    if (f) {
        FAILED("opened\n");
        bf_close(f);
    }
    CHECK_EQ(e.code, code);
    return e.msg;
}

TEST(handles_share_every_bit)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_filter *a = MAPPED(.m = 100000, .k = 7, .scheme = native_scheme(s)),
                  *b = MAPPED(.m = 100000, .k = 7, .scheme = native_scheme(s)), *c = MAPPED(0);
        for (unsigned i = 0; i < 500; i++) {
            add(a, "a", i);
            add(b, "b", i);
        }
        for (unsigned i = 0; i < 500; i++)
            CHECK(has(c, "a", i) && has(c, "b", i) && has(a, "b", i));
        const bf_info i = info_of(c);
        CHECK(!strcmp(i.home, "file") && !strcmp(i.storage, path) && i.k == 7 && !i.read_only);
        bf_filter *copy = must(bf_copy(a, &e), __LINE__),
                  *loaded = must(bf_load(path, NULL, &e), __LINE__);
        CHECK(bf_equal(copy, c, &e) == 1 && bf_equal(loaded, copy, &e) == 1);
        CHECK_EQ(bf_sync(a, &e), 0);
        CLOSE(a, b, c);
        a = MAPPED(0);
        CHECK_EQ(bf_equal(a, copy, &e), 1);
        CHECK_EQ(bf_clear(a, &e), 0);
        CHECK_EQ(bf_unite(a, copy, &e), 0);
        CHECK_EQ(bf_equal(a, copy, &e), 1);
        CLOSE(a, copy, loaded);
        gone();
    }
}

/* Of every kind: it follows who writes, and refuses all that would change it. */
TEST(read_only)
{
    static const bf_spec kinds[] = { { .m = 10000, .k = 3 },
        { .m = 10000, .k = 3, .counting = true }, { .n = 100, .p = 0.01, .grow = 2 },
        { .n = 1000, .p = 0.01, .window = 1e9 } };
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (int rights = 0; rights < 2; rights++) {
            bf_spec spec = kinds[i], reads = { .counting = spec.counting };
            spec.storage = reads.storage = path;
            reads.read_only = !rights;
            bf_filter *f = MADE(&spec);
            if (rights) CHECK_EQ(chmod(path, 0444), 0); /* then it is not asked for */
            bf_filter *r = MADE(&reads), *copy;
            for (unsigned j = 0; j < 1000; j++) add(f, "x", j);
            for (unsigned j = 0; j < 1000; j++) CHECK_EQ(has(r, "x", j), 1);
            CHECK_REFUSED(add(r, "x", 2), BF_ENOTSUP, "nothing can be added or changed");
            CHECK_HAS(e.msg, path);
            CHECK_EQ(bf_add_many(r, NULL, 0, NULL, &e), BF_ENOTSUP);
            CHECK_EQ(bf_clear(r, &e), BF_ENOTSUP);
            CHECK_EQ(bf_unite(r, f, &e), spec.grow != 0 && spec.counting ? BF_EINVAL : BF_ENOTSUP);
            if (i < 2) CHECK_EQ(bf_intersect(r, f, &e), BF_ENOTSUP);
            if (spec.counting) CHECK_EQ(bf_remove(r, "x-1", 3, &e), BF_ENOTSUP);
            CHECK_EQ(bf_sync(r, &e), 0);
            CHECK((copy = bf_copy(r, &e)) && bf_equal(copy, f, &e) == 1 && add(copy, "y", 1) >= 0);
            CLOSE(r, f, copy);
            gone();
        }
    CHECK_HAS(refused((bf_spec){ .m = 10, .k = 1, .read_only = true }, BF_ENOENT), "No such file");
}

/* cp over a mapped file: same inode, same size, other filter.  Seen at the next batch, at the next
 * opening by bf_is_current. */
TEST(overwritten_in_place)
{
    uint64_t len;
    bf_error why;
    bf_key one = { "a", 1 };
    bf_filter *other = OPEN(.m = 1000, .k = 8);
    uint8_t *image = paged_bytes(other, &len);
    bf_filter *f = MAPPED(.m = 1000, .k = 4);
    add(f, "x", 1);
    int fd = open(path, O_WRONLY);
    CHECK(pwrite(fd, image, len, 0) == (ssize_t)len);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path }, &e), 0);
    CHECK_EQ(bf_is_current(f, NULL, &e), 0);
    CHECK_EQ(bf_test_many(f, &one, 1, NULL, &why), BF_EFORMAT);
    CHECK_HAS(why.msg, "was overwritten while it was open");
    CHECK_EQ(bf_add_many(f, &one, 1, NULL, &e), BF_EFORMAT);
    bf_close(f);
    f = MAPPED(.m = 1000, .k = 8); /* nothing was written to it meanwhile */
    free(image);
    CLOSE(f, other);
    close(fd);
    gone();
}

TEST(a_full_disk)
{
    const char *disk = getenv("BF_SMALL_DISK");
    if (!disk) SKIP("no small disk given: BF_SMALL_DISK");
    char there[PATH_MAX];
    snprintf(there, sizeof there, "%s/f.bloom", disk);
    CHECK_HAS(refused((bf_spec){ .storage = there, .m = UINT64_C(1) << 33, .k = 1 }, BF_EIO),
        "No space left on device");
    CHECK_EQ(e.sys_errno, ENOSPC);
    CHECK_EQ(files_in(disk), 0);
    bf_filter *big = OPEN(.m = UINT64_C(1) << 28, .k = 1);
    CHECK_EQ(bf_save(big, there, &e), BF_EIO);
    CHECK_EQ(e.sys_errno, ENOSPC);
    CHECK_EQ(files_in(disk), 0);
    const bf_spec grows = { .n = 1000, .p = 0.01, .grow = 2, .storage = there };
    bf_filter *f = MADE(&grows), *g;
    unsigned i = 0;
    while (add(f, "k", i) >= 0 && i < 2000000) i++;
    CHECK(e.code == BF_EIO && strstr(e.msg, "cannot allocate space to grow in"));
    CHECK((g = bf_open(&grows, &e)) && add(g, "k", 5) == BF_PRESENT);
    for (unsigned j = 0; j < i; j++) CHECK(has(g, "k", j) == 1); /* all before it stands */
    CLOSE(f, g);
    unlink(there);
    bf_close(big);
}

int main(void) { return main_in_folder(); }
