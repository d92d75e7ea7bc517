/* descriptor.c - opens, checks and closes the file descriptors of a mapped file.
 *
 * A program must not close them. If it does (code that starts a daemon often closes all
 * descriptors), their numbers may lead to other files. So each operation first compares device and
 * inode of the file to which the descriptor leads. After such a close the maps still work. */
#include "base/system.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool leads_here(const bf_file *f, int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && (uint64_t)st->st_dev == f->id.device && st->st_ino == f->id.inode;
}

int bf_file_lost_fd(const bf_file *f, int e, bf_error *err)
{
    return e && e != EBADF
               ? bf_fail_sys(err, e, "look at", f->path)
               : bf_fail(err, BF_EIO,
                     "cannot use %.60s: the program closed its file descriptor: open the filter "
                     "again",
                     f->path);
}

int bf_file_fd(const bf_file *f, struct stat *st, bf_error *err)
{
    struct stat now;
    errno = 0;
    return leads_here(f, f->descriptor, st ? st : &now) ? f->descriptor
                                                        : bf_file_lost_fd(f, errno, err);
}

int bf_file_again(const bf_file *f, int flags)
{
    struct stat st;
    int fd = bf_above_stdio(bf_os_reopen(f->descriptor, flags | O_CLOEXEC));
    if (fd < 0) fd = bf_above_stdio(open(f->path, flags | O_CLOEXEC));
    if (fd < 0 || leads_here(f, fd, &st)) return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

void bf_file_close(const bf_file *f, int fd)
{
    struct stat st;
    errno = 0;
    if (fd >= 0 && (leads_here(f, fd, &st) || (errno && errno != EBADF))) close(fd);
}
