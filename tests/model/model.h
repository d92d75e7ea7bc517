/* model.h - every order of the steps of a few threads.  The core is compiled with BF_MODEL: before
 * each access to a shared word it calls bf_model_step, before it takes a lock bf_model_wait
 * (core/bits.h), where this scheduler may go on with another thread.  Threads are coroutines of one
 * process, so a run is repeatable: a schedule is the list of threads chosen.  Knows threads, words
 * and locks; what the threads do and what must come of it say the test_model*.c.
 *
 * explore() goes through all schedules but those that differ from one seen only in the order of
 * steps that do not meet (other words, or two reads).  Which other orders there are is found from
 * the runs themselves (source sets: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, Optimal Dynamic
 * Partial Order Reduction, POPL 2014); what was seen from elsewhere sleeps (sleep sets: P.
 * Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996, section 5).  A
 * run that nobody can go on with, and one that does not end, break every promise.
 *
 * What it shows holds for sequentially consistent memory, which the locked instructions and aligned
 * loads give for a single word anyway; orders between words that only weaker machines have are not
 * in it. */
#ifndef MODEL_H
#define MODEL_H
#undef _FORTIFY_SOURCE /* it takes a jump to another stack for a fault */
#include "check.h"
#include <setjmp.h>
#include <ucontext.h>

enum { MODEL_THREADS = 4, MODEL_STEPS = 400, MODEL_STACK = 1 << 18 };

typedef struct {
    const void *word; /* what a step touches                                  */
    bool write, locks,
        all; /* locks: word is an int, and the step waits until it is 0; all: touches everything */
} model_access;

typedef struct {
    void (*body)(int me);
    ucontext_t
        context; /* its beginning; from then on it goes by jumps, which need no system call */
    jmp_buf here;
    char *stack;
    bool done, started;
    model_access next;
    int knows[MODEL_THREADS]; /* how many steps of the whole run up to which it comes after each
                                 thread */
} model_thread;

typedef struct {
    int chosen;
    unsigned ready, wanted,
        asleep; /* threads: that can go on; to be tried here; whose turn here was seen elsewhere */
    model_access access; /* the step taken, and what it comes after                */
    int knows[MODEL_THREADS];
} model_state;

static struct {
    model_thread thread[MODEL_THREADS];
    int threads, running; /* running: -1 = the scheduler */
    jmp_buf scheduler;
    model_state at[MODEL_STEPS];
    int steps, replay;   /* the first `replay` choices are given */
    bool stuck, endless; /* how this run ended */
    bool in_full;        /* try every thread everywhere: slower, the same schedules */
    const void *(*place)(
        const void *word); /* NULL, or which word that is where one has several addresses */
    bool (*is_own)(const void *word); /* NULL, or whether only one thread has the word: no step */
    const void *watched;
    bool
        looks[MODEL_THREADS]; /* raised: what the thread finds there the next time is kept in saw */
    uint64_t saw[MODEL_THREADS];
    unsigned long long schedules, cut; /* cut: runs given up as another one in a different order */
} model = { .running = -1 };

static __attribute__((noinline)) void model_pause(const void *word, bool write, bool locks)
{
    if (model.running < 0 || (model.is_own && model.is_own(word))) return;
    const int me = model.running;
    model_thread *t = &model.thread[me];
    t->next = (model_access){ model.place ? model.place(word) : word, write, locks, word == NULL };
    if (_setjmp(t->here) == 0) _longjmp(model.scheduler, 1);
    if (t->next.word != model.watched || !model.looks[me]) return;
    model.saw[me] = *(const uint64_t *)word;
    model.looks[me] = false;
}
void bf_model_step(const void *word, bool write);
void bf_model_step(const void *word, bool write) { model_pause(word, write, false); }
void bf_model_wait(const int *lock);
void bf_model_wait(const int *lock) { model_pause(lock, true, true); }

/* Ends a thread wherever it is.  What it would have done is never seen, so explore() must try this
 * in_full. */
static inline void model_kill(int i)
{
    model_pause(NULL, true, false);
    model.thread[i].done = true;
}

/* ---- coroutines ---- */
static void model_enter(void)
{
    int me = model.running;
    model.thread[me].body(me);
    model.thread[me].done = true;
    _longjmp(model.scheduler, 1);
}

