/* keys.h - keys as they come over HTTP: percent-encoded, one per text line, or framed.  Knows
 * bytes; knows no filter. */
#ifndef BFD_KEYS_H
#define BFD_KEYS_H
#include "bloomfilter_host.h"
#include "bytes.h"

enum { KEYS_LINES, KEYS_FRAMED };

/* `+` is a space, %XX a byte.  Writes at most in.len bytes to `to`; *key is either there or the
 * input itself. */
bool keys_decode(text in, char *to, bf_key *key);
bool keys_decode_percent(text in, char *to, bf_key *key); /* The same, but + stays +. */
/* Returns how many keys a complete body holds, or -1 if its framing is broken at byte *at. */
int64_t keys_count(int form, text body, size_t *at);
/* Removes the next keys, at most cap, from *rest: a body that keys_count has accepted. */
size_t keys_next(int form, text *rest, bf_key *keys, size_t cap);
#endif
