/* test_system.c - file systems and machines that are otherwise than this one: no O_TMPFILE, no
 * /proc, files that may only be read, names that are taken, files that end while they are read,
 * others who are faster.  What each call answers is decided here; test_failing_calls.c has calls
 * that fail once.  About core/base/files.c, core/base/path.c, core/base/os_linux.c. */
/* wraps: open linkat pread pwrite close flock sysinfo fstat msync */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "one_folder.h"
#include <sys/sysinfo.h>

/* ---- the calls: each asks its hook, which answers 0 (do it) or an errno; what is asked is left
 * alone otherwise ---- */
typedef int hook(const char *path, int flags);
static hook *on_open, *on_link, *on_lock, *on_stat;
static int close_errno, sync_errno;
static bool writes_nothing, no_sysinfo;
static off_t reads_to = -1; /* the file ends here */

REPLACED(int, open, (const char *path, int flags, ...))
{
    va_list ap;
    va_start(ap, flags);
    const int mode = va_arg(ap, int), fault = on_open ? on_open(path, flags) : 0;
    va_end(ap);
    if (fault) {
        errno = fault;
        return -1;
    }
    return __real_open(path, flags, mode);
}
REPLACED(int, linkat, (int d, const char *a, int e_, const char *b, int flags))
{
    const int fault = on_link ? on_link(a, flags) : 0;
    if (fault) {
        errno = fault;
        return -1;
    }
    return __real_linkat(d, a, e_, b, flags);
}
REPLACED(int, flock, (int fd, int how))
{
    hook *now = on_lock;
    const int fault = now && how & LOCK_EX ? now(NULL, how) : 0;
    if (fault) {
        errno = fault;
        return -1;
    }
    return __real_flock(fd, how);
}
REPLACED(int, fstat, (int fd, struct stat *st))
{
    const int fault = on_stat ? on_stat(NULL, fd) : 0;
    if (fault) {
        errno = fault;
        return -1;
    }
    return __real_fstat(fd, st);
}
REPLACED(ssize_t, pread, (int fd, void *buf, size_t n, off_t at))
{
    return reads_to >= 0 && at >= reads_to ? 0 : __real_pread(fd, buf, n, at);
}
REPLACED(ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t at))
{
    return writes_nothing ? 0 : __real_pwrite(fd, buf, n, at);
}
REPLACED(int, close, (int fd))
{
    const int rc = __real_close(fd);
    if (!close_errno) return rc;
    errno = close_errno;
    return -1;
}
REPLACED(int, msync, (void *p, size_t n, int flags))
{
    if (!sync_errno) return __real_msync(p, n, flags);
    errno = sync_errno;
    return -1;
}
int __real_sysinfo(struct sysinfo *i);
int __wrap_sysinfo(struct sysinfo *i);
int __wrap_sysinfo(struct sysinfo *i) { return no_sysinfo ? -1 : __real_sysinfo(i); }

static void as_ever(void)
{
    on_open = on_link = on_lock = on_stat = NULL;
    close_errno = sync_errno = 0;
    writes_nothing = no_sysinfo = false;
    reads_to = -1;
}

/* ---- what the tests share ---- */
static const bf_spec sized = { .m = 1000, .k = 3, .storage = path };
#define GROWS .n = 10, .p = 0.1, .grow = 2, .storage = path

#define OPEN(...) must(bf_open(&(bf_spec){ __VA_ARGS__ }, &e), __LINE__)

/* A filter is made, others find in it what was added; no other file is there. */
static void a_filter_can_be_made(void)
{
    bf_filter *f = bf_open(&sized, &e), *g = NULL;
    CHECK(f != NULL);
    if (!f) {
        fprintf(stderr, "     %s\n", e.msg);
        return;
    }
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    as_ever();
    CHECK((g = bf_open(&(bf_spec){ .storage = path }, &e)) && bf_test(g, "a", 1, &e) == 1);
    CHECK_EQ(files(), 1);
    CLOSE(f, g);
    gone();
}