static void model_go(int i)
{
    model_thread *t = &model.thread[i];
    model.running = i;
    if (_setjmp(model.scheduler) == 0) {
        if (t->started) _longjmp(t->here, 1);
        t->started = true;
        setcontext(&t->context);
    }
    model.running = -1;
}

/* A new thread goes up to its first step at once: before it there is nothing to share. */
static void model_thread_is(int i, void (*body)(int me))
{
    model_thread *t = &model.thread[i];
    t->body = body;
    t->done = t->started = false;
    memset(t->knows, 0, sizeof t->knows);
    if (!t->stack) t->stack = malloc(MODEL_STACK);
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = MODEL_STACK;
    makecontext(&t->context, model_enter, 0);
    if (i >= model.threads) model.threads = i + 1;
    model_go(i);
}

/* ---- which steps meet ---- */
static bool model_meet(const model_access *a, const model_access *b)
{
    return a->all || b->all || (a->word == b->word && (a->write || b->write));
}

/* A lock is given back by a step that nobody who waits for it can be tried before. */
static bool model_both_ready(const model_access *taken, const model_access *next)
{
    return !next->locks || taken->locks;
}

static unsigned model_ready(void)
{
    unsigned ready = 0;
    for (int i = 0; i < model.threads; i++) {
        const model_thread *t = &model.thread[i];
        if (!t->done && !(t->next.locks && *(const int *)t->next.word != 0)) ready |= 1u << i;
    }
    return ready;
}

/* The threads that can begin what was done after step number `from` and does not come after it,
 * with thread me's step at the end: their first step there comes after none of the others. */
static unsigned model_beginners(int from, int me, const model_access *step)
{
    const int n = model.steps, first = model.at[from].chosen;
    unsigned seen = 0, begin = 0;
    bool alone = true;
    for (int j = from + 1; j < n; j++) {
        const model_state *s = &model.at[j];
        bool free_ = true;
        if (s->knows[first] > from) continue;
        if (model_meet(&s->access, step)) alone = false;
        if (seen >> s->chosen & 1) continue;
        seen |= 1u << s->chosen;
        for (int k = from + 1; k < j && free_; k++)
            free_ = model.at[k].knows[first] > from || s->knows[model.at[k].chosen] <= k;
        if (free_) begin |= 1u << s->chosen;
    }
    return alone && !(seen >> me & 1) ? begin | 1u << me : begin;
}

/* Thread `me` is about to take a step: each step of another that could have come after it instead
 * gets that order tried. */
static void model_races(int me)
{
    const model_thread *t = &model.thread[me];
    int knows[MODEL_THREADS];
    memcpy(knows, t->knows, sizeof knows);
    for (int i = model.steps - 1; i >= 0; i--) {
        model_state *s = &model.at[i];
        if (s->chosen == me || knows[s->chosen] > i || !model_meet(&s->access, &t->next) ||
            !model_both_ready(&s->access, &t->next))
            continue;
        const unsigned begin = model_beginners(i, me, &t->next);
        if (!(begin & (s->wanted | s->asleep)))
            s->wanted |= begin & s->ready ? begin & s->ready & (~(begin & s->ready) + 1) : s->ready;
        for (int j = 0; j < model.threads; j++)
            if (s->knows[j] > knows[j]) knows[j] = s->knows[j];
    }
}

/* What thread `me` knows after the step it is about to take. */
static void model_learn(int me)
{
    model_state *s = &model.at[model.steps];
    model_thread *t = &model.thread[me];
    for (int i = model.steps - 1; i >= 0; i--) {
        const model_state *o = &model.at[i];
        if (t->knows[o->chosen] > i || !model_meet(&o->access, &t->next)) continue;
        for (int j = 0; j < model.threads; j++)
            if (o->knows[j] > t->knows[j]) t->knows[j] = o->knows[j];
    }
    t->knows[me] = model.steps + 1;
    memcpy(s->knows, t->knows, sizeof s->knows);
}

/* Thread `me` takes its next step as number model.steps.  What is only repeated was looked at
 * before. */
static void model_take(int me)
{
    model_state *s = &model.at[model.steps];
    s->access = model.thread[me].next;
    if (model.steps >= model.replay - 1) {
        model_races(me);
        model_learn(me);
    } else
        memcpy(model.thread[me].knows, s->knows, sizeof s->knows);
    model_go(me);
}

