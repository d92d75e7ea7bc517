/* key_ops.c - adds, tests, removes and counts keys: one key in a URL or many in a body. */
#include "key_ops.h"
#include "keys.h"
#include <stdio.h>

/* STEPS: most positions that a worker computes in one batch.  A position of an older system's
 * scheme counts as OLDER positions. */
enum { STEPS = 1 << 24, OLDER = 8 };

/* ---- one key ---- */
static bool is_of_counters(verb v) { return v == VERB_REMOVE || v == VERB_COUNT; }

static bool is_deferred(const worker *w, int code) { return code == BF_EBUSY && !w->may_block; }

/* Replies with an error of the core.  In a worker, BF_EBUSY defers the request to a job.  Removing
 * and counting without counters get 409. */
static void reply_key_error(worker *w, const served *f, verb v, reply *a, int code, bf_error *err)
{
    if (is_deferred(w, code))
        a->defer = true;
    else if (code == BF_ENOTSUP && is_of_counters(v) && !f->counts)
        reply_conflict(w, name_of(f), a, BF_EMISMATCH, err);
    else
        reply_filter_error(w, f, a, code, err);
}

/* Calls the core once.  Only a job may let a filter grow, after reserving bytes of --max-total. */
static int64_t change_or_test(
    worker *w, served *f, verb v, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    claim room = { 0 };
    int64_t rc = v == VERB_ADD && w->may_block ? filters_grow(&w->s->fs, f, n, &room, err) : 0;
    if (rc < 0) return rc;
    rc = v == VERB_ADD      ? bf_add_many(f->f, keys, n, each, err)
         : v == VERB_REMOVE ? bf_remove_many(f->f, keys, n, each, err)
         : v == VERB_COUNT  ? bf_count_many(f->f, keys, n, each, err)
                            : bf_test_many(f->f, keys, n, each, err);
    if (room.bytes) claim_drop(&w->s->fs, &room);
    return rc;
}

/* Updates the statistics of the filter for n keys, of which `yes` were new, present or removed. */
static void count_keys(served *f, verb v, uint64_t n, uint64_t yes)
{
    if (v == VERB_REMOVE) {
        counter_add(&f->removed, yes);
        return;
    }
    counter_add(v == VERB_ADD ? &f->adds : &f->hits, v == VERB_ADD ? n : yes);
    counter_add(v == VERB_ADD ? &f->added : &f->misses, v == VERB_ADD ? yes : n - yes);
    if (v == VERB_ADD) bf_begin_adds(f->f, NULL); /* the next add would log the warning, too */
}

/* Counts the keys of a batch that have an answer. */
static void count_answers(served *f, verb v, const reply *a)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < a->made.len; i++)
        yes += v == VERB_COUNT ? a->made.ptr[i] != 0 : a->made.ptr[i] & 1;
    count_keys(f, v, a->made.len, yes);
}

static void reply_answer(reply *a, verb v, int answer)
{
    if (v == VERB_COUNT) {
        if (!buffer_print(&a->made, "%d", answer))
            reply_status(a, 503, "out of memory");
        else
            reply_made(a, "text/plain");
        return;
    }
    if (v == VERB_ADD) strcpy(a->more, answer ? "X-New: 1\r\n" : "X-New: 0\r\n");
    if (v == VERB_REMOVE) strcpy(a->more, answer ? "X-Removed: 1\r\n" : "X-Removed: 0\r\n");
    if (v == VERB_TEST)
        reply_text(a, answer ? TEXT("true") : TEXT("false"));
    else
        reply_text(a, TEXT("ok"));
}

static void single_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    uint8_t answer = 0;
    int64_t rc = c->verb == VERB_TEST ? bf_test(f->f, c->key.ptr, c->key.len, &err)
                                      : change_or_test(w, f, c->verb, &c->key, 1, &answer, &err);
    if (a->serial == f->serial) answer |= (uint8_t)a->half;
    if (rc < 0) {
        a->serial = f->serial;
        a->half = answer;
        reply_key_error(w, f, c->verb, a, (int)rc, &err);
        return;
    }
    if (c->verb == VERB_TEST) answer = rc > 0;
    count_keys(f, c->verb, 1, answer != 0);
    reply_answer(a, c->verb, answer);
}

void key_single(worker *w, text name, text raw, verb v, reply *a)
{
    call c = { .verb = v, .one = true };
    if (!keys_decode(raw, w->decoded, &c.key)) {
        reply_status(a, 400, "a % must be followed by two hexadecimal digits");
        return;
    }
    with_filter(w, name, single_on, &c, a);
}

/* ---- many keys ---- */
/* Processes n keys and appends their answers to a->made.  Returns false after setting a->defer or a
 * status. */
