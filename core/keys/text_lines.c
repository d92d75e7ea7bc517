/* text_lines.c - splits a buffer into text lines and adds or tests them as keys, one batch per
 * call. Several threads first count the text lines, each in its part of the buffer. So the threads
 * of the batch can find its text lines by their numbers. */
#include "base/base.h"
#include "keys/keys.h"
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* a call ends after about this many bytes, so that other threads wait less */
enum { CALL_BYTES = 1 << 22 };

typedef struct {
    bf_key *keys;
    size_t n, cap;
    const char *from; /* beginning of the next text line */
} found;

/* Stores a text line as a key. stop: end of the text line. next: beginning of the next text line.
 * Returns true if f is full. */
static inline bool take_line(found *f, const char *stop, const char *next)
{
    f->keys[f->n++] = (bf_key){ f->from, (size_t)(stop - f->from) };
    f->from = next;
    return f->n == f->cap;
}

#ifdef __SSE2__
/* Bit i of the result is set if byte i of the 64 bytes is the separator. */
static inline uint64_t separators(const char *at, __m128i sep)
{
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(
                    _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i)), sep))
                << 16 * i;
    return bits;
}

/* The number of separators in the 64 bytes. */
static inline size_t count_separators(const char *at, __m128i sep)
{
    __m128i sum = _mm_setzero_si128();
    for (int i = 0; i < 4; i++)
        sum = _mm_sub_epi8(sum,
            _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i)), sep));
    sum = _mm_sad_epu8(sum, _mm_setzero_si128());
    return (size_t)(_mm_cvtsi128_si32(sum) + _mm_extract_epi16(sum, 4));
}

/* Finds text lines in blocks of 64 bytes; one memchr per text line takes twice as long. Returns
 * where the search must continue. */
static const char *find_in_blocks(found *f, const bf_lines *l)
{
    const __m128i sep = _mm_set1_epi8(l->sep);
    const char *at = f->from, *end = l->end - at > CALL_BYTES ? at + CALL_BYTES : l->end;
    for (; end - at >= 64; at += 64)
        for (uint64_t bits = separators(at, sep); bits; bits &= bits - 1) {
            const char *stop = at + __builtin_ctzll(bits);
            if (take_line(f, stop, stop + 1)) return f->from;
        }
    return at;
}
#else
static const char *find_in_blocks(found *f, const bf_lines *l)
{
    (void)l;
    return f->from;
}
#endif

/* Finds the text lines from l->at on. Sets f->from to the beginning of the next text line. */
static void find(found *f, const bf_lines *l)
{
    f->from = l->at;
    f->n = 0;
    for (const char *at = f->cap ? find_in_blocks(f, l) : l->at;
        f->n < f->cap && f->from < l->end && f->from - l->at < CALL_BYTES; at = f->from) {
        const char *stop = at < l->end ? memchr(at, l->sep, (size_t)(l->end - at)) : NULL;
        if (!stop && !l->last) return;
        take_line(f, stop ? stop : l->end, stop ? stop + 1 : l->end);
    }
}

size_t bf_next_lines(bf_lines *l, bf_key *keys, size_t cap)
{
    found f = { .keys = keys, .cap = cap };
    find(&f, l);
    l->at = f.from;
    return f.n;
}

static void copy_kept(bf_lines *l, const bf_key *keys, size_t n, const uint8_t *each)
{
    for (size_t i = 0; i < n; i++) {
        if (each[i] != l->keep) continue;
        memcpy(l->kept, keys[i].ptr, keys[i].len);
        l->kept += keys[i].len;
        *l->kept++ = l->sep;
    }
}

/* ---- several threads ---- */
enum { APART = 64 }; /* the beginning of every 64th text line of a part is stored */

typedef struct {
    const bf_lines *l;
    unsigned parts;
    const char *begin[BF_THREADS_MAX + 1]; /* of the parts; the last one is the end of the text */
    size_t first[BF_THREADS_MAX + 1];      /* numbers of their first text lines; the last: of all */
    uint32_t *starts; /* start(c, part): where text lines 0, APART, 2 APART ... of the part begin */
} counted;

static uint32_t *start(const counted *c, unsigned part)
{
    return c->starts + (c->begin[part] - c->begin[0]) / APART + part;
}

/* A step of 64 bytes has the beginning of at most one of the stored text lines. */
static void count_part(void *ctx, unsigned part)
{
    counted *c = ctx;
    const char *at = c->begin[part], *const end = c->begin[part + 1];
    uint32_t *to = start(c, part);
    size_t lines = 0;
    *to++ = (uint32_t)(at - c->begin[0]);
#ifdef __SSE2__
    const __m128i sep = _mm_set1_epi8(c->l->sep);
    for (size_t n; end - at >= 64; at += 64, lines += n) {
        const size_t before = lines % APART;
        n = count_separators(at, sep);
        if (before + n < APART) continue;
        uint64_t bits = separators(at, sep);
        for (size_t i = before + 1; i < APART; i++) bits &= bits - 1;
        *to++ = (uint32_t)(at + __builtin_ctzll(bits) + 1 - c->begin[0]);
    }
#endif
    for (const char *stop; at < end && (stop = memchr(at, c->l->sep, (size_t)(end - at)));) {
        at = stop + 1;
        if (++lines % APART == 0) *to++ = (uint32_t)(at - c->begin[0]);
    }
    c->first[part + 1] = lines + (end > c->begin[part] && end[-1] != c->l->sep);
}

/* Cuts the text of a call into parts, each ends after a separator or at the end of the last text
 * line. Returns false if the text is too short, or has no separator. */
