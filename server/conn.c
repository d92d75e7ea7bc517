/* conn.c - one connection: receives, sends, closes.
 *
 *   IDLE --bytes--> ASKING --complete--> (answered) --all sent--> IDLE
 *                                                   --else--> SENDING --all sent--> IDLE
 *                                    --> WAITING (for a job) --> (answered)
 *
 * After the reply to a refused request, the sending side is shut down.  LINGERING then reads and
 * discards input until the client closes, or for LINGER ms. */
#define _GNU_SOURCE
#include "resp.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* LINGER: ms.  ACCEPTS: most connections accepted per round of events.  SLOWEST: bytes per second
 * that a client must read.  BODY_BYTES: bytes per read of a body. */
enum { LINGER = 5000, ACCEPTS = 64, SLOWEST = 64 << 10, BODY_BYTES = 256 << 10 };

/* ---- life ---- */
static void drop_unsent(worker *w, conn *c)
{
    if (!c->response_out) return;
    budget_release(w, c->response_out->held);
    buffer_drop(&c->response_out->out);
    buffer_drop(&c->response_out->tail);
    buffer_drop(&c->response_out->input);
    free(c->response_out);
    c->response_out = NULL;
}

static void drop_suspended(worker *w, conn *c)
{
    if (c->suspended) request_in_drop(w, c->suspended);
    free(c->suspended);
    c->suspended = NULL;
}

static void disconnect(worker *w, conn *c)
{
    worker_move(w, c, STATES, 0);
    drop_suspended(w, c);
    drop_unsent(w, c);
    if (c->job) {
        if (c->job->done)
            job_free(c->job);
        else
            job_abandon(c->job);
    }
    close(c->fd);
    __atomic_fetch_sub(&w->connections, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&w->s->connections, 1, __ATOMIC_RELAXED);
}

void conn_close(worker *w, conn *c)
{
    disconnect(w, c);
    free(c);
}

static void send_busy(int fd, bool resp)
{
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
                               "X-Error: the daemon has no room for this connection now\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n",
                      error[] = "-ERR the daemon has no room for this connection now\r\n";
    send(fd, resp ? error : busy, (resp ? sizeof error : sizeof busy) - 1,
        MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Does not free the structure, because events of this round may still point to it. */
void conn_evict(worker *w, conn *c)
{
    /* a 503 must not follow a part of another reply */
    if (!c->response_out) send_busy(c->fd, resp_is(c));
    disconnect(w, c);
    c->fd = -1;
    c->next = w->evicted;
    w->evicted = c;
}

void conn_bury(worker *w)
{
    while (w->evicted) {
        conn *next = w->evicted->next;
        free(w->evicted);
        w->evicted = next;
    }
}

static void linger(worker *w, conn *c)
{
    shutdown(c->fd, SHUT_WR);
    if (c->events_out) events_watch(w, c, WAIT_READABLE);
    c->events_out = false;
    worker_move(w, c, LINGERING, w->now + LINGER);
}

static void add_conn(worker *w, int fd)
{
    conn *c = calloc(1, sizeof *c);
    int yes = 1;
    if (!c) {
        close(fd);
        return;
    }
    c->fd = fd;
    c->state = STATES;
    c->id = w->accepted * w->s->o.threads + (uint64_t)(w - w->s->workers) + 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    parse_start(c);
    if (!events_add(w, c)) {
        close(fd);
        free(c);
        return;
    }
    __atomic_fetch_add(&w->connections, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->accepted, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->s->connections, 1, __ATOMIC_RELAXED);
    worker_move(w, c, IDLE, w->now + w->s->o.idle * 1000);
}

void conn_accept(worker *w)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(w->s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
        if (fd < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK) worker_pause_accept(w);
            return;
        }
        if (__atomic_load_n(&w->s->connections, __ATOMIC_RELAXED) < w->s->o.max_connections)
            add_conn(w, fd);
        else {
            send_busy(fd, false);
            close(fd);
        }
    }
}

