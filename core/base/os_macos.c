/* os_macos.c - the services of os.h on macOS: compiled and linked by the tests, never run by them.
 *
 * No locks of open file descriptions are used: a map does not hold them there. So a file cannot
 * have an exclusive writer, ordinary writers take no lock, and the shadow of a dead process that
 * rebuilt a file stays until the next rebuild. flock(2) works as on Linux. */
#ifdef __APPLE__
#include "base/os.h"
#include <errno.h>
#include <mach/vm_inherit.h>
#include <stdio.h>
#include <sys/acl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <unistd.h>

/* ---- memory ---- */
/* without swap, whose size changes */
uint64_t bf_os_memory(void)
{
    uint64_t bytes = 0;
    size_t len = sizeof bytes;
    return sysctlbyname("hw.memsize", &bytes, &len, NULL, 0) == 0 ? bytes : 0;
}
void bf_os_huge_pages(void *at, size_t bytes) { (void)at, (void)bytes; }
void bf_os_wipe_on_fork(void *page, size_t bytes) { (void)page, (void)bytes; }
int bf_os_drop_on_fork(void *map, size_t bytes) { return minherit(map, bytes, VM_INHERIT_NONE); }
int bf_os_random(void *to, size_t bytes) { return getentropy(to, bytes); }

/* ---- threads ---- */
unsigned bf_os_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* ---- space for files ---- */
/* F_PREALLOCATE allocates behind the end of the file; bf_reserve calls with the present end. */
int bf_os_reserve(int fd, off_t at, off_t len)
{
    struct stat st;
    if (fstat(fd, &st) < 0) return errno;
    const off_t more = at + len - st.st_size;
    fstore_t space = {
        .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = more
    };
    if (more <= 0) return 0;
    if (fcntl(fd, F_PREALLOCATE, &space) < 0) return errno == ENOTSUP ? EOPNOTSUPP : errno;
    return ftruncate(fd, at + len) < 0 ? errno : 0;
}

int bf_os_fill_holes(int fd, off_t at, off_t len)
{
    (void)fd, (void)at, (void)len;
    return EOPNOTSUPP;
}
bool bf_os_reads_take_space(int fd)
{
    (void)fd;
    return false;
}
int bf_os_read_pages(void *map, size_t bytes)
{
    (void)map, (void)bytes;
    return EOPNOTSUPP;
}
const bool bf_os_cuts_maps = true;

/* ---- names and rights of files ---- */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes)
{
    struct stat st;
    if (*path ? stat(path, &st) : fstat(fd, &st)) return false;
    *id = (bf_identity){ (uint64_t)st.st_dev, st.st_ino, (uint64_t)st.st_birthtimespec.tv_sec,
        (uint64_t)st.st_birthtimespec.tv_nsec };
    *bytes = (uint64_t)st.st_size;
    return true;
}

static int unsupported(void)
{
    errno = EOPNOTSUPP;
    return -1;
}
int bf_os_open_nameless(const char *folder) { return (void)folder, unsupported(); }
int bf_os_name(int fd, const char *path) { return (void)fd, (void)path, unsupported(); }
/* /dev/fd/N would duplicate the descriptor; the caller opens the path instead. */
int bf_os_reopen(int fd, int flags) { return (void)fd, (void)flags, unsupported(); }
int bf_os_rename_new(const char *from, const char *to) { return renamex_np(from, to, RENAME_EXCL); }

int bf_os_copy_acl(const char *path, int fd)
{
    acl_t list = acl_get_file(path, ACL_TYPE_EXTENDED);
    if (!list && errno != ENOENT && errno != ENOTSUP) return -1;
    if (!list && !(list = acl_init(0))) return -1;
    const int rc = acl_set_fd(fd, list) == 0 || errno == ENOTSUP ? 0 : -1;
    acl_free(list);
    return rc;
}

/* ---- locks of open file descriptions ---- */
const bool bf_os_has_ofd_locks = false;
int bf_os_ofd_set(int fd, struct flock *lock) { return (void)fd, (void)lock, unsupported(); }
int bf_os_ofd_get(int fd, struct flock *lock) { return (void)fd, (void)lock, unsupported(); }
bool bf_os_map_holds_lock(int fd) { return (void)fd, false; }

/* ---- sockets ---- */
int bf_os_socket(int family)
{
    const int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0) return fd;
    const int e = errno;
    close(fd);
    errno = e;
    return -1;
}
#endif
