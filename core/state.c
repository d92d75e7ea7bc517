/* state.c - a filter as a set of bits: what it is, what is in it, union, intersection, equality, copy, clear. */
#include "bits.h"
#include "seams.h"
#include <string.h>

const char *bf_version(void) { return BF_VERSION; }

int bf_words_of(bf_filter *f, const char *what, uint64_t **words, bf_error *err)
{
    bf_store *s = &f->part.store;
    if (!(*words = s->words)) return bf_fail(err, BF_ENOTSUP, "home %s cannot %s: its bits are not in memory", s->ops->name, what);
    return s->ops->check ? s->ops->check(s, err) : 0;
}

void bf_get_info(const bf_filter *f, bf_info *info)
{
    const bf_geometry *g = &f->part.g;
    *info = (bf_info){ .m = g->m, .n = g->n, .k = g->k, .p = g->p, .scheme = f->name, .home = f->part.store.ops->name,
                       .storage = f->storage, .key = NULL, .bitset_bytes = (g->m + 7) / 8, .image_bytes = bf_image_bytes(g->m),
                       .keyed = f->secret_check != 0, .read_only = f->part.store.read_only };
}

int bf_get_state(bf_filter *f, bf_state *state, bf_error *err)
{
    uint64_t *w;
    int rc = bf_words_of(f, "count its bits", &w, err);
    if (rc < 0) return rc;
    bf_estimate(f->scheme->layout, &f->part.g, bf_words_count(w, f->part.store.nwords), state);
    return 0;
}

int bf_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err)
{
    uint64_t *w, bytes = (f->part.g.m + 7) / 8;
    int rc = bf_words_of(f, "read its bits", &w, err);
    if (rc < 0) return rc;
    if (offset > bytes || len > bytes - offset)
        return bf_fail(err, BF_EINVAL, "bytes %llu to %llu are not in a bitset of %llu bytes", (unsigned long long)offset,
                       (unsigned long long)offset + len, (unsigned long long)bytes);
    memcpy(buf, (const uint8_t *)w + offset, len);
    return 0;
}

int bf_clear(bf_filter *f, bf_error *err)
{
    uint64_t *w;
    int rc = bf_words_of(f, "be cleared", &w, err);
    if (rc < 0 || (rc = bf_writable(f, err)) < 0) return rc;
    for (uint64_t i = 0; i < f->part.store.nwords; i++) bf_word_set(w + i, 0);
    return 0;
}

int bf_sync(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->part.store.ops;
    return ops->sync ? ops->sync(&f->part.store, err) : 0;
}

bf_filter *bf_copy(bf_filter *f, bf_error *err)
{
    uint64_t *w;
    if (bf_words_of(f, "be copied", &w, err) < 0) return NULL;
    bf_desc d = bf_describe(f);
    bf_spec spec = { .threads = f->atomic && !(f->part.store.ops->flags & BF_STORE_ATOMIC) };
    if (f->secret_check && !f->functions) { spec.secret = f->secret; spec.secret_len = BF_SECRET_BYTES; }
    bf_filter *c = bf_new_like(&d, &spec, err);
    if (c) bf_words_copy(c->part.store.words, w, c->part.store.nwords);
    return c;
}

static int both(bf_filter *into, bf_filter *from, const char *what, uint64_t *w[2], bf_error *err)
{
    int rc = bf_alike(into, from, err);
    if (rc < 0 || (rc = bf_words_of(into, what, &w[0], err)) < 0) return rc;
    return bf_words_of(from, what, &w[1], err);
}

static int combine(bf_filter *into, bf_filter *from, const char *what, bf_error *err,
                   void (*op)(uint64_t *, const uint64_t *, uint64_t, bool))
{
    uint64_t *w[2];
    int rc = both(into, from, what, w, err);
    if (rc < 0 || (rc = bf_writable(into, err)) < 0) return rc;
    op(w[0], w[1], into->part.store.nwords, into->atomic);
    return 0;
}

int bf_unite(bf_filter *into, bf_filter *from, bf_error *err) { return combine(into, from, "be united", err, bf_words_or); }
int bf_intersect(bf_filter *into, bf_filter *from, bf_error *err) { return combine(into, from, "be intersected", err, bf_words_and); }

int bf_equal(bf_filter *a, bf_filter *b, bf_error *err)
{
    uint64_t *w[2];
    if (bf_alike(a, b, NULL) < 0) return 0;
    int rc = both(a, b, "be compared", w, err);
    return rc < 0 ? rc : bf_words_equal(w[0], w[1], a->part.store.nwords);
}
