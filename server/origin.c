/* origin.c - decides whether a web page may send a request, by the headers that browsers send.
 *
 *   Host             the name that the page used; after DNS rebinding a foreign name
 *   Origin           the page's scheme, host and port, if a script or a form sends the request; or null
 *   Sec-Fetch-Site   same-origin, same-site, cross-site or none; old browsers do not send it
 *   Referer          the URL of the page; used for old browsers */
#include "server.h"
#include <stdio.h>

static const text own[] = { { "127.0.0.1", 9 }, { "localhost", 9 }, { "[::1]", 5 } };

static bool same(text a, text b)
{
    if (a.len != b.len) return false;
    if (memcmp(a.ptr, b.ptr, a.len) == 0) return true;
    for (size_t i = 0; i < a.len; i++) {
        char x = a.ptr[i], y = b.ptr[i];
        if (x >= 'A' && x <= 'Z') x = (char)(x + 32);
        if (y >= 'A' && y <= 'Z') y = (char)(y + 32);
        if (x != y) return false;
    }
    return true;
}

static text c_text(const char *s) { return (text){ s, strlen(s) }; }

/* Returns the name or [address] without the port; the complete text if the port is not a number. */
static text host_of(text authority)
{
    size_t end = authority.len;
    while (end > 0 && authority.ptr[end - 1] >= '0' && authority.ptr[end - 1] <= '9') end--;
    if (end > 0 && authority.ptr[end - 1] == ':') return (text){ authority.ptr, end - 1 };
    return authority;
}

static bool is_named(const options *o, text host)
{
    unsigned i = 0;
    while (i < o->allow_hosts && !same(host, c_text(o->allow_host[i]))) i++;
    return i < o->allow_hosts;
}

/* True if the host is the value of --host.  An IPv6 address has brackets in `host`, none in --host.
 */
static bool is_listened_on(const options *o, text host)
{
    const bool brackets = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (brackets) host = (text){ host.ptr + 1, host.len - 2 };
    return same(host, c_text(o->host));
}

static bool is_ours(const server *s, text authority)
{
    if (s->o.allow_hosts == 0 && !s->loopback) return true;
    const text host = host_of(authority);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (same(host, own[i])) return true;
    return is_named(&s->o, host) || is_listened_on(&s->o, host);
}

/* Returns the authority of http(s)://authority/..., or an empty text for other URLs. */
static text authority_of(text url)
{
    const bool http = text_starts(url, TEXT("http://")), https = text_starts(url, TEXT("https://"));
    size_t from = http ? 7 : https ? 8 : 0, to = from;
    while (from && to < url.len && !memchr("/?#", url.ptr[to], 3)) to++;
    return (text){ url.ptr + from, to - from };
}

/* True if the URL is a page of this daemon: host and port equal the request's Host, or --allow-host
 * names the host. */
static bool is_own_page(const server *s, const request *q, text url)
{
    const text page = authority_of(url);
    return page.len && (same(page, q->host) || is_named(&s->o, host_of(page)));
}

static const char *say(char why[ORIGIN_WHY], const char *what, text value, const char *which)
{
    const int len = (int)(value.len < 60 ? value.len : 60);
    snprintf(why, ORIGIN_WHY, "%s %.*s %s", what, len, value.ptr, which);
    return why;
}

const char *origin_refuses(
    const server *s, const request *q, bool health, bool changes, char why[ORIGIN_WHY])
{
    static const char unnamed[] = "and --allow-host does not name it";
    static const char foreign[] = "which is another site";
    if (!health && q->host.len && !is_ours(s, q->host))
        return say(why, "Host is", q->host, unnamed);
    if (!health && q->authority.len && !is_ours(s, q->authority))
        return say(why, "the URL's host is", q->authority, unnamed);
    if (q->origin.len && !is_own_page(s, q, q->origin))
        return say(why, "Origin is", q->origin, foreign);
    if (!changes) return NULL;
    if (q->site.len && !same(q->site, TEXT("same-origin")) && !same(q->site, TEXT("none")))
        return say(why, "Sec-Fetch-Site is", q->site, "and this request changes a filter");
    if (q->referer.len && !is_own_page(s, q, q->referer))
        return say(why, "Referer is", q->referer, foreign);
    return NULL;
}
