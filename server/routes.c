/* routes.c - which request is answered how.  Knows the paths; everything else is somebody else's:
 * keys.c, filters.c, stats.c.
 *
 *   GET /add=KEY  GET /contain=KEY  POST /add  POST /contain  GET /stats       of the filter "default"
 *   the same behind /f/NAME, and PUT, GET, DELETE /f/NAME, POST /f/NAME/merge
 *   GET /  /f  /metrics  /healthz
 *
 * A worker does what needs no more than memory and is soon done: keys of a filter that is open and
 * still what its name leads to.  All else is left
 * (`later`) to a thread of jobs.c, which takes the same way through here and may wait (`patient`).
 */
#include "server.h"
#include "keys.h"
#include <stdio.h>

enum { TRIES = 8 }; /* how often a filter may be replaced meanwhile */
enum {
    STEPS = 1 << 24,
    SLOW = 8
}; /* positions a worker looks at; those of older schemes cost more */

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

static void fail(worker *w, text name, reply *a, int code, bf_error *err)
{
    fail_as(w, name, a, status_of(code), code, err);
}

static void fail_on(worker *w, const served *f, reply *a, int code, bf_error *err)
{
    fail(w, (text){ f->name, strlen(f->name) }, a, code, err);
}

/* Of what a client asks to be made or united: another filter is its conflict. */
static void conflict(worker *w, text name, reply *a, int code, bf_error *err)
{
    fail_as(w, name, a, code == BF_EMISMATCH ? 409 : status_of(code), code, err);
}

/* ---- a filter to do something with ---- */
typedef struct {
    bf_key key;
    text body;
    int form;
    bool add;
} call;
typedef void action(worker *w, served *f, const call *c, reply *a);

/* Redis is not asked then. */
static bool unanswered(const worker *w) { return w->s->fs.remote && jobs_hang(w->s); }

/* Not by a worker. */
static bool left(const worker *w, reply *a) { return a->later = !w->patient; }

static served *use(worker *w, text name, bool to_add, reply *a)
{
    filters *fs = &w->s->fs;
    bf_error err;
    if (fs->remote && left(w, a)) return NULL;
    served *f = w->patient ? filters_find(fs, name, &err) : filters_known(fs, name, to_add);
    if (!f && !left(w, a)) fail(w, name, a, err.code, &err);
    return f;
}

static void start_again(worker *w, reply *a)
{
    unhold(w, a->held);
    buffer_drop(&a->made);
    *a = (reply){ 0 };
}

static void add_one(worker *w, served *f, const call *c, reply *a);

/* What was added is acknowledged only if it is in the filter that the name leads to afterwards.  A
 * single key is added without a look before that: each is a system call. */
static void with(worker *w, text name, action *what, const call *c, reply *a)
{
    for (int i = 0; i < TRIES; i++) {
        served *f = use(w, name, what == add_one, a);
        if (!f) return;
        what(w, f, c, a);
        if (a->status >= 409 && !w->lacked) filters_doubt(f);
        const bool kept = a->later || !c->add || a->status != 200 || filters_kept(&w->s->fs, f);
        filters_done(f);
        if (kept) return;
        start_again(w, a);
        if (left(w, a)) return;
    }
    reply_status(a, 503, "the filter is replaced too often");
}

/* A filter that grows makes its next part, on disk, in a thread that may wait, and only as far as
 * --max-total allows.  Once keys of this request are in (begun), no other thread takes it over: it
 * would say of them that they were there. */
static bool grown(worker *w, served *f, uint64_t keys, bool begun, claim *c, reply *a)
{
    bf_error err;
    int rc = filters_roomy(f, keys, &err);
    c->bytes = 0;
    if (rc == 0 && !begun && left(w, a)) return false;
    if (rc == 0) rc = filters_grow(&w->s->fs, f, keys, c, &err);
    if (rc < 0) fail_on(w, f, a, rc, &err);
    return rc >= 0;
}

