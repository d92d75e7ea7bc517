/* filter_ref.c - the filter of a name, for as long as a request does something with it, and what
 * becomes of the core's errors.  Knows statuses and filters; knows neither paths nor keys.
 *
 * A worker asks the core with bf_set_nowait: what the core refuses as BF_EBUSY, and a filter that
 * is not open yet, is left (`defer`) to a thread of jobs.c, which may wait (`may_block`). */
#include "key_ops.h"

enum { TRIES = 8 }; /* how often a filter may be replaced meanwhile */

/* ---- errors of the core ---- */
static int status_of(int code)
{
    switch (code) {
    case FILTER_GONE: return 404;
    case FILTER_STAYS: return 409;
    case BF_ENOMEM:
    case FILTER_MANY:
    case FILTER_LARGE: return 507;
    case BF_EIO:
    case BF_ENOENT:
    case BF_EBUSY:
    case BF_EMISMATCH:           /* what is stored is another filter by now, */
    case BF_EFORMAT: return 503; /* or none, or damaged */
    case BF_EINVAL:
    case BF_ENOTSUP: return 400;
    default: return 500;
    }
}

static void fail_as(worker *w, text name, reply *a, int status, int code, bf_error *err)
{
    stored_hide(&w->s->fs, name, err);
    reply_status(a, status, code == FILTER_GONE ? NULL : err->msg);
}

void fail(worker *w, text name, reply *a, int code, bf_error *err)
{
    fail_as(w, name, a, status_of(code), code, err);
}

void fail_on(worker *w, const served *f, reply *a, int code, bf_error *err)
{
    fail(w, (text){ f->name, strlen(f->name) }, a, code, err);
}

void conflict(worker *w, text name, reply *a, int code, bf_error *err)
{
    fail_as(w, name, a, code == BF_EMISMATCH ? 409 : status_of(code), code, err);
}

/* ---- a filter to do something with ---- */
bool unanswered(const worker *w) { return w->s->fs.remote && jobs_hang(w->s); }

static served *use(worker *w, text name, bool to_add, reply *a)
{
    filters *fs = &w->s->fs;
    bf_error err;
    served *f = w->may_block ? filters_find(fs, name, &err)
                : fs->remote ? NULL /* every call waits for Redis */
                             : filters_known(fs, name, to_add);
    if (!f && w->may_block) fail(w, name, a, err.code, &err);
    a->defer = !f && !w->may_block;
    return f;
}

void start_again(worker *w, reply *a)
{
    unhold(w, a->held);
    buffer_drop(&a->made);
    *a = (reply){ 0 };
}

/* What was added or removed is acknowledged only if it is in the filter that the name leads to
 * afterwards.  A single key is changed without a look before that: each is a system call. */
void with(worker *w, text name, action *what, const call *c, reply *a)
{
    for (int i = 0; i < TRIES; i++) {
        served *f = use(w, name, changes(c) && c->one, a);
        if (!f) return;
        what(w, f, c, a);
        if (a->status > 409 && !w->lacked) filters_doubt(f);
        const bool refused = a->status != 200 && a->status < 500;
        const bool kept = a->defer || !changes(c) || refused || filters_kept(&w->s->fs, f);
        filters_done(f);
        if (kept) return;
        start_again(w, a);
        if ((a->defer = !w->may_block)) return;
    }
    reply_status(a, 503, "the filter is replaced again and again: try later");
}
