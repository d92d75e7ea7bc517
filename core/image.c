/* image.c - a filter as bytes: to and from memory, to and from a saved file.  Knows files and renames; the bytes
 * themselves are format.c's business. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "seams.h"
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

int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    uint64_t *w, need = bf_image_bytes(bf_bits(&f->part.g));
    if (cap < need) return bf_fail(err, BF_EINVAL, "cap must be at least %llu bytes, got %llu", (unsigned long long)need, (unsigned long long)cap);
    bf_filter *copy;
    int rc = bf_words_or_copy(f, "be written out", &w, &copy, err);
    if (rc < 0) return rc;
    bf_desc d = bf_describe(f);
    rc = bf_image_write(&d, w, f->part.store.nwords, to_memory, buf);
    bf_close(copy);
    return rc;
}

/* From here on *d is sound: an empty filter of that kind, with the secret checked. */
static bf_filter *empty_of(const bf_desc *d, const bf_spec *expect, const char *where, bf_error *err)
{
    const bf_spec nothing = { .counting = d->g.counting };
    if (!expect) expect = &nothing;
    if (bf_match(d, expect, where, err) < 0) return NULL;
    bf_filter *f = bf_new_like(d, expect, err);
    if (f && bf_secret_match(d->secret_check, f->secret_check, where, err) < 0) { bf_close(f); f = NULL; }
    return f;
}

bf_filter *bf_from_bytes(const void *data, size_t len, const bf_spec *expect, bf_error *err)
{
    static const char where[] = "the data";
    bf_desc d;
    _Alignas(8) uint8_t page[BF_HEADER];                    /* data may lie anywhere */
    memcpy(page, data, len < BF_HEADER ? len : BF_HEADER);
    if (bf_header_read(page, len, &d, where, err) < 0) return NULL;
    bf_filter *f = empty_of(&d, expect, where, err);
    if (!f) return NULL;
    bf_store *s = &f->part.store;
    memcpy(s->words, (const uint8_t *)data + BF_HEADER, s->nwords * 8);
    if (bf_header_verify(page, s->words, s->nwords, where, err) == 0) return f;
    bf_close(f);
    return NULL;
}

/* ---- files ---- */
static int to_file(void *ctx, uint64_t offset, const void *bytes, size_t len) { return bf_write_at(*(int *)ctx, offset, bytes, len); }

static int save_words(bf_filter *f, const uint64_t *w, const char *path, bf_error *err)
{
    int fd = -1, rc = 0, e = 0;
    bf_desc d = bf_describe(f);
    char *temp = bf_temp_file(path, &fd, err);
    if (!temp) return err && err->code == BF_ENOMEM ? BF_ENOMEM : BF_EIO;
    if ((e = bf_image_write(&d, w, f->part.store.nwords, to_file, &fd)) || (fsync(fd) && (e = errno))) rc = bf_fail_sys(err, e, "write", path);
    if (close(fd) && !rc) rc = bf_fail_sys(err, errno, "write", path);
    if (!rc && rename(temp, path)) rc = bf_fail_sys(err, errno, "write", path);
    if (rc) unlink(temp);
    else bf_sync_folder(path);
    free(temp);
    return rc;
}

int bf_save(bf_filter *f, const char *path, bf_error *err)
{
    uint64_t *w;
    bf_filter *copy;
    int rc = bf_words_or_copy(f, "be saved", &w, &copy, err);
    if (rc < 0) return rc;
    rc = save_words(f, w, path, err);
    bf_close(copy);
    return rc;
}

bf_filter *bf_load(const char *path, const bf_spec *expect, bf_error *err)
{
    bf_filter *f = NULL;
    _Alignas(8) uint8_t page[BF_HEADER];
    uint64_t len;
    bf_desc d;
    int fd = bf_open_file(path, O_RDONLY, &len, err);
    if (fd < 0) return NULL;
    if (bf_read_at(fd, 0, page, len < BF_HEADER ? len : BF_HEADER, path, err) < 0) goto fail;
    if (bf_header_read(page, len, &d, path, err) < 0 || !(f = empty_of(&d, expect, path, err))) goto fail;
    bf_store *s = &f->part.store;
    if (bf_read_at(fd, BF_HEADER, s->words, s->nwords * 8, path, err) < 0) goto fail;
    if (bf_header_verify(page, s->words, s->nwords, path, err) < 0) goto fail;
    close(fd);
    return f;
fail:
    close(fd);
    bf_close(f);
    return NULL;
}
