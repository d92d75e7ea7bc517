/* model.h - every order of the steps of a few threads.  The core is compiled with BF_MODEL: before each access to a shared
 * word it calls bf_model_step (core/bits.h), where this scheduler may go on with another thread.  Threads are coroutines of
 * one process, so a run is repeatable: a schedule is the list of threads chosen, and explore() goes through all of them
 * but those that differ from one seen only in the order of steps that do not meet (other words, or two reads): sleep sets,
 * P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996, section 5.
 *
 * What it shows holds for sequentially consistent memory, which the locked instructions and aligned loads give for a single
 * word anyway; orders between words that only weaker machines have are not in it. */
#ifndef MODEL_H
#define MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { MODEL_THREADS = 4, MODEL_STEPS = 400, MODEL_STACK = 1 << 18 };

typedef struct {
    void (*body)(int me);
    ucontext_t context;
    char *stack;
    bool done;
    const void *word;                          /* what its next step touches */
    bool write;
} model_thread;

static struct {
    model_thread thread[MODEL_THREADS];
    int threads, running;                      /* running: -1 = the scheduler */
    ucontext_t scheduler;
    struct { int chosen; unsigned asleep; } at[MODEL_STEPS];     /* asleep: threads whose turn here was seen elsewhere */
    int steps, replay;                         /* the first `replay` choices are given */
    unsigned long long schedules;
} model = { .running = -1 };

void bf_model_step(const void *word, bool write);
void bf_model_step(const void *word, bool write)
{
    if (model.running < 0) return;
    model_thread *t = &model.thread[model.running];
    t->word = word;
    t->write = write;
    swapcontext(&t->context, &model.scheduler);
}

/* A step of its own, ordered with all others of its kind: the beginning or the end of what a check is about. */
static void model_event(void) { static char events; bf_model_step(&events, true); }

static void model_enter(void)
{
    int me = model.running;
    model.thread[me].body(me);
    model.thread[me].done = true;
    swapcontext(&model.thread[me].context, &model.scheduler);
}

static void model_go(int i)
{
    model.running = i;
    swapcontext(&model.scheduler, &model.thread[i].context);
    model.running = -1;
}

/* A new thread goes up to its first step at once: before it there is nothing to share. */
static void model_thread_is(int i, void (*body)(int me))
{
    model_thread *t = &model.thread[i];
    t->body = body;
    t->done = false;
    if (!t->stack) t->stack = malloc(MODEL_STACK);
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = MODEL_STACK;
    makecontext(&t->context, model_enter, 0);
    if (i >= model.threads) model.threads = i + 1;
    model_go(i);
}

static bool model_meet(const model_thread *a, const model_thread *b) { return a->word == b->word && (a->write || b->write); }

/* The first thread from `from` on that may take step number `step`, or -1. */
static int model_candidate(int step, int from)
{
    for (int i = from; i < model.threads; i++)
        if (!model.thread[i].done && !(model.at[step].asleep >> i & 1)) return i;
    return -1;
}

/* One run by the choices given, then always the first thread that may go on.  false: all that can go on are asleep, so
 * this run is another one in a different order. */
static bool model_run(void)
{
    unsigned asleep = 0;
    for (model.steps = 0;; model.steps++) {
        bool any = false;
        for (int i = 0; i < model.threads; i++) any |= !model.thread[i].done;
        if (!any) return true;
        if (model.steps == MODEL_STEPS) { fprintf(stderr, "model: more than %d steps\n", MODEL_STEPS); exit(2); }
        if (model.steps >= model.replay) {
            model.at[model.steps].asleep = asleep;
            model.at[model.steps].chosen = model_candidate(model.steps, 0);
            if (model.at[model.steps].chosen < 0) return false;
        }
        int me = model.at[model.steps].chosen;
        asleep = 0;
        for (int i = 0; i < model.threads; i++)
            if (model.at[model.steps].asleep >> i & 1 && !model_meet(&model.thread[i], &model.thread[me])) asleep |= 1u << i;
        model_go(me);
    }
}

/* The last choice that has another option takes it; what it was goes to sleep there.  Needs the threads as they were at
 * that step, so that is found by running up to it: here only who exists matters, which candidate() asks at replay. */
static bool model_next(void (*prepare)(void))
{
    for (int step = model.steps - 1; step >= 0; step--) {
        model.at[step].asleep |= 1u << model.at[step].chosen;
        model.threads = 0;
        prepare();
        for (int i = 0; i < step; i++) model_go(model.at[i].chosen);
        int next = model_candidate(step, 0);
        if (next < 0) continue;
        model.at[step].chosen = next;
        model.replay = step + 1;
        return true;
    }
    return false;
}

/* prepare() sets the threads up afresh, verdict() says whether the run kept the promises.  Returns whether all did. */
static bool explore(void (*prepare)(void), bool (*verdict)(void))
{
    model.replay = 0;
    model.schedules = 0;
    do {
        model.threads = 0;
        prepare();
        if (!model_run()) continue;
        model.schedules++;
        if (!verdict()) return false;
    } while (model_next(prepare));
    return true;
}
#endif
