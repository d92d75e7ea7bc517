/* image.c - writes images of filters to memory and to files, and reads images, part by part. */
#include "base/system.h"
#include "bits/bits.h"
#include "home/file.h"
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

int64_t bf_image_length(bf_filter *f, bf_error *err)
{
    int rc = f->variant->many ? bf_parts_refresh(f, err) : 0;
    return rc < 0 ? rc : (int64_t)bf_image_length_of(f, bf_parts_count(f));
}

static int fail_too_small(uint64_t need, uint64_t cap, bf_error *err)
{
    return bf_fail(
        err, BF_EINVAL, "cap must be at least %llu bytes, got %llu", (ull)need, (ull)cap);
}

/* ---- writing: each part is stored like a fixed filter. If there are many parts, a header page of
 * the filter comes before the parts ---- */
static int write_part(bf_filter *f, unsigned i, bool compact, bf_output *out, bf_error *err)
{
    bf_part *p = f->part[i];
    const bf_params d = bf_part_params(f, i);
    const uint64_t nwords = p->bitmap.store.nwords;
    bf_block_reader v;
    int rc = bf_reader_open(&v, p, err);
    if (rc == 0 && compact) {
        /* a compact part has at most one block */
        const uint64_t *w = bf_reader_block(&v, 0, nwords);
        rc = w ? bf_image_write_compact(&d, w, nwords, out) : bf_code_of(err);
    } else if (rc == 0) {
        rc = bf_image_write(&d, bf_reader_block, &v, nwords, out);
        if (rc == BF_EIO) rc = bf_code_of(err); /* of the block that could not be read */
    }
    bf_reader_close(&v);
    out->from += bf_header_bytes(&d, compact) + nwords * 8;
    return rc;
}

/* Returns 0, a negative code, or what out.write returned. */
static int write_parts(bf_filter *f, unsigned parts, bool compact, bf_output out, bf_error *err)
{
    bf_params d = f->desc;
    const bf_output head = out;
    int rc = bf_parts_lock(f, err);
    if (f->variant->many) out.from = bf_header_bytes(&d, compact);
    if (rc < 0) return rc;
    for (unsigned i = 0; rc == 0 && i < parts; i++) rc = write_part(f, i, compact, &out, err);
    d.live = f->variant->forgets ? bf_live(f->epoch) : parts;
    if (rc == 0 && f->variant->many)
        rc = compact ? bf_image_write_compact(&d, NULL, 0, &head)
                     : bf_image_write(&d, NULL, NULL, 0, &head);
    bf_parts_unlock(f);
    return rc;
}

int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    const int64_t need = bf_image_length(f, err);
    if (need < 0) return (int)need;
    return cap < (uint64_t)need ? fail_too_small((uint64_t)need, cap, err)
                                : bf_image_to(f, buf, cap, err);
}

/* Writes as many parts as fit in cap bytes: the filter may have grown since the caller read the
 * length. */
int bf_image_to(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    int rc = bf_require_readable(f, f->bitmap.store.ops->read, "be written out", err);
    if (rc < 0 || (rc = bf_parts_refresh(f, err)) < 0) return rc;
    const unsigned count = bf_parts_count(f);
    unsigned parts = 0;
    while (parts < count && bf_image_length_of(f, parts + 1) <= cap) parts++;
    if (parts == 0 || (parts < count && !f->variant->grows))
        return fail_too_small(bf_image_length_of(f, count), cap, err);
    return write_parts(
        f, parts, bf_image_is_compact(f, parts), (bf_output){ to_memory, buf, 0 }, err);
}

/* ---- reading ---- */
typedef struct {
    int (*read)(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err);
    void *ctx;
    uint64_t len, at;  /* bytes; at: offset of the next header */
    const char *where; /* name of the source in messages */
} source;

/* Returns an empty filter with the parameters d, or NULL if d or the secret does not match expect.
 * expect NULL: any parameters, no secret. */
static bf_filter *empty_of(
    const bf_params *d, const bf_spec *expect, const char *where, bf_error *err)
{
    const bf_spec nothing = { .counting = d->g.counting };
    if (!expect) expect = &nothing;
    if (bf_check_match(d, expect, where, err) < 0) return NULL;
    bf_filter *f = bf_new_like(d, expect, err);
    if (f && bf_secret_match(d->secret_check, f->desc.secret_check, where, err) < 0) {
        bf_close(f);
        f = NULL;
    }
    return f;
}

