/* file.c - bits in a mapped file, which several processes can use at the same time. Creates, opens,
 * maps, checks, syncs and locks such files.
 *
 * Adds are relaxed atomic writes to the page cache. If the handle is the file's exclusive writer,
 * they are plain writes. A completed add survives kill -9 of its process, and after sync() also a
 * power loss.
 * Before its first write, a handle takes the writers' lock (writer.c). A new file gets its name
 * after its header is on disk, and never replaces an existing file. */
#include "base/system.h"
#include "bits/bits.h"
#include "parts/parts.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef bf_file file;

/* Returns path as an absolute path, which the caller frees; NULL: out of memory. */
static char *absolute_of(const char *path)
{
    char *folder = bf_is_absolute(path) ? NULL : getcwd(NULL, 0);
    const size_t cap = (folder ? strlen(folder) : 0) + strlen(path) + 2;
    char *absolute = malloc(cap);
    if (absolute) snprintf(absolute, cap, "%s%s%s", folder ? folder : "", folder ? "/" : "", path);
    free(folder);
    return absolute;
}

/* Returns the bf_file of s without an open descriptor; creates it if there is none. NULL: error. */
static file *start(bf_store *s, const char *storage, bf_error *err)
{
    file *f = s->impl;
    const char *path;
    if (f) {
        bf_file_close(f, f->descriptor);
        f->descriptor = -1;
        return f;
    }
    if (bf_path_of(storage, &path, err) < 0) return NULL;
    if ((s->impl = f = calloc(1, sizeof *f))) f->descriptor = -1;
    if (!f || !(f->path = strdup(path)) || !(f->absolute = absolute_of(path))) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    return f;
}

/* ---- maps ---- */
static int map_descriptor(
    const file *f, int fd, bf_file_map *m, uint64_t at, uint64_t bytes, bf_store *s, bf_error *err)
{
    const uint64_t shift = at % (uint64_t)sysconf(_SC_PAGESIZE), length = bytes + shift;
    const int prot = s->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void *p = length > SIZE_MAX
                  ? MAP_FAILED
                  : mmap(NULL, (size_t)length, prot, MAP_SHARED, fd, (off_t)(at - shift));
    if (p == MAP_FAILED)
        return bf_fail_sys(err, length > SIZE_MAX ? ENOMEM : errno, "map", f->path);
    /* requests huge pages, which only tmpfs and some other file systems have */
    bf_os_huge_pages(p, (size_t)length);
    *m = (bf_file_map){ (uint8_t *)p + shift, p, (size_t)length, f, at };
    s->words = (uint64_t *)(void *)(m->page + BF_HEADER);
    return 0;
}

int bf_file_map_at(
    const file *f, bf_file_map *m, uint64_t at, uint64_t bytes, bf_store *s, bf_error *err)
{
    const int fd = bf_file_fd(f, NULL, err);
    return fd < 0 ? fd : map_descriptor(f, fd, m, at, bytes, s, err);
}

/* Checks that the descriptor still leads to the mapped file. Sets *bytes to the file's length. On
 * overlayfs, the first open for writing copies the file. Afterwards a descriptor that was opened
 * for reading leads to the copy, but its maps show the original. */
static int check_layer(const file *f, uint64_t *bytes, bf_error *err)
{
    bf_identity id;
    const bool known = bf_identify(f->descriptor, "", &id, bytes);
    if (known && memcmp(&id, &f->id, sizeof id) == 0) return 0;
    if (!known || id.inode != f->id.inode) return bf_file_lost_fd(f, known ? 0 : errno, err);
    bf_fail(err, BF_EIO,
        "%.60s was copied by overlayfs for a writer while it was open: open it again", f->path);
    if (err) err->lost = true;
    return BF_EIO;
}

/* Maps the file that was just opened. Its check covers all uses of the descriptor since then. */
static int map_first(bf_store *s, file *f, uint64_t bytes, bf_error *err)
{
    uint64_t now;
    int rc = map_descriptor(f, f->descriptor, &f->first, 0, bytes, s, err);
    if (rc < 0 || (rc = check_layer(f, &now, err)) < 0) return rc;
    f->bytes = bytes;
    return now < bytes
               ? bf_fail(err, BF_EFORMAT, "%.80s was truncated while it was opened", f->path)
               : 0;
}

