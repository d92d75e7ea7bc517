/* test_model_bias.c - the only writer of a mapped file, who writes plain words, and others who
 * come: other processes, threads of the same handle, children of a fork; some revoke, one opens and
 * closes, somebody dies at every step.  Whatever was added is there, and nobody waits for ever.
 * Each handle has the file open by itself, so leases and locks are the kernel's own; waiting is the
 * model's.  That a store may reach the others late is not in it: tests/litmus. */
/* wraps: flock fsync mmap munmap fcntl open close sched_yield syscall */
#include "../../core/base/system.h"
#include "../../core/home/file.h"
#include "../../core/parts/parts.h"
#include "../../core/parts/rebuild.h"
#include "check.h"
#include "one_file.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 6, FIRST = 0, OWNERS = 1, SECONDS = 3, THIRDS = 4, FRESH = 5 };
static unsigned k, m;
static char names[KEYS][8];
static bf_filter *handle[MODEL_THREADS], *child;
static bool wanted[KEYS], no_barrier;
static int failed;

/* ---- the machine ---- */
static int kernel;   /* what the kernel knows of open files and locks */
static bool locked;  /* by the owner */
static bool opening; /* does anybody open or close it? */
static int leased;   /* to it: who opens the file waits */

static bool not_leased(int me)
{
    (void)me;
    return !leased;
}
int __real_open(const char *, int, ...);
int __wrap_open(const char *, int, ...);
int __wrap_open(const char *name, int flags, ...)
{
    if (opening) model_until(not_leased);
    return __real_open(name, flags, 0666);
}
int __real_close(int);
int __wrap_close(int);
int __wrap_close(int fd)
{
    if (opening) bf_model_step(&leased, true);
    return __real_close(fd);
}
int __real_fcntl(int, int, ...);
int __wrap_fcntl(int, int, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command == F_SETLEASE) {
        bf_model_step(&leased, true);
        const int rc = __real_fcntl(fd, command, argument);
        leased = rc == 0 && (intptr_t)argument != F_UNLCK;
        return rc;
    }
    struct flock *lock = argument;
    const bool ours =
        (command == F_OFD_SETLK || command == F_OFD_GETLK) && lock->l_start == ((off_t)1 << 62) + 1;
    if (!ours) return __real_fcntl(fd, command, argument);
    bf_model_step(&kernel, true);
    if (command == F_OFD_SETLK) locked = true;
    if (command == F_OFD_GETLK && !locked) lock->l_type = F_UNLCK;
    return 0;
}
long __wrap_syscall(long, ...);
long __wrap_syscall(long number, ...)
{
    (void)number;
    return no_barrier && model.running >= 0 ? -1 : 0;
}

static bf_file *file_of(const bf_filter *f) { return f->part.store.impl; }
static bf_bias *bias_of(const bf_filter *f) { return f->part.store.bias; }

/* Whoever waits goes on when there may be news for him. */
static bool may_go_on(int me)
{
    const bf_bias *b = handle[me] ? bias_of(handle[me]) : NULL;
    for (int i = 0; !b && i < MODEL_THREADS; i++) b = handle[i] ? bias_of(handle[i]) : NULL;
    return !b || !locked || (*b->inside == 0 && !no_barrier) ||
           *b->turns == bf_turns_word(BF_SHARED);
}
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    model_until(may_go_on);
    return 0;
}

/* ---- keys ---- */
static bf_spec spec_of(bool file)
{
    return (bf_spec){ .m = m, .n = 10, .k = k, .scheme = "classic", .storage = file ? path : NULL };
}
static int add_(bf_filter *f, int key) { return bf_add(f, names[key], strlen(names[key]), NULL); }
static int has(bf_filter *f, int key) { return bf_test(f, names[key], strlen(names[key]), NULL); }
/* All in the same words, no two with a bit in common. */
static void find_keys(unsigned words)
{
    k = words;
    m = 64 * words;
    uint64_t pos[KEYS][2];
    const bf_spec spec = spec_of(false);
    bf_filter *f = bf_open(&spec, NULL);
    for (unsigned n = 0, i = 0; n < KEYS; i++) {
        snprintf(names[n], sizeof names[n], "k%u", i);
        bf_hashcode(f, names[n], strlen(names[n]), pos[n], k, NULL);
        bool good = k == 1 || pos[n][0] / 64 != pos[n][1] / 64;
        for (unsigned j = 0; j < n; j++)
            for (unsigned a = 0; a < k; a++)
                good &= pos[n][a] != pos[j][0] && pos[n][a] != pos[j][k - 1];
        n += good;
    }
    bf_close(f);
}

