/* copy.c - creates filters from other filters: copies in memory, empty filters with the same
 * parameters, plain filters from counting filters. */
#include "bits/bits.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <stdlib.h>

/* Reads a mapped file with pread, because reading the map of a truncated file raises SIGBUS. */
static int copy_words(bf_part *to, bf_part *from, bf_error *err)
{
    const bf_store *s = &from->bitmap.store;
    uint64_t *w = to->bitmap.store.words;
    if (s->ops->read) return bf_part_read(from, 0, w, (bf_bits(&from->bitmap.g) + 7) / 8, err);
    bf_words_copy(w, s->words, s->nwords);
    return 0;
}

static int bits_of_counters(bf_part *to, bf_part *from, bf_error *err)
{
    uint64_t *w, *copy;
    const int rc = bf_part_words(from, &w, &copy, err);
    if (rc < 0) return rc;
    bf_cell_ops_of(&from->bitmap.g)->to_bits(to->bitmap.store.words, w, from->bitmap.store.nwords);
    free(copy);
    return 0;
}

/* Copies all parts. If only `from` has counters, a bit of `to` is 1 if the counter is above 0. */
static int copy_parts(bf_filter *to, bf_filter *from, bf_error *err)
{
    const bool same = to->desc.g.counting == from->desc.g.counting;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < bf_parts_count(from); i++) {
        bf_params d = bf_part_params(from, i);
        d.g.counting = to->desc.g.counting;
        if ((rc = bf_parts_append(to, &d, err)) == 0)
            rc = (same ? copy_words : bits_of_counters)(to->part[i], from->part[i], err);
    }
    to->at_limit = from->at_limit;
    if (from->variant->many) bf_live_set(to->epoch, bf_live(from->epoch));
    return rc;
}

bf_filter *bf_empty_like(bf_filter *f, bf_error *err)
{
    const bf_spec spec = bf_copy_spec(f);
    bf_filter *fresh = bf_new_like(&f->desc, &spec, err);
    bf_params first;
    if (!fresh || !f->variant->grows ||
        (bf_chain_part(&f->desc, 0, 0, &first, err) >= 0 &&
            bf_parts_append(fresh, &first, err) >= 0))
        return fresh;
    bf_close(fresh);
    return NULL;
}

static bf_filter *copy_as(
    bf_filter *f, const bf_params *d, const bf_spec *spec, const char *what, bf_error *err)
{
    if (bf_require_readable(f, f->bitmap.store.ops->read, what, err) < 0 ||
        bf_parts_check(f, err) < 0)
        return NULL;
    bf_filter *c = bf_new_like(d, spec, err);
    int rc = c ? bf_parts_lock_all(f, err) : BF_ENOMEM;
    if (rc == 0) {
        rc = copy_parts(c, f, err);
        bf_parts_unlock(f);
    }
    if (rc == 0) return c;
    bf_close(c);
    return NULL;
}

bf_filter *bf_copy_entered(bf_filter *f, bf_error *err)
{
    const bf_spec spec = bf_copy_spec(f);
    return copy_as(f, &f->desc, &spec, "be copied", err);
}

bf_filter *bf_copy(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, NULL);
    return bf_copy_entered(f, err);
}

bf_filter *bf_to_plain(bf_filter *f, bf_error *err)
{
    BF_CALL(f, NULL, NULL);
    if (!f->desc.g.counting) return bf_copy_entered(f, err);
    bf_params d = f->desc;
    bf_spec spec = bf_copy_spec(f);
    d.g.counting = spec.threads = false;
    return copy_as(f, &d, &spec, "be converted", err);
}
