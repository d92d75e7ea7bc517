/* image.c - a filter as bytes: to and from memory, to and from a saved file.  Knows files and renames; the bytes
 * themselves are format.c's business. */
#include "system.h"
#include "chain.h"
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

static uint64_t length_of(const bf_filter *f) { return f->chain ? bf_chain_bytes(f) : bf_image_bytes(bf_bits(&f->part.g)); }

/* With the parts that others have appended by now. */
int64_t bf_image_length(bf_filter *f, bf_error *err)
{
    int rc = f->chain ? bf_chain_refresh(f, err) : 0;
    return rc < 0 ? rc : (int64_t)length_of(f);
}

static int too_small(uint64_t need, uint64_t cap, bf_error *err)
{
    return bf_fail(err, BF_EINVAL, "cap must be at least %llu bytes, got %llu", (unsigned long long)need, (unsigned long long)cap);
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
    if (parts == 0 || (f->chain->desc.kind == BF_WINDOW && bytes > cap)) return too_small(length_of(f), cap, err);
    return bf_chain_write(f, parts, to_memory, buf, err);
}

int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    const int64_t need = bf_image_length(f, err);
    if (need < 0) return (int)need;
    return cap < (uint64_t)need ? too_small((uint64_t)need, cap, err) : bf_image_to(f, buf, cap, err);
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
static bf_filter *empty_of(const bf_desc *d, const bf_spec *expect, const char *where, bf_error *err)
{
    const bf_spec nothing = { .counting = d->g.counting };
    if (!expect) expect = &nothing;
    if (bf_match(d, expect, where, err) < 0) return NULL;
    bf_filter *f = bf_new_like(d, expect, err);
    if (f && bf_secret_match(d->secret_check, f->secret_check, where, err) < 0) { bf_close(f); f = NULL; }
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
    _Alignas(8) uint8_t page[BF_HEADER];                    /* data may lie anywhere */
    memcpy(page, data, len < BF_HEADER ? len : BF_HEADER);
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
static int to_file(void *ctx, uint64_t offset, const void *bytes, size_t len) { return bf_write_at(*(int *)ctx, offset, bytes, len); }

/* 0, errno, or a negative code with its error. */
static int write_image(bf_filter *f, const uint64_t *w, int fd, bf_error *err)
{
    bf_desc d = bf_describe(f);
    if (f->chain) return bf_chain_write(f, bf_chain_count(f->chain), to_file, &fd, err);
    return bf_image_write(&d, w, f->part.store.nwords, to_file, &fd);
}

static int save_words(bf_filter *f, const uint64_t *w, const char *path, bf_error *err)
{
    int fd = -1, rc = 0, e = 0;
    char *temp = bf_temp_file(path, &fd, err);
    if (!temp) return err && err->code == BF_ENOMEM ? BF_ENOMEM : BF_EIO;
    if ((e = write_image(f, w, fd, err)) || (fsync(fd) && (e = errno))) rc = e < 0 ? e : bf_fail_sys(err, e, "write", path);
    if (close(fd) && !rc) rc = bf_fail_sys(err, errno, "write", path);
    if (!rc && rename(temp, path)) rc = bf_fail_sys(err, errno, "write", path);
    if (rc) unlink(temp);
    else bf_sync_folder(path);
    free(temp);
    return rc;
}

int bf_save(bf_filter *f, const char *path, bf_error *err)
{
    uint64_t *w = NULL;
    bf_filter *copy = NULL;
    int rc = bf_may_replace(path, err);
    if (rc == 0) rc = f->chain ? bf_chain_refresh(f, err) : bf_words_or_copy(f, "be saved", &w, &copy, err);
    if (rc < 0) return rc;
    rc = save_words(f, w, path, err);
    bf_close(copy);
    return rc;
}

typedef struct { int fd; const char *path; } file;
static int from_file(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const file *f = ctx;
    return bf_read_at(f->fd, offset, buf, len, f->path, err);
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
    if (bf_header_read(page, len, &d, path, err) < 0) goto fail;
    if (d.kind) { f = bf_chain_read(&d, len, from_file, &(file){ fd, path }, expect, path, err); close(fd); return f; }
    if (!(f = empty_of(&d, expect, path, err))) goto fail;
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
