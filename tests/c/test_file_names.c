/* test_file_names.c - how a file gets its name: without hard links, without a rename that replaces
 * nothing, with creators who race or are killed; what save() replaces and which rights the new
 * file has.  About core/base/path.c. */
/* wraps: fstat lstat open linkat rename syscall flock fchown fchmod fsetxattr getxattr fcntl */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "one_folder.h"
#include <sys/syscall.h>
#include <sys/xattr.h>

/* ---- the calls that can be made otherwise: each fails with this errno, 0 as ever ---- */
static int no_tmpfile, no_proc_link, no_link, no_noreplace, no_lock, no_owner, no_mode, no_list,
    no_dup;
static bool late; /* a rename comes up to 0.5 ms late */
static void (*at_lock)(void), (*at_rename)(void), (*at_dup)(void);

static int stats_left = -1; /* until one fails */
HOOKED(
    int, fstat, (int fd, struct stat *st), (fd, st), stats_left > 0 && --stats_left == 0 ? EIO : 0)

static void (*after_stat)(void);
REPLACED(int, lstat, (const char *name, struct stat *st))
{
    const int rc = __real_lstat(name, st), why = errno;
    act_once(&after_stat);
    errno = why;
    return rc;
}

static void (*after_open)(void); /* of a file for writing */
REPLACED(int, open, (const char *path, int flags, ...))
{
    va_list ap;
    va_start(ap, flags);
    const int mode = va_arg(ap, int);
    va_end(ap);
    if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) return fault(no_tmpfile);
    const int fd = __real_open(path, flags, mode);
    if ((flags & (O_RDWR | O_CREAT)) == O_RDWR) act_once(&after_open);
    return fd;
}
HOOKED(int, linkat, (int d, const char *a, int e_, const char *b, int f), (d, a, e_, b, f),
    strncmp(a, "/proc", 5) ? no_link : no_proc_link)
REPLACED(int, rename, (const char *a, const char *b))
{
    struct timespec t;
    act_once(&at_rename);
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (late) usleep((useconds_t)(t.tv_nsec / 7 % 500));
    return __real_rename(a, b);
}
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list ap;
    va_start(ap, number);
    const int from = va_arg(ap, int);
    const char *a = va_arg(ap, const char *);
    const int to = va_arg(ap, int);
    const char *b = va_arg(ap, const char *);
    const unsigned flags = va_arg(ap, unsigned);
    va_end(ap);
    if (number == SYS_renameat2 && !no_noreplace) return renameat2(from, a, to, b, flags);
    return fault(no_noreplace ? no_noreplace : ENOSYS);
}
REPLACED(int, flock, (int fd, int how))
{
    if (how & LOCK_EX && at_lock) at_lock();
    return no_lock && how & LOCK_EX ? fault(no_lock) : __real_flock(fd, how);
}
HOOKED(int, fchown, (int fd, uid_t u, gid_t g), (fd, u, g), no_owner)
HOOKED(int, fchmod, (int fd, mode_t m), (fd, m), no_mode)
HOOKED(int, fsetxattr, (int fd, const char *n, const void *v, size_t c, int f), (fd, n, v, c, f),
    no_list)
HOOKED(ssize_t, getxattr, (const char *p, const char *n, void *v, size_t c), (p, n, v, c),
    no_list == ERANGE ? ERANGE : 0)
REPLACED(int, fcntl, (int fd, int what, ...))
{
    va_list ap;
    va_start(ap, what);
    void *const argument = va_arg(ap, void *);
    va_end(ap);
    act_once(&at_dup); /* the bytes are written, the name is not given yet */
    return no_dup ? fault(no_dup) : __real_fcntl(fd, what, argument);
}

static void as_ever(void)
{
    no_tmpfile = no_proc_link = no_link = no_noreplace = no_lock = no_owner = no_mode = no_list =
        no_dup = 0;
    late = false;
    at_lock = at_rename = at_dup = after_open = NULL;
}
static void neither_links_nor_noreplace(void)
{
    no_tmpfile = EOPNOTSUPP;
    no_link = EPERM;
    no_noreplace = EINVAL;
}

/* ---- what the tests share ---- */
static char temp[96];
static const bf_spec only_read = { .storage = path, .read_only = true };
static const bf_spec memory = { .m = 1000, .k = 3 },
                     sized = { .m = 1 << 16, .k = 4, .storage = path },
                     grows = { .n = 20, .p = 0.01, .grow = 2, .storage = path };