static void none_can_be_made(int code, const char *says)
{
    e = (bf_error){ 0 };
    CHECK(!bf_open(&sized, &e));
    CHECK_EQ(e.code, code);
    CHECK_HAS(e.msg, says);
    CHECK(!bf_open(&sized, NULL));
    as_ever();
    CHECK_EQ(files(), 0);
}

/* ---- how a file comes to be ---- */
static int no_tmpfile(const char *p, int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : 0;
}

TEST(without_nameless_files)
{
    on_open = no_tmpfile;
    a_filter_can_be_made();
}

/* Said to exist when it is to be made, and not to when it is to be opened, for ever. */
static int exists(const char *p, int flags) { return EEXIST; }
TEST(a_file_that_comes_and_goes)
{
    on_link = exists;
    none_can_be_made(
        BF_EIO, "is created and deleted all the time: it could neither be opened nor created");
}

static int tries;
static int one_name_is_taken(const char *p, int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP
           : flags & O_EXCL && tries++ == 0 ? EEXIST
                                            : 0;
}
static int all_names_are_taken(const char *p, int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE ? EOPNOTSUPP : flags & O_EXCL ? EEXIST : 0;
}
static int may_not_write(const char *p, int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? EACCES : 0;
}
TEST(names_that_are_taken)
{
    tries = 0;
    on_open = one_name_is_taken;
    a_filter_can_be_made();
    CHECK_EQ(tries, 2);
    on_open = all_names_are_taken;
    none_can_be_made(BF_EIO, "cannot write");
    CHECK_HAS(e.msg, "File exists");
    on_open = may_not_write;
    e = (bf_error){ 0 };
    CHECK(!bf_open(&(bf_spec){ .m = 10, .k = 1, .storage = "/a-filter-in-the-root-folder" }, &e) &&
          e.sys_errno == EACCES);
    CHECK_HAS(e.msg, "cannot write /a-filter-in-the-root-folder: Permission denied");
    as_ever();
}

TEST(writes_that_write_nothing)
{
    writes_nothing = true;
    none_can_be_made(BF_EIO, strerror(EIO));
    writes_nothing = true;
    CHECK(!bf_open(&(bf_spec){ GROWS }, &e) && e.code == BF_EIO);
    as_ever();
    gone();
}

/* Relative paths, long ones, things that are no files. */
TEST(names)
{
    char here[4096], longer[300];
    CHECK(getcwd(here, sizeof here) && chdir(folder) == 0);
    bf_filter *f = OPEN(.m = 1000, .k = 3, .storage = "relative");
    CHECK(bf_add(f, "a", 1, &e) == 1 && bf_sync(f, &e) == 0 && access("relative", F_OK) == 0 &&
          bf_save(f, "saved", &e) == 0 && unlink("saved") == 0);
    bf_close(f);
    unlink("relative");
    CHECK_EQ(chdir(here), 0);
    snprintf(longer, sizeof longer, "%s/%0200d/f", folder, 7);
    CHECK(!bf_open(&(bf_spec){ .storage = longer }, &e) && e.sys_errno == ENOENT);
    CHECK_HAS(e.msg, "cannot open ..."); /* the end of a path is the telling part */
    CHECK_HAS(e.msg, "7/f: No such file or directory");
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = "/dev/null" }, &e), BF_EIO,
        "it is a device or socket, not a regular file");
    CHECK(!bf_load(folder, NULL, &e));
    CHECK_HAS(e.msg, "it is a directory");
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK(!bf_load(path, NULL, &e));
    CHECK_HAS(e.msg, "it is a FIFO");
    gone();
    CHECK_EQ(symlink("nothing", path), 0);
    CHECK_NO_FILTER(bf_open(&sized, &e), BF_EIO, "dangling symbolic link");
    gone();
}

