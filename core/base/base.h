/* base.h - what knows nothing of filters: errors, numbers as text, files, the processor.  Private.
 *
 *   error.c   the only writers of bf_error        files.c   opening, reading, writing, room, locks
 *   number.c  fractions as text, any locale       path.c    temporary names, new names, rights
 *   cpu.c     which kernels this machine can run         secret_file.c  a secret out of a file
 *   storage.c the text that names a storage: a path or a mistake
 *   wait.c    the only function that sleeps, locks and syncs
 *   process.c bf_process: is this the process that it was, or a forked child?  bf_random
 *
 * system.h goes before every other header of a file that asks the system for more than C and POSIX
 * have; load.h loads words from bytes, utf16.h reads UTF-8 as UTF-16.  Everything above may use
 * this floor; it uses bloomfilter.h only. */
#ifndef BF_BASE_H
#define BF_BASE_H
#include "bloomfilter_host.h"
#include <float.h>
#include <stdarg.h>

/* Sizes, and the positions of some older schemes, are computed in doubles: rounded once more they
 * are not those of other machines. */
#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0
#error "bloomfilter: doubles must be computed as doubles; on 32-bit x86: CFLAGS=-msse2 -mfpmath=sse"
#endif

enum { BF_WIDTH_MAX = 16 }; /* digests that a hash may give for a key, and a layout gets */

typedef unsigned long long ull; /* for %llu */

/* error.c: the only writers of bf_error; each returns the code */
int bf_fail(bf_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* BF_EIO, or BF_ENOMEM for ENOMEM */
int bf_fail_sys(bf_error *err, int sys_errno, const char *what, const char *path);
int bf_fail_absent(bf_error *err, const char *path); /* BF_ENOENT: there is no such file */

/* bf_refuse of a number */
int bf_refuse_u64(bf_error *err, const char *name, uint64_t v);
int bf_refuse_real(bf_error *err, const char *name, double v);

uint32_t bf_random(void); /* process.c: 1 to 2^32-1, no two processes draw the same numbers */

/* number.c: for texts with floating-point numbers in them, vsnprintf, snprintf and strtod that no
 * setlocale() changes */
int bf_vprint(char *out, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
int bf_print(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
double bf_real(const char *text, char **end);

/* wait.c: the only function that sleeps, locks and syncs.  try returns 0, an errno, or EWOULDBLOCK
 * as long as it must be tried again; it is tried for BF_PATIENCE seconds at most.  slow: even the
 * first try takes long.  A thread that must not wait gets EWOULDBLOCK in place of a second try, or
 * of a slow one.  The hooks (NULL: none) are called around what takes long. */
enum { BF_PATIENCE = 120 };
typedef struct {
    void *(*begin)(void *ctx);
    void (*end)(void *ctx, void *began);
    void *ctx;
} bf_wait_hooks;
typedef int bf_wait_try(void *ctx);
int bf_wait(const bf_wait_hooks *hooks, bool slow, bf_wait_try *try, void *ctx);
/* 0, or in a thread that must not wait BF_EBUSY: "FILE is ...; this call does not wait" */
int bf_refuse_wait(bf_error *err, const char *where, const char *is);

/* files.c: flags of open(2); a negative BF_E code or a file descriptor, 0 */
int bf_open_file(const char *path, int flags, uint64_t *len, bf_error *err);
int bf_may_replace(
    const char *path, bf_error *err); /* 0 or BF_EIO: there is a device, FIFO or socket */
int bf_read_at(int fd, uint64_t offset, void *buf, uint64_t len, const char *path, bf_error *err);
int bf_write_at(int fd, uint64_t offset, const void *bytes, uint64_t len); /* 0 or errno */
int bf_reserve(int fd, uint64_t at, uint64_t bytes); /* room in the file system; 0 or errno  */
/* Of these bytes; lacks: how much room the whole file lacks, at least; 0 or errno.  To write to it,
 * to read it. */
int bf_allocate_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
int bf_read_holes(int fd, uint64_t at, uint64_t bytes, uint64_t lacks);
int bf_above_stdio(int fd); /* as another one, if it is 0, 1 or 2; -1 and errno */
/* These finish what signals interrupt; 0 or errno.  sync and lock are bf_wait()s. */
int bf_cut_file(int fd, uint64_t len);
int bf_sync_file(const bf_wait_hooks *hooks, int fd);
int bf_sync_map(const bf_wait_hooks *hooks, void *map, size_t len);
int bf_lock_file(const bf_wait_hooks *hooks, int fd); /* flock(2) */
void bf_unlock_file(int fd);                          /* and closes it */

/* path.c */
char *bf_temp_file(const char *path, unsigned mode, int *fd, bf_error *err);
/* Takes the temporary name away, if fd has it still: after a rename it may be another maker's. */
void bf_drop_temp(int fd, const char *temp);
int bf_open_tmpfile(const char *path); /* fd of a file that vanishes unless linked, or -1 */
/* 0 or errno: EEXIST where something has the name. */
int bf_name_file(int fd, const char *temp, const char *path);
bool bf_no_hardlinks(int sys_errno); /* a reason to give the name in another way */
bool bf_is_file(const char *path);
int bf_keep_rights(int fd, const char *path); /* of the file it is about to replace; 0 or errno */
void bf_sync_folder(const char *path);

/* storage.c: of a storage that is no URL of a home the path; 0, or BF_EINVAL: it is a mistake. */
int bf_path_of(const char *storage, const char **path, bf_error *err);

/* cpu.c: each row can do what the ones before it can.  Far: AVX2, and lines of memory are fetched
 * into the second cache. */
typedef enum { BF_CPU_PORTABLE, BF_CPU_AVX2, BF_CPU_FAR, BF_CPUS } bf_cpu_row;
bf_cpu_row bf_cpu(void);
bool bf_has_avx2(void);
bool bf_has_avx512(void); /* on words of 256 bits */
#endif
