/* commands.c - writes the commands of a round trip into the buffer of a connection.
 *
 *   out   | request: commands about one key | request: commands about another key | ...
 *
 * In a cluster, the client sends each request to the node of its key. */
#include "parts/filter.h"
#include "redis/connection.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* space for replies such as MOVED, after which a host's client sends commands again */
enum { SPARE_LEAVES = 1 << 10, SPARE_BYTES = 1 << 16 };

void bf_conn_begin(bf_conn *l, int changes)
{
    l->out_len = l->commands = l->echoes = l->nparts = 0;
    l->opened = false;
    l->leaves = SPARE_LEAVES;
    l->bytes = SPARE_BYTES;
    l->changes = changes == BF_WRITES;
    l->no_memory = l->timed_out = l->new_request = l->fresh = l->sent = false;
    /* the last round trip was given up after some of its bytes were sent */
    if (l->socket && l->socket->ahead) bf_socket_close(l->socket);
}

static bf_redis_part *last_part(const bf_conn *l)
{
    return (bf_redis_part *)l->parts.at + l->nparts - 1;
}

/* ---- arguments ---- */
char *bf_conn_room(bf_conn *l, size_t bytes)
{
    char *out = bf_redis_room(&l->out, l->out_len + bytes);
    l->no_memory |= !out;
    return out ? out + l->out_len : NULL;
}

char *bf_redis_digits(char *at, uint64_t v)
{
    char text[20];
    size_t n = 0;
    do text[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n) *at++ = text[--n];
    return at;
}

enum { HEADER = 24 };
static size_t header(char text[HEADER], char kind, size_t n)
{
    char *at = text;
    *at++ = kind;
    at = bf_redis_digits(at, n);
    *at++ = '\r';
    *at++ = '\n';
    return (size_t)(at - text);
}

char *bf_conn_begin_arg(bf_conn *l, size_t len)
{
    char *at = bf_conn_room(l, HEADER + len + 2);
    if (!at) return NULL;
    l->out_len += header(at, '$', len);
    return (char *)l->out.at + l->out_len;
}

void bf_conn_end_arg(bf_conn *l, size_t len)
{
    memcpy((char *)l->out.at + l->out_len + len, "\r\n", 2);
    l->out_len += len + 2;
    l->args++;
}

static void append_bytes(bf_conn *l, const void *bytes, size_t len)
{
    char *at = bf_conn_begin_arg(l, len);
    if (!at) return;
    if (len) memcpy(at, bytes, len);
    bf_conn_end_arg(l, len);
}

static void append_args(bf_conn *l, const char *format, va_list ap)
{
    for (size_t len; *format; format += len + (format[len] == ' ')) {
        char text[32] = "";
        const void *bytes = text;
        uint32_t v;
        int64_t i;
        len = strcspn(format, " ");
        switch (*format == '%' ? format[1] : 0) {
        case 0: append_bytes(l, format, len); break;
        case 's':
            bytes = va_arg(ap, const char *);
            append_bytes(l, bytes, strlen(bytes));
            break;
        case 'n':
            append_bytes(l, text, (size_t)(bf_redis_digits(text, va_arg(ap, uint64_t)) - text));
            break;
        case 'i':
            i = va_arg(ap, int64_t);
            if (i != BF_NEVER) snprintf(text, sizeof text, "%lld", (long long)i);
            append_bytes(l, text, strlen(text));
            break;
        case 'g':
            bf_print(text, sizeof text, "%.17g", va_arg(ap, double));
            append_bytes(l, text, strlen(text));
            break;
        case 'b':
            bytes = va_arg(ap, const void *);
            append_bytes(l, bytes, va_arg(ap, size_t));
            break;
        case 'x':
            if ((v = va_arg(ap, uint32_t))) snprintf(text, sizeof text, "%08lx", (unsigned long)v);
            append_bytes(l, text, strlen(text));
            break;
        default:
            v = va_arg(ap, uint32_t);
            for (int j = 0; j < 4; j++) text[j] = (char)(v >> (24 - 8 * j));
            append_bytes(l, text, 4);
        }
    }
}

void bf_conn_append(bf_conn *l, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    append_args(l, format, ap);
    va_end(ap);
}

/* ---- requests ---- */
/* Ends the last command: writes the header, with the number of arguments, before the arguments. */
static void close_command(bf_conn *l)
{
    char text[HEADER];
    if (!l->opened || l->no_memory) return;
    l->opened = false;
    char *at = (char *)l->out.at + l->open;
    const size_t len = header(text, '*', l->args);
    memmove(at + len, at + HEADER, l->out_len - l->open - HEADER);
    memcpy(at, text, len);
    l->out_len -= HEADER - len;
    last_part(l)->len += l->out_len - l->open;
    last_part(l)->commands++;
}

