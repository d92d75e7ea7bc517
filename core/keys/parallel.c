/* parallel.c - runs a batch in several threads, with the answers and the bits of one thread. Knows
 * filters in addressable memory only. No step of an add can fail: errors are found before and
 * after.
 *
 * Tests: each thread has a range of the keys; if a range fails, one thread repeats the call. Adds
 * have three steps:
 *
 *   hash_keys      each thread hashes a range of the keys
 *   add_owned      each thread owns a range of the lines: it reads all digests, and adds its keys
 *   store_answers  each thread stores the answers of a range of the keys
 *
 * All bits of a key are in one line (layout block). So no two threads write the same word, and keys
 * that could meet are added in the order of the batch, by the owner of their line. In other layouts
 * the threads only hash the keys. In a growing filter hash_keys also tests the parts before the
 * newest part, which do not change. */
#include "bits/bits.h"
#include "keys/keys.h"
#include "parts/parts.h"
#include <stdlib.h>

enum {
    BLOCK = 512, /* keys that are hashed, or read by an owner, in one step */
    LINES = 64   /* owners have at least so many lines */
};

typedef struct {
    const bf_batch *b;
    bf_run_slice *run;
    size_t blocks;
    const bf_bitmap *bitmap; /* that gets the keys */
    unsigned old;            /* number of parts before it */
    /* For each block: the digests of the keys that no older part contains, and their number. */
    uint64_t *digests;
    uint16_t *count;
    uint64_t *known; /* growing filters: a bit for each key that an older part contains */
    /* The digests of owner i are first[i] to first[i + 1] - 1. */
    uint64_t first[BF_THREADS_MAX + 1];
    bool owners;      /* lines have owners */
    uint8_t *answers; /* for each owner, the answers of its keys */
    /* for each thread: how many keys each owner has before the first block of that thread */
    size_t *before;
    int64_t total[BF_THREADS_MAX];
} parallel;

static size_t blocks_of(const bf_batch *b) { return (b->n + BLOCK - 1) / BLOCK; }

static size_t keys_of_block(const parallel *p, size_t block)
{
    const size_t left = p->b->n - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

/* The first block of thread i. */
static size_t first_block(const parallel *p, unsigned i) { return p->blocks * i / p->b->threads; }

static int64_t sum(const parallel *p)
{
    int64_t total = 0;
    for (unsigned i = 0; i < p->b->threads; i++) total += p->total[i];
    return total;
}

/* ---- tests ---- */
static void test_range(void *ctx, unsigned i)
{
    parallel *p = ctx;
    const size_t n = p->b->n, from = first_block(p, i) * BLOCK, to = first_block(p, i + 1) * BLOCK;
    bf_error unused;
    bf_batch some = bf_batch_slice(p->b, from, (to < n ? to : n) - from);
    some.err = &unused;
    p->total[i] = p->run(&some);
}

static int64_t test(parallel *p)
{
    p->blocks = blocks_of(p->b);
    bf_parallel(p->b->threads, test_range, p);
    for (unsigned i = 0; i < p->b->threads; i++)
        if (p->total[i] < 0) return p->run(p->b); /* no memory for the positions of a large k */
    return sum(p);
}

/* ---- step 1 ---- */
/* Removes the keys that an older part contains. Returns how many are left. */
static size_t drop_known(const parallel *p, uint64_t *digests, size_t n, uint64_t *known)
{
    size_t kept = 0;
    bf_chain_fetch(p->b->f, digests, n < BF_CHUNK ? n : BF_CHUNK);
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < BF_CHUNK ? n - done : BF_CHUNK;
        const size_t after = n - done - c;
        const bf_digests k = { digests + done, c, digests + done + c, after < c ? after : c };
        const uint64_t bits = bf_chain_known(p->b->f, p->old, &k);
        *known++ = bits;
        for (size_t i = 0; i < c; i++) {
            digests[kept] = k.d[i];
            kept += !(bits >> i & 1);
        }
    }
    return kept;
}

static void hash_block(const parallel *p, size_t at, size_t n, uint64_t *digests)
{
    const bf_batch *b = p->b;
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < BF_CHUNK ? n - done : BF_CHUNK;
        for (size_t i = at + done + c; !b->hashes && i < at + done + 2 * c && i < b->n; i++)
            bf_fetch_key(b->keys + i);
        bf_batch_digests(b, at + done, c, digests + done);
    }
}

static void hash_keys(void *ctx, unsigned i)
{
    parallel *p = ctx;
    for (size_t block = first_block(p, i); block < first_block(p, i + 1); block++) {
        const size_t at = block * BLOCK, n = keys_of_block(p, block);
        hash_block(p, at, n, p->digests + at);
        p->count[block] =
            (uint16_t)(p->old ? drop_known(p, p->digests + at, n, p->known + at / BF_CHUNK) : n);
    }
}

