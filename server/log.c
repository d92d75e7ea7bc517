/* log.c - the access log: one line of JSON per request.  Contains keys only with --log-keys. */
#define _GNU_SOURCE
#include "output.h"
#include "resp.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FLUSH = 64 << 10 };

/* Opens the log at the start, and again on SIGHUP.  With O_NONBLOCK, opening a FIFO without a
 * reader fails (ENXIO) instead of waiting, and a write does not wait, either; the descriptor is
 * new, so other programs are not affected.  Returns false, with errno, on failure. */
bool log_open(server *s)
{
    if (!s->o.access_log) return true;
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int fd = open(s->o.access_log, flags, 0640);
    if (fd < 0) return false;
    if (output_start(ACCESS_LOG, fd, s->o.access_log)) return true;
    const int why = errno;
    close(fd);
    errno = why;
    return false;
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
    if (q->resp)
        buffer_print(b, ",\"command\":\"%s\",\"filter\":", q->command ? q->command->name : "");
    else
        buffer_print(b, ",\"method\":\"%s\",\"path\":", q->head ? "HEAD" : methods[q->method]);
    buffer_json(b, logged_path(q, a, w->s->o.log_keys));
    buffer_print(b, ",\"status\":%d,\"received\":%zu,\"sent\":%zu,\"us\":%.1f}\n", a->status,
        q->body.len, bytes, (double)(clock_ns() - began_ns) / 1000);
    if (b->len > FLUSH) log_flush(w);
}

void log_flush(worker *w)
{
    if (w->log.len) output_lines(ACCESS_LOG, w->log.ptr, w->log.len);
    w->log.len = 0;
    if (w->log.cap > 4 * FLUSH) buffer_drop(&w->log);
}