/* ---- keys ---- */
static void add_one(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    claim room;
    if (!grown(w, f, 1, false, &room, a)) return;
    int rc = bf_add(f->f, c->key.ptr, c->key.len, &err);
    if (room.bytes) claim_drop(&w->s->fs, &room);
    if (rc < 0) {
        fail_on(w, f, a, rc, &err);
        return;
    }
    tally(&f->adds, 1);
    if (rc == BF_ADDED) tally(&f->added, 1);
    strcpy(a->more, rc == BF_ADDED ? "X-New: 1\r\n" : "X-New: 0\r\n");
    reply_text(a, TEXT("ok"));
}

static void test_one(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    int rc = bf_test(f->f, c->key.ptr, c->key.len, &err);
    (void)w;
    if (rc < 0) {
        fail_on(w, f, a, rc, &err);
        return;
    }
    tally(rc ? &f->hits : &f->misses, 1);
    reply_text(a, rc ? TEXT("true") : TEXT("false"));
}

static void one_key(worker *w, text name, text raw, bool add, reply *a)
{
    call c = { .add = add };
    if (!keys_decode(raw, w->decoded, &c.key)) {
        reply_status(a, 400, "a % must be followed by two hexadecimal digits");
        return;
    }
    with(w, name, add ? add_one : test_one, &c, a);
}

static int64_t batch_part(
    served *f, bool add, const bf_key *keys, size_t n, char *to, bf_error *err)
{
    uint8_t *each = (uint8_t *)to;
    int64_t rc =
        add ? bf_add_many(f->f, keys, n, each, err) : bf_test_many(f->f, keys, n, each, err);
    if (rc >= 0)
        for (size_t i = 0; i < n; i++) each[i] |= '0';
    return rc;
}

/* A batch into a->made: how many were new or present; -1 with a->later or a status where it ends
 * before. */
static int64_t batch_run(worker *w, served *f, const call *c, bool add, reply *a)
{
    bf_key keys[BF_AT_ONCE_MAX];
    bf_error err;
    const size_t most = bf_at_once(f->f);
    int64_t total = 0;
    a->made.len = 0;
    for (text rest = c->body; rest.len;) {
        claim room;
        size_t n = keys_next(c->form, &rest, keys, most);
        if (!buffer_reserve(&a->made, n)) {
            reply_status(a, 507, "out of memory");
            return -1;
        }
        if (add && !grown(w, f, n, a->made.len > 0, &room, a)) return -1;
        int64_t rc = batch_part(f, add, keys, n, a->made.ptr + a->made.len, &err);
        if (add && room.bytes) claim_drop(&w->s->fs, &room);
        if (rc < 0) {
            fail_on(w, f, a, (int)rc, &err);
            return -1;
        }
        total += rc;
        a->made.len += n;
    }
    return total;
}

/* Room for as many answers as are counted in the end, before a key is added.  Lines are counted
 * only where it is tight. */
static bool answers_fit(worker *w, int form, text body, reply *a)
{
    size_t at, most = body.len + 1;
    if (body.len < LARGE / 2) return true; /* room is doubled: it stays below LARGE */
    if (form == KEYS_FRAMED) most = body.len / 4;
    if (!hold(w, most)) {
        most = (size_t)keys_count(form, body, &at);
        if (!hold(w, most)) {
            reply_status(a, 503, HELD_FULL);
            return false;
        }
    }
    a->held = most;
    if (buffer_reserve(&a->made, most + !most)) return true;
    reply_status(a, 503, "out of memory");
    return false;
}

/* All connections of a worker wait for its batches: those that take longer than some tens of
 * milliseconds are no worker's, nor are those that may need a part that is still to be made. */
static bool is_long(served *f, const call *c)
{
    bf_info i;
    size_t at;
    if (c->add && f->grows &&
        filters_roomy(f, (uint64_t)keys_count(c->form, c->body, &at), NULL) != 1)
        return true;
    bf_get_info(f->f, &i);
    const uint64_t key = (uint64_t)i.k * (i.part_count + !i.part_count) * (f->sure ? 1 : SLOW);
    if (c->body.len < STEPS / key) return false;
    return (uint64_t)keys_count(c->form, c->body, &at) > STEPS / key;
}