void bf_conn_expect(bf_conn *l, size_t leaves, size_t bytes)
{
    l->leaves += leaves;
    l->bytes += bytes;
}

/* A host's client may read a reply that belongs to another command: PHP or Python code that runs
 * inside it may leave a call before its reply comes, or use the connection meanwhile. So what it
 * sends to one server ends with an ECHO of a random number, which fresh_echo writes. */
static void append_echo(bf_conn *l)
{
    static const char command[] = "*2\r\n$4\r\nECHO\r\n$16\r\n................\r\n";
    enum { LEN = sizeof command - 1 };
    char *at = l->nparts ? bf_conn_room(l, LEN) : NULL;
    if (!at) return;
    memcpy(at, command, LEN);
    l->out_len += LEN;
    l->echoes++;
    last_part(l)->len += LEN;
    last_part(l)->commands++;
    bf_conn_expect(l, 1, BF_ECHO);
}

/* Returns true if the request has an ECHO. In a cluster each one has. */
static bool has_echo(const bf_conn *l, size_t i)
{
    return !l->socket && (l->client->cluster || i + 1 == l->nparts);
}

void bf_conn_fresh_echo(bf_conn *l)
{
    const bf_redis_part *part = l->parts.at;
    /* random at first, because other handles use the same client; then fresh without a draw */
    if (l->echo_number == 0) l->echo_number = bf_random64();
    const uint64_t number = l->echo_number++;
    snprintf(l->sink.echo, sizeof l->sink.echo, "%08lx%08lx", (unsigned long)(number >> 32),
        (unsigned long)(number & UINT32_MAX));
    for (size_t i = 0, command = 0; i < l->nparts; i++) {
        command += part[i].commands;
        if (!has_echo(l, i)) continue;
        memcpy((char *)part[i].bytes + part[i].len - BF_ECHO - 2, l->sink.echo, BF_ECHO);
        bf_sink_expect_echo(&l->sink, command - 1);
    }
}

/* With a URL there is only one server, so all commands form one request. */
void bf_conn_route(bf_conn *l, const char *key)
{
    close_command(l);
    if (l->nparts && (l->socket || (!l->new_request && !strcmp(last_part(l)->key, key)))) return;
    if (!l->socket && l->client->cluster) append_echo(l);
    l->new_request = false;
    if (bf_redis_room(&l->parts, (l->nparts + 1) * sizeof(bf_redis_part))) {
        l->nparts++;
        *last_part(l) = (bf_redis_part){ .key = key, .key_len = strlen(key) };
    } else
        l->no_memory = true;
}
void bf_conn_new_request(bf_conn *l) { l->new_request = true; }

void bf_conn_end(bf_conn *l)
{
    close_command(l);
    if (!l->socket) append_echo(l);
}

/* ---- commands ---- */
static void begin_command(bf_conn *l, const char *format, va_list ap)
{
    close_command(l);
    if (l->socket && !l->changes) bf_socket_send_ahead(l->socket, l->out.at, l->out_len);
    if (l->nparts == 0) bf_conn_route(l, l->key);
    l->commands++;
    bf_conn_expect(l, BF_REPLY_LEAVES, BF_REPLY_BYTES);
    l->open = l->out_len;
    l->args = 0;
    if ((l->opened = bf_conn_room(l, HEADER) != NULL)) l->out_len += HEADER;
    append_args(l, format, ap);
}

void bf_conn_command(bf_conn *l, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    begin_command(l, format, ap);
    va_end(ap);
}

int bf_conn_query(bf_conn *l, bf_error *err, const char *format, ...)
{
    va_list ap;
    bf_conn_begin(l, BF_READS);
    va_start(ap, format);
    begin_command(l, format, ap);
    va_end(ap);
    return bf_conn_finish(l, err);
}

void bf_conn_eval(bf_conn *l, const char *script, unsigned keys)
{
    static const char head[] = "local call=redis.call ";
    const size_t len = strlen(script), all = sizeof head - 1 + len;
    bf_conn_command(l, "EVAL");
    char *at = bf_conn_begin_arg(l, all);
    if (!at) return;
    memcpy(at, head, sizeof head - 1);
    memcpy(at + sizeof head - 1, script, len);
    bf_conn_end_arg(l, all);
    bf_conn_append(l, "%n", (uint64_t)keys);
}
