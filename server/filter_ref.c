/* filter_ref.c - finds the filter of a request, locks it while the request uses it, and turns the
 * core's errors into statuses.
 *
 * A worker must not wait, so it calls the core with bf_set_nowait(true).  If the core returns
 * BF_EBUSY, or the filter is not open, the worker sets `defer`.  Then a thread of jobs.c, which may
 * wait (`may_block`), repeats the request. */
#include "key_ops.h"

enum { TRIES = 8 }; /* attempts to use a filter that other processes replace */

/* ---- errors of the core ---- */
/* The HTTP status for each code of the core and of filters.h.  named: for reply_conflict(). */
static const struct {
    int code, status, named;
} statuses[] = {
    { FILTER_GONE, 404, 404 },
    { FILTER_STAYS, 409, 409 },
    { FILTER_EXISTS, 409, 409 },
    { FILTER_MANY, 507, 507 },
    { FILTER_LARGE, 507, 507 },
    { BF_ENOMEM, 507, 507 },
    { BF_EFULL, 507, 507 },
    { BF_EIO, 503, 503 },
    { BF_ENOENT, 503, 503 },
    { BF_EBUSY, 503, 503 },
    /* the storage contains a filter with other parameters, or a damaged one */
    { BF_EMISMATCH, 503, 409 },
    { BF_EFORMAT, 503, 503 },
    { BF_EINVAL, 400, 400 },
    { BF_ENOTSUP, 400, 400 },
};

static int status_of(int code, bool named)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == code) return named ? statuses[i].named : statuses[i].status;
    return 500;
}

static void reply_error_as(worker *w, text name, reply *a, bool named, int code, bf_error *err)
{
    if (code == FILTER_GONE)
        stored_fail(err, code, "no filter has the name \"%.*s\"", (int)name.len, name.ptr);
    stored_hide_path(&w->s->fs, name, err);
    a->code = code;
    reply_status(a, status_of(code, named), err->msg);
}

void reply_error(worker *w, text name, reply *a, int code, bf_error *err)
{
    reply_error_as(w, name, a, false, code, err);
}

void reply_filter_error(worker *w, const served *f, reply *a, int code, bf_error *err)
{
    reply_error(w, name_of(f), a, code, err);
}

void reply_conflict(worker *w, text name, reply *a, int code, bf_error *err)
{
    reply_error_as(w, name, a, true, code, err);
}

/* ---- using a filter ---- */
bool redis_hangs(const worker *w) { return w->s->fs.remote && jobs_hang(w->s); }

static served *acquire(worker *w, text name, bool to_add, reply *a)
{
    filters *fs = &w->s->fs;
    bf_error err;
    served *f = w->may_block ? filters_get(fs, name, &err)
                : fs->remote ? NULL /* only a job may wait for Redis */
                             : filters_get_open(fs, name, to_add);
    if (!f && w->may_block) reply_error(w, name, a, err.code, &err);
    a->defer = !f && !w->may_block;
    return f;
}

void reply_reset(worker *w, reply *a)
{
    budget_release(w, a->held);
    buffer_drop(&a->made);
    buffer_drop(&a->answers);
    *a = (reply){ 0 };
}

/* Acknowledges a change only if the filter was not replaced meanwhile; otherwise repeats the
 * request with the new filter.  An add or removal of a single key checks the file only here,
 * because each check is a system call. */
void with_filter(worker *w, text name, action *what, const call *c, reply *a)
{
    for (int i = 0; i < TRIES; i++) {
        served *f = acquire(w, name, changes(c) && c->one, a);
        if (!f) return;
        what(w, f, c, a);
        if (a->status > 409 && !w->missing) filters_recheck(f);
        const bool refused = a->status != 200 && a->status < 500;
        const bool kept = a->defer || !changes(c) || refused || filters_is_same(&w->s->fs, f);
        filters_release(f);
        if (kept) return;
        reply_reset(w, a);
        if ((a->defer = !w->may_block)) return;
    }
    reply_status(a, 503, "the filter is replaced again and again: try later");
}
