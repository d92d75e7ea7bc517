/* descriptor.c - the file descriptors of a mapped file. The program may close them (libraries
 * that start daemons close all open descriptors). Then their numbers may lead to other files, or
 * to the same file opened again. So a handle marks each open file description that it opens: it
 * sets the file offset, which is not used for anything else, to the handle's number. The maps of
 * a file, and the lock of an ordinary writer, remain without a descriptor; on overlayfs and FUSE
 * the lock ends with the descriptor. */
#include "base/system.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The number is random, because two processes may have handles at the same address and pass
 * descriptors to each other. It is an offset of 1 to 2 GiB, which all file systems support and
 * few other descriptors have. */
static off_t number_of(const bf_file *f)
{
    const off_t least = 1 << 30;
    return least | (off_t)(f->number & (least - 1));
}

int bf_file_mark(const bf_file *f, int fd)
{
    return lseek(fd, number_of(f), SEEK_SET) < 0 ? errno : 0;
}

bool bf_file_owns(const bf_file *f, int fd)
{
    const int keep = errno;
    const bool owns = fd >= 0 && lseek(fd, 0, SEEK_CUR) == number_of(f);
    errno = keep;
    return owns;
}

/* Returns an error if the program has closed the descriptor, or the descriptor that an exclusive
 * writer's lock needs. */
int bf_file_fd(const bf_file *f, struct stat *st, bf_error *err)
{
    if (!bf_file_owns(f, f->descriptor) || (f->alone.fd && !bf_file_owns(f, f->alone.fd)))
        return bf_fail(err, BF_EIO,
            "cannot use %.60s: the program closed its file descriptor: open the filter again",
            f->path);
    return st && fstat(f->descriptor, st) < 0 ? bf_fail_sys(err, errno, "look at", f->path)
                                              : f->descriptor;
}

int bf_file_again(const bf_file *f, int flags)
{
    char name[40];
    struct stat a, b;
    if (fstat(f->descriptor, &a) < 0) return -1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", f->descriptor);
    int other = bf_above_stdio(open(name, flags | O_CLOEXEC));
    if (other < 0) other = bf_above_stdio(open(f->path, flags | O_CLOEXEC));
    if (other < 0) return -1;
    int e = fstat(other, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino ? ESTALE : 0;
    if (!e) e = bf_file_mark(f, other);
    if (!e) return other;
    close(other);
    errno = e;
    return -1;
}

void bf_file_close(const bf_file *f, int fd)
{
    if (bf_file_owns(f, fd)) close(fd);
}
