/* py_active.c - counts the active calls of a filter in `users`.
 *
 * close() moves the handle from `bf` to `closing`: new calls find the filter closed, active calls
 * keep their handle, and the last of them frees it. Without a GIL, a call first counts itself and
 * then reads `bf`, and close() first clears `bf` and then reads `users`: one of the two sees the
 * other.
 *
 * In a forked child, `users` also counts calls of the parent's other threads. They never return, so
 * the child never frees such a handle. */
#include "py_bloomfilter.h"

/* added to `users` while a thread stores or frees a handle: new calls find the filter closed */
#define SETTING (PY_SSIZE_T_MIN / 2)

bf_filter *filter_enter(FilterObject *self)
{
    if (!NO_GIL) plain_share(self);
    const bool open = filter_count(self, 1) >= 0;
    bf_filter *bf = open ? __atomic_load_n(&self->bf, __ATOMIC_SEQ_CST) : NULL;
    if (bf) return bf;
    filter_leave(self);
    return raise_closed();
}

void filter_leave(FilterObject *self)
{
    filter_count(self, -1);
    free_if_closed(self);
}

void free_closed(FilterObject *self)
{
    if (handle_begin(self)) handle_free(self);
}

void handle_close(FilterObject *self)
{
    filter_count(self, 1);
    bf_filter *bf = __atomic_load_n(&self->bf, __ATOMIC_SEQ_CST);
    if (bf) {
        __atomic_store_n(&self->closing, bf, __ATOMIC_SEQ_CST);
        __atomic_store_n(&self->bf, NULL, __ATOMIC_SEQ_CST);
    }
    filter_leave(self);
}

bool handle_begin(FilterObject *self)
{
    Py_ssize_t none = 0;
    return __atomic_compare_exchange_n(
        &self->users, &none, SETTING, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void handle_end(FilterObject *self) { filter_count(self, -SETTING); }
