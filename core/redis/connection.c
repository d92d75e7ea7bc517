/* connection.c - round trips to Redis. Writes commands into a buffer. A client sends them and reads
 * the replies: a host's client, or socket.c for a URL.
 *
 *   out   | request: commands about one key | request: commands about another key | ...
 *
 * In a cluster, the client sends each request to the node of its key. */
#include "parts/filter.h"
#include "bits/bits.h"
#include "redis/connection.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SPARE_LEAVES and SPARE_BYTES: space for replies such as MOVED, after which a host's client sends
 * commands again. An output buffer larger than OUT_KEPT is freed after use. */
enum { SPARE_LEAVES = 1 << 10, SPARE_BYTES = 1 << 16, OUT_KEPT = 4 << 20 };

/* ---- opening, closing, forks ---- */
/* Writes at most 80 bytes, because bf_fail_sys shows no more. */
void bf_conn_label(const bf_conn *l, const char *key, char label[BF_LABEL])
{
    const bf_redis_url *u = &l->url;
    size_t len = strlen(key), path = u->path ? strlen(u->path) : 0;
    const char *dots = len > 30 ? ".." : "";
    if (!l->socket)
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
    l->url.timeout = 2; /* used for WAIT, because the timeout of a host's client is unknown */
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
    if (!(l->socket = bf_socket_new(&l->url))) return bf_fail(err, BF_ENOMEM, "out of memory");
    l->client = &l->socket->client;
    return 0;
}

static void init_lock(bf_conn *l)
{
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->freed, NULL);
    l->locked = false;
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
    init_lock(l);
    bf_int_store_release(&l->process, bf_process());
    return 0;
}

void bf_conn_drop(bf_conn *l)
{
    l->healthy = false;
    if (l->client->drop) l->client->drop(l->client->ctx);
}

/* Closes the parent's connection in a forked child. If another thread of the parent was using the
 * connection at the fork, the memory may be inconsistent. Then it is not freed. */
static void leave_parent(bf_conn *l)
{
    l->healthy = false;
    if (!l->locked) {
        if (l->socket) bf_socket_close(l->socket);
    } else {
        if (l->socket) bf_socket_abandon(l->socket);
        l->got = (bf_redis_replies){ 0 };
        l->sink = (bf_reply_sink){ 0 };
        l->out = l->parts = (bf_redis_buffer){ 0 };
    }
    init_lock(l);
}

/* Calls leave_parent once in each forked child. During that call, `process` is the negative process
 * number, and other threads wait. A child forked in that moment has another number, so it calls
 * leave_parent itself. */
static void check_process(bf_conn *l)
{
    int me = bf_process(), was = bf_int_load_acquire(&l->process);
    while (was != me) {
        if (was != -me && bf_int_cas(&l->process, &was, -me)) {
            leave_parent(l);
            bf_int_store_release(&l->process, me);
        }
        was = bf_int_load_acquire(&l->process);
    }
}

void bf_conn_free(bf_conn *l)
{
    if (!l->url.key) return; /* it was never opened */
    check_process(l);
    bf_socket_free(l->socket);
    bf_replies_free(&l->got);
    free(l->sink.rest.at);
    free(l->parts.at);
    free(l->out.at);
    bf_redis_url_free(&l->url);
    pthread_cond_destroy(&l->freed);
    pthread_mutex_destroy(&l->mutex);
}

/* Waits in steps of a second, because CLOCK_REALTIME may be set meanwhile. */
int bf_conn_lock(bf_conn *l, bf_error *err)
{
    check_process(l);
    pthread_mutex_lock(&l->mutex);
    for (int seconds = 0; l->locked && seconds < BF_PATIENCE;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        seconds += pthread_cond_timedwait(&l->freed, &l->mutex, &until) == ETIMEDOUT;
    }
    const bool got = !l->locked;
    l->locked = true;
    pthread_mutex_unlock(&l->mutex);
    if (got) return 0;
    return bf_fail(err, BF_EIO, "%s is in use: another thread has worked with it for %d seconds",
        l->own_label, BF_PATIENCE);
}

