/* system.h - what is asked of the system's headers, so it comes before the first of them: GNU's
 * names, and files of 2 GiB and more on 32-bit machines.  Elsewhere they need not be asked for, and
 * asking would give open, mmap and others different names, which the tests that make them fail do
 * not know. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__LP64__) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
