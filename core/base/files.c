/* files.c - opens (only regular files), reads, writes, reserves, syncs and locks files. */
#include "base/system.h"
#include "base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

_Static_assert(
    sizeof(off_t) == 8, "system.h comes too late: files of 2 GiB and more could not be opened");

enum { ZEROS = 4096, STANDARD = 3 };

static int not_regular(const char *what, const char *path, mode_t mode, bf_error *err)
{
    return bf_fail(err, BF_EIO, "cannot %s %.80s: it is %s, not a regular file", what, path,
        S_ISDIR(mode)    ? "a directory"
        : S_ISFIFO(mode) ? "a FIFO"
                         : "a device or socket");
}

/* In a process without standard streams, a new file would get descriptor 0, 1 or 2. Then all that
 * the process prints would be written into the filter. */
int bf_above_stdio(int fd)
{
    if (fd < 0 || fd >= STANDARD) return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD), e = errno;
    close(fd);
    errno = e == EINVAL ? EMFILE : e; /* RLIMIT_NOFILE allows no descriptor above 2 */
    return higher;
}

/* Without O_NONBLOCK, opening a FIFO would wait for a writer. Without O_NOCTTY, a terminal would
 * become the controlling terminal of this process. On some network file systems a signal interrupts
 * open (EINTR). Sets errno on failure. */
int bf_open_file(const char *path, int flags, struct stat *st, bf_error *err)
{
    int fd, e, rc;
    do fd = bf_above_stdio(open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        e = errno;
        rc = e == ENOENT ? bf_fail_absent(err, path) : bf_fail_sys(err, e, "open", path);
        errno = e;
        return rc;
    }
    if (fstat(fd, st) < 0) {
        e = errno;
        rc = bf_fail_sys(err, e, "open", path);
        goto fail;
    }
    if (!S_ISREG(st->st_mode)) {
        e = EINVAL;
        rc = not_regular("open", path, st->st_mode, err);
        goto fail;
    }
    return fd;
fail:
    close(fd);
    errno = e;
    return rc;
}

/* Allows a directory, because there the rename itself fails. */
int bf_may_replace(const char *path, bf_error *err)
{
    struct stat st;
    return stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
               ? 0
               : not_regular("write", path, st.st_mode, err);
}

int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err)
{
    for (uint64_t done = 0; done < len;) {
        ssize_t c = pread(fd, (uint8_t *)buf + done, (size_t)(len - done), (off_t)(offset + done));
        if (c < 0 && errno == EINTR) continue;
        if (c < 0) return bf_fail_sys(err, errno, "read", path);
        if (c == 0) return bf_fail(err, BF_EFORMAT, "%.80s was truncated while it was read", path);
        done += (uint64_t)c;
    }
    return 0;
}

/* Returns 0, or EFBIG if a write up to `end` would exceed RLIMIT_FSIZE: the kernel would send
 * SIGXFSZ, which ends the process. */
static int within_limit(uint64_t end)
{
    struct rlimit l;
    return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && end > l.rlim_cur
               ? EFBIG
               : 0;
}

int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len)
{
    const int beyond = within_limit(offset + len);
    if (beyond) return beyond;
    for (uint64_t done = 0; done < len;) {
        ssize_t c =
            pwrite(fd, (const uint8_t *)bytes + done, (size_t)(len - done), (off_t)(offset + done));
        if (c < 0 && errno == EINTR) continue;
        if (c <= 0) return c < 0 ? errno : EIO;
        done += (uint64_t)c;
    }
    return 0;
}

/* Writes zeros, if neither the file system nor the C library can reserve space. */
static int write_zeros(int fd, uint64_t at, uint64_t end)
{
    static const uint8_t zeros[ZEROS];
    int e = 0;
    for (uint64_t n; e == 0 && at < end; at += n) {
        n = end - at < ZEROS ? end - at : ZEROS;
        e = bf_write_at(fd, at, zeros, n);
    }
    return e;
}

/* Reserves in steps, because a signal may make a call start again from the beginning. */
static int in_steps(int (*reserve)(int fd, off_t at, off_t len), int fd, uint64_t at, uint64_t end)
{
    int e = 0;
    for (uint64_t step = 64 << 20; e == 0 && at < end;) {
        if (step > end - at) step = end - at;
        if ((e = reserve(fd, (off_t)at, (off_t)step)) == 0)
            at += step;
        else if (e == EINTR) {
            e = 0;
            step = step > 2 << 20 ? step / 2 : step;
        }
    }
    return e;
}

