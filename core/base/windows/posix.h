/* posix.h - what the core uses of POSIX, on Windows: system.h includes it. Declares under POSIX's
 * names what MinGW's headers lack, and replaces what they have in another form: names of files are
 * UTF-8, files are binary, their length has 64 bits, and struct stat has the identity of a file.
 *
 *   files.c     names, opening, reading, locks     sockets.c   sockets by Winsock
 *   maps.c      maps of files
 *
 * Sockets are declared in include/sys/socket.h. The other headers in include/ only exist. */
#ifndef BF_WINDOWS_POSIX_H
#define BF_WINDOWS_POSIX_H
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* the errno of an error of Windows; bf_win_fail sets it and returns -1 */
int bf_win_errno(unsigned long error);
int bf_win_fail(unsigned long error);
void *bf_win_handle(int fd); /* the HANDLE of a descriptor */

#ifndef ESTALE
#define ESTALE EBADF
#endif

/* ---- files ---- */
typedef int uid_t, gid_t;
struct bf_win_stat {
    uint64_t st_dev, st_ino, st_size, st_blocks;
    unsigned st_nlink;
    mode_t st_mode;
    uid_t st_uid;
    gid_t st_gid;
};
int bf_win_stat(const char *path, struct bf_win_stat *st);
int bf_win_lstat(const char *path, struct bf_win_stat *st);
int bf_win_fstat(int fd, struct bf_win_stat *st);
#undef stat
#define stat bf_win_stat
#define lstat bf_win_lstat
#undef fstat
#define fstat bf_win_fstat
#ifndef S_IFLNK
#define S_IFLNK 0xA000
#define S_ISLNK(mode) (((mode) & 0xF000) == S_IFLNK)
#endif

/* O_NOFOLLOW is for temporary names: other programs may rename and remove such a file while it is
 * open, and no other file that is open. */
enum {
    O_CLOEXEC = _O_NOINHERIT,
    O_NONBLOCK = 1 << 24,
    O_NOCTTY = 0,
    O_NOFOLLOW = 1 << 25,
    O_DIRECTORY = 0,
    AT_FDCWD = -100,
    F_GETFL = 1,
    F_SETFL,
    F_DUPFD_CLOEXEC,
    LOCK_EX = 2,
    LOCK_NB = 4,
    LOCK_UN = 8
};
int bf_win_open(const char *path, int flags, ...);
int bf_win_dup_above_2(int fd);
int bf_win_unlink(const char *path);
int bf_win_rename(const char *from, const char *to);
int bf_win_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
char *bf_win_getcwd(char *to, int cap);
int bf_win_ftruncate(int fd, int64_t len);
int bf_win_fsync(int fd);
int fcntl(int fd, int what, ...); /* O_NONBLOCK of a socket, F_DUPFD_CLOEXEC above 2 */
int flock(int fd, int what);      /* with LOCK_NB, or LOCK_UN */
ssize_t pread(int fd, void *to, size_t len, int64_t at);
ssize_t pwrite(int fd, const void *from, size_t len, int64_t at);
char *strndup(const char *text, size_t most);
const char *bf_win_strerror(int e);
#define open(...) bf_win_open(__VA_ARGS__)
#define unlink(...) bf_win_unlink(__VA_ARGS__)
#define rename(...) bf_win_rename(__VA_ARGS__)
#define linkat(...) bf_win_linkat(__VA_ARGS__)
#define getcwd(...) bf_win_getcwd(__VA_ARGS__)
#undef ftruncate
#define ftruncate(...) bf_win_ftruncate(__VA_ARGS__)
#define fsync(...) bf_win_fsync(__VA_ARGS__)
#define strerror(...) bf_win_strerror(__VA_ARGS__)

/* Rights are access control lists here: a new file has those of its folder. */
#define fchown(fd, user, group) ((void)(fd), (void)(user), (void)(group), 0)
#define fchmod(fd, mode) ((void)(fd), (void)(mode), 0)

/* ---- locks on ranges of a file: bf_os_ofd_set, bf_os_ofd_get ---- */
enum { F_RDLCK, F_WRLCK, F_UNLCK };
struct flock {
    short l_type, l_whence;
    int64_t l_start, l_len;
};

/* ---- free space and limits: not known here; Windows refuses a file that the disk cannot hold ----
 */
struct statvfs {
    uint64_t f_blocks, f_bfree, f_bavail, f_frsize;
};
#define fstatvfs(fd, v) ((void)(fd), *(v) = (struct statvfs){ 0 }, 0)
struct rlimit {
    uint64_t rlim_cur;
};
#define RLIM_INFINITY UINT64_MAX
#define getrlimit(what, l) ((l)->rlim_cur = RLIM_INFINITY, 0)

/* ---- maps: of files only ---- */
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_ANONYMOUS = 4, MS_SYNC };
#define MAP_FAILED ((void *)-1)
void *mmap(void *at, size_t len, int prot, int flags, int fd, int64_t offset);
int munmap(void *map, size_t len);
int msync(void *map, size_t len, int flags); /* fsync then waits for the disk */
enum { _SC_PAGESIZE };
#define sysconf(name) ((long)(name) + 65536) /* the offsets at which a map may begin */

/* ---- processes and locales ---- */
#undef pthread_atfork
#define pthread_atfork(before, after, child) ((void)(before), (void)(after), (void)(child), 0)
typedef const char *locale_t; /* only its decimal separator is changed */
enum { LC_ALL_MASK };
locale_t newlocale(int mask, const char *name, locale_t base); /* NULL: it is that already */
locale_t uselocale(locale_t l);
#define freelocale(l) ((void)(l))
#endif
