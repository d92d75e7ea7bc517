/* shadow.c - stores the shadow of a rebuild (sets/rebuild.h): in process memory, or in the mapped
 * file after its bits. In a file, all processes that have the file open use the same shadow.
 *
 * The process that rebuilds a file holds a lock (bf_process_lock) on a byte far after the end of
 * the file. Other processes test this lock to find out if that process is alive. Each rebuild locks
 * another byte. Without such locks, the shadow of a dead process stays until the next rebuild.
 *
 * One word after the shadow is its sum (bf_shadow_sum). */
#include "base/system.h"
#include "bits/bits.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in memory ---- */
/* Clears the pointer first: a child forked at any moment finds a valid shadow or NULL. */
static int drop_memory(bf_filter *f, bf_error *err)
{
    uint64_t *old = f->shadow;
    (void)err;
    f->shadow = NULL;
    bf_fence();
    free(old);
    return 0;
}

static int words_memory(bf_filter *f, bool create, uint64_t **shadow, bf_error *err)
{
    const uint64_t nwords = f->bitmap.store.nwords + 1;
    if (create) {
        drop_memory(f, NULL);
        if (!(f->shadow = bf_words_new(nwords)))
            return bf_fail(
                err, BF_ENOMEM, "memory cannot hold %llu bytes to rebuild it", (ull)nwords * 8);
    }
    *shadow = f->shadow;
    return f->shadow != NULL;
}

const bf_shadow_ops bf_shadow_memory = { .words = words_memory, .drop = drop_memory };

/* ---- the process that rebuilds a file ---- */
static bf_file *file_of(const bf_filter *f) { return f->bitmap.store.impl; }

/* Returns the lock of the process that rebuilds: one byte, chosen by the generation. */
static struct flock maker_byte(const bf_filter *f, short type)
{
    const off_t number = (off_t)(bf_generation_number(bf_load_acquire(f->generation)) & 0xFFFFFFFF);
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 62) + number, .l_len = 1
    };
}

static int maker_lives(const bf_filter *f)
{
    struct flock l = maker_byte(f, F_WRLCK);
    const int fd = bf_file_fd(file_of(f), NULL, NULL);
    if (fd >= 0 && bf_os_ofd_get(fd, &l) == 0) return l.l_type != F_UNLCK;
    return -1;
}

/* ---- in a file ---- */
static uint64_t bits_of(const bf_filter *f) { return bf_bits(&f->bitmap.g); }
static size_t bytes_of(const bf_filter *f) { return ((size_t)f->bitmap.store.nwords + 1) * 8; }

static int cut_shadow(bf_filter *f, bf_error *err)
{
    const bf_file *file = file_of(f);
    const int fd = bf_file_fd(file, NULL, err);
    if (fd < 0) return fd;
    int e = bf_cut_file(fd, bf_image_bytes(bits_of(f)));
    if (!e) e = bf_sync_file(&f->wait, fd);
    return e ? bf_fail_sys(err, e, "truncate", file->path) : 0;
}

static int create_shadow(bf_filter *f, bf_error *err)
{
    bf_file *file = file_of(f);
    bf_process_lock_drop(file, &file->maker);
    int e = bf_process_lock_take(file, &file->maker, maker_byte(f, F_RDLCK), O_RDONLY, err), rc;
    if (e > 0 && e != ENOSYS) return bf_fail_sys(err, e, "lock", file->path);
    if (e < 0 || (e = cut_shadow(f, err)) < 0) return e;
    if ((rc = bf_file_fd(file, NULL, err)) < 0) return rc;
    e = bf_reserve(rc, bf_shadow_from(bits_of(f)), bytes_of(f));
    return e ? bf_fail_sys(err, e, "allocate space to rebuild", file->path) : 0;
}

static int words_file(bf_filter *f, bool create, uint64_t **shadow, bf_error *err)
{
    bf_file *file = file_of(f);
    const uint64_t at = bf_shadow_from(bits_of(f));
    struct stat st;
    if (create && !bf_os_cuts_maps)
        return bf_fail(err, BF_ENOTSUP,
            "%.60s cannot be rebuilt: this system does not shorten a file that is mapped",
            file->path);
    int rc = create ? create_shadow(f, err) : 0;
    if (rc < 0) return rc;
    const int fd = bf_file_fd(file, &st, err);
    if (fd < 0) return fd;
    if ((uint64_t)st.st_size < bf_shadow_to(bits_of(f)))
        return create
                   ? bf_fail(err, BF_EFORMAT, "%.80s was truncated while it was open", file->path)
                   : 0;
    if (!file->shadow) {
        void *p = mmap(NULL, bytes_of(f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
        if (p == MAP_FAILED) return bf_fail_sys(err, errno, "map", file->path);
        file->shadow = p;
        file->shadow_bytes = bytes_of(f);
    }
    *shadow = file->shadow;
    return 1;
}

/* Clears the pointer first: a child forked at any moment finds a valid map or NULL. */
static void unmap(bf_file *file)
{
    uint64_t *map = file->shadow;
    file->shadow = NULL;
    bf_fence();
    if (map) munmap(map, file->shadow_bytes);
}

static int drop_file(bf_filter *f, bf_error *err)
{
    bf_file *file = file_of(f);
    const int rc = cut_shadow(f, err);
    unmap(file);
    bf_process_lock_drop(file, &file->maker);
    return rc;
}

void bf_file_end_shadow(bf_file *file)
{
    unmap(file);
    bf_process_lock_drop(file, &file->maker);
}

static int sync_file(bf_filter *f, bf_sync_what what, bf_error *err)
{
    const bf_file *file = file_of(f);
    int e = what == BF_SYNC_SHADOW ? bf_sync_map(&f->wait, file->shadow, bytes_of(f))
            : what == BF_SYNC_BITS ? bf_sync_map(&f->wait, file->first.map, file->first.mapped)
                                   : bf_sync_map(&f->wait, file->first.map, BF_HEADER);
    const int fd = bf_file_fd(file, NULL, err);
    if (fd < 0) return fd;
    if (!e && what != BF_SYNC_GENERATION) e = bf_sync_file(&f->wait, fd);
    return e ? bf_fail_sys(err, e, "sync", file->path) : 0;
}

const bf_shadow_ops bf_shadow_file = {
    .words = words_file, .drop = drop_file, .sync = sync_file, .maker_lives = maker_lives
};