/* Reads the header at from->at into page, unpacked, and returns its stored length. */
static int read_page(const source *from, uint8_t *page, bf_error *err)
{
    uint8_t raw[BF_COMPACT_MAX];
    uint64_t bits;
    const uint64_t left = from->len - from->at;
    int rc = from->read(from->ctx, from->at, page, left < BF_HEADER ? left : BF_HEADER, err);
    if (rc < 0 || !bf_is_compact(page, left)) return rc < 0 ? rc : BF_HEADER;
    rc = from->read(from->ctx, from->at, raw, left < sizeof raw ? left : sizeof raw, err);
    return rc < 0 ? rc : bf_compact_unpack(raw, left, page, &bits, from->where, err);
}

/* Reads the header of part i, appends an empty part to f and returns the length of the header.
 * paged: the header must be a page; else the header must be compact. */
static int append_part(
    bf_filter *f, unsigned i, const source *from, bool paged, uint8_t *page, bf_error *err)
{
    bf_params d;
    if (from->at > from->len || from->len - from->at < (paged ? BF_HEADER : BF_COMPACT_LEAST))
        return bf_fail(err, BF_EFORMAT, "%.80s is truncated: %llu bytes, its part %u is missing",
            from->where, (ull)from->len, i);
    const int head = read_page(from, page, err);
    if (head < 0) return head;
    int rc = bf_header_read_part(
        page, (unsigned)head, from->len - from->at, &f->desc, i, &d, from->where, err);
    if (rc < 0) return rc;
    if (paged != (head == BF_HEADER))
        return bf_fail(err, BF_EFORMAT,
            "%.80s is damaged: some of its parts have a header page and some have not",
            from->where);
    return (rc = bf_parts_append(f, &d, err)) < 0 ? rc : head;
}

/* Reads all parts. page: the first header, which in a fixed filter is the header of its only part.
 * head: the stored length of that header. */
static int read_parts(
    bf_filter *f, const bf_params *d, const uint8_t *page, int head, source *from, bf_error *err)
{
    _Alignas(8) uint8_t own[BF_HEADER];
    const bool many = f->variant->many, paged = head == BF_HEADER;
    int rc = 0;
    if (many) from->at = (uint64_t)head;
    for (uint64_t i = 0, n = bf_parts_stored(d); rc == 0 && i < n; i++) {
        if (many && (rc = head = append_part(f, (unsigned)i, from, paged, own, err)) < 0) break;
        bf_store *s = &f->part[(unsigned)i]->bitmap.store;
        from->at += (uint64_t)head;
        rc = from->read(from->ctx, from->at, s->words, s->nwords * 8, err);
        if (rc == 0)
            rc = bf_header_verify(many ? own : page, s->words, s->nwords, from->where, err);
        from->at += s->nwords * 8;
    }
    /* bf_header_read has checked the length of a fixed filter. A dirty growing filter may end with
     * an incomplete part, because a process may have died while it appended the part. */
    if (rc == 0 && from->at < from->len && many && !(f->variant->grows && d->dirty))
        rc = bf_fail(err, BF_EFORMAT, "%.80s is too long: %llu bytes, its parts need %llu",
            from->where, (ull)from->len, (ull)from->at);
    return rc == 0 && f->variant->forgets ? bf_window_check(f, true, from->where, err) : rc;
}

/* Reads a filter. Stores the first header in page, also if reading the filter fails. */
static bf_filter *read_filter(source *from, uint8_t *page, const bf_spec *expect, bf_error *err)
{
    bf_params d;
    if (expect && bf_check_before_open(expect, err) < 0) return NULL;
    const int head = read_page(from, page, err);
    if (head < 0 || bf_header_read(page, (unsigned)head, from->len, &d, from->where, err) < 0)
        return NULL;
    bf_filter *f = empty_of(&d, expect, from->where, err);
    if (!f || read_parts(f, &d, page, head, from, err) == 0) return f;
    bf_close(f);
    return NULL;
}

static int from_memory(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    (void)err;
    /* ctx may be NULL if len is 0; memcpy must not get NULL */
    if (len) memcpy(buf, (const uint8_t *)ctx + offset, len);
    return 0;
}

bf_filter *bf_from_bytes(const void *data, size_t len, const bf_spec *expect, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    return read_filter(
        &(source){ from_memory, (void *)data, len, 0, "the data" }, page, expect, err);
}

/* An image is a sequence of headers, each with its bits. The bits after a header page are wanted
 * only if the page is valid; those after a compact header are short in any case. */
