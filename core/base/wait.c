/* wait.c - bf_wait: waits for locks and syncs, or refuses to wait. */
#include "base/system.h"
#include "base/base.h"
#include <errno.h>
#include <sched.h>
#include <time.h>

enum { YIELDS = 1000, FIRST_PAUSE = 100000, LONGEST_PAUSE = 1000000 }; /* pauses in ns */

static _Thread_local bool nowait;

void bf_set_nowait(bool on) { nowait = on; }

static int try_until(bf_wait_try *try, void *ctx)
{
    struct timespec now, pause = { 0, FIRST_PAUSE };
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t end = now.tv_sec + BF_PATIENCE;
    for (unsigned tries = 0;; tries++) {
        const int e = try(ctx);
        if (e != EWOULDBLOCK || now.tv_sec >= end) return e;
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
