/* bytes.h - pieces of text and growing buffers.  Knows memory; knows nothing of HTTP.
 *
 * A buffer either owns its bytes (cap > 0) or borrows them (cap == 0): a request that came in one
 * piece is never copied. */
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
bool text_is_nocase(text t, text lower);
text text_after(text t, size_t n);
/* Where the size is known, compilers have a slower way for some hundred bytes (rep stos). */
void bytes_clear(void *to, size_t len);

bool buffer_reserve(buffer *b, size_t more); /* false: no memory, and nothing changed */
bool buffer_add(buffer *b, const void *bytes, size_t len);
bool buffer_print(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buffer_json(buffer *b, text t); /* a JSON string; bytes that are no UTF-8 as U+FFFD */
bool buffer_see(
    buffer *b, const char *at, size_t len); /* more of a request: borrows while it can */
bool buffer_keep(buffer *b);                /* owns what it borrowed */
void buffer_trim(buffer *b);                /* gives back what a large one does not need */
void buffer_drop(buffer *b);

/* "123", also with K, M or G (powers of 1024) where units are allowed; "1e6" where the number is
 * whole. */
bool parse_whole(text t, bool units, uint64_t *out);
bool parse_number(text t, double *out);
#endif
