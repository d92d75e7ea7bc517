/* framing.h - where a line, a head and a chunk end, to the byte.  Knows bytes; knows no header and
 * no llhttp.
 *
 * Versions of llhttp differ in what they let pass: a bare LF, a folded line, any two bytes behind a
 * chunk.  Each of these lets a proxy in front and this daemon disagree about where a request ends.
 * So every byte outside a body passes here first.
 *
 *   METHOD SP TARGET SP VERSION CRLF  (NAME ":" VALUE CRLF)*  CRLF
 *   (SIZE [";" EXTENSION] CRLF DATA CRLF)*  "0" CRLF  (NAME ":" VALUE CRLF)*  CRLF */
#ifndef BFD_FRAMING_H
#define BFD_FRAMING_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t state, digits;
    uint32_t line; /* bytes of an extension, of all trailers */
    uint64_t left; /* of the chunk's data */
} strict;

enum { STRICT_EXTENSION = 256, STRICT_DIGITS = 16 };

/* Check bytes up to the end of the head, or of the chunked body.  *took is set to the number of
 * valid bytes.  Return 0, or the status with which byte *took is refused. */
int strict_head(strict *s, const char *bytes, size_t len, size_t *took);
int strict_chunks(
    strict *s, const char *bytes, size_t len, uint64_t most, uint64_t trailers, size_t *took);
#endif