/* Marks the header page as dirty and syncs the page, before the first bit is written. Without the
 * sync, a power loss could leave changed bits and a clean page; such a file counts as damaged.
 * Every handle syncs the page: if another handle marked it, the sync may not be complete yet. */
int bf_map_before_write(bf_store *s, bf_error *err)
{
    const bf_file_map *m = s->impl;
    bf_header_dirty(m->page);
    const int e = bf_sync_map(s->wait, m->map, (size_t)(m->page - (uint8_t *)m->map) + BF_HEADER);
    return e ? bf_fail_sys(err, e, "sync", m->file->path) : 0;
}

int bf_map_sync(bf_store *s, bf_error *err)
{
    const bf_file_map *m = s->impl;
    const int e = s->read_only ? 0 : bf_sync_map(s->wait, m->map, m->mapped);
    return e ? bf_fail_sys(err, e, "sync", m->file->path) : 0;
}

/* ---- reading words without the map ---- */
int bf_file_read(const file *f, uint64_t at, void *buf, uint64_t len, bf_error *err)
{
    const int fd = bf_file_fd(f, NULL, err);
    return fd < 0 ? fd : bf_read_at(fd, at, buf, len, f->path, err);
}

typedef struct {
    const bf_file_map *map;
    bf_error *err;
    uint64_t room[BF_BLOCK];
} words;
static const uint64_t *read_block(void *ctx, uint64_t at, uint64_t n)
{
    words *w = ctx;
    const uint64_t from = w->map->at + BF_HEADER + at * 8;
    return bf_file_read(w->map->file, from, w->room, n * 8, w->err) < 0 ? NULL : w->room;
}

int bf_map_verify(const bf_file_map *m, uint64_t nwords, bf_error *err)
{
    words w = { .map = m, .err = err };
    return bf_header_verify_of(m->page, read_block, &w, nwords, m->file->path, err);
}

int bf_map_read_file(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const bf_file_map *m = s->impl;
    return bf_file_read(m->file, m->at + BF_HEADER + offset, buf, len, err);
}

/* ---- opening an existing file ---- */
/* There is no file at the path: returns 0 if a filter may be created, else an error. */
static int absent(const file *f, const bf_spec *spec, bf_error *err)
{
    struct stat st;
    if (lstat(f->path, &st) == 0 && S_ISLNK(st.st_mode))
        return bf_fail(err, BF_EIO, "cannot open %.100s: it is a dangling symbolic link", f->path);
    if (bf_may_create(spec)) return 0;
    return bf_fail_absent(err, f->path);
}

/* A write to a hole raises SIGBUS if the disk is full. Copies (cp --sparse) may have holes in place
 * of zeros. A file has holes if it uses less disk space than its length. */
static int fill_holes(
    const bf_store *s, int fd, const struct stat *st, uint64_t at, uint64_t bytes, bf_error *err)
{
    const file *f = s->impl;
    const uint64_t len = (uint64_t)st->st_size, room = (uint64_t)st->st_blocks * 512;
    const uint64_t lacks = len > room ? len - room : 0;
    const int e = (s->read_only ? bf_read_holes : bf_allocate_holes)(fd, at, bytes, lacks);
    return e ? bf_fail_sys(err, e, "allocate the holes of", f->path) : 0;
}

int bf_file_room(const bf_store *s, uint64_t at, uint64_t bytes, bf_error *err)
{
    struct stat st;
    const int fd = bf_file_fd(s->impl, &st, err);
    return fd < 0 ? fd : fill_holes(s, fd, &st, at, bytes, err);
}

static void list(file *f, bool listed)
{
    if (f->listed) bf_listed_drop(&f->open);
    if (listed) bf_listed_add(&f->open, &f->id);
    f->listed = listed;
}

