/* fuzz_resp.c - bytes that a client of Redis may send to bloomfilterd, in pieces of any size.
 * Whatever comes, replies are RESP, nothing stays held. */
#define RESP
#include "fuzz_http.c"
