/* test_redis_breaker.c - a Redis that does not answer costs one call its time-out: the calls after
 * it fail immediately and say so, then one call tries.  Every way of not answering; threads and
 * children of a fork.  No check measures time: where "immediately" is meant, a call that waits
 * would wait for ever.  Values that are refused: test_refusals.c, test_redis_faults.c.  About
 * core/redis/breaker.c. */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "redis_proxy.h"
#include <sys/un.h>

static const char SILENT[] = "did not answer";

/* 0, or the code of the error, whose sentence is in e. */
static int try_url(const char *url, bf_spec spec)
{
    spec.m = 20000;
    spec.k = 5;
    spec.storage = url;
    e = (bf_error){ 0 };
    bf_filter *f = bf_open(&spec, &e);
    bf_close(f);
    return f ? 0 : e.code;
}

static bool left_alone(void)
{
    return e.code == BF_EIO && e.sys_errno == ETIMEDOUT && strstr(e.msg, SILENT) &&
           strstr(e.msg, "timed out");
}
static bool waited(void) { return e.code == BF_EIO && !strstr(e.msg, SILENT); }

/* The kernel accepts connections, nobody answers. */
static int silent_server(int *port)
{
    const int fd = rs_bind(port);
    listen(fd, 64);
    return fd;
}

/* ---- which faults are remembered ---- */
TEST(one_call_waits)
{
    char url[128];
    int port, fd = silent_server(&port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=k&timeout=0.2&retry_after=1000", port);
    try_url(url, (bf_spec){ 0 });
    CHECK(waited() && e.sys_errno == ETIMEDOUT);
    for (int i = 0; i < 100; i++) {
        try_url(url, (bf_spec){ .timeout = 3600 });
        CHECK(left_alone());
    }
    CHECK_HAS(e.msg, "cannot reach Redis key k at 127.0.0.1:");
    try_url(url, (bf_spec){ .timeout = 0.001, .retry_after = BF_ALWAYS_TRY });
    CHECK(waited());
    try_url(url, (bf_spec){ .timeout = 0.001, .retry_after = 1e-4 });
    CHECK(waited()); /* the parameter overrides the URL's; 0.1 ms were over */
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=k&timeout=0.001&retry_after=0", port);
    try_url(url, (bf_spec){ 0 });
    CHECK(waited());
    try_url(url, (bf_spec){ .timeout = 3600, .retry_after = 1000 });
    CHECK(left_alone());
    CHECK_EQ(try_url(rs_url(&redis, "other", "&retry_after=1000"), (bf_spec){ 0 }), 0);
    close(fd);
}

TEST(a_socket_and_tls)
{
    char url[200], path[] = "/tmp/bf-silent-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int port, fd = socket(AF_UNIX, SOCK_STREAM, 0), tls = silent_server(&port);
    CHECK(bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 64) == 0);
    snprintf(url, sizeof url, "unix://%s?key=k&retry_after=1000", path);
    try_url(url, (bf_spec){ .timeout = 0.1 });
    CHECK(waited() && e.sys_errno == ETIMEDOUT);
    try_url(url, (bf_spec){ .timeout = 3600 });
    CHECK(left_alone());
    close(fd);
    unlink(path);
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d?key=k&retry_after=1000", port);
    if (try_url(url, (bf_spec){ .timeout = 0.2 }) != BF_ENOTSUP) {
        CHECK(waited() && e.sys_errno == ETIMEDOUT);
        try_url(url, (bf_spec){ .timeout = 3600 });
        CHECK(left_alone());
    }
    close(tls);
}

