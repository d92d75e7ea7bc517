/* image_parts.c - filters of many parts as bytes: a header page of the whole, then each part as the
 * bytes of a fixed filter. The bytes themselves are header.c's business. */
#include "parts/parts.h"
#include "sets/sets.h"
#include <stdlib.h>

/* ---- out ---- */
typedef struct {
    bf_sink *sink;
    void *ctx;
    uint64_t from;
} shifted;
static int put(void *ctx, uint64_t offset, const void *bytes, size_t len)
{
    const shifted *s = ctx;
    return s->sink(s->ctx, s->from + offset, bytes, len);
}

static int write_part(bf_filter *f, unsigned i, shifted *s, bf_error *err)
{
    bf_piece *p = f->chain->piece[i];
    bf_store *store = &p->part.store;
    bf_desc d = bf_chain_describe(f, p, i);
    uint64_t *copy = store->words ? NULL : bf_words_new(store->nwords);
    int rc = store->words || copy ? 0 : bf_fail(err, BF_ENOMEM, "out of memory");
    if (rc == 0 && copy && bf_piece_there(p))
        rc = store->ops->read(store, 0, copy, (d.g.m + 7) / 8, err);
    if (rc == 0) rc = bf_image_write(&d, copy ? copy : store->words, store->nwords, put, s);
    free(copy);
    s->from += bf_image_bytes(d.g.m);
    return rc;
}

int bf_chain_write(bf_filter *f, unsigned parts, bf_sink *sink, void *ctx, bf_error *err)
{
    bf_chain *c = f->chain;
    shifted s = { sink, ctx, BF_HEADER };
    int token, rc = bf_chain_lock(f, &token, err);
    if (rc < 0) return rc;
    for (unsigned i = 0; rc == 0 && i < parts; i++) rc = write_part(f, i, &s, err);
    bf_desc d = c->desc;
    d.secret_check = f->secret_check;
    d.live = d.kind == BF_GROW ? (int64_t)parts : bf_live(c->epoch);
    if (rc == 0) rc = bf_image_write(&d, NULL, 0, sink, ctx);
    bf_chain_unlock(f, token);
    return rc;
}

/* ---- in ---- */
static int read_part(bf_filter *f, unsigned i, uint64_t *at, uint64_t len, bf_source *source,
    void *ctx, const char *where, bf_error *err)
{
    _Alignas(8) uint8_t page[BF_HEADER];
    bf_desc d;
    uint64_t left = *at < len ? len - *at : 0;
    if (left < BF_HEADER)
        return bf_fail(err, BF_EFORMAT, "%.80s is cut short: %llu bytes, its part %u is missing",
            where, (unsigned long long)len, i);
    int rc = source(ctx, *at, page, BF_HEADER, err);
    if (rc < 0 || (rc = bf_header_read_part(page, left, &f->chain->desc, i, &d, where, err)) < 0)
        return rc;
    if ((rc = bf_chain_append_memory(f, &d, err)) < 0) return rc;
    bf_store *s = &f->chain->piece[i]->part.store;
    if ((rc = source(ctx, *at + BF_HEADER, s->words, s->nwords * 8, err)) < 0) return rc;
    *at += bf_image_bytes(d.g.m);
    return bf_header_verify(page, s->words, s->nwords, where, err);
}

static int read_parts(bf_filter *f, const bf_desc *d, uint64_t len, bf_source *source, void *ctx,
    const char *where, bf_error *err)
{
    const unsigned n = d->kind == BF_GROW ? (unsigned)d->live : d->parts + 1;
    uint64_t at = BF_HEADER;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = read_part(f, i, &at, len, source, ctx, where, err);
    if (rc == 0 && at < len &&
        !(d->kind == BF_GROW && d->dirty)) /* a mapped file may have been about to grow */
        rc = bf_fail(err, BF_EFORMAT, "%.80s is too long: %llu bytes, its parts need %llu", where,
            (unsigned long long)len, (unsigned long long)at);
    return rc == 0 && d->kind == BF_WINDOW ? bf_window_check(f, true, where, err) : rc;
}

bf_filter *bf_chain_read(const bf_desc *d, uint64_t len, bf_source *source, void *ctx,
    const bf_spec *expect, const char *where, bf_error *err)
{
    static const bf_spec nothing;
    if (!expect) expect = &nothing;
    if (bf_match(d, expect, where, err) < 0) return NULL;
    bf_filter *f = bf_chain_new_memory(d, expect, err);
    if (f && bf_secret_match(d->secret_check, f->secret_check, where, err) == 0 &&
        read_parts(f, d, len, source, ctx, where, err) == 0)
        return f;
    bf_close(f);
    return NULL;
}
