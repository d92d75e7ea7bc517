/* test_writer_locks.c - the locks of an exclusive writer, of a rebuild and of a call, when another
 * thread forks in the middle of taking them, and when the kernel has no memory for a lock.  About
 * core/home/writer.c. */
/* wraps: open fcntl mmap madvise close flock */
#define _GNU_SOURCE
#include "bloomfilter_host.h"
#include "file_kinds.h"
#include "numbers.h"
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>

/* ---- a thread that forks in the middle ---- */
enum { MOST_FORKS = 200 };
typedef struct {
    pthread_t thread;
    volatile pid_t id, child;
} forker;
static forker forkers[MOST_FORKS];
static unsigned nforks, nwaits;
static int end_of_children[2]; /* they live until this pipe is closed */
static volatile bool forks_now;
/* where this thread says that it is about to fork */
static _Thread_local volatile pid_t *announced;

static void announce(void)
{
    if (announced) *announced = (pid_t)syscall(SYS_gettid);
}

static void *fork_once(void *ctx)
{
    forker *f = ctx;
    announced = &f->id;
    const pid_t child = fork();
    if (child == 0) {
        char c;
        forks_now = false;
        close(end_of_children[1]);
        while (read(end_of_children[0], &c, 1) > 0) {}
        _exit(0);
    }
    f->child = child;
    return ctx;
}

/* Does that thread sleep, as it does when it must wait before it forks? */
static bool sleeps(pid_t thread)
{
    char name[64], text[256] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)thread);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0) *text = 0;
    syscall(SYS_close, fd);
    const char *end = strrchr(text, ')');
    return end && end[2] == 'S';
}

/* Another thread forks now, or waits to fork until it may. */
static void point(void)
{
    if (!forks_now || nforks == MOST_FORKS) return;
    forks_now = false;
    forker *f = &forkers[nforks++];
    pthread_create(&f->thread, NULL, fork_once, f);
    while (!f->child && !(f->id && sleeps(f->id))) sched_yield();
    nwaits += !f->child;
    forks_now = true;
}

static void end_children(void)
{
    close(end_of_children[1]);
    for (unsigned i = 0; i < nforks; i++) {
        pthread_join(forkers[i].thread, NULL);
        CHECK(forkers[i].child > 0 && waitpid(forkers[i].child, NULL, 0) > 0);
        forkers[i] = (forker){ 0 };
    }
    close(end_of_children[0]);
    nforks = 0;
}

/* ---- errors of the kernel ---- */
static bool no_memory, no_locks;
REPLACED(int, fcntl, (int fd, int cmd, void *arg))
{
    point();
    if ((no_memory || no_locks) && cmd == F_OFD_SETLK) return fault(ENOLCK);
    if (no_locks && cmd == F_OFD_GETLK) return fault(ENOLCK);
    return __real_fcntl(fd, cmd, arg);
}

static int cancel_state(void)
{
    int was;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    pthread_setcancelstate(was, NULL);
    return was;
}

static unsigned opened_again, opened_cancellable;
REPLACED(int, open, (const char *name, int flags, int mode))
{
    point();
    if (strncmp(name, "/proc/self/fd/", 14) == 0) {
        opened_again++;
        opened_cancellable += cancel_state() == PTHREAD_CANCEL_ENABLE;
    }
    return __real_open(name, flags, mode);
}
/* Another thread forks before each of these. */
#define AT_A_POINT(type, name, params, args)                                                       \
    REPLACED(type, name, params)                                                                   \
    {                                                                                              \
        point();                                                                                   \
        return __real_##name args;                                                                 \
    }
AT_A_POINT(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
    (at, n, prot, flags, fd, from))
AT_A_POINT(int, madvise, (void *at, size_t n, int how), (at, n, how))
AT_A_POINT(int, close, (int fd), (fd))

/* ---- forks ---- */
TEST(children_forked_meanwhile_do_not_share_an_exclusive_lock)
{
    CHECK_EQ(pipe(end_of_children), 0);
    bf_close(sure(0, false));
    forks_now = true;
    bf_filter *f = sure(0, true);
    forks_now = false;
    CHECK(nforks > 5 && nwaits > 0);
    CHECK_EQ(add_two(f), 2);
    bf_close(f);
    f = open_it(0, true); /* no handle is open, and all children live */
    if (!f) FAILED("%s\n", e.msg);
    bf_close(f);
    end_children();
    gone();
}