static void batch_on(worker *w, served *f, const call *c, reply *a)
{
    int64_t rc = 0;
    if (!w->patient && is_long(f, c)) {
        a->later = true;
        return;
    }
    if (!answers_fit(w, c->form, c->body, a)) return;
    /* A key that this scheme cannot hold must be found before the keys in front of it are added. */
    if (c->add && !f->sure) rc = batch_run(w, f, c, false, a);
    if (rc >= 0) rc = batch_run(w, f, c, c->add, a);
    if (rc < 0) return;
    uint64_t n = a->made.len, yes = (uint64_t)rc;
    tally(c->add ? &f->adds : &f->hits, c->add ? n : yes);
    tally(c->add ? &f->added : &f->misses, c->add ? yes : n - yes);
    reply_made(a, "text/plain");
}

/* "type/subtype; charset=utf-8": some clients always add such a parameter. */
static text media_type(text t)
{
    const char *end = t.len ? memchr(t.ptr, ';', t.len) : NULL;
    if (end) t.len = (size_t)(end - t.ptr);
    while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t')) t.len--;
    return t;
}

static void batch(worker *w, text name, const request *q, bool add, reply *a)
{
    char why[80];
    size_t at;
    int form = text_is_nocase(media_type(q->type), TEXT("application/x-bloomfilter-keys"))
                   ? KEYS_FRAMED
                   : KEYS_LINES;
    if (form == KEYS_FRAMED && keys_count(form, q->body, &at) < 0) {
        snprintf(why, sizeof why, "the key at byte %zu of the body is truncated", at);
        reply_status(a, 400, why);
        return;
    }
    with(w, name, batch_on, &(call){ .body = q->body, .form = form, .add = add }, a);
}

/* ---- whole filters ---- */
static bool parameter(bf_spec *spec, char *scheme, size_t cap, text name, text value)
{
    uint64_t v = 0;
    if (text_is(name, TEXT("p"))) return parse_number(value, &spec->p);
    if (text_is(name, TEXT("scheme"))) {
        if (value.len == 0 || value.len >= cap) return false;
        memcpy(scheme, value.ptr, value.len);
        scheme[value.len] = 0;
        spec->scheme = scheme;
        return true;
    }
    if (name.len != 1 || !memchr("mnk", name.ptr[0], 3)) return false;
    if (!parse_whole(value, false, &v) || v == 0) return false;
    if (name.ptr[0] == 'm')
        spec->m = v;
    else if (name.ptr[0] == 'n')
        spec->n = v;
    else if (v <= BF_K_MAX)
        spec->k = (unsigned)v;
    return name.ptr[0] != 'k' || v <= BF_K_MAX;
}

static bool given(const bf_spec *spec, text name)
{
    if (text_is(name, TEXT("scheme"))) return spec->scheme;
    if (name.len != 1) return false;
    switch (name.ptr[0]) {
    case 'm': return spec->m;
    case 'n': return spec->n;
    case 'k': return spec->k;
    default: return name.ptr[0] == 'p' && spec->p != 0;
    }
}

static bool parameters(bf_spec *spec, char *scheme, size_t cap, text query, char *why, size_t room)
{
    while (query.len) {
        const char *end = memchr(query.ptr, '&', query.len);
        text one = { query.ptr, end ? (size_t)(end - query.ptr) : query.len };
        const char *is = memchr(one.ptr, '=', one.len);
        query = text_after(query, one.len + (end != NULL));
        const text name = { one.ptr, is ? (size_t)(is - one.ptr) : one.len };
        const bool twice = given(spec, name);
        if (is && !twice && parameter(spec, scheme, cap, name, text_after(one, name.len + 1)))
            continue;
        if (twice)
            snprintf(why, room, "%.*s must be given once", (int)name.len, name.ptr);
        else
            snprintf(why, room,
                "a parameter is m, n, k, p or scheme and a value in its range, got %.*s",
                (int)(one.len < 60 ? one.len : 60), one.ptr);
        return false;
    }
    return true;
}

