/* image.c - a filter as bytes: to and from memory, to and from a saved file.  Knows files and
 * renames; the bytes themselves are header.c's business. */
#include "base/system.h"
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- memory ---- */
static int to_memory(void *ctx, uint64_t offset, const void *bytes, size_t len)
{
    memcpy((uint8_t *)ctx + offset, bytes, len);
    return 0;
}

static uint64_t length_of(const bf_filter *f)
{
    return f->chain ? bf_chain_bytes(f) : bf_image_bytes(bf_bits(&f->part.g));
}

/* With the parts that others have appended by now. */
int64_t bf_image_length(bf_filter *f, bf_error *err)
{
    int rc = f->chain ? bf_chain_refresh(f, err) : 0;
    return rc < 0 ? rc : (int64_t)length_of(f);
}

static int too_small(uint64_t need, uint64_t cap, bf_error *err)
{
    return bf_fail(err, BF_EINVAL, "cap must be at least %llu bytes, got %llu",
        (unsigned long long)need, (unsigned long long)cap);
}

/* As many parts as fit: it may have grown since its length was asked for. */
static int chain_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    unsigned parts = 0;
    uint64_t bytes = BF_HEADER;
    int rc = bf_chain_refresh(f, err);
    if (rc < 0) return rc;
    for (; parts < bf_chain_count(f->chain); parts++)
        if ((bytes += bf_image_bytes(f->chain->piece[parts]->part.g.m)) > cap) break;
    if (parts == 0 || (f->chain->desc.kind == BF_WINDOW && bytes > cap))
        return too_small(length_of(f), cap, err);
    return bf_chain_write(f, parts, to_memory, buf, err);
}

int bf_do_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    const int64_t need = bf_image_length(f, err);
    if (need < 0) return (int)need;
    return cap < (uint64_t)need ? too_small((uint64_t)need, cap, err)
                                : bf_image_to(f, buf, cap, err);
}

int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    uint64_t *w;
    bf_filter *copy;
    if (f->chain) return chain_to(f, buf, cap, err);
    if (cap < length_of(f)) return too_small(length_of(f), cap, err);
    int rc = bf_words_or_copy(f, "be written out", &w, &copy, err);
    if (rc < 0) return rc;
    bf_desc d = bf_describe(f);
    rc = bf_image_write(&d, w, f->part.store.nwords, to_memory, buf);
    bf_close(copy);
    return rc;
}

/* From here on *d is sound: an empty filter of that kind, with the secret checked. */
static bf_filter *empty_of(
    const bf_desc *d, const bf_spec *expect, const char *where, bf_error *err)
{
    const bf_spec nothing = { .counting = d->g.counting };
    if (!expect) expect = &nothing;
    if (bf_match(d, expect, where, err) < 0) return NULL;
    bf_filter *f = bf_new_like(d, expect, err);
    if (f && bf_secret_match(d->secret_check, f->secret_check, where, err) < 0) {
        bf_close(f);
        f = NULL;
    }
    return f;
}

static int from_memory(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    (void)err;
    memcpy(buf, (const uint8_t *)ctx + offset, len);
    return 0;
}

bf_filter *bf_from_bytes(const void *data, size_t len, const bf_spec *expect, bf_error *err)
{
    static const char where[] = "the data";
    bf_desc d;
    _Alignas(8) uint8_t page[BF_HEADER]; /* data may lie anywhere */
    /* data may be NULL where it is not */
    if (len) memcpy(page, data, len < BF_HEADER ? len : BF_HEADER);
    if (bf_header_read(page, len, &d, where, err) < 0) return NULL;
    if (d.kind) return bf_chain_read(&d, len, from_memory, (void *)data, expect, where, err);
    bf_filter *f = empty_of(&d, expect, where, err);
    if (!f) return NULL;
    bf_store *s = &f->part.store;
    memcpy(s->words, (const uint8_t *)data + BF_HEADER, s->nwords * 8);
    if (bf_header_verify(page, s->words, s->nwords, where, err) == 0) return f;
    bf_close(f);
    return NULL;
}

/* ---- files ---- */
static int to_file(void *ctx, uint64_t offset, const void *bytes, size_t len)
{
    return bf_write_at(*(int *)ctx, offset, bytes, len);
}

/* 0, errno, or a negative code with its error. */
static int write_image(bf_filter *f, const uint64_t *w, int fd, bf_error *err)
{
    bf_desc d = bf_describe(f);
    if (f->chain) return bf_chain_write(f, bf_chain_count(f->chain), to_file, &fd, err);
    return bf_image_write(&d, w, f->part.store.nwords, to_file, &fd);
}

static int fill_file(bf_filter *f, const uint64_t *w, const char *path, int fd, bf_error *err)
{
    int e = write_image(f, w, fd, err);
    if (e == 0) e = bf_sync_file(fd);
    if (e) return e < 0 ? e : bf_fail_sys(err, e, "write", path);
    return (e = bf_keep_rights(fd, path)) ? bf_fail_sys(err, e, "keep the rights of", path) : 0;
}

