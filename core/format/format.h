/* format.h - our bytes: the header page, the compact header, live words, images.  Only header.c and
 * compact.c know them.  Private.  docs/format.md describes them.  Uses base and size; knows no
 * home.
 */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H
#include "base/load.h"
#include "size/size.h"

enum {
    BF_HEADER = 4096,
    BF_COMPACT_BITS = 4096, /* an image of fewer bytes of bits has no page */
    BF_COMPACT_LEAST = 64,  /* the shortest compact header                 */
    BF_COMPACT_HEADER = BF_COMPACT_LEAST + 32 + BF_SCHEME_BYTES, /* the longest compact header */
    BF_COMPACT_MAX = BF_COMPACT_HEADER + BF_COMPACT_BITS         /* the longest, and its bits */
};
uint64_t bf_image_bytes(uint64_t bits); /* with a page */
typedef int bf_sink(
    void *ctx, uint64_t offset, const void *bytes, size_t len); /* 0, or stop with that code */
/* Returns n words, at most BF_BLOCK, from word `at` on.  NULL: failed; ctx has the error. */
enum { BF_BLOCK = 4096 };
typedef const uint64_t *bf_block(void *ctx, uint64_t at, uint64_t n);
int bf_image_write_of(
    const bf_params *d, bf_block *of, void *from, uint64_t nwords, bf_sink *sink, void *ctx);
int bf_image_write_compact(
    const bf_params *d, const uint64_t *words, uint64_t nwords, bf_sink *sink, void *ctx);
/* page: as read, or unpacked from a compact header.  head: the length of the header as stored; len:
 * of the header and all bytes after it. */
int bf_header_read(const uint8_t *page, unsigned head, uint64_t len, bf_params *d,
    const char *where, bf_error *err);
int bf_header_verify_of(const uint8_t *page, bf_block *of, void *from, uint64_t nwords,
    const char *where, bf_error *err);
/* bf_block of words in memory. */
static inline const uint64_t *bf_block_here(void *words, uint64_t at, uint64_t n)
{
    (void)n;
    return (const uint64_t *)words + at;
}
static inline int bf_header_verify(
    const uint8_t *page, const uint64_t *words, uint64_t nwords, const char *where, bf_error *err)
{
    return bf_header_verify_of(page, bf_block_here, (void *)words, nwords, where, err);
}
static inline int bf_image_write(
    const bf_params *d, const uint64_t *words, uint64_t nwords, bf_sink *sink, void *ctx)
{
    return bf_image_write_of(d, bf_block_here, (void *)words, nwords, sink, ctx);
}
void bf_header_new(uint8_t page[BF_HEADER], const bf_params *d);
int bf_header_read_part(const uint8_t *page, unsigned head, uint64_t len, const bf_params *of,
    unsigned index, bf_params *d, const char *where, bf_error *err);
unsigned bf_header_flags(const bf_params *d);
void bf_header_seal(uint8_t *page, uint64_t ones, uint64_t bits_sum);

/* compact.c */
bool bf_compact_fits(uint64_t bytes); /* is an image of so many bytes of bits compact? */
uint64_t bf_header_bytes(const bf_params *d, bool compact);
bool bf_is_compact(const uint8_t *bytes, uint64_t len);
/* Unpacks the compact header at raw to a page; needs at most BF_COMPACT_MAX of the len bytes.
 * Returns the length of the header; *bits: how many bytes of bits follow.  bf_header_read checks
 * the values, as it does for a page. */
int bf_compact_unpack(const uint8_t *raw, uint64_t len, uint8_t *page, uint64_t *bits,
    const char *where, bf_error *err);
void bf_compact_pack(uint8_t *to, const uint8_t *page, const bf_params *d, uint64_t bits_bytes);

/* live words */
uint64_t *bf_header_live(uint8_t *page); /* the page's live word, which contains its own check  */
int64_t bf_live(const uint64_t *word);   /* all are atomic; a broken word reads as 0            */
void bf_live_set(uint64_t *word, int64_t value);
void bf_live_add(uint64_t *word, uint64_t more, bool atomic);
void bf_live_raise(uint64_t *word, int64_t to); /* never lowers it */
bool bf_live_sound(const uint64_t *word);       /* true: not broken */
/* Marks a clean page as written in place, atomically: other processes may do the same.  The mark
 * must be on disk before any bit. */
void bf_header_dirty(uint8_t *page);
bool bf_header_clean(const uint8_t *page); /* 8-byte aligned */

/* The live word of a fixed filter is the generation of its bits: a number that only grows, and
 * whose last two bits are a phase.  0 in new files.  parts/rebuild.h says what it is for.
 *
 *   SETTLED    no rebuild is open
 *   OPEN       a rebuild is open: there may be a shadow, where added keys go too
 *   REPLACING  the shadow is complete and takes the place of the bits */
enum { BF_SETTLED, BF_OPEN, BF_REPLACING };
static inline int64_t bf_generation_number(uint64_t word)
{
    return (int64_t)(load_le64((const uint8_t *)&word) & UINT64_C(0xFFFFFFFFFFFF));
}
static inline unsigned bf_phase(int64_t number) { return number & 3; }
static inline bool bf_settled(uint64_t word)
{
    return bf_phase(bf_generation_number(word)) == BF_SETTLED;
}
/* In a file the shadow lies behind the bits, between these two offsets.  bf_may_have_shadow: may
 * this file have one, or a part of one? */
uint64_t bf_shadow_from(uint64_t bits);
uint64_t bf_shadow_to(uint64_t bits);
bool bf_may_have_shadow(const uint8_t *page);

typedef struct {
    uint64_t header, clean, page;
} bf_stamp;
bf_stamp bf_header_stamp(const uint8_t *page);
bool bf_header_is(const uint8_t *page, const bf_stamp *stamp);
#endif
