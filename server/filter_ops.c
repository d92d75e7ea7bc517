/* filter_ops.c - requests about complete filters: create, delete, unite, read and write their
 * bytes.  Knows the parameters of PUT; filter_admin.c creates and opens filters. */
#include "base/parameters.h"
#include "keys.h"
#include "key_ops.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>

/* ---- parameters of PUT ---- */
/* The parameters of PUT: the rows of parameters.h that are stored with a filter, and counting. */
#define STORED(X) BF_NUMBERS(X) BF_SCHEME(X) BF_STORED(X)
#define NUMBER(kind, name, php, above, below, range, sentence) P_##name,
#define NAME(kind, name, php, above, below, range, sentence) #name ", "
enum { STORED(NUMBER) P_counting };

typedef struct {
    bf_spec spec;
    char scheme[BF_SCHEME_BYTES];
    unsigned seen; /* one bit for each name that was given */
} asked;

/* Each take_KIND stores the value in the spec and returns false if it is out of range.  0 is always
 * out of range, because in bf_spec it means "not given". */
static bool take_SIZE(asked *q, text value, double above, double below, uint64_t *to)
{
    (void)q, (void)above, (void)below;
    return parse_whole(value, false, to) && *to > 0;
}

static bool take_SMALL(asked *q, text value, double above, double below, unsigned *to)
{
    uint64_t v = 0;
    const bool ok = take_SIZE(q, value, above, below, &v) && v <= UINT_MAX;
    *to = (unsigned)v;
    return ok;
}
#define take_COUNT take_SMALL

static bool take_REAL(asked *q, text value, double above, double below, double *to)
{
    (void)q;
    return parse_number(value, to) && *to > above && *to < below;
}

/* Clients write the colon and the commas of php-hashes:JS,FNV as %3A and %2C.  The name is returned
 * in a header, so only printable characters are accepted. */
static bool take_TEXT(asked *q, text value, double above, double below, const char **to)
{
    char room[3 * BF_SCHEME_BYTES];
    bf_key name;
    (void)above, (void)below;
    if (value.len >= sizeof room || !keys_decode_percent(value, room, &name)) return false;
    if (name.len == 0 || name.len >= sizeof q->scheme) return false;
    memcpy(q->scheme, name.ptr, name.len);
    q->scheme[name.len] = 0;
    for (size_t i = 0; i < name.len; i++)
        if (q->scheme[i] <= ' ' || q->scheme[i] > '~') return false;
    *to = q->scheme;
    return true;
}

static bool take_counting(asked *q, text value)
{
    q->spec.counting = text_is(value, TEXT("1"));
    return q->spec.counting || text_is(value, TEXT("0"));
}

/* Ends a parameter: refuses a repeated one, and one whose value take_KIND did not accept (ok). */
static int taken(asked *q, int which, const char *name, bool ok, text value, bf_error *err)
{
    char given[64];
    if (q->seen >> which & 1) return stored_fail(err, BF_EINVAL, "%s must be given once", name);
    q->seen |= 1u << which;
    if (ok) return 0;
    snprintf(given, sizeof given, "%.*s", (int)(value.len < 60 ? value.len : 60), value.ptr);
    if (which == P_counting)
        return stored_fail(err, BF_EINVAL, "counting must be 1 or 0, got %s", given);
    return bf_refuse(err, name, given);
}

static int parameter(asked *q, text one, bf_error *err)
{
    const char *is = memchr(one.ptr, '=', one.len);
    const text name = { one.ptr, is ? (size_t)(is - one.ptr) : one.len };
    const text value = is ? text_after(one, name.len + 1) : name;
#define TAKE(kind, field, php, above, below, range, sentence)                                      \
    if (is && text_is(name, TEXT(#field)))                                                         \
        return taken(q, P_##field, #field, take_##kind(q, value, above, below, &q->spec.field),    \
            value, err);
    STORED(TAKE)
    if (is && text_is(name, TEXT("counting")))
        return taken(q, P_counting, "counting", take_counting(q, value), value, err);
    return stored_fail(err, BF_EINVAL,
        "a parameter is " STORED(NAME) "counting and its value, got %.*s",
        (int)(one.len < 60 ? one.len : 60), one.ptr);
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

/* ---- create, delete, unite ---- */
/* Describes the filter that was created or found, even if another client deletes it meanwhile. */
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
    /* the uploaded filter needs memory besides the body */
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

/* Reserves room for a filter's bytes before they are copied. */
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
