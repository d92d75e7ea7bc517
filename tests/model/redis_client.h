/* redis_client.h - a client of Redis for which each command is a step of the model (model.h),
 * because no server promises that a pipeline is one moment.  Commands go to a real server, scripts
 * too, but their clock is the model's.  Can follow another protocol than the core's.  Knows Redis's
 * protocol by itself, and of the core only how scripts are recognized. */
#ifndef REDIS_CLIENT_H
#define REDIS_CLIENT_H
#include "../../core/bloomfilter_host.h"
#include "calls.h"
#include "redis_server.h"
#include <sys/socket.h>

enum { EPOCH = 2, ARGS = 64, ROUND = 64, BUFFER = 1 << 16 }; /* EPOCH: in seconds */

/* ---- what must be found: another protocol ---- */
static enum {
    RIGHT,
    FOUR_BYTES,         /* a handle reads four bytes of the mark, not five */
    MARK_READ_FIRST,    /* a handle reads the mark before the bits */
    MARK_WRITTEN_FIRST, /* the mark is written before the bits */
} protocol;

/* ---- a client: one command is one step ---- */
typedef struct {
    const char *bytes;
    size_t len;
    bf_key arg[ARGS]; /* the first ones */
    size_t args;
} command;
typedef struct {
    char bytes[BUFFER];
    size_t len;
} answer;
/* of a thread, because a thread pauses between the commands of a round trip; 0: of no thread */
static struct {
    command commands[ROUND];
    answer answers[ROUND];
    char script[BUFFER], other[BUFFER];
} rooms[MODEL_THREADS + 1];
#define ROOM (rooms + model.running + 1)
static int line = -1;
static int shared; /* stands for all keys in the server */

static bool is_own(const void *word)
{
    return word != &shared && word != &clock_of_all &&
           !((const int *)word >= finished && (const int *)word < finished + MODEL_THREADS);
}
static const void *place(const void *word) { return word == &clock_of_all ? &shared : word; }

static bool is(const command *c, size_t i, const char *text)
{
    return i < c->args && c->arg[i].len == strlen(text) &&
           !memcmp(c->arg[i].ptr, text, c->arg[i].len);
}
static bool has(const command *c, size_t i, const char *text)
{
    return i < c->args && memmem(c->arg[i].ptr, c->arg[i].len, text, strlen(text));
}
static bool writes(const command *c) { return is(c, 0, "EVAL") || is(c, 0, "SETRANGE"); }
/* ECHO, and what fills a temporary key, meets no other client. */
static bool meets(const command *c)
{
    return !is(c, 0, "ECHO") && (is(c, 0, "EVAL") || !has(c, 1, ":tmp:"));
}