/* ---- sending ---- */
/* Returns the unsent bytes.  Checks ptr because NULL + 0 is undefined in C. */
static struct iovec rest(const buffer *b, size_t done)
{
    return (struct iovec){ b->ptr ? b->ptr + done : NULL, b->len - done };
}

/* Sends as much of out and tail as the socket takes.  Returns false if the connection is broken. */
static bool send_some(int fd, buffer *out, size_t *out_done, buffer *tail, size_t *tail_done)
{
    while (*out_done < out->len || *tail_done < tail->len) {
        struct iovec iov[2] = { rest(out, *out_done), rest(tail, *tail_done) };
        bool first = iov[0].iov_len > 0;
        struct msghdr m = { .msg_iov = first ? iov : iov + 1,
            .msg_iovlen = first && iov[1].iov_len ? 2 : 1 };
        ssize_t n = m.msg_iovlen == 1
                        ? send(fd, m.msg_iov->iov_base, m.msg_iov->iov_len, MSG_NOSIGNAL)
                        : sendmsg(fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        size_t head = (size_t)n < iov[0].iov_len ? (size_t)n : iov[0].iov_len;
        *out_done += head;
        *tail_done += (size_t)n - head;
    }
    return true;
}

/* Moves the unsent bytes into a response_out, and waits until the socket is writable.
 * Returns false if memory or --max-buffered does not suffice.  A 503 is not possible then, because
 * a part of the reply may have been sent. */
static bool keep_unsent(worker *w, conn *c, size_t out_done, size_t tail_done)
{
    const size_t rest_of_out = w->out.len - out_done;
    const uint64_t want = sizeof(response_out) + rest_of_out + 256 + w->tail.cap;
    const uint64_t more = want > w->tail_held ? want - w->tail_held : 0;
    if (!budget_reserve_beside(w, more, w->tail_held)) return false;
    response_out *u = calloc(1, sizeof *u);
    if (!u || !buffer_add(&u->out, w->out.ptr + out_done, rest_of_out)) {
        budget_release(w, more);
        free(u);
        return false;
    }
    u->tail = w->tail;
    u->tail_done = tail_done;
    u->held = w->tail_held + more;
    u->active_at = w->now;
    w->tail = (buffer){ 0 };
    w->tail_held = 0;
    c->response_out = u;
    uint64_t left = u->out.len + u->tail.len - tail_done;
    worker_move(w, c, SENDING, w->now + (w->s->o.deadline + left / SLOWEST) * 1000);
    c->events_out = true;
    return events_watch(w, c, WAIT_WRITABLE);
}

/* Sends the worker's replies to the present connection; keep_unsent() stores the rest.  Returns
 * false if the connection was closed. */
static bool flush_replies(worker *w, conn *c)
{
    size_t out_done = 0, tail_done = 0;
    bool alive = send_some(c->fd, &w->out, &out_done, &w->tail, &tail_done);
    if (alive && (out_done < w->out.len || tail_done < w->tail.len))
        alive = keep_unsent(w, c, out_done, tail_done);
    w->out.len = 0;
    if (w->out.cap > 4 * READ_BYTES) buffer_drop(&w->out);
    buffer_drop(&w->tail);
    budget_release(w, w->tail_held);
    w->tail_held = 0;
    if (!alive) {
        request_in_drop(w, &w->current);
        conn_close(w, c);
    }
    return alive;
}

/* ---- reading ---- */
static void reply_from_job(worker *w, conn *c, reply *a);

/* Sends the job's reply, or stops reading until the job ends.  In state WAITING the only
 * event is that the client closed. */
static void wait_for_job(worker *w, conn *c)
{
    if (c->job->done && !job_restart(w, c->job)) {
        reply_from_job(w, c, &c->job->a);
        return;
    }
    events_watch(w, c, WAIT_CLOSED);
    c->events_out = true;
    worker_move(w, c, WAITING, c->job->until);
}

/* Chooses the connection's next state, after all complete requests were answered. */
static void next_state(worker *w, conn *c)
{
    if (c->response_out) return; /* continue_sending() chooses it later */
    if (c->job) {
        wait_for_job(w, c);
        return;
    }
    if (c->broken) {
        linger(w, c);
        return;
    }
    if (c->close) {
        conn_close(w, c);
        return;
    }
    if (c->events_out) {
        events_watch(w, c, WAIT_READABLE);
        c->events_out = false;
    }
    if (!c->suspended && w->drained) {
        linger(w, c);
        return;
    }
    if (!c->suspended) {
        worker_move(w, c, IDLE, w->now + w->s->o.idle * 1000);
        return;
    }
    if (c->suspended->deadline_unset || c->state != ASKING)
        worker_move(w, c, ASKING, w->now + w->s->o.deadline * 1000);
    c->suspended->deadline_unset = false;
}

/* Stores input until the present reply is sent.  Returns false if memory or --max-buffered does not
 * suffice. */
static bool keep_input(worker *w, response_out *u, const char *bytes, size_t len)
{
    if (!budget_reserve(w, len + INPUT_MORE)) return false;
    u->held += len + INPUT_MORE;
    return buffer_add(&u->input, bytes, len);
}

/* Parses input until all is parsed, a reply is only sent in part, or a job must answer.  Stores the
 * rest of the input. */
static void parse_input(worker *w, conn *c, const char *bytes, size_t len)
{
    parse_resume(w, c);
    do {
        size_t done = parse(w, c, bytes, len);
        bytes += done;
        len -= done;
        if (w->current.active && !c->close)
            parse_suspend(w, c);
        else {
            free(c->suspended);
            c->suspended = NULL;
            if (w->current.active || w->current.head_bytes) request_in_drop(w, &w->current);
        }
        if (!flush_replies(w, c)) return;
        /* The client is still sending: close() with unread bytes would discard the reply. */
        if (len && c->close) c->broken = true;
    } while (len && !c->close && !c->response_out && !c->job);
    if (len && c->job) {
        if (!job_keep_input(w, c->job, bytes, len)) {
            conn_close(w, c);
            return;
        }
    } else if (len && c->response_out && !keep_input(w, c->response_out, bytes, len)) {
        conn_close(w, c);
        return;
    }
    next_state(w, c);
}

static ssize_t recv_retry(int fd, void *to, size_t room)
{
    ssize_t n;
    do n = recv(fd, to, room, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Receives bytes of a body directly into the buffer of the request.  Returns the result of recv(),
 * or -2 if the request was refused. */
static ssize_t receive_body(worker *w, conn *c, size_t left, char **to)
{
    request_in *x = c->suspended;
    size_t want = x->body.cap > BODY_BYTES ? x->body.cap : BODY_BYTES;
    if (want > left) want = left;
    if (!body_grow(w, x, want)) {
        parse_resume(w, c);
        refuse(w, c, x->refused_with);
        free(c->suspended);
        c->suspended = NULL;
        if (flush_replies(w, c)) next_state(w, c);
        return -2;
    }
    *to = x->body.ptr + x->body.len;
    return recv_retry(c->fd, *to, want);
}

static void read_more(worker *w, conn *c)
{
    size_t left;
    char *to = w->read_buffer;
    ssize_t n =
        body_direct(c, &left) ? receive_body(w, c, left, &to) : recv_retry(c->fd, to, READ_BYTES);
    if (n == -2 || (n == -1 && errno == EAGAIN)) return;
    if (n > 0)
        parse_input(w, c, to, (size_t)n);
    else
        conn_close(w, c);
}

/* Parses input that was stored until the reply was sent, and frees it.  If a further reply is not
 * sent completely, the input stays stored. */
static void parse_kept_input(worker *w, conn *c, buffer *input)
{
    uint64_t held = input_cost(input);
    /* close() with unread bytes would make the kernel discard the reply */
    if (input->len && c->close) c->broken = true;
    if (input->len && c->response_out && !c->close) {
        c->response_out->input = *input;
        c->response_out->held += held;
        return;
    }
    if (input->len && !c->close)
        parse_input(w, c, input->ptr, input->len);
    else
        next_state(w, c);
    buffer_drop(input);
    budget_release(w, held);
}

static void continue_sending(worker *w, conn *c)
{
    response_out *u = c->response_out;
    const size_t done = u->out_done + u->tail_done;
    if (!send_some(c->fd, &u->out, &u->out_done, &u->tail, &u->tail_done)) {
        conn_close(w, c);
        return;
    }
    if (u->out_done + u->tail_done > done) { /* SENDING is ordered by active_at */
        u->active_at = w->now;
        worker_move(w, c, SENDING, c->until);
    }
    if (u->out_done < u->out.len || u->tail_done < u->tail.len) return;
    buffer input = u->input;
    u->held -= input_cost(&input);
    u->input = (buffer){ 0 };
    drop_unsent(w, c);
    parse_kept_input(w, c, &input);
}

static void discard_input(worker *w, conn *c)
{
    ssize_t n = 1;
    for (int i = 0; i < 16 && n > 0; i++) n = recv_retry(c->fd, w->read_buffer, READ_BYTES);
    if (n == 0 || (n < 0 && errno != EAGAIN)) conn_close(w, c);
}

void conn_ready(worker *w, conn *c, bool writable)
{
    if (c->fd < 0) return; /* conn_evict closed it in this round */
    w->current_conn = c;
    if (c->state == WAITING) { /* WAIT_CLOSED */
        conn_close(w, c);
        return;
    }
    if (c->state == LINGERING)
        discard_input(w, c);
    else if (!c->response_out)
        read_more(w, c);
    else if (writable)
        continue_sending(w, c);
}

/* ---- replies of jobs ---- */
/* Sends the reply of a job.  Frees the job before parsing later input, to free its body early. */
static void reply_from_job(worker *w, conn *c, reply *a)
{
    job *j = c->job;
    request q = j->q;
    buffer input = job_input(j);
    c->job = NULL;
    q.keep_alive = q.keep_alive && !is_draining(w->s);
    parse_resume(w, c);
    finish_reply(w, c, &q, a, j->began);
    if (j->done)
        job_free(j);
    else
        job_abandon(j); /* must come last: `q` and `*a` contain pointers into the job */
    if (flush_replies(w, c)) {
        parse_kept_input(w, c, &input);
        return;
    }
    budget_release(w, input_cost(&input));
    buffer_drop(&input);
}

void conn_answered(worker *w, conn *c)
{
    w->current_conn = c;
    /* while earlier replies are unsent, does nothing: next_state() calls wait_for_job() later */
    if (!c->response_out) wait_for_job(w, c);
}

void conn_refused(worker *w, conn *c, const char *why)
{
    reply a = { .understood = true };
    reply_status(&a, 503, why);
    reply_from_job(w, c, &a);
}

/* ---- deadlines and the end ---- */
/* Called when the deadline has passed.  An incomplete request gets 408.  One whose job has not
 * begun gets 503; a job that has begun limits its waits itself.  In other states the connection is
 * closed. */
void conn_late(worker *w, conn *c)
{
    w->current_conn = c;
    if (c->state == WAITING) {
        c->until = UINT64_MAX;
        if (job_claim(c->job)) conn_refused(w, c, NOT_BEGUN);
        return;
    }
    if (c->state != ASKING) {
        conn_close(w, c);
        return;
    }
    parse_resume(w, c);
    refuse(w, c, 408);
    free(c->suspended);
    c->suspended = NULL;
    if (flush_replies(w, c)) next_state(w, c);
}

/* Called for idle connections when the server ends.  Answers requests that have arrived, then
 * closes the connection. */
void conn_drain(worker *w, conn *c)
{
    w->current_conn = c;
    ssize_t n = recv_retry(c->fd, w->read_buffer, READ_BYTES);
    if (n > 0)
        parse_input(w, c, w->read_buffer, (size_t)n);
    else
        conn_close(w, c);
}