static mode_t mode_of(const char *name)
{
    struct stat st;
    return stat(name, &st) ? 07777 : st.st_mode & 07777;
}
static void put(const char *name, mode_t mode)
{
    int fd = __real_open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && __real_fchmod(fd, mode) == 0);
    close(fd);
}

static void none_can_be_made(int why)
{
    e = (bf_error){ 0 };
    CHECK(!bf_open(&sized, &e));
    CHECK(e.code == BF_EIO && e.sys_errno == why);
    CHECK_HAS(e.msg, "cannot create");
    CHECK_EQ(files(), 0);
}

/* ---- creators ---- */
static const int lacks[] = { EPERM, ENOTSUP, ENOSYS, EMLINK, EXDEV, EINVAL };
enum { LACKS = COUNT(lacks) };

/* A nameless file that cannot be named; a file that cannot be given a second name; a rename that
 * may replace. */
TEST(every_way_to_a_name)
{
    for (size_t i = 0; i < 7; i++) /* what comes later does not ask why the first one failed */
        for (size_t j = 0; j < 7; j++)
            for (size_t k = i % 7; k < 7; k += 3) {
                no_proc_link = i < LACKS ? lacks[i] : ENOENT;
                no_link = j < LACKS ? lacks[j] : 0;
                no_noreplace = k < LACKS ? lacks[k] : 0;
                can_be_made(&sized);
            }
    as_ever();
    no_proc_link = EIO; /* no reason to try another way */
    none_can_be_made(EIO);
    no_proc_link = EPERM;
    no_link = EIO;
    none_can_be_made(EIO);
    no_link = EPERM;
    no_noreplace = EIO;
    none_can_be_made(EIO);
    no_noreplace = EINVAL;
    no_lock = ENOLCK; /* and no last way: nobody is replaced at random */
    none_can_be_made(ENOLCK);
    as_ever();
}

static void other_makes_it(void)
{
    as_ever();
    bf_filter *f = MADE(&sized);
    CHECK_EQ(bf_add(f, "his", 3, &e), BF_ADDED);
    bf_close(f);
}
static int locks;
static void other_makes_it_at_the_second_lock(void)
{
    if (++locks == 2) other_makes_it();
} /* the first is the temporary file's */

/* Another makes the file between our link and our look: his stays, and is opened. */
TEST(another_is_faster)
{
    neither_links_nor_noreplace();
    locks = 0;
    at_lock = other_makes_it_at_the_second_lock;
    bf_filter *f = MADE(&sized);
    CHECK_EQ(locks, 2);
    CHECK_EQ(bf_test(f, "his", 3, &e), 1);
    CHECK_EQ(files(), 1);
    bf_close(f);
    gone();
}

enum { CREATORS = 4, KEYS = 50 };
static unsigned use(const bf_spec *spec, unsigned me, bool add)
{
    char k[32];
    unsigned missing = 0;
    bf_filter *f = bf_open(spec, &e);
    if (!f) {
        fprintf(stderr, "     %s\n", e.msg);
        return KEYS;
    }
    for (int i = 0; i < KEYS; i++) {
        const size_t n = (size_t)sprintf(k, "p%u-%d", me, i);
        missing += add ? bf_add(f, k, n, &e) < 0 : bf_test(f, k, n, &e) != 1;
    }
    bf_close(f);
    return missing;
}

static unsigned race(const bf_spec *spec)
{
    int gate[2];
    char c;
    unsigned lost = 0;
    CHECK_EQ(pipe(gate), 0);
    for (unsigned p = 0; p < CREATORS; p++)
        if (fork() == 0) {
            close(gate[1]);
            if (read(gate[0], &c, 1) == 0) use(spec, p, true);
            _exit(0);
        }
    close(gate[0]);
    close(gate[1]);
    while (wait(NULL) > 0) {}
    for (unsigned p = 0; p < CREATORS; p++) lost += use(spec, p, false) > 0;
    gone();
    return lost;
}

