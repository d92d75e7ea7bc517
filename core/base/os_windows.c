/* os_windows.c - the services of os.h on Windows, but those of files, locks and sockets that are in
 * windows/. No process forks here. The descriptor of an exclusive writer holds its lock. */
#ifdef _WIN32
#define _CRT_RAND_S
#include "base/system.h"
#include "base/os.h"
#include <stdlib.h>
#include <windows.h>

/* ---- memory ---- */
uint64_t bf_os_memory(void)
{
    MEMORYSTATUSEX m = { .dwLength = sizeof m };
    return GlobalMemoryStatusEx(&m) ? m.ullTotalPageFile : 0;
}
void bf_os_huge_pages(void *at, size_t bytes) { (void)at, (void)bytes; }
void bf_os_wipe_on_fork(void *page, size_t bytes) { (void)page, (void)bytes; }
int bf_os_drop_on_fork(void *map, size_t bytes) { return (void)map, (void)bytes, 0; }
int bf_os_random(void *to, size_t bytes)
{
    unsigned some;
    for (size_t done = 0; done < bytes; done++) {
        if (rand_s(&some) != 0) return -1;
        ((uint8_t *)to)[done] = (uint8_t)some;
    }
    return 0;
}

/* ---- threads ---- */
unsigned bf_os_processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors;
}

/* ---- space for files ---- */
/* A file that is not sparse has its space from here on. */
int bf_os_reserve(int fd, off_t at, off_t len)
{
    struct stat st;
    if (fstat(fd, &st) < 0) return errno;
    return st.st_size < (uint64_t)(at + len) && ftruncate(fd, at + len) < 0 ? errno : 0;
}
int bf_os_fill_holes(int fd, off_t at, off_t len)
{
    return (void)fd, (void)at, (void)len, EOPNOTSUPP;
}
bool bf_os_reads_take_space(int fd) { return (void)fd, false; }
int bf_os_read_pages(void *map, size_t bytes) { return (void)map, (void)bytes, EOPNOTSUPP; }
const bool bf_os_cuts_maps = false;

/* ---- names and rights of files ---- */
/* NTFS does not reuse file numbers. Wine has no time of creation. */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes)
{
    struct stat st;
    if (*path ? stat(path, &st) : fstat(fd, &st)) return false;
    *id = (bf_identity){ st.st_dev, st.st_ino, 0, 0 };
    *bytes = st.st_size;
    return true;
}
const char *bf_last_separator(const char *path)
{
    const char *last = NULL;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\' || (*p == ':' && p == path + 1)) last = p;
    return last;
}
static int unsupported(void)
{
    errno = EOPNOTSUPP;
    return -1;
}
int bf_os_open_nameless(const char *folder) { return (void)folder, unsupported(); }
int bf_os_name(int fd, const char *path) { return (void)fd, (void)path, unsupported(); }
int bf_os_copy_acl(const char *path, int fd) { return (void)path, (void)fd, 0; }

/* ---- locks of open file descriptions ---- */
const bool bf_os_has_ofd_locks = true;
bool bf_os_map_holds_lock(int fd) { return (void)fd, false; }
#endif
