/* test_redis_names.c - name servers that take their time: `timeout` covers them, nothing is left
 * behind, and one thread at a time asks for a connection.  The linker sends the core's getaddrinfo
 * here.  It starts its own server. */
/* wraps: getaddrinfo */
#define _GNU_SOURCE
#include "redis_filters.h"
#include <netdb.h>
#include <pthread.h>

#define LATE                                                                                       \
    20.0 /* s: "it waits for the name server"; time-outs here are below 1 s, the machine may be    \
            busy */

static int asked, slow_ms; /* how often a name was looked up, and how long that takes */
int __real_getaddrinfo(
    const char *host, const char *port, const struct addrinfo *how, struct addrinfo **all);
int __wrap_getaddrinfo(
    const char *host, const char *port, const struct addrinfo *how, struct addrinfo **all);
int __wrap_getaddrinfo(
    const char *host, const char *port, const struct addrinfo *how, struct addrinfo **all)
{
    if (how->ai_flags & AI_NUMERICHOST) return __real_getaddrinfo(host, port, how, all);
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < __atomic_load_n(&slow_ms, __ATOMIC_SEQ_CST); i += 5) rs_pause(5);
    return strcmp(host, "good.test") ? EAI_NONAME : __real_getaddrinfo("127.0.0.1", port, how, all);
}
static void slow(int ms) { __atomic_store_n(&slow_ms, ms, __ATOMIC_SEQ_CST); }
static int times(void) { return __atomic_load_n(&asked, __ATOMIC_SEQ_CST); }

static bf_filter *named(const char *host, const char *timeout)
{
    char url[120];
    snprintf(url, sizeof url, "redis://%s:%d?key=names&timeout=%s", host, redis.port, timeout);
    e = (bf_error){ 0 };
    return bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e);
}

static void names_and_addresses(void)
{
    bf_filter *f = named("good.test", "30");
    CHECK(f && times() == 1 && bf_add(f, "x", 1, &e) >= 0);
    bf_close(f);
    CHECK(!named("bad.test", "30") && e.code == BF_EIO && times() == 2);
    CHECK_HAS(e.msg, "cannot reach Redis key names at bad.test");
    bf_close(f = named("127.0.0.1", "30"));
    CHECK(f && times() == 2); /* an address is not looked up */
    CHECK(!named("[::1]", "30") || times() == 2);
}

static void slow_name_servers(void)
{
    double start = rs_now();
    const int before = times();
    slow(100000);
    for (int i = 0; i < 5; i++) {
        CHECK(!named("good.test", "0.05"));
        CHECK_EQ(e.sys_errno, ETIMEDOUT);
        CHECK_HAS(e.msg, "cannot look up the host of Redis key names at good.test");
    }
    CHECK(rs_now() - start < LATE);
    slow(0); /* whoever still asks comes to an end, and frees what it has */
    for (int i = 0; i < 400 && times() < before + 5; i++) rs_pause(5);
    CHECK_EQ(times(), before + 5);
}

/* The handle stays: its next try does not ask again, and takes what the first one brings. */
static void one_at_a_time(void)
{
    bf_filter *f = named("good.test", "30"), *g = named("good.test", "0.05");
    if (!g) g = named("good.test", "0.5");
    CHECK(f && bf_add(f, "x", 1, &e) >= 0 && g);
    if (!g) return;
    const int before = times();
    slow(100000);
    rs_command(&redis, "CLIENT KILL TYPE normal SKIPME yes");
    for (int i = 0; i < 5; i++) CHECK(bf_test(g, "x", 1, &e) == BF_EIO && e.sys_errno == ETIMEDOUT);
    CHECK(bf_add(g, "x", 1, &e) == BF_EIO && times() <= before + 1);
    slow(0);
    int rc = BF_EIO;
    for (int i = 0; i < 400 && rc < 0; i++) rc = bf_test(g, "x", 1, &e);
    CHECK_EQ(rc, 1);
    CHECK_EQ(times(), before + 1);
    bf_close(g);
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    bf_close(f);
}

/* The child has no such thread: it asks by itself.  Closing does not wait. */
static void forks_and_closes(void)
{
    int status = -1;
    bf_filter *f = named("good.test", "30"), *g = named("good.test", "0.3");
    CHECK(f && g);
    if (!f || !g) return;
    const double start = rs_now();
    slow(100000);
    rs_command(&redis, "CLIENT KILL TYPE normal SKIPME yes");
    CHECK_EQ(bf_test(g, "x", 1, &e), BF_EIO);
    pid_t child = fork();
    if (child == 0) {
        slow(0);
        int rc = BF_EIO;
        for (int i = 0; i < 100 && rc < 0; i++) rc = bf_test(g, "x", 1, &e);
        bf_close(g);
        _exit(rc != 1);
    }
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    bf_close(g);
    CHECK(rs_now() - start < LATE);
    slow(0);
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    bf_close(f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    NEEDS_REDIS();
    rs_start(&redis, NULL);
    RUN(names_and_addresses);
    RUN(slow_name_servers);
    RUN(one_at_a_time);
    RUN(forks_and_closes);
    rs_end(&redis);
    rs_pause(100); /* threads that were let go */
    return FINISH();
}
