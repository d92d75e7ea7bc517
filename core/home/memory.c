/* memory.c - bits in process memory, aligned to lines; large bitmaps use huge pages. */
#include "base/system.h"
#include "base/os.h"
#include "parts/parts.h"
#include <errno.h>
#include <stdlib.h>

enum { LINE = 64, HUGE = 2 << 20 };

extern const bf_store_ops bf_store_memory;

static int create(bf_store *s, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    (void)spec;
    if (bf_has_parts(d)) return 1; /* follow() creates the parts */
    uint64_t bytes = (s->nwords * 8 + LINE - 1) / LINE * LINE, align = bytes >= HUGE ? HUGE : LINE;
    const uint64_t memory = bf_os_memory();
    /* with overcommit, calloc would succeed and a later write would end the process */
    const bool too_large = bytes >= SIZE_MAX - HUGE || (memory && bytes > memory);
    if (too_large || !(s->impl = calloc(1, (size_t)(bytes + align))))
        return bf_fail(err, BF_ENOMEM, "memory cannot hold %llu bytes for m=%llu %s", (ull)bytes,
            (ull)d->g.m, bf_cell_ops_of(&d->g)->names);
    s->words = (uint64_t *)(((uintptr_t)s->impl + (uintptr_t)align - 1) & ~((uintptr_t)align - 1));
    if (align == HUGE) bf_os_huge_pages(s->words, (size_t)bytes);
    return 1;
}

static void close_(bf_store *s) { free(s->impl); }

static const bf_spec nothing;

bf_filter *bf_new_like(const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_filter *f = bf_handle_new(&bf_store_memory, err);
    if (!spec) spec = &nothing;
    if (!f) return NULL;
    int rc = bf_filter_init_from(f, d, spec, err);
    if (rc == 0)
        rc = f->variant->many ? bf_chain_begin(f, spec, err)
                              : create(&f->bitmap.store, d, spec, err);
    if (rc < 0) {
        bf_close(f);
        return NULL;
    }
    bf_finish_open(f, spec->threads);
    return f;
}

/* ---- growing and forgetting filters ---- */
static int append_to_memory(bf_filter *f, const bf_params *part, bf_error *err)
{
    bf_part *p = calloc(1, sizeof *p);
    if (!p) return bf_fail(err, BF_ENOMEM, "out of memory");
    p->bitmap.g = part->g;
    p->bitmap.store = (bf_store){ .ops = &bf_store_memory, .nwords = bf_words_of(&part->g) };
    p->live = &p->own;
    bf_live_set(p->live, part->live);
    int rc = create(&p->bitmap.store, part, NULL, err);
    if (rc < 0) {
        free(p);
        return rc;
    }
    return bf_chain_add_part(f, p);
}

/* Creates the first parts. Other processes cannot append parts. */
static int follow(bf_filter *f, bf_error *err)
{
    const uint64_t n = f->count ? 0 : bf_parts_stored(&f->desc);
    bf_params part;
    uint64_t before = 0;
    int rc = 0;
    for (unsigned i = 0; rc >= 0 && i < n; i++, before += part.g.m) {
        if ((rc = bf_chain_part(&f->desc, i, before, &part, err)) == 0)
            rc = bf_fail(err, BF_EINVAL, "its parts have more bits than the largest m");
        if (rc > 0) rc = append_to_memory(f, &part, err);
    }
    return rc < 0 ? rc : 0;
}

const bf_chain_ops bf_chain_memory = { .append = append_to_memory, .follow = follow };

const bf_store_ops bf_store_memory = { .name = "memory",
    .create = create,
    .close = close_,
    .chain = &bf_chain_memory,
    .shadow = &bf_shadow_memory };
