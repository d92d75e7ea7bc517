/* path.c - how a file gets its name: temporary names beside it, a name that replaces nothing, the
 * rights of the file it replaces.  Knows the file system; knows nothing of filters. */
#include "base/system.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/xattr.h>
#endif
#include <unistd.h>

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* In path's folder, with the rights a new file gets.  Not every file system has them. */
int bf_open_tmpfile(const char *path)
{
#ifdef O_TMPFILE
    char *folder = folder_of(path);
    int fd = folder ? bf_above_stdio(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)) : -1;
    free(folder);
    return fd;
#else
    (void)path;
    return -1;
#endif
}

/* ---- temporary names ---- */
/* Removes a temporary file whose maker died.  Makers hold its lock until the file has its final
 * name, and only the holder of the lock removes the temporary name. */
static bool remove_abandoned(const char *name)
{
    struct stat is, now;
    int fd = bf_above_stdio(open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (fd < 0) return false;
    bool gone = fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                lstat(name, &now) == 0 && now.st_dev == is.st_dev && now.st_ino == is.st_ino &&
                unlink(name) == 0;
    bf_unlock_file(fd);
    return gone;
}

/* A new file under this name, locked; -1 and errno, EEXIST where somebody else has the name.  Where
 * the file system has no locks, others cannot take it either. */
static int make_locked(const char *name, unsigned mode)
{
    struct stat st;
    const int made = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    const int fd = bf_above_stdio(made);
    if (fd < 0) {
        if (made >= 0) unlink(name);
        return -1;
    }
    const bool mine = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (mine && (fstat(fd, &st) < 0 || st.st_nlink > 0)) return fd;
    close(fd); /* it was removed as abandoned before it was locked */
    errno = EEXIST;
    return -1;
}

/* How much of path a temporary name begins with: the folder, and as much of the last name, in whole
 * UTF-8 characters, as leaves room for the rest within the 255 bytes that file systems allow. */
static int kept_of(const char *path)
{
    enum { KEPT = 255 - sizeof ".tmp-9999" + 1 };
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    size_t len = strlen(last);
    if (len > KEPT)
        for (len = KEPT; len > 1 && (last[len] & 0xC0) == 0x80;) len--;
    return (int)(last - path + (ptrdiff_t)len);
}

/* A new file beside path, with at most these rights: its name (to be freed) and *fd, or NULL.  Its
 * lock is held until the last descriptor is closed.  What makers that died left behind is removed,
 * so it does not pile up. */
char *bf_temp_file(const char *path, unsigned mode, int *fd, bf_error *err)
{
    const size_t cap = strlen(path) + 48;
    const int kept = kept_of(path);
    char *name = malloc(cap);
    if (!name) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(name, cap, "%.*s.tmp-%u", kept, path, i);
        if ((*fd = make_locked(name, mode)) >= 0) return name;
        if (errno != EEXIST) break;
        if (remove_abandoned(name) && (*fd = make_locked(name, mode)) >= 0) return name;
        errno = EEXIST;
    }
    bf_fail_sys(err, errno, "write", path);
    free(name);
    return NULL;
}

/* A file that has its final name has no other any more: what is there a moment later is another
 * maker's. */
void bf_drop_temp(int fd, const char *temp)
{
    struct stat is, now;
    if (lstat(temp, &now) < 0) return;
    if (fstat(fd, &is) < 0 || (is.st_dev == now.st_dev && is.st_ino == now.st_ino)) unlink(temp);
}

/* ---- a name that replaces nothing ---- */
bool bf_no_hardlinks(int e)
{
    return e == EPERM || e == EOPNOTSUPP || e == ENOSYS || e == EMLINK || e == EXDEV || e == EINVAL;
}

/* Not every file system has it, nor every kernel; an errno that says so is one of these. */
static int rename_to_nothing(const char *temp, const char *path)
{
#ifdef SYS_renameat2
    enum { NOREPLACE = 1 };
    return syscall(SYS_renameat2, AT_FDCWD, temp, AT_FDCWD, path, NOREPLACE) == 0 ? 0 : errno;
#else
    (void)temp;
    (void)path;
    return ENOSYS;
#endif
}

/* A look and a rename under the folder's lock, which all creators without a better way take.  The
 * kernel gives the lock back when its holder dies, and it leaves no file behind. */
static int rename_locked(const char *temp, const char *path)
{
    struct stat st;
    char *folder = folder_of(path);
    int fd = folder ? bf_above_stdio(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : -1;
    int e = fd < 0 ? errno : bf_lock_file(NULL, fd);
    free(folder);
    if (e == 0) e = lstat(path, &st) == 0 ? EEXIST : rename(temp, path) < 0 ? errno : 0;
    if (fd >= 0) bf_unlock_file(fd);
    return e;
}

/* temp NULL: fd is a nameless file. */
int bf_name_file(int fd, const char *temp, const char *path)
{
    char nameless[40];
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
    const int flags = temp ? 0 : AT_SYMLINK_FOLLOW;
    int e = linkat(AT_FDCWD, temp ? temp : nameless, AT_FDCWD, path, flags) == 0 ? 0 : errno;
    if (e == 0 || !temp || !bf_no_hardlinks(e)) return e;
    e = rename_to_nothing(temp, path);
    return bf_no_hardlinks(e) ? rename_locked(temp, path) : e;
}

/* ---- the rights of what is replaced ---- */
#ifdef __linux__
/* The access control list in place of fd's own; -1: it could not be kept. */
static int copy_list(const char *path, int fd)
{
    static const char list[] = "system.posix_acl_access";
    char text[4096];
    const ssize_t n = getxattr(path, list, text, sizeof text);
    if (n > 0) return fsetxattr(fd, list, text, (size_t)n, 0);
    if (n < 0 && errno != ENODATA && errno != ENOTSUP) return -1;
    return fremovexattr(fd, list) == 0 || errno == ENODATA || errno == ENOTSUP ? 0 : -1;
}
#else
static int copy_list(const char *path, int fd)
{
    (void)path;
    (void)fd;
    return 0;
}
#endif

/* Where the group is another, or its list is lost, nobody of it may do what everybody may not. */
static mode_t without_group(mode_t mode) { return mode & ~(mode_t)(070 & ~((mode & 07) << 3)); }

bool bf_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Gives fd the rights of the file that path leads to, if there is one: mode, owner and group where
 * permitted, and the access control list.  0, or errno where fd would grant more than that file
 * did. */
int bf_keep_rights(int fd, const char *path)
{
    struct stat old, new;
    if (stat(path, &old) < 0 || !S_ISREG(old.st_mode)) return 0;
    if (fstat(fd, &new) < 0) return errno;
    mode_t mode = old.st_mode & 0777;
    const bool others = old.st_uid != new.st_uid || old.st_gid != new.st_gid;
    if (others && fchown(fd, old.st_uid, old.st_gid) < 0 &&
        old.st_gid != new.st_gid &&fchown(fd, (uid_t)-1, old.st_gid) < 0)
        mode = without_group(mode);
    if (copy_list(path, fd) < 0) mode = without_group(mode);
    const int e = fchmod(fd, mode) < 0 ? errno : 0;
    if (fstat(fd, &new) < 0) return errno;
    return new.st_mode & 0777 & ~mode ? e ? e : EPERM : 0;
}

/* ---- on disk ---- */
/* A rename is on disk once its folder is.  Best effort: some file systems cannot. */
void bf_sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)bf_sync_file(NULL, fd);
        close(fd);
    }
    free(folder);
}