/* ---- what may only be read ---- */
static int read_only_why;
static int not_for_writing(const char *p, int flags)
{
    return flags & (O_WRONLY | O_RDWR) ? read_only_why : 0;
}
TEST(files_that_may_only_be_read)
{
    static const int reasons[] = { EACCES, EROFS, EPERM };
    for (size_t i = 0; i < 3; i++) {
        bf_info info;
        bf_close(OPEN(.m = 1000, .k = 3, .storage = path));
        read_only_why = reasons[i];
        on_open = not_for_writing;
        e = (bf_error){ 0 };
        bf_filter *f = bf_open(&(bf_spec){ .storage = path }, &e);
        as_ever();
        CHECK(f != NULL && e.code == 0); /* what was tried first is no error */
        bf_get_info(f, &info);
        CHECK(info.read_only);
        CHECK_EQ(bf_test(f, "a", 1, &e), 0);
        CHECK_REFUSED(bf_add(f, "a", 1, &e), BF_ENOTSUP,
            "is open read-only, no write permission: nothing can be added");
        CHECK_EQ(bf_sync(f, &e), 0);
        bf_close(f);
        gone();
    }
    bf_close(OPEN(.m = 1000, .k = 3, .storage = path));
    read_only_why = ETXTBSY; /* any other reason is a failure */
    on_open = not_for_writing;
    CHECK(!bf_open(&(bf_spec){ .storage = path }, &e) && e.sys_errno == ETXTBSY);
    as_ever();
    gone();
}

/* ---- files that end while they are read, calls that fail late ---- */
TEST(files_that_end_while_they_are_read)
{
    bf_close(OPEN(.m = 1000, .k = 3, .storage = path));
    for (off_t end = 0; end <= 4096; end += 2048) {
        reads_to = end;
        e = (bf_error){ 0 };
        CHECK(!bf_load(path, NULL, &e));
        if (end != 2048) {
            CHECK_EQ(e.code, BF_EFORMAT);
            CHECK_HAS(e.msg, "was truncated while it was read");
        }
    }
    as_ever();
    gone();
}

TEST(a_close_that_fails)
{
    bf_filter *f = OPEN(.m = 1000, .k = 3);
    close_errno = EDQUOT; /* NFS says it as late as that */
    CHECK_EQ(bf_save(f, path, &e), BF_EIO);
    as_ever();
    CHECK_EQ(e.sys_errno, EDQUOT);
    CHECK_HAS(e.msg, "cannot write");
    CHECK_EQ(files(), 0);
    writes_nothing = true;
    close_errno = EIO;
    CHECK_EQ(bf_save(f, path, &e), BF_EIO); /* two reasons: the first is told */
    as_ever();
    CHECK_EQ(files(), 0);
    bf_close(f);
}

TEST(a_sync_that_fails)
{
    bf_filter *f = OPEN(GROWS);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    sync_errno = EIO;
    CHECK_REFUSED(bf_sync(f, &e), BF_EIO, "cannot sync");
    as_ever();
    CHECK_EQ(bf_sync(f, &e), 0);
    bf_close(f);
    gone();
}

TEST(a_machine_that_does_not_tell_its_memory)
{
    no_sysinfo = true;
    bf_filter *f = OPEN(.m = 1000, .k = 3);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    bf_close(f);
    as_ever();
    CHECK(
        !bf_open(&(bf_spec){ .m = BF_M_MAX, .k = 3, .counting = true }, &e) && e.code == BF_ENOMEM);
    CHECK_HAS(e.msg, "memory cannot hold 549755813888 bytes for m=1099511627776 counters");
}

/* ---- the lock of a growing file ---- */
static int no_proc(const char *p, int flags) { return strncmp(p, "/proc/", 6) ? 0 : ENOENT; }
static int second_stat, stats;
static int the_nth_stat(const char *p, int fd) { return ++stats == second_stat ? EIO : 0; }
static int grow_it(bf_filter *f, int from)
{
    for (int i = from; i < from + 300; i++) {
        int rc = bf_add(f, &i, sizeof i, &e);
        if (rc < 0) return rc;
    }
    return 0;
}

