/* format.h - reads, checks and writes header pages, compact headers, part states and images. Only
 * header.c and compact.c depend on the bytes; docs/format.md describes the bytes. Private. */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H
#include "base/load.h"
#include "size/size.h"

enum {
    BF_HEADER = 4096,
    BF_COMPACT_BITS = 4096, /* an image is compact if its bits take fewer bytes than this */
    BF_COMPACT_LEAST = 64,  /* length of the shortest compact header */
    BF_COMPACT_HEADER =
        BF_COMPACT_LEAST + 32 + BF_SCHEME_BYTES,         /* length of the longest compact header */
    BF_COMPACT_MAX = BF_COMPACT_HEADER + BF_COMPACT_BITS /* length of the longest compact image */
};
uint64_t bf_image_bytes(uint64_t bits); /* length of an image with a header page */
/* Where an image is written. write returns 0; any other value stops the writer, which returns the
 * value. from: the offset at which the image begins. */
typedef struct {
    int (*write)(void *ctx, uint64_t offset, const void *bytes, size_t len);
    void *ctx;
    uint64_t from;
} bf_output;
/* Returns n words (at most BF_BLOCK) that begin with word `at`, valid until the next call. Returns
 * NULL on failure; the error is in ctx. */
enum { BF_BLOCK = 4096 };
typedef const uint64_t *bf_block(void *ctx, uint64_t at, uint64_t n);
int bf_image_write(
    const bf_params *d, bf_block *of, void *from, uint64_t nwords, const bf_output *out);
int bf_image_write_compact(
    const bf_params *d, const uint64_t *words, uint64_t nwords, const bf_output *out);
/* Checks a header page and stores its parameters in *d. page: as stored, or unpacked from a compact
 * header. head: length of the stored header. len: head and the length of all bytes after the
 * header. bf_header_read_part does the same for part number `index` of the filter `of`. */
int bf_header_read(const uint8_t *page, unsigned head, uint64_t len, bf_params *d,
    const char *where, bf_error *err);
int bf_header_read_part(const uint8_t *page, unsigned head, uint64_t len, const bf_params *of,
    unsigned index, bf_params *d, const char *where, bf_error *err);
int bf_header_verify_of(const uint8_t *page, bf_block *of, void *from, uint64_t nwords,
    const char *where, bf_error *err);
/* A bf_block for words in memory. */
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
unsigned bf_header_flags(const bf_params *d);
void bf_header_seal(uint8_t *page, uint64_t ones, uint64_t bits_sum);

/* compact.c */
/* returns true if an image with this many bytes of bits is compact */
bool bf_compact_fits(uint64_t bytes);
uint64_t bf_header_bytes(const bf_params *d, bool compact);
bool bf_is_compact(const uint8_t *bytes, uint64_t len);
/* Converts the compact header at raw to a page, after a check of its checksum. Reads at most
 * BF_COMPACT_MAX of the len bytes. Returns the length of the compact header, or an error. *bits:
 * the number of bytes of bits after the header. The caller must check the page's values with
 * bf_header_read. */
int bf_compact_unpack(const uint8_t *raw, uint64_t len, uint8_t *page, uint64_t *bits,
    const char *where, bf_error *err);
/* Returns the length of the header at raw with the bits after it. If len bytes are too few to know
 * it, returns how many bytes are needed, which is more than len. Returns 0 if raw is no header. A
 * page is not checked further: its bits may have any length. */
uint64_t bf_header_span(const uint8_t *raw, uint64_t len);
void bf_compact_pack(uint8_t *to, const uint8_t *page, const bf_params *d, uint64_t bits_bytes);

/* The state of a filter or part: 8 bytes of its header page, which are written in place. 48 bits
 * are a number, the other 16 bits check the number. bf_params.live in size.h has the meaning of the
 * number; in a fixed filter the number is the generation (below). */
uint64_t *bf_header_live(uint8_t *page);
/* Atomic, unless `atomic` is false. A state with a wrong check counts as 0. */
int64_t bf_live(const uint64_t *word);
void bf_live_set(uint64_t *word, int64_t value);
void bf_live_add(uint64_t *word, uint64_t more, bool atomic);
/* sets the state to `to` if `to` is larger, or if the state has a wrong check */
void bf_live_raise(uint64_t *word, int64_t to);
bool bf_live_is_valid(const uint64_t *word); /* returns true if the check matches */
/* Marks a clean page as dirty, in place. Atomic, because other processes may do the same. The
 * caller must sync the page before it writes the first bit. */
void bf_header_dirty(uint8_t *page);
bool bf_header_clean(const uint8_t *page); /* page must be aligned to 8 bytes */

/* The generation of a fixed filter only increases; it is 0 in a new file. Its lowest two bits are
 * the phase of a rebuild (sets/rebuild.h):
 *
 *   SETTLED    no rebuild is open
 *   OPEN       a rebuild is open; new keys are added to the bits and to the shadow, if it exists
 *   REPLACING  the shadow is complete and replaces the bits */
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
/* A shadow in a file and its sum are after the bits, from offset bf_shadow_from to bf_shadow_to.
 * bits: number of bits of the filter. */
uint64_t bf_shadow_from(uint64_t bits);
uint64_t bf_shadow_to(uint64_t bits);
/* The word after a complete shadow, as stored. It ties the shadow to the generation that it is for:
 * in a copy of the file, the header and the shadow may be of different rebuilds. */
uint64_t bf_shadow_sum(const uint64_t *shadow, uint64_t nwords, int64_t generation);

/* Identifies a saved image. After another image was written over the file, the stamp differs. */
typedef struct {
    uint64_t header, clean, page;
} bf_stamp;
bf_stamp bf_header_stamp(const uint8_t *page);
bool bf_header_is(const uint8_t *page, const bf_stamp *stamp);
#endif
