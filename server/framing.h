/* framing.h - finds the end of a line, of a head and of a chunk.  Does not interpret headers.
 *
 * Some versions of llhttp accept a bare LF, a folded line, or any two bytes after a chunk.  Then a
 * proxy and this daemon may disagree about the end of a request.  So every byte outside a body is
 * checked here before llhttp parses it.
 *
 *   METHOD SP TARGET SP VERSION CRLF  (NAME ":" VALUE CRLF)*  CRLF
 *   (SIZE [";" EXTENSION] CRLF DATA CRLF)*  "0" CRLF  (NAME ":" VALUE CRLF)*  CRLF */
#ifndef BFD_FRAMING_H
#define BFD_FRAMING_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t state;
    uint8_t digits; /* characters so far of the chunk's size, or of "HTTP/1." */
    uint32_t line;  /* bytes so far of the chunk's extension; after the last chunk, of trailers */
    uint64_t left;  /* bytes of the chunk's data that are still missing */
} framing;

/* Limits of a chunk: bytes of its extension, digits of its size. */
enum { FRAMING_EXTENSION = 256, FRAMING_DIGITS = 16 };

/* Check bytes up to the end of the head, or of the chunked body.  Set *took to the number of valid
 * bytes.  Return 0, or the HTTP status for the invalid byte at index *took.
 * most: bytes of the largest chunk.  trailers: bytes of all trailers. */
int framing_head(framing *s, const char *bytes, size_t len, size_t *took);
int framing_chunks(
    framing *s, const char *bytes, size_t len, uint64_t most, uint64_t trailers, size_t *took);
#endif