/* ---- step 2 ---- */
/* Lines have owners in their order. As the line of a digest increases with the digest, so does the
 * owner. Returns the smallest digest whose line is `line` or a later one. */
static uint64_t first_digest(uint64_t lines, uint64_t line)
{
    uint64_t first = 0;
    for (unsigned bit = 64; bit-- > 0;)
        if (bf_mulhi(first + (UINT64_C(1) << bit) - 1, lines) < line) first += UINT64_C(1) << bit;
    return first;
}

static bool choose_owners(parallel *p)
{
    const uint64_t lines = p->bitmap->g.lines, threads = p->b->threads;
    if (p->b->f->desc.scheme->layout->sharding != BF_SHARDS_OF_LINES || lines / threads < LINES)
        return false;
    for (unsigned i = 0; i < threads; i++)
        p->first[i] = i ? first_digest(lines, lines / threads * i) : 0;
    p->first[threads] = 0; /* 2^64 */
    return true;
}

/* The digests of an owner that are not added yet. */
typedef struct {
    uint64_t d[BLOCK + BF_RING];
    size_t n;
    bool fetched; /* the lines of the first keys are prefetched */
} waiting;

static void take_owned(
    waiting *w, const uint64_t *digests, size_t n, uint64_t first, uint64_t width)
{
    size_t have = w->n;
    for (size_t i = 0; i < n; i++) {
        w->d[have] = digests[i];
        have += digests[i] - first <= width;
    }
    w->n = have;
}

/* Adds the digests that wait, or, if more will come, all but the last ones, whose lines are
 * prefetched. Stores the answers, unless `answers` is NULL. Returns how many digests were added. */
static size_t add_waiting(const parallel *p, waiting *w, bool more, uint8_t *answers, int64_t *new)
{
    const bf_bitmap *bits = p->bitmap;
    const bf_kernels *k = bits->kernels;
    bf_add_kernel *const add = k->add[p->b->f->add_mode];
    size_t done = 0;
    if (more && w->n < k->lag + k->step) return 0;
    if (!w->fetched) k->fetch(&bits->g, bits->store.words, w->d, w->n < k->lag ? w->n : k->lag);
    w->fetched = true;
    for (size_t c; done < w->n && (!more || w->n - done >= k->lag + k->step); done += c) {
        const size_t left = w->n - done, after = left > k->lag ? left - k->lag : 0;
        c = left < k->step ? left : k->step;
        const uint64_t present = add(&bits->g, bits->store.words, w->d + done, c,
            w->d + done + k->lag, after < c ? after : c);
        *new +=
            bf_answer(answers ? answers + done : NULL, ~present & (~UINT64_C(0) >> (64 - c)), c);
    }
    w->n -= done;
    memmove(w->d, w->d + done, w->n * sizeof *w->d);
    return done;
}

static void add_owned(void *ctx, unsigned i)
{
    parallel *p = ctx;
    const unsigned threads = p->b->threads;
    const uint64_t first = p->first[i], width = p->first[i + 1] - 1 - first;
    uint8_t *const answers = p->b->each ? p->answers + i * p->b->n : NULL;
    waiting w;
    w.n = 0;
    w.fetched = false;
    size_t added = 0, range = 0;
    int64_t new = 0;
    for (size_t block = 0; block < p->blocks; block++) {
        for (; range < threads && first_block(p, (unsigned)range) == block; range++)
            p->before[range * threads + i] = added + w.n;
        take_owned(&w, p->digests + block * BLOCK, p->count[block], first, width);
        added += add_waiting(p, &w, block + 1 < p->blocks, answers ? answers + added : NULL, &new);
    }
    p->total[i] = new;
}

/* ---- step 3 ---- */
static unsigned owner_of(const parallel *p, uint64_t digest)
{
    unsigned owner = 0; /* without a branch, which would be unpredictable */
    for (unsigned i = 1; i < p->b->threads; i++) owner += digest >= p->first[i];
    return owner;
}

static void store_answers(void *ctx, unsigned i)
{
    const parallel *p = ctx;
    const unsigned threads = p->b->threads;
    const uint8_t *next[BF_THREADS_MAX];
    for (unsigned j = 0; j < threads; j++)
        next[j] = p->answers + j * p->b->n + p->before[i * threads + j];
    for (size_t block = first_block(p, i); block < first_block(p, i + 1); block++) {
        const size_t at = block * BLOCK, n = keys_of_block(p, block);
        const uint64_t *d = p->digests + at;
        for (size_t j = 0; j < n; j++) {
            const bool known = p->old && p->known[(at + j) / 64] >> (at + j) % 64 & 1;
            p->b->each[at + j] = known ? 0 : *next[owner_of(p, *d++)]++;
        }
    }
}

