/* files.c - posix.h's names of files, opening, reading, writing, locks, and errors as errno. */
#ifdef _WIN32
#include "base/system.h"
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <windows.h>

enum { ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* ---- errors ---- */
int bf_win_errno(unsigned long error)
{
    static const struct {
        unsigned long error;
        int e;
    } known[] = { { ERROR_FILE_NOT_FOUND, ENOENT }, { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_NAME, ENOENT }, { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_ACCESS_DENIED, EACCES }, { ERROR_WRITE_PROTECT, EROFS },
        { ERROR_SHARING_VIOLATION, EBUSY }, { ERROR_USER_MAPPED_FILE, EBUSY },
        { ERROR_LOCK_VIOLATION, EAGAIN }, { ERROR_IO_PENDING, EAGAIN },
        { ERROR_FILE_EXISTS, EEXIST }, { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_DISK_FULL, ENOSPC }, { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM }, { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_COMMITMENT_LIMIT, ENOMEM }, { ERROR_NO_UNICODE_TRANSLATION, EILSEQ },
        { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG }, { ERROR_TOO_MANY_OPEN_FILES, EMFILE },
        { ERROR_INVALID_HANDLE, EBADF }, { ERROR_NOT_SUPPORTED, EOPNOTSUPP },
        { ERROR_INVALID_FUNCTION, EOPNOTSUPP }, { ERROR_INVALID_PARAMETER, EINVAL } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) return known[i].e;
    return EIO;
}

int bf_win_fail(unsigned long error)
{
    errno = bf_win_errno(error);
    return -1;
}
static int of_last(bool done) { return done ? 0 : bf_win_fail(GetLastError()); }

/* The C library of Windows has no words for the errors of sockets. */
const char *bf_win_strerror(int e)
{
    return e == ETIMEDOUT      ? "Connection timed out"
           : e == ECONNREFUSED ? "Connection refused"
           : e == ECONNRESET   ? "Connection reset by peer"
           : e == EHOSTUNREACH ? "No route to host"
           : e == ENETUNREACH  ? "Network is unreachable"
           : e == EOPNOTSUPP   ? "Operation not supported"
           : e == EBUSY        ? "a program has it open, and Windows does not replace, shorten or "
                                 "remove such a file"
                               : (strerror)(e);
}

/* ---- names ---- */
/* UTF-16 that the caller frees, or NULL and errno. */
static wchar_t *wide(const char *path)
{
    const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *w = n > 0 ? malloc((size_t)n * sizeof *w) : NULL;
    if (w)
        MultiByteToWideChar(CP_UTF8, 0, path, -1, w, n);
    else
        errno = n > 0 ? ENOMEM : EILSEQ;
    return w;
}

/* Calls CreateFileW; INVALID_HANDLE_VALUE: errno. */
static HANDLE create(const char *path, DWORD access, DWORD share, DWORD how, DWORD flags)
{
    wchar_t *w = wide(path);
    if (!w) return INVALID_HANDLE_VALUE;
    HANDLE h = CreateFileW(w, access, share, NULL, how, flags, NULL);
    const DWORD e = GetLastError();
    if (h == INVALID_HANDLE_VALUE) bf_win_fail(e);
    free(w);
    return h;
}

static int move(const char *from, const char *to, DWORD flags)
{
    wchar_t *a = wide(from), *b = wide(to);
    const int rc = a && b ? of_last(MoveFileExW(a, b, flags)) : -1, e = errno;
    free(a);
    free(b);
    errno = e;
    return rc;
}

/* Windows refuses to replace an open file as it refuses to replace one without the right to. */
int bf_win_rename(const char *from, const char *to)
{
    const int rc = move(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
    if (rc == 0 || errno != EACCES) return rc;
    HANDLE h = create(to, GENERIC_READ, 0, OPEN_EXISTING, 0);
    if (h != INVALID_HANDLE_VALUE) {
        CloseHandle(h);
        errno = EACCES;
    }
    return -1;
}
int bf_os_rename_new(const char *from, const char *to)
{
    return move(from, to, MOVEFILE_WRITE_THROUGH);
}
/* bf_os_rename_new takes its place. */
int bf_win_linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    (void)from_at, (void)from, (void)to_at, (void)to, (void)flags;
    errno = EOPNOTSUPP;
    return -1;
}

int bf_win_unlink(const char *path)
{
    wchar_t *w = wide(path);
    const int rc = w ? of_last(DeleteFileW(w)) : -1, e = errno;
    free(w);
    errno = e;
    return rc;
}

char *bf_win_getcwd(char *to, int cap)
{
    (void)to, (void)cap;
    wchar_t *w = _wgetcwd(NULL, 0);
    const int n = w ? WideCharToMultiByte(CP_UTF8, 0, w, -1, NULL, 0, NULL, NULL) : 0;
    char *path = n > 0 ? malloc((size_t)n) : NULL;
    if (path) WideCharToMultiByte(CP_UTF8, 0, w, -1, path, n, NULL, NULL);
    free(w);
    return path;
}

char *strndup(const char *text, size_t most)
{
    const size_t len = strnlen(text, most);
    char *copy = malloc(len + 1);
    if (!copy) return NULL;
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

/* ---- opening ---- */
void *bf_win_handle(int fd) { return (void *)_get_osfhandle(fd); }

/* Which descriptors hold a shared lock: Windows would count a second one. */
enum { DESCRIPTORS = 8192 };
static bool shared[DESCRIPTORS];

static int descriptor_of(HANDLE h, int flags)
{
    const int fd = _open_osfhandle((intptr_t)h, _O_BINARY | (flags & (O_RDWR | O_WRONLY)));
    if (fd >= 0 && fd < DESCRIPTORS) {
        shared[fd] = false;
        return fd;
    }
    if (fd < 0)
        CloseHandle(h);
    else
        close(fd);
    errno = EMFILE;
    return -1;
}

/* A copy has the locks of its original. */
int bf_win_dup_above_2(int fd)
{
    const int other = _dup(fd), above = other < 0 || other > 2 ? other : bf_win_dup_above_2(fd);
    if (other != above) close(other);
    if (above < 0) return -1;
    SetHandleInformation(bf_win_handle(above), HANDLE_FLAG_INHERIT, 0);
    if (above < DESCRIPTORS) {
        shared[above] = shared[fd];
        return above;
    }
    close(above);
    errno = EMFILE;
    return -1;
}

static DWORD access_of(int flags)
{
    return flags & O_RDWR     ? GENERIC_READ | GENERIC_WRITE
           : flags & O_WRONLY ? GENERIC_WRITE
                              : GENERIC_READ;
}

int bf_win_open(const char *path, int flags, ...)
{
    const DWORD how = flags & O_EXCL    ? CREATE_NEW
                      : flags & O_TRUNC ? CREATE_ALWAYS
                      : flags & O_CREAT ? OPEN_ALWAYS
                                        : OPEN_EXISTING,
                share = flags & O_NOFOLLOW ? ALL : ALL & ~(DWORD)FILE_SHARE_DELETE,
                special = flags & O_NOFOLLOW            ? FILE_FLAG_OPEN_REPARSE_POINT
                          : flags & (O_RDWR | O_WRONLY) ? 0
                                                        : FILE_FLAG_BACKUP_SEMANTICS; /* folders */
    HANDLE h = create(path, access_of(flags), share, how, FILE_ATTRIBUTE_NORMAL | special);
    return h == INVALID_HANDLE_VALUE ? -1 : descriptor_of(h, flags);
}
int bf_os_reopen(int fd, int flags)
{
    HANDLE h = ReOpenFile(bf_win_handle(fd), access_of(flags), ALL & ~(DWORD)FILE_SHARE_DELETE, 0);
    return h == INVALID_HANDLE_VALUE ? bf_win_fail(GetLastError()) : descriptor_of(h, flags);
}

static int stat_of(HANDLE h, struct bf_win_stat *st)
{
    BY_HANDLE_FILE_INFORMATION i;
    FILE_STANDARD_INFO s;
    const DWORD type = GetFileType(h);
    *st = (struct bf_win_stat){ .st_mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR };
    if (type != FILE_TYPE_DISK)
        return h == INVALID_HANDLE_VALUE ? bf_win_fail(ERROR_INVALID_HANDLE) : 0;
    if (!GetFileInformationByHandle(h, &i) ||
        !GetFileInformationByHandleEx(h, FileStandardInfo, &s, sizeof s))
        return bf_win_fail(GetLastError());
    const DWORD is = i.dwFileAttributes;
    *st = (struct bf_win_stat){ .st_dev = i.dwVolumeSerialNumber,
        .st_ino = (uint64_t)i.nFileIndexHigh << 32 | i.nFileIndexLow,
        .st_size = (uint64_t)s.EndOfFile.QuadPart,
        .st_blocks = ((uint64_t)s.AllocationSize.QuadPart + 511) / 512,
        .st_nlink = i.nNumberOfLinks,
        .st_mode = (mode_t)((is & FILE_ATTRIBUTE_REPARSE_POINT  ? S_IFLNK
                                : is & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR
                                                                : S_IFREG) |
                            (is & FILE_ATTRIBUTE_READONLY ? 0444 : 0666)) };
    return 0;
}
int bf_win_fstat(int fd, struct bf_win_stat *st) { return stat_of(bf_win_handle(fd), st); }

static int stat_named(const char *path, struct bf_win_stat *st, DWORD flags)
{
    HANDLE h =
        create(path, FILE_READ_ATTRIBUTES, ALL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags);
    if (h == INVALID_HANDLE_VALUE) return -1;
    const int rc = stat_of(h, st), e = errno;
    CloseHandle(h);
    errno = e;
    return rc;
}
int bf_win_stat(const char *path, struct bf_win_stat *st) { return stat_named(path, st, 0); }
int bf_win_lstat(const char *path, struct bf_win_stat *st)
{
    return stat_named(path, st, FILE_FLAG_OPEN_REPARSE_POINT);
}

/* ---- reading and writing ---- */
/* ReadFile and WriteFile move the file offset, which is the label of a descriptor
 * (home/descriptor.c). So each call opens the file again. */
static ssize_t transfer(int fd, void *bytes, size_t len, int64_t at, bool write)
{
    OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    DWORD done = 0;
    const DWORD some = len > 1 << 30 ? 1 << 30 : (DWORD)len;
    HANDLE h = ReOpenFile(bf_win_handle(fd), write ? GENERIC_WRITE : GENERIC_READ, ALL, 0);
    if (h == INVALID_HANDLE_VALUE) return bf_win_fail(GetLastError());
    const bool fine =
        write ? WriteFile(h, bytes, some, &done, &place) : ReadFile(h, bytes, some, &done, &place);
    const DWORD e = GetLastError();
    CloseHandle(h);
    return fine || e == ERROR_HANDLE_EOF ? (ssize_t)done : bf_win_fail(e);
}
ssize_t pread(int fd, void *to, size_t len, int64_t at) { return transfer(fd, to, len, at, false); }
ssize_t pwrite(int fd, const void *from, size_t len, int64_t at)
{
    return transfer(fd, (void *)(uintptr_t)from, len, at, true);
}

int bf_win_ftruncate(int fd, int64_t len)
{
    FILE_END_OF_FILE_INFO end = { .EndOfFile.QuadPart = len };
    return of_last(
        SetFileInformationByHandle(bf_win_handle(fd), FileEndOfFileInfo, &end, sizeof end));
}
int bf_win_fsync(int fd) { return of_last(FlushFileBuffers(bf_win_handle(fd))); }

/* ---- locks ---- */
/* A lock belongs to an open file, as those of open file descriptions do. It keeps others from
 * reading and writing its range, so every range is far after the end of the file. */
static bool lock(int fd, int64_t at, int64_t len, DWORD flags)
{
    OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    return LockFileEx(bf_win_handle(fd), flags | LOCKFILE_FAIL_IMMEDIATELY, 0, (DWORD)len,
        (DWORD)(len >> 32), &place);
}
static bool unlock(int fd, int64_t at, int64_t len)
{
    OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    return UnlockFileEx(bf_win_handle(fd), 0, (DWORD)len, (DWORD)(len >> 32), &place);
}

int flock(int fd, int what)
{
    static const int64_t at = (int64_t)1 << 61;
    if (what == LOCK_UN ? unlock(fd, at, 1) : lock(fd, at, 1, LOCKFILE_EXCLUSIVE_LOCK)) return 0;
    bf_win_fail(GetLastError());
    if (errno == EAGAIN) errno = EWOULDBLOCK;
    return -1;
}

/* A lock without a length (F_UNLCK) ends when its descriptor is closed. */
int bf_os_ofd_set(int fd, struct flock *l)
{
    if (l->l_type == F_UNLCK || (l->l_type == F_RDLCK && shared[fd])) return 0;
    const bool fine =
        lock(fd, l->l_start, l->l_len, l->l_type == F_WRLCK ? LOCKFILE_EXCLUSIVE_LOCK : 0);
    if (fine && l->l_type == F_RDLCK) shared[fd] = true;
    return of_last(fine);
}

static bool taken(int fd, int64_t at, DWORD flags)
{
    const bool mine = lock(fd, at, 1, flags);
    if (mine) unlock(fd, at, 1);
    return !mine;
}
/* Windows does not tell who holds a lock. Locks each byte for a moment: the first byte tells if
 * there is a lock, and the first that is free how long it is. */
int bf_os_ofd_get(int fd, struct flock *l)
{
    const int64_t from = l->l_start;
    int64_t held = 0, free = (int64_t)1 << 33;
    if (!taken(fd, from, LOCKFILE_EXCLUSIVE_LOCK)) {
        l->l_type = F_UNLCK;
        return 0;
    }
    l->l_type = taken(fd, from, 0) ? F_WRLCK : F_RDLCK;
    while (free - held > 1) {
        const int64_t middle = held + (free - held) / 2;
        *(taken(fd, from + middle, LOCKFILE_EXCLUSIVE_LOCK) ? &held : &free) = middle;
    }
    l->l_len = free;
    return 0;
}

/* ---- locales ---- */
static _Thread_local char before[128];
locale_t newlocale(int mask, const char *name, locale_t base)
{
    (void)mask, (void)base;
    snprintf(before, sizeof before, "%s", setlocale(LC_NUMERIC, NULL));
    return strcmp(before, name) == 0 ? NULL : name;
}
/* Of this thread only. */
locale_t uselocale(locale_t l)
{
    const int was = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    static _Thread_local int first;
    if (l != before) first = was;
    setlocale(LC_NUMERIC, l);
    if (l == before) _configthreadlocale(first);
    return before;
}
#endif
