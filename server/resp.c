/* resp.c - receives commands of RESP, gathers equal ones, and writes replies: see resp.h. */
#include "resp.h"
#include <stdio.h>

/* UNSENT_MAX: as in parse.c.  GATHERED_MAX: most commands of a batch.  STRANGER: bytes of a command
 * without the token, and its arguments. */
enum { UNSENT_MAX = 256 << 10, GATHERED_MAX = 1024, STRANGER = 16 << 10, STRANGER_ARGS = 10 };

bool resp_is(const conn *c) { return c->protocol >= 2; }

/* ---- frames ---- */
text next_argument(arguments *x)
{
    bf_key key;
    if (!x->left) return TEXT("");
    x->left--;
    keys_next_bulk(0, &x->rest, &key, 1);
    return (text){ key.ptr, key.len };
}

arguments resp_arguments(text command)
{
    arguments x = { { "", 0 }, 0 };
    const ptrdiff_t head = bf_command_header(command.ptr, command.ptr + command.len, '*', &x.left);
    if (head > 0) x.rest = text_after(command, (size_t)head);
    return x;
}

/* Checks the bytes of a command from s->at on.  Returns 1: complete; 0: incomplete; -1: malformed,
 * and *why has the reason. */
static int scan(
    worker *w, const conn *c, resp_scan *s, const char *bytes, size_t len, const char **why)
{
    const bool known = c->authorized || !w->s->o.token;
    const uint64_t most = known ? w->s->o.max_body : STRANGER;
    const char *end = bytes + len;
    size_t n;
    if (!s->begun) {
        const ptrdiff_t head = bf_command_header(bytes, end, '*', &n);
        *why = "expected '*' and the number of arguments";
        if (head <= 0) return (int)head;
        *why = "invalid multibulk length";
        if (n > (known ? most : STRANGER_ARGS)) return -1;
        *s = (resp_scan){ .at = (size_t)head, .left = n, .begun = true };
    }
    while (s->left) {
        const ptrdiff_t head = bf_command_header(bytes + s->at, end, '$', &n);
        *why = "expected '$' and the length of an argument";
        if (head <= 0) return (int)head;
        *why = known ? "the command is larger than --max-body" : "unauthenticated bulk length";
        if (n > most || s->at + (size_t)head + n > most + STRANGER) return -1;
        const size_t close = s->at + (size_t)head + n;
        *why = "expected CR LF after an argument";
        if (close < len && bytes[close] != '\r') return -1;
        if (close + 1 < len && bytes[close + 1] != '\n') return -1;
        if (close + 2 > len) return 0;
        s->at = close + 2;
        s->left--;
    }
    return 1;
}

/* Sends an error, and closes the connection after it. */
static void refuse_with(worker *w, conn *c, reply *a)
{
    resp_finish(w, c, &(request){ .resp = c->protocol, .path = TEXT("") }, a, clock_ns());
    request_in_drop(w, &w->current);
    c->close = c->broken = true;
}

static size_t refuse_frame(worker *w, conn *c, const char *why, size_t len)
{
    reply a = { 0 };
    put_error(&a, 400, "ERR Protocol error: %s", why);
    refuse_with(w, c, &a);
    return len;
}

void resp_refuse(worker *w, conn *c, int status)
{
    reply a = { 0 };
    reply_status(&a, status, status == 408 ? "the command did not arrive in time" : w->current.why);
    refuse_with(w, c, &a);
}

void take_answers(reply *a)
{
    buffer_drop(&a->made);
    a->made = a->answers;
    a->answers = (buffer){ 0 };
    a->status = 200;
}

void keep_answers(request *q, reply *a)
{
    take_answers(a);
    q->commands = a->made.len;
    put_answers(q, a, VERB_TEST, false);
    if (!a->made.len) buffer_drop(&a->made);
}

/* Answers the command, or starts a job.  Returns how many of the gathered commands have a reply, or
 * will get it from a job. */
static size_t answer(worker *w, conn *c, text body, const command *row, size_t n, size_t prefix)
{
    const uint64_t began = w->s->o.access_log ? clock_ns() : 0;
    const char *why;
    arguments x = resp_arguments(body);
    next_argument(&x);
    const text name = row && row->flags & (ONE_KEY | MANY_KEYS) ? next_argument(&x) : TEXT("");
    request q = { .command = row, .resp = c->protocol, .commands = n, .prefix = prefix };
    q.body = body;
    q.target = q.path = name;
    q.type = TEXT("");
    q.keep_alive = true;
    reply a;
    memset(&a, 0, offsetof(reply, more) + 1);
    command_route(w, &q, &a);
    if (a.defer) {
        c->job = job_start(w, c, &q, &a, began, &why);
        if (c->job) return n;
        reply_status(&a, 503, why);
    }
    const size_t done = n == 1 || a.status == 200 ? n : a.answers.len;
    if (done < n) keep_answers(&q, &a);
    if (done) resp_finish(w, c, &q, &a, began);
    return done;
}