/* Some file systems report a failed write only in close.  locked keeps the lock of the temporary
 * name. */
static int close_file(int fd, int *locked)
{
    int e = (*locked = fcntl(fd, F_DUPFD_CLOEXEC, fd)) < 0 ? errno : 0;
    if (close(fd) < 0 && errno != EINTR) e = errno;
    return e;
}

/* Under a temporary name, readable by nobody else until it has the rights of what it replaces. */
static int save_words(bf_filter *f, const uint64_t *w, const char *path, bf_error *err)
{
    int fd = -1, locked = -1, e = 0;
    char *temp = bf_temp_file(path, bf_is_file(path) ? 0600 : 0666, &fd, err);
    if (!temp) return err && err->code == BF_ENOMEM ? BF_ENOMEM : BF_EIO;
    int rc = fill_file(f, w, path, fd, err);
    if ((e = close_file(fd, &locked)) && !rc) rc = bf_fail_sys(err, e, "write", path);
    if (!rc && rename(temp, path)) rc = bf_fail_sys(err, errno, "write", path);
    if (rc)
        unlink(temp);
    else
        bf_sync_folder(path);
    if (locked >= 0) bf_unlock_file(locked);
    free(temp);
    return rc;
}

/* A mapped filter saved over its own name would go on in a file without one: nothing more is added
 * there.  Said before the bits are read, so that no other thread adds in between. */
static bool leaves(bf_filter *f, const char *path)
{
    const bf_store *s = &f->part.store;
    if (!s->ops->named || !s->ops->named(s, path)) return false;
    bf_raise(&f->replaced);
    bf_lower(&f->may_write);
    return true;
}

int bf_do_save(bf_filter *f, const char *path, bf_error *err)
{
    uint64_t *w = NULL;
    bf_filter *copy = NULL;
    int rc = bf_may_replace(path, err);
    if (rc == 0)
        rc = f->chain ? bf_chain_refresh(f, err) : bf_words_or_copy(f, "be saved", &w, &copy, err);
    if (rc < 0) return rc;
    const bool was = bf_raised(&f->replaced), own = leaves(f, path);
    rc = save_words(f, w, path, err);
    if (rc < 0 && own && !was) bf_lower(&f->replaced);
    bf_close(copy);
    return rc;
}

typedef struct {
    int fd;
    const char *path;
} file;
static int from_file(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const file *f = ctx;
    return bf_read_at(f->fd, offset, buf, len, f->path, err);
}

static bf_filter *load_fixed(
    const bf_desc *d, const uint8_t *page, file *from, const bf_spec *expect, bf_error *err)
{
    bf_filter *f = empty_of(d, expect, from->path, err);
    if (!f) return NULL;
    bf_store *s = &f->part.store;
    if (from_file(from, BF_HEADER, s->words, s->nwords * 8, err) == 0 &&
        bf_header_verify(page, s->words, s->nwords, from->path, err) == 0)
        return f;
    bf_close(f);
    return NULL;
}

static bf_filter *load_from(
    file *from, uint64_t len, uint8_t *page, const bf_spec *expect, bf_error *err)
{
    bf_desc d;
    const uint64_t there = len < BF_HEADER ? len : BF_HEADER;
    if (from_file(from, 0, page, there, err) < 0) return NULL;
    if (bf_header_read(page, len, &d, from->path, err) < 0) return NULL;
    if (d.kind) return bf_chain_read(&d, len, from_file, from, expect, from->path, err);
    return load_fixed(&d, page, from, expect, err);
}

/* Others may have begun to add, or appended a part, since the page was read: then what follows it
 * does not fit it, and nothing is damaged. */
static bool was_written(file *from, const uint8_t *page)
{
    _Alignas(8) uint8_t now[BF_HEADER];
    return from_file(from, 0, now, BF_HEADER, NULL) == 0 &&
           (memcmp(now, page, BF_HEADER) != 0 || !bf_header_clean(now));
}

bf_filter *bf_load(const char *path, const bf_spec *expect, bf_error *err)
{
    enum { TRIES = 3 };
    _Alignas(8) uint8_t page[BF_HEADER] = { 0 };
    bf_filter *f = NULL;
    bf_error why;
    for (int tries = 1; !f; tries++) {
        uint64_t len;
        const int fd = bf_open_file(path, O_RDONLY, &len, &why);
        if (fd < 0) break;
        file from = { fd, path };
        f = load_from(&from, len, page, expect, &why);
        const bool again =
            !f && why.code == BF_EFORMAT && tries < TRIES && was_written(&from, page);
        close(fd);
        if (!again) break;
    }
    if (!f && err) *err = why;
    return f;
}