TEST(racing_creators_lose_no_key)
{
    const bf_spec *const specs[] = { &sized, &grows };
    for (int way = 0; way < 4; way++) { /* no links; no NOREPLACE either; an old kernel; as ever */
        if (way < 3) neither_links_nor_noreplace();
        late = true;
        no_noreplace = way == 1 ? EINVAL : way == 2 ? ENOSYS : 0;
        unsigned lost = 0;
        for (int r = 0; r < 30; r++) lost += race(specs[r % 2]);
        CHECK_EQ(lost, 0);
        as_ever();
    }
}

/* However they die: no file in part, none beside that stays for ever, and the next creator does not
 * wait. */
TEST(killed_creators_block_nobody)
{
    for (int r = 0; r < 60; r++) {
        if (r % 2) neither_links_nor_noreplace();
        pid_t pid = fork();
        if (pid == 0)
            for (;;) {
                unlink(path);
                bf_close(bf_open(&(bf_spec){ .m = 1 << 22, .k = 3, .storage = path }, NULL));
            }
        nanosleep(&(struct timespec){ 0, 200000 + r * 40000 }, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        /* what it was at, and the next one takes that away */
        CHECK(files() <= (r % 2 ? 2 : 1));
        if (access(path, F_OK) == 0) bf_close(MADE(&only_read));
        unlink(path);
        can_be_made(&sized);
        as_ever();
    }
}

/* ---- saving ---- */
/* A test with a filter to save, whose file goes at its end. */
static bf_filter *saved;
#define SAVES(name)                                                                                \
    static void name##_by(bf_filter *f);                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        saved = MADE(&memory);                                                                     \
        name##_by(saved);                                                                          \
        as_ever();                                                                                 \
        bf_close(saved);                                                                           \
        gone();                                                                                    \
    }                                                                                              \
    static void name##_by(bf_filter *f)

static bool inner;
static void another_saves(void) { inner = bf_save(saved, path, &e) == 0; }
/* One who saves never takes what another is about to give a name. */
SAVES(two_save_at_once)
{
    at_dup = another_saves;
    CHECK_EQ(bf_save(saved, path, &e), 0);
    CHECK(inner);
}

/* A file that is opened for writing while another thread saves over it: what is added to it is
 * never lost in silence, whichever of the two comes first. */
static bf_filter *opened;
static void somebody_opens(void)
{
    opened = MADE(&(bf_spec){ .storage = path });
    CHECK_EQ(bf_add(opened, "theirs", 6, NULL), BF_ADDED);
}
SAVES(opened_while_it_is_saved)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(bf_save(f, path, &e), 0);
        at_dup = somebody_opens;
        CHECK_REFUSED(bf_save(f, path, &e), BF_EBUSY, "is open for writing in this process");
        CHECK_EQ(files(), 1);
        CHECK_EQ(bf_check_file(opened, &e), 0);
        bf_close(opened);
        opened = MADE(&only_read);
        CHECK_EQ(bf_test(opened, "theirs", 6, &e), 1);
        CHECK_EQ(bf_save(f, path, &e), 0); /* a reader loses nothing */
        bf_close(opened);
        unlink(path);
    }
}
static void somebody_saves(void) { CHECK_EQ(bf_save(saved, path, &e), 0); }
static void somebody_deletes(void) { CHECK_EQ(unlink(path), 0); }
SAVES(saved_while_it_is_opened)
{
    CHECK_EQ(bf_add(saved, "saved", 5, &e), BF_ADDED);
    bf_close(MADE(&sized));
    after_open = somebody_saves;
    f = MADE(&(bf_spec){ .storage = path });
    CHECK(bf_test(f, "saved", 5, &e) == 1 && bf_add(f, "new", 3, &e) == BF_ADDED);
    CHECK(bf_check_file(f, &e) == 0 && bf_is_current(f, &(bf_spec){ .storage = path }, &e) == 1);
    bf_close(f);
    after_open = somebody_deletes; /* then it is created */
    f = MADE(&sized);
    CHECK(bf_test(f, "saved", 5, &e) == 0 && bf_add(f, "new", 3, &e) == BF_ADDED);
    CHECK_EQ(bf_check_file(f, &e), 0);
    bf_close(f);
}
static void somebody_saves_again(void)
{
    somebody_saves();
    after_open = somebody_saves_again;
}
SAVES(saved_all_the_time)
{
    CHECK_EQ(bf_save(saved, path, &e), 0);
    after_open = somebody_saves_again;
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = path }, &e), BF_EIO, "cannot open");
    CHECK_EQ(e.sys_errno, ESTALE);
    as_ever();
    CHECK_EQ(bf_save(saved, path, &e), 0); /* nothing stayed open */
}

