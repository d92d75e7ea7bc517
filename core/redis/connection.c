/* connection.c - the way to Redis: commands put into a buffer, whose it is, and the order of a
 * trip.  A client exchanges them for replies: the host's, or socket.c (a connection of our own).
 * Knows how commands are written, what is sent once more and what a fork does; knows nothing of
 * filters.
 *
 *   out       | part: key, commands ... | part: key, commands ... |
 *             one part for each key, so that a host's client can send each to its node */
#include "parts/filter.h"
#include "bits/bits.h"
#include "redis/connection.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPARE_LEAVES = 1 << 10,
    SPARE_BYTES = 1 << 16,
    OUT_KEPT = 4 << 20
}; /* of a trip: refusals of what a client sends again */

/* ---- life ---- */
/* What messages call it: at most 80 bytes, because bf_fail_sys shows so many. */
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL])
{
    const bf_redis_url *u = &l->url;
    size_t len = strlen(key), path = u->path ? strlen(u->path) : 0;
    const char *dots = len > 30 ? ".." : "";
    if (l->client)
        snprintf(label, BF_LABEL, "Redis key %.30s%s at %.33s", key, dots,
            l->client->name ? l->client->name : "the client's server");
    else if (u->path)
        snprintf(label, BF_LABEL, "Redis key %.30s%s at %s%s", key, dots, path > 32 ? ".." : "",
            u->path + (path > 32 ? path - 32 : 0));
    else
        snprintf(label, BF_LABEL, "Redis key %.30s%s at %.*s:%u%s", key, dots, u->tls ? 20 : 26,
            u->host, u->port, u->tls ? " (TLS)" : "");
    for (char *p = label; *p; p++)
        if (iscntrl((unsigned char)*p)) *p = '?';
}

static int open_client(bf_conn *l, const bf_spec *spec, bf_error *err)
{
    l->client = spec->redis_client;
    if (!l->client->exchange)
        return bf_fail(err, BF_EINVAL, "redis_client must have an exchange callback, got NULL");
    if (spec->timeout != 0 || spec->retry_after != 0)
        return bf_fail(err, BF_EINVAL, "%s is for URLs: a Redis client has its own policy",
            spec->timeout != 0 ? "timeout" : "retry_after");
    l->url.timeout = 2; /* what WAIT goes by: the client's own is not known */
    if (!spec->key || !*spec->key)
        return bf_fail(err, BF_EINVAL, "a Redis client needs key, the name of the filter in Redis");
    return (l->url.key = strdup(spec->key)) ? 0 : bf_fail(err, BF_ENOMEM, "out of memory");
}

static int open_url(bf_conn *l, const bf_spec *spec, bf_error *err)
{
    const int rc = bf_redis_url_parse(&l->url, spec->storage, spec->key, err);
    if (rc < 0) return rc;
    if (spec->timeout != 0) l->url.timeout = spec->timeout;
    if (spec->retry_after != 0) l->url.retry_after = spec->retry_after > 0 ? spec->retry_after : 0;
    return (l->socket = bf_socket_new(&l->url, err)) ? 0 : BF_ENOMEM;
}

int bf_conn_open(bf_conn *l, const bf_spec *spec, bf_error *err)
{
    const int rc = (spec->redis_client ? open_client : open_url)(l, spec, err);
    if (rc < 0) {
        bf_redis_url_free(&l->url);
        return rc;
    }
    bf_conn_label(l, l->url.key, l->own_label);
    l->key = l->url.key;
    l->label = l->own_label;
    pthread_mutex_init(&l->mutex, NULL);
    bf_int_store_release(&l->process, bf_process());
    return 0;
}

void bf_conn_drop(bf_conn *l)
{
    l->healthy = false;
    if (l->socket) bf_socket_close(l->socket);
}

/* A child must not speak on its parent's connection.  What another thread of the parent held at the
 * fork may be half changed: it is left alone, only its socket is closed. */
static void let_go(bf_conn *l)
{
    if (pthread_mutex_trylock(&l->mutex) == 0) {
        bf_conn_drop(l);
        pthread_mutex_unlock(&l->mutex);
    } else {
        l->healthy = false;
        if (l->socket) bf_socket_abandon(l->socket);
        l->got = (bf_redis_replies){ 0 };
        l->sink = (bf_reply_sink){ 0 };
        l->out = NULL;
        l->parts = NULL;
        l->part_from = NULL;
        l->out_cap = l->out_len = l->parts_cap = 0;
    }
    pthread_mutex_init(&l->mutex, NULL);
}

