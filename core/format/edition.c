/* edition.c - the page's dirty word as the number of the contents: a rebuild moves it on.  Knows
 * where the word is and what it says, and where the draft of a file lies; what is done when it
 * moves is parts/rebuild.c's.
 *
 *   0 clean, as it was saved   4 q + 1 settled   4 q + 2 a rebuild is open: there is a draft
 *   4 q + 3 the draft is complete, and takes the place of the bits; then 4 (q + 1) + 1 */
#include "bits/bits.h"
#include "format/fields.h"

enum { DRAFT_ALIGNED = 1 << 16 }; /* no machine has larger pages */

uint64_t bf_edition_word(uint32_t edition)
{
    uint64_t word;
    uint8_t bytes[8];
    bf_put(bytes, 8, bf_sequence(edition));
    memcpy(&word, bytes, 8);
    return word;
}

uint32_t bf_edition(const uint64_t *at)
{
    uint8_t bytes[8];
    const uint64_t word = bf_word(at);
    memcpy(bytes, &word, 8);
    return (uint32_t)bf_get(bytes, 8);
}

void bf_edition_set(uint64_t *at, uint32_t edition)
{
    BF_STEP(at, true);
    __atomic_store_n((bf_shared *)at, bf_edition_word(edition), __ATOMIC_SEQ_CST);
    bf_fence();
}

uint64_t *bf_header_edition(uint8_t *page) { return (uint64_t *)(void *)(page + AT_DIRTY); }

uint64_t bf_draft_from(uint64_t bits)
{
    return (bf_image_bytes(bits) + DRAFT_ALIGNED - 1) / DRAFT_ALIGNED * DRAFT_ALIGNED;
}

uint64_t bf_draft_to(uint64_t bits) { return bf_draft_from(bits) + bf_cells_bytes(bits); }

bool bf_may_have_draft(const uint8_t *page)
{
    const uint64_t dirty = bf_get(page + AT_DIRTY, 8);
    return dirty != bf_get(page + AT_CLEAN, 8) && !bf_edition_settled((uint32_t)dirty);
}
