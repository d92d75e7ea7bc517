/* draft_file.c - the draft of a mapped file lies behind its bits, in the same file: whoever has the
 * file open reaches it by the same descriptor, wherever the name leads by now.  Its hold is
 * flock(2), as that of files of many parts.
 *
 * Its maker keeps a lock on a byte far behind the file's end (an open file description lock), which
 * the kernel gives back when the maker dies.  A child of fork shares that description: the lock is
 * given back by name at the end, and a child that comes to the hold closes its side. Systems
 * without such locks do not know whether the maker lives: the draft stays until the next rebuild.
 */
#include "base/system.h"
#include "home/file.h"
#include "parts/rebuild.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bf_file *file_of(const bf_filter *f) { return f->part.store.impl; }
static uint64_t bits_of(const bf_filter *f) { return bf_bits(&f->part.g); }

static uint64_t *edition(bf_filter *f) { return bf_header_edition(file_of(f)->map); }

/* ---- its maker ---- */
#ifdef F_OFD_SETLK
static struct flock far_byte(short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1
    };
}

static int mark_living(bf_file *file)
{
    struct flock l = far_byte(F_RDLCK);
    file->maker = bf_file_again(file);
    file->maker_process = bf_process();
    return file->maker < 0 || fcntl(file->maker, F_OFD_SETLK, &l) < 0 ? errno : 0;
}

static void unmark(const bf_file *file)
{
    struct flock l = far_byte(F_UNLCK);
    if (file->maker >= 0) fcntl(file->maker, F_OFD_SETLK, &l);
}

static int made_by_living(const bf_filter *f)
{
    struct flock l = far_byte(F_WRLCK);
    return fcntl(file_of(f)->fd, F_OFD_GETLK, &l) < 0 ? -1 : l.l_type != F_UNLCK;
}
#else
static int mark_living(bf_file *file)
{
    file->maker_process = bf_process();
    return 0;
}
static void unmark(const bf_file *file) { (void)file; }
static int made_by_living(const bf_filter *f)
{
    (void)f;
    return -1;
}
#endif

static void forget_maker(bf_file *file)
{
    if (file->maker >= 0) close(file->maker);
    file->maker = -1;
}

/* ---- the hold ---- */
/* The rebuild of a parent is not its child's, who would give it up when it exits. */
static void forget_parents(bf_filter *f)
{
    if (!f->began || file_of(f)->maker_process == bf_process()) return;
    f->began = 0;
    forget_maker(file_of(f));
}

static int hold(bf_filter *f, int *token, bf_error *err)
{
    bf_store *s = &f->part.store;
    int rc = bf_file_lock(f, token, err);
    if (rc < 0) return rc;
    if ((rc = s->ops->check(s, err)) < 0) bf_unlock_file(*token);
    if (rc == 0) forget_parents(f);
    return rc;
}

static void let(bf_filter *f, int token)
{
    (void)f;
    bf_unlock_file(token);
}

/* ---- the draft ---- */
static int cut(bf_filter *f)
{
    const bf_file *file = file_of(f);
    const int e = bf_cut_file(file->fd, bf_image_bytes(bits_of(f)));
    return e ? e : bf_sync_file(file->fd);
}

static int make(bf_filter *f, bf_error *err)
{
    bf_file *file = file_of(f);
    const uint64_t at = bf_draft_from(bits_of(f));
    int e = mark_living(file);
    if (e) return bf_fail_sys(err, e, "lock", file->path);
    if ((e = cut(f)) == 0) e = bf_reserve(file->fd, at, bf_draft_to(bits_of(f)) - at);
    return e ? bf_fail_sys(err, e, "allocate space to rebuild", file->path) : 0;
}

static int words(bf_filter *f, uint64_t **draft, bf_error *err)
{
    bf_file *file = file_of(f);
    const uint64_t at = bf_draft_from(bits_of(f)), bytes = bf_draft_to(bits_of(f)) - at;
    struct stat st;
    if (fstat(file->fd, &st) < 0) return bf_fail_sys(err, errno, "look at", file->path);
    if ((uint64_t)st.st_size < at + bytes) return 0;
    if (!file->draft) {
        void *p =
            mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (off_t)at);
        if (p == MAP_FAILED) return bf_fail_sys(err, errno, "map", file->path);
        file->draft = p;
        file->draft_bytes = bytes;
    }
    uint64_t *first = (uint64_t *)(void *)file->draft;
    int rc = bf_header_verify(file->map, first, bytes / 8, file->path, err);
    if (rc < 0) return rc; /* in the place of the bits it would damage them */
    *draft = first;
    return 1;
}

static int drop(bf_filter *f, bf_error *err)
{
    bf_file *file = file_of(f);
    const int e = cut(f);
    bf_file_forget_draft(file);
    unmark(file);
    forget_maker(file);
    return e ? bf_fail_sys(err, e, "truncate", file->path) : 0;
}

void bf_file_forget_draft(bf_file *file)
{
    if (file->draft) munmap(file->draft, (size_t)file->draft_bytes);
    file->draft = NULL;
}

void bf_file_end_drafts(bf_file *file)
{
    bf_file_forget_draft(file);
    forget_maker(file);
}

static int keep(bf_filter *f, bf_keep what, bf_error *err)
{
    const bf_file *file = file_of(f);
    int e = what == BF_KEEP_DRAFT  ? bf_sync_map(file->draft, (size_t)file->draft_bytes)
            : what == BF_KEEP_BITS ? bf_sync_map(file->map, (size_t)file->mapped)
                                   : bf_sync_map(file->map, BF_HEADER);
    if (!e && what != BF_KEEP_EDITION) e = bf_sync_file(file->fd);
    return e ? bf_fail_sys(err, e, "sync", file->path) : 0;
}

const bf_draft_ops bf_draft_file = { .edition = edition,
    .hold = hold,
    .let = let,
    .make = make,
    .words = words,
    .made_by_living = made_by_living,
    .drop = drop,
    .keep = keep };