/* While a thread lets go, minus its process (bf_process) stands there: others of the process wait
 * for it, and a process that was forked in that moment, where that thread is not, does it again. */
static void come_home(bf_conn *l)
{
    int me = bf_process(), was = bf_int_load_acquire(&l->process);
    while (was != me) {
        if (was != -me && bf_int_cas(&l->process, &was, -me)) {
            let_go(l);
            bf_int_store_release(&l->process, me);
        }
        was = bf_int_load_acquire(&l->process);
    }
}

void bf_conn_free(bf_conn *l)
{
    if (!l->url.key) return; /* never begun */
    come_home(l);
    bf_socket_free(l->socket);
    bf_replies_free(&l->got);
    free(l->sink.rest);
    free(l->parts);
    free(l->part_from);
    free(l->out);
    bf_redis_url_free(&l->url);
    pthread_mutex_destroy(&l->mutex);
}

void bf_conn_lock(bf_conn *l)
{
    come_home(l);
    pthread_mutex_lock(&l->mutex);
}
void bf_conn_unlock(bf_conn *l) { pthread_mutex_unlock(&l->mutex); }

/* ---- faults ---- */
int bf_conn_fail_memory(bf_conn *l, bf_error *err)
{
    bf_conn_drop(l);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

int bf_conn_fail_protocol(bf_conn *l, bf_error *err)
{
    bf_conn_drop(l);
    return bf_fail(err, BF_EIO, "%s: the server does not speak the Redis protocol", l->label);
}

int bf_conn_fail_oversized(bf_conn *l, bf_error *err)
{
    bf_conn_drop(l);
    return bf_fail(err, BF_EIO, "%s: a reply is larger than asked for: %zu values and %zu bytes",
        l->label, l->leaves, l->bytes);
}

int bf_conn_refusal(const bf_conn *l, bf_error *err)
{
    char text[72];
    if (!bf_reply_error(&l->reply, text, sizeof text)) return 0;
    return bf_fail(
        err, strncmp(text, "WRONGTYPE", 9) ? BF_EIO : BF_EFORMAT, "%s: %s", l->label, text);
}

/* ---- a trip ---- */
void bf_conn_begin(bf_conn *l, int changes)
{
    l->out_len = l->commands = l->nparts = 0;
    l->opened = false;
    l->leaves = SPARE_LEAVES;
    l->bytes = SPARE_BYTES;
    l->changes = changes == BF_WRITES;
    l->no_memory = l->timed_out = l->new_request = l->fresh = l->sent = false;
    if (l->socket) bf_socket_begin(l->socket, l->changes);
}

static void close_command(bf_conn *l);
static bool more_parts(bf_conn *l)
{
    const size_t cap = l->parts_cap ? 2 * l->parts_cap : 4;
    bf_redis_part *parts = realloc(l->parts, cap * sizeof *parts);
    if (parts) l->parts = parts;
    size_t *from = realloc(l->part_from, 2 * cap * sizeof *from);
    if (from) l->part_from = from;
    if (parts && from) l->parts_cap = cap;
    return parts && from;
}

/* Our own connection has one server: to it all commands are one part. */
void bf_conn_route(bf_conn *l, const char *key)
{
    close_command(l);
    if (l->nparts && (l->socket || (!l->new_request && !strcmp(l->parts[l->nparts - 1].key, key))))
        return;
    l->new_request = false;
    if (l->nparts == l->parts_cap && !more_parts(l)) {
        l->no_memory = true;
        return;
    }
    l->part_from[2 * l->nparts] = l->nparts ? l->out_len : 0;
    l->part_from[2 * l->nparts + 1] = l->nparts ? l->commands : 0;
    l->parts[l->nparts++] = (bf_redis_part){ .key = key, .key_len = strlen(key) };
}
void bf_conn_new_request(bf_conn *l) { l->new_request = true; }
void bf_conn_flush(bf_conn *l)
{
    close_command(l);
    if (l->socket && !l->no_memory) bf_socket_push(l->socket, l->label, l->out, l->out_len);
}

/* out stays where it is by now: the parts' addresses, and their ends, where the next begins. */
static void place_parts(bf_conn *l)
{
    for (size_t i = 0; i < l->nparts; i++) {
        const size_t *from = l->part_from + 2 * i;
        const bool last = i + 1 == l->nparts;
        l->parts[i].bytes = l->out + from[0];
        l->parts[i].len = (last ? l->out_len : from[2]) - from[0];
        l->parts[i].commands = (last ? l->commands : from[3]) - from[1];
    }
}

/* Our own connection knows how far it came, and has the error already. */
static int fail_socket(bf_conn *l, bf_error *err)
{
    const bf_socket *s = l->socket;
    l->sent = s->sent;
    l->fresh = s->fresh;
    l->timed_out |= s->timed_out;
    if (!s->fault.code) return bf_conn_fail_protocol(l, err);
    if (err) *err = s->fault;
    return s->fault.code;
}

static int fail_exchange(bf_conn *l, int how, bf_error *err)
{
    const bf_reply_sink *s = &l->sink;
    const bool unsent = how == BF_CLIENT_UNSENT;
    l->sent = !unsent;
    l->fresh = unsent;
    l->timed_out = s->sys_errno == ETIMEDOUT || how == BF_CLIENT_STOP || l->got.all.too_much;
    if (l->got.all.no_memory && l->socket) return bf_conn_fail_memory(l, err);
    if (how != BF_CLIENT_STOP && l->got.all.too_much) return bf_conn_fail_oversized(l, err);
    l->healthy = l->socket && l->socket->fd >= 0 && l->socket->fault.code;
    if (l->socket) return fail_socket(l, err);
    if (how == BF_CLIENT_STOP)
        return bf_fail(err, BF_EHOST, "%s: the client was interrupted", l->label);
    if (s->sys_errno)
        return bf_fail_sys(err, s->sys_errno, unsent ? "reach" : "get a reply from", l->label);
    return bf_fail(err, BF_EIO, "%s: %s", l->label, *s->fault ? s->fault : "the client failed");
}

static int exchange(bf_conn *l, bf_error *err)
{
    const bf_redis_client *client = l->socket ? &l->socket->client : l->client;
    l->healthy = true;
    l->sent = l->fresh = false;
    if (l->socket) l->socket->label = l->label;
    if (l->nparts == 0) bf_conn_route(l, l->key);
    if (l->no_memory || !bf_sink_begin(&l->sink, &l->got, l->commands, l->leaves, l->bytes))
        return bf_conn_fail_memory(l, err);
    place_parts(l);
    const int how = client->exchange(client->ctx, l->parts, l->nparts, err != NULL, &l->sink);
    l->connection_id = l->sink.connection;
    if (how != BF_CLIENT_ANSWERED) return fail_exchange(l, how, err);
    l->sent = true;
    if (l->got.all.no_memory) return bf_conn_fail_memory(l, err);
    if (l->got.all.too_much) return bf_conn_fail_oversized(l, err);
    return bf_sink_complete(&l->sink) ? 0 : bf_conn_fail_protocol(l, err);
}

/* Did a fault end a connection that stood, so that what only looks is sent once more? */
static bool cut_off(const bf_conn *l, int rc)
{
    return rc == BF_EIO && !l->healthy && !l->timed_out && (l->sent || !l->fresh);
}

int bf_conn_send(bf_conn *l, bf_error *err)
{
    close_command(l);
    if (l->no_memory) return bf_conn_fail_memory(l, err);
    int rc = exchange(l, err);
    if (cut_off(l, rc) && !l->changes) rc = exchange(l, err);
    l->reply = (bf_redis_reply){ 0 };
    if (l->out_cap > OUT_KEPT) {
        free(l->out);
        l->out = NULL;
        l->out_cap = l->out_len = 0;
    }
    return rc;
}

void bf_conn_next(bf_conn *l)
{
    const bf_redis_replies *got = &l->got;
    const bf_redis_window *w = got->window + l->got.next++;
    l->reply = (bf_redis_reply){
        .leaves = w->n ? got->all.leaves + w->from : NULL, .n = w->n, .text = got->all.text
    };
}

int bf_conn_finish(bf_conn *l, bf_error *err)
{
    int rc = bf_conn_send(l, err);
    for (size_t i = 0; rc == 0 && i < l->got.n; i++) {
        bf_conn_next(l);
        rc = bf_conn_refusal(l, err);
    }
    l->got.next = 0;
    return rc;
}

int bf_conn_run_script(bf_conn *l, long long *v, bf_error *err)
{
    const int rc = bf_conn_finish(l, err);
    if (rc < 0 || bf_reply_integer(&l->reply, 0, v)) return rc;
    return bf_fail(err, BF_EIO, "%s: unexpected reply to a script", l->label);
}

/* ---- out ---- */
char *bf_conn_room(bf_conn *l, size_t bytes)
{
    if (bytes > l->out_cap - l->out_len) {
        size_t cap = 2 * l->out_cap + bytes + 1024;
        char *more = realloc(l->out, cap);
        if (!more) {
            l->no_memory = true;
            return NULL;
        }
        l->out = more;
        l->out_cap = cap;
    }
    return l->out + l->out_len;
}

char *bf_redis_digits(char *at, uint64_t v)
{
    char text[20];
    size_t n = 0;
    do text[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n) *at++ = text[--n];
    return at;
}

enum { HEADER = 24 };
static size_t header(char text[HEADER], char kind, size_t n)
{
    char *at = text;
    *at++ = kind;
    at = bf_redis_digits(at, n);
    *at++ = '\r';
    *at++ = '\n';
    return (size_t)(at - text);
}

/* Its arguments are counted by now: its header goes before them. */
static void close_command(bf_conn *l)
{
    char text[HEADER];
    if (!l->opened) return;
    l->opened = false;
    if (l->no_memory) return;
    char *at = l->out + l->open;
    const size_t len = header(text, '*', l->args);
    memmove(at + len, at + HEADER, l->out_len - l->open - HEADER);
    memcpy(at, text, len);
    l->out_len -= HEADER - len;
}

void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes)
{
    l->leaves += leaves;
    l->bytes += bytes;
}