static bool ask(const char *bytes, size_t len, answer *to)
{
    to->len = 0;
    if (send(line, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) return false;
    while (!to->len || !reply_end(to->bytes, to->bytes + to->len)) {
        ssize_t n = recv(line, to->bytes + to->len, BUFFER - to->len, 0);
        if (n <= 0) return false;
        to->len += (size_t)n;
    }
    return true;
}

/* The clock, as a call sees it. */
static int epoch_now(void)
{
    const int me = model.running;
    if (me < 0) return clock_of_verdict;
    outcome *o = &out[me][finished[me]];
    o->now = clock_of_all;
    if (o->now > o->latest) o->latest = o->now;
    return o->now;
}

/* Sends a command with these arguments in the place of its first ones. */
static bool ask_with(const command *c, size_t n, const bf_key *arg, answer *to)
{
    static char text[BUFFER];
    size_t at = (size_t)sprintf(text, "*%zu\r\n", c->args);
    for (size_t i = 0; i < c->args; i++) {
        const bf_key *a = i < n && arg[i].ptr ? arg + i : c->arg + i;
        at += (size_t)sprintf(text + at, "$%zu\r\n", a->len);
        memcpy(text + at, a->ptr, a->len);
        memcpy(text + at + a->len, "\r\n", 2);
        at += a->len + 2;
    }
    return ask(text, at, to);
}

/* Replaces `from` up to the end of `upto` in the script; upto "": all that follows. */
static void replace(char *script, const char *from, const char *upto, const char *with)
{
    char tail[BUFFER], *at = strstr(script, from);
    if (!at) return;
    const char *end = *upto ? strstr(at, upto) + strlen(upto) : at + strlen(at);
    strcpy(tail, end);
    sprintf(at, "%s%s", with, tail);
}

static bool ask_script(const command *c, char *script, answer *to)
{
    const bf_key arg[2] = { { NULL, 0 }, { script, strlen(script) } };
    return ask_with(c, 2, arg, to);
}

static answer other_answer;

/* The mark and the number of parts, or the epoch, now; the zeros in a step of their own. */
static bool ask_mark_first(const command *c, char *script, answer *to)
{
    char *first = ROOM->other;
    strcpy(first, script);
    if (has(c, 1, "'parts', ARGV[7] + 1")) { /* append */
        replace(first, "call('SETRANGE', KEYS[1], ARGV[1]", "\n", "");
        if (!ask_script(c, first, to)) return false;
        model_pause(&shared, true, false);
        strcpy(first, "if redis.call('STRLEN', KEYS[1]) > ARGV[1] + 4 then\n"
                      " redis.call('SETRANGE', KEYS[1], ARGV[1], '\\0\\0\\0\\0')\n"
                      "end return 1");
        return ask_script(c, first, &other_answer);
    }
    replace(first, "call('SETRANGE', key, e %", "\n", "");
    replace(first, "local out, n = {(get", "", "return epoch ~= had and epoch or -1");
    if (!ask_script(c, first, to)) return false;
    if (*to->bytes == ':' && to->bytes[1] != '-') {
        model_pause(&shared, true, false);
        sprintf(first,
            "redis.call('SETRANGE', KEYS[1], %ld %% ARGV[6] * ARGV[7] / 8,\n"
            " string.rep('\\0', ARGV[7] / 8)) return 1",
            atol(to->bytes + 1));
        if (!ask_script(c, first, to)) return false;
        model_pause(&shared, true, false);
    }
    return ask_script(c, script, to);
}

static bool run_command(const command *c, answer *to)
{
    char *script = ROOM->script;
    char text[40] = "";
    if (meets(c)) model_pause(&shared, writes(c), false);
    if (is(c, 0, "TIME")) {
        const int n = sprintf(text, "%d", EPOCH * epoch_now());
        to->len = (size_t)sprintf(to->bytes, "*2\r\n$%d\r\n%s\r\n$1\r\n0\r\n", n, text);
        return true;
    }
    if (is(c, 0, "ECHO")) {
        to->len = (size_t)sprintf(to->bytes, "$%zu\r\n%.*s\r\n", c->arg[1].len, (int)c->arg[1].len,
            (const char *)c->arg[1].ptr);
        return true;
    }
    if (is(c, 0, "GETRANGE") && protocol == FOUR_BYTES) {
        const long from = strtol(c->arg[2].ptr, NULL, 10), end = strtol(c->arg[3].ptr, NULL, 10);
        const bf_key arg[4] = { [3] = { text, (size_t)sprintf(text, "%ld", end - 1) } };
        if (end == from + 4) return ask_with(c, 4, arg, to);
    }
    if (!is(c, 0, "EVAL")) return ask(c->bytes, c->len, to);
    snprintf(script, BUFFER, "%.*s", (int)c->arg[1].len, (const char *)c->arg[1].ptr);
    if (has(c, 1, "call('TIME')")) {
        snprintf(text, sizeof text, "{'%d', '0'}", EPOCH * epoch_now());
        replace(script, "call('TIME')", "call('TIME')", text);
    } else if (!has(c, 1, "'parts', ARGV[7] + 1"))
        return ask(c->bytes, c->len, to);
    if (!(protocol == MARK_WRITTEN_FIRST ? ask_mark_first : ask_script)(c, script, to))
        return false;
    long epoch;
    if (*text == '{' && sscanf(to->bytes, "*%*d\r\n:%*d\r\n:%ld", &epoch) == 1 &&
        model.running >= 0)
        out[model.running][finished[model.running]].now = (int)epoch; /* an add's may be later */
    return true;
}

/* MARK_READ_FIRST: the last command before the ECHO, if it reads as the mark is read, comes first.
 */
static bool run_commands(const command *c, answer *answers, size_t n)
{
    size_t last = n;
    while (last > 0 && is(c + last - 1, 0, "ECHO")) last--;
    const bool first = protocol == MARK_READ_FIRST && last > 1 && is(c + last - 1, 0, "GETRANGE") &&
                       !is(c + last - 1, 2, "-4");
    if (first && !run_command(c + last - 1, answers + last - 1)) return false;
    for (size_t i = 0; i < n; i++)
        if (!(first && i == last - 1) && !run_command(c + i, answers + i)) return false;
    return true;
}

/* The replies are given when all are there. */
static int exchange(
    void *ctx, const bf_redis_part *requests, size_t n, bool report, bf_reply_sink *sink)
{
    command *c = ROOM->commands;
    answer *answers = ROOM->answers;
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = requests[i].bytes;
        bf_commands all = { at, at + requests[i].len, 0 };
        bf_key arg;
        for (; bf_command_next(&all); at = all.at) {
            command *to = c + have++;
            CHECK(have <= ROUND);
            for (to->args = 0; bf_command_arg(&all, &arg); to->args++)
                if (to->args < ARGS) to->arg[to->args] = arg;
            CHECK(to->args <= ARGS);
            to->bytes = at;
            to->len = (size_t)(all.at - at);
        }
    }
    CHECK(run_commands(c, answers, have));
    for (size_t i = 0; i < have; i++)
        CHECK_EQ(bf_reply_feed(sink, answers[i].bytes, answers[i].len), (int64_t)i + 1);
    return BF_CLIENT_ANSWERED;
}
static const bf_redis_client client = { .exchange = exchange, .name = "model" };
#endif
