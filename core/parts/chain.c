/* chain.c - the parts of a filter, be they one or many: opening them, holding them still, their
 * parameters, and the lock under which parts are appended or dropped.  No file above this folder
 * asks whether a filter has a chain. span.c takes keys over the parts; grow.c and window.c decide
 * when parts begin and end; the homes store them. */
#include "bits/bits.h"
#include "parts/parts.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- life ---- */
static double system_clock(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The exact clock would serialize the processor (rdtsc waits for earlier loads), so the lines of
 * two single keys would never be fetched at once. */
double bf_chain_clock(const bf_chain *c)
{
#ifdef CLOCK_REALTIME_COARSE
    struct timespec t;
    if (!c->own_clock && clock_gettime(CLOCK_REALTIME_COARSE, &t) == 0)
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
#endif
    return c->clock(c->clock_ctx);
}

int bf_chain_begin(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_chain *c = f->chain = calloc(1, sizeof *c);
    if (!c) return bf_fail(err, BF_ENOMEM, "out of memory");
    c->desc = *d;
    c->clock = spec->clock ? spec->clock : system_clock;
    c->own_clock = c->clock != system_clock;
    c->clock_ctx = spec->clock_ctx;
    f->runs_host_code |= spec->clock && spec->clock != system_clock;
    c->epoch = &c->own;
    bf_live_set(c->epoch, f->variant->forgets ? d->live : BF_NEVER);
    return 0;
}

void bf_chain_free(bf_filter *f)
{
    bf_chain *c = f->chain;
    if (!c) return;
    for (unsigned i = 0; i < BF_PARTS_MAX && c->part[i]; i++) {
        bf_store *s = &c->part[i]->bitmap.store;
        if (s->ops) s->ops->close(s);
        free(c->part[i]);
    }
    free(c);
    f->chain = NULL;
}

int bf_chain_add_part(bf_chain *c, bf_part *p)
{
    unsigned n = c->count;
    p->start = n ? c->part[n - 1]->start + c->part[n - 1]->bitmap.g.m : 0;
    p->bitmap.g.avx2 = bf_has_avx2();
    if (p->bitmap.store.words)
        p->bitmap.kernels = bf_choose_kernels(c->desc.scheme->layout, &p->bitmap.g);
    c->view[n] = bf_part_view_of(&p->bitmap);
    c->part[n] = p;
    bf_uint_store_release(&c->count, n + 1);
    return 0;
}

int bf_chain_open_new_parts(bf_filter *f, bf_error *err)
{
    int rc = bf_lock(f, err);
    if (rc < 0) return rc;
    rc = f->bitmap.store.ops->chain->follow(f, err);
    bf_unlock(f);
    return rc;
}

uint64_t bf_chain_bytes(const bf_filter *f)
{
    uint64_t bytes = BF_HEADER;
    for (unsigned i = 0; i < bf_chain_count(f->chain); i++)
        bytes += bf_image_bytes(f->chain->part[i]->bitmap.g.m);
    return bytes;
}

/* ---- what it is ---- */
uint64_t bf_parts_stored(const bf_params *d)
{
    return bf_variants[d->kind]->grows ? (uint64_t)d->live : d->parts + UINT64_C(1);
}

uint64_t bf_parts_cells(const bf_filter *f)
{
    const bf_part *last = bf_parts_newest(f);
    return last->start + last->bitmap.g.m;
}

static uint64_t bits_bytes(const bf_filter *f, unsigned i)
{
    return bf_image_bytes(bf_bits(&bf_parts_get((bf_filter *)f, i)->bitmap.g)) - BF_HEADER;
}

bool bf_image_is_compact(const bf_filter *f, unsigned parts)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < parts && bf_compact_fits(bytes); i++) bytes += bits_bytes(f, i);
    return bf_compact_fits(bytes);
}

