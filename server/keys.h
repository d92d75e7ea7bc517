/* keys.h - keys in HTTP requests: percent-encoded, one per text line, or framed.  Knows bytes;
 * knows no filter. */
#ifndef BFD_KEYS_H
#define BFD_KEYS_H
#include "bloomfilter_host.h"
#include "bytes.h"

enum { KEYS_LINES, KEYS_FRAMED };

/* Decodes %XX, and + as a space.  `to` needs in.len bytes.  *key points into `to` or, if nothing
 * had to be decoded, into `in`.  Returns false if a % is not followed by two hexadecimal digits. */
bool keys_decode(text in, char *to, bf_key *key);
bool keys_decode_percent(text in, char *to, bf_key *key); /* As keys_decode, but + is a plus. */
/* Returns the number of keys in a complete body, or -1 if its framing is broken at byte *at. */
int64_t keys_count(int form, text body, size_t *at);
/* Removes up to cap keys from *rest and returns their number.  keys_count must have accepted the
 * body. */
size_t keys_next(int form, text *rest, bf_key *keys, size_t cap);
#endif
