/* test_windows.c - what is Windows' own: names in UTF-8, files that are open, locks. */
#include "../../core/bloomfilter_host.h"
#include "../c/helpers/check.h"

static bf_error e;
static char folder[] = "/tmp/bf-windows-XXXXXX", path[80], other[80];

static bf_filter *open_it(const bf_spec *s)
{
    bf_filter *f = bf_open(s, &e);
    if (!f) FAILED("%s\n", e.msg);
    return f;
}
static bf_filter *create(void)
{
    return open_it(&(bf_spec){ .n = 1000, .p = 0.01, .storage = path });
}

TEST(names_in_utf_8)
{
    char name[96];
    snprintf(name, sizeof name, "%s\\f\xC3\xA9\xE4\xB8\xAD.bloom", folder);
    bf_filter *f = open_it(&(bf_spec){ .n = 1000, .p = 0.01, .storage = name });
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    bf_close(f);
    f = open_it(&(bf_spec){ .storage = name });
    CHECK_EQ(bf_test(f, "a", 1, &e), 1);
    bf_close(f);
    CHECK_EQ(unlink(name), 0);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = "\xFF" }, &e), BF_EIO, "cannot open");
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = name }, &e), BF_ENOENT, "No such file");
}

TEST(a_folder_is_no_file)
{
    CHECK_NO_FILTER(bf_load(folder, NULL, &e), BF_EIO, "it is a directory");
    CHECK_NO_FILTER(bf_load("NUL", NULL, &e), BF_EIO, "not a regular file");
}

TEST(an_open_file_keeps_its_name_and_bytes)
{
    bf_filter *f = create(), *g = open_it(&(bf_spec){ .n = 1000, .p = 0.01 });
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK_REFUSED(bf_save(g, path, &e), BF_EBUSY, "is open for writing in this process");
    CHECK(unlink(path) < 0 && errno == EBUSY);
    CHECK(rename(path, other) < 0 && errno == EBUSY);
    bf_close(f);
    f = open_it(&(bf_spec){ .storage = path, .read_only = true });
    CHECK_REFUSED(bf_save(g, path, &e), BF_EIO, "a program has it open");
    CHECK_EQ(bf_test(f, "a", 1, &e), 1);
    bf_close(f);
    CHECK_EQ(bf_save(g, path, &e), 0);
    f = create();
    CHECK_EQ(bf_test(f, "a", 1, &e), 0);
    CLOSE(f, g);
    CHECK_EQ(unlink(path), 0);
}

TEST(no_rebuild_of_a_mapped_file)
{
    bf_filter *f = create();
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK_NO_FILTER(bf_rebuild_begin(f, &e), BF_ENOTSUP, "cannot be rebuilt");
    CHECK_EQ(bf_add(f, "b", 1, &e), BF_ADDED);
    bf_close(f);
    CHECK((f = create()) && bf_test(f, "a", 1, &e) == 1 && bf_test(f, "b", 1, &e) == 1);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK_EQ(bf_test(f, "a", 1, &e), 0);
    bf_close(f);
    CHECK_EQ(unlink(path), 0);
}

TEST(one_exclusive_writer)
{
    const bf_spec alone = { .n = 1000, .p = 0.01, .storage = path, .exclusive = true };
    char pid[32];
    snprintf(pid, sizeof pid, "(pid %d)", (int)getpid());
    bf_filter *f = create();
    for (int i = 0; i < 3; i++)
        CHECK(bf_add(f, "abc" + i, 1, &e) == BF_ADDED && bf_sync(f, &e) == 0);
    CHECK_NO_FILTER(bf_open(&alone, &e), BF_EBUSY, "has a writer");
    CHECK_HAS(e.msg, pid);
    bf_close(f);
    bf_filter *g = open_it(&alone);
    f = create();
    CHECK_REFUSED(bf_add(f, "x", 1, &e), BF_EBUSY, "has an exclusive writer");
    CHECK_HAS(e.msg, pid);
    CHECK_EQ(bf_test(f, "a", 1, &e), 1);
    bf_close(g);
    CHECK_EQ(bf_add(f, "x", 1, &e), BF_ADDED);
    bf_close(f);
    CHECK_EQ(unlink(path), 0);
}

/* As in a program without a console: the file gets descriptor 0, and then a number above 2. */
TEST(one_exclusive_writer_without_standard_streams)
{
    const bf_spec alone = { .n = 1000, .p = 0.01, .storage = path, .exclusive = true };
    const int input = _dup(0);
    close(0);
    for (int i = 0; i < 2; i++) { /* the second f has the number that the first one had */
        bf_filter *g = open_it(&alone), *f = create();
        CHECK_REFUSED(bf_add(f, "x", 1, &e), BF_EBUSY, "has an exclusive writer");
        bf_close(g);
        CHECK(bf_add(f, "x", 1, &e) >= 0);
        bf_close(f);
    }
    CHECK_EQ(unlink(path), 0);
    CHECK(input < 0 || (_dup2(input, 0) == 0 && close(input) == 0));
}

TEST(a_relative_name_after_chdir)
{
    char before[200];
    CHECK(_getcwd(before, sizeof before) && chdir(folder) == 0);
    bf_filter *f = open_it(&(bf_spec){ .n = 100, .p = 0.01, .grow = 2, .storage = "f.bloom" });
    CHECK_EQ(chdir(before), 0);
    char key[8];
    for (int i = 0; i < 2000; i++)
        CHECK(bf_add(f, key, (size_t)snprintf(key, sizeof key, "%d", i), &e) >= 0);
    CHECK_EQ(bf_sync(f, &e), 0);
    bf_close(f);
    CHECK((f = open_it(&(bf_spec){ .storage = path })) && bf_test(f, "1999", 4, &e) == 1);
    bf_close(f);
    CHECK_EQ(unlink(path), 0);
}

int main(void)
{
    MAKE_FOLDER(folder);
    snprintf(path, sizeof path, "%s/f.bloom", folder);
    snprintf(other, sizeof other, "%s/g.bloom", folder);
    run_tests();
    CHECK_EQ(rmdir(folder), 0);
    return FINISH();
}