/* ---- adds ---- */
static bool allocate(parallel *p)
{
    const bf_batch *b = p->b;
    const size_t threads = p->owners ? b->threads : 0, answers = b->each ? threads * b->n : 0,
                 known = p->old ? p->blocks * (BLOCK / 64) : 0, keys = p->blocks * BLOCK;
    p->digests =
        malloc((keys + known) * sizeof *p->digests + threads * threads * sizeof *p->before +
               p->blocks * sizeof *p->count + answers);
    if (!p->digests) return false;
    p->known = p->digests + keys;
    p->before = (size_t *)(p->known + known);
    p->count = (uint16_t *)(p->before + threads * threads);
    p->answers = (uint8_t *)(p->count + p->blocks);
    return true;
}

/* Adds keys to p->bitmap. Returns how many were new, or -1 if one thread must add them. */
static int64_t add(parallel *p)
{
    const bf_batch *b = p->b;
    int64_t total;
    p->blocks = blocks_of(b);
    p->owners = choose_owners(p);
    if (!p->bitmap->kernels || (!p->owners && (b->hashes || b->f->variant->many)) || !allocate(p))
        return -1;
    bf_parallel(b->threads, hash_keys, p);
    if (p->owners) {
        bf_parallel(b->threads, add_owned, p);
        if (b->each) bf_parallel(b->threads, store_answers, p);
        total = sum(p);
    } else {
        bf_batch all = *b;
        all.hashes = p->digests;
        total = p->run(&all);
    }
    free(p->digests);
    return total;
}

/* Adds keys to a growing filter that no other thread or process changes. The keys that fit the
 * newest part are added in parallel; near its end one thread adds keys, and appends a part. */
static int64_t add_growing(parallel *p)
{
    const bf_batch *const whole = p->b;
    bf_filter *f = whole->f;
    int64_t total = 0, new;
    for (size_t done = 0, c; done < whole->n; done += c, total += new) {
        const size_t left = whole->n - done;
        const uint64_t room = bf_grow_room(f);
        const int rc = bf_parts_writable(f, whole->err);
        if (rc < 0) return rc;
        c = room < left ? (size_t)room : left;
        bf_batch some = bf_batch_slice(whole, done, c);
        some.threads = bf_threads_for(c, whole->threads);
        p->b = &some;
        p->old = bf_parts_count(f) - 1;
        p->bitmap = &f->part[p->old]->bitmap;
        new = some.threads > 1 ? add(p) : -1;
        if (new > 0) bf_live_add(f->part[p->old]->live, (uint64_t)new, false);
        if (new >= 0) continue;
        c = left < BF_PARALLEL_LEAST ? left : BF_PARALLEL_LEAST;
        some = bf_batch_slice(whole, done, c);
        new = p->run(&some);
        if (new < 0 && whole->err->key != BF_NO_KEY) whole->err->key += done;
        if (new < 0) return new;
    }
    return total;
}

/* Maximum number of keys in a chunk of bf_run_batch: KEYS_AT_ONCE for bits, COUNTED_AT_ONCE for
 * counters. If a rebuild completes during a chunk, its counters may be incremented twice. */
enum { KEYS_AT_ONCE = 1 << 15, COUNTED_AT_ONCE = 1 << 12 };

/* Returns how many threads may work on the batch. One thread removes keys, because the answers
 * depend on their order; runs code of the host; uses Redis; and reads the clock of a window. */
unsigned bf_threads_of(const bf_batch *b)
{
    const bf_filter *f = b->f;
    return b->n < BF_PARALLEL_LEAST || b->op == BF_OP_REMOVE || f->runs_host_code || f->hash->try ||
                   f->variant->forgets || !f->part[0]->bitmap.store.words
               ? 1
               : bf_threads();
}

/* Returns the number of keys after which a batch of changes is split. If others write the counters,
 * more threads do not change it. */
size_t bf_keys_per_check(const bf_filter *f, unsigned threads)
{
    if (f->bitmap.g.counting && (threads == 1 || f->atomic)) return COUNTED_AT_ONCE;
    return threads > 1 ? BF_PARALLEL_MOST : KEYS_AT_ONCE;
}

int64_t bf_run_parallel(const bf_batch *b, bf_run_slice *run)
{
    bf_filter *f = b->f;
    parallel p = { .b = b, .run = run, .bitmap = &f->bitmap };
    if (b->op != BF_OP_ADD) {
        if (!f->variant->many) return test(&p);
        const int rc = bf_chain_follow(f, b->err);
        p.run = bf_ring_known;
        return rc < 0 ? rc : test(&p);
    }
    if (f->variant->many) return f->atomic ? run(b) : add_growing(&p);
    const int64_t new = add(&p);
    return new < 0 ? run(b) : new;
}
