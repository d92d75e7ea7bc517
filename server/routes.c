/* routes.c - which request is answered how.  Knows the paths; everything else is somebody else's: keys.c, filters.c, stats.c.
 *
 *   GET /add=KEY  GET /contain=KEY  POST /add  POST /contain  GET /stats       of the filter "default"
 *   the same behind /f/NAME, and PUT, GET, DELETE /f/NAME, POST /f/NAME/merge
 *   GET /  /f  /metrics  /healthz */
#include "server.h"
#include "keys.h"
#include <stdio.h>

enum { BATCH = 1024 };

/* ---- errors of the core ---- */
static int status_of(int code)
{
    switch (code) {
        case FILTER_GONE: return 404;
        case BF_EMISMATCH: case FILTER_STAYS: return 409;
        case BF_ENOMEM: case FILTER_MANY: case FILTER_LARGE: return 507;
        case BF_EIO: return 503;
        case BF_EINVAL: case BF_EFORMAT: case BF_ENOTSUP: return 400;
        default: return 500;
    }
}

static void fail(reply *a, int code, const bf_error *err)
{
    reply_status(a, status_of(code), code == FILTER_GONE ? NULL : err->msg);
}

/* ---- the token ---- */
/* Takes the same time for any wrong token of one length. */
static bool equal(text given, text token)
{
    size_t differ = given.len ^ token.len;
    for (size_t i = 0; i < given.len; i++) differ |= (unsigned char)given.ptr[i] ^ (unsigned char)token.ptr[i % token.len];
    return differ == 0;
}

