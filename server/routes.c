/* routes.c - maps paths and methods to the functions that answer them, which are in key_ops.c,
 * filter_ops.c, stats.c and page.c.
 *
 *   GET /add=KEY  /contain=KEY  /remove=KEY  /count=KEY     of the filter "default"
 *   POST /add  /contain  /remove  /count,  GET /stats
 *   the same behind /f/NAME, and PUT, GET, DELETE /f/NAME, POST /f/NAME/merge
 *   GET /  /f  /metrics  /healthz
 */
#include "keys.h"
#include "key_ops.h"
#include <stdio.h>

static void stats_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!stats_json(w, f, a) && a->status == 0) reply_status(a, 503, "out of memory");
}

static void stats(worker *w, text name, reply *a) { with(w, name, stats_on, &(call){ 0 }, a); }

static void page_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!page(w, f, a) && a->status == 0) reply_status(a, 503, "out of memory");
}

/* If the filter is in Redis, Redis must answer. */
static void health(worker *w, reply *a)
{
    bf_error err;
    if (w->s->fs.remote && !w->may_block) {
        a->defer = true;
        return;
    }
    bf_set_nowait(!w->s->fs.remote);
    const int rc = filters_health(&w->s->fs, w->may_block, &err);
    bf_set_nowait(!w->may_block);
    if (rc == 0)
        reply_text(a, TEXT("ok"));
    else if (w->may_block)
        fail(w, TEXT(DEFAULT_NAME), a, rc, &err);
    else
        a->defer = true;
}

/* ---- paths ---- */
/* Requests about one filter, named or "default".  Returns false if there is no such path. */
static bool on_filter(worker *w, text name, text path, const request *q, reply *a)
{
    static const struct {
        text one, many;
    } verbs[] = { [VERB_TEST] = { TEXT("/contain="), TEXT("/contain") },
        [VERB_ADD] = { TEXT("/add="), TEXT("/add") },
        [VERB_REMOVE] = { TEXT("/remove="), TEXT("/remove") },
        [VERB_COUNT] = { TEXT("/count="), TEXT("/count") } };
    for (int v = VERB_TEST; v <= VERB_COUNT; v++) {
        if (q->method == GET && text_starts(path, verbs[v].one))
            one_key(w, name, text_after(path, verbs[v].one.len), (verb)v, a);
        else if (q->method == POST && text_is(path, verbs[v].many))
            batch(w, name, q, (verb)v, a);
        else
            continue;
        return true;
    }
    if (q->method != GET || !text_is(path, TEXT("/stats"))) return false;
    stats(w, name, a);
    return true;
}

/* Returns the name after /f/, percent-decoded, or an empty text, and sets *rest to what follows it.
 */
static text name_in(text path, char room[NAME_ROOM], text *rest)
{
    size_t len = 0;
    while (len < path.len && path.ptr[len] != '/' && path.ptr[len] != '?') len++;
    const text raw = { path.ptr, len };
    bf_key name = { "", 0 };
    *rest = text_after(path, len);
    const bool ok = len <= 3 * NAME_BYTES && keys_decode_percent(raw, room, &name);
    const text found = { name.ptr, name.len };
    return ok && filter_name_ok(found) ? found : (text){ "", 0 };
}

/* Quotes the name as it was sent. */
static void no_name(text path, text rest, reply *a)
{
    char why[160];
    const size_t len = path.len - rest.len;
    snprintf(why, sizeof why,
        "the name of a filter must be 1 to %d of A-Z a-z 0-9 _ . : { } @ -, the first not a point; "
        "got %.*s%s",
        NAME_BYTES, len < 40 ? (int)len : 40, path.ptr,
        len > 40 ? ".."
        : len    ? ""
                 : "none");
    reply_status(a, 400, why);
}

static bool named(worker *w, text path, const request *q, reply *a)
{
    char room[NAME_ROOM];
    text rest;
    const text name = name_in(path, room, &rest);
    if (!name.len) no_name(path, rest, a);
    if (!name.len) return false;
    if (q->method == PUT && (rest.len == 0 || rest.ptr[0] == '?'))
        put(w, name, text_after(rest, rest.len > 0), a);
    else if (q->method == GET && rest.len == 0)
        image(w, name, a);
    else if (q->method == DELETE && rest.len == 0)
        drop(w, name, a);
    else if (q->method == POST && text_is(rest, TEXT("/merge")))
        merge(w, name, q, a);
    else
        return on_filter(w, name, rest, q, a);
    return true;
}

