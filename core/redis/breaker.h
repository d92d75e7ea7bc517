/* breaker.h - a circuit breaker for each Redis server: after a time-out the calls of this process
 * leave that server alone for a while, then one of them tries.  Private. */
#ifndef BF_REDIS_BREAKER_H
#define BF_REDIS_BREAKER_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t server;      /* hash of the server's address */
    int64_t retry_after;  /* ms; 0 = never leave it alone */
    int64_t longest_call; /* ms; a call that tries for longer than this is taken for dead */
} bf_breaker;
uint64_t bf_breaker_server(const char *host_or_path, unsigned port);
/* connected: does the call use a connection on which this server has answered before?
 * allows: true = the call goes on and ends in timed_out or answered; false = it must fail now, and
 * *silent_for is the time in ms since the server did not answer. */
bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for);
void bf_breaker_timed_out(const bf_breaker *b, bool connected);
void bf_breaker_answered(const bf_breaker *b, bool connected); /* any answer, an error too */
#endif