/* A process that rebuilds the file is killed, while children live that it had forked meanwhile. */
TEST(children_forked_meanwhile_do_not_share_the_locks_of_a_rebuild)
{
    CHECK_EQ(pipe(end_of_children), 0);
    bf_filter *f = sure(0, false);
    CHECK_EQ(add_two(f), 2);
    fflush(NULL);
    const pid_t rebuilds = fork();
    if (rebuilds == 0) {
        bf_filter *own = sure(0, false);
        forks_now = true;
        if (!bf_rebuild_begin(own, &e)) _exit(1);
        forks_now = false;
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    CHECK_EQ(waitpid(rebuilds, &status, 0), rebuilds);
    CHECK(WIFSIGNALED(status));
    bf_filter *fresh = must(bf_rebuild_begin(f, &e), __LINE__);
    add_numbers(fresh, 0, 10);
    CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
    CHECK_EQ(found(f, 0, 10), 10);
    CLOSE(f, fresh);
    end_children();
    gone();
}

/* ---- the lock of a call ---- */
static bf_filter *own;
static bool dies;
static int alive[2], answer[2];

/* A child that is forked before the unlock, and outlives its parent, takes the lock. */
REPLACED(int, flock, (int fd, int how))
{
    if (how != LOCK_UN || !dies) return __real_flock(fd, how);
    dies = false;
    if (fork() != 0) kill(getpid(), SIGKILL);
    char c = 0;
    close(alive[1]);
    if (read(alive[0], &c, 1) != 0) _exit(1);
    bf_set_nowait(true);
    c = bf_remove(own, "x", 1, &e) == 0 ? 'y' : 'n';
    _exit(write(answer[1], &c, 1) != 1);
}

static bf_filter *growing_counters(void)
{
    bf_filter *f = OPEN(.n = 100, .p = 0.01, .counting = true, .grow = 2, .storage = path);
    CHECK_EQ(bf_add(f, "y", 1, &e), 1);
    return f;
}

TEST(a_child_forked_before_an_unlock_does_not_keep_the_lock)
{
    char c = 0;
    CHECK(pipe(alive) == 0 && pipe(answer) == 0);
    fflush(NULL);
    const pid_t parent = fork();
    if (parent == 0) {
        own = growing_counters();
        dies = true;
        bf_remove(own, "x", 1, &e);
        _exit(1);
    }
    for (int i = 0; i < 2; i++) close(i ? answer[1] : alive[1]);
    int status = 0;
    CHECK(waitpid(parent, &status, 0) == parent && WIFSIGNALED(status));
    CHECK(read(answer[0], &c, 1) == 1 && c == 'y');
    for (int i = 0; i < 2; i++) close(i ? answer[0] : alive[0]);
    gone();
}

/* A thread that is cancelled in open() would hold off forks for ever. */
TEST(a_thread_that_holds_off_forks_is_not_cancelled)
{
    bf_filter *f = growing_counters();
    opened_cancellable = opened_again = 0;
    CHECK_EQ(bf_remove(f, "x", 1, &e), 0);
    CHECK(opened_again == 1 && opened_cancellable == 0);
    CHECK_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
    bf_close(f);
    gone();
}

/* ---- ENOLCK ---- */
TEST(no_memory_for_a_lock_is_an_error)
{
    bf_filter *f = sure(0, true), *g = sure(0, false);
    no_memory = true;
    CHECK_REFUSED(add_two(g), BF_EIO, "cannot lock ");
    no_memory = false;
    CHECK_REFUSED(add_two(g), BF_EBUSY, "has an exclusive writer");
    bf_close(f);
    no_memory = true;
    CHECK_NO_FILTER(open_it(0, true), BF_EIO, "cannot lock ");
    no_memory = false;
    CHECK_EQ(add_two(g), 2);
    bf_close(g);
    gone();
}

TEST(a_file_system_without_locks_has_ordinary_writers)
{
    bf_filter *f = sure(0, false);
    no_locks = true;
    CHECK_EQ(add_two(f), 2);
    CHECK_NO_FILTER(open_it(0, true), BF_ENOTSUP, "cannot have an exclusive writer");
    bf_error e;
    bf_filter *fresh = must(bf_rebuild_begin(f, &e), __LINE__);
    CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
    bf_close(fresh);
    no_locks = false;
    bf_close(f);
    gone();
}

int main(void)
{
    pthread_atfork(announce, NULL, NULL);
    return main_in_folder();
}
