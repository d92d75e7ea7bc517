/* maps.c - posix.h's maps of files. */
#ifdef _WIN32
#include "base/system.h"
#include <windows.h>

/* A map ends at its last byte and not at the end of the file: Windows shortens a file only where
 * there is no map. The file must be that long; CreateFileMapping would lengthen it. */
void *mmap(void *at, size_t len, int prot, int flags, int fd, int64_t offset)
{
    LARGE_INTEGER size;
    const uint64_t end = (uint64_t)offset + len;
    const HANDLE file = bf_win_handle(fd);
    const int writes = prot & PROT_WRITE;
    void *p = NULL;
    (void)at;
    if (flags & MAP_ANONYMOUS) return MAP_FAILED;
    if (!GetFileSizeEx(file, &size)) return bf_win_fail(GetLastError()), MAP_FAILED;
    if ((uint64_t)size.QuadPart < end) return bf_win_fail(ERROR_INVALID_PARAMETER), MAP_FAILED;
    HANDLE section = CreateFileMappingW(
        file, NULL, writes ? PAGE_READWRITE : PAGE_READONLY, (DWORD)(end >> 32), (DWORD)end, NULL);
    if (section)
        p = MapViewOfFile(section, writes ? FILE_MAP_WRITE : FILE_MAP_READ,
            (DWORD)((uint64_t)offset >> 32), (DWORD)offset, len);
    const DWORD e = GetLastError();
    if (section) CloseHandle(section);
    if (!p) bf_win_fail(e);
    return p ? p : MAP_FAILED;
}

int munmap(void *map, size_t len)
{
    (void)len;
    return UnmapViewOfFile(map) ? 0 : bf_win_fail(GetLastError());
}

int msync(void *map, size_t len, int flags)
{
    (void)flags;
    return FlushViewOfFile(map, len) ? 0 : bf_win_fail(GetLastError());
}
#endif