/* Opens the file, stores its identity in f->id, and lists a file that is opened for writing.
 * Returns a descriptor, or an error and errno. Tries again if the name led to another file: for a
 * writer after it was listed, because save() replaces files that are not listed; for a reader
 * before it was opened, because f->id must identify the file that will be mapped, and overlayfs may
 * have copied the file since. */
static int open_identified(file *f, bool write, struct stat *st, bf_error *err)
{
    enum { TRIES = 8 };
    bf_identity named = { 0 };
    uint64_t bytes;
    for (int tries = 1;; tries++) {
        if (!write) bf_identify(AT_FDCWD, f->path, &named, &bytes);
        const int fd = bf_open_file(f->path, write ? O_RDWR : O_RDONLY, st, err);
        if (fd < 0) return fd;
        int e = bf_identify(fd, "", &f->id, &bytes) ? 0 : errno;
        if (!e && write) {
            list(f, true);
            if (!bf_identify(AT_FDCWD, f->path, &named, &bytes)) named = (bf_identity){ 0 };
        }
        if (!e && (!memcmp(&named, &f->id, sizeof named) || (!write && tries == TRIES))) return fd;
        list(f, false);
        close(fd);
        if (!e && tries < TRIES) continue;
        if (!e) e = ESTALE;
        const int rc = bf_fail_sys(err, e, "open", f->path);
        errno = e;
        return rc;
    }
}

static int open_existing(bf_store *s, file *f, struct stat *st, bf_error *err)
{
    int fd = open_identified(f, !s->read_only, st, err);
    if (fd < 0 && !s->read_only && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        s->read_only = true;
        fd = open_identified(f, false, st, err);
    }
    if (fd < 0) return fd;
    /* root can open a file for writing even if nobody has write permission */
    if (!(st->st_mode & 0222)) s->read_only = true;
    if (s->read_only) list(f, false);
    f->descriptor = fd;
    return 0;
}

static int attach(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    struct stat st;
    file *f = start(s, spec->storage, err);
    if (!f) return BF_ENOMEM;
    bf_error why; /* copied to *err later, because a missing file may not be an error */
    int rc = open_existing(s, f, &st, &why);
    if (rc < 0) {
        if (errno == ENOENT) return absent(f, spec, err);
        if (err) *err = why;
        return rc;
    }
    const int fd = f->descriptor;
    uint64_t len = (uint64_t)st.st_size;
    rc = bf_read_at(fd, 0, page, len < BF_HEADER ? len : BF_HEADER, f->path, err);
    if (rc < 0) return rc;
    if (spec->exclusive && s->read_only)
        return bf_fail(err, BF_EIO,
            "%.60s cannot have an exclusive writer: there is no permission to write to it",
            f->path);
    if (bf_is_compact(page, len))
        return bf_fail(err, BF_ENOTSUP,
            "%.60s has a compact header and cannot be mapped: use load(), or convert it with "
            "bloomfilter convert",
            f->path);
    if ((rc = bf_header_read(page, BF_HEADER, len, desc, f->path, err)) < 0) return rc;
    /* for many parts, only the first page is mapped here; file_parts.c maps the parts */
    len = bf_has_parts(desc) ? BF_HEADER : bf_image_bytes(bf_bits(&desc->g));
    if ((rc = fill_holes(s, fd, &st, 0, len, err)) < 0 || (rc = map_first(s, f, len, err)) < 0)
        return rc;
    if (spec->exclusive && (rc = bf_file_write_alone(f, err)) < 0) return rc;
    f->stamp = bf_header_stamp(page);
    s->made = f->made.inode && memcmp(&f->made, &f->id, sizeof f->id) == 0;
    if (bf_has_parts(desc)) {
        s->words = NULL;
        return 1;
    }
    s->generation = bf_header_live(f->first.page);
    rc = bf_map_verify(&f->first, bf_words_of(&desc->g), err);
    return rc < 0 ? rc : 1;
}

