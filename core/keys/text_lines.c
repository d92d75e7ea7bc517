/* text_lines.c - splits a buffer into text lines and adds or tests them as keys, one batch per
 * call. */
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

static void copy_kept(bf_lines *l, const found *f, size_t n, const uint8_t *each)
{
    for (size_t i = 0; i < n; i++) {
        if (each[i] != l->keep) continue;
        memcpy(l->kept, f->keys[i].ptr, f->keys[i].len);
        l->kept += f->keys[i].len;
        *l->kept++ = l->sep;
    }
}

typedef int64_t many(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);

/* lines: the room for keys. answers: for as many answers. */
static int run_found(
    bf_filter *f, bf_lines *l, many *call, found lines, uint8_t *answers, bf_error *err)
{
    uint8_t *each = l->each ? l->each : l->kept ? answers : NULL;
    bf_error why;
    find(&lines, l);
    if (lines.n == 0) return 0;
    if (each) memset(each, 0, lines.n); /* a call that fails leaves some as they are */
    const int64_t hits = call(f, lines.keys, lines.n, each, &why);
    if (hits < 0) {
        /* keys that were not handled have the answer 0, so every other answer is a real one */
        const size_t known = l->keep ? lines.n : why.key < lines.n ? (size_t)why.key : 0;
        if (l->kept && !why.lost) copy_kept(l, &lines, known, each);
        if (why.key != BF_NO_KEY) why.key += l->keys;
        if (err) *err = why;
        return (int)hits;
    }
    if (l->kept) copy_kept(l, &lines, lines.n, each);
    if (l->each) l->each += lines.n;
    l->at = lines.from;
    l->keys += lines.n;
    l->hits += (uint64_t)hits;
    return 1;
}

/* Several threads need more keys per call. */
static int run_lines(bf_filter *f, bf_lines *l, many *call, bf_error *err)
{
    enum { MANY = BF_PARALLEL_MOST };
    bf_key few[BF_BATCH_SIZE_MAX];
    uint8_t answers[BF_BATCH_SIZE_MAX];
    bf_key *keys = bf_threads() > 1 && f->part[0]->bitmap.store.words
                       ? malloc(MANY * (sizeof *keys + sizeof *answers))
                       : NULL;
    if (!keys)
        return run_found(f, l, call, (found){ few, 0, bf_batch_size(f), NULL }, answers, err);
    const found room = { keys, 0, MANY, NULL };
    const int rc = run_found(f, l, call, room, (uint8_t *)(keys + MANY), err);
    free(keys);
    return rc;
}

int bf_add_lines(bf_filter *f, bf_lines *l, bf_error *err)
{
    return run_lines(f, l, bf_add_many, err);
}
int bf_test_lines(bf_filter *f, bf_lines *l, bf_error *err)
{
    return run_lines(f, l, bf_test_many, err);
}
