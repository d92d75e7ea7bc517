/* files.c - what saved and mapped files share: opening with every kind of wrong file refused, reading whole, a temporary
 * file beside the target.  Knows the file system; knows nothing of filters. */
#include "system.h"
#include "seams.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "system.h comes too late: files of 2 GiB and more could not be opened");

enum { ZEROS = 4096, STANDARD = 3 };

static int not_regular(const char *what, const char *path, mode_t mode, bf_error *err)
{
    return bf_fail(err, BF_EIO, "cannot %s %.80s: it is %s, not a regular file", what, path,
                   S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a FIFO" : "a device or socket");
}

/* fd where it is none of the standard three: a process without those gets their numbers for its files, and whatever it or its
 * host then prints would land in the filter.  -1 and errno where that cannot be had. */
int bf_off_standard(int fd)
{
    if (fd < 0 || fd >= STANDARD) return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD), e = errno;
    close(fd);
    errno = e == EINVAL ? EMFILE : e;                       /* no number from 3 on is allowed at all */
    return higher;
}

/* O_NONBLOCK: opening a FIFO must not wait for a writer that never comes.  errno is the reason of a failure. */
int bf_open_file(const char *path, int flags, uint64_t *len, bf_error *err)
{
    struct stat st;
    int fd = bf_off_standard(open(path, flags | O_CLOEXEC | O_NONBLOCK)), e = errno;
    if (fd < 0) { bf_fail_sys(err, e, "open", path); errno = e; return BF_EIO; }
    if (fstat(fd, &st) < 0) { e = errno; bf_fail_sys(err, e, "open", path); goto fail; }
    if (!S_ISREG(st.st_mode)) { e = EINVAL; not_regular("open", path, st.st_mode, err); goto fail; }
    *len = (uint64_t)st.st_size;
    return fd;
fail:
    close(fd);
    errno = e;
    return BF_EIO;
}

/* A rename puts a file in place of devices and FIFOs too; that it cannot replace a folder it says itself. */
int bf_may_replace(const char *path, bf_error *err)
{
    struct stat st;
    return stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? 0 : not_regular("write", path, st.st_mode, err);
}

int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err)
{
    for (uint64_t done = 0; done < len;) {
        ssize_t c = pread(fd, (uint8_t *)buf + done, (size_t)(len - done), (off_t)(offset + done));
        if (c < 0 && errno == EINTR) continue;
        if (c < 0) return bf_fail_sys(err, errno, "read", path);
        if (c == 0) return bf_fail(err, BF_EFORMAT, "%.80s was cut short while it was read", path);
        done += (uint64_t)c;
    }
    return 0;
}

/* Beyond this limit of the process the kernel sends SIGXFSZ, which kills, so nobody goes there.  0 or EFBIG. */
static int within_limit(uint64_t end)
{
    struct rlimit l;
    return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && end > l.rlim_cur ? EFBIG : 0;
}

int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len)
{
    const int beyond = within_limit(offset + len);
    if (beyond) return beyond;
    for (uint64_t done = 0; done < len;) {
        ssize_t c = pwrite(fd, (const uint8_t *)bytes + done, (size_t)(len - done), (off_t)(offset + done));
        if (c < 0 && errno == EINTR) continue;
        if (c <= 0) return c < 0 ? errno : EIO;
        done += (uint64_t)c;
    }
    return 0;
}

/* Room by writing it, where the file system cannot reserve any and the C library does not do this itself. */
static int fill(int fd, uint64_t at, uint64_t end)
{
    static const uint8_t zeros[ZEROS];
    int e = 0;
    for (uint64_t n; e == 0 && at < end; at += n) {
        n = end - at < ZEROS ? end - at : ZEROS;
        e = bf_write_at(fd, at, zeros, n);
    }
    return e;
}

/* In steps: what a signal interrupts may have to begin anew, and signals may come all the time. */
int bf_reserve(int fd, uint64_t at, uint64_t bytes)
{
    const uint64_t end = at + bytes;
    int e = within_limit(end);
    for (uint64_t step = 64 << 20; e == 0 && at < end;) {
        if (step > end - at) step = end - at;
        e = posix_fallocate(fd, (off_t)at, (off_t)step);
        if (e == 0) at += step;
        else if (e == EINTR) { e = 0; step = step > 2 << 20 ? step / 2 : step; }
        else if (e == EOPNOTSUPP || e == ENOSYS) return fill(fd, at, end);
    }
    return e;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* In path's folder, with the rights a new file gets.  Not every file system has them. */
int bf_nameless_file(const char *path)
{
#ifdef O_TMPFILE
    char *folder = folder_of(path);
    int fd = folder ? bf_off_standard(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)) : -1;
    free(folder);
    return fd;
#else
    (void)path;
    return -1;
#endif
}

/* A new file beside path, with the rights a new file gets: its name (to be freed) and *fd, or NULL. */
char *bf_temp_file(const char *path, int *fd, bf_error *err)
{
    size_t cap = strlen(path) + 48;
    char *name = malloc(cap);
    if (!name) { bf_fail(err, BF_ENOMEM, "out of memory"); return NULL; }
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(name, cap, "%s.tmp-%ld-%u", path, (long)getpid(), i);
        int made = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if ((*fd = bf_off_standard(made)) >= 0) return name;
        if (made >= 0) unlink(name);
        if (errno != EEXIST) break;
    }
    bf_fail_sys(err, errno, "write", path);
    free(name);
    return NULL;
}

/* A rename is on disk once its folder is.  Best effort: some file systems cannot. */
void bf_sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) { fsync(fd); close(fd); }
    free(folder);
}
