/* lifetime.c - counts the references to a handle, and its active calls that may run code of the
 * host (a clock, a hash function, a client).
 *
 *   refs:  | 32 bits: active calls that may run host code | 32 bits: references |
 *
 * The handle is freed when both numbers are 0.
 *
 * Each thread has a list of its active calls. A call with two filters is in the list twice. Host
 * code of a call may call functions of other filters. Such a function returns BF_EBUSY if a call of
 * that filter is active, in this or another thread: it might wait for its own thread, or for a
 * thread that waits for it. So threads never wait for each other in a circle: each would have begun
 * its inner call before another one began its outer call. A fiber or greenlet has the list of its
 * thread, unless the host has set bf_set_turn_hooks. The members of the list are not on the stack,
 * because greenlets move their stacks.
 *
 * A forked child inherits the numbers in refs, but only the list of the thread that forked. Calls
 * of the parent's other threads never end in the child. So bf_busy reads the list in the child,
 * and the child never frees a handle with such calls. */
#include "bits/bits.h"
#include "parts/filter.h"
#include <stdlib.h>

static _Thread_local bf_call *calls; /* the list of this thread, newest call first */

enum { REFERENCE_BITS = 32 };
static const uint64_t REFERENCE = 1, CALL = UINT64_C(1) << REFERENCE_BITS;

/* ---- references ---- */
void bf_ref_init(bf_filter *f)
{
    bf_add_fetch(&f->refs, REFERENCE);
    bf_int_store_release(&f->process, bf_process());
}

bf_filter *bf_retain(bf_filter *f)
{
    if (f) bf_add_fetch(&f->refs, REFERENCE);
    return f;
}

static void drop(bf_filter *f, uint64_t what)
{
    if (bf_add_fetch(&f->refs, -what) != 0) return;
    bf_release(f);
    free(f);
}

void bf_close(bf_filter *f)
{
    if (f) drop(f, REFERENCE);
}

/* ---- calls ---- */
static bool is_in(const bf_call *list, const bf_filter *f)
{
    for (; list; list = list->next)
        if (list->f == f) return true;
    return false;
}

int bf_busy(bf_filter *f, bf_error *err)
{
    const bool counted = bf_load_acquire(&f->refs) >= CALL;
    const int me = bf_process(), of = bf_int_load_acquire(&f->process);
    if (!counted && of != me) bf_int_store_release(&f->process, me);
    if (!counted || (of != me && !is_in(calls, f))) return 0;
    return bf_fail(err, BF_EBUSY,
        "the filter is in use: it cannot be closed before the call that "
        "runs in it returns");
}

/* ---- calls that run host code ---- */
static int refuse(bf_error *err)
{
    return bf_fail(err, BF_EBUSY,
        "the filter is in use: a call in it waits for its clock, hash function or client, and this "
        "call was made by such code");
}

/* alone: no other thread had an active call of f when this call began */
static bf_call *push(bf_call **list, bf_filter *f, bool *alone)
{
    bf_call *c = bf_flag_taken(&f->first_in_use) ? malloc(sizeof *c) : &f->first;
    if (!c) return NULL;
    *c = (bf_call){ *list, list, f };
    if (*list) (*list)->from = &c->next;
    *list = c;
    const uint64_t active = bf_add_fetch(&f->refs, CALL) >> REFERENCE_BITS;
    const int me = bf_process(), of = bf_int_load_acquire(&f->process);
    uint64_t own = 0;
    for (const bf_call *i = *list; i; i = i->next) own += i->f == f;
    if (active == own && of != me) bf_int_store_release(&f->process, me);
    /* in a forked child, calls of the parent's other threads are counted for ever */
    *alone &= active == own || of != me;
    return c;
}

static void pop(bf_call *c)
{
    bf_filter *f = c->f;
    *c->from = c->next;
    if (c->next) c->next->from = c->from;
    if (c == &f->first)
        bf_flag_release(&f->first_in_use);
    else
        free(c);
    drop(f, CALL);
}

/* ---- turns, for hosts with green threads ---- */
void bf_set_turn_hooks(
    bf_filter *f, int (*enter)(void *ctx, bool second), void (*leave)(void *ctx), void *ctx)
{
    f->turn = (bf_turn_hooks){ enter, leave, ctx };
}

static int enter_turn(const bf_filter *f, bool second, bf_error *err)
{
    const int rc = f && f->turn.enter ? f->turn.enter(f->turn.ctx, second) : 0;
    if (rc == BF_EBUSY) return refuse(err);
    if (rc == BF_EIO)
        return bf_fail(err, rc,
            "the filter is in use: another thread has worked with it for %d seconds", BF_PATIENCE);
    return rc < 0 ? bf_fail(err, rc, "the wait for the filter was interrupted") : 0;
}

static void leave_turn(bf_turn_hooks turn)
{
    if (turn.leave) turn.leave(turn.ctx);
}

/* All calls with two filters take the turns in the same order. */
static int enter_turns(const bf_filter *a, const bf_filter *b, bf_error *err)
{
    const bf_filter *first = b && b < a ? b : a, *second = first == a ? b : a;
    int rc = enter_turn(first, false, err);
    if (rc < 0 || second == first) return rc;
    if ((rc = enter_turn(second, first->turn.enter != NULL, err)) < 0) leave_turn(first->turn);
    return rc;
}

/* Ends the call, which may free the filters. */
static void leave(bf_calls *c, const bf_filter *a, const bf_filter *b)
{
    const bf_turn_hooks of_a = a->turn, of_b = b && b != a ? b->turn : (bf_turn_hooks){ 0 };
    if (c->b) pop(c->b);
    if (c->a) pop(c->a);
    c->a = c->b = NULL;
    leave_turn(of_b);
    leave_turn(of_a);
}

int bf_calls_enter(bf_calls *c, bf_filter *a, bf_filter *b, bf_error *err)
{
    bf_call **list = &calls; /* computes the address of the thread-local variable once */
    bool alone = true;
#ifdef BF_MODEL /* all threads of a model are coroutines of one thread */
    const bool inner = false;
#else
    const bool inner = *list != NULL;
#endif
    int rc = enter_turns(a, b, err);
    if (rc < 0) return rc;
    if (inner && (is_in(*list, a) || (b && is_in(*list, b))))
        alone = false;
    else if (!(c->a = push(list, a, &alone)) || (b && !(c->b = push(list, b, &alone))))
        rc = bf_fail(err, BF_ENOMEM, "out of memory");
    if (rc == 0 && inner && !alone) rc = refuse(err);
    if (rc < 0) leave(c, a, b);
    return rc;
}

void bf_calls_leave(bf_calls *c) { leave(c, c->a->f, c->b ? c->b->f : NULL); }

void bf_abandon_calls(void)
{
    while (calls) pop(calls);
}
