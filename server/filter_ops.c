/* filter_ops.c - requests about complete filters: create, delete, clear, unite, send and receive
 * images.  Parses the parameters in URLs; filter_admin.c changes the filters. */
#include "base/parameters.h"
#include "keys.h"
#include "key_ops.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>

/* ---- parameters of PUT ---- */
/* The parameters of PUT: the rows of parameters.h that are stored with a filter or belong to its
 * handle, and FLAGS, whose values are 1 or 0. */
#define VALUES(X) BF_NUMBERS(X) BF_SCHEME(X) BF_STORED(X) BF_HANDLE(X)
#define FLAGS(X) X(counting) X(adopt)
#define NUMBER(kind, name, php, above, below, range, sentence) P_##name,
#define NUMBER_OF_FLAG(name) P_##name,
#define NAME(kind, name, php, above, below, range, sentence) #name ", "
enum { VALUES(NUMBER) FLAGS(NUMBER_OF_FLAG) PARAMETERS };

/* Spellings that clients send may be longer than BF_SCHEME_BYTES: php-hashes:BKDRHash,... */
enum { SCHEME_ROOM = 128 };

typedef struct {
    bf_spec spec;
    char scheme[SCHEME_ROOM];
    unsigned seen; /* bit i: parameter i was given */
} url_parameters;

/* take_KIND stores a value in the spec.  Returns false if the value is out of range.  0 is out of
 * range for all numbers, because 0 means "not given" in bf_spec. */
static bool take_SIZE(url_parameters *q, text value, double above, double below, uint64_t *to)
{
    (void)q, (void)above, (void)below;
    return parse_whole(value, 1000, to) && *to > 0;
}

static bool take_SMALL(url_parameters *q, text value, double above, double below, unsigned *to)
{
    uint64_t v = 0;
    const bool ok = take_SIZE(q, value, above, below, &v) && v <= UINT_MAX;
    *to = (unsigned)v;
    return ok;
}
#define take_COUNT take_SMALL

static bool take_REAL(url_parameters *q, text value, double above, double below, double *to)
{
    char room[64];
    bf_key plain; /* clients send 1% as 1%25, or as it is */
    (void)q;
    if (value.len < sizeof room && keys_decode_percent(value, room, &plain))
        value = (text){ plain.ptr, plain.len };
    return parse_number(value, to) && *to > above && *to < below;
}
#define take_SPAN take_REAL

/* Decodes %3A and %2C, which clients send for the colon and the commas of php-hashes:JS,FNV.
 * Accepts only printable characters, because a header of the reply quotes the name. */