char *bf_conn_begin_arg(bf_conn *l, size_t len)
{
    char *at = bf_conn_room(l, HEADER + len + 2);
    if (!at) return NULL;
    l->out_len += header(at, '$', len);
    return l->out + l->out_len;
}

void bf_conn_end_arg(bf_conn *l, size_t len)
{
    memcpy(l->out + l->out_len + len, "\r\n", 2);
    l->out_len += len + 2;
    l->args++;
}

void bf_conn_arg(bf_conn *l, const void *bytes, size_t len)
{
    char *at = bf_conn_begin_arg(l, len);
    if (!at) return;
    if (len) memcpy(at, bytes, len);
    bf_conn_end_arg(l, len);
}

static void append_word(bf_conn *l, const char *word) { bf_conn_arg(l, word, strlen(word)); }

static void append_args(bf_conn *l, const char *format, va_list ap)
{
    for (size_t len; *format; format += len + (format[len] == ' ')) {
        char text[24] = "";
        uint32_t v;
        const void *bytes;
        len = strcspn(format, " ");
        switch (*format == '%' ? format[1] : 0) {
        case 0: bf_conn_arg(l, format, len); break;
        case 's': append_word(l, va_arg(ap, const char *)); break;
        case 'n':
            bf_conn_arg(l, text, (size_t)(bf_redis_digits(text, va_arg(ap, uint64_t)) - text));
            break;
        case 'b':
            bytes = va_arg(ap, const void *);
            bf_conn_arg(l, bytes, va_arg(ap, size_t));
            break;
        case 'x':
            if ((v = va_arg(ap, uint32_t))) snprintf(text, sizeof text, "%08lx", (unsigned long)v);
            append_word(l, text);
            break;
        default:
            v = va_arg(ap, uint32_t);
            for (int i = 0; i < 4; i++) text[i] = (char)(v >> (24 - 8 * i));
            bf_conn_arg(l, text, 4);
        }
    }
}

