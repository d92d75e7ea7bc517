/* test_redis_tls.c - rediss://: the same filters through TLS, who is trusted and who is not, and a
 * line that is cut, silent or spoilt at any time.  Its own servers and its own authority.  About
 * core/redis/tls.c. */
/* wraps: dlopen */
#define _GNU_SOURCE
#include "redis_filters.h"
#include "letter_keys.h"
#include "redis_proxy.h"
#include <dlfcn.h>

static char keys[32] = "/tmp/bf-tls-XXXXXX", url[300];
static bool no_library;

REPLACED(void *, dlopen, (const char *name, int how))
{
    return __real_dlopen(no_library ? "libnowhere.so" : name, how);
}

/* ---- certificates ---- */
static void shell(const char *format, const char *a, const char *b, const char *c)
{
    char command[900];
    int n = snprintf(command, sizeof command, "cd %s && { ", keys);
    n += snprintf(command + n, sizeof command - (size_t)n, format, a, b, c);
    snprintf(command + n, sizeof command - (size_t)n, "; } >>log 2>&1");
    if (system(command)) {
        fprintf(stderr, "%s: failed, see %s/log: is openssl installed?\n", command, keys);
        printf("0 passed, 1 failed\n");
        exit(1);
    }
}

static void authority(const char *name)
{
    shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
          "/CN=%s -keyout %s.key -out %s.pem",
        name, name, name);
}

static void certificate(const char *name, const char *names)
{
    shell("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=%s "
          "-keyout %s.key -out %s.csr",
        name, name, name);
    shell("echo subjectAltName=%s >%s.ext%s", names, name, "");
    shell("openssl x509 -req -in %s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "
          "%s.ext -out %s.pem",
        name, name, name);
    shell("cat %s.pem %s.key >%s.both", name, name, name);
}

/* rediss:// to a port, trusting a file of ours (NULL = the system), and what follows. */
static const char *to(const char *host, int port, const char *ca, const char *more)
{
    int n = snprintf(
        url, sizeof url, "rediss://%s:%d/0?key=k&timeout=%d%s", host, port, PATIENCE, more);
    if (ca) snprintf(url + n, sizeof url - (size_t)n, "&ca=%s/%s", keys, ca);
    return url;
}

static bf_filter *make(const char *where)
{
    bf_filter *f = bf_open(&(bf_spec){ .n = 20000, .p = 0.001, .storage = where }, &e);
    if (!f) {
        FAILED("%s: %s\n", where, e.msg);
        exit(1);
    }
    return f;
}

/* ---- the same filters ---- */
static void same_bits(bf_spec spec)
{
    bf_spec plain = spec;
    rs_command(&redis, "FLUSHALL");
    spec.storage = to("localhost", redis.tls, "ca.pem", "");
    plain.storage = rs_url(&redis, "k", "");
    bf_filter *f = bf_open(&spec, &e), *g = f ? bf_open(&plain, &e) : NULL, *near = NULL;
    if (!f || !g) {
        FAILED("%s\n", e.msg);
        bf_close(f);
        return;
    }
    CHECK(bf_add(f, "alone", 5, &e) == BF_ADDED && bf_test(g, "alone", 5, &e) == 1);
    int64_t added = many(f, true, 'k', 0, 5000, NULL);
    CHECK(added > 4900 && many(g, false, 'k', 0, 5000, NULL) == 5000 &&
          many(f, false, 'k', 0, 5000, NULL) == 5000 &&
          many(f, false, 'k', 5000, 5000, NULL) < 100);
    CHECK((near = bf_copy(f, &e)) && bf_equal(near, g, &e) == 1 && bf_equal(f, g, &e) == 1);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK(many(g, false, 'k', 0, 5000, NULL) == 0 && bf_unite(f, near, &e) == 0 &&
          many(g, false, 'k', 0, 5000, NULL) == 5000);
    CLOSE(f, g, near);
}

TEST(without_the_library)
{
    IN_A_CHILD
    {
        no_library = true;
        REFUSED(to("localhost", redis.tls, "ca.pem", ""), BF_ENOTSUP,
            "rediss:// needs OpenSSL for TLS: libnowhere.so");
        REFUSED(to("localhost", redis.tls, "ca.pem", ""), BF_ENOTSUP, "libnowhere.so");
    }
}

TEST(the_same_filters)
{
    same_bits((bf_spec){ .n = 10000, .p = 0.001, .shards = 3 });
    same_bits((bf_spec){ .n = 3000000, .p = 0.001 }); /* 6 MB there and back */
    same_bits((bf_spec){ .n = 10000, .p = 0.001, .grow = 2 });
}