/* ---- creating a file ---- */
static int fill_new(const file *f, int fd, const bf_params *d, bf_error *err)
{
    uint8_t page[BF_HEADER];
    if (bf_has_parts(d)) return bf_chain_file_fill(fd, d, f->path, err);
    /* a later write to a hole would raise SIGBUS on a full disk */
    int e = bf_reserve(fd, 0, bf_image_bytes(bf_bits(&d->g)));
    if (e) return bf_fail_sys(err, e, "allocate space for", f->path);
    bf_header_new(page, d);
    if ((e = bf_write_at(fd, 0, page, sizeof page)) || (e = bf_sync_file(NULL, fd)))
        return bf_fail_sys(err, e, "write", f->path);
    return 0;
}

/* Checks that this process can map the new file. Called before the file gets its name, so that a
 * failure leaves no large file behind. */
static int mappable(const file *f, int fd, bf_error *err)
{
    struct stat st;
    void *p = MAP_FAILED;
    if (fstat(fd, &st) < 0) return bf_fail_sys(err, errno, "look at", f->path);
    if ((uint64_t)st.st_size > SIZE_MAX)
        errno = ENOMEM;
    else
        p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return bf_fail_sys(err, errno, "map", f->path);
    munmap(p, (size_t)st.st_size);
    return 0;
}

/* Fills a new file and gives it its name, unless another file has that name. Closes fd. temp: the
 * temporary name of fd, or NULL. Returns 0 or an error. attach() maps the file later, so that
 * /proc/PID/maps shows the final name. */
static int complete_file(file *f, int fd, const char *temp, const bf_params *d, bf_error *err)
{
    int rc = fill_new(f, fd, d, err);
    if (rc == 0) rc = mappable(f, fd, err);
    uint64_t bytes; /* identified before it is renamed: then Wine no longer knows its volume */
    if (rc == 0 && !bf_identify(fd, "", &f->made, &bytes)) f->made = (bf_identity){ 0 };
    const int e = rc == 0 ? bf_name_file(fd, temp, f->path) : 0;
    if (e && e != EEXIST) rc = bf_fail_sys(err, e, "create", f->path);
    if (temp) unlink(temp);
    bf_unlock_file(fd);
    if (rc == 0) bf_sync_folder(f->path);
    return rc;
}

/* Creates the file without a name (O_TMPFILE), so that nothing is left behind if this process dies.
 * If that fails, or the file cannot get a name (no /proc), creates it under a temporary name.
 * Returns 0 on success, because attach() must open the file. */
static int create(bf_store *s, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    file *f = start(s, spec->storage, err);
    if (!f) return BF_ENOMEM;
    int fd = bf_open_tmpfile(f->path);
    if (fd >= 0) {
        bf_error why;
        int rc = complete_file(f, fd, NULL, d, &why);
        if (rc == 0) return 0;
        const bool other = why.sys_errno == ENOENT || bf_no_hardlinks(why.sys_errno);
        if (!other) {
            if (err) *err = why;
            return rc;
        }
    }
    char *temp = bf_temp_file(f->path, 0666, &fd, err);
    if (!temp) return bf_code_of(err);
    int rc = complete_file(f, fd, temp, d, err);
    free(temp);
    return rc;
}

/* ---- checks, syncing and names ---- */
static int before_write(bf_store *s, bf_error *err)
{
    const int rc = bf_file_write_shared(s->impl, err);
    return rc < 0 ? rc : bf_map_before_write(s, err);
}

/* Fails if another program truncated the file (access through the map would raise SIGBUS), or
 * copied another filter over the file. Long calls start with this check. Reads f->bytes before the
 * file's length, because another thread may append a part in between. */
static int check(bf_store *s, bf_error *err)
{
    const file *f = s->impl;
    const uint64_t must = bf_word(&f->bytes);
    struct stat st;
    uint64_t now;
    int rc = s->read_only ? check_layer(f, &now, err) : 0;
    if (rc < 0 || (rc = bf_file_fd(f, &st, err)) < 0) return rc;
    if ((uint64_t)st.st_size >= must)
        return bf_header_is(f->first.page, &f->stamp)
                   ? 0
                   : bf_fail(err, BF_EFORMAT,
                         "%.80s was overwritten while it was open: "
                         "another filter is there now, open it again",
                         f->path);
    return bf_fail(err, BF_EFORMAT,
        "%.80s was truncated while it was open: %llu bytes, it had %llu", f->path, (ull)st.st_size,
        (ull)must);
}

