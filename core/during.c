/* during.c - keys that are added or removed while the filter may be rebuilt, its words in
 * addressable memory.  Knows the way of a key and the generation (parts/rebuild.h); what is added
 * while a rebuild is open goes to the shadow too.  Under the lock there are positions only: no code
 * of the host runs there. */
#include "during.h"

/* Keys between two looks at the generation.  Counters of keys that a whole rebuild overtakes may be
 * incremented twice. */
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

/* ---- under the lock ---- */
/* The keys' first pass, or their second one, if their first was without the lock at the generation
 * *before.  Keys that are in the bits already go to the shadow only. */
typedef struct {
    int op;
    const uint64_t *before;
    bool to_bits; /* the last keys went to the bits */
} pass;

static int put(bf_filter *f, pass *p, uint64_t *pos, size_t n, uint8_t *present, bf_error *err)
{
    const bf_geometry *g = &f->part.g;
    const bf_cells *cells = bf_cells_of(g);
    bf_guard h;
    int rc = bf_guard_lock(f, &h, err);
    if (rc < 0) return rc;
    p->to_bits = !p->before || !bf_same_bits(&h, *p->before);
    if (p->to_bits) cells->apply(f->part.store.words, f->atomic, p->op, pos, n, g->k, present);
    if (h.shadow && p->op == BF_OP_ADD) {
        uint8_t unused[BF_CHUNK];
        cells->apply(h.shadow, true, BF_OP_ADD, pos, n, g->k, unused);
    }
    bf_unlock(f);
    return 0;
}

/* A key is new where it was in one of the two passes. */
static int64_t answer(const pass *p, const uint8_t *present, size_t n, uint8_t *each)
{
    int64_t hits = 0;
    for (size_t i = 0; p->to_bits && i < n; i++) {
        const uint8_t hit = (present[i] != 0) ^ (p->op == BF_OP_ADD);
        hits += hit && !(p->before && each && each[i]);
        if (each) each[i] = p->before ? each[i] | hit : hit;
    }
    return hits;
}

static int64_t change_locked(
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
            if (why.key != BF_NO_KEY) err->key += done;
            return rc;
        }
        total += answer(&p, present, good, each ? each + done : NULL);
        if (good == c) continue;
        err->key = done + good;
        return BF_EHOST;
    }
    return total;
}

/* ---- without the lock, if the generation stays ---- */
/* rc: of the first pass over n keys.  Those before one that was refused are added again as well. */
static int64_t add_again(bf_filter *f, uint64_t before, int64_t rc, const bf_key *keys, size_t n,
    uint8_t *each, bf_error *err)
{
    bf_error why;
    const size_t good = rc >= 0 ? n : err->key < n ? err->key : 0;
    const int64_t more =
        change_locked(f, (pass){ BF_OP_ADD, &before, false }, keys, good, each, &why);
    if (more < 0) {
        *err = why;
        return more;
    }
    return rc < 0 ? rc : rc + more < (int64_t)n ? rc + more : (int64_t)n;
}

static int64_t change_some(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_run *run, bf_error *err)
{
    const uint64_t before = bf_generation(f);
    if ((op == BF_OP_REMOVE && f->atomic) || !bf_settled(before))
        return change_locked(f, (pass){ op, NULL, false }, keys, n, each, err);
    const int64_t rc = run(f, op, keys, n, each, err);
    return op == BF_OP_REMOVE || bf_unchanged(f, before)
               ? rc
               : add_again(f, before, rc, keys, n, each, err);
}

int64_t bf_change(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_run *run, bf_error *err)
{
    bf_error own;
    int64_t total = 0, rc;
    if (!err) err = &own;
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

int bf_add_again(
    bf_filter *f, const void *key, size_t len, uint64_t before, bool present, bf_error *err)
{
    bf_error own;
    uint8_t new = !present;
    const int64_t rc = add_again(f, before, new, &(bf_key){ key, len }, 1, &new, err ? err : &own);
    return rc < 0 ? (int)rc : rc > 0 ? BF_ADDED : BF_PRESENT;
}