/* A new name replaces nothing, also where another process creates the file after the look. */
static void another_creates(void) { put(path, 0640); }
SAVES(a_new_name_replaces_nothing)
{
    static const struct {
        int no_link, no_noreplace;
    } systems[] = { { 0, 0 }, { EPERM, 0 }, { EPERM, EINVAL } };
    for (size_t i = 0; i < COUNT(systems); i++)
        for (int when = 0; when < 3; when++) { /* no file; before the look; after it */
            no_link = systems[i].no_link;
            no_noreplace = systems[i].no_noreplace;
            if (when == 1) put(path, 0640);
            if (when == 2) after_stat = another_creates;
            CHECK_EQ(bf_save_new(f, path, &e), when ? BF_EIO : 0);
            CHECK(!when || (e.sys_errno == EEXIST && strstr(e.msg, "cannot create ")));
            CHECK_EQ(mode_of(path), when ? 0640 : 0644);
            CHECK_EQ(files(), 1);
            as_ever();
            unlink(path);
        }
}

/* Left alone: what is no file, and what somebody writes. */
SAVES(names_of_others)
{
    CHECK_EQ(mkfifo(temp, 0600), 0);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(files(), 2);
    unlink(temp);
    put(other, 0600);
    CHECK_EQ(symlink(other, temp), 0);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(files(), 3);
    unlink(temp);
    unlink(other);
    put(temp, 0600); /* somebody is at it */
    int fd = __real_open(temp, O_RDWR);
    CHECK_EQ(__real_flock(fd, LOCK_EX), 0);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(files(), 2);
    close(fd);
    CHECK_EQ(bf_save(f, path, &e), 0); /* and died */
    CHECK_EQ(files(), 1);
    no_lock = ENOLCK; /* no locks at all: nothing is taken away, all goes on */
    put(temp, 0600);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(files(), 2);
    as_ever();
    unlink(temp);
    no_dup = EMFILE;
    CHECK_EQ(bf_save(f, path, &e), BF_EIO);
    CHECK_EQ(e.sys_errno, EMFILE);
}
/* Sets name to the temporary file that is there. */
static void find_temp(char name[400])
{
    DIR *d = opendir(folder);
    *name = 0;
    for (const struct dirent *one; d && (one = readdir(d));)
        if (strstr(one->d_name, ".bloomfilter-tmp-"))
            snprintf(name, 400, "%s/%s", folder, one->d_name);
    if (d) closedir(d);
}
static void take_it(void)
{
    char name[400];
    at_lock = NULL;
    find_temp(name);
    CHECK_EQ(unlink(name), 0);
}
SAVES(taken_for_abandoned)
{
    at_lock = take_it; /* between the making of the name and its lock */
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(files(), 1);
}

/* Whatever file the dead one wrote for, and whoever removes them: the start of a host, or a later
 * save. */
SAVES(leftovers_are_removed)
{
    static const char *const stays[] = { "b.bloomfilter-tmp-", "b.bloomfilter-tmp-12x",
        "b.bloomfilter-tmp-1.bloom", "b.bloomfilter-tm-12" };
    static const char *const goes[] = { "b.bloomfilter-tmp-0", ".bloomfilter-tmp-00ff",
        "other.bloomfilter-tmp-0123456789abcdef" };
    char name[400];
    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < COUNT(stays) + COUNT(goes); i++) {
            snprintf(name, sizeof name, "%s/%s", folder,
                i < COUNT(stays) ? stays[i] : goes[i - COUNT(stays)]);
            put(name, 0600);
        }
        const int fd = __real_open(name, O_RDWR); /* a living process writes the last one */
        CHECK_EQ(__real_flock(fd, LOCK_EX), 0);
        if (way)
            CHECK_EQ(bf_save_new(f, path, &e), 0);
        else
            CHECK_EQ(bf_remove_leftovers(folder, &e), COUNT(goes) - 1);
        CHECK_EQ(access(name, F_OK), 0);
        CHECK_EQ(files(), way + (int)COUNT(stays) + 1);
        close(fd);
        CHECK_EQ(bf_remove_leftovers(folder, &e), 1);
        for (size_t i = 0; i < COUNT(stays); i++) {
            snprintf(name, sizeof name, "%s/%s", folder, stays[i]);
            CHECK_EQ(unlink(name), 0);
        }
    }
    CHECK_EQ(bf_remove_leftovers("/nonexistent", &e), BF_EIO);
    CHECK_HAS(e.msg, "cannot read /nonexistent: No such file or directory");
}

