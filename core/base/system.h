/* system.h - requests GNU extensions and 64-bit file offsets from the system's headers; include
 * it before the first of them. Does not request the offsets on 64-bit machines: that would
 * rename open, mmap and others, and tests replace these by name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__LP64__) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
