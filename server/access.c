/* access.c - refuses requests that are not allowed.  Checks the token; origin.c checks which web
 * page sent the request.  Knows the paths that browsers show and which requests change something.
 */
#include "server.h"

/* Compares in constant time for a given length, so the time tells nothing about the token. */
static bool equal(text given, text token)
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

/* The password of "user:password", in base64. */
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

/* A browser cannot send a bearer token by itself: pages accept the token as a password, too. */
static bool is_for_browsers(text target)
{
    return text_is(target, TEXT("/")) || text_is(target, TEXT("/stats"));
}

static bool has_token(const server *s, const request *q)
{
    char room[2048];
    text given = q->authorization;
    if (!s->o.token) return true;
    text token = { s->o.token, strlen(s->o.token) };
    text scheme = { given.ptr, given.len < 7 ? given.len : 7 };
    if (text_is_nocase(scheme, TEXT("bearer "))) return equal(text_after(given, 7), token);
    scheme.len = given.len < 6 ? given.len : 6;
    if (!text_is_nocase(scheme, TEXT("basic ")) || !is_for_browsers(q->path)) return false;
    return equal(password(text_after(given, 6), room, sizeof room), token);
}

/* Returns the path without /f/NAME. */
static text verb_of(text path)
{
    if (!text_starts(path, TEXT("/f/"))) return path;
    path = text_after(path, 3);
    while (path.len && path.ptr[0] != '/') path = text_after(path, 1);
    return path;
}

/* True for every request but those that are known to change nothing. */
static bool changes(const request *q)
{
    const text verb = verb_of(q->path);
    if (q->method != GET) return true;
    if (verb.len == 0 || !memchr(verb.ptr, '=', verb.len)) return false;
    return !text_starts(verb, TEXT("/contain=")) && !text_starts(verb, TEXT("/count="));
}

bool access_refuses(const server *s, const request *q, reply *a)
{
    char why[ORIGIN_WHY];
    const bool health = q->method == GET && text_is(q->path, TEXT("/healthz"));
    const bool tells = q->site.len || q->referer.len; /* browsers name the page in these headers */
    const char *foreign = origin_refuses(s, q, health, tells && changes(q), why);
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
