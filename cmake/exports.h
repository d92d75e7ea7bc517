/* exports.h - included before every file of the library, which is compiled with hidden visibility:
 * what the public headers declare is exported, and nothing else. */
#include "base/system.h" /* before the first system header, which is one of those below */
#pragma GCC visibility push(default)
#include "bloomfilter_host.h"
#pragma GCC visibility pop