void bf_conn_unlock(bf_conn *l)
{
    pthread_mutex_lock(&l->mutex);
    l->locked = false;
    pthread_mutex_unlock(&l->mutex);
    pthread_cond_signal(&l->freed);
}

/* ---- a round trip ---- */
void bf_conn_begin(bf_conn *l, int changes)
{
    l->out_len = l->commands = l->echoes = l->nparts = 0;
    l->opened = false;
    l->leaves = SPARE_LEAVES;
    l->bytes = SPARE_BYTES;
    l->changes = changes == BF_WRITES;
    l->no_memory = l->timed_out = l->new_request = l->fresh = l->sent = false;
    /* the last round trip was given up after some of its bytes were sent */
    if (l->socket && l->socket->ahead) bf_socket_close(l->socket);
}

static bf_redis_part *last_part(const bf_conn *l)
{
    return (bf_redis_part *)l->parts.at + l->nparts - 1;
}

static void close_command(bf_conn *l);
/* A host's client may read a reply that belongs to another command: PHP or Python code that runs
 * inside it may leave a call before its reply comes, or use the connection meanwhile. So what it
 * sends to one server ends with an ECHO of a random number, which fresh_echo writes. */
static void append_echo(bf_conn *l)
{
    static const char command[] = "*2\r\n$4\r\nECHO\r\n$16\r\n................\r\n";
    enum { LEN = sizeof command - 1 };
    char *at = l->nparts ? bf_conn_room(l, LEN) : NULL;
    if (!at) return;
    memcpy(at, command, LEN);
    l->out_len += LEN;
    l->echoes++;
    last_part(l)->len += LEN;
    last_part(l)->commands++;
    bf_conn_expect(l, 1, BF_ECHO);
}

/* Returns true if the request has an ECHO. In a cluster each one has. */
static bool has_echo(const bf_conn *l, size_t i)
{
    return !l->socket && (l->client->cluster || i + 1 == l->nparts);
}

static void fresh_echo(bf_conn *l)
{
    const bf_redis_part *part = l->parts.at;
    const uint64_t number = bf_random64();
    snprintf(l->sink.echo, sizeof l->sink.echo, "%08lx%08lx", (unsigned long)(number >> 32),
        (unsigned long)(number & UINT32_MAX));
    for (size_t i = 0, command = 0; i < l->nparts; i++) {
        command += part[i].commands;
        if (!has_echo(l, i)) continue;
        memcpy((char *)part[i].bytes + part[i].len - BF_ECHO - 2, l->sink.echo, BF_ECHO);
        bf_sink_expect_echo(&l->sink, command - 1);
    }
}

/* With a URL there is only one server, so all commands form one request. */
void bf_conn_route(bf_conn *l, const char *key)
{
    close_command(l);
    if (l->nparts && (l->socket || (!l->new_request && !strcmp(last_part(l)->key, key)))) return;
    if (!l->socket && l->client->cluster) append_echo(l);
    l->new_request = false;
    if (bf_redis_room(&l->parts, (l->nparts + 1) * sizeof(bf_redis_part))) {
        l->nparts++;
        *last_part(l) = (bf_redis_part){ .key = key, .key_len = strlen(key) };
    } else
        l->no_memory = true;
}
void bf_conn_new_request(bf_conn *l) { l->new_request = true; }

