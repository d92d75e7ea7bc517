/* file_parts.c - the parts of a growing or forgetting filter in one mapped file. The first page
 * describes the filter. Each part is a header page and its bits, and has its own map.
 *
 * A part is appended under the lock. Bytes that an interrupted append left after the last part are
 * cut off, and disk space is reserved. Then the new part's page is written and synced. Last, the
 * number of parts in the first page's state (bf_live) is increased. Every call reads that number.
 * If the process dies before the last step, the file stays valid with the old number. */
#include "base/system.h"
#include "bits/bits.h"
#include "parts/parts.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a part as a store ---- */
static void close_(bf_store *s)
{
    bf_file_map *m = s->impl;
    if (m && m->map) munmap(m->map, m->mapped);
    free(m);
}

static const bf_store_ops store_part = { .name = "file",
    .flags = BF_STORE_ATOMIC,
    .before_write = bf_map_before_write,
    .sync = bf_map_sync,
    .read = bf_map_read_file,
    .close = close_ };

static int open_part_at(bf_filter *f, const bf_params *d, uint64_t at, bool verify, bf_error *err)
{
    bf_file *file = f->bitmap.store.impl;
    bf_part *p = calloc(1, sizeof *p);
    if (!p) return bf_fail(err, BF_ENOMEM, "out of memory");
    p->bitmap.g = d->g;
    p->bitmap.store = (bf_store){ .ops = &store_part,
        .nwords = bf_words_of(&d->g),
        .read_only = f->bitmap.store.read_only,
        .wait = &f->wait };
    bf_file_map *m = p->bitmap.store.impl = calloc(1, sizeof *m);
    int rc = m ? bf_file_map_at(file, m, at, bf_image_bytes(bf_bits(&d->g)), &p->bitmap.store, err)
               : bf_fail(err, BF_ENOMEM, "out of memory");
    if (rc == 0) {
        p->page = m->page;
        p->live = bf_header_live(p->page);
    }
    if (rc == 0 && verify) rc = bf_map_verify(m, p->bitmap.store.nwords, err);
    if (rc < 0) {
        close_(&p->bitmap.store);
        free(p);
        return rc;
    }
    bf_word_store(&file->bytes, at + bf_image_bytes(bf_bits(&d->g)));
    return bf_chain_add_part(f, p);
}

/* ---- opening stored parts ---- */
static int open_next_part(bf_filter *f, bf_error *err)
{
    const bf_file *file = f->bitmap.store.impl;
    _Alignas(8) uint8_t page[BF_HEADER];
    struct stat st;
    bf_params d;
    const uint64_t at = file->bytes;
    const unsigned i = f->count;
    int rc = bf_file_fd(file, &st, err);
    if (rc < 0) return rc;
    const uint64_t left = (uint64_t)st.st_size > at ? (uint64_t)st.st_size - at : 0;
    if (left < BF_HEADER)
        return bf_fail(err, BF_EFORMAT, "%.80s is truncated: %llu bytes, its part %u is missing",
            file->path, (ull)st.st_size, i);
    rc = bf_file_read(file, at, page, BF_HEADER, err);
    if (rc < 0 ||
        (rc = bf_header_read_part(page, BF_HEADER, left, &f->desc, i, &d, file->path, err)) < 0)
        return rc;
    if ((rc = bf_file_room(&f->bitmap.store, at, bf_image_bytes(bf_bits(&d.g)), err)) < 0)
        return rc;
    return open_part_at(f, &d, at, true, err);
}

static bool has_new_parts(const bf_filter *f)
{
    bf_file *file = f->bitmap.store.impl;
    return f->variant->grows &&
           bf_live(bf_header_live(file->first.page)) > (int64_t)bf_parts_count(f);
}

/* Fails if bytes follow the last part. An interrupted append of a growing filter may leave such
 * bytes; then the first page is dirty. */
