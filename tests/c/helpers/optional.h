/* optional.h - which optional libraries the core was built with, asked of the core itself.
 * NEEDS_SODIUM skips a test. */
#ifndef OPTIONAL_H
#define OPTIONAL_H
#include "../../../core/bloomfilter.h"
#include "check.h"

static inline bool core_lacks(bf_spec spec)
{
    bf_error e = { 0 };
    bf_filter *f = bf_open(&spec, &e);
    bf_close(f);
    return !f && e.code == BF_ENOTSUP;
}
static inline bool lacks_sodium(void)
{
    return core_lacks((bf_spec){ .m = 10, .k = 1, .secret = "0123456789abcdef", .secret_len = 16 });
}
#define NEEDS_SODIUM                                                                               \
    do {                                                                                           \
        if (lacks_sodium()) SKIP("this build lacks libsodium");                                    \
    } while (0)
#endif