/* ---- what the threads do ---- */
static void put(bf_filter *f, int key)
{
    const int rc = add_(f, key);
    failed += rc < 0;
    wanted[key] = true;
}
static void adds(int me) { put(handle[me], me == 0 ? OWNERS : me == 1 ? SECONDS : THIRDS); }
static void adds_two(int me)
{
    put(handle[me], OWNERS);
    put(handle[me], OWNERS + 1);
}
static void adds_a_batch(int me)
{
    const bf_key keys[] = { { names[OWNERS], strlen(names[OWNERS]) },
        { names[OWNERS + 1], strlen(names[OWNERS + 1]) } };
    failed += bf_add_many(handle[me], keys, 2, NULL, NULL) < 0;
    wanted[OWNERS] = wanted[OWNERS + 1] = true;
}
static void closes(int me)
{
    put(handle[me], OWNERS);
    bf_close(handle[me]);
    handle[me] = NULL;
}
static void opens(int me)
{
    const bf_spec spec = spec_of(true);
    handle[me] = bf_open(&spec, NULL);
    if (!handle[me]) {
        failed++;
        return;
    }
    bias_of(handle[me])->next = 1;
    put(handle[me], me == 1 ? SECONDS : THIRDS);
    bf_close(handle[me]);
    handle[me] = NULL;
}
static void unites(int me)
{
    const bf_spec spec = spec_of(false);
    bf_filter *from = bf_open(&spec, NULL);
    add_(from, SECONDS);
    failed += bf_unite(handle[me], from, NULL) < 0;
    wanted[SECONDS] = true;
    bf_close(from);
}
static void rebuilds(int me)
{
    bf_filter *fresh = bf_rebuild_begin(handle[me], NULL);
    if (!fresh) {
        failed++;
        return;
    }
    add_(fresh, FIRST);
    add_(fresh, OWNERS); /* it may have been added before the rebuild began */
    add_(fresh, FRESH);
    failed += bf_rebuild_end(handle[me], fresh, NULL) < 0;
    wanted[FRESH] = true;
    bf_close(fresh);
}
/* What the kernel does when a process dies. */
static void ends(int thread)
{
    give_back(thread);
    if (thread == 0) locked = false;
    if (thread == 0 && leased) __real_fcntl(file_of(handle[0])->fd, F_SETLEASE, F_UNLCK);
    leased = 0;
    bias_of(handle[thread])->on = false;
}
static void opens_after_death(int me)
{
    model_kill(0);
    ends(0);
    opens(me);
}
static void kills_parent(int me)
{
    model_kill(0);
    ends(0);
    put(handle[me] = child, SECONDS);
}
static void kills(int me)
{
    model_kill(0);
    ends(0);
    put(handle[me], me == 1 ? SECONDS : THIRDS);
}
static void only_kills(int me)
{
    (void)me;
    model_kill(0);
    ends(0);
}
static void kills_the_second(int me)
{
    model_kill(1);
    ends(1);
    put(handle[me], THIRDS);
}

/* ---- before and after ---- */
enum { ALONE, ABOUT_TO, THREAD, THREAD_FIRST, FORKED, FORKED_FIRST };
static int how;
static void (*bodies[MODEL_THREADS])(int me);