/* Returns how many commands, from the first on, differ in their last argument only.  *took: bytes
 * of these commands.  first: bytes of the first. */
static size_t gather(const char *bytes, size_t len, size_t prefix, size_t first, size_t *took)
{
    size_t n = 1, key;
    if (len >= LARGE / 2) len = LARGE / 2 - 1; /* so that answers_fit() reserves nothing */
    for (*took = first; n < GATHERED_MAX && *took < len; n++) {
        const char *next = bytes + *took;
        const size_t left = len - *took;
        if (left <= prefix || memcmp(next, bytes, prefix) != 0) break;
        const ptrdiff_t head = bf_command_header(next + prefix, bytes + len, '$', &key);
        if (head <= 0) break;
        const size_t close = prefix + (size_t)head + key;
        if (close > left || left - close < 2 || memcmp(next + close, "\r\n", 2) != 0) break;
        *took += close + 2;
    }
    return n;
}

/* Answers the complete command at the beginning of `bytes`, and equal commands behind it.  Returns
 * the bytes of the answered commands. */
static size_t answer_complete(worker *w, conn *c, const char *bytes, size_t len, size_t first)
{
    const text body = { bytes, first };
    arguments x = resp_arguments(body);
    if (!x.left) return first; /* an empty array */
    const size_t args = x.left;
    const command *row = command_find(next_argument(&x));
    size_t took = first, n = 1, prefix = 0;
    w->current.deadline_unset = true;
    if (row && row->flags & GATHERED && args == 3 && !w->s->o.access_log && !w->alone) {
        next_argument(&x);
        prefix = (size_t)(x.rest.ptr - bytes);
        n = gather(bytes, len, prefix, first, &took);
    }
    const size_t done = answer(w, c, (text){ bytes, took }, row, n, prefix);
    w->current.deadline_unset = false;
    if (done == n) return took;
    w->alone = true; /* each command until the next read gets its own error */
    text rest = { bytes, took };
    bf_key key;
    for (size_t i = 0; i < done; i++) keys_next_bulk(prefix, &rest, &key, 1);
    return took - rest.len;
}

/* Appends bytes to the incomplete command.  Answers it if it is complete now.  Returns the number
 * of bytes used. */
static size_t continue_frame(worker *w, conn *c, const char *bytes, size_t len)
{
    request_in *x = &w->current;
    const char *why;
    if (!body_grow(w, x, len) || !buffer_add(&x->body, bytes, len)) {
        resp_refuse(w, c, 503);
        return len;
    }
    const size_t before = x->body.len - len;
    const int rc = scan(w, c, &x->scan, x->body.ptr, x->body.len, &why);
    if (rc < 0) return refuse_frame(w, c, why, len);
    if (rc == 0) return len;
    x->body.len = x->scan.at;
    const size_t took = x->scan.at - before;
    answer_complete(w, c, x->body.ptr, x->body.len, x->body.len);
    request_in_drop(w, x);
    return took;
}

static size_t parse_frame(worker *w, conn *c, const char *bytes, size_t len)
{
    request_in *x = &w->current;
    const char *why;
    if (x->active) return continue_frame(w, c, bytes, len);
    if (*bytes == '\r' || *bytes == '\n') return 1; /* redis-cli --pipe sends an empty line */
    resp_scan s = { 0 };
    const int rc = scan(w, c, &s, bytes, len, &why);
    if (rc < 0) return refuse_frame(w, c, why, len);
    if (rc > 0) return answer_complete(w, c, bytes, len, s.at);
    x->active = x->deadline_unset = true;
    x->scan = s;
    if (body_grow(w, x, len) && buffer_add(&x->body, bytes, len)) return len;
    resp_refuse(w, c, 503);
    return len;
}

size_t resp_parse(worker *w, conn *c, const char *bytes, size_t len)
{
    size_t done = 0;
    w->alone = false;
    do done += parse_frame(w, c, bytes + done, len - done);
    while (done < len && !c->close && !c->job && !w->tail.len && w->out.len <= UNSENT_MAX);
    return done;
}

/* ---- replies ---- */
static void put(reply *a, bool ok) { a->ends |= !ok; }

