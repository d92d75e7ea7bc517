/* state.c - a filter as a set of bits: what it is, what is in it, union, intersection, equality,
 * copy, clear. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>

const char *bf_version(void) { return BF_VERSION; }

int bf_words_of(bf_filter *f, const char *what, uint64_t **words, bf_error *err)
{
    bf_store *s = &f->part.store;
    if (f->chain)
        return bf_fail(err, BF_EINVAL,
            "a filter that grows or forgets cannot %s: its bits are in many parts", what);
    if (!(*words = s->words))
        return bf_fail(
            err, BF_ENOTSUP, "home %s cannot %s: its bits are not in memory", s->ops->name, what);
    return s->ops->check ? s->ops->check(s, err) : 0;
}

void bf_get_info(const bf_filter *f, bf_info *info)
{
    const bf_geometry *g = &f->part.g;
    *info = (bf_info){ .m = g->m,
        .n = g->n,
        .k = g->k,
        .p = f->told_p,
        .scheme = f->name,
        .home = f->part.store.ops->name,
        .storage = f->storage,
        .shown = f->storage || f->part.store.label ? bf_where(f, NULL) : NULL,
        .key = f->key,
        .bitset_bytes = (bf_bits(g) + 7) / 8,
        .image_bytes = bf_image_bytes(bf_bits(g)),
        .shards = g->shards > 1 ? g->shards : 1,
        .keyed = f->secret_check != 0,
        .read_only = f->part.store.read_only,
        .counting = g->counting,
        .part_count = 1,
        .created = f->created };
    if (f->chain) bf_chain_info(f, info);
}

int bf_words_or_copy(
    bf_filter *f, const char *what, uint64_t **words, bf_filter **copy, bf_error *err)
{
    *copy = NULL;
    if (f->chain || f->part.store.words || !f->part.store.ops->read)
        return bf_words_of(f, what, words, err);
    if (!(*copy = bf_do_copy(f, err))) return err && err->code < 0 ? err->code : BF_EIO;
    *words = (*copy)->part.store.words;
    return 0;
}

static int count_ones(bf_filter *f, uint64_t *ones, bf_error *err)
{
    uint64_t *w;
    bf_store *s = &f->part.store;
    bf_filter *copy = NULL;
    if (!s->words && s->ops->count && !f->part.g.counting) return s->ops->count(s, ones, err);
    int rc = bf_words_or_copy(f, "count its bits", &w, &copy, err);
    if (rc == 0)
        *ones = f->part.g.counting ? bf_counters_used(w, s->nwords) : bf_words_count(w, s->nwords);
    bf_close(copy);
    return rc;
}

int bf_do_get_state(bf_filter *f, bf_state *state, bf_error *err)
{
    uint64_t ones;
    if (f->chain) return bf_chain_state(f, state, err);
    int rc = count_ones(f, &ones, err);
    if (rc < 0) return rc;
    bf_estimate(f->scheme, &f->part.g, ones, state);
    return 0;
}

int bf_do_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err)
{
    uint64_t *w = NULL, bytes = (bf_bits(&f->part.g) + 7) / 8;
    bf_store *s = &f->part.store;
    if (f->chain) return bf_chain_read_bits(f, offset, buf, len, err);
    bool remote = !s->words && s->ops->read;
    int rc = remote ? 0 : bf_words_of(f, "read its bits", &w, err);
    if (rc < 0) return rc;
    if (offset > bytes || len > bytes - offset)
        return bf_fail(err, BF_EINVAL, "bytes %llu to %llu are not in a bitset of %llu bytes",
            (unsigned long long)offset, (unsigned long long)offset + len,
            (unsigned long long)bytes);
    if (remote) return s->ops->read(s, offset, buf, len, err);
    if (len) memcpy(buf, (const uint8_t *)w + offset, len);
    return 0;
}

int bf_do_clear(bf_filter *f, bf_error *err)
{
    uint64_t *w;
    bf_store *s = &f->part.store;
    if (f->chain) return bf_chain_clear(f, err);
    bool remote = !s->words && s->ops->clear;
    int rc = remote ? 0 : bf_words_of(f, "be cleared", &w, err);
    if (rc < 0 || (rc = bf_writable(f, err)) < 0) return rc;
    if (remote) return s->ops->clear(s, err);
    for (uint64_t i = 0; i < f->part.store.nwords; i++) bf_word_set(w + i, 0);
    return 0;
}

int bf_do_sync(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->part.store.ops;
    int rc = f->chain ? bf_chain_sync(f, err) : 0;
    if (rc < 0) return rc;
    return ops->sync ? ops->sync(&f->part.store, err) : 0;
}

int bf_do_expire(bf_filter *f, double seconds, bf_error *err)
{
    bf_store *s = &f->part.store;
    if (!(seconds >= 0 && seconds <= 1e10))
        return bf_fail(err, BF_EINVAL, "seconds must be 0 (never) to 10000000000, got %g", seconds);
    if (!s->ops->expire)
        return bf_fail(
            err, BF_ENOTSUP, "home %s cannot expire: only filters in Redis can", s->ops->name);
    int rc = bf_writable(f, err);
    if (rc == 0 && f->chain) return s->ops->chain->expire(f, seconds, err);
    return rc < 0 ? rc : s->ops->expire(s, seconds, err);
}

int bf_do_delete(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->part.store;
    if (!s->ops->remove)
        return bf_fail(
            err, BF_ENOTSUP, "home %s cannot be deleted: only filters in Redis can", s->ops->name);
    int rc = bf_writable(f, err);
    if (rc == 0 && f->chain) return s->ops->chain->remove(f, err);
    return rc < 0 ? rc : s->ops->remove(s, err);
}

static int fill_copy(bf_filter *to, bf_filter *from, const uint64_t *w, bf_error *err)
{
    bf_store *s = &from->part.store;
    if (!w) return s->ops->read(s, 0, to->part.store.words, (bf_bits(&from->part.g) + 7) / 8, err);
    bf_words_copy(to->part.store.words, w, s->nwords);
    return 0;
}

static bf_filter *empty_like(bf_filter *f, bf_error *err)
{
    bf_desc d = bf_describe(f);
    bf_spec spec = { .threads = f->atomic && !(f->part.store.ops->flags & BF_STORE_ATOMIC) };
    if (f->secret_check && !f->functions) {
        spec.secret = f->secret;
        spec.secret_len = BF_SECRET_BYTES;
    }
    return bf_new_like(&d, &spec, err);
}

bf_filter *bf_do_copy(bf_filter *f, bf_error *err)
{
    uint64_t *w = NULL;
    if (f->chain) return bf_chain_copy(f, err);
    if ((f->part.store.words || !f->part.store.ops->read) &&
        bf_words_of(f, "be copied", &w, err) < 0)
        return NULL;
    bf_filter *c = empty_like(f, err);
    if (c && fill_copy(c, f, w, err) < 0) {
        bf_close(c);
        c = NULL;
    }
    return c;
}

/* ---- rebuilding ---- */
static int can_be_rebuilt(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->part.store.ops;
    if (f->chain)
        return bf_fail(
            err, BF_ENOTSUP, "%.80s grows or forgets: it cannot be rebuilt", bf_where(f, NULL));
    return ops->replace ? bf_writable(f, err)
                        : bf_fail(err, BF_ENOTSUP,
                              "home %s cannot be rebuilt: only filters in Redis can", ops->name);
}

bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err)
{
    return can_be_rebuilt(f, err) < 0 ? NULL : empty_like(f, err);
}

int bf_do_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    uint64_t *w = NULL;
    int rc = can_be_rebuilt(f, err);
    if (rc < 0 || (rc = bf_alike(f, fresh, err)) < 0 ||
        (rc = bf_words_of(fresh, "be built from", &w, err)) < 0)
        return rc;
    return f->part.store.ops->replace(&f->part.store, w, err);
}

/* ---- sets ---- */
typedef int far_op(bf_store *s, const uint64_t *words, bf_error *err);
static int combine(bf_filter *into, bf_filter *from, const char *what, bf_error *err,
    void (*op)(uint64_t *, const uint64_t *, uint64_t, bool), far_op *far)
{
    uint64_t *to = NULL, *w;
    bf_filter *copy = NULL;
    bf_store *s = &into->part.store;
    const bool remote = !s->words && far;
    into->untouched = false;
    int rc = bf_alike(into, from, err);
    if (rc == 0 && into->chain && op != bf_words_or)
        return bf_fail(err, BF_EINVAL,
            "filters that grow or forget cannot be intersected: a key may be in different parts of them");
    if (rc == 0 && into->chain) return bf_chain_unite(into, from, err);
    if (rc < 0 || (!remote && (rc = bf_words_of(into, what, &to, err)) < 0) ||
        (rc = bf_writable(into, err)) < 0)
        return rc;
    if ((rc = bf_words_or_copy(from, what, &w, &copy, err)) < 0) return rc;
    if (remote)
        rc = far(s, w, err);
    else
        op(to, w, s->nwords, into->atomic);
    bf_close(copy);
    return rc;
}

int bf_do_unite(bf_filter *into, bf_filter *from, bf_error *err)
{
    return combine(into, from, "be united", err,
        into->part.g.counting ? bf_counters_add : bf_words_or, into->part.store.ops->unite);
}
int bf_do_intersect(bf_filter *into, bf_filter *from, bf_error *err)
{
    const bool counting = into->part.g.counting;
    return combine(into, from, "be intersected", err, counting ? bf_counters_least : bf_words_and,
        counting ? NULL : into->part.store.ops->intersect);
}

int bf_do_equal(bf_filter *a, bf_filter *b, bf_error *err)
{
    uint64_t *w[2];
    bf_filter *copies[2] = { NULL, NULL };
    if (bf_alike(a, b, NULL) < 0) return 0;
    if (a->chain) return bf_chain_equal(a, b, err);
    int rc = bf_words_or_copy(a, "be compared", &w[0], &copies[0], err);
    if (rc == 0) rc = bf_words_or_copy(b, "be compared", &w[1], &copies[1], err);
    if (rc == 0) rc = bf_words_equal(w[0], w[1], a->part.store.nwords);
    bf_close(copies[0]);
    bf_close(copies[1]);
    return rc;
}