/* Header length.  Must not read the live word: in a truncated file that is SIGBUS. */
static uint64_t header_bytes(const bf_filter *f, bool part, bool compact)
{
    bf_params d = bf_describe(f);
    d.secret_check = f->secret_check;
    if (part && f->chain) d = bf_part_of(&d, 0);
    return bf_header_bytes(&d, compact);
}

uint64_t bf_image_head_bytes(const bf_filter *f, bool compact)
{
    return f->variant->many ? header_bytes(f, false, compact) : 0;
}

uint64_t bf_image_part_bytes(const bf_filter *f, unsigned i, bool compact)
{
    return header_bytes(f, true, compact) + bits_bytes(f, i);
}

uint64_t bf_image_length_of(const bf_filter *f, unsigned parts)
{
    const bool compact = bf_image_is_compact(f, parts);
    uint64_t bytes = bf_image_head_bytes(f, compact);
    for (unsigned i = 0; i < parts; i++) bytes += bf_image_part_bytes(f, i, compact);
    return bytes;
}

bf_params bf_image_params(const bf_filter *f, unsigned parts)
{
    bf_params d = bf_describe(f);
    d.secret_check = f->secret_check;
    d.live = f->variant->forgets ? bf_newest_epoch(f) : parts;
    return d;
}

bf_params bf_part_params(const bf_filter *f, const bf_part *p, unsigned i)
{
    bf_params d = bf_describe(f);
    if (!f->chain) return d;
    d = bf_part_of(&d, i);
    d.g = p->bitmap.g;
    d.secret_check = f->secret_check;
    d.live = bf_live(p->live);
    return d;
}

int64_t bf_newest_epoch(const bf_filter *f) { return bf_live(f->chain->epoch); }

int64_t bf_oldest_epoch(const bf_filter *f, int64_t now)
{
    return now - (int64_t)f->chain->desc.parts;
}

bool bf_parts_stay(const bf_filter *f)
{
    return !f->variant->forgets || !f->bitmap.store.ops->chain->list_parts;
}

/* ---- opening ---- */
static int many_here(const bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    return ops->chain ? 0
                      : bf_fail(err, BF_ENOTSUP, "home %s cannot hold filters that grow or forget",
                            ops->name);
}

int bf_parts_attach(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    if (!f->variant->many) return 1;
    int rc = many_here(f, err);
    if (rc < 0 || (rc = bf_chain_begin(f, d, spec, err)) < 0) return rc;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    if ((rc = ops->follow(f, err)) >= 0) return 1;
    if (!bf_may_create(spec) || !ops->can_recreate || !ops->can_recreate(f)) return rc;
    bf_chain_free(f);
    return 0;
}

int bf_parts_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    if (f->variant->many && many_here(f, err) < 0) return BF_ENOTSUP;
    return f->variant->many && s->ops->chain->create ? s->ops->chain->create(f, d, spec, err)
                                                     : s->ops->create(s, d, spec, err);
}

int bf_parts_plan(bf_params *d, bf_error *err)
{
    bf_params first;
    if (!bf_has_parts(d)) return 0;
    int rc = bf_chain_part(d, 0, 0, &first, err);
    d->g.m = first.g.m * bf_parts_stored(d);
    return rc < 0 ? rc : 0;
}

/* ---- in use ---- */
/* Also finds a file that was truncated and made long again: zeros are where its parts were. */
int bf_parts_check(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    const int rc = s->ops->check ? s->ops->check(s, err) : 0;
    for (unsigned i = 0; rc == 0 && i < bf_parts_count(f); i++) {
        const bf_part *p = bf_parts_get(f, i);
        if (p->page && !bf_live_is_valid(p->live))
            return bf_fail(err, BF_EFORMAT,
                "%.80s was overwritten while it was open: the page of "
                "its part %u is missing",
                bf_where(f, NULL), i);
    }
    return rc;
}

