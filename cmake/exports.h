/* exports.h - included before every file of the library, which is compiled with hidden visibility: what the public header
 * declares is exported, and nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE        /* some files define it, which must be before the first system header: here */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#pragma GCC visibility push(default)
#include "bloomfilter.h"
#pragma GCC visibility pop
