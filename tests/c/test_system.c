/* test_system.c - file systems and machines that are otherwise than this one: no O_TMPFILE, no
 * /proc, files that may only be read, names that are taken or no files, files that end while they
 * are read.  What each call answers is decided here; test_failing_calls.c has calls that fail once.
 * About core/base/files.c, core/base/path.c, core/base/os_linux.c. */
/* wraps: open linkat pread pwrite close flock sysinfo fstat */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "one_folder.h"
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>

/* ---- the calls: each asks its hook, which answers 0 (do it) or an errno; what is asked is left
 * alone otherwise ---- */
typedef int hook(const char *path, int flags);
static hook *on_open, *on_link, *on_lock, *on_stat;
static int close_errno;
static bool writes_nothing, no_sysinfo;
static off_t reads_to = -1; /* the file ends here */

HOOKED_OPEN(on_open ? on_open(name, flags) : 0)
HOOKED(int, linkat, (int d, const char *a, int e_, const char *b, int flags), (d, a, e_, b, flags),
    on_link ? on_link(a, flags) : 0)
HOOKED(int, flock, (int fd, int how), (fd, how), on_lock &&how &LOCK_EX ? on_lock(NULL, how) : 0)
HOOKED(int, fstat, (int fd, struct stat *st), (fd, st), on_stat ? on_stat(NULL, fd) : 0)
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
    return close_errno ? fault(close_errno) : rc;
}
HOOKED(int, sysinfo, (struct sysinfo * i), (i), no_sysinfo ? ENOSYS : 0)

static void as_ever(void)
{
    on_open = on_link = on_lock = on_stat = NULL;
    close_errno = 0;
    writes_nothing = no_sysinfo = false;
    reads_to = -1;
}

/* ---- what the tests share ---- */
static const bf_spec sized = { .m = 1000, .k = 3, .storage = path };
#define GROWS .n = 10, .p = 0.1, .grow = 2, .storage = path

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
    can_be_made(&sized);
    as_ever();
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
}

/* A folder, a FIFO, a device, a link to nothing: none is opened, loaded or replaced. */
TEST(what_is_no_file)
{
    struct stat st;
    bf_filter *f = OPEN(.m = 1000, .k = 3);
    char own[PATH_MAX]; /* whoever may replace /dev/null may make another */
    snprintf(own, sizeof own, "%s/null", folder);
    const bool made = mknod(own, S_IFCHR | 0600, makedev(1, 3)) == 0;
    CHECK(mkfifo(path, 0600) == 0 && symlink("nothing", other) == 0);
    const struct {
        const char *name, *says;
        bool saved; /* in place of the link */
    } rows[] = { { folder, "a directory", false }, { path, "a FIFO", false },
        { made ? own : "/dev/null", "it is a device or socket, not a regular file", false },
        { other, "dangling symbolic link", true } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bf_spec spec = { .m = 1000, .k = 3, .storage = rows[i].name },
                      read = { .storage = rows[i].name, .read_only = true };
        CHECK_NO_FILTER(bf_open(&spec, &e), BF_EIO, rows[i].says);
        CHECK(!bf_open(&read, &e) && e.code == BF_EIO);
        CHECK(!bf_load(rows[i].name, NULL, &e) && (rows[i].saved || strstr(e.msg, rows[i].says)));
        CHECK_EQ(bf_name_file(-1, folder, rows[i].name), EEXIST);
        if (rows[i].saved) continue;
        CHECK_REFUSED(bf_save(f, rows[i].name, &e), BF_EIO, "cannot write");
        CHECK(lstat(rows[i].name, &st) == 0 && !S_ISREG(st.st_mode));
    }
    CHECK(unlink(other) == 0 && symlink(path, other) == 0);
    CHECK_EQ(bf_save(f, other, &e), BF_EIO);
    CHECK(lstat(other, &st) == 0 && S_ISLNK(st.st_mode) && unlink(other) == 0);
    if (made) unlink(own);
    bf_close(f);
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
        bf_close(OPEN(.m = 1000, .k = 3, .storage = path));
        read_only_why = reasons[i];
        on_open = not_for_writing;
        e = (bf_error){ 0 };
        bf_filter *f = bf_open(&(bf_spec){ .storage = path }, &e);
        as_ever();
        CHECK(f != NULL && e.code == 0); /* what was tried first is no error */
        const bf_info info = info_of(f);
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

int main(void) { return main_in_folder(); }
