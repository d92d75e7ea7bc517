/* exports.h - included before every file of the library, which is compiled with hidden visibility:
 * what the public header declares is exported, and nothing else. */
#include "base/system.h" /* before the first system header, which is one of those below */
#pragma GCC visibility push(default)
#include "bloomfilter.h"
#pragma GCC visibility pop
