/* bytes.h - texts and growing buffers.  Knows memory; knows nothing of HTTP.
 *
 * A buffer owns its bytes (cap > 0) or borrows them (cap == 0).  Borrowing saves copying a request
 * that arrives in one read. */
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
/* Fills with zeros.  A call is faster than the `rep stos` that compilers emit for some hundred
 * bytes of known size. */
void bytes_clear(void *to, size_t len);

/* Add bytes at the end of a buffer.  Return false if out of memory; then the buffer is unchanged.
 */
bool buffer_reserve(buffer *b, size_t more);
bool buffer_add(buffer *b, const void *bytes, size_t len);
bool buffer_print(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool buffer_json(buffer *b, text t); /* Appends t as a JSON string; invalid UTF-8 becomes U+FFFD. */
/* Appends bytes of a request.  A buffer that owns no memory borrows the bytes if they follow its
 * own. */
bool buffer_extend(buffer *b, const char *at, size_t len);
bool buffer_own(buffer *b);  /* Copies borrowed bytes into memory that the buffer owns. */
void buffer_trim(buffer *b); /* Frees the unused end of a large buffer. */
void buffer_drop(buffer *b);

/* Parse "123" or, if the number is whole, "1e6".  With `units` a suffix K, M or G multiplies by a
 * power of 1024.  Return false if the text is not such a number. */
bool parse_whole(text t, bool units, uint64_t *out);
bool parse_number(text t, double *out);
#endif