static void describe(worker *w, served *f, const call *c, reply *a)
{
    (void)w;
    (void)c;
    if (!stats_info(f, a))
        reply_status(a, 503, "out of memory");
    else
        reply_made(a, "application/json");
}

static void put(worker *w, text name, text query, reply *a)
{
    bf_spec spec = { 0 };
    bf_error err;
    char scheme[BF_SCHEME_BYTES], why[160];
    if (!parameters(&spec, scheme, sizeof scheme, query, why, sizeof why)) {
        reply_status(a, 400, why);
        return;
    }
    if (left(w, a)) return;
    int rc = filters_put(&w->s->fs, name, &spec, &err);
    if (rc < 0) {
        conflict(w, name, a, rc, &err);
        return;
    }
    with(w, name, describe, &(call){ 0 }, a);
    if (a->status == 200 && rc) a->status = 201;
}

static void drop(worker *w, text name, reply *a)
{
    bf_error err;
    if (left(w, a)) return;
    int rc = filters_drop(&w->s->fs, name, &err);
    if (rc < 0)
        conflict(w, name, a, rc, &err);
    else
        reply_text(a, TEXT("ok"));
}

static void merge(worker *w, text name, const request *q, reply *a)
{
    bf_error err;
    if (left(w, a)) return;
    /* the uploaded filter beside its bytes */
    if (!hold(w, q->body.len)) {
        reply_status(a, 503, HELD_FULL);
        return;
    }
    int rc = filters_merge(&w->s->fs, name, q->body, &err);
    unhold(w, q->body.len);
    if (rc < 0)
        conflict(w, name, a, rc, &err);
    else
        reply_text(a, TEXT("ok"));
}

/* Room for a filter's bytes, before they are copied. */
static bool image_fits(worker *w, uint64_t bytes, reply *a)
{
    char why[100];
    if (hold(w, bytes)) {
        a->held = bytes;
        if (buffer_reserve(&a->made, bytes)) return true;
        snprintf(why, sizeof why, "out of memory for %llu bytes", (unsigned long long)bytes);
    } else {
        snprintf(why, sizeof why, "its %llu bytes are more than --max-buffered allows now",
            (unsigned long long)bytes);
    }
    reply_status(a, 507, why);
    return false;
}

static void image_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    const int64_t bytes = bf_bytes_as(f->f, NULL, &err);
    (void)c;
    if (bytes < 0) {
        fail_on(w, f, a, (int)bytes, &err);
        return;
    }
    if (!image_fits(w, (uint64_t)bytes, a)) return;
    int rc = bf_to_bytes_as(f->f, NULL, a->made.ptr, (size_t)bytes, &err);
    if (rc < 0) {
        fail_on(w, f, a, rc, &err);
        return;
    }
    a->made.len = (size_t)bytes;
    reply_made(a, "application/octet-stream");
}

static void image(worker *w, text name, reply *a)
{
    if (!left(w, a)) with(w, name, image_on, &(call){ 0 }, a);
}

static void stats_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!stats_json(w, f, a) && a->status == 0) reply_status(a, 503, "out of memory");
}

/* The bits may have to be counted. */
static void stats(worker *w, text name, reply *a)
{
    if (!left(w, a)) with(w, name, stats_on, &(call){ 0 }, a);
}

static void page_on(worker *w, served *f, const call *c, reply *a)
{
    (void)c;
    if (!page(w, f, a) && a->status == 0) reply_status(a, 503, "out of memory");
}

static void health_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    int64_t rc = bf_test_many(f->f, &(bf_key){ "", 0 }, 1, NULL, &err);
    (void)w;
    (void)c;
    if (rc < 0 && rc != BF_EINVAL)
        fail_on(w, f, a, (int)rc, &err);
    else
        reply_text(a, TEXT("ok"));
}

