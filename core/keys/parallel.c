/* parallel.c - runs a batch in several threads, with the answers and the bits of one thread. Knows
 * filters in addressable memory only. No step of an add can fail, except that a key is damaged:
 * other errors are found before and after.
 *
 * Tests: each thread has a range of the keys; if a range fails, one thread repeats the call. Adds
 * have three steps:
 *
 *   hash_keys      each thread hashes a range of the keys, and gives the digests to their owners
 *   add_owned      each thread owns a range of the lines, and adds the digests that it was given
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
    BLOCK = BF_COLUMN_KEYS, /* keys that a thread gathers at once */
    STEP = 8,
    AHEAD = 32, /* keys that are hashed at once; texts are fetched so far ahead */
    LINES = 64  /* owners have at least so many lines */
};

typedef struct {
    const bf_batch *b;
    bf_run_slice *run;
    size_t blocks;
    const bf_bitmap *bitmap; /* that gets the keys */
    unsigned old;            /* number of parts before it */
    uint64_t *known;         /* growing filters: a bit for each key that an older part contains */
    /* The digests of owner i are first[i] to first[i + 1] - 1. */
    uint64_t first[BF_THREADS_MAX + 1];
    unsigned owners;   /* 0: lines have none */
    uint64_t *digests; /* without owners: of all keys; else see given() */
    size_t *count;     /* count[i * owners + j]: digests that thread i gave to owner j */
    uint8_t *answers;  /* one for each digest, at the same place */
    uint8_t *owner;    /* of each key, if there are answers */
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

/* Returns the sum of the threads' results, or -1 if one of them failed. */
static int64_t sum(const parallel *p)
{
    int64_t total = 0;
    for (unsigned i = 0; i < p->b->threads; i++) {
        if (p->total[i] < 0) return -1;
        total += p->total[i];
    }
    return total;
}

static int64_t run_some(const bf_batch *some, void *p) { return ((parallel *)p)->run(some); }

/* One thread runs the batch. */
static int64_t run_alone(parallel *p, const bf_batch *b) { return bf_run_gathered(b, run_some, p); }

/* ---- tests ---- */
static void test_range(void *ctx, unsigned i)
{
    parallel *p = ctx;
    const size_t n = p->b->n, from = first_block(p, i) * BLOCK, to = first_block(p, i + 1) * BLOCK;
    bf_error unused;
    bf_batch some = bf_batch_slice(p->b, from, (to < n ? to : n) - from);
    some.err = &unused;
    p->total[i] = run_alone(p, &some);
}

static int64_t test(parallel *p)
{
    p->blocks = blocks_of(p->b);
    bf_parallel(p->b->threads, test_range, p);
    const int64_t present = sum(p);
    return present < 0 ? run_alone(p, p->b)
                       : present; /* no memory for the positions of a large k */
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

/* Hashes the keys of a block. Returns false if one of them is damaged. */
static bool hash_block(const parallel *p, size_t at, size_t n, uint64_t *digests)
{
    bf_gathered room;
    const bf_batch b = bf_gather(p->b, at, n, &room);
    for (size_t done = 0, c; done < b.n; done += c) {
        c = b.n - done < STEP ? b.n - done : STEP;
        for (size_t i = done + AHEAD; !b.hashes && i < done + AHEAD + c && i < b.n; i++)
            bf_fetch_key(b.keys + i);
        bf_batch_digests(&b, done, c, digests + done);
    }
    return b.n == n;
}

/* Where thread i stores the digests that it gives to an owner: there is room for all of its keys.
 */
static size_t given(const parallel *p, unsigned i, unsigned owner)
{
    const size_t from = first_block(p, i) * BLOCK, to = first_block(p, i + 1) * BLOCK;
    return from * p->owners + (to - from) * owner;
}

/* Thread i gives each digest to its owner, in two streams at once, without a branch: a digest that
 * is another owner's is overwritten by the next one. have: how many each owner has been given. */
static void give(const parallel *p, unsigned i, const uint64_t *d, size_t n, size_t *have)
{
    for (unsigned j = 0; j < p->owners; j += 2) {
        const bool two = j + 1 < p->owners;
        const uint64_t first = p->first[j], second = p->first[j + 1], width = second - first,
                       second_width = two ? p->first[j + 2] - second : 0;
        uint64_t none, *const to = p->digests + given(p, i, j),
                              *const second_to = two ? p->digests + given(p, i, j + 1) : &none;
        size_t count = have[j], second_count = two ? have[j + 1] : 0;
        for (size_t at = 0; at < n; at++) {
            to[count] = second_to[second_count] = d[at];
            count += d[at] - first < width;
            second_count += d[at] - second < second_width;
        }
        have[j] = count;
        if (two) have[j + 1] = second_count;
    }
}

static void name_owners(const parallel *p, const uint64_t *digests, size_t n, uint8_t *owner)
{
    memset(owner, 0, n);
    for (unsigned j = 1; j < p->owners; j++)
        for (size_t i = 0; i < n; i++) owner[i] += digests[i] >= p->first[j];
}

static void hash_keys(void *ctx, unsigned i)
{
    parallel *p = ctx;
    uint64_t few[BLOCK];
    size_t have[BF_THREADS_MAX] = { 0 };
    p->total[i] = 0;
    for (size_t block = first_block(p, i); block < first_block(p, i + 1); block++) {
        const size_t at = block * BLOCK, n = keys_of_block(p, block);
        uint64_t *const d = p->owners ? few : p->digests + at;
        if (!hash_block(p, at, n, d)) {
            p->total[i] = -1;
            return;
        }
        const size_t kept = p->old ? drop_known(p, d, n, p->known + at / BF_CHUNK) : n;
        give(p, i, d, kept, have);
        if (p->owners && p->b->each) name_owners(p, d, kept, p->owner + at);
    }
    for (unsigned j = 0; j < p->owners; j++) p->count[i * p->owners + j] = have[j];
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

static unsigned choose_owners(parallel *p)
{
    const uint64_t lines = p->bitmap->g.lines, threads = p->b->threads;
    if (p->b->f->desc.scheme->layout->sharding != BF_SHARDS_OF_LINES || lines / threads < LINES)
        return 0;
    for (unsigned i = 0; i < threads; i++)
        p->first[i] = i ? first_digest(lines, lines / threads * i) : 0;
    p->first[threads] = 0; /* 2^64 */
    return (unsigned)threads;
}

/* Adds n digests, and stores the answers, unless `answers` is NULL. Returns how many were new. */
static int64_t add_digests(const parallel *p, const uint64_t *d, size_t n, uint8_t *answers)
{
    const bf_bitmap *bits = p->bitmap;
    const bf_kernels *k = bits->kernels;
    bf_add_kernel *const add = k->add[p->b->f->add_mode];
    int64_t new = 0;
    k->fetch(&bits->g, bits->store.words, d, n < k->lag ? n : k->lag);
    for (size_t done = 0, c; done < n; done += c) {
        const size_t left = n - done, after = left > k->lag ? left - k->lag : 0;
        c = left < k->step ? left : k->step;
        const uint64_t present =
            add(&bits->g, bits->store.words, d + done, c, d + done + k->lag, after < c ? after : c);
        new += bf_answer(answers ? answers + done : NULL, ~present & (~UINT64_C(0) >> (64 - c)), c);
    }
    return new;
}

static void add_owned(void *ctx, unsigned owner)
{
    parallel *p = ctx;
    int64_t new = 0;
    for (unsigned i = 0; i < p->b->threads; i++) {
        const size_t at = given(p, i, owner);
        new += add_digests(p, p->digests + at, p->count[i * p->owners + owner],
            p->b->each ? p->answers + at : NULL);
    }
    p->total[owner] = new;
}

/* ---- step 3 ---- */
static void store_answers(void *ctx, unsigned i)
{
    const parallel *p = ctx;
    const uint8_t *next[BF_THREADS_MAX];
    for (unsigned j = 0; j < p->owners; j++) next[j] = p->answers + given(p, i, j);
    for (size_t block = first_block(p, i); block < first_block(p, i + 1); block++) {
        const size_t at = block * BLOCK, n = keys_of_block(p, block);
        const uint8_t *owner = p->owner + at;
        for (size_t j = 0; j < n; j++) {
            const bool known = p->old && p->known[(at + j) / 64] >> (at + j) % 64 & 1;
            p->b->each[at + j] = known ? 0 : *next[*owner++]++;
        }
    }
}

/* ---- adds ---- */
static bool allocate(parallel *p)
{
    const bf_batch *b = p->b;
    const size_t keys = p->blocks * BLOCK, digests = keys * (p->owners ? p->owners : 1),
                 known = p->old ? p->blocks * (BLOCK / 64) : 0, counts = p->owners * p->owners,
                 answers = b->each && p->owners ? digests : 0;
    p->digests = malloc((digests + known) * sizeof *p->digests + counts * sizeof *p->count +
                        answers + (answers ? keys : 0));
    if (!p->digests) return false;
    p->known = p->digests + digests;
    p->count = (size_t *)(p->known + known);
    p->answers = (uint8_t *)(p->count + counts);
    p->owner = p->answers + answers;
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
    total = sum(p);
    if (total >= 0 && p->owners) {
        bf_parallel(b->threads, add_owned, p);
        if (b->each) bf_parallel(b->threads, store_answers, p);
        total = sum(p);
    } else if (total >= 0) {
        bf_batch all = *b;
        all.column = NULL;
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
        new = run_alone(p, &some);
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
    const bool spans = f->variant->many &&
                       (!f->part[0]->bitmap.kernels || (b->op != BF_OP_TEST && f->variant->count));
    return b->n < BF_PARALLEL_LEAST || b->op == BF_OP_REMOVE || f->runs_host_code || f->hash->try ||
                   (b->column && f->hash->accept) || f->variant->forgets || spans ||
                   !f->part[0]->bitmap.store.words
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
    if (f->variant->many) return f->atomic ? run_alone(&p, b) : add_growing(&p);
    const int64_t new = add(&p);
    return new < 0 ? run_alone(&p, b) : new;
}
