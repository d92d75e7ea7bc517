/* packed.c - a compact image in a file, opened to be read: what is mapped is a copy of it with
 * header pages, in a file in memory.  An image without a page has no word that says that it is
 * written in place, so whoever changes it puts another one there. */
#include "base/system.h"
#include "home/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest: a head, and every part that there can be. */
enum { LONGEST = (BF_PARTS_MAX + 1) * BF_COMPACT_MAX };

static int too_long(const bf_file *f, uint64_t len, uint64_t needs, bf_error *err)
{
    return bf_fail(err, BF_EFORMAT, "%.80s is too long: %llu bytes, its parts need %llu", f->path,
        (ull)len, (ull)needs);
}

static uint8_t *bytes_of(const bf_file *f, int fd, uint64_t len, bf_error *err)
{
    uint8_t *image = malloc(len);
    if (!image) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    if (bf_read_at(fd, 0, image, len, f->path, err) == 0) return image;
    free(image);
    return NULL;
}

/* Each header as its page, and the bits behind it. */
static int spread(const bf_file *f, int to, uint64_t *end, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    *end = 0;
    for (uint64_t at = 0; at < f->packed_len;) {
        const uint8_t *raw = f->packed + at;
        uint64_t bits;
        if (!bf_is_compact(raw, f->packed_len - at)) return too_long(f, f->packed_len, at, err);
        const int head = bf_compact_unpack(raw, f->packed_len - at, page, &bits, f->path, err);
        if (head < 0) return head;
        int e = bf_write_at(to, *end, page, BF_HEADER);
        if (!e) e = bf_write_at(to, *end + BF_HEADER, raw + head, bits);
        if (e) return bf_fail_sys(err, e, "make a copy in memory of", f->path);
        *end += BF_HEADER + bits;
        at += (uint64_t)head + bits;
    }
    return 0;
}

/* The header's own values are checked against the image, so that messages name its lengths. */
static int check_first(const bf_file *f, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    bf_desc d;
    uint64_t bits;
    const int head = bf_compact_unpack(f->packed, f->packed_len, page, &bits, f->path, err);
    return head < 0 ? head : bf_header_read(page, (unsigned)head, f->packed_len, &d, f->path, err);
}

int bf_packed_open(bf_file *f, uint64_t *len, bf_error *err)
{
    int rc, copy;
    if (*len > LONGEST) return too_long(f, *len, LONGEST, err);
    if (!(f->packed = bytes_of(f, f->descriptor, *len, err))) return err ? err->code : BF_EIO;
    f->packed_len = *len;
    if ((rc = check_first(f, err)) < 0) return rc;
    if ((copy = bf_memory_file(f->path)) < 0)
        return bf_fail_sys(err, errno, "make a copy in memory of", f->path);
    close(f->descriptor);
    f->descriptor = copy;
    if ((rc = bf_file_mark(f, copy)))
        return bf_fail_sys(err, rc, "make a copy in memory of", f->path);
    return spread(f, copy, len, err);
}

bool bf_packed_same(const bf_file *f)
{
    uint64_t len;
    bool same = false;
    const int fd = bf_open_file(f->path, O_RDONLY, &len, NULL);
    if (fd < 0) return false;
    uint8_t *now = len == f->packed_len ? bytes_of(f, fd, len, NULL) : NULL;
    if (now) same = memcmp(now, f->packed, len) == 0;
    free(now);
    close(fd);
    return same;
}
