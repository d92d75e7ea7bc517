/* routes.c - maps methods and paths to the functions that answer them: key_ops.c, filter_ops.c,
 * stats.c, page.c.  docs/server.md has the table of all requests. */
#include "resp.h"
#include <stdio.h>

static void stats_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!stats_json(w, f, a) && a->status == 0) reply_status(a, 503, NULL);
}

static void filter_stats(worker *w, text name, text query, const request *q, reply *a)
{
    (void)query, (void)q;
    with_filter(w, name, stats_on, &(call){ 0 }, a);
}

static void page_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!page(w, f, a) && a->status == 0) reply_status(a, 503, NULL);
}

/* Answers /healthz.  If the filters are in Redis, sends Redis a command. */
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
        reply_error(w, TEXT(DEFAULT_NAME), a, rc, &err);
    else
        a->defer = true;
}

static void flush(worker *w, reply *a)
{
    char failed[NAME_BYTES + 1];
    bf_error err;
    if (filters_sync(&w->s->fs, failed, &err) < 0)
        reply_error(w, (text){ failed, strlen(failed) }, a, BF_EIO, &err);
    else
        reply_text(a, TEXT("ok"));
}

/* Returns true if a report as large as the last report fits into --max-buffered; else sets a 503.
 * Keeps no bytes reserved, because the report itself contains the number of reserved bytes. */
static bool report_fits(worker *w, reply *a)
{
    const uint64_t last = counter_get(&w->s->report);
    if (last < LARGE) return true;
    if (!budget_reserve(w, last)) {
        reply_status(a, 503, BUDGET_FULL);
        return false;
    }
    budget_release(w, last);
    /* one allocation instead of growth by doubling */
    if (buffer_reserve(&a->made, last + last / 16)) return true;
    reply_status(a, 503, NULL);
    return false;
}

static void metrics(worker *w, reply *a)
{
    if (!report_fits(w, a)) return;
    if (stats_metrics(w, a))
        __atomic_store_n(&w->s->report, a->body.len, __ATOMIC_RELAXED);
    else if (a->status == 0)
        reply_status(a, 503, NULL);
}

static void list_filters(worker *w, reply *a)
{
    if (report_fits(w, a) && !stats_filters(w, a) && a->status == 0) reply_status(a, 503, NULL);
}

static void status_page(worker *w, reply *a) { with_filter(w, TEXT(""), page_on, &(call){ 0 }, a); }

/* ---- the routes ---- */
/* where: SERVER: the path alone; NAMED: after /f/NAME; BOTH: either, alone for "default".
 * how: see key_ops.h. */
enum { SERVER = 1, NAMED = 2, BOTH = 3 };
typedef struct {
    int method, where, how;
    bool query; /* the path may end with ? and parameters */
    text path;
    filter_op *answer;                      /* for a request about a filter, or NULL */
    void (*of_server)(worker *w, reply *a); /* for a request about the server, or NULL */
} route_row;

static const route_row rows[] = {
    { PUT, NAMED, WHOLE, true, TEXT(""), filter_put, NULL },
    { POST, NAMED, WHOLE, false, TEXT(""), filter_upload, NULL },
    { GET, NAMED, WHOLE, false, TEXT(""), filter_image, NULL },
    { DELETE, NAMED, WHOLE, false, TEXT(""), filter_delete, NULL },
    { POST, NAMED, WHOLE, false, TEXT("/merge"), filter_merge, NULL },
    { POST, BOTH, WHOLE, false, TEXT("/clear"), filter_clear, NULL },
    { POST, BOTH, SLOW, true, TEXT("/expire"), filter_expire, NULL },
    { GET, BOTH, SLOW, false, TEXT("/stats"), filter_stats, NULL },
    { POST, SERVER, SLOW, false, TEXT("/flush"), NULL, flush },
    { GET, SERVER, SLOW, false, TEXT("/"), NULL, status_page },
    { GET, SERVER, SLOW, false, TEXT("/metrics"), NULL, metrics },
    { GET, SERVER, FAST, false, TEXT("/f"), NULL, list_filters },
    { GET, SERVER, FAST, false, TEXT("/healthz"), NULL, health },
};

/* Requests about keys: GET with one key in the URL, POST with keys in the body. */
static const struct {
    text one, many;
} verbs[] = { [VERB_TEST] = { TEXT("/contain="), TEXT("/contain") },
    [VERB_ADD] = { TEXT("/add="), TEXT("/add") },
    [VERB_REMOVE] = { TEXT("/remove="), TEXT("/remove") },
    [VERB_COUNT] = { TEXT("/count="), TEXT("/count") } };

