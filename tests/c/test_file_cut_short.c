/* test_file_cut_short.c - a mapped file that somebody cuts short while all of it is read: after
 * its length was looked at, and before its last pages are.  About core/home/file.c. */
/* wraps: fstat */
#define _GNU_SOURCE
#include "../../core/format/format.h"
#include "folder.h"
#include "check.h"

static bf_error e;
static void (*after_fstat)(void);
REPLACED(int, fstat, (int fd, struct stat *st))
{
    void (*now)(void) = after_fstat;
    const int rc = __real_fstat(fd, st);
    after_fstat = NULL;
    if (now) now();
    return rc;
}

static void cut_short(void)
{
    struct stat st;
    CHECK(stat(path, &st) == 0 && truncate(path, st.st_size - 2 * BF_HEADER) == 0);
}

/* The living part of the five is the last one: what is forgotten is not read. */
static double fourth_epoch(void *none) { return 4 * 250000.0 + 1; }

static bf_filter *of_kind(int kind, const char *storage)
{
    bf_spec spec = { .n = 100000, .p = 0.01, .storage = storage };
    spec.counting = kind == 1;
    spec.grow = kind == 2 ? 2 : 0;
    spec.window = kind == 3 ? 1e6 : 0;
    spec.clock = kind == 3 ? fourth_epoch : NULL;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) {
        fprintf(stderr, "%s\n", e.msg);
        exit(1);
    }
    for (int i = 0; i < 100; i++) CHECK_EQ(bf_add(f, &i, sizeof i, &e), BF_ADDED);
    return f;
}

/* Whoever reads all of a mapped file gets an error, and no SIGBUS, however late it was cut. */
TEST(a_file_that_is_cut_while_it_is_read)
{
    static uint8_t bytes[1 << 21];
    for (int op = 0; op < 7; op++)
        for (int kind = 0; kind < 4; kind++) {
            bf_filter *f = of_kind(kind, path), *g = of_kind(kind, NULL), *made = NULL;
            bf_info info;
            bf_state st;
            int rc = 0;
            bf_get_info(f, &info);
            e = (bf_error){ 0 };
            after_fstat = cut_short;
            if (op == 0) rc = bf_save(f, other, &e);
            if (op == 1) rc = bf_to_bytes(f, bytes, sizeof bytes, &e);
            if (op == 2) rc = (made = bf_copy(f, &e)) ? 0 : e.code;
            if (op == 3) rc = bf_unite(g, f, &e);
            if (op == 4) rc = bf_equal(f, g, &e);
            if (op == 5) rc = bf_get_state(f, &st, &e);
            if (op == 6) rc = bf_read_bits(f, 0, bytes, (size_t)info.bitset_bytes, &e);
            CHECK(!after_fstat);
            CHECK(rc < 0 && e.code == BF_EFORMAT);
            CHECK_HAS(e.msg, "truncated");
            CLOSE(made, f, g);
            CHECK_EQ(unlink(path), 0);
        }
}

int main(void) { return main_in_folder(); }
