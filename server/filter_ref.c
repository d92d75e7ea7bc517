/* filter_ref.c - the filter of a name while a request uses it, and the status of each error of the
 * core.  Knows neither paths nor keys.
 *
 * A worker calls the core with bf_set_nowait.  If the core returns BF_EBUSY, or the filter is not
 * open, the request is left (`defer`) to a thread of jobs.c, which may wait (`may_block`). */
#include "key_ops.h"

enum { TRIES = 8 }; /* how often another process may replace the filter */

/* ---- errors of the core ---- */
static int status_of(int code)
{
    switch (code) {
    case FILTER_GONE: return 404;
    case FILTER_STAYS: return 409;
    case BF_ENOMEM:
    case BF_EFULL:
    case FILTER_MANY:
    case FILTER_LARGE: return 507;
    case BF_EIO:
    case BF_ENOENT:
    case BF_EBUSY:
    case BF_EMISMATCH: /* another process replaced the filter by one with other parameters */
    case BF_EFORMAT: return 503; /* another process damaged it */
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
    fail(w, name_of(f), a, code, err);
}

void conflict(worker *w, text name, reply *a, int code, bf_error *err)
{
    fail_as(w, name, a, code == BF_EMISMATCH ? 409 : status_of(code), code, err);
}

/* ---- using a filter ---- */
bool unanswered(const worker *w) { return w->s->fs.remote && jobs_hang(w->s); }

static served *use(worker *w, text name, bool to_add, reply *a)
{
    filters *fs = &w->s->fs;
    bf_error err;
    served *f = w->may_block ? filters_find(fs, name, &err)
                : fs->remote ? NULL /* a worker must not wait for Redis: a job does it */
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

/* An add or removal is acknowledged only if the name still leads to the same filter afterwards. For
 * a single key this is the only check of the file, because each check is a system call. */
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
