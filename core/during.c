/* during.c - keys that are added or removed where the filter may be rebuilt meanwhile, its words in
 * addressable memory.  Knows the way of a key and the edition (parts/rebuild.h); what is added
 * while a rebuild is open goes to the draft too.  Under the hold there are positions only: no code
 * of the host runs there. */
#include "during.h"

/* Keys between two looks at the edition.  Those that a whole rebuild overtakes are counted twice.
 */
enum { KEYS_AT_ONCE = 1 << 15, COUNTED_AT_ONCE = 1 << 10 };

/* ---- keys as positions ---- */
static size_t keys_placed(unsigned k)
{
    const size_t few = BF_POSITIONS / k;
    return few < BF_CHUNK ? few : BF_CHUNK;
}

size_t bf_place(const bf_filter *f, const bf_key *keys, size_t n, uint64_t *pos, bf_error *err)
{
    uint64_t d[BF_CHUNK * BF_WIDTH_MAX];
    const unsigned k = f->part.g.k;
    const size_t few = keys_placed(k);
    size_t good = 0;
    for (size_t done = 0, c; done < n && good == done; done += c) {
        c = n - done < few ? n - done : few;
        good += f->hash->try ? f->hash->try(f->secret, keys + done, c, d, err) : c;
        if (!f->hash->try) f->hash->run(f->secret, keys + done, c, d);
        bf_positions(f->scheme->layout, &f->part.g, d, good - done, pos + done * k);
    }
    return good;
}

size_t bf_acceptable(const bf_filter *f, const bf_key *keys, size_t n, bf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (f->hash->accept(f->secret, keys[i].ptr, keys[i].len, err) == 0) continue;
        if (err) err->key = i;
        return i;
    }
    return n;
}

/* ---- under the hold ---- */
static bf_error *told(bf_error *err, bf_error *own) { return err ? err : own; }

/* Once more, or for the first time (then NULL).  What stands in the bits is added to the draft
 * only. */
typedef struct {
    int op;
    const uint64_t *then;
    bool here; /* the last ones went to the bits */
} pass;

static int put(bf_filter *f, pass *p, uint64_t *pos, size_t n, uint8_t *present, bf_error *err)
{
    const bf_geometry *g = &f->part.g;
    const bf_cells *cells = bf_cells_of(g);
    bf_held h;
    int rc = bf_edition_hold(f, &h, err);
    if (rc < 0) return rc;
    p->here = !p->then || !bf_edition_stands(&h, bf_edition(p->then));
    if (p->here) cells->apply(f->part.store.words, f->atomic, p->op, pos, n, g->k, present);
    if (h.draft && p->op == BF_OP_ADD) {
        uint8_t unused[BF_CHUNK];
        cells->apply(h.draft, true, BF_OP_ADD, pos, n, g->k, unused);
    }
    bf_edition_let(f, &h);
    return 0;
}

/* A key is new where it was in one of the two passes. */
static int64_t answer(const pass *p, const uint8_t *present, size_t n, uint8_t *each)
{
    int64_t hits = 0;
    for (size_t i = 0; p->here && i < n; i++) {
        const uint8_t hit = (present[i] != 0) ^ (p->op == BF_OP_ADD);
        hits += hit && !(p->then && each && each[i]);
        if (each) each[i] = p->then ? each[i] | hit : hit;
    }
    return hits;
}

static int64_t held(
    bf_filter *f, pass p, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    uint64_t pos[BF_POSITIONS];
    uint8_t present[BF_CHUNK];
    bf_error why;
    const size_t most = keys_placed(f->part.g.k);
    int64_t total = 0;
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < most ? n - done : most;
        const size_t good = bf_place(f, keys + done, c, pos, err);
        int rc = put(f, &p, pos, good, present, &why);
        if (rc < 0) {
            *err = why;
            return rc;
        }
        total += answer(&p, present, good, each ? each + done : NULL);
        if (good == c) continue;
        err->key = done + good;
        return BF_EHOST;
    }
    return total;
}

/* ---- with a look before and after ---- */
/* rc: of the first pass over n keys.  Those before one that was refused are added as well. */
static int64_t meanwhile(bf_filter *f, uint64_t was, int64_t rc, const bf_key *keys, size_t n,
    uint8_t *each, bf_error *err)
{
    bf_error why;
    const size_t good = rc >= 0 ? n : err->key < n ? err->key : 0;
    const int64_t more = held(f, (pass){ BF_OP_ADD, &was, false }, keys, good, each, &why);
    if (more < 0) {
        *err = why;
        return more;
    }
    return rc < 0 ? rc : rc + more < (int64_t)n ? rc + more : (int64_t)n;
}

static int64_t change_some(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_run *run, bf_error *err)
{
    const uint64_t was = bf_edition_now(f);
    if ((op == BF_OP_REMOVE && f->atomic) || was != bf_edition_known(f))
        return held(f, (pass){ op, NULL, false }, keys, n, each, err);
    const int64_t rc = run(f, op, keys, n, each, err);
    return bf_edition_now(f) == was || op == BF_OP_REMOVE
               ? rc
               : meanwhile(f, was, rc, keys, n, each, err);
}

int64_t bf_change(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_run *run, bf_error *err)
{
    bf_error own;
    int64_t total = 0, rc;
    err = told(err, &own);
    const size_t good = f->hash->accept ? bf_acceptable(f, keys, n, err) : n,
                 most = f->part.g.counting ? COUNTED_AT_ONCE : KEYS_AT_ONCE;
    for (size_t done = 0, c; done < good; done += c, total += rc) {
        c = good - done < most ? good - done : most;
        rc = change_some(f, op, keys + done, c, each ? each + done : NULL, run, err);
        if (rc >= 0) continue;
        if (err->key != BF_NO_KEY) err->key += done;
        return rc;
    }
    return good == n ? total : BF_EINVAL;
}

int bf_add_meanwhile(
    bf_filter *f, const void *key, size_t len, uint64_t was, bool present, bf_error *err)
{
    bf_error own;
    uint8_t new = !present;
    const int64_t rc = meanwhile(f, was, new, &(bf_key){ key, len }, 1, &new, told(err, &own));
    return rc < 0 ? (int)rc : rc > 0 ? BF_ADDED : BF_PRESENT;
}