/* The same handle in a child: its memory is a copy, the kernel wiped one page of it. */
static uint64_t wiped;
static bf_filter *copy_of(const bf_filter *f)
{
    bf_filter *c = malloc(sizeof *c);
    bf_file *file = malloc(sizeof *file);
    *c = *f;
    *file = *file_of(f);
    file->bias.alive = &wiped;
    file->bias.witness = NULL;
    c->part.store.impl = file;
    c->part.store.bias = &file->bias;
    c->piece.live = &c->piece.own;
    return c;
}
static void childs_add(int me) { put(handle[me] = child, SECONDS); }
static bf_filter *handle_for(int i)
{
    const bf_spec spec = spec_of(true);
    if (!bodies[i] || bodies[i] == opens || bodies[i] == childs_add || bodies[i] == kills_parent ||
        bodies[i] == opens_after_death)
        return NULL;
    return how == THREAD || how == THREAD_FIRST ? bf_hold(handle[0]) : bf_open(&spec, NULL);
}

static uint64_t self_(void) /* a child's thread has the number of its parent's */
{
    const int me = model.running;
    return 16 + (uint64_t)(me < 0 || (child && handle[me] == child) ? 0 : me);
}

/* ---- the same beginning again and again ---- */
static bf_filter *next_; /* another process, who writes when all is over */
static struct {
    bf_filter f;
    bf_file file;
} first[MODEL_THREADS + 1];
static uint8_t contents[BF_HEADER + 16];
static bool again; /* nobody opened or closed anything */

static bf_filter *one(int i) { return i == MODEL_THREADS ? next_ : handle[i]; }
static bool keeps_witness(const void *at)
{
    if (!at || at != first[0].file.bias.witness) return false;
    locked = false;
    return again;
}
static void keep_the_beginning(void)
{
    for (int i = 0; i <= MODEL_THREADS; i++)
        if (one(i)) {
            first[i].f = *one(i);
            first[i].file = *file_of(one(i));
        }
    again = next_ != NULL && !opening;
    if (next_) memcpy(contents, file_of(next_)->map, sizeof contents);
    for (int i = 0; i < MODEL_THREADS; i++) again &= bodies[i] != rebuilds;
}
static void begin_again(void)
{
    for (int i = 0; i <= MODEL_THREADS; i++)
        if (one(i) && one(i) != child) {
            *file_of(one(i)) = first[i].file;
            *one(i) = first[i].f;
        }
    memcpy(file_of(next_)->map, contents, sizeof contents);
    locked = bias_of(handle[0])->on;
}

static void forget_child(void)
{
    for (int i = 0; i < MODEL_THREADS; i++)
        if (handle[i] == child) handle[i] = NULL;
    if (child) free(child->part.store.impl);
    free(child);
    child = NULL;
}
static void end_all(void)
{
    forget_child();
    for (int i = 0; i < MODEL_THREADS; i++) {
        bf_close(handle[i]);
        handle[i] = NULL;
    }
    bf_close(next_);
    next_ = NULL;
    again = false;
}
static bool is_later(void) { return how == ABOUT_TO || how == THREAD_FIRST || how == FORKED_FIRST; }
static void begin(void)
{
    const bf_spec spec = spec_of(true);
    const bool later = is_later();
    end_all();
    unlink(path);
    locked = false;
    handle[0] = bf_open(&spec, NULL);
    bf_bias *b = bias_of(handle[0]);
    b->next = later ? 2 : 1;
    *b->family = 0;
    put(handle[0], FIRST);
    if (b->on == later) {
        fprintf(stderr, "it does not begin as it should: no leases here?\n");
        exit(1);
    }
    for (int i = 1; i < MODEL_THREADS; i++) handle[i] = handle_for(i);
    if (!later) next_ = bf_open(&spec, NULL);
    keep_the_beginning();
}
static void fresh(void)
{
    flock_ = failed = leased = 0;
    if (again)
        begin_again();
    else
        begin();
    *bias_of(handle[0])->family = 0;
    memset(wanted, 0, sizeof wanted);
    forget_child();
    if (how == FORKED || how == FORKED_FIRST) child = copy_of(handle[0]);
    for (int i = 0; i < MODEL_THREADS && bodies[i]; i++) model_thread_is(i, bodies[i]);
}

