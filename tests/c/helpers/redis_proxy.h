/* redis_proxy.h - stands between a filter and its server and spoils what the server answers, as
 * told: a process of its own. */
#ifndef REDIS_PROXY_H
#define REDIS_PROXY_H
#include "redis_server.h"

/* REPEAT: a new connection makes it send the newest answer again, to whom it went, and is closed.
 */
enum { PASS, SWALLOW, RESET_, HALF_AND_CLOSE, HALF_AND_SILENCE, INSTEAD, FLOOD, REPEAT };
typedef struct {
    int mode, answers, hold_at;
    char text[200];
} proxy_orders; /* shared with the proxy; text: what INSTEAD answers; FLOOD: HEAD|AGAIN */
typedef struct {
    pid_t pid;
    int port;
    volatile proxy_orders *orders;
} proxy;

enum { PROXY_MOST = 32 };
typedef struct {
    int client, server;
} proxy_pair;

static void proxy_shut(proxy_pair *p, bool reset)
{
    struct linger now = { 1, 0 };
    if (reset) setsockopt(p->client, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(p->client);
    close(p->server);
    p->client = p->server = -1;
}

/* Answer number hold_at waits until that is another number. */
static void proxy_hold(volatile proxy_orders *o)
{
    const int n = __atomic_add_fetch(&o->answers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&o->hold_at, __ATOMIC_SEQ_CST) == n) rs_pause(1);
}

/* The head, then the rest again and again, until the client has enough of it or FLOOD_BYTES are
 * sent. */
enum { FLOOD_BYTES = 96 << 20 };
static void proxy_flood(proxy_pair *p, const char *head, const char *again)
{
    static char bytes[1 << 16];
    size_t unit = strlen(again), n = 0;
    while (unit && n + unit <= sizeof bytes) {
        memcpy(bytes + n, again, unit);
        n += unit;
    }
    bool fine = send(p->client, head, strlen(head), MSG_NOSIGNAL) >= 0;
    for (size_t sent = 0; n && fine && sent < FLOOD_BYTES; sent += n) {
        for (size_t at = 0;
            fine && at < n;) { /* whole units: what a client takes must fit together */
            ssize_t c = send(p->client, bytes + at, n - at, MSG_NOSIGNAL);
            fine = c > 0;
            if (fine) at += (size_t)c;
        }
    }
    if (!fine) proxy_shut(p, false);
}

static void proxy_answer(proxy_pair *p, volatile proxy_orders *o, const char *bytes, size_t n)
{
    char text[200];
    memcpy(text, (const void *)o->text, sizeof text);
    proxy_hold(o);
    if (o->mode == SWALLOW) return;
    if (o->mode == FLOOD) {
        char *bar = strrchr(text, '|');
        *bar = 0;
        proxy_flood(p, text, bar + 1);
        return;
    }
    if (o->mode == RESET_) {
        proxy_shut(p, true);
        return;
    }
    if (o->mode == INSTEAD) {
        bytes = text;
        n = strlen(text);
    }
    if (o->mode == HALF_AND_CLOSE || o->mode == HALF_AND_SILENCE) n /= 2;
    if (n && send(p->client, bytes, n, MSG_NOSIGNAL) < 0) {
        proxy_shut(p, false);
        return;
    }
    if (o->mode == HALF_AND_CLOSE) proxy_shut(p, false);
}

static void proxy_run(int listener, int to, volatile proxy_orders *o)
{
    static char buf[1 << 16], newest[1 << 16];
    size_t nnewest = 0;
    int to_whom = -1;
    proxy_pair pairs[PROXY_MOST];
    for (int i = 0; i < PROXY_MOST; i++) pairs[i].client = pairs[i].server = -1;
    for (;;) {
        struct pollfd p[1 + 2 * PROXY_MOST];
        p[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
        for (int i = 0; i < PROXY_MOST; i++) {
            p[1 + 2 * i] = (struct pollfd){ .fd = pairs[i].client, .events = POLLIN };
            p[2 + 2 * i] = (struct pollfd){ .fd = pairs[i].server, .events = POLLIN };
        }
        poll(p, 1 + 2 * PROXY_MOST, -1);
        for (int i = 0; i < PROXY_MOST; i++) {
            ssize_t n;
            if (pairs[i].client >= 0 && p[1 + 2 * i].revents) {
                if ((n = read(pairs[i].client, buf, sizeof buf)) <= 0 ||
                    write(pairs[i].server, buf, (size_t)n) != n)
                    proxy_shut(pairs + i, false);
            }
            if (pairs[i].server >= 0 && p[2 + 2 * i].revents) {
                if ((n = read(pairs[i].server, buf, sizeof buf)) <= 0)
                    proxy_shut(pairs + i, false);
                else {
                    memcpy(newest, buf, nnewest = (size_t)n);
                    to_whom = pairs[i].client;
                    proxy_answer(pairs + i, o, buf, (size_t)n);
                }
            }
        }
        if (!p[0].revents) continue;
        int fd = accept(listener, NULL, NULL), i = 0;
        if (o->mode == REPEAT) {
            send(to_whom, newest, nnewest, MSG_NOSIGNAL);
            close(fd);
            continue;
        }
        while (i < PROXY_MOST - 1 && pairs[i].client >= 0) i++;
        if (pairs[i].client >= 0) proxy_shut(pairs + i, false);
        pairs[i] = (proxy_pair){ fd, rs_connect(to) };
        if (pairs[i].server < 0) proxy_shut(pairs + i, false);
    }
}

static void proxy_start(proxy *x, const server *s)
{
    x->orders =
        mmap(NULL, sizeof *x->orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int listener = rs_bind(&x->port);
    listen(listener, 16);
    if ((x->pid = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        proxy_run(listener, s->port, x->orders);
    }
    close(listener);
}

static inline void proxy_order(proxy *x, int mode, const char *text)
{
    snprintf((char *)x->orders->text, sizeof x->orders->text, "%s", text);
    __atomic_store_n(&x->orders->mode, mode, __ATOMIC_SEQ_CST);
}

static inline void proxy_repeat(proxy *x)
{
    char c;
    proxy_order(x, REPEAT, "");
    const int fd = rs_connect(x->port);
    while (recv(fd, &c, 1, 0) > 0) {}
    close(fd);
    proxy_order(x, PASS, "");
}

static void proxy_end(proxy *x)
{
    kill(x->pid, SIGKILL);
    waitpid(x->pid, NULL, 0);
}
#endif