uint64_t bf_image_wants(const void *data, size_t len)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    source from = { from_memory, (void *)data, 0, 0, "the data" };
    bf_params d, part;
    for (uint64_t i = 0, parts = 0; i <= parts; i++) {
        const uint8_t *raw = (const uint8_t *)data + from.at;
        const uint64_t left = len - from.at, span = bf_header_span(raw, left);
        if (left < (bf_is_compact(raw, left) ? span : BF_HEADER)) return span ? span - left : 0;
        from.len = from.at + span;
        const int head = span ? read_page(&from, page, NULL) : -1;
        const int rc = head < 0 ? head
                       : i == 0 ? bf_header_read(page, (unsigned)head, span, &d, "", NULL)
                                : bf_header_read_part(page, (unsigned)head, span, &d,
                                      (unsigned)i - 1, &part, "", NULL);
        if (rc < 0) return 0;
        if (left < span) return span - left;
        if (i == 0 && bf_has_parts(&d)) parts = bf_parts_stored(&d);
        from.at += span;
    }
    return 0;
}

/* ---- files ---- */
static int to_file(void *ctx, uint64_t offset, const void *bytes, size_t len)
{
    return bf_write_at(*(int *)ctx, offset, bytes, len);
}

/* Writes a temporary file and renames it to path. replace false: path must not exist. If path
 * exists, only this user can read the temporary file until it gets the rights of path. The file is
 * closed before the rename, because some file systems report a failed write only in close(). A
 * second descriptor keeps the lock of the file until the end. */
static int save_file(bf_filter *f, const char *path, bool replace, bf_error *err)
{
    int fd = -1, e = 0;
    struct stat st;
    if (replace && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return bf_fail_sys(err, EISDIR, "write", path);
    char *temp = bf_temp_file(path, bf_is_file(path) ? 0600 : 0666, &fd, err);
    if (!temp) return bf_code_of(err);
    int rc = write_parts(f, bf_parts_count(f), false, (bf_output){ to_file, &fd, 0 }, err);
    if (!rc) rc = bf_sync_file(&f->wait, fd);
    if (rc > 0) rc = bf_fail_sys(err, rc, "write", path);
    if (!rc && (e = bf_keep_rights(fd, path))) rc = bf_fail_sys(err, e, "keep the rights of", path);
    const int locked = fcntl(fd, F_DUPFD_CLOEXEC, fd);
    e = locked < 0 ? errno : 0;
    if (close(fd) < 0 && errno != EINTR) e = errno;
    if (!rc && e) rc = bf_fail_sys(err, e, "write", path);
    if (!rc && replace) rc = bf_replace_file(temp, path, err);
    if (!rc && !replace && (e = bf_name_file(locked, temp, path)))
        rc = bf_fail_sys(err, e, "create", path);
    if (!rc) bf_sync_folder(path);
    unlink(temp);
    if (locked >= 0) bf_unlock_file(locked);
    free(temp);
    return rc;
}

int bf_save_file(bf_filter *f, const char *path, bool replace, bf_error *err)
{
    struct stat st;
    if (!replace && lstat(path, &st) == 0) return bf_fail_sys(err, EEXIST, "create", path);
    int rc = replace ? bf_may_replace(path, err) : 0;
    if (rc == 0 && replace) rc = bf_replace_file(NULL, path, err);
    if (rc == 0) rc = bf_require_readable(f, f->bitmap.store.ops->read, "be saved", err);
    if (rc == 0) rc = bf_parts_refresh(f, err);
    return rc < 0 ? rc : save_file(f, path, replace, err);
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

bf_filter *bf_load_file(const char *path, const bf_spec *expect, bf_error *err)
{
    enum { TRIES = 3 };
    _Alignas(8) uint8_t page[BF_HEADER] = { 0 };
    bf_filter *f = NULL;
    bf_error why;
    if (expect && bf_check_before_open(expect, err) < 0) return NULL;
    for (int tries = 1; !f; tries++) {
        struct stat st;
        const int fd = bf_open_file(path, O_RDONLY, &st, &why);
        if (fd < 0) break;
        file from = { fd, path };
        f = read_filter(
            &(source){ from_file, &from, (uint64_t)st.st_size, 0, path }, page, expect, &why);
        bool again = !f && why.code == BF_EFORMAT && tries < TRIES;
        if (again) {
            /* Reads again if another process may have written during the read: then the bits may
             * not match the page although the file is not damaged. */
            _Alignas(8) uint8_t now[BF_HEADER];
            again = from_file(&from, 0, now, BF_HEADER, NULL) == 0 &&
                    (memcmp(now, page, BF_HEADER) != 0 || !bf_header_clean(now));
        }
        close(fd);
        if (!again) break;
    }
    if (!f && err) *err = why;
    return f;
}
