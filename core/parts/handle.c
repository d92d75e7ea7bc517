/* handle.c - the handle of an open filter: parameters, kernels, permission to write, lock. */
#include "bits/bits.h"
#include "parts/parts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const bf_change_names[] = { "be cleared", "be rebuilt", "be united", "be intersected" };

const char *bf_where(const bf_filter *f)
{
    const char *label = f->bitmap.store.label;
    return label ? label : f->storage ? f->storage : "the filter";
}

const bf_kernels *bf_choose_kernels(const bf_layout *l, const bf_geometry *g)
{
    const bf_kernels *const *of = l->kernels[g->counting];
    bf_cpu_row row = bf_cpu();
    while (row && !of[row]) row--;
    return of[row];
}

bf_filter *bf_handle_new(const bf_store_ops *ops, bf_error *err)
{
    bf_filter *f = calloc(1, sizeof *f);
    if (!f) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    bf_ref_init(f);
    f->lock_fd = -1;
    f->bitmap.store.ops = ops;
    f->bitmap.store.wait = &f->wait;
    f->only.live = &f->only.own;
    f->itself = &f->only;
    f->part = &f->itself;
    f->count = 1;
    return f;
}

int bf_filter_init_from(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_spec given = {
        .secret = spec->secret, .secret_len = spec->secret_len, .functions = spec->functions
    };
    if (!given.functions) given.functions = d->argument.functions;
    if (given.functions) {
        f->functions = *given.functions;
        given.functions = &f->functions;
    }
    f->runs_host_code |= f->functions.call != NULL;
    f->overfull = (uint8_t)spec->overfull;
    f->variant = bf_variant_of(d);
    f->desc = *d;
    f->desc.argument.functions = given.functions;
    f->hash = d->scheme->hash;
    memcpy(f->secret, d->argument.bytes, sizeof f->secret);
    f->bitmap.g = d->g;
    f->info_p = bf_effective_p(d);
    f->bitmap.store.nwords = bf_words_of(&d->g);
    return bf_secret_set(f, &given, err);
}

void bf_finish_open(bf_filter *f, bool threads)
{
    bf_bitmap *p = &f->bitmap;
    p->g.avx2 = bf_has_avx2();
    if (f->hash->best) f->hash = f->hash->best();
    if (p->store.words && bf_shards_that_matter(f->desc.scheme->layout, &p->g) == 1)
        p->kernels = bf_choose_kernels(f->desc.scheme->layout, &p->g);
    if (!bf_takes_hashes(f)) f->single = p->kernels;
    f->generation = p->store.generation ? p->store.generation : &f->own_generation;
    bf_set_threads(f, threads);
}

void bf_release(bf_filter *f)
{
    bf_chain_free(f);
    if (f->bitmap.store.ops->close) f->bitmap.store.ops->close(&f->bitmap.store);
    free(f->shadow);
    bf_secret_wipe(f);
    free(f->storage);
    free(f->key);
}

int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err)
{
    return bf_check_same(&a->desc, &b->desc, err);
}

void bf_set_threads(bf_filter *f, bool threads)
{
    f->atomic = threads || (!f->exclusive && (f->bitmap.store.ops->flags & BF_STORE_ATOMIC));
    f->add_mode = f->atomic ? BF_ADD_ATOMIC : f->exclusive ? BF_ADD_IF_ABSENT : BF_ADD_PLAIN;
}

static int replaced(const bf_filter *f, bf_error *err)
{
    const int rc = bf_fail(err, BF_EIO,
        "%.60s was replaced or deleted while it was open: what was added since is not in the file "
        "of that name, open it again",
        bf_where(f));
    if (err) err->lost = true;
    return rc;
}

int bf_writable(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    if (s->read_only)
        return bf_fail(err, BF_ENOTSUP,
            "%.80s is open read-only%s: nothing can be added or changed", bf_where(f),
            f->read_only ? "" : ", no write permission");
    if (f->exclusive && f->opened_by != bf_process())
        return bf_fail(err, BF_EBUSY,
            "%.60s has an exclusive writer, the parent of this process: a child cannot write "
            "through its handle",
            bf_where(f));
    int was = bf_int_load_acquire(&f->state);
    if (was != BF_FRESH && was != BF_REPLACED) return 0;
    int rc = was == BF_REPLACED ? bf_check_named(f, err) : 0;
    if (rc < 0) return rc;
    if (s->ops->before_write) rc = bf_refuse_wait(err, bf_where(f), "is to be marked as written");
    if (rc == 0 && s->ops->before_write) rc = s->ops->before_write(s, err);
    if (rc < 0) return rc;
    bf_int_cas(&f->state, &was,
        s->ops->has_name || f->overfull == BF_OVERFULL_RAISE ? BF_NAMED : BF_WRITABLE);
    return 0;
}

int bf_refuse_full(const bf_filter *f, bf_error *err)
{
    if (f->variant->grows)
        return bf_fail(err, BF_EFULL,
            "%.40s is full: with %u parts of %llu cells in all it cannot grow any more; create one "
            "with a larger n",
            bf_where(f), bf_parts_count(f), (ull)bf_parts_cells(f));
    return bf_fail(err, BF_EFULL,
        "%.40s is full: it holds the n=%llu keys that it is sized for; clear it, rebuild it or "
        "create a larger one",
        bf_where(f), (ull)f->desc.g.n);
}

int bf_refuse_keys(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EINVAL,
        "a filter of scheme %s takes hashes, not keys: use add_hashes and contains_hashes",
        f->desc.name);
}

int bf_check_named(bf_filter *f, bf_error *err)
{
    const bf_store *s = &f->bitmap.store;
    if (!s->ops->has_name || s->ops->has_name(s)) return 0;
    bf_int_store_release(&f->state, BF_REPLACED);
    return replaced(f, err);
}

/* ---- the lock ---- */
static int try_lock(void *handle)
{
    bf_filter *f = handle;
    BF_WAIT(&f->lock_holder);
    return bf_try_holder(&f->lock_holder) ? 0 : EWOULDBLOCK;
}

int bf_lock(bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    const char *where = bf_where(f);
    if (bf_wait(&f->wait, false, try_lock, f) != 0) {
        if (bf_refuse_wait(err, where, "is locked by another thread") < 0) return BF_EBUSY;
        return bf_fail(err, BF_EIO,
            "%.80s is in use: another thread works with it; this call waited %d seconds", where,
            bf_waited());
    }
    const int rc = ops->lock ? ops->lock(f, err) : 0;
    if (rc < 0) bf_int_store_release(&f->lock_holder, 0);
    return rc;
}

void bf_unlock(bf_filter *f)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    if (ops->unlock) ops->unlock(f);
    bf_int_store_release(&f->lock_holder, 0);
}

/* ---- hosts with a global lock ---- */
void bf_set_wait_hooks(bf_filter *f, void *(*begin)(void *), void (*end)(void *, void *), void *ctx)
{
    f->wait = (bf_wait_hooks){ begin, end, ctx };
}
