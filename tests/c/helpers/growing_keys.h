/* growing_keys.h - what the tests of growing filters share: a folder, keys of a letter and a
 * number, batches of them, rates. */
#ifndef GROWING_KEYS_H
#define GROWING_KEYS_H
#include "folder.h"
#include "must.h"
#include "letter_keys.h"

static void rate_is(bf_filter *f, double p, uint64_t probes)
{
    double hits = (double)many(f, false, 'x', 0, probes, NULL), mean = p * (double)probes;
    CHECK(hits <= mean + 5 * sqrt(mean) + 5);
    if (hits > mean + 5 * sqrt(mean) + 5)
        fprintf(stderr, "     rate %g, asked for %g\n", hits / (double)probes, p);
}
#endif
