/* chain.c - the list of parts of a filter, and operations on all parts: checks, locks, parameters.
 * A fixed filter has one part. */
#include "bits/bits.h"
#include "parts/parts.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- creating and freeing the list of parts ---- */
static double system_clock(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int bf_chain_begin(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    struct {
        bf_part *part[BF_PARTS_MAX];
        bf_part_view view[BF_PARTS_MAX];
    } *room = calloc(1, sizeof *room);
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    f->part = room->part;
    f->view = room->view;
    f->count = 0;
    f->clock = spec->clock ? spec->clock : system_clock;
    f->own_clock = f->clock != system_clock;
    f->clock_ctx = spec->clock_ctx;
    f->runs_host_code |= spec->clock && spec->clock != system_clock;
    f->epoch = &f->own_epoch;
    bf_live_set(f->epoch, f->variant->forgets ? f->desc.live : BF_NEVER);
    return 0;
}

void bf_chain_free(bf_filter *f)
{
    if (!f->view) return;
    for (unsigned i = 0; i < BF_PARTS_MAX && f->part[i]; i++) {
        bf_store *s = &f->part[i]->bitmap.store;
        if (s->ops) s->ops->close(s);
        free(f->part[i]);
    }
    free(f->part);
    f->part = &f->itself;
    f->view = NULL;
    f->count = 1;
}

int bf_chain_add_part(bf_filter *f, bf_part *p)
{
    unsigned n = f->count;
    p->start = n ? f->part[n - 1]->start + f->part[n - 1]->bitmap.g.m : 0;
    p->bitmap.g.avx2 = bf_has_avx2();
    if (p->bitmap.store.words)
        p->bitmap.kernels = bf_choose_kernels(f->desc.scheme->layout, &p->bitmap.g);
    f->view[n] = bf_part_view_of(&p->bitmap);
    f->part[n] = p;
    bf_uint_store_release(&f->count, n + 1);
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

/* ---- numbers and parameters of parts ---- */
uint64_t bf_parts_stored(const bf_params *d)
{
    return bf_variants[d->kind][0]->grows ? (uint64_t)d->live : d->parts + UINT64_C(1);
}

uint64_t bf_parts_cells(const bf_filter *f)
{
    const bf_part *last = bf_parts_newest(f);
    return last->start + last->bitmap.g.m;
}

bool bf_image_is_compact(const bf_filter *f, unsigned parts)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < parts && bf_compact_fits(bytes); i++)
        bytes += f->part[i]->bitmap.store.nwords * 8;
    return bf_compact_fits(bytes);
}

/* Must not read part states: in a truncated file that raises SIGBUS. */
uint64_t bf_image_length_of(const bf_filter *f, unsigned parts)
{
    const bool compact = bf_image_is_compact(f, parts);
    const bf_params part = bf_part_of(&f->desc, 0);
    uint64_t bytes = f->variant->many ? bf_header_bytes(&f->desc, compact) : 0;
    for (unsigned i = 0; i < parts; i++)
        bytes += bf_header_bytes(&part, compact) + f->part[i]->bitmap.store.nwords * 8;
    return bytes;
}

bf_params bf_part_params(const bf_filter *f, unsigned i)
{
    bf_params d = bf_part_of(&f->desc, i);
    if (!f->variant->many) return d;
    d.g = f->part[i]->bitmap.g;
    d.live = bf_live(f->part[i]->live);
    return d;
}

/* ---- checks and locks around calls ---- */
/* Also detects a file that was truncated and made longer again: the header pages of its parts are
 * zeros. */
int bf_parts_check(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->bitmap.store;
    const int rc = s->ops->check ? s->ops->check(s, err) : 0;
    for (unsigned i = 0; rc == 0 && i < bf_parts_count(f); i++) {
        const bf_part *p = f->part[i];
        if (p->page && !bf_live_is_valid(p->live))
            return bf_fail(err, BF_EFORMAT,
                "%.80s was overwritten while it was open: the page of "
                "its part %u is missing",
                bf_where(f), i);
    }
    return rc;
}

int bf_parts_writable(bf_filter *f, bf_error *err)
{
    const unsigned count = bf_parts_count(f);
    int rc = bf_int_load_acquire(&f->state) == BF_WRITABLE ? 0 : bf_writable(f, err);
    if (rc < 0 || bf_uint_load_relaxed(&f->dirty_parts) == count) return rc;
    if (f->part[0]->page) rc = bf_refuse_wait(err, bf_where(f), "is to be marked as written");
    for (unsigned i = bf_uint_load_relaxed(&f->dirty_parts); rc == 0 && i < count; i++) {
        bf_store *s = &f->part[i]->bitmap.store;
        if (f->part[i]->page) rc = s->ops->before_write(s, err);
    }
    if (rc == 0) bf_uint_store_relaxed(&f->dirty_parts, count);
    return rc;
}

int bf_parts_follow(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_check(f, err);
    return rc == 0 && f->variant->many ? bf_chain_follow(f, err) : rc;
}

int bf_parts_lock(bf_filter *f, bf_error *err) { return f->variant->many ? bf_lock(f, err) : 0; }

int bf_parts_lock_all(bf_filter *f, bf_error *err)
{
    int rc = bf_parts_check(f, err);
    if (rc < 0 || !f->variant->many) return rc;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    if ((rc = bf_lock(f, err)) < 0) return rc;
    if (ops->follow) rc = ops->follow(f, err);
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
    if (f->variant->many) bf_unlock(f);
}

/* ---- copies ---- */
bf_spec bf_copy_spec(bf_filter *f)
{
    bf_spec spec = { .threads = f->atomic && !(f->bitmap.store.ops->flags & BF_STORE_ATOMIC),
        .clock = f->clock,
        .clock_ctx = f->clock_ctx,
        .overfull = f->overfull };
    if (f->desc.secret_check && !f->functions.count) {
        spec.secret = f->secret;
        spec.secret_len = BF_SECRET_BYTES;
    }
    return spec;
}

int bf_parts_append(bf_filter *f, const bf_params *part, bf_error *err)
{
    return f->variant->many ? f->bitmap.store.ops->chain->append(f, part, err) : 0;
}

/* ---- growing ---- */
int bf_chain_next_locked(bf_filter *f, unsigned count, bf_error *err)
{
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    bf_params part;
    int rc = bf_refuse_wait(err, bf_where(f), "must grow");
    if (rc < 0) return rc;
    if (ops->follow) rc = ops->follow(f, err);
    if (rc >= 0 && f->count == count) {
        const bf_part *last = f->part[count - 1];
        rc = count < BF_PARTS_MAX
                 ? bf_chain_part(&f->desc, count, last->start + last->bitmap.g.m, &part, err)
                 : 0;
        if (rc == 0) bf_flag_set(&f->at_limit);
        if (rc == 0 && f->overfull != BF_OVERFULL_IGNORE) return bf_refuse_full(f, err);
        if (rc > 0) rc = ops->append(f, &part, err);
    }
    return rc < 0 ? rc : bf_parts_writable(f, err);
}

int bf_chain_next(bf_filter *f, unsigned count, bf_error *err)
{
    int rc = bf_lock(f, err);
    if (rc < 0) return rc;
    rc = bf_chain_next_locked(f, count, err);
    bf_unlock(f);
    return rc;
}

const bf_variant_ops bf_variant_fixed = { .stored = &bf_format_fixed };
