/* log.c - the access log: one line of JSON per request.  Contains keys only with --log-keys. */
#define _GNU_SOURCE
#include "server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FLUSH = 64 << 10 };

/* Opens the log at the start, and again on SIGHUP.  Keeps the descriptor's number, because workers
 * may be writing to it.  With O_NONBLOCK, opening a FIFO without a reader fails (ENXIO) instead of
 * waiting.  Returns -1 with errno on failure. */
int log_open(server *s)
{
    if (!s->o.access_log) return 0;
    int fd = open(s->o.access_log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
    if (fd < 0) return -1;
    fcntl(fd, F_SETFL, O_APPEND);
    if (s->log_fd < 0) {
        s->log_fd = fd;
        return 0;
    }
    int rc = dup3(fd, s->log_fd, O_CLOEXEC);
    close(fd);
    return rc < 0 ? -1 : 0;
}

static void begin_entry(buffer *b)
{
    struct timespec t;
    struct tm tm;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    buffer_print(b, "{\"time\":\"%s.%03ldZ\"", text, t.tv_nsec / 1000000);
}

static void print_client(buffer *b, int fd)
{
    struct sockaddr_storage a = { 0 };
    socklen_t len = sizeof a;
    char host[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a;
    struct sockaddr_in *four = (struct sockaddr_in *)&a;
    if (getpeername(fd, (struct sockaddr *)&a, &len) < 0) return;
    if (a.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    else
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    buffer_print(b, ",\"client\":\"%s\",\"port\":%u", host,
        ntohs(four->sin_port)); /* sin_port and sin6_port have the same offset */
}

/* Returns the path for the log: the complete path with --log-keys, else its beginning without key
 * and query.  Returns an empty text if a key or a token may be anywhere in the path: the request
 * was not understood or, without --log-keys, got 400. */
static text logged_path(const request *q, const reply *a, bool keys)
{
    text t = q->path;
    size_t len = 0;
    if (!a->understood || (a->status == 400 && !keys)) return (text){ "", 0 };
    if (keys) return t;
    while (len < t.len && t.ptr[len] != '=' && t.ptr[len] != '?') len++;
    return (text){ t.ptr, len };
}

void log_request(
    worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns)
{
    static const char *const methods[] = { "GET", "POST", "PUT", "DELETE", "OTHER" };
    buffer *b = &w->log;
    begin_entry(b);
    print_client(b, c->fd);
    buffer_print(b, ",\"method\":\"%s\",\"path\":", q->head ? "HEAD" : methods[q->method]);
    buffer_json(b, logged_path(q, a, w->s->o.log_keys));
    buffer_print(b, ",\"status\":%d,\"received\":%zu,\"sent\":%zu,\"us\":%.1f}\n", a->status,
        q->body.len, bytes, (double)(clock_ns() - began_ns) / 1000);
    if (b->len > FLUSH) log_flush(w);
}

/* Reports only the first of successive failures, because one line per failure would fill the
 * journal. */
static void report_failure(server *s, bool failed, const char *why)
{
    if (__atomic_exchange_n(&s->log_fails, failed, __ATOMIC_RELAXED) == failed || !failed) return;
    fprintf(stderr, "bloomfilterd: cannot write to %s: %s; text lines are missing from now on\n",
        s->o.access_log, why);
}

/* Writes complete lines in one call, so that lines of several workers are not mixed. */
void log_flush(worker *w)
{
    server *s = w->s;
    const size_t len = w->log.len;
    if (len && s->log_fd >= 0) {
        const ssize_t n = write(s->log_fd, w->log.ptr, len);
        report_failure(s, n != (ssize_t)len, n < 0 ? strerror(errno) : "it was written in part");
    }
    w->log.len = 0;
    if (w->log.cap > 4 * FLUSH) buffer_drop(&w->log);
}