TEST(save_keeps_the_mode)
{
    static const mode_t modes[] = { 0600, 0644, 0640, 0660, 0666, 0400, 0444, 0755 };
    bf_filter *f[] = { MADE(&memory), OPEN(.n = 20, .p = 0.01, .grow = 2),
        OPEN(.m = 1000, .k = 3, .counting = true) };
    for (size_t i = 0; i < 3; i++) {
        umask(027);
        CHECK_EQ(bf_save(f[i], path, &e), 0);
        CHECK_EQ(mode_of(path), 0640); /* a new one has what new files have */
        umask(022);
        for (size_t j = 0; j < COUNT(modes); j++) {
            put(path, modes[j]);
            CHECK_EQ(bf_save(f[i], path, &e), 0);
            CHECK_EQ(mode_of(path), modes[j]);
        }
        unlink(path);
        bf_close(f[i]);
    }
}

static mode_t seen;
static void stat_temp(void)
{
    char name[400];
    find_temp(name);
    seen = mode_of(name);
}
/* Nor is it open to others while it is written. */
SAVES(never_more_open_than_what_it_replaces)
{
    put(path, 0600);
    at_lock = stat_temp; /* it has just been made */
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(seen, 0600);
    as_ever();
    no_mode = EPERM; /* what cannot be changed is good enough where it is no more */
    put(path, 0644);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(mode_of(path), 0600);
}

SAVES(a_link_is_replaced_and_keeps_the_rights_behind_it)
{
    struct stat st;
    put(other, 0600);
    CHECK_EQ(symlink(other, path), 0);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0600);
    CHECK(stat(other, &st) == 0 && st.st_size == 1); /* that file is as it was */
    unlink(other);
}

/* What cannot be looked at is not put in place of anything. */
SAVES(stats_that_fail)
{
    int failed = 0;
    for (int n = 1; n < 6; n++) {
        put(path, 0600);
        stats_left = n;
        failed += bf_save(f, path, &e) == BF_EIO && e.sys_errno == EIO;
        CHECK_EQ(mode_of(path), 0600);
    }
    stats_left = -1;
    CHECK(failed > 0 && failed < 5);
}

SAVES(owner_and_group)
{
    struct stat st;
    if (geteuid() != 0) {
        printf("     only root can give files away\n");
        return;
    }
    put(path, 0640);
    CHECK_EQ(chown(path, 12345, 23456), 0);
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(stat(path, &st) == 0 && st.st_uid == 12345 && st.st_gid == 23456 &&
          (st.st_mode & 0777) == 0640);
    no_owner = EPERM; /* the group is ours now: it may do what everybody may */
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(stat(path, &st) == 0 && st.st_uid == 0 && st.st_gid == getegid() &&
          (st.st_mode & 0777) == 0600);
    as_ever();
    put(path, 0664);
    CHECK_EQ(chown(path, 0, 23456), 0);
    no_owner = EPERM;
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK_EQ(mode_of(path), 0644);
}

/* user::rw- user:12345:r-- group::--- mask::rw- other::---, as the kernel keeps it */
static const uint8_t list[] = { 2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 57, 48, 0,
    0, 4, 0, 0, 0, 255, 255, 255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255,
    255 };
SAVES(access_control_lists)
{
    uint8_t now[256];
    put(path, 0600);
    if (setxattr(path, "system.posix_acl_access", list, sizeof list, 0)) {
        printf("     no lists here\n");
        return;
    }
    CHECK_EQ(mode_of(path), 0660); /* the mask */
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(__real_getxattr(path, "system.posix_acl_access", now, sizeof now) == sizeof list &&
          !memcmp(now, list, sizeof list));
    CHECK_EQ(mode_of(path), 0660);
    static const int reasons[] = { EPERM, ERANGE };
    for (size_t i = 0; i < 2;
        i++) { /* without it the group would have what only the list's user has */
        unlink(path);
        put(path, 0600);
        CHECK_EQ(setxattr(path, "system.posix_acl_access", list, sizeof list, 0), 0);
        no_list = reasons[i];
        CHECK_EQ(bf_save(f, path, &e), 0);
        as_ever();
        CHECK_EQ(mode_of(path), 0600);
    }
}