/* ---- who it is ---- */
TEST(who_is_trusted)
{
    char text[200];
    rs_command(&redis, "FLUSHALL");
    bf_close(make(to("127.0.0.1", redis.tls, "ca.pem", "")));
    bf_close(make(to("localhost", redis.tls, "ca.pem", "&timeout=90")));
    REFUSED(to("localhost", redis.tls, NULL, ""), BF_EIO, "certificate");
    REFUSED(to("localhost", redis.tls, "stranger.pem", ""), BF_EIO, "no TLS with it");
    REFUSED(to("127.0.0.2", redis.tls, "ca.pem", ""), BF_EIO,
        "cannot reach"); /* it listens on 127.0.0.1 */
    REFUSED(to("localhost", redis.tls, "none.pem", ""), BF_EIO, "cannot read CA certificates from");
    REFUSED(to("localhost", redis.tls, "ca.key", ""), BF_EIO, "ca.key");
    snprintf(text, sizeof text, "&cert=%s/client.pem", keys);
    REFUSED(to("localhost", redis.tls, "ca.pem", text), BF_EIO, "PEM, both in one file");
    REFUSED(to("localhost", redis.tls, "ca.pem", "&cert=/nowhere"), BF_EIO, "/nowhere");
    setenv("SSL_CERT_FILE", strcat(strcpy(text, keys), "/ca.pem"), 1);
    bf_close(make(to("localhost", redis.tls, NULL, "")));
    unsetenv("SSL_CERT_FILE");
}

TEST(whose_name_it_is)
{
    server other = { .keys = keys, .name = "elsewhere", .clients = "yes" };
    char text[200];
    rs_begin(&other);
    snprintf(text, sizeof text, "&cert=%s/client.both", keys);
    REFUSED(to("localhost", other.tls, "ca.pem", text), BF_EIO, "ostname mismatch");
    REFUSED(to("127.0.0.1", other.tls, "ca.pem", text), BF_EIO, "IP address mismatch");
    rs_stop(&other, SIGKILL);
    other.name = "server";
    rs_resume(&other);
    /* it wants to see our certificate */
    REFUSED(to("localhost", other.tls, "ca.pem", ""), BF_EIO, "(TLS)");
    bf_close(make(to("localhost", other.tls, "ca.pem", text)));
    rs_end(&other);
}

TEST(wrong_ports)
{
    REFUSED(to("localhost", redis.port, "ca.pem", "&timeout=2"), BF_EIO, "(TLS)");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/0?key=k&timeout=2", redis.tls);
    REFUSED(url, BF_EIO, "127.0.0.1");
    REFUSED("rediss://:s3same@localhost:1/0?key=k", BF_EIO, "(TLS)");
}

/* ---- faults of the line ---- */
static void spoilt(proxy *x, int mode, const char *text)
{
    proxy_order(x, mode, text);
    REFUSED(to("localhost", x->port, "ca.pem", "&timeout=0.5&retry_after=0"), BF_EIO, "(TLS)");
    proxy_order(x, PASS, "");
    bf_filter *f = make(to("localhost", x->port, "ca.pem", "&retry_after=0"));
    CHECK(bf_add(f, "kept", 4, &e) >= 0);
    bf_filter *hasty = make(to("localhost", x->port, "ca.pem", "&retry_after=0"));
    may_take(hasty, 0.5);
    proxy_order(x, mode, text);
    CHECK(bf_test(hasty, "kept", 4, &e) == BF_EIO && strstr(e.msg, "(TLS)"));
    CHECK(bf_add(hasty, "kept", 4, &e) == BF_EIO);
    proxy_order(x, PASS, "");
    may_take(hasty, PATIENCE);
    CHECK(bf_test(f, "kept", 4, &e) == 1 && bf_test(hasty, "kept", 4, &e) == 1 &&
          bf_add(f, "kept", 4, &e) >= 0);
    CLOSE(f, hasty);
}

TEST(faults_of_the_line)
{
    proxy x;
    server behind = redis;
    behind.port = redis.tls;
    proxy_start(&x, &behind);
    for (int mode = SWALLOW; mode <= HALF_AND_SILENCE; mode++) spoilt(&x, mode, "");
    spoilt(&x, INSTEAD, "+OK\r\n+OK\r\n+OK\r\n");
    spoilt(&x, INSTEAD, "\x17\x03\x03\x01\x02nonsense that looks like a record");
    proxy_end(&x);
}

TEST(forks_and_ended_connections)
{
    bf_filter *f = make(to("localhost", redis.tls, "ca.pem", ""));
    CHECK(bf_add(f, "kept", 4, &e) >= 0);
    pid_t child = fork();
    if (child == 0) {
        const bool right = bf_test(f, "kept", 4, &e) == 1 && many(f, true, 'k', 0, 1000, NULL) >= 0;
        bf_close(f);
        exit(right ? 0 : 1);
    }
    for (int i = 0; i < 50; i++) CHECK_EQ(bf_test(f, "kept", 4, &e), 1);
    ends_well(child);
    CHECK_EQ(many(f, false, 'k', 0, 1000, NULL), 1000);
    rs_command(&redis, "CLIENT KILL TYPE normal SKIPME yes");
    CHECK(bf_test(f, "kept", 4, &e) == 1 && bf_add(f, "kept", 4, &e) == BF_PRESENT);
    bf_close(f);
}

int main(void)
{
    if (!bf_open(&(bf_spec){ .storage = "rediss://127.0.0.1:1?key=x" }, &e) && e.code == BF_ENOTSUP)
        SKIP_REST("this build lacks OpenSSL");
    MAKE_FOLDER(keys);
    authority("ca");
    authority("stranger");
    certificate("server", "DNS:localhost,IP:127.0.0.1");
    certificate("elsewhere", "DNS:elsewhere.example");
    certificate("client", "DNS:client.example");
    redis = (server){ .keys = keys, .name = "server", .clients = "no" };
    rs_begin(&redis);
    run_tests();
    rs_end(&redis);
    shell("rm -r %s%s%s", keys, "", "");
    return FINISH();
}
