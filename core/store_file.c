/* store_file.c - bits in a mapped file that any number of processes, of any language, use at once.  Knows mapping,
 * creating and syncing; the header's bytes are format.c's, opening and temporary files files.c's business.
 *
 * Adds are relaxed atomic ORs into the page cache: they survive kill -9 of any process as soon as they are made, and a
 * power loss once sync() has returned.  No lock is taken anywhere.  A file is created under a temporary name, on disk
 * with its header before it gets its real one, which never replaces an existing file. */
#include "system.h"
#include "chain.h"
#include "store_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef bf_file file;

static file *start(bf_store *s, const char *path, bf_error *err)
{
    file *f = s->impl;
    if (f) { if (f->fd >= 0) close(f->fd); f->fd = -1; return f; }      /* another try of the same opening */
    if ((s->impl = f = calloc(1, sizeof *f))) f->fd = -1;               /* 0 is somebody's file */
    if (!f || !(f->path = strdup(path))) { bf_fail(err, BF_ENOMEM, "out of memory"); return NULL; }
    return f;
}

static int map_whole(bf_store *s, file *f, uint64_t bytes, bf_error *err)
{
    void *p = bytes > SIZE_MAX ? MAP_FAILED
            : mmap(NULL, (size_t)bytes, s->read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED) return bf_fail_sys(err, bytes > SIZE_MAX ? ENOMEM : errno, "map", f->path);
#ifdef MADV_HUGEPAGE
    int keep = errno;
    madvise(p, (size_t)bytes, MADV_HUGEPAGE);             /* tmpfs and some others grant it; no loss elsewhere */
    errno = keep;
#endif
    struct stat st;
    if (fstat(f->fd, &st) < 0) { munmap(p, (size_t)bytes); return bf_fail_sys(err, errno, "look at", f->path); }
    f->device = st.st_dev;
    f->inode = st.st_ino;
    f->map = p;
    f->bytes = f->mapped = bytes;
    s->words = (uint64_t *)(void *)(f->map + BF_HEADER);
    return 0;
}

/* ---- what is there ---- */
/* Nothing under this name: fine where a filter can be made, an error where one was expected. */
static int absent(const bf_spec *spec, bf_error *err)
{
    struct stat st;
    if (lstat(spec->storage, &st) == 0 && S_ISLNK(st.st_mode))
        return bf_fail(err, BF_EIO, "cannot open %.100s: it is a symbolic link to nothing", spec->storage);
    if (!spec->read_only && !spec->must_exist && bf_sufficient(spec)) return 0;
    return bf_fail_sys(err, ENOENT, "open", spec->storage);
}

static bool nobody_writes(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & 0222) == 0;
}

static int open_existing(bf_store *s, file *f, uint64_t *len, bf_error *err)
{
    f->fd = bf_open_file(f->path, s->read_only ? O_RDONLY : O_RDWR, len, err);
    if (f->fd < 0 && !s->read_only && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        s->read_only = true;
        f->fd = bf_open_file(f->path, O_RDONLY, len, err);
    }
    if (f->fd >= 0 && nobody_writes(f->fd)) s->read_only = true;         /* root could: it must not */
    return f->fd < 0 ? BF_EIO : 0;
}

static int attach(bf_store *s, const bf_spec *spec, bf_desc *desc, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    uint64_t len = 0;
    file *f = start(s, spec->storage, err);
    if (!f) return BF_ENOMEM;
    bf_error why;                                           /* err is the caller's: nothing there may be no error */
    if (open_existing(s, f, &len, &why) < 0) {
        if (errno == ENOENT) return absent(spec, err);
        if (err) *err = why;
        return BF_EIO;
    }
    int rc = bf_read_at(f->fd, 0, page, len < BF_HEADER ? len : BF_HEADER, f->path, err);
    if (rc < 0 || (rc = bf_header_read(page, len, desc, f->path, err)) < 0) return rc;
    if ((rc = map_whole(s, f, desc->kind ? BF_HEADER : len, err)) < 0) return rc;
    f->stamp = bf_header_stamp(page);
    if (desc->kind) { s->words = NULL; return 1; }          /* chain_file.c maps the parts */
    rc = bf_header_verify(f->map, s->words, (bf_bits(&desc->g) + 63) / 64, f->path, err);
    return rc < 0 ? rc : 1;
}

/* ---- a new one ---- */
static int fill_new(const file *f, const bf_desc *d, bf_error *err)
{
    uint8_t page[BF_HEADER];
    if (d->kind) return bf_chain_file_fill(f->fd, d, f->path, err);
    int e = bf_reserve(f->fd, 0, bf_image_bytes(bf_bits(&d->g)));    /* a sparse file on a full disk would be SIGBUS later */
    if (e) return bf_fail_sys(err, e, "make room for", f->path);
    bf_header_new(page, d);
    if ((e = bf_write_at(f->fd, 0, page, sizeof page)) || (fsync(f->fd) && (e = errno))) return bf_fail_sys(err, e, "write", f->path);
    return 0;
}