/* Returns true if a report on all filters, as large as the last one, fits into --max-buffered.
 * Nothing stays reserved, because the report itself shows how much is reserved. */
static bool report_fits(worker *w, reply *a)
{
    const uint64_t last = tallied(&w->s->report);
    if (last < LARGE) return true;
    if (!hold(w, last)) {
        reply_status(a, 503, HELD_FULL);
        return false;
    }
    unhold(w, last);
    return buffer_reserve(
        &a->made, last + last / 16); /* one allocation instead of growth by doubling */
}

static bool metrics(worker *w, reply *a)
{
    if (!report_fits(w, a)) return false;
    const bool ok = stats_metrics(w, a);
    if (ok) __atomic_store_n(&w->s->report, a->body.len, __ATOMIC_RELAXED);
    return ok;
}

static bool of_server(worker *w, text path, const request *q, reply *a)
{
    bool ok = true;
    if (q->method != GET) return false;
    if (text_is(path, TEXT("/")))
        with(w, TEXT(""), page_on, &(call){ 0 }, a);
    else if (text_is(path, TEXT("/f")))
        ok = report_fits(w, a) && stats_filters(w, a);
    else if (text_is(path, TEXT("/metrics")))
        ok = metrics(w, a);
    else if (text_is(path, TEXT("/healthz")))
        health(w, a);
    else
        return false;
    if (!ok && a->status == 0) reply_status(a, 503, "out of memory");
    return true;
}

/* /metrics and /healthz get queues of their own (jobs.h), so that they do not wait for requests
 * about "default".  `?` makes the text differ from all names of filters. */
text route_turn(const request *q, char room[NAME_ROOM])
{
    text rest;
    if (text_is(q->path, TEXT("/metrics"))) return TEXT("?metrics");
    if (text_is(q->path, TEXT("/healthz"))) return TEXT("?healthz");
    if (!text_starts(q->path, TEXT("/f/"))) return TEXT(DEFAULT_NAME);
    const text name = name_in(text_after(q->path, 3), room, &rest);
    return name.len ? name : TEXT(DEFAULT_NAME);
}

/* Returns the path, without /f/NAME if *named. */
static text path_of_filter(const request *q, bool *named)
{
    char room[NAME_ROOM];
    text rest = q->path;
    *named = text_starts(q->path, TEXT("/f/")) && name_in(text_after(q->path, 3), room, &rest).len;
    return rest;
}

bool route_is_whole(const request *q)
{
    bool named;
    const text rest = path_of_filter(q, &named);
    return q->method == PUT || q->method == DELETE || (named && rest.len == 0) ||
           text_is(rest, TEXT("/merge"));
}

/* Returns true if the request is about complete filters, so that its time depends on their size. */
static bool is_long(const request *q)
{
    bool named;
    const text path = path_of_filter(q, &named);
    if (route_is_whole(q)) return true;
    return q->method == GET && (text_is(path, TEXT("/stats")) || text_is(path, TEXT("/")) ||
                                   text_is(path, TEXT("/metrics")));
}

static void dispatch(worker *w, const request *q, reply *a)
{
    const text path = q->path;
    a->understood = text_starts(path, TEXT("/f/"))
                        ? named(w, text_after(path, 3), q, a)
                        : on_filter(w, TEXT(""), path, q, a) || of_server(w, path, q, a);
    if (!a->understood && a->status == 0) reply_status(a, 400, NULL);
}

void route_in_job(worker *w, const request *q, reply *a) { dispatch(w, q, a); }

/* While Redis hangs, a request that is left to a job is refused immediately; /metrics reports that
 * itself. */
void route(worker *w, const request *q, reply *a)
{
    if (access_refuses(w->s, q, a)) return;
    a->defer =
        !w->may_block && is_long(q) && !(unanswered(w) && text_is(q->path, TEXT("/metrics")));
    if (!a->defer) dispatch(w, q, a);
    if (!a->defer) return;
    if (w->s->fs.remote && jobs_hang_for(w->s, q)) {
        start_again(w, a);
        reply_status(a, 503, ROUTE_HANGS);
    }
    a->understood = true;
}
