/* fuzz_http.c - bytes that a client of bloomfilterd may send, in pieces of any size: through the
 * real connection, parser and routes, without a network and without threads.  Whatever comes,
 * replies are HTTP, nothing stays held.  fuzz_resp.c is the same for clients of Redis. */
#include "../../server/conn.c"
#include "fuzz.h"
#include <fcntl.h>
#include <sys/eventfd.h>

static server s;
static worker w;

static void start(void)
{
    bf_error e;
    s.o = (options){ .threads = 1,
        .m = 4096,
        .n = 400,
        .max_url = 1024,
        .max_header = 2048,
        .max_body = 8192,
        .max_buffered = 1 << 20,
        .max_filter = 1 << 16,
        .max_connections = 10,
        .max_filters = 4,
        .max_total = 1 << 20,
        .deadline = 30,
        .idle = 75,
        .host = "127.0.0.1",
        .allow_host = { "a.example" } };
    s.listener = eventfd(0, EFD_NONBLOCK);
    s.started = clock_ms();
    s.workers = &w;
    history_init(&s.history);
    MUST(filters_open(&s.fs, &s.o, &e) == 0 && worker_init(&w, &s));
    w.may_block = true; /* it does what else is left to jobs.c */
}

static conn *only(void)
{
    for (int i = 0; i < STATES; i++)
        if (w.lists[i].first) return w.lists[i].first;
    return NULL;
}

#ifdef RESP
static bool is_reply(const char *in, ssize_t n) { return n > 0 && strchr("+-:$*%#_", in[0]); }
#else
static bool is_reply(const char *in, ssize_t n) { return n >= 9 && !memcmp(in, "HTTP/1.", 7); }
#endif

/* What the client reads: the first bytes of a connection's replies are a status line. */
static bool hear(int fd, bool *any)
{
    char in[4096];
    ssize_t n = recv(fd, in, sizeof in, MSG_DONTWAIT);
    if (n > 0 && !*any) MUST(is_reply(in, n));
    *any |= n > 0;
    return n > 0;
}

static void forget_named(void)
{
    bf_error e;
    for (size_t i = s.fs.count; i-- > 0;)
        if (strcmp(s.fs.all[i]->name, DEFAULT_NAME))
            MUST(filters_drop(&s.fs, (text){ s.fs.all[i]->name, strlen(s.fs.all[i]->name) }, &e) ==
                 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    int sv[2];
    bool any = false;
    input in = { data, len };
    if (!s.workers) start();
    size_t piece = 1 + take(&in, 1) * 8;
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv) == 0);
    s.o.token = (piece & 64) ? (char[]){ "secret" } : NULL;
    s.loopback = piece & 8;
    s.o.allow_hosts = (piece & 16) != 0;
    s.o.max_buffered = (piece & 32) ? 4096 : 1 << 20;
    add_conn(&w, sv[0]);
#ifdef RESP
    w.lists[IDLE].first->protocol = 2;
#endif
    while (in.left && w.connections) {
        size_t n = in.left < piece ? in.left : piece;
        if (send(sv[1], in.at, n, MSG_NOSIGNAL) != (ssize_t)n) break;
        in.at += n;
        in.left -= n;
        for (int i = 0; i < 50 && w.connections; i++) {
            conn_ready(&w, only(), true);
            if (!hear(sv[1], &any) && i) break;
        }
    }
    shutdown(sv[1], SHUT_WR);
    for (int i = 0; i < 1000 && w.connections; i++) {
        conn_ready(&w, only(), true);
        hear(sv[1], &any);
    }
    conn_bury(&w);
    loads_expire(&s, true);
    MUST(w.connections == 0 && s.connections == 0 && s.buffered == 0 && !only());
    MUST(w.tail_held == 0);
    close(sv[1]);
    forget_named();
    return 0;
}