/* Gives the file its name unless something has it; 0 either way.  link never replaces; where a file system has no links, a
 * rename would, and a look comes before it.  temp NULL: the file has no name yet. */
static int publish(const file *f, const char *temp, bf_error *err)
{
    char nameless[40];
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, temp ? temp : nameless, AT_FDCWD, f->path, temp ? 0 : AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST) return 0;
    if (temp && (errno == EPERM || errno == ENOTSUP || errno == ENOSYS) && (access(f->path, F_OK) == 0 || rename(temp, f->path) == 0)) return 0;
    return bf_fail_sys(err, errno, "create", f->path);
}

/* A file that this process cannot map is not made: it would stay behind, in full size. */
static int mappable(const file *f, bf_error *err)
{
    struct stat st;
    void *p = MAP_FAILED;
    if (fstat(f->fd, &st) < 0) return bf_fail_sys(err, errno, "look at", f->path);
    if ((uint64_t)st.st_size > SIZE_MAX) errno = ENOMEM;
    else p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED) return bf_fail_sys(err, errno, "map", f->path);
    munmap(p, (size_t)st.st_size);
    return 0;
}

/* f->fd is a new file, temp its name or NULL.  It is mapped by attach, under its own name: /proc/PID/maps shows that. */
static int make(file *f, const char *temp, const bf_desc *d, bf_error *err)
{
    int rc = fill_new(f, d, err);
    if (rc == 0) rc = mappable(f, err);
    if (rc == 0) rc = publish(f, temp, err);
    if (temp) unlink(temp);
    close(f->fd);
    f->fd = -1;
    if (rc == 0) bf_sync_folder(f->path);
    return rc;
}

/* A file without a name leaves nothing behind however its creator ends.  Where that cannot be had, or not be named (no
 * /proc), a file with a temporary name. */
static int create(bf_store *s, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    file *f = start(s, spec->storage, err);
    if (!f) return BF_ENOMEM;
    if ((f->fd = bf_nameless_file(f->path)) >= 0) {
        bf_error why;
        int rc = make(f, NULL, d, &why);
        if (rc == 0) return 0;
        if (why.sys_errno != ENOENT && why.sys_errno != ENOTSUP && why.sys_errno != EPERM) { if (err) *err = why; return rc; }
    }
    char *temp = bf_temp_file(f->path, &f->fd, err);
    if (!temp) return BF_EIO;
    int rc = make(f, temp, d, err);
    free(temp);
    return rc;
}

/* ---- in use ---- */
static int before_write(bf_store *s, bf_error *err)
{
    (void)err;
    bf_header_dirty(((file *)s->impl)->map);
    return 0;
}

/* A file that somebody cut short under the map kills with SIGBUS whoever touches what is gone; one that somebody copied
 * another filter over has other positions.  Found here wherever a call is long enough to pay for a look. */
static int check(bf_store *s, bf_error *err)
{
    const file *f = s->impl;
    struct stat st;
    if (fstat(f->fd, &st) < 0) return bf_fail_sys(err, errno, "look at", f->path);
    if ((uint64_t)st.st_size >= f->bytes) return bf_header_is(f->map, &f->stamp) ? 0 :
        bf_fail(err, BF_EFORMAT, "%.80s was overwritten while it was open: another filter is there now, open it again", f->path);
    return bf_fail(err, BF_EFORMAT, "%.80s was cut short while it was open: %llu bytes, it had %llu", f->path,
                   (unsigned long long)st.st_size, (unsigned long long)f->bytes);
}

static int sync_(bf_store *s, bf_error *err)
{
    const file *f = s->impl;
    int rc = check(s, err);
    if (rc < 0 || s->read_only) return rc;
    return msync(f->map, (size_t)f->mapped, MS_SYNC) || fsync(f->fd) ? bf_fail_sys(err, errno, "sync", f->path) : 0;
}

static bool current(const bf_store *s)
{
    const file *f = s->impl;
    struct stat st;
    return stat(f->path, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode && (uint64_t)st.st_size >= f->bytes
        && (f->mapped != BF_HEADER ? (uint64_t)st.st_size == f->bytes : true) && bf_header_is(f->map, &f->stamp);
}

static void close_(bf_store *s)
{
    file *f = s->impl;
    if (!f) return;
    if (f->map) munmap(f->map, (size_t)f->mapped);
    if (f->fd >= 0) close(f->fd);
    free(f->path);
    free(f);
}

const bf_store_ops bf_store_file = { .name = "file", .flags = BF_STORE_ATOMIC, .attach = attach, .create = create,
                                     .before_write = before_write, .check = check,
                                     .sync = sync_, .current = current, .close = close_, .chain = &bf_chain_file };
