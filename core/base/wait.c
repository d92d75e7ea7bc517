/* wait.c - bf_wait: waits for locks and syncs, or refuses to wait. */
#include "base/system.h"
#include "base/base.h"
#include <errno.h>
#include <sched.h>
#include <time.h>

enum { YIELDS = 1000, FIRST_PAUSE = 100000, LONGEST_PAUSE = 1000000 }; /* pauses in ns */

static _Thread_local bool nowait;
static _Thread_local uint64_t deadline; /* of bf_set_deadline */
static _Thread_local int waited;        /* of bf_waited */

void bf_set_nowait(bool on) { nowait = on; }
void bf_set_deadline(uint64_t ms) { deadline = ms; }
int bf_waited(void) { return waited; }

static uint64_t ms_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_nsec / 1000000;
}

static int try_until(bf_wait_try *try, void *ctx)
{
    struct timespec now, pause = { 0, FIRST_PAUSE };
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t began = ms_of(&now), longest = began + BF_PATIENCE * 1000,
                   end = deadline && deadline < longest ? deadline : longest;
    for (unsigned tries = 0;; tries++) {
        const int e = try(ctx);
        if (e != EWOULDBLOCK || ms_of(&now) >= end) {
            waited = (int)((ms_of(&now) - began + 500) / 1000);
            return e;
        }
        if (tries < YIELDS) {
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE) pause.tv_nsec *= 2;
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

int bf_wait(const bf_wait_hooks *hooks, bool slow, bf_wait_try *try, void *ctx)
{
    int e = slow ? EWOULDBLOCK : try(ctx);
    if (e != EWOULDBLOCK || nowait) return e;
    void *began = hooks && hooks->begin ? hooks->begin(hooks->ctx) : NULL;
    e = try_until(try, ctx);
    if (hooks && hooks->end) hooks->end(hooks->ctx, began);
    return e;
}

int bf_refuse_wait(bf_error *err, const char *where, const char *why)
{
    if (!nowait) return 0;
    bf_fail(err, BF_EBUSY, "%.80s %s; this call does not wait", where, why);
    if (err) err->key = 0;
    return BF_EBUSY;
}
