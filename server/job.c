/* job.c - the worker's side of a job: creates it from a request, starts it, delivers its reply.
 * Only the worker of the connection calls these functions.  jobs.c has the threads. */
#include "server.h"
#include <stdlib.h>

/* bytes; a copied request text up to this size is not counted in --max-buffered */
enum { UNCOUNTED_MAX = 1024 };

/* Copies the texts of the request.  A body on the heap is not copied: take_body() moves it. */
static bool copy_request(job *j, const request *q, const buffer *body)
{
    const size_t target = q->target.len, type = q->type.len;
    if (!buffer_add(&j->text, q->target.ptr, target) || !buffer_add(&j->text, q->type.ptr, type))
        return false;
    if (!body->cap && q->body.len && !buffer_add(&j->body, q->body.ptr, q->body.len)) return false;
    const char *bytes = body->cap ? body->ptr : j->body.ptr;
    j->q = (request){ .method = q->method,
        .head = q->head,
        .keep_alive = q->keep_alive,
        .old = q->old,
        .target = { j->text.ptr, target },
        .path = { j->text.ptr + (q->path.ptr - q->target.ptr), q->path.len },
        .type = { j->text.ptr + target, type },
        .command = q->command,
        .resp = q->resp,
        .commands = q->commands,
        .prefix = q->prefix,
        .body = { bytes ? bytes : "", q->body.len } };
    return true;
}

static void take_body(job *j, request_in *x)
{
    if (!x->body.cap) return;
    j->body = x->body;
    j->held += x->body.cap;
    x->held -= x->body.cap;
    x->body = (buffer){ 0 };
}

job *job_start(worker *w, conn *c, const request *q, reply *a, uint64_t began, const char **why)
{
    request_in *x = &w->current;
    char name[NAME_ROOM];
    job *j = calloc(1, sizeof *j);
    *why = "out of memory";
    if (!j || !copy_request(j, q, &x->body)) goto fail;
    j->w = w;
    j->c = c;
    j->began = began;
    /* one deadline for the request's arrival and for its job */
    j->until = x->deadline_unset ? w->now + w->s->o.deadline * 1000 : c->until;
    j->whole_filter = route_is_whole_filter(&j->q);
    const uint64_t copied = (j->text.cap > UNCOUNTED_MAX ? j->text.cap : 0) + j->body.cap;
    if (!budget_reserve(w, copied)) {
        *why = BUDGET_FULL;
        goto fail;
    }
    j->held = copied;
    take_body(j, x);
    j->a = *a;
    j->a.defer = false;
    *a = (reply){ 0 };
    if (jobs_submit(w->s, j, route_queue(&j->q, name))) return j;
fail:
    if (j) job_free(j);
    return NULL;
}

bool job_restart(worker *w, job *j)
{
    char name[NAME_ROOM];
    const uint64_t missing = j->missing;
    j->missing = 0;
    if (!missing || j->restarted || !budget_reserve_beside(w, missing, j->held)) return false;
    budget_release(w, j->a.held);
    buffer_drop(&j->a.made);
    buffer_drop(&j->a.answers);
    j->a = (reply){ 0 };
    j->reserved = missing;
    j->restarted = true;
    j->done = j->claimed = false;
    if (jobs_submit(w->s, j, route_queue(&j->q, name))) return true;
    j->done = true;
    reply_status(&j->a, 503, BUDGET_FULL);
    return false;
}

bool job_keep_input(worker *w, job *j, const char *bytes, size_t len)
{
    if (!budget_reserve(w, len + INPUT_MORE)) return false;
    if (buffer_add(&j->input, bytes, len)) return true;
    budget_release(w, len + INPUT_MORE);
    return false;
}

buffer job_input(job *j)
{
    const buffer input = j->input;
    j->input = (buffer){ 0 };
    return input;
}

void job_abandon(job *j)
{
    j->c = NULL;
    job_claim(j);
}

void job_free(job *j)
{
    if (j->w) budget_release(j->w, j->held + j->reserved + j->a.held + input_cost(&j->input));
    buffer_drop(&j->text);
    buffer_drop(&j->body);
    buffer_drop(&j->input);
    buffer_drop(&j->a.made);
    buffer_drop(&j->a.answers);
    free(j);
}

void jobs_deliver(worker *w)
{
    job *j = __atomic_exchange_n(&w->done, NULL, __ATOMIC_ACQUIRE);
    for (job *next; j; j = next) {
        next = j->next;
        if (j->c) {
            j->done = true;
            conn_answered(w, j->c);
        } else
            job_free(j);
    }
}

void jobs_drop_done(worker *w)
{
    for (job *j = w->done, *next; j; j = next) {
        next = j->next;
        job_free(j);
    }
    w->done = NULL;
}