/* Returns the percent-decoded name at the start of path, or an empty text if the name is invalid.
 * *rest: the path after the name. */
static text name_at(text path, char room[NAME_ROOM], text *rest)
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

/* Replies 400 with the invalid name, not decoded. */
static void reply_bad_name(text path, text rest, reply *a)
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

/* A request's path, split into the filter's name and the path after /f/NAME. */
typedef struct {
    bool named; /* the path begins with /f/ */
    bool valid; /* the path has no invalid name */
    text name;  /* empty: "default" */
    text rest;
} target;

static target target_of(const request *q, char room[NAME_ROOM])
{
    target t = { .valid = true, .named = text_starts(q->path, TEXT("/f/")), .rest = q->path };
    if (!t.named) return t;
    t.name = name_at(text_after(q->path, 3), room, &t.rest);
    t.valid = t.name.len > 0;
    return t;
}

/* Returns the row for the request, or NULL.  *query: the text after the `?`. */
static const route_row *row_for(const request *q, const target *t, text *query)
{
    const char *mark = memchr(t->rest.ptr, '?', t->rest.len);
    const text before = { t->rest.ptr, mark ? (size_t)(mark - t->rest.ptr) : t->rest.len };
    *query = text_after(t->rest, before.len + (mark != NULL));
    for (size_t i = 0; t->valid && i < sizeof rows / sizeof *rows; i++) {
        const route_row *r = &rows[i];
        if (q->method == r->method && r->where & (t->named ? NAMED : SERVER) &&
            text_is(r->query ? before : t->rest, r->path))
            return r;
    }
    return NULL;
}

/* Answers the request if it is about keys; else returns false. */
static bool key_path(worker *w, const target *t, const request *q, reply *a)
{
    for (int v = VERB_TEST; v <= VERB_COUNT; v++) {
        if (q->method == GET && text_starts(t->rest, verbs[v].one))
            key_single(w, t->name, text_after(t->rest, verbs[v].one.len), (verb)v, a);
        else if (q->method == POST && text_is(t->rest, verbs[v].many))
            key_batch(w, t->name, q, (verb)v, a);
        else
            continue;
        return true;
    }
    return false;
}

/* Answers the request.  Returns false if the path does not exist. */
static bool dispatch(worker *w, const request *q, reply *a)
{
    char room[NAME_ROOM];
    text query;
    const target t = target_of(q, room);
    if (!t.valid) {
        reply_bad_name(text_after(q->path, 3), t.rest, a);
        return false;
    }
    if (key_path(w, &t, q, a)) return true;
    const route_row *r = row_for(q, &t, &query);
    if (!r)
        reply_status(a, 400, NULL);
    else if (r->answer)
        r->answer(w, t.name, query, q, a);
    else
        r->of_server(w, a);
    return r != NULL;
}

static int how(const request *q)
{
    char room[NAME_ROOM];
    text query;
    const target t = target_of(q, room);
    const route_row *r = row_for(q, &t, &query);
    return r ? r->how : FAST;
}

bool route_is_whole_filter(const request *q)
{
    return q->resp ? q->command->how == WHOLE : how(q) == WHOLE;
}

/* Some requests about the server have their own queues, to not wait for requests about "default".
 * The name of a filter never contains `?`. */
text route_queue(const request *q, char room[NAME_ROOM])
{
    if (text_is(q->path, TEXT("/metrics"))) return TEXT("?metrics");
    if (text_is(q->path, TEXT("/healthz"))) return TEXT("?healthz");
    if (text_is(q->path, TEXT("/flush"))) return TEXT("?flush");
    if (q->resp) return q->path.len ? q->path : TEXT("?commands");
    const target t = target_of(q, room);
    return t.name.len ? t.name : TEXT(DEFAULT_NAME);
}

void route_in_job(worker *w, const request *q, reply *a)
{
    if (q->resp)
        command_in_job(w, q, a);
    else
        a->understood = dispatch(w, q, a);
}

/* Checks access, then answers or sets a->defer.  If Redis hangs, replies 503 instead of setting
 * a->defer, except to /metrics: the worker answers it, without the state of the filters. */
void route(worker *w, const request *q, reply *a)
{
    if (access_refuses(w->s, q, a)) return;
    a->defer =
        !w->may_block && how(q) != FAST && !(redis_hangs(w) && text_is(q->path, TEXT("/metrics")));
    if (!a->defer) a->understood = dispatch(w, q, a);
    if (!a->defer) return;
    if (w->s->fs.remote && jobs_hang_for(w->s, q)) {
        reply_reset(w, a);
        reply_status(a, 503, REDIS_HANGS);
    }
    a->understood = true;
}
