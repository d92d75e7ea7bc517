/* connection.c - round trips to Redis. Takes the commands from the buffer (commands.c). A client
 * sends them and reads the replies: a host's client, or socket.c for a URL. */
#include "parts/filter.h"
#include "bits/bits.h"
#include "redis/connection.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OUT_KEPT = 4 << 20 }; /* a larger output buffer is freed after use */

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
    l->echo_number = 0; /* the parent uses the next numbers */
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
        bf_conn_fresh_echo(l);
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
    bf_conn_end(l);
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
