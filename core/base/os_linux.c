/* os_linux.c - the services of os.h on Linux. */
#ifdef __linux__
#include "base/system.h"
#include "base/os.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- memory ---- */
uint64_t bf_os_memory(void)
{
    struct sysinfo i;
    return sysinfo(&i) == 0 ? ((uint64_t)i.totalram + i.totalswap) * i.mem_unit : 0;
}

void bf_os_huge_pages(void *at, size_t bytes)
{
    const int keep = errno;
    madvise(at, bytes, MADV_HUGEPAGE);
    errno = keep;
}

void bf_os_wipe_on_fork(void *page, size_t bytes) { (void)madvise(page, bytes, MADV_WIPEONFORK); }
int bf_os_drop_on_fork(void *map, size_t bytes) { return madvise(map, bytes, MADV_DONTFORK); }
int bf_os_random(void *to, size_t bytes) { return getentropy(to, bytes); }

/* ---- threads ---- */
unsigned bf_os_processors(void)
{
    cpu_set_t some[16]; /* the kernel refuses a set that is smaller than its own, at most 8,192 */
    return sched_getaffinity(0, sizeof some, some) == 0 ? (unsigned)CPU_COUNT_S(sizeof some, some)
                                                        : 1;
}

/* ---- space for files ---- */
int bf_os_reserve(int fd, off_t at, off_t len) { return posix_fallocate(fd, at, len); }

int bf_os_fill_holes(int fd, off_t at, off_t len)
{
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, at, len) == 0 ? 0 : errno;
}

bool bf_os_reads_take_space(int fd)
{
    enum { TMPFS = 0x01021994 };
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS && fs.f_blocks != 0;
}

int bf_os_read_pages(void *map, size_t bytes)
{
#ifndef MADV_POPULATE_READ
    enum { MADV_POPULATE_READ = 22 };
#endif
    return madvise(map, bytes, MADV_POPULATE_READ) < 0 ? errno : 0;
}
const bool bf_os_cuts_maps = true;

/* ---- names and rights of files ---- */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes)
{
    struct stat st;
#ifdef STATX_BTIME
    const int keep = errno;
    struct statx x;
    if (statx(fd, path, *path ? 0 : AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &x) == 0) {
        const bool born = x.stx_mask & STATX_BTIME;
        *id = (bf_identity){ makedev(x.stx_dev_major, x.stx_dev_minor), x.stx_ino, 0, 0 };
        if (born) {
            id->born = (uint64_t)x.stx_btime.tv_sec;
            id->born_ns = x.stx_btime.tv_nsec;
        }
        *bytes = x.stx_size;
        return true;
    }
    errno = keep;
#endif
    if (*path ? stat(path, &st) : fstat(fd, &st)) return false;
    *id = (bf_identity){ st.st_dev, st.st_ino, 0, 0 };
    *bytes = (uint64_t)st.st_size;
    return true;
}

/* Some file systems do not support this. */
int bf_os_open_nameless(const char *folder)
{
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
}

enum { PROC_BYTES = 40 };
static const char *proc_name(int fd, char name[PROC_BYTES])
{
    snprintf(name, PROC_BYTES, "/proc/self/fd/%d", fd);
    return name;
}

int bf_os_name(int fd, const char *path)
{
    char name[PROC_BYTES];
    return linkat(AT_FDCWD, proc_name(fd, name), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int bf_os_reopen(int fd, int flags)
{
    char name[PROC_BYTES];
    return open(proc_name(fd, name), flags);
}

/* not every file system and kernel supports this call; then errno is as for hard links */
int bf_os_rename_new(const char *from, const char *to)
{
    enum { NOREPLACE = 1 };
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NOREPLACE);
}

int bf_os_copy_acl(const char *path, int fd)
{
    static const char list[] = "system.posix_acl_access";
    char text[4096];
    const ssize_t n = getxattr(path, list, text, sizeof text);
    if (n > 0) return fsetxattr(fd, list, text, (size_t)n, 0);
    if (n < 0 && errno != ENODATA && errno != ENOTSUP) return -1;
    return fremovexattr(fd, list) == 0 || errno == ENODATA || errno == ENOTSUP ? 0 : -1;
}

/* ---- locks of open file descriptions ---- */
const bool bf_os_has_ofd_locks = true;
int bf_os_ofd_set(int fd, struct flock *lock) { return fcntl(fd, F_OFD_SETLK, lock); }
int bf_os_ofd_get(int fd, struct flock *lock) { return fcntl(fd, F_OFD_GETLK, lock); }

bool bf_os_map_holds_lock(int fd)
{
    enum { OVERLAYFS = 0x794c7630, FUSE = 0x65735546 };
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type != OVERLAYFS && fs.f_type != FUSE;
}

/* ---- sockets ---- */
int bf_os_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
#endif