/* The folder gives every new file a list; the file that is replaced had none. */
SAVES(a_folder_with_a_list)
{
    put(path, 0640);
    if (setxattr(folder, "system.posix_acl_default", list, sizeof list, 0)) {
        printf("     no lists here\n");
        return;
    }
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK(__real_getxattr(path, "system.posix_acl_access", NULL, 0) < 0 && errno == ENODATA);
    CHECK_EQ(mode_of(path), 0640);
    CHECK_EQ(removexattr(folder, "system.posix_acl_default"), 0);
}

/* ---- names ---- */
static size_t ascii; /* bytes before the characters of two */
static void a_cut_name_is_whole_characters(void)
{
    DIR *d = opendir(folder);
    int seen = 0;
    for (const struct dirent *one; d && (one = readdir(d));) {
        const char *end = strstr(one->d_name, ".bloomfilter-tmp-");
        const size_t kept = end ? (size_t)(end - one->d_name) : 0;
        if (!end) continue;
        seen++;
        CHECK((kept - ascii) % 2 == 0);
        CHECK(kept >= 221 && kept <= 222);
    }
    CHECK_EQ(seen, 1);
    if (d) closedir(d);
}

/* 255 bytes: no file system has longer ones, so the temporary name beside it is cut, and not within
 * a character. */
SAVES(the_longest_names)
{
    static const char *const ends[] = { "", "x", "xx", "xxx", "xxxx", "xxxxxxxx" };
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    for (size_t i = 0; i < COUNT(ends); i++)
        for (int made = 0; made < 2; made++) {
            char name[400];
            int n = snprintf(name, sizeof name, "%s/%s", folder, ends[i]);
            const int last = (int)strlen(folder) + 1 + 255;
            while (n + 2 <= last) n += snprintf(name + n, sizeof name - (size_t)n, "\u00e9");
            if (n < last) snprintf(name + n, sizeof name - (size_t)n, "y");
            CHECK_EQ(strlen(name), last);
            no_tmpfile = made ? EOPNOTSUPP : 0;
            if (made) {
                bf_filter *g = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = name }, &e);
                CHECK(g != NULL);
                bf_close(g);
            } else {
                ascii = strlen(ends[i]);
                at_rename = a_cut_name_is_whole_characters;
                CHECK_EQ(bf_save(f, name, &e), 0);
                CHECK(!at_rename);
            }
            no_tmpfile = 0;
            CHECK_EQ(files(), 1);
            CHECK_EQ(unlink(name), 0);
        }
}

TEST(what_looks_like_a_url)
{
    static const char *const names[] = { "redis:k", "http:odd", "file:f", "f" };
    char here[200], storage[80], where[200];
    CHECK(getcwd(here, sizeof here) && chdir(folder) == 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *found = NULL, *name = names[i];
        snprintf(storage, sizeof storage, "file:%s", name);
        snprintf(where, sizeof where, "%s/%s", folder, name);
        CHECK_EQ(bf_storage_path(storage, &found, &e), 1);
        CHECK(found && !strcmp(found, name));
        bf_filter *f = MADE(&((bf_spec){ .m = 1000, .k = 3, .storage = storage }));
        const bf_info info = info_of(f);
        CHECK(!strcmp(info.storage, storage)); /* opens it again */
        CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
        CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = storage }, &e), 1);
        bf_close(f);
        CHECK(mode_of(where) != 07777);
        f = MADE(&((bf_spec){ .storage = where, .read_only = true }));
        CHECK_EQ(bf_test(f, "a", 1, &e), 1);
        bf_close(f);
        CHECK_EQ(unlink(name), 0);
        CHECK(!bf_open(&(bf_spec){ .storage = storage, .must_exist = true }, &e));
        CHECK_EQ(e.code, BF_ENOENT);
    }
    CHECK_EQ(chdir(here), 0);
    CHECK_EQ(files(), 0);
}

int main(void)
{
    make_folder();
    snprintf(temp, sizeof temp, "%s.bloomfilter-tmp-0", path);
    umask(022);
    return main_in_folder();
}
