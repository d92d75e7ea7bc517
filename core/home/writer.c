/* writer.c - the writers' lock of a mapped file, and the list of the files that this process has
 * open for writing.
 *
 * An ordinary handle takes the writers' lock shared, before its first write. An exclusive handle
 * takes the lock exclusively, when it is opened. The lock is on a range far after the end of the
 * file. The length of the range is 1 + the process id, so that messages can name the process.
 *
 * The lock belongs to an open file description. The kernel releases the lock when the description
 * has no descriptor and no map left. An ordinary handle locks its own description, which forked
 * children share. An exclusive handle uses a bf_process_lock. */
#include "base/system.h"
#include "bits/bits.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the files that this process has open for writing ---- */
static bf_listed *open_files;
static int list_holder; /* bf_process() of the process that holds the lock of open_files, or 0 */

/* Each change of the list is a single store, so a forked child finds a consistent list. */
static void lock_list(void)
{
    while (!bf_try_holder(&list_holder)) sched_yield();
}

static void unlock_list(void) { bf_int_store_release(&list_holder, 0); }

void bf_listed_add(bf_listed *f, const bf_identity *id)
{
    f->id = *id;
    lock_list();
    f->next = open_files;
    open_files = f;
    unlock_list();
}

void bf_listed_drop(bf_listed *f)
{
    lock_list();
    for (bf_listed **at = &open_files; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    unlock_list();
}

int bf_replace_file(const char *temp, const char *path, bf_error *err)
{
    bf_identity id;
    uint64_t bytes;
    bool open = false;
    lock_list();
    if (bf_identify(AT_FDCWD, path, &id, &bytes))
        for (const bf_listed *f = open_files; f && !open; f = f->next)
            open = memcmp(&f->id, &id, sizeof id) == 0;
    const int e = !open && temp && rename(temp, path) < 0 ? errno : 0;
    unlock_list();
    if (open)
        return bf_fail(err, BF_EBUSY,
            "%.60s is open for writing in this process: save elsewhere and rename, or close it",
            path);
    return e ? bf_fail_sys(err, e, "write", path) : 0;
}

/* ---- the writers' lock ---- */
/* Returns 0 or an errno. The caller has called bf_hold_forks: a child that is forked before
 * bf_os_drop_on_fork would share the lock and keep it. */
static int take(const bf_file *f, bf_process_lock *h, struct flock *lock, int flags)
{
    void *map = MAP_FAILED;
    const int fd = bf_file_again(f, flags);
    if (fd < 0) return errno;
    if (bf_os_ofd_set(fd, lock) == 0) map = mmap(NULL, BF_HEADER, PROT_READ, MAP_SHARED, fd, 0);
    const int e = map == MAP_FAILED || bf_os_drop_on_fork(map, BF_HEADER) < 0 ? errno : 0;
    const bool keep = !e && !bf_os_map_holds_lock(fd);
    if (e && map != MAP_FAILED) munmap(map, BF_HEADER);
    if (!e) *h = (bf_process_lock){ map, keep ? fd : 0, bf_process() };
    if (!keep) close(fd);
    return e == EACCES ? EAGAIN : e;
}

static struct flock writers_range(short type)
{
    return (struct flock){ .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = ((off_t)1 << 62) + ((off_t)1 << 33), /* after the bytes that shadow.c locks */
        .l_len = 1 + (off_t)bf_pid() };
}

/* Returns true if errno e means that the file system has no locks of open file descriptions. ENOLCK
 * may also mean that the kernel has no memory for a lock; then F_OFD_GETLK succeeds. */
static bool has_no_such_locks(const bf_file *f, int e)
{
    struct flock l = writers_range(F_WRLCK);
    return e == EINVAL || e == ENOSYS || e == EOPNOTSUPP ||
           (e == ENOLCK && bf_os_ofd_get(f->descriptor, &l) < 0 && errno == ENOLCK);
}

int bf_process_lock_take(
    const bf_file *f, bf_process_lock *h, struct flock lock, int flags, bf_error *err)
{
    const int fd = bf_file_fd(f, NULL, err);
    if (fd < 0) return fd;
    bf_hold_forks();
    const int e = take(f, h, &lock, flags);
    bf_release_forks();
    return has_no_such_locks(f, e) ? ENOSYS : e;
}

/* Releases the lock. A forked child only closes its copy of the descriptor: another map may be at
 * the address of the lock's map. */
void bf_process_lock_drop(const bf_file *f, bf_process_lock *h)
{
    const bf_process_lock was = *h;
    *h = (bf_process_lock){ 0 };
    if (was.map && was.process == bf_process()) {
        munmap(was.map, BF_HEADER);
        if (was.fd) /* closing is not enough if a child has a copy */
            bf_os_ofd_set(was.fd, &(struct flock){ .l_type = F_UNLCK });
    }
    if (was.fd) bf_file_close(f, was.fd);
}

static int fail_other_writer(const bf_file *f, bf_error *err)
{
    struct flock l = writers_range(F_WRLCK);
    l.l_len = 1;
    if (bf_os_ofd_get(f->descriptor, &l) < 0 || l.l_type == F_UNLCK)
        return bf_fail(err, BF_EBUSY, "%.80s had another writer a moment ago: try again", f->path);
    return bf_fail(err, BF_EBUSY,
        l.l_type == F_RDLCK
            ? "%.80s has a writer (pid %lld): exclusive needs every other writer to close "
              "it"
            : "%.80s has an exclusive writer (pid %lld)",
        f->path, (long long)l.l_len - 1);
}

int bf_file_write_shared(const bf_file *f, bf_error *err)
{
    const int fd = bf_file_fd(f, NULL, err);
    if (fd < 0 || f->alone.map) return fd < 0 ? fd : 0;
    struct flock l = writers_range(F_RDLCK);
    const int e = bf_os_ofd_set(fd, &l) < 0 ? errno : 0;
    if (e == EAGAIN || e == EACCES) return fail_other_writer(f, err);
    return e && !has_no_such_locks(f, e) ? bf_fail_sys(err, e, "lock", f->path) : 0;
}

int bf_file_write_alone(bf_file *f, bf_error *err)
{
    const int e = bf_process_lock_take(f, &f->alone, writers_range(F_WRLCK), O_RDWR, err);
    if (e <= 0) return e;
    if (e == EAGAIN) return fail_other_writer(f, err);
    if (e == ENOSYS)
        return bf_fail(err, BF_ENOTSUP,
            "%.60s cannot have an exclusive writer: %s has no locks of open file descriptions",
            f->path, bf_os_has_ofd_locks ? "its file system" : "this system");
    return bf_fail_sys(err, e, "lock", f->path);
}