/* Older versions can open it. */
static bool at_rest(void)
{
    const bf_bias *b = bias_of(next_);
    return *b->turns == bf_turns_word(BF_SHARED) && *b->inside == 0;
}
static bool all_there(void)
{
    const bf_spec spec = spec_of(true);
    if (!next_) next_ = bf_open(&spec, NULL);
    bool good = next_ && failed == 0 && has(next_, FIRST) == 1;
    for (int i = 0; i < KEYS && good; i++) good = !wanted[i] || has(next_, i) == 1;
    /* and whoever writes next can */
    if (!good || add_(next_, FRESH) < 0 || has(next_, FRESH) != 1) return false;
    if (at_rest()) return true;
    bf_close(bf_open(&spec, NULL));
    return at_rest();
}

static unsigned long long all_schedules;
static bool try(const char *name, int from, void (*a)(int), void (*b)(int), void (*c)(int))
{
    how = from;
    bodies[0] = a;
    bodies[1] = b;
    bodies[2] = c;
    again = false;
    opening = false;
    for (int i = 0; i < 3; i++)
        opening |= bodies[i] == opens || bodies[i] == closes || bodies[i] == opens_after_death;
    const bool ok = explore(fresh, all_there);
    all_schedules += model.schedules;
    printf("     %-44s %8llu schedules, %llu cut%s\n", name, model.schedules, model.cut,
        ok ? "" : ": BROKEN");
    if (!ok) model_show_run();
    return ok;
}

static void second_process(void)
{
    CHECK(try("a key, and a second process", ALONE, adds, adds, NULL));
    CHECK(try("two keys, and a second process", ALONE, adds_two, adds, NULL));
    CHECK(try("a batch, and a second process", ALONE, adds_a_batch, adds, NULL));
    CHECK(try("a key, and a union", ALONE, adds, unites, NULL));
    CHECK(try("a key, and a rebuild", ALONE, adds, rebuilds, NULL));
}
static void two_others(void)
{
    model.in_full = false;
    CHECK(try("a key, and two others", ALONE, adds, adds, adds));
    model.in_full = true;
    CHECK(try("dies while another revokes", ALONE, adds, adds, only_kills));
    CHECK(try("dies while a child revokes", FORKED, adds, childs_add, only_kills));
    CHECK(try("about to be alone, dies, one opens", ABOUT_TO, adds_two, opens, only_kills));
    CHECK(try("who revokes dies, and a third", ALONE, adds, adds, kills_the_second));
    no_barrier = true;
    CHECK(try("closes, and one without membarrier", ALONE, closes, adds, NULL));
    no_barrier = false;
}
static void opened_and_closed(void)
{
    CHECK(try("a key, and one who opens", ALONE, adds, opens, NULL));
    CHECK(try("about to be alone, and one who opens", ABOUT_TO, adds_two, opens, NULL));
    CHECK(try("closes, and a second process", ALONE, closes, adds, NULL));
    CHECK(try("closes, and one who opens", ALONE, closes, opens, NULL));
}
static void same_handle(void)
{
    CHECK(try("a key, and another thread", THREAD, adds, adds, NULL));
    CHECK(try("about to be alone, and another thread", THREAD_FIRST, adds_two, adds, NULL));
    CHECK(try("a key, and a child", FORKED, adds, childs_add, NULL));
    CHECK(try("about to be alone, and a child", FORKED_FIRST, adds_two, childs_add, NULL));
}
static void killed_at_any_step(void)
{
    CHECK(try("dies, and a second process", ALONE, adds, kills, NULL));
    CHECK(try("dies, and a child", FORKED, adds, kills_parent, NULL));
    CHECK(try("about to be alone, dies", ABOUT_TO, adds_two, opens_after_death, NULL));
}

int main(void)
{
    if (!begin_with_a_file()) return 1;
    keeps = keeps_witness;
    self_of_thread = self_;
    find_keys(2);
    RUN(second_process);
    RUN(opened_and_closed);
    RUN(same_handle);
    model.in_full = true;
    RUN(killed_at_any_step);
    find_keys(1);
    RUN(two_others);
    printf("     %llu schedules in all\n", all_schedules);
    end_all();
    end_with_a_file();
    return FINISH();
}
