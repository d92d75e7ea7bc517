/* must.h - what tests that open many filters share: the last error, and filters that must open. */
#ifndef MUST_H
#define MUST_H
#include "../../../core/bloomfilter.h"
#include "check.h"

static bf_error e;
static inline bf_filter *must(bf_filter *f, int line)
{
    if (!f) {
        fprintf(stderr, "line %d: %s\n", line, e.msg);
        exit(1);
    }
    return f;
}
/* By a spec, or by its fields. */
#define MADE(...) must(bf_open(__VA_ARGS__, &e), __LINE__)
#define OPEN(...) MADE(&(bf_spec){ __VA_ARGS__ })
#endif
