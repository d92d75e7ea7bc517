/* whole.h - a filter as its parts, be they one or many.  Private.  What is above parts/ goes over
 * the parts by these and does not ask how many a filter has. */
#ifndef BF_WHOLE_H
#define BF_WHOLE_H
#include "parts/parts.h"

static inline unsigned bf_whole_count(const bf_filter *f)
{
    return f->chain ? bf_chain_count(f->chain) : 1;
}
static inline bf_piece *bf_whole_piece(bf_filter *f, unsigned i)
{
    return f->chain ? f->chain->piece[i] : &f->piece;
}
static inline const bf_piece *bf_whole_newest(const bf_filter *f)
{
    return bf_whole_piece((bf_filter *)f, bf_whole_count(f) - 1);
}
static inline bool bf_whole_lives(const bf_filter *f, const bf_piece *p, int64_t now)
{
    return !f->variant->lives || f->variant->lives(f->chain, p, now);
}

uint64_t bf_whole_cells(const bf_filter *f); /* of all parts                                   */
/* Of an image of the first so many parts: its bytes; has it no pages?  The bytes before the first
 * part's; a part's. */
uint64_t bf_whole_bytes(const bf_filter *f, unsigned parts);
bool bf_whole_compact(const bf_filter *f, unsigned parts);
uint64_t bf_whole_head(const bf_filter *f, bool compact);
uint64_t bf_whole_part_bytes(const bf_filter *f, unsigned i, bool compact);
bf_desc bf_whole_describe(const bf_filter *f, unsigned parts); /* as an image of so many parts is */
bf_desc bf_whole_part(const bf_filter *f, unsigned i);         /* as that part's image is      */
uint64_t bf_whole_parts(const bf_desc *d); /* a new or a stored filter of this description has */

/* Opened: takes in all parts that are there.  Created: 1, 0 somebody else was faster. */
int bf_whole_attach(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_whole_create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
int bf_whole_plan(bf_desc *d, bf_error *err); /* d->g.m becomes that of all its first parts */

/* Are its words where they were?  Asked before the first look at a map; follow and refresh ask too.
 */
int bf_whole_check(bf_filter *f, bf_error *err);
int bf_whole_follow(bf_filter *f, bf_error *err);  /* takes in the parts that it was told of    */
int bf_whole_refresh(bf_filter *f, bf_error *err); /* all that others appended before           */
int bf_whole_writable(bf_filter *f, bf_error *err);
int bf_whole_now(
    bf_filter *f, int64_t *now, bf_error *err); /* after a check; 0 where time is nothing */
/* The parts that it knows, or all that are there, stay as they are until it is let go. */
int bf_whole_hold(bf_filter *f, bf_error *err);
int bf_whole_hold_all(bf_filter *f, bf_error *err);
void bf_whole_let(bf_filter *f);
int bf_whole_expire(bf_filter *f, double seconds, bf_error *err);
int bf_whole_remove(bf_filter *f, bf_error *err);

/* Those that forget: the epoch of the newest add; the oldest epoch that counts at that time; the
 * piece of an epoch, NULL where it has none; do its parts stay where they are (else they come and
 * go with the time)? */
int64_t bf_whole_latest(const bf_filter *f);
int64_t bf_whole_oldest(const bf_filter *f, int64_t now);
bf_piece *bf_whole_of(const bf_filter *f, int64_t epoch);
bool bf_whole_stands(const bf_filter *f);

/* The part that a key would go into now. */
int bf_whole_target(bf_filter *f, const bf_piece **p, bf_error *err);
void bf_whole_tell(bf_filter *f, unsigned i, bf_part_info *info);

/* What an empty one in memory is made from (bf_new_like): f's secret and clock.  Parts are appended
 * to it one after the other, and then it goes on where f is. */
bf_spec bf_whole_spec(bf_filter *f);
int bf_whole_append(bf_filter *f, const bf_desc *part, bf_error *err);
void bf_whole_go_on(bf_filter *f, const bf_filter *as);
#endif
