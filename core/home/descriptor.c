/* descriptor.c - opens, labels and closes the file descriptors of a mapped file.
 *
 * The program may close a descriptor of this library: code that starts a daemon often closes all
 * descriptors. Then the same number may lead to another file. So each handle labels the open file
 * descriptions that it opens: it sets their file offset to its own number. Nothing else uses that
 * offset. After such a close the maps still work. An ordinary writer's lock also remains, except on
 * overlayfs and FUSE. */
#include "base/system.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Returns the label of the handle: a random file offset from 1 to 2 GiB. All file systems support
 * such an offset, and few other descriptors have one. It is random, because processes can pass
 * descriptors to each other. */
static off_t label_of(const bf_file *f)
{
    const off_t least = 1 << 30;
    return least | (off_t)(f->number & (least - 1));
}

int bf_file_label(const bf_file *f, int fd)
{
    return lseek(fd, label_of(f), SEEK_SET) < 0 ? errno : 0;
}

bool bf_file_owns(const bf_file *f, int fd)
{
    const int keep = errno;
    const bool owns = fd >= 0 && lseek(fd, 0, SEEK_CUR) == label_of(f);
    errno = keep;
    return owns;
}

/* Also fails if the program has closed the descriptor that holds an exclusive writer's lock. */
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
    struct stat a, b;
    if (fstat(f->descriptor, &a) < 0) return -1;
    int other = bf_above_stdio(bf_os_reopen(f->descriptor, flags | O_CLOEXEC));
    if (other < 0) other = bf_above_stdio(open(f->path, flags | O_CLOEXEC));
    if (other < 0) return -1;
    int e = fstat(other, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino ? ESTALE : 0;
    if (!e) e = bf_file_label(f, other);
    if (!e) return other;
    close(other);
    errno = e;
    return -1;
}

void bf_file_close(const bf_file *f, int fd)
{
    if (bf_file_owns(f, fd)) close(fd);
}
