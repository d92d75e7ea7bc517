/* framing.h - finds where a line, a head and a chunk end.  Knows bytes; knows neither the meaning
 * of headers nor llhttp.
 *
 * Versions of llhttp differ in what they accept: a bare LF, a folded line, any two bytes after a
 * chunk.  Each of these lets a proxy and this daemon disagree about where a request ends.  So every
 * byte outside a body is checked here first.
 *
 *   METHOD SP TARGET SP VERSION CRLF  (NAME ":" VALUE CRLF)*  CRLF
 *   (SIZE [";" EXTENSION] CRLF DATA CRLF)*  "0" CRLF  (NAME ":" VALUE CRLF)*  CRLF */
#ifndef BFD_FRAMING_H
#define BFD_FRAMING_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t state, digits;
    /* bytes so far of the chunk's extension; after the last chunk, of all trailers */
    uint32_t line;
    uint64_t left; /* bytes of the chunk's data that are still missing */
} framing;

enum { FRAMING_EXTENSION = 256, FRAMING_DIGITS = 16 };

/* Check bytes up to the end of the head, or of the chunked body.  Set *took to the number of valid
 * bytes.  Return 0, or the status for the invalid byte *took. */
int framing_head(framing *s, const char *bytes, size_t len, size_t *took);
int framing_chunks(
    framing *s, const char *bytes, size_t len, uint64_t most, uint64_t trailers, size_t *took);
#endif
