/* system.h - requests GNU extensions and 64-bit file offsets; include it before the system's
 * headers. 64-bit machines have these offsets already, and a request would rename open, mmap and
 * others, which tests replace by name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__LP64__) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
#ifdef _WIN32
#include "base/windows/posix.h"
#endif
