/* redis_filters.h - what the tests of filters in Redis share: their server, opening filters in it,
 * and keys n0, n1, ... */
#ifndef REDIS_FILTERS_H
#define REDIS_FILTERS_H
#include "../../../core/parts/filter.h"
#include "../../../core/redis/connection.h"
#include "../../../core/redis/redis.h"
#include "check.h"
#include "redis_server.h"

static server redis;
static bf_error e;

static inline bf_filter *opened(bf_spec spec, const char *key, const char *more, int line)
{
    if (key) spec.storage = rs_url(&redis, key, more);
    e = (bf_error){ 0 };
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("line %d: %s\n", line, e.msg);
    return f;
}
#define OPEN(key, ...) opened((bf_spec){ __VA_ARGS__ }, key, "", __LINE__)

/* A round trip of f may take so long, from now on. */
static inline void may_take(bf_filter *f, double seconds)
{
    const struct timeval tv = { (time_t)seconds,
        (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) };
    bf_redis *r = f->bitmap.store.impl;
    r->conn->url.timeout = seconds;
    if (r->conn->socket) setsockopt(r->conn->socket->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
}

static inline int code_of(bf_spec spec, const char *key)
{
    spec.storage = rs_url(&redis, key, "");
    e = (bf_error){ 0 };
    bf_filter *f = bf_open(&spec, &e);
    bf_close(f);
    return f ? 0 : e.code;
}

/* A URL that is refused with that code, in these words, and with no secret in them. */
static inline void url_refused(const char *url, int code, const char *says, int line)
{
    e = (bf_error){ 0 };
    bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .storage = url }, &e);
    if (f || e.code != code || !strstr(e.msg, says) || strstr(e.msg, "s3same"))
        FAILED("line %d: %s: %s, not: %s\n", line, url, f ? "opened" : e.msg, says);
    bf_close(f);
}
#define REFUSED(url, code, says) url_refused(url, code, says, __LINE__)

/* Commands that the server has run for others than this very question. */
static inline long commands(void)
{
    static long asked;
    const char *text = strstr(rs_command(&redis, "INFO stats"), "total_commands_processed:");
    return (text ? atol(text + 25) : 0) - asked++;
}

static inline bf_filter *numbers(bf_filter *f, unsigned from, unsigned to)
{
    for (unsigned i = from; f && i < to; i++) {
        char t[16];
        bf_add(f, t, (size_t)sprintf(t, "n%u", i), &e);
    }
    return f;
}
static inline unsigned missing(bf_filter *f, unsigned from, unsigned to)
{
    unsigned n = 0;
    for (unsigned i = from; i < to; i++) {
        char t[16];
        n += bf_test(f, t, (size_t)sprintf(t, "n%u", i), &e) != 1;
    }
    return n;
}

static inline unsigned present_of(bf_filter *f, unsigned from, unsigned to)
{
    return to - from - missing(f, from, to);
}
#endif
