/* system.h - requests GNU extensions and 64-bit file offsets from the system's headers, so it comes
 * before the first of them.  On 64-bit machines the offsets are not requested: that would rename
 * open, mmap and others, which tests replace by name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__LP64__) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