/* ---- paths ---- */
/* What a filter can do, whether by name or not.  False: no such thing. */
static bool on_filter(worker *w, text name, text path, const request *q, reply *a)
{
    bool get = q->method == GET, post = q->method == POST;
    if (get && text_starts(path, TEXT("/add=")))
        one_key(w, name, text_after(path, 5), true, a);
    else if (get && text_starts(path, TEXT("/contain=")))
        one_key(w, name, text_after(path, 9), false, a);
    else if (post && text_is(path, TEXT("/add")))
        batch(w, name, q, true, a);
    else if (post && text_is(path, TEXT("/contain")))
        batch(w, name, q, false, a);
    else if (get && text_is(path, TEXT("/stats")))
        stats(w, name, a);
    else
        return false;
    return true;
}

static bool named(worker *w, text path, const request *q, reply *a)
{
    size_t len = 0;
    while (len < path.len && path.ptr[len] != '/' && path.ptr[len] != '?') len++;
    text name = { path.ptr, len }, rest = text_after(path, len);
    if (!filter_name_ok(name)) return false;
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

/* Is there room for a report on all filters, as large as the last one?  Asked before it is written,
 * and not held: it would count itself. */
static bool report_fits(worker *w, reply *a)
{
    const uint64_t last = tallied(&w->s->report);
    if (last < LARGE) return true;
    if (!hold(w, last)) {
        reply_status(a, 503, HELD_FULL);
        return false;
    }
    unhold(w, last);
    return true;
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
    if (text_is(path, TEXT("/"))) {
        if (!left(w, a)) with(w, TEXT(""), page_on, &(call){ 0 }, a);
    } else if (text_is(path, TEXT("/f")))
        ok = report_fits(w, a) && stats_filters(w, a);
    else if (text_is(path, TEXT("/metrics")))
        ok = (!unanswered(w) && left(w, a)) || metrics(w, a);
    else if (text_is(path, TEXT("/healthz")))
        with(w, TEXT(""), health_on, &(call){ 0 }, a);
    else
        return false;
    if (!ok && a->status == 0) reply_status(a, 503, "out of memory");
    return true;
}

static text name_in(text path)
{
    size_t len = 0;
    if (!text_starts(path, TEXT("/f/"))) return TEXT("");
    path = text_after(path, 3);
    while (len < path.len && path.ptr[len] != '/' && path.ptr[len] != '?') len++;
    return (text){ path.ptr, len };
}

/* Those that are about no filter, or must not wait for others of the main one, have a turn of their
 * own: no filter's name. */
text route_turn(const request *q)
{
    const text name = name_in(q->path);
    if (text_is(q->path, TEXT("/metrics"))) return TEXT("?metrics");
    if (text_is(q->path, TEXT("/healthz"))) return TEXT("?healthz");
    return name.len ? name : TEXT(DEFAULT_NAME);
}

bool route_is_whole(const request *q)
{
    const text name = name_in(q->path);
    const text rest = name.len ? text_after(q->path, 3 + name.len) : q->path;
    return q->method == PUT || q->method == DELETE || (name.len && rest.len == 0) ||
           text_is(rest, TEXT("/merge"));
}

static void dispatch(worker *w, const request *q, reply *a)
{
    const text path = q->path;
    a->understood = text_starts(path, TEXT("/f/"))
                        ? named(w, text_after(path, 3), q, a)
                        : on_filter(w, TEXT(""), path, q, a) || of_server(w, path, q, a);
    if (!a->understood) reply_status(a, 400, NULL);
}

void route_patiently(worker *w, const request *q, reply *a) { dispatch(w, q, a); }

/* Who is left to a job while Redis hangs need not wait to hear it. */
void route(worker *w, const request *q, reply *a)
{
    if (access_refuses(w->s, q, a)) return;
    dispatch(w, q, a);
    if (!a->later) return;
    start_again(w, a);
    a->understood = true;
    if (unanswered(w))
        reply_status(a, 503, ROUTE_HANGS);
    else
        a->later = true;
}
