/* threads.c - runs the steps of a batch in several threads. The threads exist only during
 * bf_parallel: none is left for a forked child, or when the library is unloaded. */
#include "base/base.h"
#include "base/os.h"
#include <pthread.h>
#include <signal.h>

enum { STACK = 1 << 20 };

static _Thread_local unsigned wanted = 1;

void bf_use_threads(unsigned threads) { wanted = threads; }

unsigned bf_threads(void)
{
    const unsigned n = wanted ? wanted : bf_os_processors();
    return n < BF_THREADS_MAX ? n : BF_THREADS_MAX;
}

typedef struct {
    void (*work)(void *ctx, unsigned i);
    void *ctx;
    unsigned i;
    bool started;
    pthread_t thread;
} step;

static void *run_step(void *arg)
{
    const step *s = arg;
    s->work(s->ctx, s->i);
    return NULL;
}

/* A thread that is created after `block` handles no signals, except those of its own faults.
 * `restore` undoes `block`. */
#ifdef _WIN32
typedef int signals;
static void block_signals(signals *before) { *before = 0; }
static void restore_signals(const signals *before) { (void)before; }
#else
typedef sigset_t signals;
static void block_signals(signals *before)
{
    sigset_t most;
    sigfillset(&most);
    sigdelset(&most, SIGBUS);
    sigdelset(&most, SIGSEGV);
    sigdelset(&most, SIGILL);
    sigdelset(&most, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &most, before);
}
static void restore_signals(const signals *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }
#endif

/* Starts steps 1 to n - 1. */
static void start_steps(step *steps, unsigned n)
{
    pthread_attr_t attr;
    signals before;
    if (pthread_attr_init(&attr) != 0) return;
    pthread_attr_setstacksize(&attr, STACK);
    block_signals(&before);
    for (unsigned i = 1; i < n; i++)
        steps[i].started = pthread_create(&steps[i].thread, &attr, run_step, &steps[i]) == 0;
    restore_signals(&before);
    pthread_attr_destroy(&attr);
}

/* This thread is not cancelled while others use its stack. */
void bf_parallel(unsigned n, void (*work)(void *ctx, unsigned i), void *ctx)
{
    step steps[BF_THREADS_MAX];
    int was;
    for (unsigned i = 0; i < n; i++) steps[i] = (step){ .work = work, .ctx = ctx, .i = i };
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    start_steps(steps, n);
    work(ctx, 0);
    for (unsigned i = 1; i < n; i++) {
        if (steps[i].started)
            pthread_join(steps[i].thread, NULL);
        else
            work(ctx, i);
    }
    pthread_setcancelstate(was, NULL);
}
