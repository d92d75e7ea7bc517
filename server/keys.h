/* keys.h - keys in requests: percent-encoded in the URL; in a body one per text line, or with
 * the length before each key (framed); in commands of RESP as bulk strings.  Independent of
 * filters. */
#ifndef BFD_KEYS_H
#define BFD_KEYS_H
#include "bloomfilter_host.h"
#include "bytes.h"

enum { KEYS_LINES, KEYS_FRAMED, KEYS_COMMANDS };

/* Decodes %XX, and + as a space.  `to` needs in.len bytes.  *key points into `to` or, if nothing
 * had to be decoded, into `in`.  Returns false if a % is not followed by two hexadecimal digits. */
bool keys_decode(text in, char *to, bf_key *key);
bool keys_decode_percent(text in, char *to, bf_key *key); /* As keys_decode, but + is a plus. */
/* Returns the number of keys in a body, or -1 if the framed key at byte *at is truncated. */
int64_t keys_count(int form, text body, size_t *at);
/* Reads up to cap keys from the beginning of *rest, shortens *rest, and returns their number.  A
 * framed body must be checked by keys_count first. */
size_t keys_next(int form, text *rest, bf_key *keys, size_t cap);
/* As keys_next(), for KEYS_COMMANDS: complete bulk strings of RESP, with `prefix` bytes before
 * each.
 */
size_t keys_next_bulk(size_t prefix, text *rest, bf_key *keys, size_t cap);
#endif
