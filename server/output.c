/* output.c - writes text lines to standard error and to the access log: see output.h. */
#define _GNU_SOURCE
#include "output.h"
#include "bytes.h"
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* QUEUE_MAX: bytes that wait for a thread.  KEPT: bytes of an empty buffer that is kept. */
enum { QUEUE_MAX = 16 << 20, KEPT = 256 << 10, MESSAGE = 1024, PAUSE_MS = 20, GRACE_MS = 200 };

typedef struct {
    pthread_mutex_t lock; /* protects queue, runs and ended */
    pthread_cond_t more;
    buffer queue;
    pthread_t thread;
    const char *name;
    int fd;
    bool runs, ended;
    bool torn;     /* the last text line was written in part */
    unsigned used; /* the value of `opened` at the last write */
    /* atomic: */
    unsigned opened;  /* how often the descriptor was set */
    uint64_t end_by;  /* ms; 0: the output does not end */
    uint64_t dropped; /* text lines */
    bool fails;       /* the last text lines were dropped */
} output;

static output outputs[OUTPUTS] = { [MESSAGES] = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                       .more = PTHREAD_COND_INITIALIZER },
    [ACCESS_LOG] = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER } };

/* Reports only the first of successive failures, because one line per failure would fill the
 * journal. */
static void note_dropped(output *o, const char *bytes, size_t len, const char *why)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
    __atomic_fetch_add(&o->dropped, lines, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&o->fails, true, __ATOMIC_RELAXED) && o->name)
        say("cannot write to %s: %s; text lines are missing from now on", o->name, why);
}

/* Waits a moment for the reader of a pipe or terminal.  Returns false if the output ends. */
static bool wait_for_reader(const output *o)
{
    const uint64_t end_by = __atomic_load_n(&o->end_by, __ATOMIC_ACQUIRE);
    if (end_by && clock_ms() >= end_by) return false;
    poll(&(struct pollfd){ .fd = o->fd, .events = POLLOUT }, 1, PAUSE_MS);
    return true;
}

/* A text line of which only a part was written is ended, so that later ones stay readable.  With a
 * new descriptor, such a line is written again. */
static void write_lines(output *o, const buffer *b)
{
    const char *why = NULL;
    size_t done = 0;
    while (done < b->len && !why) {
        const unsigned opened = __atomic_load_n(&o->opened, __ATOMIC_ACQUIRE);
        while (opened != o->used && done && b->ptr[done - 1] != '\n') done--;
        o->used = opened;
        const ssize_t n =
            o->torn ? write(o->fd, "\n", 1) : write(o->fd, b->ptr + done, b->len - done);
        if (n > 0 && o->torn)
            o->torn = false;
        else if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            why = wait_for_reader(o) ? NULL : "nobody reads it";
        else if (n == 0 || errno != EINTR)
            why = n ? strerror(errno) : "it takes no bytes";
    }
    if (!why) {
        __atomic_store_n(&o->fails, false, __ATOMIC_RELAXED);
        return;
    }
    o->torn = o->torn || (done && b->ptr[done - 1] != '\n');
    note_dropped(o, b->ptr + done, b->len - done, why);
}

static void *run(void *self)
{
    output *o = self;
    buffer lines = { 0 };
    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (!o->queue.len && !__atomic_load_n(&o->end_by, __ATOMIC_ACQUIRE))
            pthread_cond_wait(&o->more, &o->lock);
        if (!o->queue.len) break;
        const buffer empty = lines;
        lines = o->queue;
        o->queue = empty;
        pthread_mutex_unlock(&o->lock);
        write_lines(o, &lines);
        lines.len = 0;
        if (lines.cap > KEPT) buffer_drop(&lines);
        pthread_mutex_lock(&o->lock);
    }
    o->ended = true;
    pthread_mutex_unlock(&o->lock);
    buffer_drop(&lines);
    return NULL;
}

bool output_start(output_name to, int fd, const char *name)
{
    output *o = &outputs[to];
    if (o->runs) { /* keeps the number, which the thread may be using */
        const bool ok = dup3(fd, o->fd, O_CLOEXEC) >= 0;
        if (ok) close(fd);
        __atomic_add_fetch(&o->opened, ok, __ATOMIC_RELEASE);
        return ok;
    }
    o->fd = fd;
    o->name = name;
    errno = pthread_create(&o->thread, NULL, run, o);
    return (o->runs = errno == 0);
}

void output_lines(output_name to, const char *bytes, size_t len)
{
    output *o = &outputs[to];
    pthread_mutex_lock(&o->lock);
    const bool ok = o->queue.len + len <= QUEUE_MAX && buffer_add(&o->queue, bytes, len);
    if (ok) pthread_cond_signal(&o->more);
    pthread_mutex_unlock(&o->lock);
    if (!ok) note_dropped(o, bytes, len, "it is read too slowly");
}

void say(const char *format, ...)
{
    char line[MESSAGE] = "bloomfilterd: ";
    va_list args;
    size_t len = strlen(line);
    va_start(args, format);
    const int n = vsnprintf(line + len, sizeof line - 1 - len, format, args);
    va_end(args);
    len = n < 0 ? len : strlen(line);
    line[len++] = '\n';
    output_lines(MESSAGES, line, len);
}

uint64_t output_dropped(void)
{
    uint64_t n = 0;
    for (int i = 0; i < OUTPUTS; i++) n += __atomic_load_n(&outputs[i].dropped, __ATOMIC_RELAXED);
    return n;
}

/* A write to standard error may wait for ever, because its description may belong to other
 * programs, too, and so must not be set to O_NONBLOCK.  Then its thread is left behind, GRACE_MS
 * after `until`, at which the others stop. */
void output_end(uint64_t until)
{
    for (int i = OUTPUTS - 1; i >= 0; i--) { /* the access log first: its thread writes messages */
        output *o = &outputs[i];
        bool ended = false;
        pthread_mutex_lock(&o->lock);
        __atomic_store_n(&o->end_by, until, __ATOMIC_RELEASE);
        pthread_cond_signal(&o->more);
        while (o->runs && !(ended = o->ended) && clock_ms() < until + GRACE_MS) {
            pthread_mutex_unlock(&o->lock);
            poll(NULL, 0, 1);
            pthread_mutex_lock(&o->lock);
        }
        pthread_mutex_unlock(&o->lock);
        if (!ended) continue;
        pthread_join(o->thread, NULL);
        buffer_drop(&o->queue);
        if (o->fd > 2) close(o->fd);
    }
}
