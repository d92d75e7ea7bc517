/* redis_host_client.h - a client of the host's (bf_redis_client) on a plain socket, which counts
 * its round trips: of one server, and of a cluster.  Shares no code with the core. */
#ifndef REDIS_HOST_CLIENT_H
#define REDIS_HOST_CLIENT_H
#include "redis_filters.h"
#include <netinet/tcp.h>
#include <sys/time.h>

typedef struct {
    const int *port;
    int fd; /* 0: not connected */
    int round_trips;
} host_client;

static inline void host_disconnect(host_client *c)
{
    if (c->fd > 0) close(c->fd);
    c->fd = 0;
}

static inline int host_exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    static char buf[1 << 16];
    host_client *c = ctx;
    int64_t have = 0, want = 0;
    c->round_trips++;
    if (c->fd <= 0 && (c->fd = rs_connect(*c->port)) < 0) {
        bf_reply_fault(sink, ECONNREFUSED, "", 0);
        return BF_CLIENT_UNSENT;
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    for (size_t i = 0; i < nparts; want += (int64_t)parts[i++].commands)
        if (send(c->fd, parts[i].bytes, parts[i].len, MSG_NOSIGNAL) != (ssize_t)parts[i].len)
            goto lost;
    while (have < want) { /* in two pieces: a reply may end anywhere */
        ssize_t n = recv(c->fd, buf, sizeof buf, 0);
        if (n <= 0 || (have = bf_reply_feed(sink, buf, (size_t)n / 2)) < 0 ||
            (have = bf_reply_feed(sink, buf + n / 2, (size_t)(n - n / 2))) < 0)
            goto lost;
    }
    return BF_CLIENT_ANSWERED;
lost:
    host_disconnect(c);
    if (have == BF_ENOMEM) return BF_CLIENT_ANSWERED; /* the sink knows */
    bf_reply_fault(sink, ECONNRESET, "", 0);
    return BF_CLIENT_LOST;
}

static host_client host_socket = { .port = &redis.port };
static const bf_redis_client one_server = {
    .exchange = host_exchange, .name = "the test's client", .ctx = &host_socket
};
static const bf_redis_client a_cluster = {
    .exchange = host_exchange, .name = "the test's cluster", .ctx = &host_socket, .cluster = true
};
#endif
