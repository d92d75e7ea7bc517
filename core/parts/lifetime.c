/* lifetime.c - counts the owners of a handle and its active calls, in particular the calls that
 * run code of the host (a clock, a hash function, a client). Knows neither keys nor bits.
 *
 *   refs:  | 32 bits: active calls that run host code | 32 bits: owners |
 *
 * The handle is freed when it has neither owners nor active calls.
 *
 * Each thread has a list of its active calls that may run host code (f->runs_host_code); a call
 * with two filters is in the list for both. Host code may call any function of the library. If
 * it calls a function of a filter that is in the list of its own thread, that call is refused,
 * because it would wait for itself; closing such a filter is refused, too. A fiber or greenlet
 * has the list of its thread. The members of the list are not on the stack, because greenlets
 * move their stacks.
 *
 * A forked child has a copy of the list of the thread that forked. The calls of the parent's
 * other threads never end in the child. So in a process that did not open the handle only the
 * list shows which calls are active, and what the other calls use is never freed. */
#include "bits/bits.h"
#include "parts/filter.h"
#include <stdlib.h>

static _Thread_local bf_call *calls; /* the list of this thread, newest call first */

enum { OWNER_BITS = 32 };
static const uint64_t OWNER = 1, INSIDE = UINT64_C(1) << OWNER_BITS;

/* ---- owners ---- */
void bf_ref_init(bf_filter *f)
{
    bf_add_fetch(&f->refs, OWNER);
    bf_int_store_release(&f->process, bf_process());
}

bf_filter *bf_retain(bf_filter *f)
{
    if (f) bf_add_fetch(&f->refs, OWNER);
    return f;
}

static void give_up(bf_filter *f, uint64_t what)
{
    if (bf_add_fetch(&f->refs, -what) != 0) return;
    bf_release(f);
    free(f);
}

void bf_close(bf_filter *f)
{
    if (f) give_up(f, OWNER);
}

/* ---- calls ---- */
static bool is_in(const bf_call *list, const bf_filter *f)
{
    for (; list; list = list->next)
        if (list->f == f) return true;
    return false;
}

/* Returns BF_EBUSY while a call of f that may run host code is active, else 0. In a forked child,
 * ignores the calls of the parent's other threads. */
int bf_busy(bf_filter *f, bf_error *err)
{
    const bool counted = bf_load_acquire(&f->refs) >= INSIDE;
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
    bf_add_fetch(&f->refs, INSIDE);
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
    give_up(f, INSIDE);
}

int bf_calls_enter(bf_calls *c, bf_filter *a, bf_filter *b, bf_error *err)
{
    bf_call **list = &calls; /* thread-local: its address is computed once */
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