TEST(the_lock_without_proc)
{
    bf_filter *f = OPEN(GROWS), *g;
    on_open = no_proc;
    CHECK_EQ(grow_it(f, 0), 0); /* by its path */
    bf_close(f);
    unlink(path);
    f = OPEN(GROWS);
    CHECK_EQ(rename(path, other), 0); /* another file has that path now: its lock is not ours */
    g = OPEN(GROWS);
    CHECK_EQ(grow_it(f, 0), BF_EIO);
    CHECK_EQ(e.sys_errno, ESTALE);
    CHECK_HAS(e.msg, "cannot lock");
    unlink(path);
    CHECK_EQ(grow_it(f, 0), BF_EIO); /* nothing has it */
    CHECK_EQ(e.sys_errno, ENOENT);
    as_ever();
    CHECK_EQ(grow_it(f, 0), 0);
    CLOSE(f, g);
    unlink(other);
    f = OPEN(GROWS);
    for (second_stat = 1; second_stat <= 2; second_stat++) {
        stats = 0;
        on_stat = the_nth_stat;
        CHECK_EQ(grow_it(f, 0), BF_EIO);
        as_ever();
    }
    CHECK_EQ(grow_it(f, 0), 0);
    bf_close(f);
    gone();
}

/* ---- others who are faster, at the very moment ---- */
static bf_filter *faster;
static double hour = 1000;
static double clock_of(void *h) { return *(double *)h; }
static int other_turns_it(const char *p, int how)
{
    on_lock = NULL;
    hour += 100; /* the other's clock goes ahead: he empties the same part */
    CHECK_EQ(bf_add(faster, "his", 3, &e), BF_ADDED);
    return 0;
}

/* Two adders want the same part of the ring for different epochs; the later one comes first. */
TEST(a_part_that_another_has_turned)
{
    static double mine = 1000;
    bf_filter *f = OPEN(.n = 100, .p = 0.01, .window = 40, .parts = 4, .storage = path,
        .clock = clock_of, .clock_ctx = &mine);
    faster = OPEN(.n = 100, .p = 0.01, .window = 40, .parts = 4, .storage = path, .clock = clock_of,
        .clock_ctx = &hour);
    hour = 1000;
    on_lock = other_turns_it;
    CHECK_EQ(bf_add(f, "mine", 4, &e), BF_ADDED);
    as_ever();
    CHECK_EQ(bf_test(f, "mine", 4, &e), 1); /* in the other's epoch, which is now for all */
    CHECK_EQ(bf_test(faster, "mine", 4, &e), 1);
    CHECK_EQ(bf_test(f, "his", 3, &e), 1);
    hour += 31;
    CHECK_EQ(bf_test(faster, "mine", 4, &e), 1);
    hour += 20;
    CHECK_EQ(bf_test(faster, "mine", 4, &e), 0);
    CLOSE(f, faster);
    gone();
}

static int other_grows_it(const char *p, int how)
{
    on_lock = NULL;
    CHECK_EQ(grow_it(faster, 5000), 0);
    return 0;
}
/* Both find the newest part full, and the other appends the next one first. */
TEST(a_part_that_another_has_appended)
{
    bf_filter *f = OPEN(GROWS);
    bf_info info;
    faster = OPEN(GROWS);
    on_lock = other_grows_it;
    CHECK_EQ(grow_it(f, 0), 0);
    as_ever();
    bf_get_info(f, &info);
    CHECK_EQ(info.part_count, 2);
    for (int i = 0; i < 300; i++) CHECK(bf_test(faster, &i, sizeof i, &e) == 1);
    for (int i = 5000; i < 5300; i++) CHECK(bf_test(f, &i, sizeof i, &e) == 1);
    CLOSE(f, faster);
    gone();
}

int main(void) { return main_in_folder(); }