static int check_end(const bf_filter *f, bf_error *err)
{
    const bf_file *file = f->bitmap.store.impl;
    struct stat st;
    const int fd = bf_file_fd(file, &st, err);
    if (fd < 0) return fd;
    if ((uint64_t)st.st_size <= file->bytes) return 0;
    if (f->variant->grows && !bf_header_clean(file->first.page)) return 0;
    return bf_fail(err, BF_EFORMAT, "%.80s is too long: %llu bytes, its parts need %llu",
        file->path, (ull)st.st_size, (ull)file->bytes);
}

static int follow(bf_filter *f, bf_error *err)
{
    bf_file *file = f->bitmap.store.impl;
    const int64_t live = bf_live(bf_header_live(file->first.page)),
                  want = f->variant->grows ? live : (int64_t)bf_parts_stored(&f->desc);
    int rc = 0;
    const bool opening = f->count == 0;
    if (opening && f->variant->forgets) f->epoch = bf_header_live(file->first.page);
    if (want < 1 || want > BF_PARTS_MAX)
        return bf_fail(
            err, BF_EFORMAT, "%.80s is damaged: its number of parts is out of range", file->path);
    while (rc == 0 && f->count < want) rc = open_next_part(f, err);
    if (rc == 0 && opening && f->variant->forgets)
        rc = bf_window_check(f, !f->bitmap.store.read_only, file->path, err);
    return rc == 0 && opening ? check_end(f, err) : rc;
}

/* ---- appending a part ---- */
static int write_page(int fd, uint64_t at, const bf_params *d)
{
    uint8_t page[BF_HEADER];
    bf_header_new(page, d);
    return bf_write_at(fd, at, page, sizeof page);
}

static int append(bf_filter *f, const bf_params *part, bf_error *err)
{
    const bf_file *file = f->bitmap.store.impl;
    const uint64_t at = file->bytes;
    /* if another program truncated the file, bf_cut_file would fill it up with zeros */
    int e = bf_parts_check(f, err);
    if (e < 0) return e;
    const int fd = bf_file_fd(file, NULL, err);
    if (fd < 0) return fd;
    e = bf_cut_file(fd, at);
    if (!e) e = bf_reserve(fd, at, bf_image_bytes(bf_bits(&part->g)));
    if (e) {
        int rc = bf_fail_sys(err, e, "allocate space to grow in", file->path);
        bf_cut_file(fd, at);
        return rc;
    }
    if ((e = write_page(fd, at, part)) || (e = bf_sync_file(&f->wait, fd)))
        return bf_fail_sys(err, e, "write", file->path);
    int rc = open_part_at(f, part, at, false, err);
    if (rc == 0) bf_live_set(bf_header_live(file->first.page), f->count);
    return rc;
}

/* ---- filling a new file, before the file gets its name ---- */
int bf_chain_file_fill(int fd, const bf_params *d, const char *path, bf_error *err)
{
    const uint64_t n = bf_parts_stored(d);
    uint64_t at = BF_HEADER, before = 0;
    bf_params part;
    int e = 0;
    for (unsigned i = 0; i < n && !e; i++, before += part.g.m) {
        int rc = bf_chain_part(d, i, before, &part, err);
        if (rc <= 0)
            return rc < 0 ? rc
                          : bf_fail(err, BF_EINVAL, "its parts have more bits than the largest m");
        if (!(e = bf_reserve(fd, at, bf_image_bytes(bf_bits(&part.g)))))
            e = write_page(fd, at, &part);
        at += bf_image_bytes(bf_bits(&part.g));
    }
    if (e || (e = write_page(fd, 0, d))) return bf_fail_sys(err, e, "allocate space for", path);
    return (e = bf_sync_file(NULL, fd)) ? bf_fail_sys(err, e, "write", path) : 0;
}

const bf_chain_ops bf_chain_file = {
    .append = append, .follow = follow, .has_new_parts = has_new_parts
};
