/* bytes.h - texts, growing buffers, and numbers as text.  Independent of HTTP.
 *
 * A buffer owns its bytes (cap > 0) or borrows them (cap == 0).  A request that arrives in one read
 * is borrowed from the read buffer, to avoid a copy. */
#ifndef BFD_BYTES_H
#define BFD_BYTES_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *ptr;
    size_t len;
} text;
typedef struct {
    char *ptr;
    size_t len, cap;
} buffer;

#define TEXT(literal) ((text){ literal, sizeof(literal) - 1 })

static inline bool text_is(text t, text other)
{
    return t.len == other.len && memcmp(t.ptr, other.ptr, t.len) == 0;
}
bool text_starts(text t, text prefix);
bool text_is_nocase(text t, text other);
text text_after(text t, size_t n);
/* Fills with zeros.  This call is faster than the `rep stos` that compilers emit for some hundred
 * bytes of known size. */
void bytes_clear(void *to, size_t len);

/* Functions that return bool return false if out of memory. */
bool buffer_reserve(buffer *b, size_t more); /* Makes space for `more` bytes at the end. */
bool buffer_add(buffer *b, const void *bytes, size_t len);
bool buffer_print(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buffer_json(buffer *b, text t); /* Appends t as a JSON string; invalid UTF-8 becomes U+FFFD. */
/* Appends bytes of a request.  If the bytes follow the buffer's bytes in memory, only len grows.
 * An empty buffer that owns no memory borrows the bytes.  All other buffers copy the bytes. */
bool buffer_extend(buffer *b, const char *at, size_t len);
bool buffer_own(buffer *b);  /* Copies borrowed bytes into memory that the buffer owns. */
void buffer_trim(buffer *b); /* Frees the unused end of a large buffer. */
void buffer_drop(buffer *b);

/* Returns the value of a hexadecimal digit, -1 for other characters. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}
/* Return false if the text is not a number, such as 123, 1e6, 0.5 or 2.5M; the suffix is %, k, M, G
 * or T.  parse_whole reads a whole number, in which k is `thousand`: 1000, or 1024 for bytes. */
bool parse_whole(text t, uint64_t thousand, uint64_t *out);
bool parse_number(text t, double *out);
#endif