static bool take_TEXT(url_parameters *q, text value, double above, double below, const char **to)
{
    char room[3 * SCHEME_ROOM];
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

static bool take_CHOICE(url_parameters *q, text value, double above, double below, unsigned *to)
{
    char word[16];
    (void)q, (void)above, (void)below;
    snprintf(word, sizeof word, "%.*s", (int)(value.len < 15 ? value.len : 15), value.ptr);
    return bf_read_overfull(word, to, NULL) == 0;
}

static bool take_flag(text value, bool *to)
{
    *to = text_is(value, TEXT("1"));
    return *to || text_is(value, TEXT("0"));
}

/* Marks the parameter as seen.  Refuses it if it was seen before, or if its value is invalid (!ok).
 */
static int check_parameter(
    url_parameters *q, int which, const char *name, bool ok, text value, bf_error *err)
{
    char given[64];
    if (q->seen >> which & 1) return stored_fail(err, BF_EINVAL, "%s must be given once", name);
    q->seen |= 1u << which;
    if (ok) return 0;
    snprintf(given, sizeof given, "%.*s", (int)(value.len < 60 ? value.len : 60), value.ptr);
    if (which >= P_counting)
        return stored_fail(err, BF_EINVAL, "%s must be 1 or 0, got %s", name, given);
    return bf_refuse(err, name, given);
}

static int parameter(url_parameters *q, text one, bf_error *err)
{
    const char *is = memchr(one.ptr, '=', one.len);
    const text name = { one.ptr, is ? (size_t)(is - one.ptr) : one.len };
    const text value = is ? text_after(one, name.len + 1) : name;
#define TAKE(kind, field, php, above, below, range, sentence)                                      \
    if (is && text_is(name, TEXT(#field)))                                                         \
        return check_parameter(q, P_##field, #field,                                               \
            take_##kind(q, value, above, below, &q->spec.field), value, err);
#define TAKE_FLAG(field)                                                                           \
    if (is && text_is(name, TEXT(#field)))                                                         \
        return check_parameter(q, P_##field, #field, take_flag(value, &q->spec.field), value, err);
    VALUES(TAKE)
    FLAGS(TAKE_FLAG)
    return stored_fail(err, BF_EINVAL,
        "a parameter is " VALUES(NAME) "counting and its value, or adopt=1, got %.*s",
        (int)(one.len < 60 ? one.len : 60), one.ptr);
}

static int parameters(url_parameters *q, text query, bf_error *err)
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

/* ---- create, delete, clear, unite ---- */
/* An operation that this kind of filter does not support gets 409. */
static void reply_done(worker *w, text name, reply *a, int rc, bf_error *err)
{
    if (rc < 0)
        reply_conflict(w, name, a, rc == BF_ENOTSUP ? FILTER_STAYS : rc, err);
    else
        reply_text(a, TEXT("ok"));
}

/* Replies with the parameters of the filter that was created (rc 1, status 201) or found (rc 0). */
static void reply_created(worker *w, text name, served *f, reply *a, int rc, bf_error *err)
{
    if (rc < 0) {
        reply_conflict(w, name, a, rc, err);
        return;
    }
    if (stats_info(f, a))
        reply_made(a, "application/json");
    else
        reply_status(a, 503, NULL);
    filters_release(f);
    if (a->status == 200 && rc) a->status = 201;
}

void filter_put(worker *w, text name, text query, const request *r, reply *a)
{
    url_parameters q = { 0 };
    bf_error err;
    served *f = NULL;
    (void)r;
    if (parameters(&q, query, &err) < 0) {
        reply_status(a, 400, err.msg);
        return;
    }
    const int rc = filters_put(&w->s->fs, name, &q.spec, &f, &err);
    reply_created(w, name, f, a, rc, &err);
}

/* Reserves memory for the filter that is read from the body.  Returns false after setting the
 * status 503. */
static bool reserve_upload(worker *w, const request *q, reply *a)
{
    if (budget_reserve(w, q->body.len)) return true;
    reply_status(a, 503, BUDGET_FULL);
    return false;
}

void filter_upload(worker *w, text name, text query, const request *q, reply *a)
{
    bf_error err;
    served *f = NULL;
    (void)query;
    if (!reserve_upload(w, q, a)) return;
    const int rc = filters_upload(&w->s->fs, name, q->body, &f, &err);
    budget_release(w, q->body.len);
    reply_created(w, name, f, a, rc < 0 ? rc : 1, &err);
}

void filter_merge(worker *w, text name, text query, const request *q, reply *a)
{
    bf_error err;
    (void)query;
    if (!reserve_upload(w, q, a)) return;
    const int rc = filters_merge(&w->s->fs, name, q->body, &err);
    budget_release(w, q->body.len);
    reply_done(w, name, a, rc, &err);
}

void filter_delete(worker *w, text name, text query, const request *q, reply *a)
{
    bf_error err;
    (void)query, (void)q;
    const int rc = filters_drop(&w->s->fs, name, &err);
    reply_done(w, name, a, rc, &err);
}

void filter_clear(worker *w, text name, text query, const request *q, reply *a)
{
    bf_error err;
    (void)query, (void)q;
    const int rc = filters_clear(&w->s->fs, name, &err);
    reply_done(w, name, a, rc, &err);
}

static void expire_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    const int rc = bf_expire(f->f, c->seconds, &err);
    reply_done(w, name_of(f), a, rc, &err);
}

/* Reads ?seconds=S, 0: never.  The core checks the upper limit. */
void filter_expire(worker *w, text name, text query, const request *q, reply *a)
{
    call c = { .verb = VERB_TEST };
    char why[100];
    const text value = text_starts(query, TEXT("seconds=")) ? text_after(query, 8) : TEXT("");
    (void)q;
    if (parse_number(value, &c.seconds) && c.seconds >= 0) {
        with_filter(w, name, expire_on, &c, a);
        return;
    }
    snprintf(why, sizeof why, "expire takes seconds=S, 0 (never) or more, got %.*s",
        (int)(query.len < 40 ? query.len : 40), query.ptr);
    reply_status(a, 400, why);
}

/* ---- bytes ---- */
bool image_fits(worker *w, uint64_t bytes, reply *a)
{
    char why[100];
    if (budget_reserve(w, bytes)) {
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

void filter_image_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    const int64_t bytes = bf_bytes_as(f->f, c->format, &err);
    if (bytes < 0) {
        reply_filter_error(w, f, a, (int)bytes, &err);
        return;
    }
    if (!image_fits(w, (uint64_t)bytes, a)) return;
    int rc = bf_to_bytes_as(f->f, c->format, a->made.ptr, (size_t)bytes, &err);
    if (rc < 0) {
        reply_filter_error(w, f, a, rc, &err);
        return;
    }
    a->made.len = (size_t)bytes;
    reply_made(a, "application/octet-stream");
}

void filter_image(worker *w, text name, text query, const request *q, reply *a)
{
    (void)query, (void)q;
    with_filter(w, name, filter_image_on, &(call){ 0 }, a);
}
