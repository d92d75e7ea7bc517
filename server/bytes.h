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
/* For sizes that compilers know: for some hundred bytes they emit `rep stos`, which is slower. */
void bytes_clear(void *to, size_t len);

/* Returns false if out of memory; then nothing changed. */
bool buffer_reserve(buffer *b, size_t more);
bool buffer_add(buffer *b, const void *bytes, size_t len);
bool buffer_print(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buffer_json(buffer *b, text t); /* Appends a JSON string; invalid UTF-8 becomes U+FFFD. */
/* Appends bytes of a request; borrows them while it owns none. */
bool buffer_see(buffer *b, const char *at, size_t len);
bool buffer_keep(buffer *b); /* Copies what it borrowed. */
void buffer_trim(buffer *b); /* Frees unused memory of a large buffer. */
void buffer_drop(buffer *b);

/* "123", also with K, M or G (powers of 1024) where units are allowed; "1e6" where the number is
 * whole. */
bool parse_whole(text t, bool units, uint64_t *out);
bool parse_number(text t, double *out);
#endif
