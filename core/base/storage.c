/* storage.c - finds the path in a storage text: a path, or file:PATH. A mistyped URL must never
 * become the name of a file. Messages show only the word before its colon, because a password may
 * follow. */
#include "base/base.h"
#include <string.h>

#define BY_HTTP "filters are not opened over HTTP"

static const struct {
    const char *word, *meant;
} known[] = { { "redis", "a Redis URL is redis://host:port/db?key=NAME" },
    { "rediss", "a Redis URL with TLS is rediss://host:port/db?key=NAME" },
    { "unix", "a Redis socket is unix:///path?key=NAME" }, { "http", BY_HTTP },
    { "https", BY_HTTP }, { "file", "a file is file:PATH, or the path alone" } };

/* Ignores case, so that REDIS: is recognized as redis:. */
static bool is_same_word(const char *text, size_t len, const char *word)
{
    size_t i = 0;
    while (i < len && word[i] && (text[i] | 32) == word[i]) i++;
    return i == len && !word[i];
}

static int mistake(const char *text, size_t len, const char *meant, bf_error *err)
{
    const int shown = len < 20 ? (int)len : 20;
    return bf_fail(err, BF_EINVAL, "storage %.*s:...: %s; a file of that name is file:%.*s:...",
        shown, text, meant, shown, text);
}

/* Returns the length of host:port if the text is host:port, maybe with user:password@ before it,
 * and /db or ?key=... after it, as other clients of Redis are configured; else 0. Sets *host. */
static size_t host_and_port(const char *text, const char **host)
{
    static const char may[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._[]:",
                      digits[] = "0123456789";
    const char *at = text + strcspn(text, "/\\?@");
    *host = *at == '@' ? at + 1 : text;
    const char *end = *host + strspn(*host, may), *port = end;
    while (port > *host && port[-1] != ':') port--;
    const size_t name = port > *host ? (size_t)(port - *host) - 1 : 0, len = strspn(port, digits);
    const char *after = port + len;
    if (!name || len < 1 || len > 5 || after != end) return 0;
    if (**host == '[' ? port[-2] != ']' : memchr(*host, ':', name) != NULL) return 0;
#ifdef _WIN32
    if (name == 1) return 0; /* a drive */
#endif
    if (*after == '/') after += 1 + strspn(after + 1, digits);
    if (*after != '?' && after[strspn(after, " \t\r\n\"'")]) return 0;
    return (size_t)(end - *host);
}

int bf_path_of(const char *storage, const char **path, bf_error *err)
{
    /* skips blanks and quotes that configuration files leave */
    const char *text = storage + strspn(storage, " \t\r\n\"'");
    static const char may[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._";
    /* the length of the text's URL scheme, or 0 */
    const size_t word = strspn(text, may), len = text[word] == ':' ? word : 0;
    const bool url = len && !strncmp(text + len, "://", 3);
    *path = storage;
    if (!*storage)
        return bf_fail(err, BF_EINVAL, "storage must be a path or a URL, got an empty one");
    if (text == storage && len == 4 && !url && !memcmp(text, "file", 4)) {
        *path = storage + 5;
        return **path ? 0 : bf_fail(err, BF_EINVAL, "storage file: names no path: write file:PATH");
    }
    for (size_t i = 0; len && i < sizeof known / sizeof *known; i++)
        if (is_same_word(text, len, known[i].word)) return mistake(text, len, known[i].meant, err);
    const char *host;
    const size_t pair = url ? 0 : host_and_port(text, &host);
    const int shown = pair < 28 ? (int)pair : 28; /* three times in a message */
    if (pair)
        return bf_fail(err, BF_EINVAL,
            "storage %.*s: a Redis URL is redis://%.*s/0?key=NAME; a file of that name is ./%.*s",
            shown, host, shown, host, shown, host);
    return url ? mistake(text, len, "a storage is a path, redis://, rediss:// or unix://", err) : 0;
}
