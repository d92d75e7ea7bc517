/* path.c - names of files: temporary names, renames that never replace a file, and the rights of a
 * file that is replaced. */
#include "base/system.h"
#include "base/os.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_of(const char *path)
{
    const char *slash = bf_last_separator(path);
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* Opens a file without a name in the directory of path. Some file systems have no such files. */
int bf_open_tmpfile(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? bf_above_stdio(bf_os_open_nameless(folder)) : -1;
    free(folder);
    return fd;
}

/* ---- temporary names ---- */
/* Users do not choose names that end in this text and a hexadecimal number, so abandoned files of
 * such names are removed. The number is random: on a network file system, a name that another
 * machine uses cannot be taken from it. */
#define TEMP ".bloomfilter-tmp-"
enum { DIGITS = 16 };

static bool is_temp(const char *name)
{
    const char *at = strstr(name, TEMP), *number = at ? at + sizeof TEMP - 1 : "";
    return *number && !number[strspn(number, "0123456789abcdef")];
}

/* Removes a temporary file whose process died. A living process holds the file's lock until the
 * file has its final name, and only the holder of the lock removes the temporary name. */
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

/* Looks at the first `most` entries of the folder. */
static int remove_among(const char *folder, unsigned most, bf_error *err)
{
    int removed = 0;
    DIR *d = opendir(folder);
    if (!d) return bf_fail_sys(err, errno, "read", folder);
    for (const struct dirent *e; most-- > 0 && (e = readdir(d));) {
        if (!is_temp(e->d_name)) continue;
        const size_t cap = strlen(folder) + strlen(e->d_name) + 2;
        char *name = malloc(cap);
        if (name) snprintf(name, cap, "%s/%s", folder, e->d_name);
        removed += name && remove_abandoned(name);
        free(name);
    }
    closedir(d);
    return removed;
}
int bf_remove_leftovers(const char *folder, bf_error *err)
{
    return remove_among(folder, UINT_MAX, err);
}

/* Creates and locks a new file. Returns -1 and errno on failure; EEXIST if the name is taken. On
 * file systems without locks the file stays unlocked. */
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
    close(fd); /* another process removed the file before it was locked */
    errno = EEXIST;
    return -1;
}

/* Returns the number of bytes of path with which a temporary name begins. The name of a file has at
 * most 255 bytes; a longer one is cut between two UTF-8 characters. */
static int kept_of(const char *path)
{
    enum { KEPT = 255 - (sizeof TEMP - 1) - DIGITS };
    const char *slash = bf_last_separator(path), *last = slash ? slash + 1 : path;
    size_t len = strlen(last);
    if (len > KEPT)
        for (len = KEPT; len > 1 && (last[len] & 0xC0) == 0x80;) len--;
    return (int)(last - path + (ptrdiff_t)len);
}

char *bf_temp_file(const char *path, unsigned mode, int *fd, bf_error *err)
{
    enum { TRIES = 100, LOOKS = 1000 }; /* a save must not take longer in a folder of many files */
    const int kept = kept_of(path);
    const size_t cap = (size_t)kept + sizeof TEMP + DIGITS;
    char *name = malloc(cap), *folder = folder_of(path);
    if (folder) (void)remove_among(folder, LOOKS, NULL);
    *fd = -1;
    errno = ENOMEM;
    for (int i = 0; name && folder && *fd < 0 && i < TRIES; i++) {
        snprintf(name, cap, "%.*s" TEMP "%08x%08x", kept, path, bf_random(), bf_random());
        if ((*fd = make_locked(name, mode)) < 0 && errno != EEXIST) break;
    }
    free(folder);
    if (*fd >= 0) return name;
    bf_fail_sys(err, errno, "write", path);
    free(name);
    return NULL;
}

/* ---- giving a name without replacing a file ---- */
bool bf_no_hardlinks(int e)
{
    return e == EPERM || e == EOPNOTSUPP || e == ENOTSUP || e == ENOSYS || e == EMLINK ||
           e == EXDEV || e == EINVAL;
}

/* Used if there are neither hard links nor RENAME_NOREPLACE. Checks and renames while it holds the
 * lock of the directory, as all processes do that use this function. The kernel releases the lock
 * when its holder dies, and no lock file remains. */
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

int bf_name_file(int fd, const char *temp, const char *path)
{
    const int rc = temp ? linkat(AT_FDCWD, temp, AT_FDCWD, path, 0) : bf_os_name(fd, path);
    int e = rc == 0 ? 0 : errno;
    if (e == 0 || !temp || !bf_no_hardlinks(e)) return e;
    e = bf_os_rename_new(temp, path) == 0 ? 0 : errno;
    return bf_no_hardlinks(e) ? rename_locked(temp, path) : e;
}

/* ---- the rights of a file that is replaced ---- */
/* Returns mode without the rights of the group that others do not have: for a new file with another
 * group, or without the access control list. */
static mode_t without_group(mode_t mode) { return mode & ~(mode_t)(070 & ~((mode & 07) << 3)); }

bool bf_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Copies mode, access control list, and if permitted owner and group. Returns an errno if fd would
 * grant more than the file at path. */
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
    if (bf_os_copy_acl(path, fd) < 0) mode = without_group(mode);
    const int e = fchmod(fd, mode) < 0 ? errno : 0;
    if (fstat(fd, &new) < 0) return errno;
    return new.st_mode & 0777 & ~mode ? e ? e : EPERM : 0;
}

/* A rename is on disk when its directory is synced. Ignores errors, because some file systems
 * cannot sync directories. */
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
