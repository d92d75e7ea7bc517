/* format.h - the byte formats: header page, compact header, part states (live words), images.  Only
 * header.c and compact.c know them; docs/format.md describes them.  Private.  Uses base and size;
 * knows no home. */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H
#include "base/load.h"
#include "size/size.h"

enum {
    BF_HEADER = 4096,
    BF_COMPACT_BITS = 4096, /* images with fewer bytes of bits than this are compact */
    BF_COMPACT_LEAST = 64,  /* length of the shortest compact header */
    BF_COMPACT_HEADER =
        BF_COMPACT_LEAST + 32 + BF_SCHEME_BYTES,         /* length of the longest compact header */
    BF_COMPACT_MAX = BF_COMPACT_HEADER + BF_COMPACT_BITS /* the same with its bits */
};
uint64_t bf_image_bytes(uint64_t bits); /* length of an image with a header page */
/* Where an image is written: from offset `from` on.  write returns 0, or non-zero to stop with that
 * code. */
typedef struct {
    int (*write)(void *ctx, uint64_t offset, const void *bytes, size_t len);
    void *ctx;
    uint64_t from;
} bf_output;
/* Returns n words, at most BF_BLOCK, from word `at` on.  Returns NULL if it fails; the error is in
 * ctx. */
enum { BF_BLOCK = 4096 };
typedef const uint64_t *bf_block(void *ctx, uint64_t at, uint64_t n);
int bf_image_write(
    const bf_params *d, bf_block *of, void *from, uint64_t nwords, const bf_output *out);
int bf_image_write_compact(
    const bf_params *d, const uint64_t *words, uint64_t nwords, const bf_output *out);
/* Reads and checks a header page. page: as stored, or unpacked from a compact header. head: the
 * length of the header as stored. len: of the header and all bytes after it. */
int bf_header_read(const uint8_t *page, unsigned head, uint64_t len, bf_params *d,
    const char *where, bf_error *err);
int bf_header_verify_of(const uint8_t *page, bf_block *of, void *from, uint64_t nwords,
    const char *where, bf_error *err);
/* A bf_block over words in memory. */
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
void bf_header_new(uint8_t page[BF_HEADER], const bf_params *d);
int bf_header_read_part(const uint8_t *page, unsigned head, uint64_t len, const bf_params *of,
    unsigned index, bf_params *d, const char *where, bf_error *err);
unsigned bf_header_flags(const bf_params *d);
void bf_header_seal(uint8_t *page, uint64_t ones, uint64_t bits_sum);

/* compact.c */
bool bf_compact_fits(uint64_t bytes); /* Are images with this many bytes of bits compact?  */
uint64_t bf_header_bytes(const bf_params *d, bool compact);
bool bf_is_compact(const uint8_t *bytes, uint64_t len);
/* Unpacks the compact header at raw into a page, and reads at most BF_COMPACT_MAX of the len bytes.
 * Returns the length of the header; *bits receives how many bytes of bits follow. bf_header_read
 * checks the values afterwards. */
int bf_compact_unpack(const uint8_t *raw, uint64_t len, uint8_t *page, uint64_t *bits,
    const char *where, bf_error *err);
void bf_compact_pack(uint8_t *to, const uint8_t *page, const bf_params *d, uint64_t bits_bytes);

/* live words */
/* the live word of a page; 16 of its bits check the other 48 */
uint64_t *bf_header_live(uint8_t *page);
/* these functions are atomic; a word whose check fails reads as 0 */
int64_t bf_live(const uint64_t *word);
void bf_live_set(uint64_t *word, int64_t value);
void bf_live_add(uint64_t *word, uint64_t more, bool atomic);
void bf_live_raise(uint64_t *word, int64_t to); /* sets it to the larger of both */
bool bf_live_is_valid(const uint64_t *word);    /* does its check match?  */
/* Marks a clean page as dirty (written in place).  Atomic: other processes may do the same.  The
 * mark must be on disk before the first bit is written. */
void bf_header_dirty(uint8_t *page);
bool bf_header_clean(const uint8_t *page); /* 8-byte aligned */

/* The live word of a fixed filter is the generation of its bits: a number that only grows, and
 * whose last two bits are a phase.  0 in new files.  sets/rebuild.h says what it is for.
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
/* The range of file offsets where a shadow lies, behind the bits. bf_may_have_shadow: true if the
 * file may have a complete or partial shadow. */
uint64_t bf_shadow_from(uint64_t bits);
uint64_t bf_shadow_to(uint64_t bits);
bool bf_may_have_shadow(const uint8_t *page);

typedef struct {
    uint64_t header, clean, page;
} bf_stamp;
bf_stamp bf_header_stamp(const uint8_t *page);
bool bf_header_is(const uint8_t *page, const bf_stamp *stamp);
#endif
