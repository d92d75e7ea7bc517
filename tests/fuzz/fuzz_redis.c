/* fuzz_redis.c - a Redis that answers anything.  The connection is a pair of sockets: the input
 * lies ready in one end, whatever is asked through the other.  Nothing may crash or hang; what the
 * filter answers cannot be judged, since such a server may well be right. */
/* wraps: connect */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"
#include <sys/socket.h>
#include <unistd.h>

enum {
    ENDS = 8
}; /* more than are in use at once: who loses every race to create goes on for 100 rounds */
static const uint8_t *answer;
static size_t answer_len;
static int ends[ENDS];
static unsigned nends;

/* A part of the input at each connection, so that what comes after a reconnect differs.  The socket
 * becomes one end of a pair. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    int sv[2];
    (void)to;
    (void)len;
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0);
    const uint8_t *end = memmem(answer, answer_len, "\n\n", 2);
    size_t n = end ? (size_t)(end - answer) : answer_len;
    MUST(send(sv[1], answer, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n || n == 0);
    shutdown(sv[1], SHUT_WR);
    if (nends >= ENDS) close(ends[nends % ENDS]);
    ends[nends++ % ENDS] = sv[1];
    answer += end ? n + 2 : n;
    answer_len -= end ? n + 2 : n;
    MUST(dup2(sv[0], fd) == fd && close(sv[0]) == 0);
    return 0;
}

static void use(bf_filter *f)
{
    static const bf_key keys[] = { { "a", 1 }, { "b", 1 }, { "", 0 } };
    uint8_t each[3];
    bf_error e;
    bf_state state;
    bf_test_many(f, keys, 3, each, &e);
    bf_add(f, "a", 1, &e);
    bf_add_many(f, keys, 3, each, &e);
    bf_get_state(f, &state, &e);
    bf_filter *copy = bf_copy(f, &e);
    if (copy) bf_unite(f, copy, &e);
    bf_close(copy);
    bf_clear(f, &e);
    bf_expire(f, 1, &e);
    bf_delete(f, &e);
}

/* Replies that are well-formed, from a few bytes each: an index into what real ones hold, or a
 * number. */
static char *build(input *in, size_t *len)
{
    static const char *const texts[] = { "format", "1", "scheme", "block", "classic", "m", "1024",
        "n", "100", "k", "7", "p", "0.01", "secret", "0", "mark", "0000002a", "by", "bloomfilter",
        "", "512", "gozero", "QUEUED", "OK", "\0\0\0\x2a", "4096", "14", "block2", "2a", "shards",
        "cells" };
    static const char *const errors[] = { "ERR unknown command 'BITFIELD_RO'", "WRONGTYPE x",
        "MOVED 1 h:1", "OOM x", "NOAUTH x", "READONLY x" };
    enum { CAP = 1 << 16 };
    char *out = malloc(CAP);
    size_t n = 0;
    while (in->left && n < CAP - 1000) {
        unsigned op = (unsigned)take(in, 1), arg = op >> 3;
        size_t room = CAP - n;
        if ((op & 7) == 0)
            n += (size_t)snprintf(out + n, room, "*%u\r\n", arg);
        else if ((op & 7) == 1)
            n += (size_t)snprintf(out + n, room, ":%u\r\n", arg < 30 ? arg : (unsigned)take(in, 4));
        else if ((op & 7) == 2)
            n += (size_t)snprintf(out + n, room, "+%s\r\n", arg & 1 ? "QUEUED" : "OK");
        else if ((op & 7) == 3)
            n += (size_t)snprintf(out + n, room, "-%s\r\n", errors[arg % 6]);
        else if ((op & 7) == 4)
            n += (size_t)snprintf(out + n, room, "%s", arg & 1 ? "$-1\r\n" : "\n\n");
        else if ((op & 7) == 5) { /* a line of the bitmap, or the mark */
            size_t most = arg < 8 ? 4 : 8 * arg, have = in->left < most ? in->left : most;
            n += (size_t)snprintf(out + n, room, "$%zu\r\n", have);
            memcpy(out + n, in->at, have);
            memcpy(out + n + have, "\r\n", 2);
            n += have + 2;
            in->at += have;
            in->left -= have;
        } else {
            const char *t = texts[(arg + ((op & 7) == 7 ? 0 : 1)) % (sizeof texts / sizeof *texts)];
            size_t l = *t ? strlen(t) : (op & 7) == 7 && arg == 24 ? 4 : 0;
            n += (size_t)snprintf(out + n, room, "$%zu\r\n%.*s\r\n", l, (int)l, t);
        }
    }
    *len = n;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    input in = { data, len };
    uint64_t how = take(&in, 1);
    char *built = how & 32 ? build(&in, &answer_len) : NULL;
    answer = built ? (const uint8_t *)built : in.at;
    if (!built) answer_len = in.left;
    char url[160];
    snprintf(url, sizeof url, "unix://%s/fuzz?key=k&timeout=0.2&db=%d", how & 8 ? "u:p@" : "",
        how & 16 ? 3 : 0);
    bf_spec spec = { .storage = url, .must_exist = (how & 1) != 0 };
    if (!(how & 1) || how & 2) {
        spec.n = 100;
        spec.p = 0.01;
    }
    if (how & 4) {
        spec.scheme = "gozero";
        spec.m = 4096;
        spec.n = 0;
        spec.p = 0;
    }
    bf_filter *f = bf_open(&spec, &e);
    if (f)
        use(f);
    else
        sound_error(&e);
    bf_close(f);
    for (unsigned i = 0; i < nends && i < ENDS; i++) close(ends[i]);
    nends = 0;
    free(built);
    return 0;
}
