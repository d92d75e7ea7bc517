/* must.h - what tests that open many filters share: the last error, filters that must open, and how
 * a call is made to fail. */
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

/* What a function in the place of another returns. */
static inline int fault(int why)
{
    errno = why;
    return -1;
}
/* In the place of a call of the system: it fails with the errno `why`, 0 is as ever. */
#define HOOKED(type, name, params, args, why)                                                      \
    REPLACED(type, name, params)                                                                   \
    {                                                                                              \
        const int now_ = (why);                                                                    \
        return now_ ? fault(now_) : __real_##name args;                                            \
    }
#endif
