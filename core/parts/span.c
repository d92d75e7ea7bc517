/* span.c - tests and adds keys in many parts: a key is hashed once, and tested in each part that
 * the variant selects. */
#include "bits/bits.h"
#include "parts/parts.h"
#include <string.h>

/* Tests or adds the first n keys in a part without kernels. */
static void by_positions(bf_bitmap *p, int op, bool atomic, bf_span *s, size_t n, uint8_t *present)
{
    uint64_t pos[BF_POSITIONS];
    const unsigned k = p->g.k;
    const size_t most = k > BF_POSITIONS / BF_CHUNK ? BF_POSITIONS / k : BF_CHUNK;
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < most ? n - done : most;
        s->layout->positions(&p->g, s->d + done * s->width, c, pos);
        bf_words_apply(p->store.words, atomic, op, pos, c, k, present + done);
    }
}

static int64_t add_by_positions(const bf_filter *f, bf_bitmap *p, bf_span *s, size_t n)
{
    int64_t hits = 0;
    by_positions(p, BF_OP_ADD, f->atomic, s, n, s->present);
    for (size_t i = 0; i < n; i++) hits += s->present[i];
    return hits;
}

static bool find_by_positions(bf_part *const *parts, unsigned n, bf_span *s)
{
    uint8_t here[BF_SPAN];
    bool any = false;
    memset(s->present, 0, s->n);
    while (n-- > 0) {
        by_positions(&parts[n]->bitmap, BF_OP_TEST, false, s, s->n, here);
        for (size_t i = 0; i < s->n; i++) any |= s->present[i] |= here[i];
    }
    return any;
}

int64_t bf_span_add(const bf_filter *f, bf_part *part, bf_span *s, size_t n)
{
    bf_bitmap *p = &part->bitmap;
    if (!p->kernels) return add_by_positions(f, p, s, n);
    const uint64_t bits = p->kernels->add[f->add_mode](&p->g, p->store.words, s->d, n, NULL, 0) &
                          (~UINT64_C(0) >> (64 - n));
    for (size_t i = 0; bits && i < n; i++) s->present[i] = bits >> i & 1;
    return __builtin_popcountll(bits);
}

void bf_span_drop_decided(bf_span *s, uint8_t value)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->present[i]) {
            s->answer[s->key[i]] = s->present[i] > 1 ? (uint8_t)(s->present[i] - 1) : value;
            continue;
        }
        for (unsigned j = 0; j < s->width; j++) s->d[kept * s->width + j] = s->d[i * s->width + j];
        s->key[kept++] = s->key[i];
    }
    s->n = kept;
}

/* ---- parts in addressable memory ---- */
/* The keys that were not found yet. key: their indexes in the batch. */
typedef struct {
    uint64_t d[BF_CHUNK];
    uint8_t key[BF_CHUNK];
    size_t n;
} open_keys;

/* Removes from o each key i whose bit i in `bits` is set. Returns a mask of the removed keys in
 * which a bit's number is the key's index in the batch. */
static uint64_t take_out(open_keys *o, uint64_t bits)
{
    uint64_t found = 0;
    size_t kept = 0;
    for (size_t i = 0; i < o->n; i++) {
        const uint64_t has = bits >> i & 1;
        found |= has << o->key[i];
        o->d[kept] = o->d[i];
        o->key[kept] = o->key[i];
        kept += !has;
    }
    o->n = kept;
    return found;
}

/* Sets bit i of the result if any of the parts contains key i. Without a kernel for many parts,
 * tests part by part, the newest first: in a growing filter it is the largest, and a key that was
 * found is not tested again. */
static uint64_t any_of(
    const bf_kernels *k, const bf_part_view *views, unsigned n, const bf_digests *keys)
{
    open_keys o;
    uint64_t present = 0;
    if (n && k->any) return k->any(views, n, keys->d, keys->n, keys->ahead, keys->nahead);
    memcpy(o.d, keys->d, keys->n * sizeof *o.d);
    for (o.n = 0; o.n < keys->n; o.n++) o.key[o.n] = (uint8_t)o.n;
    while (n-- > 0) {
        const bf_part_view *p = views + n;
        if (o.n == 0) {
            k->fetch(p->g, p->words, keys->ahead, keys->nahead);
            continue;
        }
        const uint64_t bits = k->test(p->g, p->words, o.d, o.n, keys->ahead, keys->nahead);
        if (bits) present |= take_out(&o, bits);
    }
    return present;
}

