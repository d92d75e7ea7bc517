/* php_hashes.c - scheme php-hashes: the eight hash functions of a PHP class, and RS and AP of the C
 * library from which the class was ported. Arithmetic is that of 64-bit PHP: a sum or product that
 * overflows int64 becomes a double, and a double is converted to int modulo 2^64. */
#include "hash/hash.h"
#include <string.h>

#define ALL_VALUES 4294967296.0
enum { FUNCTIONS = 10 };
typedef struct {
    bool real;
    int64_t i;
    double d;
} number; /* a PHP value: int or float */

static inline number whole(int64_t i) { return (number){ false, i, 0 }; }
static inline number real(double d) { return (number){ true, 0, d }; }
static inline double as_real(number a) { return a.real ? a.d : (double)a.i; }

/* Truncates a float to int, modulo 2^64. Returns 0 for NaN and infinity. */
static int64_t real_to_int(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7FF) - 1075;
    const uint64_t fraction = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    /* a multiple of 2^64, infinite, NaN, or below 1 */
    if (exponent >= 64 || exponent <= -53) return 0;
    uint64_t v = exponent >= 0 ? fraction << exponent : fraction >> -exponent;
    return (int64_t)(bits >> 63 ? -v : v);
}

static inline int64_t to_int(number a) { return a.real ? real_to_int(a.d) : a.i; }
static inline number plus(number a, number b)
{
    int64_t r;
    return a.real || b.real || __builtin_add_overflow(a.i, b.i, &r) ? real(as_real(a) + as_real(b))
                                                                    : whole(r);
}
static inline number minus(number a, number b)
{
    int64_t r;
    return a.real || b.real || __builtin_sub_overflow(a.i, b.i, &r) ? real(as_real(a) - as_real(b))
                                                                    : whole(r);
}
static inline number times(number a, number b)
{
    int64_t r;
    return a.real || b.real || __builtin_mul_overflow(a.i, b.i, &r) ? real(as_real(a) * as_real(b))
                                                                    : whole(r);
}
static inline int64_t left(int64_t a, unsigned n) { return (int64_t)((uint64_t)a << n); }

/* ---- the eight functions of the PHP class ---- */
static number js(const uint8_t *s, size_t len)
{
    int64_t h = 1315423911;
    for (size_t i = 0; i < len; i++)
        h ^= to_int(plus(plus(whole(left(h, 5)), whole(s[i])), whole(h >> 2)));
    return whole(h);
}

static number pjw(const uint8_t *s, size_t len)
{
    const int64_t high = left(0xFFFFFFFF, 28);
    number h = whole(0);
    for (size_t i = 0; i < len; i++) h = plus(whole(left(to_int(h), 4)), whole(s[i]));
    int64_t v = to_int(h), test = v & high;
    return test ? whole((v ^ test >> 24) & ~high) : h;
}

static number elf(const uint8_t *s, size_t len)
{
    number h = whole(0);
    for (size_t i = 0; i < len; i++) {
        h = plus(whole(left(to_int(h), 4)), whole(s[i]));
        int64_t v = to_int(h), x = v & 0xF0000000;
        if (x) v ^= x >> 24;
        h = whole(v & ~x);
    }
    return h;
}

static number bkdr(const uint8_t *s, size_t len)
{
    int64_t h = 0;
    for (size_t i = 0; i < len; i++) h = to_int(plus(times(whole(h), whole(131)), whole(s[i])));
    return whole(h);
}

static number sdbm(const uint8_t *s, size_t len)
{
    int64_t h = 0;
    for (size_t i = 0; i < len; i++)
        h = to_int(minus(plus(plus(whole(s[i]), whole(left(h, 6))), whole(left(h, 16))), whole(h)));
    return whole(h);
}

static number djb(const uint8_t *s, size_t len)
{
    number h = whole(5381);
    for (size_t i = 0; i < len; i++)
        h = plus(whole(to_int(plus(whole(left(to_int(h), 5)), h))), whole(s[i]));
    return h;
}

static number dek(const uint8_t *s, size_t len)
{
    int64_t h = (int64_t)len;
    for (size_t i = 0; i < len; i++) h = left(h, 5) ^ h >> 27 ^ s[i];
    return whole(h);
}

static number fnv(const uint8_t *s, size_t len)
{
    int64_t h = 2166136261;
    for (size_t i = 0; i < len; i++) h = h * 16777619 % 4294967295 ^ s[i];
    return whole(h);
}

/* Other sources define RS and AP differently; these definitions are those of the C library. */
static number rs(const uint8_t *s, size_t len)
{
    int64_t h = 0, a = 63689;
    for (size_t i = 0; i < len; i++) {
        h = to_int(plus(times(whole(h), whole(a)), whole(s[i])));
        a = to_int(times(whole(a), whole(378551)));
    }
    return whole(h);
}

