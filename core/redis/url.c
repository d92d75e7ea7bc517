/* url.c - parses the URLs of filters in Redis:
 *
 *   redis://[user:pass@]host[:port][/db]?key=K&timeout=S&retry_after=S
 *   rediss://   the same with TLS, and &ca=FILE&cert=FILE
 *   unix://[user:pass@]/path?db=0&key=K
 *
 * Messages show no part of the URL that may contain a password. */
#include "parts/filter.h"
#include "redis/connection.h"
#include <stdlib.h>
#include <string.h>

enum { PORT = 6379, PATH_MAX_UNIX = 107 };
typedef struct {
    const char *at, *end;
} slice;

static int hex(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

static int decode(char **out, slice s, const char *what, bf_error *err)
{
    char *to = malloc((size_t)(s.end - s.at) + 1);
    if (!(*out = to)) return bf_fail(err, BF_ENOMEM, "out of memory");
    for (; s.at < s.end; s.at++) {
        int high = -1, low = -1;
        if (*s.at != '%') {
            *to++ = *s.at;
            continue;
        }
        if (s.end - s.at > 2) {
            high = hex(s.at[1]);
            low = hex(s.at[2]);
        }
        *to = 0;
        if (high < 0 || low < 0)
            return bf_fail(err, BF_EINVAL,
                "the Redis URL's %s has a %% without two hexadecimal digits after it", what);
        if (high + low == 0)
            return bf_fail(err, BF_EINVAL, "the Redis URL's %s must not hold a NUL (%%00)", what);
        *to++ = (char)(high << 4 | low);
        s.at += 2;
    }
    *to = 0;
    return 0;
}

static int parse_number(unsigned *out, slice s, unsigned most, const char *what, bf_error *err)
{
    uint64_t v = 0;
    const char *p = s.at;
    for (; p < s.end && *p >= '0' && *p <= '9' && v <= most; p++) v = v * 10 + (uint64_t)(*p - '0');
    if (p == s.at || p < s.end || v > most)
        return bf_fail(err, BF_EINVAL, "the Redis URL's %s must be a number up to %u", what, most);
    *out = (unsigned)v;
    return 0;
}

static int seconds(double *out, slice s, double least, const char *what, bf_error *err)
{
    char text[24] = "", *end = text;
    if (s.end - s.at < (long)sizeof text) memcpy(text, s.at, (size_t)(s.end - s.at));
    double v = *text >= '0' && *text <= '9' ? bf_real(text, &end) : -1;
    if (*end || !(v >= least && v <= 86400))
        return bf_fail(
            err, BF_EINVAL, "the Redis URL's ?%s= must be %g to 86400 seconds", what, least);
    *out = v;
    return 0;
}

static slice until(slice *rest, const char *stops)
{
    slice s = { rest->at, rest->at };
    while (s.end < rest->end && !strchr(stops, *s.end)) s.end++;
    rest->at = s.end;
    return s;
}

static int users(bf_redis_url *u, slice *authority, bf_error *err)
{
    slice rest = *authority, user;
    while (rest.end > rest.at && rest.end[-1] != '@') rest.end--;
    if (rest.end == rest.at) return 0;
    authority->at = rest.end--;
    user = until(&rest, ":");
    if (rest.at == rest.end)
        return bf_fail(err, BF_EINVAL,
            "the Redis URL has a user without a password: write user:password@host, or "
            ":password@host");
    rest.at++;
    int rc = user.at < user.end ? decode(&u->user, user, "user", err) : 0;
    return rc < 0 ? rc : decode(&u->pass, rest, "password", err);
}

static int host(bf_redis_url *u, slice s, bf_error *err)
{
    const bool brackets = s.at < s.end && *s.at == '[';
    s.at += brackets;
    slice name = until(&s, brackets ? "]" : ":");
    if (brackets && s.at == s.end)
        return bf_fail(err, BF_EINVAL, "the Redis URL's host has no closing ]");
    s.at += brackets;
    if (name.at == name.end)
        return bf_fail(err, BF_EINVAL, "the Redis URL has no host: redis://host:port/db?key=NAME");
    int rc = decode(&u->host, name, "host", err);
    if (rc < 0 || s.at == s.end) return rc;
    if (*s.at++ != ':')
        return bf_fail(
            err, BF_EINVAL, "the Redis URL's host must be followed by :port, /db or ?key=NAME");
    if ((rc = parse_number(&u->port, s, 65535, "port", err)) < 0) return rc;
    return u->port ? 0 : bf_fail(err, BF_EINVAL, "the Redis URL's port must be 1 to 65535, got 0");
}

static bool is_name(slice s, const char *name)
{
    return (size_t)(s.end - s.at) == strlen(name) && !memcmp(s.at, name, strlen(name));
}

static int option(bf_redis_url *u, slice s, bool *has_db, bf_error *err)
{
    const slice name = until(&s, "=");
    if (s.at < s.end) s.at++;
    if (is_name(name, "key") && u->key)
        return bf_fail(err, BF_EINVAL, "the Redis URL has two keys");
    if (is_name(name, "key")) return decode(&u->key, s, "key", err);
    if (is_name(name, "timeout")) return seconds(&u->timeout, s, 0.001, "timeout", err);
    if (is_name(name, "retry_after")) return seconds(&u->retry_after, s, 0, "retry_after", err);
    if (is_name(name, "db") && !*has_db) {
        *has_db = true;
        return parse_number(&u->db, s, INT32_MAX, "db", err);
    }
    if (u->tls && is_name(name, "ca") && !u->ca) return decode(&u->ca, s, "ca", err);
    if (u->tls && is_name(name, "cert") && !u->cert) return decode(&u->cert, s, "cert", err);
    return bf_fail(err, BF_EINVAL,
        "the Redis URL may have ?key=, &timeout=, &retry_after= and one db=%s, and nothing else",
        u->tls ? ", one ca= and one cert=" : "");
}

static int unix_path(bf_redis_url *u, slice s, bf_error *err)
{
    int rc = decode(&u->path, s, "path", err);
    if (rc < 0) return rc;
    if (strlen(u->path) > PATH_MAX_UNIX)
        return bf_fail(err, BF_EINVAL, "the Redis URL's path must have at most %d bytes, got %zu",
            PATH_MAX_UNIX, strlen(u->path));
    if (u->path[0] && u->path[1]) return 0;
    return bf_fail(err, BF_EINVAL, "the Redis URL has no path: unix:///path/to/socket?key=NAME");
}

static int parse(bf_redis_url *u, const char *storage, bf_error *err)
{
    bool local = !strncmp(storage, "unix://", 7), tls = !strncmp(storage, "rediss://", 9),
         has_db = false;
    slice rest = { storage + (local ? 7 : tls ? 9 : 8), storage + strlen(storage) };
    *u = (bf_redis_url){ .port = PORT, .timeout = 5, .retry_after = 1, .tls = tls };
    slice authority = until(&rest, "/?"), path = until(&rest, "?");
    int rc = users(u, &authority, err);
    if (rc < 0) return rc;
    if (local && authority.at < authority.end)
        return bf_fail(err, BF_EINVAL,
            "the Redis URL's path must be absolute: unix:///path/to/socket?key=NAME");
    rc = local ? unix_path(u, path, err) : host(u, authority, err);
    if (rc == 0 && !local && path.end - path.at > 1) {
        path.at++;
        has_db = true;
        rc = parse_number(&u->db, path, INT32_MAX, "database", err);
    }
    while (rc == 0 && rest.at < rest.end) {
        rest.at++; /* skips '?' or '&' */
        const slice one = until(&rest, "&");
        if (one.at < one.end) rc = option(u, one, &has_db, err);
    }
    return rc;
}

/* After an error, too, the caller must call bf_redis_url_free. */
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err)
{
    const int rc = parse(u, storage, err);
    if (rc < 0) return rc;
    if (key && u->key && strcmp(key, u->key) != 0)
        return bf_fail(
            err, BF_EINVAL, "key is given twice: %.50s, and %.50s in the URL", key, u->key);
    if (key && !u->key && !(u->key = strdup(key))) return bf_fail(err, BF_ENOMEM, "out of memory");
    if (u->key && *u->key) return 0;
    return bf_fail(err, BF_EINVAL, "the Redis URL names no key: add ?key=NAME, or give key");
}