/* A full backlog: the kernel drops the SYN. */
TEST(no_reply_to_a_syn)
{
    char url[128];
    int port, fd = rs_bind(&port), filling[8];
    listen(fd, 0);
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (int i = 0; i < 8; i++) {
        filling[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(filling[i], (struct sockaddr *)&a, sizeof a);
    }
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=k&retry_after=1000", port);
    try_url(url, (bf_spec){ .timeout = 0.2 });
    CHECK(waited() && e.sys_errno == ETIMEDOUT);
    try_url(url, (bf_spec){ .timeout = 3600 });
    CHECK(left_alone());
    for (int i = 0; i < 8; i++) close(filling[i]);
    close(fd);
}

TEST(a_refusal_is_an_answer)
{
    char url[128];
    int port, fd = rs_bind(&port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=k&retry_after=1000", port);
    for (int i = 0; i < 3; i++) {
        try_url(url, (bf_spec){ 0 });
        CHECK(waited() && e.sys_errno == ECONNREFUSED);
    }
    close(fd);
}

/* ---- handles that are open ---- */
static bf_filter *open_through(const proxy *x, const char *key, const char *more)
{
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=%s&timeout=3600%s", x->port, key, more);
    bf_filter *f = bf_open(&(bf_spec){ .m = 20000, .k = 5, .storage = url }, &e);
    if (!f) {
        fprintf(stderr, "%s\n", e.msg);
        exit(1);
    }
    CHECK(bf_add(f, "there", 5, &e) >= 0);
    return f;
}

static bool works(bf_filter *f)
{
    e = (bf_error){ 0 };
    return bf_test(f, "there", 5, &e) == 1 && bf_add(f, "there", 5, &e) == BF_PRESENT;
}

/* A reply that stops in the middle: other handles of the process do not wait for it either, and
 * what they would have added was not sent. */
TEST(every_handle_of_the_process)
{
    proxy x;
    proxy_start(&x, &redis);
    bf_filter *f = open_through(&x, "a", "&retry_after=0.4"),
              *g = open_through(&x, "b", "&retry_after=1000");
    proxy_order(&x, HALF_AND_SILENCE, "");
    may_take(f, 0.3);
    CHECK_EQ(bf_test(f, "there", 5, &e), BF_EIO);
    CHECK(waited() && e.sys_errno == ETIMEDOUT);
    may_take(f, 3600);
    proxy_order(&x, PASS, "");
    bf_key many[3000];
    for (int i = 0; i < 3000; i++) many[i] = (bf_key){ "new", 3 };
    CHECK(bf_test(g, "there", 5, &e) == BF_EIO && left_alone());
    CHECK(bf_add(g, "new", 3, &e) == BF_EIO && left_alone());
    CHECK(bf_add_many(g, many, 3000, NULL, &e) == BF_EIO && left_alone());
    bf_state st;
    CHECK(bf_get_state(g, &st, &e) == BF_EIO && left_alone());
    rs_pause(500);
    CHECK(works(f)); /* its retry_after is over: it tries, and the server answers all */
    CHECK_EQ(bf_test(g, "new", 3, &e), 0);
    CHECK(works(g));
    CLOSE(f, g);
    proxy_end(&x);
}

/* Only new connections hang: those that are open go on. */
TEST(new_connections_hang)
{
    char url[128];
    proxy x;
    proxy_start(&x, &redis);
    bf_filter *f = open_through(&x, "a", "&retry_after=1000");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?key=c&retry_after=1000", x.port);
    proxy_order(&x, SWALLOW, "");
    try_url(url, (bf_spec){ .timeout = 0.3 });
    proxy_order(&x, PASS, "");
    CHECK(waited() && e.sys_errno == ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        CHECK(works(f));
        try_url(url, (bf_spec){ 0 });
        CHECK(left_alone());
    }
    bf_close(f);
    proxy_end(&x);
}

/* ---- one tries ---- */
enum { TRIERS = 8 };
static char trial_url[128];
static int failed_early;
static void *try_once(void *result)
{
    bf_error err = { 0 };
    bf_close(bf_open(
        &(bf_spec){ .m = 100, .k = 2, .storage = trial_url, .timeout = 3600, .retry_after = 0.05 },
        &err));
    *(bool *)result = strstr(err.msg, SILENT) != NULL;
    if (*(bool *)result) __atomic_add_fetch(&failed_early, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

TEST(one_thread_tries)
{
    pthread_t threads[TRIERS];
    bool early[TRIERS];
    int port, fd = silent_server(&port), n = 0;
    snprintf(trial_url, sizeof trial_url, "redis://127.0.0.1:%d?key=k", port);
    try_url(trial_url, (bf_spec){ .timeout = 0.1 });
    CHECK(waited());
    rs_pause(100);
    for (int i = 0; i < TRIERS; i++) pthread_create(threads + i, NULL, try_once, early + i);
    while (__atomic_load_n(&failed_early, __ATOMIC_SEQ_CST) < TRIERS - 1) rs_pause(1);
    rs_pause(100); /* longer than retry_after: the one that tries is still at it */
    CHECK(try_url(trial_url, (bf_spec){ .timeout = 3600, .retry_after = 0.05 }) && left_alone());
    IN_A_CHILD /* where no thread tries: it tries itself */
    {
        try_url(trial_url, (bf_spec){ .timeout = 0.1, .retry_after = 0.05 });
        CHECK(waited());
    }
    close(fd); /* resets the connection that is tried: an answer */
    for (int i = 0; i < TRIERS; i++) {
        pthread_join(threads[i], NULL);
        n += early[i];
    }
    CHECK_EQ(n, TRIERS - 1);
    try_url(trial_url, (bf_spec){ .retry_after = 1000 });
    CHECK(waited() && e.sys_errno == ECONNREFUSED);
}

int main(void) { return main_with_redis(&redis); }