static number ap(const uint8_t *s, size_t len)
{
    int64_t h = 0xAAAAAAAA;
    for (size_t i = 0; i < len; i++)
        h ^= i % 2 ? ~(to_int(plus(whole(left(h, 11)), whole(s[i]))) ^ h >> 5)
                   : left(h, 7) ^ to_int(times(whole(s[i]), whole(h >> 3)));
    return whole(h);
}

/* values, for keys of 32 or more hex digits: 1 / (probability that two keys have the same value).
 * near: bit i is set if some of these keys' values are in the i-th sixteenth of 2^32. weak: in a
 * filter with a million keys of one kind, more than 1 % of the other keys of that kind have the
 * value of an added key. docs/migrate.md has the kinds. */
enum { ANYWHERE = 0xFFFF };
static const struct {
    const char *name;
    number (*of)(const uint8_t *, size_t);
    double values;
    unsigned near;
    bool weak;
} functions[FUNCTIONS] = { { "JS", js, ALL_VALUES, ANYWHERE, false },
    { "PJW", pjw, 7.48e8, 1 << 3 | 1 << 6, true }, { "ELF", elf, 1.51e8, 1 << 0, true },
    { "BKDR", bkdr, 7.58e8, ANYWHERE, true }, { "SDBM", sdbm, ALL_VALUES, ANYWHERE, true },
    { "DJB", djb, ALL_VALUES, ANYWHERE, true }, { "DEK", dek, ALL_VALUES, ANYWHERE, true },
    { "FNV", fnv, ALL_VALUES, ANYWHERE, false }, { "RS", rs, 17, ANYWHERE, true },
    { "AP", ap, ALL_VALUES, ANYWHERE, false } };

/* ---- the argument: a byte with the number of functions, then their indexes in functions[] ---- */
static unsigned find_function(const char *name, size_t len)
{
    static const char ending[] = "Hash"; /* as in older code: BKDRHash */
    const size_t more = sizeof ending - 1;
    unsigned i = 0;
    if (len > more && memcmp(name + len - more, ending, more) == 0) len -= more;
    while (i < FUNCTIONS &&
           (strlen(functions[i].name) != len || memcmp(functions[i].name, name, len) != 0))
        i++;
    return i;
}

static int php_prepare(bf_argument *a, const char *text, bf_error *err)
{
    static const char known[] = "JS, PJW, ELF, BKDR, SDBM, DJB, DEK, FNV, RS, AP";
    if (!text)
        return bf_fail(err, BF_EINVAL,
            "scheme php-hashes needs names after a colon, of %s: php-hashes:BKDR,SDBM,JS", known);
    for (size_t len;; text += len + 1) {
        len = strcspn(text, ",");
        unsigned which = find_function(text, len);
        if (which == FUNCTIONS)
            return bf_fail(err, BF_EINVAL, "a name after php-hashes: must be one of %s, got %.*s",
                known, len < 40 ? (int)len : 40, text);
        if (memchr(a->bytes + 1, (int)which, a->bytes[0]))
            return bf_fail(
                err, BF_EINVAL, "scheme php-hashes names %s twice", functions[which].name);
        a->bytes[++a->bytes[0]] = (uint8_t)which;
        if (!text[len]) break;
    }
    a->k = a->bytes[0];
    return 0;
}

static void spell(const void *argument, char *text, size_t cap)
{
    const uint8_t *list = argument;
    for (unsigned i = 0; i < list[0]; i++) {
        const size_t len =
            (size_t)bf_print(text, cap, "%s%s", i ? "," : "", functions[list[1 + i]].name);
        text += len;
        cap -= len;
    }
}

static void php_one(const void *argument, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *list = argument;
    /* as in PHP, the remainder may be negative; the digest is its low 32 bits */
    for (unsigned i = 0; i < list[0]; i++)
        digest[i] = (uint32_t)(to_int(functions[list[1 + i]].of(key, len)) % 4294967295);
}

BF_RUN_BY_ONE(php_run, php_one, *(const uint8_t *)secret)

static unsigned weak(const void *argument, char *names, size_t cap)
{
    const uint8_t *list = argument;
    unsigned n = 0;
    for (unsigned i = 0; i < list[0]; i++) {
        if (!functions[list[1 + i]].weak) continue;
        bf_print(names, cap, "%s%s", n++ ? ", " : "", functions[list[1 + i]].name);
        cap -= strlen(names);
        names += strlen(names);
    }
    return n;
}

static double values(const void *argument, unsigned i)
{
    return functions[((const uint8_t *)argument)[1 + i]].values;
}

static bool apart(const void *argument, unsigned i, unsigned j)
{
    const uint8_t *list = (const uint8_t *)argument + 1;
    return !(functions[list[i]].near & functions[list[j]].near);
}

const bf_hash bf_hash_php = { .name = "php",
    .width = 0,
    .run = php_run,
    .one = php_one,
    .prepare = php_prepare,
    .spell = spell,
    .weak = weak,
    .values = values,
    .apart = apart };
