/* breaker.c - a circuit breaker for each Redis server. If a server does not answer, one call waits
 * for its time-out, and the other calls of the process fail immediately.
 *
 *   closed --a call timed out--> open --retry_after is over--> one call tries, the others fail
 *     ^                            ^----the trial timed out------------|
 *     |----------------------------------the trial was answered--------|
 *
 * If only new connections time out, calls on connections that have worked are allowed. All filters
 * of the process share a table with two numbers per server. They are changed atomically; a lock
 * could stay locked in a forked child. If two servers use the same row, they overwrite each
 * other's state, which costs one more time-out. */
#include "redis/connection.h"
#include "base/base.h"
#include "bits/bits.h"
#include <time.h>

/* silent: the last time-out; 0: none. It has 24 bits of the server's hash, the bit ALL, and the
 * time in ms. ALL: the server had answered on that connection before.
 *
 * trial: the current trial; 0: none. It has 40 bits for the latest end in ms, and 24 bits for the
 * process, because no thread of a forked child continues the parent's trial. */
enum { SERVERS = 64, TIME_BITS = 39, PROCESS_BITS = 24 };
#define ALL (UINT64_C(1) << TIME_BITS)
#define TIME (ALL - 1)
#define HASH (~(ALL | TIME))
typedef struct {
    uint64_t silent, trial;
} server_state;
static server_state servers[SERVERS];

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000) & TIME;
}

uint64_t bf_breaker_server(const char *host_or_path, unsigned port)
{
    uint64_t h = port;
    for (const char *p = host_or_path; *p; p++)
        h = bf_mum(h ^ (unsigned char)*p, BF_MUM_1) + BF_MUM_2;
    return h;
}

static server_state *state_of(const bf_breaker *b) { return servers + b->server % SERVERS; }

static bool is_open(const bf_breaker *b, uint64_t silent, bool connected)
{
    return silent && ((silent ^ b->server) & HASH) == 0 && (!connected || silent & ALL);
}

bool bf_breaker_allows(const bf_breaker *b, bool connected, int64_t *silent_for)
{
    server_state *s = state_of(b);
    const uint64_t silent = bf_word(&s->silent);
    if (b->retry_after == 0 || !is_open(b, silent, connected)) return true;
    const uint64_t now = now_ms(), mine = (uint64_t)bf_process() & ((1u << PROCESS_BITS) - 1);
    const int64_t ago = (int64_t)(now - (silent & TIME));
    *silent_for = ago < 0 ? 0 : ago; /* another thread may have stored a later time-out */
    if (ago < b->retry_after) return false;
    uint64_t trial = bf_word(&s->trial);
    if ((trial ^ mine) << (64 - PROCESS_BITS) == 0 && trial >> PROCESS_BITS > now) return false;
    return bf_word_cas(&s->trial, &trial, (now + (uint64_t)b->longest_call) << PROCESS_BITS | mine);
}

void bf_breaker_timed_out(const bf_breaker *b, bool connected)
{
    server_state *s = state_of(b);
    const bool all = connected || is_open(b, bf_word(&s->silent), true);
    bf_word_store(&s->silent, (b->server & HASH) | (all ? ALL : 0) | now_ms());
    bf_word_store(&s->trial, 0);
}

void bf_breaker_answered(const bf_breaker *b, bool connected)
{
    server_state *s = state_of(b);
    if (!is_open(b, bf_word(&s->silent), connected)) return;
    bf_word_store(&s->silent, 0);
    bf_word_store(&s->trial, 0);
}
