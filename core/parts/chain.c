/* chain.c - filters of many parts: their life, what they are, and the lock under which parts come
 * and go.  How keys go over the parts is span.c's, when parts come and go is grow.c's and
 * window.c's, where they live the homes'. */
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

/* Reading the exact time stops the processor until all that was begun before is done, so the lines
 * of two single keys would never be fetched at once. */
double bf_chain_tick(const bf_chain *c)
{
#ifdef CLOCK_REALTIME_COARSE
    struct timespec t;
    if (!c->own_clock && clock_gettime(CLOCK_REALTIME_COARSE, &t) == 0)
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
#endif
    return c->clock(c->clock_ctx);
}

int bf_chain_begin(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_chain *c = f->chain = calloc(1, sizeof *c);
    if (!c) return bf_fail(err, BF_ENOMEM, "out of memory");
    c->desc = *d;
    c->clock = spec->clock ? spec->clock : system_clock;
    c->own_clock = c->clock != system_clock;
    c->clock_ctx = spec->clock_ctx;
    f->hosted |= spec->clock && spec->clock != system_clock;
    c->epoch = &c->own;
    bf_live_set(c->epoch, f->variant->forgets ? d->live : BF_NEVER);
    return 0;
}

void bf_chain_free(bf_filter *f)
{
    bf_chain *c = f->chain;
    if (!c) return;
    for (unsigned i = 0; i < c->count || i < c->kept; i++) {
        bf_store *s = &c->piece[i]->part.store;
        if (s->ops) s->ops->close(s);
        free(c->piece[i]);
    }
    free(c);
    f->chain = NULL;
}

int bf_chain_join(bf_chain *c, bf_piece *p)
{
    unsigned n = c->count;
    p->start = n ? c->piece[n - 1]->start + c->piece[n - 1]->part.g.m : 0;
    p->part.g.avx2 = bf_has_avx2();
    if (p->part.store.words)
        p->part.kernels = bf_choose_kernels(c->desc.scheme->layout, &p->part.g);
    c->plane[n] = bf_plane_of(&p->part);
    c->piece[n] = p;
    bf_uint_store_release(&c->count, n + 1);
    return 0;
}

/* A file that was cut short and made long again has zeros where its parts were. */
int bf_chain_check(bf_filter *f, bf_error *err)
{
    bf_store *s = &f->part.store;
    const int rc = s->ops->check ? s->ops->check(s, err) : 0;
    for (unsigned i = 0; rc == 0 && i < bf_chain_count(f->chain); i++) {
        const bf_piece *p = f->chain->piece[i];
        if (p->page && !bf_live_sound(p->live))
            return bf_fail(err, BF_EFORMAT,
                "%.80s was overwritten while it was open: the page of "
                "its part %u is missing",
                bf_where(f, NULL), i);
    }
    return rc;
}

int bf_chain_take_in(bf_filter *f, bf_error *err)
{
    int rc = bf_lock(f, err);
    if (rc < 0) return rc;
    rc = f->part.store.ops->chain->follow(f, err);
    bf_unlock(f);
    return rc;
}

/* ---- what it is ---- */
bf_desc bf_chain_describe(const bf_filter *f, const bf_piece *p, unsigned index)
{
    bf_desc d = bf_part_of(&f->chain->desc, index);
    d.g = p->part.g;
    d.secret_check = f->secret_check;
    d.live = bf_live(p->live);
    return d;
}

uint64_t bf_chain_bytes(const bf_filter *f)
{
    uint64_t bytes = BF_HEADER;
    for (unsigned i = 0; i < bf_chain_count(f->chain); i++)
        bytes += bf_image_bytes(f->chain->piece[i]->part.g.m);
    return bytes;
}

int bf_chain_writable(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    const unsigned count = bf_chain_count(c);
    int rc = bf_writable(f, err);
    if (rc < 0 || bf_uint_load_relaxed(&c->marked) == count) return rc;
    if (c->piece[0]->page)
        rc = bf_refuse_wait(err, bf_where(f, NULL), "is to be marked as written");
    for (unsigned i = bf_uint_load_relaxed(&c->marked); rc == 0 && i < count; i++) {
        bf_store *s = &c->piece[i]->part.store;
        if (c->piece[i]->page) rc = s->ops->before_write(s, err);
    }
    if (rc == 0) bf_uint_store_relaxed(&c->marked, count);
    return rc;
}

int bf_chain_next(bf_filter *f, unsigned count, bf_error *err)
{
    bf_chain *c = f->chain;
    const bf_chain_ops *ops = f->part.store.ops->chain;
    bf_desc part;
    int rc = bf_refuse_wait(err, bf_where(f, NULL), "must grow");
    if (rc < 0 || (rc = bf_lock(f, err)) < 0) return rc;
    if (ops->follow) rc = ops->follow(f, err);
    if (rc >= 0 && c->count == count) {
        const bf_piece *last = c->piece[count - 1];
        rc = count < BF_PARTS_MAX
                 ? bf_chain_part(&c->desc, count, last->start + last->part.g.m, &part, err)
                 : 0;
        if (rc == 0) bf_flag_set(&c->full);
        if (rc > 0) rc = ops->append(f, &part, err);
    }
    bf_unlock(f);
    return rc < 0 ? rc : bf_chain_writable(f, err);
}

/* ---- with every part, under the lock: nothing is emptied or appended meanwhile ---- */
int bf_chain_lock_whole(bf_filter *f, bf_error *err)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    int rc = bf_chain_check(f, err);
    int64_t now = rc < 0 ? 0 : bf_live(f->chain->epoch);
    if (rc < 0 || (rc = bf_lock(f, err)) < 0) return rc;
    if (ops->follow && (rc = ops->follow(f, err)) < 0) bf_unlock(f);
    if (rc >= 0 && ops->look && f->variant->forgets && (rc = ops->look(f, &now, true, err)) < 0)
        bf_unlock(f);
    return rc < 0 ? rc : 0;
}

/* The parts that others have appended by now. */
int bf_chain_refresh(bf_filter *f, bf_error *err)
{
    int rc = bf_chain_lock_whole(f, err);
    if (rc == 0) bf_unlock(f);
    return rc;
}