static int fail_memory(bf_conn *l, bf_error *err)
{
    bf_conn_drop(l);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

/* Returns the error for a reply that is not RESP, is larger than allowed, or belongs to another
 * command. */
static int fail_reply(bf_conn *l, bf_error *err)
{
    bf_conn_drop(l);
    if (l->sink.out_of_step)
        return bf_fail(err, BF_EIO,
            "%s: the connection was out of step: the replies belong to other commands", l->label);
    if (l->sink.echo_refused)
        return bf_fail(err, BF_EIO, "%s: Redis refuses ECHO, which ends a round trip: %s", l->label,
            l->sink.fault);
    if (!l->got.too_much)
        return bf_fail(err, BF_EIO, "%s: the server does not speak the Redis protocol", l->label);
    l->timed_out = true; /* the same reply would arrive if the commands were sent again */
    return bf_fail(err, BF_EIO, "%s: a reply is larger than requested: %zu values and %zu bytes",
        l->label, l->leaves, l->bytes);
}

static int fail_socket(bf_conn *l, bf_error *err)
{
    const bf_socket *s = l->socket;
    l->sent = s->sent;
    l->fresh = s->fresh;
    l->timed_out = s->timed_out;
    l->healthy = s->fd >= 0 && s->fault.code; /* no byte was sent */
    if (!s->fault.code) return fail_reply(l, err);
    if (err) *err = s->fault;
    return s->fault.code;
}

static int fail_client(bf_conn *l, int how, bf_error *err)
{
    const bf_reply_sink *s = &l->sink;
    const bool unsent = how == BF_CLIENT_UNSENT;
    l->sent = !unsent;
    l->fresh = unsent;
    l->timed_out = s->sys_errno == ETIMEDOUT || how == BF_CLIENT_STOP;
    if (s->sys_errno == EBUSY) return bf_fail(err, BF_EBUSY, "%s: %s", l->label, s->fault);
    if (how == BF_CLIENT_STOP)
        return bf_fail(err, BF_EHOST, "%s: the client was interrupted", l->label);
    if (l->got.too_much || s->out_of_step) return fail_reply(l, err);
    if (s->sys_errno)
        return bf_fail_sys(err, s->sys_errno, unsent ? "reach" : "get a reply from", l->label);
    return bf_fail(err, BF_EIO, "%s: %s", l->label, *s->fault ? s->fault : "the client failed");
}

static int exchange_once(bf_conn *l, bf_error *err)
{
    bf_redis_part *parts = l->parts.at;
    const char *at = l->out.at;
    for (size_t i = 0; i < l->nparts; at += parts[i++].len) parts[i].bytes = at;
    if (!bf_sink_begin(&l->sink, &l->got, l->commands + l->echoes, l->leaves, l->bytes))
        return fail_memory(l, err);
    if (l->socket)
        l->socket->label = l->label;
    else
        fresh_echo(l);
    l->healthy = false;
    const int how = l->client->exchange(l->client->ctx, parts, l->nparts, err != NULL, &l->sink);
    l->connection_id = l->sink.connection;
    l->sent = true;
    l->fresh = false;
    if (l->got.no_memory && (l->socket || how == BF_CLIENT_ANSWERED)) return fail_memory(l, err);
    if (how != BF_CLIENT_ANSWERED)
        return l->socket ? fail_socket(l, err) : fail_client(l, how, err);
    l->healthy = !l->got.too_much && bf_sink_complete(&l->sink) && bf_sink_in_step(&l->sink);
    return l->healthy ? 0 : fail_reply(l, err);
}

int bf_conn_exchange(bf_conn *l, bf_error *err)
{
    close_command(l);
    if (!l->socket) append_echo(l);
    if (l->no_memory) return fail_memory(l, err);
    int rc = exchange_once(l, err);
    /* the fault broke a connection that had worked */
    const bool cut_off = rc == BF_EIO && !l->healthy && !l->timed_out && (l->sent || !l->fresh);
    if (cut_off && !l->changes) rc = exchange_once(l, err);
    l->reply = (bf_redis_reply){ 0 };
    if (l->out.cap > OUT_KEPT) {
        free(l->out.at);
        l->out = (bf_redis_buffer){ 0 };
    }
    return rc;
}

void bf_conn_next(bf_conn *l) { l->reply = bf_replies_next(&l->got); }

int bf_conn_refusal(const bf_conn *l, bf_error *err)
{
    char text[72];
    if (!bf_reply_error(&l->reply, text, sizeof text)) return 0;
    if (strncmp(text, "DAMAGED ", 8) == 0) /* from a script */
        return bf_fail(err, BF_EFORMAT, "%s is damaged: %s", l->label, text + 8);
    return bf_fail(
        err, strncmp(text, "WRONGTYPE", 9) ? BF_EIO : BF_EFORMAT, "%s: %s", l->label, text);
}

int bf_conn_finish(bf_conn *l, bf_error *err)
{
    int rc = bf_conn_exchange(l, err);
    for (size_t i = 0; rc == 0 && i < l->commands; i++) {
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
    bf_conn_drop(l);
    return bf_fail(err, BF_EIO, "%s: unexpected reply to a script", l->label);
}

/* ---- commands ---- */
char *bf_conn_room(bf_conn *l, size_t bytes)
{
    char *out = bf_redis_room(&l->out, l->out_len + bytes);
    l->no_memory |= !out;
    return out ? out + l->out_len : NULL;
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

/* Ends the last command: writes the header, with the number of arguments, before the arguments. */
static void close_command(bf_conn *l)
{
    char text[HEADER];
    if (!l->opened || l->no_memory) return;
    l->opened = false;
    char *at = (char *)l->out.at + l->open;
    const size_t len = header(text, '*', l->args);
    memmove(at + len, at + HEADER, l->out_len - l->open - HEADER);
    memcpy(at, text, len);
    l->out_len -= HEADER - len;
    last_part(l)->len += l->out_len - l->open;
    last_part(l)->commands++;
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
    return (char *)l->out.at + l->out_len;
}

void bf_conn_end_arg(bf_conn *l, size_t len)
{
    memcpy((char *)l->out.at + l->out_len + len, "\r\n", 2);
    l->out_len += len + 2;
    l->args++;
}

static void append_bytes(bf_conn *l, const void *bytes, size_t len)
{
    char *at = bf_conn_begin_arg(l, len);
    if (!at) return;
    if (len) memcpy(at, bytes, len);
    bf_conn_end_arg(l, len);
}

static void append_args(bf_conn *l, const char *format, va_list ap)
{
    for (size_t len; *format; format += len + (format[len] == ' ')) {
        char text[32] = "";
        const void *bytes = text;
        uint32_t v;
        int64_t i;
        len = strcspn(format, " ");
        switch (*format == '%' ? format[1] : 0) {
        case 0: append_bytes(l, format, len); break;
        case 's':
            bytes = va_arg(ap, const char *);
            append_bytes(l, bytes, strlen(bytes));
            break;
        case 'n':
            append_bytes(l, text, (size_t)(bf_redis_digits(text, va_arg(ap, uint64_t)) - text));
            break;
        case 'i':
            i = va_arg(ap, int64_t);
            if (i != BF_NEVER) snprintf(text, sizeof text, "%lld", (long long)i);
            append_bytes(l, text, strlen(text));
            break;
        case 'g':
            bf_print(text, sizeof text, "%.17g", va_arg(ap, double));
            append_bytes(l, text, strlen(text));
            break;
        case 'b':
            bytes = va_arg(ap, const void *);
            append_bytes(l, bytes, va_arg(ap, size_t));
            break;
        case 'x':
            if ((v = va_arg(ap, uint32_t))) snprintf(text, sizeof text, "%08lx", (unsigned long)v);
            append_bytes(l, text, strlen(text));
            break;
        default:
            v = va_arg(ap, uint32_t);
            for (int j = 0; j < 4; j++) text[j] = (char)(v >> (24 - 8 * j));
            append_bytes(l, text, 4);
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
    if (l->socket && !l->changes) bf_socket_send_ahead(l->socket, l->out.at, l->out_len);
    if (l->nparts == 0) bf_conn_route(l, l->key);
    l->commands++;
    bf_conn_expect(l, BF_REPLY_LEAVES, BF_REPLY_BYTES);
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

int bf_conn_query(bf_conn *l, bf_error *err, const char *format, ...)
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
