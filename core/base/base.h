/* base.h - what has nothing to do with filters: errors, numbers, files, the processor. Private.
 *
 *   error.c     fills bf_error                    files.c       open, read, write, reserve, lock
 *   number.c    floating-point text, any locale   path.c        temporary names, renames, rights
 *   cpu.c       instructions of this machine      secret_file.c reads a secret from a file
 *   storage.c   finds the path in a storage text  wait.c        waits for locks, and syncs
 *   process.c   bf_process and bf_random; detects forked children; delays fork()
 *
 * A file that needs more than C and POSIX includes system.h before every other header; what Linux
 * and macOS do in different ways is in os.h. load.h loads words from bytes; utf16.h reads UTF-8 as
 * UTF-16. */
#ifndef BF_BASE_H
#define BF_BASE_H
#include "bloomfilter_host.h"
#include <float.h>
#include <stdarg.h>

/* Sizes, and the positions of some older schemes, are computed in doubles. With extra precision
 * they would differ between machines. */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#error "bloomfilter: doubles must be computed as doubles; on 32-bit x86: CFLAGS=-msse2 -mfpmath=sse"
#endif

enum { BF_WIDTH_MAX = 16 }; /* maximum number of digests per key */

typedef unsigned long long ull; /* the type that %llu prints */

/* error.c: fill *err, unless err is NULL, with a code and a message; return the code */
int bf_fail(bf_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* returns BF_EIO, or BF_ENOMEM if sys_errno is ENOMEM */
int bf_fail_sys(bf_error *err, int sys_errno, const char *what, const char *path);
int bf_fail_absent(bf_error *err, const char *path); /* returns BF_ENOENT: no such file */
/* Returns the code of a failed function that returned NULL. */
static inline int bf_code_of(const bf_error *err)
{
    return err && err->code < 0 ? err->code : BF_EIO;
}

/* bf_refuse (bloomfilter_host.h) for numbers */
int bf_refuse_u64(bf_error *err, const char *name, uint64_t v);
int bf_refuse_real(bf_error *err, const char *name, double v);

/* process.c: between these two calls fork() in other threads waits, so no child gets a copy of what
 * is opened in between, and this thread is not cancelled. Do not allocate in between: fork() may
 * wait while it holds the allocator's locks. vfork() and a bare clone() do not wait. */
void bf_hold_forks(void);
void bf_release_forks(void);
/* process.c: the process id, for messages only: two processes may have the same one (bf_process) */
long bf_pid(void);
/* process.c: a random number above 0; parent and child get different ones */
uint64_t bf_random64(void);
uint32_t bf_random(void);

/* number.c: vsnprintf, snprintf and strtod, with a decimal point whatever setlocale() has set */
int bf_vprint(char *out, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
int bf_print(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
double bf_real(const char *text, char **end);

/* wait.c: outside redis/, every wait for a lock and every sync is a call of bf_wait. bf_wait calls
 * `try` until `try` returns something other than EWOULDBLOCK (0 or an errno), for at most
 * BF_PATIENCE seconds or until bf_set_deadline, and returns the last result. slow: even the first
 * call of `try` takes long. Before and after calls that take long, bf_wait calls the hooks (NULL:
 * none). In a thread that must not wait (bf_set_nowait), bf_wait makes no such call and returns
 * EWOULDBLOCK. */
enum { BF_PATIENCE = 120 };
typedef struct {
    void *(*begin)(void *ctx);
    void (*end)(void *ctx, void *began);
    void *ctx;
} bf_wait_hooks;
typedef int bf_wait_try(void *ctx);
int bf_wait(const bf_wait_hooks *hooks, bool slow, bf_wait_try *try, void *ctx);
int bf_waited(void); /* the seconds that the last bf_wait of this thread took */
/* Returns 0; in a thread that must not wait BF_EBUSY, "<where> <is>; this call does not wait". */
int bf_refuse_wait(bf_error *err, const char *where, const char *is);

struct stat;
/* files.c: opens a regular file with flags of open(2) and fills *st. Returns a descriptor or a BF_E
 * code. */
int bf_open_file(const char *path, int flags, struct stat *st, bf_error *err);
/* Returns BF_EIO if path is a device, FIFO or socket, because a rename would replace it. */
int bf_may_replace(const char *path, bf_error *err);
int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err);
int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len); /* 0 or errno */
int bf_reserve(int fd, uint64_t at, uint64_t bytes); /* reserves disk space; 0 or errno */
/* Reserve disk space for the holes in these bytes, so that access through a map cannot raise
 * SIGBUS: bf_allocate_holes in a file that is written, bf_read_holes in a file that is only read.
 * lacks: a lower bound of the space that the holes need, in bytes. Both return 0 or an errno. */
int bf_allocate_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
int bf_read_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
/* Returns fd if it is above 2; else a duplicate above 2, and closes fd. Returns -1 and errno on
 * failure. */
int bf_above_stdio(int fd);
int bf_cut_file(int fd, uint64_t len);                /* ftruncate: 0 or an errno */
int bf_sync_file(const bf_wait_hooks *hooks, int fd); /* fsync, msync: 0 or an errno */
int bf_sync_map(const bf_wait_hooks *hooks, void *map, size_t len);
int bf_lock_file(const bf_wait_hooks *hooks, int fd); /* flock(2): 0 or an errno */
void bf_unlock_file(int fd);                          /* unlocks and closes fd */

/* path.c: creates and locks a file next to path, with a random name and at most the rights `mode`.
 * Returns its name, which the caller frees, and *fd; or NULL. First removes the temporary files
 * that died processes left in this folder, among its first 1,000 files (bf_remove_leftovers). */
char *bf_temp_file(const char *path, unsigned mode, int *fd, bf_error *err);
int bf_open_tmpfile(const char *path); /* returns the descriptor of a file without a name, or -1 */
/* Gives the file of fd the name path, unless path exists. temp: the present name, or NULL if the
 * file has none. Returns 0 or an errno. */
int bf_name_file(int fd, const char *temp, const char *path);
/* returns true if this errno means that the file system does not support the call */
bool bf_no_hardlinks(int sys_errno);
bool bf_is_file(const char *path);
/* gives fd the rights of the file at path, if there is one; returns 0 or an errno */
int bf_keep_rights(int fd, const char *path);
void bf_sync_folder(const char *path);

/* storage.c: sets *path to the path in a storage text. Returns 0, or BF_EINVAL if the text is a
 * mistake, for example an unknown URL. */
int bf_path_of(const char *storage, const char **path, bf_error *err);

/* cpu.c: each row includes the features of the rows before it. BF_CPU_VECTOR is AVX2 or NEON,
 * BF_CPU_FAR is the same with lines prefetched into the second-level cache. */
typedef enum { BF_CPU_PORTABLE, BF_CPU_VECTOR, BF_CPU_FAR, BF_CPUS } bf_cpu_row;
bf_cpu_row bf_cpu(void);
bool bf_has_avx2(void);
bool bf_has_avx512(void); /* AVX-512 F and VL */

/* threads.c: the number of threads that bf_use_threads has set for this thread */
enum { BF_THREADS_MAX = 64 };
unsigned bf_threads(void);
/* Calls work(ctx, i) for i = 0 .. n - 1, n at most BF_THREADS_MAX, in n threads, one of which is
 * this one. If a thread cannot be created, this thread does its work. Returns after all calls. */
void bf_parallel(unsigned n, void (*work)(void *ctx, unsigned i), void *ctx);
#endif
