/* access.c - refuses requests that are not allowed: 401 without the token, 403 for foreign web
 * pages (origin.c). */
#include "server.h"

/* Compares the texts in a time that depends only on the length of `given`.  So the time reveals
 * nothing about the token. */
static bool is_token(text given, text token)
{
    size_t differ = given.len ^ token.len;
    for (size_t i = 0; i < given.len; i++)
        differ |= (unsigned char)given.ptr[i] ^ (unsigned char)token.ptr[i % token.len];
    return differ == 0;
}

static int base64(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Decodes base64 of "user:password" into `to`.  Returns the password, empty without a colon. */
static text password(text in, char *to, size_t cap)
{
    size_t n = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < in.len && base64(in.ptr[i]) >= 0 && n < cap; i++) {
        bits = bits << 6 | (uint32_t)base64(in.ptr[i]);
        if (i % 4) to[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    const char *colon = memchr(to, ':', n);
    return colon ? (text){ colon + 1, (size_t)(to + n - colon - 1) } : (text){ to, 0 };
}

/* Removes /f/NAME from the path. */
static text path_of_verb(text path)
{
    if (!text_starts(path, TEXT("/f/"))) return path;
    path = text_after(path, 3);
    while (path.len && path.ptr[0] != '/') path = text_after(path, 1);
    return path;
}

/* True for the pages that accept the token as the password of HTTP basic authentication.  Needed
 * because a user cannot make a browser send a bearer token. */
static bool is_for_browsers(text target)
{
    return text_is(target, TEXT("/")) || text_is(target, TEXT("/stats"));
}

bool access_is_token(const server *s, text given)
{
    return is_token(given, (text){ s->o.token, strlen(s->o.token) });
}

static bool has_token(const server *s, const request *q)
{
    char room[2048];
    text given = q->authorization;
    if (!s->o.token) return true;
    text token = { s->o.token, strlen(s->o.token) };
    text scheme = { given.ptr, given.len < 7 ? given.len : 7 };
    if (text_is_nocase(scheme, TEXT("bearer "))) return is_token(text_after(given, 7), token);
    scheme.len = given.len < 6 ? given.len : 6;
    if (!text_is_nocase(scheme, TEXT("basic ")) || !is_for_browsers(q->path)) return false;
    return is_token(password(text_after(given, 6), room, sizeof room), token);
}

/* True for every method except GET, and for a GET with a key, except /contain= and /count=. */
static bool may_change(const request *q)
{
    const text verb = path_of_verb(q->path);
    if (q->method != GET) return true;
    if (verb.len == 0 || !memchr(verb.ptr, '=', verb.len)) return false;
    return !text_starts(verb, TEXT("/contain=")) && !text_starts(verb, TEXT("/count="));
}

bool access_refuses(const server *s, const request *q, reply *a)
{
    char why[ORIGIN_WHY];
    const bool health = q->method == GET && text_is(q->path, TEXT("/healthz"));
    /* browsers send at least one of these headers with the requests of a page */
    const bool from_page = q->site.len || q->referer.len;
    const char *foreign = origin_refuses(s, q, health, from_page && may_change(q), why);
    if (foreign) {
        reply_status(a, 403, foreign);
        return true;
    }
    if (health || has_token(s, q)) return false;
    const bool page = text_is(q->path, TEXT("/"));
    strcpy(a->more, page ? "WWW-Authenticate: Basic realm=\"bloomfilterd\"\r\n"
                         : "WWW-Authenticate: Bearer\r\n");
    reply_status(a, 401, NULL);
    return true;
}