static bool process_keys(
    worker *w, served *f, const call *c, const bf_key *keys, size_t n, reply *a)
{
    const verb v = c->verb;
    uint8_t before[BF_BATCH_SIZE_MAX];
    bf_error err;
    if (!buffer_reserve(&a->made, n)) {
        reply_status(a, 507, "out of memory");
        return false;
    }
    uint8_t *each = (uint8_t *)a->made.ptr + a->made.len;
    memcpy(before, each, a->half);
    memset(each, 0, n);
    const int64_t rc = change_or_test(w, f, v, keys, n, each, &err);
    const bool refused = rc == BF_EBUSY || rc == BF_EFULL,
               partly = refused && v != VERB_TEST && err.key < n;
    const size_t done = rc >= 0 ? n : partly ? err.key : 0;
    for (size_t i = 0; i < a->half; i++) each[i] |= before[i];
    for (size_t i = 0; v != VERB_COUNT && i < done; i++) each[i] |= '0';
    a->made.len += done;
    a->half = partly && v == VERB_ADD ? n - done : 0;
    if (rc == BF_EFULL) snprintf(a->more, sizeof a->more, "X-Added: %zu\r\n", a->made.len);
    /* the keys before a final error are done; reply_key_error drops their answers */
    if (rc < 0 && v != VERB_TEST && !is_deferred(w, (int)rc)) count_answers(f, v, a);
    if (rc < 0 && c->form == KEYS_COMMANDS && !is_deferred(w, (int)rc)) {
        a->answers = a->made; /* each key is a command, or an element of its reply */
        a->made = (buffer){ 0 };
    }
    if (rc < 0) reply_key_error(w, f, v, a, (int)rc, &err);
    return rc >= 0;
}

static size_t next_keys(const call *c, text *rest, bf_key *keys, size_t cap)
{
    return c->form == KEYS_COMMANDS ? keys_next_bulk(c->prefix, rest, keys, cap)
                                    : keys_next(c->form, rest, keys, cap);
}

/* Processes the keys of a batch that have no answer in a->made yet.  Returns false after setting
 * a->defer or a status. */
static bool process_batch(worker *w, served *f, const call *c, reply *a)
{
    bf_key keys[BF_BATCH_SIZE_MAX];
    const size_t most = bf_batch_size(f->f);
    text rest = c->body;
    for (size_t done = 0, n; done < a->made.len; done += n)
        n = next_keys(c, &rest, keys, a->made.len - done < most ? a->made.len - done : most);
    while (rest.len)
        if (!process_keys(w, f, c, keys, next_keys(c, &rest, keys, most), a)) return false;
    return true;
}

/* Reserves memory for all answers before the first key is added: an upper bound from the length of
 * the body or, if that is not free, the exact number of keys.  For commands, the memory of their
 * encoded replies.  Returns false after setting a status. */
static bool answers_fit(worker *w, const call *c, reply *a)
{
    const int form = c->form;
    const text body = c->body;
    size_t at, most = body.len + 1;
    if (body.len < LARGE / 2)
        return true;          /* the buffer stays below LARGE, although it grows by doubling */
    if (a->held) return true; /* reserved by an earlier attempt with another filter */
    if (form == KEYS_FRAMED) most = body.len / 4;
    if (form == KEYS_COMMANDS) most = RESP_HEAD + c->count * RESP_ANSWER;
    if (!budget_reserve(w, most)) {
        if (form != KEYS_COMMANDS) most = (size_t)keys_count(form, body, &at);
        if (!budget_reserve(w, most)) {
            reply_status(a, 503, BUDGET_FULL);
            return false;
        }
    }
    a->held = most;
    if (buffer_reserve(&a->made, most + !most)) return true;
    reply_status(a, 503, "out of memory");
    return false;
}

/* True if a worker would need more than some tens of milliseconds for the batch.  Then a job must
 * process it, because the worker's other connections wait. */
static bool is_long(served *f, const call *c)
{
    bf_info i;
    bf_get_info(f->f, &i);
    return c->body.len > STEPS / ((uint64_t)i.k * (i.part_count + !i.part_count) *
                                     (f->takes_any_key ? 1 : OLDER));
}

/* Prepares a batch: reserves memory for the answers and checks that the scheme accepts every key.
 * Returns false after setting a->defer or a status. */
static bool batch_begin(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    a->made.len = a->half = 0;
    if (is_of_counters(c->verb)) { /* a call with 0 keys is refused if there are no counters */
        const int64_t rc = change_or_test(w, f, c->verb, NULL, 0, NULL, &err);
        if (rc < 0) reply_key_error(w, f, c->verb, a, (int)rc, &err);
        if (rc < 0) return false;
    }
    if (!answers_fit(w, c, a)) return false;
    const call test = { .verb = VERB_TEST, .body = c->body, .form = c->form, .prefix = c->prefix };
    if (changes(c) && !f->takes_any_key && !process_batch(w, f, &test, a)) {
        buffer_drop(&a->answers); /* nothing was changed */
        return false;
    }
    a->made.len = 0;
    a->serial = f->serial;
    return true;
}

void key_batch_on(worker *w, served *f, const call *c, reply *a)
{
    if (!w->may_block && is_long(f, c)) {
        a->defer = true;
        return;
    }
    if (a->serial != f->serial && !batch_begin(w, f, c, a)) return;
    if (!process_batch(w, f, c, a)) return;
    count_answers(f, c->verb, a);
    a->status = 200;
    if (c->form == KEYS_COMMANDS) return; /* commands.c encodes the answers */
    reply_made(a, c->verb == VERB_COUNT ? "application/octet-stream" : "text/plain");
}

/* Removes the parameters from "type/subtype; charset=utf-8". */
static text media_type(text t)
{
    const char *end = t.len ? memchr(t.ptr, ';', t.len) : NULL;
    if (end) t.len = (size_t)(end - t.ptr);
    while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t')) t.len--;
    return t;
}

void key_batch(worker *w, text name, const request *q, verb v, reply *a)
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
    with_filter(w, name, key_batch_on, &(call){ .body = q->body, .form = form, .verb = v }, a);
}