void put_status(reply *a, const char *literal)
{
    put(a, buffer_print(&a->made, "+%s\r\n", literal));
}

void put_integer(reply *a, int64_t v) { put(a, buffer_print(&a->made, ":%lld\r\n", (long long)v)); }

void put_text(reply *a, text t)
{
    put(a, buffer_print(&a->made, "$%zu\r\n", t.len) && buffer_add(&a->made, t.ptr, t.len) &&
               buffer_add(&a->made, "\r\n", 2));
}

void put_words(reply *a, const char *words) { put_text(a, (text){ words, strlen(words) }); }

void put_null(const request *q, reply *a)
{
    put(a, buffer_print(&a->made, "%s", q->resp == 3 ? "_\r\n" : "$-1\r\n"));
}

void put_array(reply *a, size_t n) { put(a, buffer_print(&a->made, "*%zu\r\n", n)); }

void put_map(const request *q, reply *a, size_t pairs)
{
    const bool three = q->resp == 3;
    put(a, buffer_print(&a->made, "%c%zu\r\n", three ? '%' : '*', three ? pairs : 2 * pairs));
}

void put_error(reply *a, int status, const char *format, ...)
{
    char line[RESP_HEAD];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line - 4, format, args);
    va_end(args);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127) *p = '?';
    a->made.len = 0;
    a->status = status;
    a->encoded = true;
    put(a, buffer_print(&a->made, "-%s\r\n", line));
}

/* The errors of the core and of filters.h that RedisBloom has words for. */
static const char *words_for(int code)
{
    switch (code) {
    case FILTER_GONE: return "ERR not found";
    case FILTER_EXISTS: return "ERR item exists";
    case BF_EFULL: return "ERR non scaling filter is full";
    default: return NULL;
    }
}

void put_refusal(reply *a)
{
    static const char header[] = "X-Error: ";
    const char *words = words_for(a->code), *why = strstr(a->more, header);
    why = why ? why + sizeof header - 1 : "unexpected error";
    if (words)
        put_error(a, a->status, "%s", words);
    else
        put_error(a, a->status, "ERR %.*s", (int)strcspn(why, "\r"), why);
}

/* Encodes from the end, because an answer of one byte becomes RESP_ANSWER bytes in its place. */
void put_answers(const request *q, reply *a, verb v, bool array)
{
    const size_t n = a->made.len;
    char head[32];
    const size_t len = array ? (size_t)sprintf(head, "*%zu\r\n", n) : 0;
    a->encoded = true;
    if (v == VERB_COUNT) {
        const int count = n ? (unsigned char)a->made.ptr[0] : 0;
        a->made.len = 0;
        put_integer(a, count);
        return;
    }
    if (!buffer_reserve(&a->made, RESP_HEAD + n * RESP_ANSWER)) {
        a->ends = true;
        return;
    }
    for (size_t i = n; i-- > 0;) {
        const bool yes = a->made.ptr[i] & 1;
        memcpy(a->made.ptr + len + i * RESP_ANSWER,
            q->resp == 3 ? (yes ? "#t\r\n" : "#f\r\n") : (yes ? ":1\r\n" : ":0\r\n"), RESP_ANSWER);
    }
    memcpy(a->made.ptr, head, len);
    a->made.len = len + n * RESP_ANSWER;
}

void resp_finish(worker *w, conn *c, const request *q, reply *a, uint64_t began)
{
    const size_t n = q->commands + !q->commands;
    budget_reply(w, a);
    if (a->ends) { /* --max-buffered or the memory does not suffice */
        c->close = c->broken = true;
        a->encoded = false;
        if (!a->more[0]) reply_status(a, 503, NULL);
    }
    if (!a->encoded) {
        put_refusal(a);
        const size_t one = a->made.len;
        for (size_t i = 1; i < n; i++)
            if (!buffer_reserve(&a->made, one) || !buffer_add(&a->made, a->made.ptr, one))
                c->close = c->broken = true;
    }
    count_status(w, a->status, n);
    if (q->command) counter_add(&w->commands[q->command - commands], n);
    const size_t bytes = a->made.len;
    if (w->s->o.access_log) log_request(w, c, q, a, bytes, began);
    if (bytes < LARGE) {
        if (!buffer_add(&w->out, a->made.ptr, bytes)) c->close = c->broken = true;
        budget_release(w, a->held);
    } else {
        w->tail = a->made;
        w->tail_held += a->held;
        a->made = (buffer){ 0 };
    }
    a->held = 0;
    buffer_drop(&a->made);
    buffer_drop(&a->answers);
}