/* Returns true if the file system has less free space than `bytes` for an ordinary user; under a
 * quota, the free blocks (f_bfree) may be far more than this process can write. Some file systems
 * report 0 blocks: then the free space is unknown. */
static bool too_full(int fd, uint64_t bytes)
{
    struct statvfs v;
    if (fstatvfs(fd, &v) < 0 || v.f_blocks == 0) return false;
    return v.f_bavail < bytes / (v.f_frsize ? v.f_frsize : 1);
}

/* Checks the free space first; otherwise a file that is too large would fill the disk before the
 * call fails. */
int bf_reserve(int fd, uint64_t at, uint64_t bytes)
{
    struct stat st;
    const uint64_t end = at + bytes;
    int e = fstat(fd, &st) < 0 ? errno : within_limit(end);
    const uint64_t from = e == 0 && (uint64_t)st.st_size > at ? (uint64_t)st.st_size : at;
    if (e == 0 && from < end && too_full(fd, end - from)) e = ENOSPC;
    if (e == 0) e = in_steps(bf_os_reserve, fd, at, end);
    return e == EOPNOTSUPP || e == ENOSYS ? write_zeros(fd, at, end) : e;
}

/* ---- holes ---- */
/* Other processes may be writing the file, so bf_os_reserve could undo an add. If the file system
 * cannot reserve, or compresses and turns zeros into holes, only checks that it has enough free
 * space. */
int bf_allocate_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks)
{
    if (lacks == 0) return 0;
    if (lacks > bytes) lacks = bytes;
    if (too_full(fd, lacks)) return ENOSPC;
    const int e = in_steps(bf_os_fill_holes, fd, at, at + bytes);
    if (e != EOPNOTSUPP && e != ENOSYS && e != EINVAL) return e;
    return too_full(fd, lacks) ? ENOSPC : 0;
}

/* Allocates all holes of a file on a tmpfs, where reading a hole through a map needs a page.
 * Returns 0, or ENOSPC if there is not enough space. */
static int read_in_holes(int fd, uint64_t at, uint64_t bytes)
{
    const uint64_t shift = at % (uint64_t)sysconf(_SC_PAGESIZE), len = bytes + shift;
    void *p = len > SIZE_MAX
                  ? MAP_FAILED
                  : mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, (off_t)(at - shift));
    if (p == MAP_FAILED) return 0; /* mapping the file will fail in the same way */
    const int keep = errno, e = bf_os_read_pages(p, (size_t)len);
    munmap(p, (size_t)len);
    errno = keep;
    return e == EFAULT ? ENOSPC : 0; /* EINVAL means an older kernel */
}

/* Does nothing outside tmpfs: on disk, reading a hole needs no space. */
int bf_read_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks)
{
    if (lacks == 0 || !bf_os_reads_take_space(fd)) return 0;
    if (lacks > bytes) lacks = bytes;
    return too_full(fd, lacks) ? ENOSPC : read_in_holes(fd, at, bytes);
}

/* ---- calls that signals may interrupt ---- */
int bf_cut_file(int fd, uint64_t len)
{
    int rc;
    do rc = ftruncate(fd, (off_t)len);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? errno : 0;
}

static int try_sync(void *fd)
{
    int rc;
    do rc = fsync(*(int *)fd);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? errno : 0;
}
int bf_sync_file(const bf_wait_hooks *hooks, int fd) { return bf_wait(hooks, true, try_sync, &fd); }

typedef struct {
    void *map;
    size_t len;
} mapping;
static int try_msync(void *ctx)
{
    const mapping *m = ctx;
    int rc;
    do rc = msync(m->map, m->len, MS_SYNC);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? errno : 0;
}
int bf_sync_map(const bf_wait_hooks *hooks, void *map, size_t len)
{
    return bf_wait(hooks, true, try_msync, &(mapping){ map, len });
}

/* Does not wait in flock(), which has no timeout: the holder of the lock may be stopped. */
static int try_flock(void *fd)
{
    if (flock(*(int *)fd, LOCK_EX | LOCK_NB) == 0) return 0;
    return errno == EINTR ? EWOULDBLOCK : errno;
}
int bf_lock_file(const bf_wait_hooks *hooks, int fd)
{
    return bf_wait(hooks, false, try_flock, &fd);
}

/* Unlocks before it closes: the copy of fd in a child that was just forked would keep the file
 * locked. */
void bf_unlock_file(int fd)
{
    flock(fd, LOCK_UN);
    close(fd);
}