static bool cut(counted *c, const bf_lines *l, unsigned threads)
{
    const char *const limit = l->end - l->at > CALL_BYTES ? l->at + CALL_BYTES : l->end,
                      *end = limit;
    if (limit - l->at < BF_PARALLEL_LEAST) return false;
    if (limit < l->end || !l->last)
        while (end > l->at && end[-1] != l->sep) end--;
    c->l = l;
    c->begin[0] = l->at;
    c->parts = threads;
    for (unsigned i = 1; i < threads; i++) {
        const char *at = l->at + (end - l->at) / (ptrdiff_t)threads * i;
        if (at < c->begin[i - 1]) at = c->begin[i - 1];
        const char *stop = at < end ? memchr(at, l->sep, (size_t)(end - at)) : NULL;
        c->begin[i] = stop ? stop + 1 : end;
    }
    c->begin[threads] = end;
    return end > l->at;
}

/* The text lines of a call as a column. */
static size_t gather_lines(const void *ctx, size_t from, size_t n, bf_key *keys, char *text)
{
    const counted *c = ctx;
    bf_lines l = *c->l;
    unsigned part = 0;
    (void)text;
    while (part + 1 < c->parts && from >= c->first[part + 1]) part++;
    from -= c->first[part];
    l.at = c->begin[0] + start(c, part)[from / APART];
    l.end = c->begin[c->parts];
    bf_next_lines(&l, keys, from % APART);
    return bf_next_lines(&l, keys, n);
}

/* Copies the first n text lines of the call whose answer is `keep`. next: the end of the text of
 * the call. If the host has changed this text, fewer text lines may be found, but no bytes after
 * it, for which `kept` has no space. */
static void copy_kept_lines(bf_lines *l, size_t n, const uint8_t *each, const char *next)
{
    bf_key keys[BF_COLUMN_KEYS];
    bf_lines rest = *l;
    rest.last = l->last && next == l->end;
    rest.end = next;
    for (size_t done = 0, c = 1; c && done < n; done += c) {
        c = bf_next_lines(&rest, keys, n - done < BF_COLUMN_KEYS ? n - done : BF_COLUMN_KEYS);
        copy_kept(l, keys, c, each + done);
    }
}

/* ---- one call ---- */
typedef struct {
    int64_t (*many)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
    int64_t (*column)(bf_filter *, const bf_column *, size_t, uint8_t *, bf_error *);
} calls;

/* hits: the answer of the core. keys: the text lines, or NULL. next: the rest of the buffer. */
static int done(bf_lines *l, const bf_key *keys, size_t n, const uint8_t *each, const char *next,
    int64_t hits, bf_error *why, bf_error *err)
{
    /* keys that were not handled have the answer 0, so every other answer is a real one */
    const size_t known = hits >= 0 || l->keep ? n : why->key < n ? (size_t)why->key : 0;
    if (l->kept && (hits >= 0 || !why->lost)) {
        if (keys)
            copy_kept(l, keys, known, each);
        else
            copy_kept_lines(l, known, each, next);
    }
    if (hits < 0) {
        if (why->key != BF_NO_KEY) why->key += l->keys;
        if (err) *err = *why;
        return (int)hits;
    }
    if (l->each) l->each += n;
    l->at = next;
    l->keys += n;
    l->hits += (uint64_t)hits;
    return 1;
}

/* Returns 0 if one thread must run the call. */
static int run_counted(
    bf_filter *f, bf_lines *l, const calls *call, unsigned threads, bf_error *err)
{
    counted c;
    bf_error why;
    if (threads == 1 || !f->part[0]->bitmap.store.words || !cut(&c, l, threads)) return 0;
    c.starts = malloc((CALL_BYTES / APART + 2 * BF_THREADS_MAX) * sizeof *c.starts);
    if (!c.starts) return 0;
    c.first[0] = 0;
    bf_parallel(c.parts, count_part, &c);
    for (unsigned i = 0; i < c.parts; i++) c.first[i + 1] += c.first[i];
    const size_t n = c.first[c.parts];
    uint8_t *const own = l->kept && !l->each ? calloc(n, 1) : NULL, *each = own ? own : l->each;
    int rc = 0;
    if (each || !l->kept) {
        const bf_column column = { gather_lines, &c };
        if (l->each) memset(l->each, 0, n); /* a call that fails leaves some as they are */
        const int64_t hits = call->column(f, &column, n, each, &why);
        rc = done(l, NULL, n, each, c.begin[c.parts], hits, &why, err);
    }
    free(own);
    free(c.starts);
    return rc;
}

static int run_lines(bf_filter *f, bf_lines *l, const calls *call, bf_error *err)
{
    bf_key keys[BF_BATCH_SIZE_MAX];
    uint8_t answers[BF_BATCH_SIZE_MAX], *each = l->each ? l->each : l->kept ? answers : NULL;
    found lines = { keys, 0, bf_batch_size(f), NULL };
    bf_error why;
    const int rc = run_counted(f, l, call, bf_threads(), err);
    if (rc) return rc;
    find(&lines, l);
    if (lines.n == 0) return 0;
    if (each) memset(each, 0, lines.n);
    const int64_t hits = call->many(f, keys, lines.n, each, &why);
    return done(l, keys, lines.n, each, lines.from, hits, &why, err);
}

int bf_add_lines(bf_filter *f, bf_lines *l, bf_error *err)
{
    return run_lines(f, l, &(calls){ bf_add_many, bf_add_column }, err);
}
int bf_test_lines(bf_filter *f, bf_lines *l, bf_error *err)
{
    return run_lines(f, l, &(calls){ bf_test_many, bf_test_column }, err);
}
