/* os.h - the services that Linux, macOS and Windows offer in different ways: os_linux.c,
 * os_macos.c, os_windows.c with windows/. No other file of the core names a system. Private. */
#ifndef BF_OS_H
#define BF_OS_H
#include "base/base.h"
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>

/* The clock of forgetting filters: on Linux late by at most a tick of the kernel, but cheap. */
#ifdef __linux__
#define BF_CLOCK_COARSE CLOCK_REALTIME_COARSE
#else
#define BF_CLOCK_COARSE CLOCK_REALTIME
#endif

/* ---- memory ---- */
uint64_t bf_os_memory(void);                       /* RAM plus swap in bytes; 0: unknown */
void bf_os_huge_pages(void *at, size_t bytes);     /* a hint; keeps errno */
void bf_os_wipe_on_fork(void *page, size_t bytes); /* a forked child gets zeros, if possible */
int bf_os_drop_on_fork(void *map, size_t bytes);   /* a forked child has no such map; -1: errno */
/* Sets the bytes to 0. The asm may read the bytes, so the compiler cannot remove the memset. */
static inline void bf_os_wipe(void *secret, size_t bytes)
{
    memset(secret, 0, bytes);
    __asm__ volatile("" ::"r"(secret) : "memory");
}
int bf_os_random(void *to, size_t bytes); /* at most 256 bytes; -1: errno */

/* ---- threads ---- */
unsigned bf_os_processors(void); /* the processors that this process may use; at least 1 */

/* ---- space for files; all return 0 or an errno, EOPNOTSUPP if the system has no such call ---- */
int bf_os_reserve(int fd, off_t at, off_t len);    /* may read and rewrite bytes */
int bf_os_fill_holes(int fd, off_t at, off_t len); /* safe while others write the file */
bool bf_os_reads_take_space(int fd);               /* reading a hole through a map needs a page */
int bf_os_read_pages(void *map, size_t bytes);     /* reads every page of a map */
extern const bool bf_os_cuts_maps;                 /* a file can be shortened while it is mapped */

/* ---- names and rights of files ---- */
typedef struct {
    uint64_t device, inode, born, born_ns;
} bf_identity; /* born, born_ns: time of creation, seconds and ns of the second; both 0: unknown */
/* Reads the identity and the length of a file. The file is given by path, or by fd if path is "".
 * Device and inode are not sufficient: some file systems reuse inode numbers, and on overlayfs a
 * copy has the inode number of its original. On failure returns false and sets errno. */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes);
int bf_os_open_nameless(const char *folder); /* a descriptor, or -1 and errno */
int bf_os_name(int fd, const char *path);    /* gives a nameless file a name; -1: errno */
int bf_os_reopen(int fd, int flags);         /* opens the file of fd again; -1: errno */
int bf_os_rename_new(const char *from, const char *to); /* never replaces; -1: errno */
int bf_os_copy_acl(const char *path, int fd);           /* access control list; -1: impossible */

/* How names are written. */
#ifdef _WIN32
const char *bf_last_separator(const char *path); /* NULL: none */
static inline bool bf_is_absolute(const char *path)
{
    return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}
#else
static inline const char *bf_last_separator(const char *path) { return strrchr(path, '/'); }
static inline bool bf_is_absolute(const char *path) { return *path == '/'; }
#endif

/* ---- locks of open file descriptions ---- */
extern const bool bf_os_has_ofd_locks;
int bf_os_ofd_set(int fd, struct flock *lock); /* fcntl F_OFD_SETLK; -1: errno */
int bf_os_ofd_get(int fd, struct flock *lock); /* fcntl F_OFD_GETLK; -1: errno */
/* Returns true if a map of the file holds the file's lock after its descriptor is closed. */
bool bf_os_map_holds_lock(int fd);

/* ---- sockets ---- */
/* Returns a stream socket that does not block and is closed by exec; -1: errno. A write to a closed
 * connection raises no signal if MSG_NOSIGNAL is given. */
int bf_os_socket(int family);
#ifdef _WIN32
void bf_os_socket_close(int fd);
#else
#define bf_os_socket_close close
#endif
#endif