static int base64(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The password of "user:password", in base64. */
static text password(text in, char *to, size_t cap)
{
    size_t n = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < in.len && base64(in.ptr[i]) >= 0 && n < cap; i++) {
        bits = bits << 6 | (uint32_t)base64(in.ptr[i]);
        if (i % 4) to[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    const char *colon = memchr(to, ':', n);
    return colon ? (text){ colon + 1, (size_t)(to + n - colon - 1) } : (text){ to, 0 };
}

/* A browser cannot send a bearer token by itself: what only shows takes the token as a password, too. */
static bool is_for_browsers(text target) { return text_is(target, TEXT("/")) || text_is(target, TEXT("/stats")); }

bool route_allowed(const server *s, const request *q)
{
    char room[2048];
    text given = q->authorization;
    if (!s->o.token || text_is(q->target, TEXT("/healthz"))) return true;
    text token = { s->o.token, strlen(s->o.token) };
    text scheme = { given.ptr, given.len < 7 ? given.len : 7 };
    if (text_is_nocase(scheme, TEXT("bearer "))) return equal(text_after(given, 7), token);
    scheme.len = given.len < 6 ? given.len : 6;
    if (!text_is_nocase(scheme, TEXT("basic ")) || !is_for_browsers(q->target)) return false;
    return equal(password(text_after(given, 6), room, sizeof room), token);
}

static void refuse_stranger(const request *q, reply *a)
{
    strcpy(a->more, text_is(q->target, TEXT("/")) ? "WWW-Authenticate: Basic realm=\"bloomfilterd\"\r\n" : "WWW-Authenticate: Bearer\r\n");
    reply_status(a, 401, NULL);
}

/* ---- keys ---- */
static void add_one(served *f, bf_key key, reply *a)
{
    bf_error err;
    int rc = bf_add(f->f, key.ptr, key.len, &err);
    if (rc < 0) { fail(a, rc, &err); return; }
    tally(&f->adds, 1);
    if (rc == BF_ADDED) tally(&f->added, 1);
    strcpy(a->more, rc == BF_ADDED ? "X-New: 1\r\n" : "X-New: 0\r\n");
    reply_text(a, TEXT("ok"));
}

static void test_one(served *f, bf_key key, reply *a)
{
    bf_error err;
    int rc = bf_test(f->f, key.ptr, key.len, &err);
    if (rc < 0) { fail(a, rc, &err); return; }
    tally(rc ? &f->hits : &f->misses, 1);
    reply_text(a, rc ? TEXT("true") : TEXT("false"));
}

static void one_key(worker *w, text name, text raw, bool add, reply *a)
{
    bf_key key;
    if (!keys_decode(raw, w->decoded, &key)) { reply_status(a, 400, "a % must be followed by two hexadecimal digits"); return; }
    served *f = filters_use(&w->s->fs, name);
    if (!f) { reply_status(a, 404, NULL); return; }
    if (add) add_one(f, key, a); else test_one(f, key, a);
    filters_done(&w->s->fs);
}

static int64_t batch_part(served *f, bool add, const bf_key *keys, size_t n, char *to, bf_error *err)
{
    uint8_t *each = (uint8_t *)to;
    int64_t rc = add ? bf_add_many(f->f, keys, n, each, err) : bf_test_many(f->f, keys, n, each, err);
    if (rc >= 0) for (size_t i = 0; i < n; i++) each[i] |= '0';
    return rc;
}

/* A batch into a->made: how many were new or present. */
static int64_t batch_run(served *f, bool add, int form, text rest, reply *a, bf_error *err)
{
    bf_key keys[BATCH];
    int64_t total = 0;
    a->made.len = 0;
    while (rest.len) {
        size_t n = keys_next(form, &rest, keys, BATCH);
        if (!buffer_reserve(&a->made, n)) { strcpy(err->msg, "out of memory"); return BF_ENOMEM; }
        int64_t rc = batch_part(f, add, keys, n, a->made.ptr + a->made.len, err);
        if (rc < 0) return rc;
        total += rc;
        a->made.len += n;
    }
    return total;
}

static void batch_on(served *f, bool add, int form, text body, reply *a)
{
    bf_error err;
    int64_t rc = 0;
    /* A key that this scheme cannot hold must be found before the keys in front of it are added. */
    if (add && !f->sure) rc = batch_run(f, false, form, body, a, &err);
    if (rc >= 0) rc = batch_run(f, add, form, body, a, &err);
    if (rc < 0) { fail(a, (int)rc, &err); return; }
    uint64_t n = a->made.len, yes = (uint64_t)rc;
    tally(add ? &f->adds : &f->hits, add ? n : yes);
    tally(add ? &f->added : &f->misses, add ? yes : n - yes);
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
    int form = text_is_nocase(media_type(q->type), TEXT("application/x-bloomfilter-keys")) ? KEYS_FRAMED : KEYS_LINES;
    if (form == KEYS_FRAMED && keys_count(form, q->body, &at) < 0) {
        snprintf(why, sizeof why, "the key at byte %zu of the body is cut short", at);
        reply_status(a, 400, why);
        return;
    }
    served *f = filters_use(&w->s->fs, name);
    if (!f) { reply_status(a, 404, NULL); return; }
    batch_on(f, add, form, q->body, a);
    filters_done(&w->s->fs);
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
    if (name.len != 1 || !strchr("mnk", name.ptr[0]) || !parse_whole(value, false, &v) || v == 0) return false;
    if (name.ptr[0] == 'm') spec->m = v;
    else if (name.ptr[0] == 'n') spec->n = v;
    else if (v <= BF_K_MAX) spec->k = (unsigned)v;
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
        if (is && !twice && parameter(spec, scheme, cap, name, text_after(one, name.len + 1))) continue;
        if (twice) snprintf(why, room, "%.*s must be given once", (int)name.len, name.ptr);
        else snprintf(why, room, "a parameter is m, n, k, p or scheme and a value in its range, got %.*s", (int)(one.len < 60 ? one.len : 60), one.ptr);
        return false;
    }
    return true;
}

static void put(worker *w, text name, text query, reply *a)
{
    bf_spec spec = { 0 };
    bf_error err;
    char scheme[BF_SCHEME_BYTES], why[160];
    if (!parameters(&spec, scheme, sizeof scheme, query, why, sizeof why)) { reply_status(a, 400, why); return; }
    int rc = filters_put(&w->s->fs, name, &spec, &err);
    if (rc < 0) { fail(a, rc, &err); return; }
    served *f = filters_use(&w->s->fs, name);
    if (!f) { reply_status(a, 404, NULL); return; }
    if (!stats_info(f, a)) reply_status(a, 503, "out of memory");
    else { reply_made(a, "application/json"); a->status = rc ? 201 : 200; }
    filters_done(&w->s->fs);
}

static void drop(worker *w, text name, reply *a)
{
    bf_error err;
    int rc = filters_drop(&w->s->fs, name, &err);
    if (rc < 0) fail(a, rc, &err); else reply_text(a, TEXT("ok"));
}

static void merge(worker *w, text name, const request *q, reply *a)
{
    bf_error err;
    int rc = filters_merge(&w->s->fs, name, q->body, &err);
    if (rc < 0) fail(a, rc, &err); else reply_text(a, TEXT("ok"));
}

static void image(worker *w, text name, reply *a)
{
    bf_error err;
    uint64_t held = __atomic_load_n(&w->s->buffered, __ATOMIC_RELAXED), most = w->s->o.max_buffered;
    int rc = filters_image(&w->s->fs, name, &a->made, held < most ? most - held : 0, &err);
    if (rc < 0) { fail(a, rc, &err); return; }
    reply_made(a, "application/octet-stream");
}

static void stats(worker *w, text name, reply *a)
{
    served *f = filters_use(&w->s->fs, name);
    if (!f) { reply_status(a, 404, NULL); return; }
    if (!stats_json(w, f, a) && a->status == 0) reply_status(a, 503, "out of memory");
    filters_done(&w->s->fs);
}

static void health(worker *w, reply *a)
{
    bf_error err;
    served *f = filters_use(&w->s->fs, TEXT(""));
    int64_t rc = bf_test_many(f->f, &(bf_key){ "", 0 }, 1, NULL, &err);
    if (rc < 0 && rc != BF_EINVAL) fail(a, (int)rc, &err); else reply_text(a, TEXT("ok"));
    filters_done(&w->s->fs);
}

/* ---- paths ---- */
/* What a filter can do, whether by name or not.  False: no such thing. */
static bool on_filter(worker *w, text name, text path, const request *q, reply *a)
{
    bool get = q->method == GET, post = q->method == POST;
    if (get && text_starts(path, TEXT("/add="))) one_key(w, name, text_after(path, 5), true, a);
    else if (get && text_starts(path, TEXT("/contain="))) one_key(w, name, text_after(path, 9), false, a);
    else if (post && text_is(path, TEXT("/add"))) batch(w, name, q, true, a);
    else if (post && text_is(path, TEXT("/contain"))) batch(w, name, q, false, a);
    else if (get && text_is(path, TEXT("/stats"))) stats(w, name, a);
    else return false;
    return true;
}

static bool named(worker *w, text path, const request *q, reply *a)
{
    size_t len = 0;
    while (len < path.len && path.ptr[len] != '/' && path.ptr[len] != '?') len++;
    text name = { path.ptr, len }, rest = text_after(path, len);
    if (!filter_name_ok(name)) return false;
    if (q->method == PUT && (rest.len == 0 || rest.ptr[0] == '?')) put(w, name, text_after(rest, rest.len > 0), a);
    else if (q->method == GET && rest.len == 0) image(w, name, a);
    else if (q->method == DELETE && rest.len == 0) drop(w, name, a);
    else if (q->method == POST && text_is(rest, TEXT("/merge"))) merge(w, name, q, a);
    else return on_filter(w, name, rest, q, a);
    return true;
}

static bool of_server(worker *w, text path, const request *q, reply *a)
{
    bool ok = true;
    if (q->method != GET) return false;
    if (text_is(path, TEXT("/"))) ok = page(w, a);
    else if (text_is(path, TEXT("/f"))) ok = stats_filters(w, a);
    else if (text_is(path, TEXT("/metrics"))) ok = stats_metrics(w, a);
    else if (text_is(path, TEXT("/healthz"))) health(w, a);
    else return false;
    if (!ok && a->status == 0) reply_status(a, 503, "out of memory");
    return true;
}

/* GET http://host/path: what proxies send. */
static text path_of(text target)
{
    if (!text_starts(target, TEXT("http://"))) return target;
    target = text_after(target, 7);
    while (target.len && target.ptr[0] != '/') target = text_after(target, 1);
    return target;
}

void route(worker *w, const request *q, reply *a)
{
    text path = path_of(q->target);
    if (!route_allowed(w->s, q)) { refuse_stranger(q, a); return; }
    bool known = text_starts(path, TEXT("/f/")) ? named(w, text_after(path, 3), q, a)
               : on_filter(w, TEXT(""), path, q, a) || of_server(w, path, q, a);
    if (!known) reply_status(a, 400, NULL);
}
