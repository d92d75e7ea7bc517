/* test_descriptor.c - a program closes the descriptors of its open filters, as libraries that make
 * daemons do, and the numbers lead to other files afterwards: no other file is read, written, cut
 * or closed, no key is lost, and every error has one sentence.  About core/home/descriptor.c. */
#define _GNU_SOURCE
#include "every_call.h"
#include "file_kinds.h"
#include "numbers.h"

enum { KEYS = 500, FIRST = 3, LAST = 40, LOG = 100000 };
static char log_path[64], twin_path[64];
static const char said[] = "the program closed its file descriptor: open the filter again";

static bf_filter *open_one(size_t kind, bool exclusive, const char *at)
{
    bf_spec s = spec_of(kind, exclusive);
    s.storage = at;
    return MADE(&s);
}

/* ---- what the numbers lead to by then ---- */
static bf_filter *twin; /* another filter of the same kind */

static void take_numbers(const char *at, int flags)
{
    while (true) {
        const int fd = open(at, flags | O_CREAT | O_CLOEXEC, 0600);
        if (fd <= LAST) continue;
        close(fd);
        return;
    }
}
static void nothing(size_t kind, bool exclusive) {}
static void the_log(size_t kind, bool exclusive) { take_numbers(log_path, O_RDWR); }
static void another_filter(size_t kind, bool exclusive)
{
    twin = open_one(kind, exclusive, twin_path);
    take_numbers(twin_path, O_RDWR);
}
static void (*const reuses[])(size_t, bool) = { nothing, the_log, another_filter };
enum { REUSES = COUNT(reuses) };

/* ---- what is refused then: all but what never looks at the file, or is not of that kind ---- */
static bool is_refused(size_t call, const bf_spec *kind)
{
    const bool parts = kind->grow != 0 || kind->window != 0;
    const int is = every_call[call].is;
    return !(is & (ONE_KEY | NO_FILE)) && (!(is & ONE_PART) || (!parts && !kind->scheme)) &&
           (!(is & COUNTS) || kind->counting) && (!(is & OF_PARTS) || parts);
}

/* Single keys never look at the descriptor, but those of an older scheme do, as batches, and a
 * filter that has to grow. */
static void add_singly(bf_filter *f, const bf_spec *kind)
{
    int64_t rc = 0;
    for (int i = 0; rc >= 0 && i < (kind->grow != 0 ? 200 : 4) * KEYS; i++)
        rc = bf_add(f, &(int){ 100000 + i }, sizeof(int), &e);
    CHECK(kind->grow != 0 || kind->scheme ? rc == BF_EIO && strstr(e.msg, said) : rc >= 0);
    CHECK_EQ(bf_test(f, &(int){ 0 }, sizeof(int), &e), kind->scheme ? BF_EIO : 1);
}

static void fill_log(void)
{
    static const char text[LOG] = "what the program writes";
    FILE *log = fopen(log_path, "w");
    CHECK(log && fwrite(text, 1, LOG, log) == LOG && fclose(log) == 0);
}
static void check_log(void)
{
    static char text[LOG + 1];
    FILE *log = fopen(log_path, "r");
    CHECK(log != NULL);
    CHECK_EQ(fread(text, 1, sizeof text, log), LOG);
    CHECK(strcmp(text, "what the program writes") == 0);
    for (size_t i = strlen(text); i < LOG; i++)
        if (text[i]) CHECK(!"the log was written to");
    fclose(log);
}

static void one_case(size_t kind, bool exclusive, size_t reuse)
{
    struct stat before, after;
    bf_filter *f = sure(kind, exclusive);
    fill_log();
    e = (bf_error){ 0 };
    add_numbers(f, 0, KEYS);
    if (e.code) fprintf(stderr, "kind %zu: %s\n", kind, e.msg);
    bf_filter *o = must(bf_copy(f, &e), __LINE__);
    for (int fd = FIRST; fd <= LAST; fd++) close(fd);
    CHECK_EQ(stat(path, &before), 0);
    twin = NULL;
    reuses[reuse](kind, exclusive);
    for (size_t c = 0; c < EVERY_CALL; c++) {
        if (!is_refused(c, &kinds[kind])) continue;
        const int before = failed_here;
        CHECK_REFUSED((int)every_call[c].run(f, o), BF_EIO, said);
        if (failed_here > before) fprintf(stderr, "  ... kind %zu, %s\n", kind, every_call[c].name);
    }
    add_singly(f, &kinds[kind]);
    CLOSE(f, o);
    for (int fd = FIRST; reuse && fd <= LAST; fd++) CHECK(fcntl(fd, F_GETFD) >= 0);
    CHECK(stat(path, &after) == 0 && before.st_size == after.st_size);
    check_log();
    if (twin) {
        add_numbers(twin, 0, KEYS);
        CHECK(bf_sync(twin, &e) == 0);
        bf_close(twin);
    }
    f = sure(kind, false);
    CHECK_EQ(found(f, 0, KEYS), KEYS);
    bf_close(f);
    if (reuse)
        for (int fd = FIRST; fd <= LAST; fd++) close(fd);
    unlink(path);
    unlink(log_path);
    unlink(twin_path);
    CHECK_EQ(files(), 0);
}

TEST(other_files_are_left_alone)
{
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < REUSES; i++) {
            one_case(k, false, i);
            one_case(k, true, i);
        }
}

/* A rebuild that is open: its shadow would be made, written and cut in another file. */
TEST(in_the_middle_of_a_rebuild)
{
    for (size_t i = 0; i < REUSES; i++) {
        bf_filter *f = sure(0, false);
        fill_log();
        add_numbers(f, 0, KEYS);
        bf_filter *fresh = must(bf_rebuild_begin(f, &e), __LINE__);
        add_numbers(fresh, 1000, KEYS);
        for (int fd = FIRST; fd <= LAST; fd++) close(fd);
        twin = NULL;
        reuses[i](0, false);
        CHECK_REFUSED(bf_rebuild_end(f, fresh, &e), BF_EIO, said);
        CHECK_REFUSED(bf_rebuild_cancel(f, fresh, &e), BF_EIO, said);
        CLOSE(fresh, f);
        check_log();
        bf_close(twin);
        for (int fd = FIRST; i && fd <= LAST; fd++) CHECK(close(fd) == 0 || twin);
        f = sure(0, false);
        CHECK_EQ(found(f, 0, KEYS), KEYS);
        bf_close(f);
        unlink(path);
        unlink(log_path);
        unlink(twin_path);
    }
    CHECK_EQ(files(), 0);
}

int main(void)
{
    make_folder();
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(twin_path, sizeof twin_path, "%s/twin", folder);
    return main_in_folder();
}
