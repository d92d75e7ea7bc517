/* error.c - fills bf_error. A message is one sentence in lower case, with the wrong and the right
 * value. */
#include "base/system.h" /* on Windows it replaces strerror */
#include "base/base.h"
#include "base/parameters.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int bf_fail(bf_error *err, int code, const char *fmt, ...)
{
    if (!err) return code;
    va_list ap;
    va_start(ap, fmt);
    bf_vprint(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    err->code = code;
    err->sys_errno = 0;
    err->key = BF_NO_KEY;
    err->lost = false;
    return code;
}

/* Shortens a long path at its beginning, so that the reason is not cut off. */
int bf_fail_sys(bf_error *err, int sys_errno, const char *what, const char *path)
{
    enum { PATH_SHOWN = 80 };
    int code = sys_errno == ENOMEM ? BF_ENOMEM : BF_EIO;
    if (sys_errno == EWOULDBLOCK && bf_refuse_wait(err, path, "must be synced") < 0)
        return BF_EBUSY;
    if (!err) return code;
    size_t len = strlen(path);
    const char *dots = len > PATH_SHOWN ? "..." : "";
    bf_fail(err, code, "cannot %s %s%s: %s", what, dots,
        len > PATH_SHOWN ? path + len - PATH_SHOWN : path, strerror(sys_errno));
    err->sys_errno = sys_errno;
    return code;
}

int bf_fail_absent(bf_error *err, const char *path)
{
    bf_fail_sys(err, ENOENT, "open", path);
    if (err) err->code = BF_ENOENT;
    return BF_ENOENT;
}

static const struct {
    const char *name, *range;
} ranges[] = {
#define RANGE(kind, name, php, above, below, range, sentence) { #name, range },
    BF_PARAMETERS(RANGE)
};
enum { RANGES = sizeof ranges / sizeof *ranges };

int bf_refuse(bf_error *err, const char *name, const char *value)
{
    size_t i = 0;
    while (i < RANGES && strcmp(ranges[i].name, name) != 0) i++;
    const char *range = i < RANGES ? ranges[i].range : NULL;
    return bf_fail(err, BF_EINVAL, "%s must be %s, got %.40s%s", name,
        range ? range : "a value in range", value, strlen(value) > 40 ? "..." : "");
}

int bf_refuse_u64(bf_error *err, const char *name, uint64_t v)
{
    char t[24];
    snprintf(t, sizeof t, "%llu", (ull)v);
    return bf_refuse(err, name, t);
}
int bf_refuse_real(bf_error *err, const char *name, double v)
{
    char t[40];
    bf_print(t, sizeof t, "%g", v);
    if (bf_real(t, NULL) != v) bf_print(t, sizeof t, "%.17g", v);
    return bf_refuse(err, name, t);
}