/* ---- runs ---- */
/* To the end, in any order, so that nothing stays held. */
static void model_drain(void)
{
    unsigned ready;
    for (int i = 0; i < MODEL_STEPS && (ready = model_ready()); i++) model_go(__builtin_ctz(ready));
}

/* What sleeps goes on sleeping until a step meets its own. */
static unsigned model_still_asleep(const model_state *s)
{
    unsigned asleep = 0;
    for (int i = 0; i < model.threads; i++)
        if (s->asleep >> i & 1 && !model_meet(&model.thread[i].next, &s->access)) asleep |= 1u << i;
    return asleep;
}

/* One run by the choices given, then always the first thread that may go on.  false: all that can
 * go on are asleep, so this run is another one in a different order. */
static bool model_run(void)
{
    unsigned asleep = 0, ready;
    model.stuck = model.endless = false;
    for (model.steps = 0; (ready = model_ready()); model.steps++) {
        model_state *s = &model.at[model.steps];
        if (model.steps == MODEL_STEPS - 1) {
            model.endless = true;
            return true;
        }
        if (model.steps >= model.replay) {
            if (!(ready & ~asleep)) {
                model_drain();
                return false;
            }
            const unsigned first = ready & ~asleep & (~(ready & ~asleep) + 1);
            *s = (model_state){ .ready = ready,
                .asleep = asleep,
                .wanted = model.in_full ? ready : first,
                .chosen = __builtin_ctz(first) };
        }
        s->access = model.thread[s->chosen].next;
        asleep = model_still_asleep(s);
        model_take(s->chosen);
    }
    for (int i = 0; i < model.threads; i++) model.stuck |= !model.thread[i].done;
    return true;
}

/* The last choice that has another option takes it; what it was goes to sleep there. */
static bool model_next(void)
{
    while (model.steps-- > 0) {
        model_state *s = &model.at[model.steps];
        s->asleep |= 1u << s->chosen;
        const unsigned left = s->wanted & s->ready & ~s->asleep;
        if (!left) continue;
        s->chosen = __builtin_ctz(left);
        model.replay = model.steps + 1;
        return true;
    }
    return false;
}

/* prepare() sets the threads up afresh, verdict() says whether the run kept the promises.  Returns
 * whether all did. */
static bool explore(void (*prepare)(void), bool (*verdict)(void))
{
    model.replay = 0;
    model.schedules = model.cut = 0;
    do {
        model.threads = 0;
        prepare();
        if (!model_run()) {
            model.cut++;
            continue;
        }
        model.schedules++;
        if (model.stuck || model.endless || !verdict()) return false;
    } while (model_next());
    return true;
}

/* The run that broke a promise, for whoever reads a failure. */
static inline void model_show_run(void)
{
    for (int i = 0; i < model.steps; i++) fprintf(stderr, "%d", model.at[i].chosen);
    fprintf(stderr, "%s\n",
        model.stuck     ? " and nobody can go on"
        : model.endless ? " and so on"
                        : "");
}

/* What promises over several programs have in common: how many schedules there were, and what broke
 * one that has a name. */
static unsigned long long all_schedules;
static inline bool keeps(const char *name, void (*prepare)(void), bool (*verdict)(void))
{
    const bool ok = explore(prepare, verdict);
    all_schedules += model.schedules;
    if (name) printf("     %-44s %8llu schedules%s\n", name, model.schedules, ok ? "" : ": BROKEN");
    if (name && !ok) model_show_run();
    return ok;
}
/* A call of the system that changes more than a word. */
#define STEP_BEFORE(type, name, params, args)                                                      \
    REPLACED(type, name, params)                                                                   \
    {                                                                                              \
        bf_model_step(NULL, true);                                                                 \
        return __real_##name args;                                                                 \
    }

static int model_ended(void)
{
    printf("     %llu schedules in all\n", all_schedules);
    for (int i = 0; i < MODEL_THREADS; i++) free(model.thread[i].stack);
    return FINISH();
}
/* Vector kernels touch several words in a step. */
static inline void model_begin(void) { setenv("BLOOMFILTER_CPU", "portable", 1); }
#endif
