/* edition.c - the words of a page by which writers agree who writes (home/bias.c). */
#include "bits/bits.h"
#include "format/fields.h"

uint64_t bf_edition_word(uint32_t edition)
{
    uint64_t word;
    uint8_t bytes[8];
    bf_put(bytes, 8, bf_sequence(edition));
    memcpy(&word, bytes, 8);
    return word;
}

uint64_t bf_turns_word(bf_turns turns)
{
    static const unsigned version[] = { VERSION, VERSION_SOLE, VERSION_REVOKED };
    uint64_t word;
    uint8_t bytes[8];
    bf_put(bytes, 4, version[turns]);
    bf_put(bytes + 4, 4, BF_HEADER);
    memcpy(&word, bytes, 8);
    return word;
}

uint64_t *bf_header_turns(uint8_t *page) { return (uint64_t *)(void *)(page + AT_VERSION); }
uint64_t *bf_header_inside(uint8_t *page) { return (uint64_t *)(void *)(page + AT_INSIDE); }