static int sync_(bf_store *s, bf_error *err)
{
    const file *f = s->impl;
    int rc = check(s, err);
    if (rc < 0 || s->read_only || (rc = bf_map_sync(s, err)) < 0) return rc;
    const int fd = bf_file_fd(f, NULL, err), e = fd < 0 ? 0 : bf_sync_file(s->wait, fd);
    return fd < 0 ? fd : e ? bf_fail_sys(err, e, "sync", f->path) : 0;
}

/* Returns 1 if the path still leads to this file, with a valid length and the same header. Reads
 * the map last: if the file was truncated, an earlier access would raise SIGBUS. */
static int current(const bf_store *s, bf_error *err)
{
    const file *f = s->impl;
    bf_identity id;
    uint64_t bytes;
    const uint64_t must = bf_word(&f->bytes);
    (void)err;
    return bf_identify(AT_FDCWD, f->path, &id, &bytes) && memcmp(&id, &f->id, sizeof id) == 0 &&
           bytes >= must && bf_header_is(f->first.page, &f->stamp);
}

/* Returns false if the name leads to another file or to none. If this process has no permission to
 * look up the path, returns true while the file has any name. */
static bool has_name(const bf_store *s)
{
    const file *f = s->impl;
    bf_identity id;
    uint64_t bytes;
    struct stat st;
    if (bf_identify(AT_FDCWD, f->absolute, &id, &bytes)) return !memcmp(&id, &f->id, sizeof id);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return false;
    return bf_file_fd(f, &st, NULL) < 0 || st.st_nlink > 0;
}

/* ---- the lock ---- */
/* Takes flock(2) on a new open file description. The lock excludes all other handles and processes,
 * forked children, too. The kernel releases the lock when the holder dies. A forked child must
 * close its copy of the descriptor (here), or the file would stay locked after the parent's death.
 * So lock_fd is set before another thread can fork, and reset after the file is unlocked. */
static int lock(bf_filter *handle, bf_error *err)
{
    const file *f = handle->bitmap.store.impl;
    bf_file_close(f, handle->lock_fd);
    handle->lock_fd = -1;
    int fd = bf_file_fd(f, NULL, err);
    if (fd < 0) return fd;
    bf_hold_forks();
    fd = handle->lock_fd = bf_file_again(f, O_RDONLY);
    bf_release_forks();
    const int e = fd < 0 ? errno : bf_lock_file(&handle->wait, fd);
    if (e == 0) return 0;
    handle->lock_fd = -1;
    bf_file_close(f, fd);
    if (e != EWOULDBLOCK) return bf_fail_sys(err, e, "lock", f->path);
    if (bf_refuse_wait(err, f->path, "is locked by another process") < 0) return BF_EBUSY;
    return bf_fail(err, BF_EIO,
        "cannot lock %.60s: another process holds its lock (flock); this call waited %d seconds",
        f->path, bf_waited());
}

static void unlock(bf_filter *handle)
{
    const int fd = handle->lock_fd;
    if (fd >= 0) bf_unlock_file(fd);
    handle->lock_fd = -1;
}

static void close_(bf_store *s)
{
    file *f = s->impl;
    if (!f) return;
    bf_file_end_shadow(f);
    list(f, false);
    bf_process_lock_drop(f, &f->alone);
    if (f->first.map) munmap(f->first.map, f->first.mapped);
    bf_file_close(f, f->descriptor);
    free(f->path);
    free(f->absolute);
    free(f);
}

const bf_store_ops bf_store_file = { .name = "file",
    .flags = BF_STORE_ATOMIC,
    .attach = attach,
    .create = create,
    .before_write = before_write,
    .check = check,
    .sync = sync_,
    .read = bf_map_read_file,
    .current = current,
    .has_name = has_name,
    .lock = lock,
    .unlock = unlock,
    .close = close_,
    .chain = &bf_chain_file,
    .shadow = &bf_shadow_file };