void bf_redis_url_free(bf_redis_url *u)
{
    volatile char *p = u->pass;
    while (p && *p) *p++ = 0;
    free(u->host);
    free(u->path);
    free(u->user);
    free(u->pass);
    free(u->key);
    free(u->ca);
    free(u->cert);
    *u = (bf_redis_url){ 0 };
}

/* ---- for hosts ---- */
int bf_url_file(const char *url, unsigned i, char **path, bf_error *err)
{
    bf_redis_url u;
    int rc = parse(&u, url, err);
    *path = NULL;
    if (rc == 0) {
        char **const files[] = { &u.path, &u.ca, &u.cert };
        for (size_t n = 0; n < sizeof files / sizeof *files && !*path; n++) {
            if (!*files[n] || i-- > 0) continue;
            *path = *files[n];
            *files[n] = NULL;
        }
        rc = *path != NULL;
    }
    bf_redis_url_free(&u);
    return rc;
}

typedef struct {
    char *at;
    size_t room, len;
} writer;

static void append_text(writer *w, const char *from, const char *end)
{
    for (; from < end; from++, w->len++)
        if (w->len + 1 < w->room) w->at[w->len] = *from;
}

static size_t end_text(const writer *w)
{
    if (w->room) w->at[w->len < w->room ? w->len : w->room - 1] = 0;
    return w->len;
}

size_t bf_url_beside(const char *url, const char *more, char *out, size_t cap)
{
    writer w = { out, cap, 0 };
    const char *key = strchr(url, '?');
    while (key && strncmp(key + 1, "key=", 4)) key = strchr(key + 1, '&');
    const char *rest = key ? key + 1 + strcspn(key + 1, "&") : url + strlen(url);
    append_text(&w, url, rest);
    append_text(&w, more, more + strlen(more));
    append_text(&w, rest, rest + strlen(rest));
    return end_text(&w);
}

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* In a text that starts with a URL, a blank may be part of the password. In other texts, a blank
 * ends the URL. */
size_t bf_hide_passwords(const char *text, char *out, size_t cap)
{
    writer w = { out, cap, 0 };
    const char *from = text, *at = text;
    size_t word = 0;
    while (is_word_char(text[word])) word++;
    const char *stops = word && !strncmp(text + word, "://", 3) ? "?" : "? \t\r\n\v\f";
    while ((at = strstr(at, "://"))) {
        const bool url = at > text && is_word_char(at[-1]);
        const char *end, *user = NULL;
        at += 3;
        end = at + strcspn(at, stops);
        for (const char *p = at; url && p < end; p++)
            if (*p == '@') user = p + 1;
        if (!user) continue;
        append_text(&w, from, at);
        from = at = user;
    }
    append_text(&w, from, from + strlen(from));
    return end_text(&w);
}