void bf_conn_append(bf_conn *l, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    append_args(l, format, ap);
    va_end(ap);
}

static void begin_command(bf_conn *l, const char *format, va_list ap)
{
    close_command(l);
    l->commands++;
    l->leaves += BF_REPLY_LEAVES;
    l->bytes += BF_REPLY_BYTES;
    l->open = l->out_len;
    l->args = 0;
    if ((l->opened = bf_conn_room(l, HEADER) != NULL)) l->out_len += HEADER;
    append_args(l, format, ap);
}

void bf_conn_command(bf_conn *l, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    begin_command(l, format, ap);
    va_end(ap);
}

int bf_conn_ask(bf_conn *l, bf_error *err, const char *format, ...)
{
    va_list ap;
    bf_conn_begin(l, BF_READS);
    va_start(ap, format);
    begin_command(l, format, ap);
    va_end(ap);
    return bf_conn_finish(l, err);
}

void bf_conn_eval(bf_conn *l, const char *script, unsigned keys)
{
    static const char head[] = "local call=redis.call ";
    const size_t len = strlen(script), all = sizeof head - 1 + len;
    bf_conn_command(l, "EVAL");
    char *at = bf_conn_begin_arg(l, all);
    if (!at) return;
    memcpy(at, head, sizeof head - 1);
    memcpy(at + sizeof head - 1, script, len);
    bf_conn_end_arg(l, all);
    bf_conn_append(l, "%n", (uint64_t)keys);
}
