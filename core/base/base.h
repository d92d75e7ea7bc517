/* base.h - services without any knowledge of filters: errors, numbers, files, the processor.
 * Private.
 *
 *   error.c     the only writer of bf_error       files.c       open, read, write, reserve, lock
 *   number.c    floating-point text, any locale   path.c        temporary names, renames, rights
 *   cpu.c       instructions of this machine      secret_file.c reads a secret from a file
 *   storage.c   a storage text that is a path     wait.c        the only function that blocks
 *   process.c   which process this is; random numbers; holds off forks
 *
 * A file that needs more than C and POSIX includes system.h before every other header; load.h loads
 * words from bytes, utf16.h reads UTF-8 as UTF-16.  All other folders may use this one; it uses the
 * public headers only. */
#ifndef BF_BASE_H
#define BF_BASE_H
#include "bloomfilter_host.h"
#include <float.h>
#include <stdarg.h>

/* Sizes, and positions of some older schemes, are computed in doubles.  With extra precision they
 * would differ from those of other machines. */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#error "bloomfilter: doubles must be computed as doubles; on 32-bit x86: CFLAGS=-msse2 -mfpmath=sse"
#endif

enum { BF_WIDTH_MAX = 16 }; /* most digests per key */

typedef unsigned long long ull; /* for %llu */

/* error.c: the only writer of bf_error; all functions return the code */
int bf_fail(bf_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* BF_EIO, or BF_ENOMEM if sys_errno is ENOMEM */
int bf_fail_sys(bf_error *err, int sys_errno, const char *what, const char *path);
int bf_fail_absent(bf_error *err, const char *path); /* BF_ENOENT: no such file */

/* bf_refuse for numbers */
int bf_refuse_u64(bf_error *err, const char *name, uint64_t v);
int bf_refuse_real(bf_error *err, const char *name, double v);

/* process.c: between these two calls no other thread of this process forks, so no child gets a copy
 * of what is opened in between.  Do not allocate in between: an allocator may hold its own locks
 * while fork() waits here.  vfork() and a bare clone() do not wait. */
void bf_hold_forks(void);
void bf_release_forks(void);
uint32_t bf_random(void); /* process.c: 1 to 2^32-1; differs between processes, forked ones too */

/* number.c: vsnprintf, snprintf and strtod for floating-point numbers, independent of setlocale()
 */
int bf_vprint(char *out, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
int bf_print(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
double bf_real(const char *text, char **end);

/* wait.c: the only function that sleeps, waits for locks or syncs.  `try` returns 0, an errno, or
 * EWOULDBLOCK to be called again, for at most BF_PATIENCE seconds. slow: even the first call takes
 * long.  In a thread that must not wait (bf_set_nowait), a slow or second call is not made and the
 * result is EWOULDBLOCK. The hooks (NULL: none) are called before and after anything that takes
 * long. */
enum { BF_PATIENCE = 120 };
typedef struct {
    void *(*begin)(void *ctx);
    void (*end)(void *ctx, void *began);
    void *ctx;
} bf_wait_hooks;
typedef int bf_wait_try(void *ctx);
int bf_wait(const bf_wait_hooks *hooks, bool slow, bf_wait_try *try, void *ctx);
/* Returns 0, or in a thread that must not wait BF_EBUSY: "FILE is ...; this call does not wait" */
int bf_refuse_wait(bf_error *err, const char *where, const char *is);

/* files.c: opens with flags of open(2).  Returns a descriptor or a BF_E code. */
int bf_open_file(const char *path, int flags, uint64_t *len, bf_error *err);
/* BF_EIO if path is a device, FIFO or socket, which a rename would replace */
int bf_may_replace(const char *path, bf_error *err);
int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err);
int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len); /* 0 or errno */
int bf_reserve(int fd, uint64_t at, uint64_t bytes); /* reserves disk space; 0 or errno */
/* Fill the holes in these bytes: for a file that is written, and for one that is only read. lacks:
 * bytes of disk space that the file lacks, at least.  Return 0 or errno. */
int bf_allocate_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
int bf_read_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
int bf_above_stdio(int fd); /* returns fd, or a duplicate if fd is 0, 1 or 2; -1 and errno */
int bf_cut_file(int fd, uint64_t len); /* ftruncate: 0 or errno */
int bf_sync_file(const bf_wait_hooks *hooks, int fd);
int bf_sync_map(const bf_wait_hooks *hooks, void *map, size_t len);
int bf_lock_file(const bf_wait_hooks *hooks, int fd); /* flock(2) */
void bf_unlock_file(int fd);                          /* also closes it */

/* path.c */
char *bf_temp_file(const char *path, unsigned mode, int *fd, bf_error *err);
/* Removes the temporary name if fd still has it; after a rename it may be another process's. */
void bf_drop_temp(int fd, const char *temp);
int bf_open_tmpfile(const char *path); /* descriptor of a file without a name, or -1 */
/* Gives fd, which has the name temp or (NULL) none, the name path, unless path exists.  Returns 0
 * or errno. */
int bf_name_file(int fd, const char *temp, const char *path);
/* does this errno say that hard links are not supported here? */
bool bf_no_hardlinks(int sys_errno);
bool bf_is_file(const char *path);
/* gives fd the rights of the file at path; 0 or errno */
int bf_keep_rights(int fd, const char *path);
void bf_sync_folder(const char *path);

/* storage.c: the path in a storage text that is no URL of a home. Returns 0, or BF_EINVAL if the
 * text is a mistake. */
int bf_path_of(const char *storage, const char **path, bf_error *err);

/* cpu.c: each row includes the features of those before it. FAR: AVX2, and lines are prefetched
 * into the second-level cache. */
typedef enum { BF_CPU_PORTABLE, BF_CPU_AVX2, BF_CPU_FAR, BF_CPUS } bf_cpu_row;
bf_cpu_row bf_cpu(void);
bool bf_has_avx2(void);
bool bf_has_avx512(void); /* also on 256-bit words */
#endif
