/* breaker.h - a circuit breaker for each Redis server: after a time-out, calls of this process fail
 * at once for a while; then one of them tries again.  Private. */
#ifndef BF_REDIS_BREAKER_H
#define BF_REDIS_BREAKER_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t server;      /* hash of the server's address */
    int64_t retry_after;  /* ms; 0: no circuit breaker */
    int64_t longest_call; /* ms; a trial that takes longer counts as dead */
} bf_breaker;
uint64_t bf_breaker_server(const char *host_or_path, unsigned port);
/* connected: the call uses a connection on which this server has answered before.  Returns true if
 * the call may go on; it must then report timed_out or answered.  Returns false if it must fail
 * now; *silent_for is the time in ms since the server stopped answering. */
bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for);
void bf_breaker_timed_out(const bf_breaker *b, bool connected);
void bf_breaker_answered(
    const bf_breaker *b, bool connected); /* also called after an error reply */
#endif
