/* hosts.c - the addresses of a host's name, before a deadline.  getaddrinfo() takes as long as the
 * system's name servers do and cannot be stopped, so a thread of its own asks: whoever waits for it
 * goes away when the time is over, and the thread frees what it has when it is done.  A connection
 * asks once at a time: its next try waits for the thread that still asks. An address needs no
 * thread.  Knows names and threads, nothing of Redis. */
#include "base/system.h"
#include "base/base.h"
#ifdef BF_HAVE_HIREDIS
#include "redis/transport.h"
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 1 << 20 }; /* of the thread: modules that answer for names may be large */
struct bf_lookup {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    int holders; /* who waits and who asks: the last one frees it        */
    int pid;     /* a fork's child has no such thread                    */
    bool ready;
    int rc; /* of getaddrinfo()                                     */
    struct addrinfo *all;
    char port[12];
    char host[];
};

static void let_go(bf_lookup *k)
{
    pthread_mutex_lock(&k->mutex);
    const bool last = --k->holders == 0;
    pthread_mutex_unlock(&k->mutex);
    if (!last) return;
    if (k->all) freeaddrinfo(k->all);
    pthread_cond_destroy(&k->done);
    pthread_mutex_destroy(&k->mutex);
    free(k);
}

static const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };

static void *ask(void *given)
{
    bf_lookup *k = given;
    struct addrinfo *all = NULL;
    const int rc = getaddrinfo(k->host, k->port, &wanted, &all);
    pthread_mutex_lock(&k->mutex);
    k->rc = rc;
    k->all = rc ? NULL : all;
    k->ready = true;
    pthread_cond_signal(&k->done);
    pthread_mutex_unlock(&k->mutex);
    let_go(k);
    return NULL;
}

/* A host may unload this library, as PHP does at its end: not while the thread is in it. */
static void stay_loaded(void)
{
    Dl_info here;
    if (dladdr((const void *)&wanted, &here) && here.dli_fname)
        (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The host's signal handlers run in the host's threads. */
static int start_thread(bf_lookup *k)
{
    pthread_t thread;
    pthread_attr_t how;
    sigset_t all, was;
    int e = pthread_attr_init(&how);
    if (e) return e;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, STACK);
    e = pthread_create(&thread, &how, ask, k);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    pthread_attr_destroy(&how);
    return e;
}

#ifdef __APPLE__ /* its conditions know one clock */
enum { CLOCK = CLOCK_REALTIME };
#define SET_CLOCK(how) (void)(how)
#else
enum { CLOCK = CLOCK_MONOTONIC };
#define SET_CLOCK(how) pthread_condattr_setclock(how, CLOCK)
#endif

/* 0 or an errno. */
static int begin(bf_link *l, const char *port)
{
    const size_t len = strlen(l->url.host) + 1;
    bf_lookup *k = calloc(1, sizeof *k + len);
    pthread_condattr_t how;
    if (!k) return ENOMEM;
    memcpy(k->host, l->url.host, len);
    snprintf(k->port, sizeof k->port, "%s", port);
    k->holders = 2;
    k->pid = (int)getpid();
    pthread_condattr_init(&how);
    SET_CLOCK(&how);
    pthread_mutex_init(&k->mutex, NULL);
    pthread_cond_init(&k->done, &how);
    pthread_condattr_destroy(&how);
    stay_loaded();
    const int e = start_thread(k);
    if (e) {
        k->holders = 1;
        let_go(k);
        return e;
    }
    l->lookup = k;
    return 0;
}

static bool wait_for(bf_lookup *k, int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK, &t);
    if (ms < 0) ms = 0;
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&k->mutex);
    while (!k->ready && pthread_cond_timedwait(&k->done, &k->mutex, &t) == 0) {}
    const bool ready = k->ready;
    pthread_mutex_unlock(&k->mutex);
    return ready;
}

void bf_names_abandon(bf_link *l)
{
    if (l->lookup && l->lookup->pid == (int)getpid()) let_go(l->lookup);
    l->lookup = NULL; /* a parent's: its thread is not here, and its mutex may be held */
}

/* ms: how long it may take.  *all: for freeaddrinfo(). */
int bf_names_find(bf_link *l, int64_t ms, struct addrinfo **all, bf_error *err)
{
    const struct addrinfo address = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
    char port[12];
    int e = 0;
    snprintf(port, sizeof port, "%u", l->url.port);
    int rc = getaddrinfo(l->url.host, port, &address, all);
    if (rc == 0) return 0;
    if (l->lookup && l->lookup->pid != (int)getpid()) bf_names_abandon(l);
    if (rc == EAI_MEMORY || (!l->lookup && (e = begin(l, port)) == ENOMEM))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    if (e) return bf_fail_sys(err, e, "start a thread to look up", l->label);
    if (!wait_for(l->lookup, ms)) {
        l->timed_out = true;
        return bf_fail_sys(err, ETIMEDOUT, "look up the host of", l->label);
    }
    rc = l->lookup->rc;
    *all = l->lookup->all;
    l->lookup->all = NULL;
    bf_names_abandon(l);
    if (rc)
        return bf_fail(err, rc == EAI_MEMORY ? BF_ENOMEM : BF_EIO, "cannot reach %s: %.50s",
            l->label, gai_strerror(rc));
    return 0;
}
#endif