bool bf_span_find(bf_part *const *parts, unsigned n, bf_span *s)
{
    bf_part_view views[BF_PARTS_MAX];
    if (!parts[0]->bitmap.kernels) return find_by_positions(parts, n, s);
    for (unsigned i = 0; i < n; i++) views[i] = bf_part_view_of(&parts[i]->bitmap);
    const uint64_t bits =
        any_of(parts[0]->bitmap.kernels, views, n, &(bf_digests){ s->d, s->n, NULL, 0 });
    for (size_t i = 0; i < s->n; i++) s->present[i] = bits >> i & 1;
    return bits != 0;
}

void bf_span_test(bf_part *const *parts, unsigned n, bf_span *s)
{
    if (n && s->n && bf_span_find(parts, n, s)) bf_span_drop_decided(s, 0);
}

void bf_chain_fetch(const bf_filter *f, const uint64_t *d, size_t n)
{
    for (unsigned i = bf_parts_count(f); i-- > 0;) {
        const bf_bitmap *p = &f->part[i]->bitmap;
        if (p->store.nwords >= BF_LARGE) p->kernels->fetch(&p->g, p->store.words, d, n);
    }
}

uint64_t bf_chain_known(const bf_filter *f, unsigned n, const bf_digests *k)
{
    return any_of(f->part[0]->bitmap.kernels, f->view, n, k);
}

static int add_keys(bf_filter *f, const bf_digests *k, uint64_t *present, bf_error *err)
{
    bf_span s;
    uint8_t answer[BF_CHUNK] = { 0 };
    uint64_t known = 0;
    int rc = bf_parts_writable(f, err);
    if (rc < 0) return rc;
    s.answer = answer;
    s.n = s.asked = 0;
    s.op = BF_OP_ADD;
    s.width = 1; /* schemes with kernels have one digest */
    if (f->variant->grows) {
        const unsigned count = bf_parts_count(f);
        known = bf_chain_known(f, count, k);
        /* the newest part is tested again, because other threads may add keys to it */
        s.asked = count - 1;
    } else
        bf_chain_fetch(f, k->ahead, k->nahead);
    for (size_t i = 0; i < k->n; i++) {
        s.d[s.n] = k->d[i];
        s.key[s.n] = (uint16_t)i;
        s.n += !(known >> i & 1);
    }
    if (s.n) rc = f->variant->add(f, &s, err);
    *present = 0;
    for (size_t i = 0; i < k->n; i++) *present |= (uint64_t)!answer[i] << i;
    return rc;
}

int bf_chain_ask(bf_filter *f, int op, const bf_digests *k, uint64_t *present, bf_error *err)
{
    bf_part_view room[BF_PARTS_MAX];
    const bf_part_view *views;
    unsigned n;
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    if (op == BF_OP_ADD) return add_keys(f, k, present, err);
    if ((rc = f->variant->parts_to_test(f, room, &views, &n, err)) < 0) return rc;
    *present = any_of(f->part[0]->bitmap.kernels, views, n, k);
    return 0;
}

int bf_chain_test_one(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX];
    bf_part_view room[BF_PARTS_MAX];
    const bf_part_view *views;
    unsigned n;
    int rc = bf_chain_follow(f, err);
    if (rc < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    rc = f->variant->parts_to_test(f, room, &views, &n, err);
    return rc < 0 ? rc : bf_chain_any(f, views, n, d);
}

int bf_chain_add_one(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX], present;
    int rc = bf_chain_follow(f, err);
    if (rc < 0 || (rc = bf_parts_writable(f, err)) < 0) return rc;
    f->hash->one(f->secret, key, len, d);
    if (f->variant->add_one)
        rc = f->variant->add_one(f, d, err);
    else if ((rc = add_keys(f, &(bf_digests){ d, 1, NULL, 0 }, &present, err)) == 0)
        rc = !present;
    return bf_check_named_sometimes(f, d[0], rc, err);
}
