/* secret_file.c - reads the secret of a keyed filter from a file. No message contains any byte of
 * the secret. */
#include "base/system.h"
#include "base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 100, SHOWN = 76 };

/* Reads at most ROOM bytes, also from a FIFO, as in `<(pass show filter)`. Returns the number of
 * bytes, or -1 and errno. */
static ssize_t read_some(const char *path, char *to)
{
    ssize_t n = 0, got = 0;
    const int fd = bf_above_stdio(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (fd < 0) return -1;
    while (n < ROOM &&
           ((got = read(fd, to + n, (size_t)(ROOM - n))) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) n += got;
    const int e = errno;
    close(fd);
    errno = e;
    return got < 0 ? -1 : n;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool from_hex(const char *text, ssize_t n, uint8_t *out)
{
    while (n > 0 && strchr(" \t\r\n\v\f", text[n - 1])) n--;
    if (n != 2 * BF_SECRET_BYTES) return false;
    for (int i = 0; i < BF_SECRET_BYTES; i++) {
        const int high = hex(text[2 * i]), low = hex(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

int bf_read_secret(const char *path, void *secret, bf_error *err)
{
    char said[ROOM];
    uint8_t found[BF_SECRET_BYTES];
    const ssize_t n = read_some(path, said);
    if (n < 0)
        return errno == ENOENT ? bf_fail_absent(err, path) : bf_fail_sys(err, errno, "read", path);
    const bool raw = n == BF_SECRET_BYTES, sound = raw || from_hex(said, n, found);
    if (sound) memcpy(secret, raw ? (void *)said : (void *)found, BF_SECRET_BYTES);
    bf_os_wipe(said, sizeof said);
    bf_os_wipe(found, sizeof found);
    if (sound) return 0;
    const size_t len = strlen(path); /* a long path is cut at its beginning */
    return bf_fail(err, BF_EINVAL,
        "%s%s: a secret is 16 bytes, or 32 hexadecimal digits; this file has %d bytes%s",
        len > SHOWN ? "..." : "", len > SHOWN ? path + len - SHOWN : path, (int)n,
        n == ROOM ? " or more" : "");
}
