/* wholes.c - whole filters: made, deleted, united, and their bytes.  Knows the parameters that PUT
 * takes; making and opening is changes.c's business. */
#include "keys.h"
#include "verbs.h"
#include <stdio.h>

/* ---- parameters of PUT ---- */
typedef struct {
    bf_spec spec;
    char scheme[BF_SCHEME_BYTES];
    unsigned seen; /* a bit for each of the names below */
} asked;
enum { P_M, P_N, P_K, P_P, P_SCHEME, P_GROW, P_WINDOW, P_PARTS, P_COUNTING, P_NAMES };
static const text names[P_NAMES] = { [P_M] = TEXT("m"),
    [P_N] = TEXT("n"),
    [P_K] = TEXT("k"),
    [P_P] = TEXT("p"),
    [P_SCHEME] = TEXT("scheme"),
    [P_GROW] = TEXT("grow"),
    [P_WINDOW] = TEXT("window"),
    [P_PARTS] = TEXT("parts"),
    [P_COUNTING] = TEXT("counting") };

static bool take_whole(text value, uint64_t most, uint64_t *to)
{
    return parse_whole(value, false, to) && *to > 0 && *to <= most;
}

/* Clients write the colon and the commas of php-hashes:JS,FNV as %3A and %2C.  Its name comes back
 * in a header: nothing but what can be seen. */
static bool take_scheme(asked *q, text value)
{
    char room[3 * BF_SCHEME_BYTES];
    bf_key name;
    if (value.len >= sizeof room || !keys_decode_percent(value, room, &name)) return false;
    if (name.len == 0 || name.len >= sizeof q->scheme) return false;
    memcpy(q->scheme, name.ptr, name.len);
    q->scheme[name.len] = 0;
    for (size_t i = 0; i < name.len; i++)
        if (q->scheme[i] <= ' ' || q->scheme[i] > '~') return false;
    q->spec.scheme = q->scheme;
    return true;
}

/* 0 is no value of any: it would be taken for "not given". */
static bool take(asked *q, int which, text value)
{
    bf_spec *s = &q->spec;
    uint64_t v = 0;
    bool ok;
    switch (which) {
    case P_M: return take_whole(value, BF_M_MAX, &s->m);
    case P_N: return take_whole(value, BF_N_MAX, &s->n);
    case P_P: return parse_number(value, &s->p) && s->p > 0 && s->p < 1;
    case P_GROW: return parse_number(value, &s->grow) && s->grow > 1;
    case P_WINDOW: return parse_number(value, &s->window) && s->window > 0;
    case P_SCHEME: return take_scheme(q, value);
    case P_COUNTING:
        s->counting = text_is(value, TEXT("1"));
        return s->counting || text_is(value, TEXT("0"));
    case P_K:
        ok = take_whole(value, BF_K_MAX, &v);
        s->k = (unsigned)v;
        return ok;
    default:
        ok = take_whole(value, 255, &v);
        s->parts = (unsigned)v;
        return ok;
    }
}

/* The library's own words where it has some. */
static int refuse_value(bf_error *err, int which, text value)
{
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)(value.len < 60 ? value.len : 60), value.ptr);
    if (which == P_COUNTING)
        return stored_fail(err, BF_EINVAL, "counting must be 1 or 0, got %s", given);
    if (which == P_PARTS)
        return stored_fail(err, BF_EINVAL, "parts must be 1 to 255, got %s", given);
    return bf_refuse(err, names[which].ptr, given);
}

static int parameter(asked *q, text one, bf_error *err)
{
    const char *is = memchr(one.ptr, '=', one.len);
    const text name = { one.ptr, is ? (size_t)(is - one.ptr) : one.len };
    int which = 0;
    while (which < P_NAMES && !text_is(names[which], name)) which++;
    if (which == P_NAMES || !is)
        return stored_fail(err, BF_EINVAL,
            "a parameter is m, n, k, p, scheme, grow, window, parts or counting and its value, "
            "got %.*s",
            (int)(one.len < 60 ? one.len : 60), one.ptr);
    if (q->seen >> which & 1)
        return stored_fail(err, BF_EINVAL, "%s must be given once", names[which].ptr);
    q->seen |= 1u << which;
    const text value = text_after(one, name.len + 1);
    return take(q, which, value) ? 0 : refuse_value(err, which, value);
}

static int parameters(asked *q, text query, bf_error *err)
{
    int rc = 0;
    while (rc == 0 && query.len) {
        const char *end = memchr(query.ptr, '&', query.len);
        const text one = { query.ptr, end ? (size_t)(end - query.ptr) : query.len };
        query = text_after(query, one.len + (end != NULL));
        rc = parameter(q, one, err);
    }
    return rc;
}

/* ---- making, deleting, uniting ---- */
/* What was made or is there is told, whatever others do to that name meanwhile. */
void put(worker *w, text name, text query, reply *a)
{
    asked q = { 0 };
    bf_error err;
    served *f;
    if (parameters(&q, query, &err) < 0) {
        reply_status(a, 400, err.msg);
        return;
    }
    int rc = filters_put(&w->s->fs, name, &q.spec, &f, &err);
    if (rc < 0) {
        conflict(w, name, a, rc, &err);
        return;
    }
    if (stats_info(f, a))
        reply_made(a, "application/json");
    else
        reply_status(a, 503, "out of memory");
    filters_done(f);
    if (a->status == 200 && rc) a->status = 201;
}

void drop(worker *w, text name, reply *a)
{
    bf_error err;
    int rc = filters_drop(&w->s->fs, name, &err);
    if (rc < 0)
        conflict(w, name, a, rc, &err);
    else
        reply_text(a, TEXT("ok"));
}

void merge(worker *w, text name, const request *q, reply *a)
{
    bf_error err;
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

void image(worker *w, text name, reply *a) { with(w, name, image_on, &(call){ 0 }, a); }
