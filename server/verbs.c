/* verbs.c - keys, one in a URL or many in a body: added, tested, removed, counted.  Knows what a
 * filter is asked and how much a worker may do at once; paths are routes.c's business. */
#include "verbs.h"
#include "keys.h"
#include <stdio.h>

enum {
    STEPS = 1 << 24,
    SLOW = 8
}; /* positions a worker looks at; those of older schemes cost more */

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

/* ---- one key ---- */
static bool is_of_counters(verb v) { return v == VERB_REMOVE || v == VERB_COUNT; }

/* What a filter of bits cannot do is a conflict with what it is. */
static void cannot(worker *w, const served *f, verb v, reply *a, int code, bf_error *err)
{
    if (code == BF_ENOTSUP && is_of_counters(v) && !f->counts)
        conflict(w, (text){ f->name, strlen(f->name) }, a, BF_EMISMATCH, err);
    else
        fail_on(w, f, a, code, err);
}

static int ask(served *f, const call *c, bf_error *err)
{
    const void *key = c->key.ptr;
    switch (c->verb) {
    case VERB_ADD: return bf_add(f->f, key, c->key.len, err);
    case VERB_REMOVE: return bf_remove(f->f, key, c->key.len, err);
    case VERB_COUNT: return bf_count_of(f->f, key, c->key.len, err);
    default: return bf_test(f->f, key, c->key.len, err);
    }
}

/* n keys, of which yes were new, present or removed. */
static void tally_all(served *f, verb v, uint64_t n, uint64_t yes)
{
    if (v == VERB_REMOVE) {
        tally(&f->removed, yes);
        return;
    }
    tally(v == VERB_ADD ? &f->adds : &f->hits, v == VERB_ADD ? n : yes);
    tally(v == VERB_ADD ? &f->added : &f->misses, v == VERB_ADD ? yes : n - yes);
    if (v == VERB_ADD) filters_watch(f, yes);
}

static void tell(reply *a, verb v, int answer)
{
    if (v == VERB_COUNT) {
        if (!buffer_print(&a->made, "%d", answer))
            reply_status(a, 503, "out of memory");
        else
            reply_made(a, "text/plain");
        return;
    }
    if (v == VERB_ADD) strcpy(a->more, answer == BF_ADDED ? "X-New: 1\r\n" : "X-New: 0\r\n");
    if (v == VERB_REMOVE) strcpy(a->more, answer ? "X-Removed: 1\r\n" : "X-Removed: 0\r\n");
    if (v == VERB_TEST)
        reply_text(a, answer ? TEXT("true") : TEXT("false"));
    else
        reply_text(a, TEXT("ok"));
}

static void key_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    claim room = { 0 };
    if (c->verb == VERB_ADD && !grown(w, f, 1, false, &room, a)) return;
    int rc = ask(f, c, &err);
    if (room.bytes) claim_drop(&w->s->fs, &room);
    if (rc < 0) {
        cannot(w, f, c->verb, a, rc, &err);
        return;
    }
    tally_all(f, c->verb, 1, rc > 0);
    tell(a, c->verb, rc);
}

void one_key(worker *w, text name, text raw, verb v, reply *a)
{
    call c = { .verb = v, .one = true };
    if (!keys_decode(raw, w->decoded, &c.key)) {
        reply_status(a, 400, "a % must be followed by two hexadecimal digits");
        return;
    }
    with(w, name, key_on, &c, a);
}

/* ---- many keys ---- */
static int64_t batch_part(served *f, verb v, const bf_key *keys, size_t n, char *to, bf_error *err)
{
    uint8_t *each = (uint8_t *)to;
    int64_t rc = v == VERB_ADD      ? bf_add_many(f->f, keys, n, each, err)
                 : v == VERB_REMOVE ? bf_remove_many(f->f, keys, n, each, err)
                 : v == VERB_COUNT  ? bf_count_many(f->f, keys, n, each, err)
                                    : bf_test_many(f->f, keys, n, each, err);
    if (rc >= 0 && v != VERB_COUNT)
        for (size_t i = 0; i < n; i++) each[i] |= '0';
    return rc;
}

/* A batch into a->made: how many were new, present or removed; -1 with a->later or a status where
 * it ends before. */
static int64_t batch_run(worker *w, served *f, const call *c, verb v, reply *a)
{
    bf_key keys[BF_BATCH_SIZE_MAX];
    bf_error err;
    const size_t most = bf_batch_size(f->f);
    int64_t total = 0;
    a->made.len = 0;
    for (text rest = c->body; rest.len;) {
        claim room = { 0 };
        size_t n = keys_next(c->form, &rest, keys, most);
        if (!buffer_reserve(&a->made, n)) {
            reply_status(a, 507, "out of memory");
            return -1;
        }
        if (v == VERB_ADD && !grown(w, f, n, a->made.len > 0, &room, a)) return -1;
        int64_t rc = batch_part(f, v, keys, n, a->made.ptr + a->made.len, &err);
        if (room.bytes) claim_drop(&w->s->fs, &room);
        if (rc < 0) {
            cannot(w, f, c->verb, a, (int)rc, &err);
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
    if (c->verb == VERB_ADD && f->grows &&
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
    bf_error err;
    if (is_of_counters(c->verb) &&
        (rc = batch_part(f, c->verb, NULL, 0, NULL, &err)) < 0) { /* before room is asked for */
        cannot(w, f, c->verb, a, (int)rc, &err);
        return;
    }
    if (!answers_fit(w, c->form, c->body, a)) return;
    /* A key that this scheme cannot hold must be found before the keys in front of it are in. */
    if (changes(c) && !f->sure) rc = batch_run(w, f, c, VERB_TEST, a);
    if (rc >= 0) rc = batch_run(w, f, c, c->verb, a);
    if (rc < 0) return;
    tally_all(f, c->verb, a->made.len, (uint64_t)rc);
    reply_made(a, c->verb == VERB_COUNT ? "application/octet-stream" : "text/plain");
}

/* "type/subtype; charset=utf-8": some clients always add such a parameter. */
static text media_type(text t)
{
    const char *end = t.len ? memchr(t.ptr, ';', t.len) : NULL;
    if (end) t.len = (size_t)(end - t.ptr);
    while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t')) t.len--;
    return t;
}

void batch(worker *w, text name, const request *q, verb v, reply *a)
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
    with(w, name, batch_on, &(call){ .body = q->body, .form = form, .verb = v }, a);
}
