/* number.c - floating-point numbers as text and back. The decimal separator is always a point,
 * whatever setlocale() has set: stored text and messages must be the same in every process. */
#include "base/system.h"
#include "base/base.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    locale_t plain, before;
} locales;

/* Sets the locale of this thread only. "C" is built into the C library, so no file is loaded. */
static locales use_c_locale(void)
{
    locales n = { newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0 };
    if (n.plain) n.before = uselocale(n.plain);
    return n;
}

static void restore_locale(locales n)
{
    if (!n.plain) return;
    uselocale(n.before);
    freelocale(n.plain);
}

int bf_vprint(char *out, size_t cap, const char *fmt, va_list ap)
{
    locales n = use_c_locale();
    int len = vsnprintf(out, cap, fmt, ap);
    restore_locale(n);
    return len;
}

int bf_print(char *out, size_t cap, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = bf_vprint(out, cap, fmt, ap);
    va_end(ap);
    return len;
}

double bf_real(const char *text, char **end)
{
    locales n = use_c_locale();
    double v = strtod(text, end);
    restore_locale(n);
    return v;
}
