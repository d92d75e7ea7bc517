/* lifetime.c - counts the references to a handle, and its active calls that may run code of the
 * host (a clock, a hash function, a client).
 *
 *   refs:  | 32 bits: active calls that may run host code | 32 bits: references |
 *
 * The handle is freed when both numbers are 0.
 *
 * Each thread has a list of its active calls. A call with two filters is in the list twice. If host
 * code calls a function of a filter that is in its thread's list, the function returns BF_EBUSY:
 * it would wait for its own thread. A fiber or greenlet has the list of its thread. The members of
 * the list are not on the stack, because greenlets move their stacks.
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
static int refuse_reentry(const bf_call *list, const bf_filter *f, bf_error *err)
{
#ifdef BF_MODEL
    list = NULL; /* all threads of a model are coroutines of one thread */
#endif
    if (!is_in(list, f)) return 0;
    return bf_fail(err, BF_EBUSY,
        "the filter is in use: a call in it waits for its clock, hash function or "
        "client in this thread");
}

static bf_call *push(bf_call **list, bf_filter *f)
{
    bf_call *c = bf_flag_taken(&f->first_in_use) ? malloc(sizeof *c) : &f->first;
    if (!c) return NULL;
    *c = (bf_call){ *list, list, f };
    if (*list) (*list)->from = &c->next;
    *list = c;
    bf_add_fetch(&f->refs, CALL);
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

int bf_calls_enter(bf_calls *c, bf_filter *a, bf_filter *b, bf_error *err)
{
    bf_call **list = &calls; /* computes the address of the thread-local variable once */
    int rc = refuse_reentry(*list, a, err);
    if (rc < 0 || (b && (rc = refuse_reentry(*list, b, err)) < 0)) return rc;
    if ((c->a = push(list, a)) && (!b || (c->b = push(list, b)))) return 0;
    bf_calls_leave(c);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

void bf_calls_leave(bf_calls *c)
{
    if (c->b) pop(c->b);
    if (c->a) pop(c->a);
    c->a = c->b = NULL;
}

void bf_abandon_calls(void)
{
    while (calls) pop(calls);
}