int bf_parts_writable(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    const unsigned count = bf_parts_count(f);
    int rc = bf_int_load_acquire(&f->state) == BF_WRITABLE ? 0 : bf_writable(f, err);
    if (rc < 0 || !c || bf_uint_load_relaxed(&c->dirty_parts) == count) return rc;
    if (c->part[0]->page) rc = bf_refuse_wait(err, bf_where(f, NULL), "is to be marked as written");
    for (unsigned i = bf_uint_load_relaxed(&c->dirty_parts); rc == 0 && i < count; i++) {
        bf_store *s = &c->part[i]->bitmap.store;
        if (c->part[i]->page) rc = s->ops->before_write(s, err);
    }
    if (rc == 0) bf_uint_store_relaxed(&c->dirty_parts, count);
    return rc;
}

int bf_parts_follow(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_check(f, err);
    return rc == 0 && f->chain ? bf_chain_follow(f, err) : rc;
}

int bf_parts_lock(bf_filter *f, bf_error *err) { return f->chain ? bf_lock(f, err) : 0; }

int bf_parts_lock_all(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_check(f, err);
    if (rc < 0 || !f->chain) return rc;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    int64_t now = bf_live(f->chain->epoch);
    if ((rc = bf_lock(f, err)) < 0) return rc;
    if (ops->follow) rc = ops->follow(f, err);
    if (rc >= 0 && ops->list_parts && f->variant->forgets) rc = ops->list_parts(f, &now, true, err);
    if (rc < 0) bf_unlock(f);
    return rc < 0 ? rc : 0;
}

int bf_parts_refresh(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_lock_all(f, err);
    if (rc == 0) bf_parts_unlock(f);
    return rc;
}

void bf_parts_unlock(bf_filter *f)
{
    if (f->chain) bf_unlock(f);
}

int bf_parts_expire(bf_filter *f, double seconds, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    return f->chain ? s->ops->chain->expire(f, seconds, err) : s->ops->expire(s, seconds, err);
}

int bf_parts_remove(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    return f->chain ? s->ops->chain->remove(f, err) : s->ops->remove(s, err);
}

/* ---- another like it ---- */
bf_spec bf_copy_spec(bf_filter *f)
{
    bf_spec spec = { .threads = f->atomic && !(f->bitmap.store.ops->flags & BF_STORE_ATOMIC) };
    if (f->secret_check && !f->functions.count) {
        spec.secret = f->secret;
        spec.secret_len = BF_SECRET_BYTES;
    }
    if (f->chain) {
        spec.clock = f->chain->clock;
        spec.clock_ctx = f->chain->clock_ctx;
    }
    return spec;
}

int bf_parts_append(bf_filter *f, const bf_params *part, bf_error *err)
{
    return f->chain ? f->bitmap.store.ops->chain->append(f, part, err) : 0;
}

void bf_parts_copy_state(bf_filter *f, const bf_filter *as)
{
    if (!f->chain) return;
    f->chain->at_limit = as->chain->at_limit;
    bf_live_set(f->chain->epoch, bf_live(as->chain->epoch));
}

/* ---- growing ---- */
int bf_chain_next(bf_filter *f, unsigned count, bf_error *err)
{
    bf_chain *c = f->chain;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    bf_params part;
    int rc = bf_refuse_wait(err, bf_where(f, NULL), "must grow");
    if (rc < 0 || (rc = bf_lock(f, err)) < 0) return rc;
    if (ops->follow) rc = ops->follow(f, err);
    if (rc >= 0 && c->count == count) {
        const bf_part *last = c->part[count - 1];
        rc = count < BF_PARTS_MAX
                 ? bf_chain_part(&c->desc, count, last->start + last->bitmap.g.m, &part, err)
                 : 0;
        if (rc == 0) bf_flag_set(&c->at_limit);
        if (rc > 0) rc = ops->append(f, &part, err);
    }
    bf_unlock(f);
    return rc < 0 ? rc : bf_parts_writable(f, err);
}

const bf_variant_ops bf_variant_fixed = { .stored = &bf_format_fixed };
