/* process.c - the number of this process (bf_process), which differs from its parent's number. A
 * process id is not sufficient: a child in a new pid namespace may have the same id as its parent,
 * and ids are reused.
 *
 * The number is in a page that the kernel sets to 0 in every child (MADV_WIPEONFORK, Linux 4.14),
 * even after a raw clone(). A handler of pthread_atfork also sets the number to 0 after fork():
 * older kernels lack MADV_WIPEONFORK, and an emulator may ignore it and report success. A child
 * with number 0 takes a number above the numbers of all its ancestors. Only from these can it have
 * inherited handles, locks and connections. */
#include "base/system.h"
#include "base/os.h"
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int unwiped; /* used if mmap fails */
static int *number = &unwiped, largest;

/* fork() takes this mutex, so it waits while another thread is between bf_hold_forks and
 * bf_release_forks. Such a thread is not cancelled, because it would hold the mutex for ever. */
static pthread_mutex_t forks;
static int cancel_state; /* the holder's cancel state before bf_hold_forks; protected by forks */

/* Recursive, because a signal handler may fork in the thread that holds the mutex. */
static void init_forks(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&forks, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void before_fork(void) { pthread_mutex_lock(&forks); }
static void after_fork(void) { pthread_mutex_unlock(&forks); }

void bf_hold_forks(void)
{
    int was;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    pthread_mutex_lock(&forks);
    cancel_state = was;
}

void bf_release_forks(void)
{
    const int was = cancel_state;
    pthread_mutex_unlock(&forks);
    pthread_setcancelstate(was, NULL);
}

static void in_child(void)
{
    init_forks();
    __atomic_store_n(number, 0, __ATOMIC_RELAXED);
}

/* The page is never unmapped, because threads may call bf_process while the process ends. dlclose
 * removes the handler. */
__attribute__((constructor)) static void watch_forks(void)
{
    init_forks();
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        bf_os_wipe_on_fork(page, bytes);
        number = page;
    }
    (void)pthread_atfork(before_fork, after_fork, in_child);
}

int bf_process(void)
{
    int n = __atomic_load_n(number, __ATOMIC_RELAXED);
    if (n) return n;
    const int mine = __atomic_add_fetch(&largest, 1, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(number, &n, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
               ? mine
               : n;
}

long bf_pid(void) { return (long)getpid(); }

uint64_t bf_random64(void)
{
    uint64_t n = 0;
    while (n == 0 && bf_os_random(&n, sizeof n) == 0) {}
    if (n) return n;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ((uint64_t)t.tv_nsec << 32 ^ (uint64_t)t.tv_sec << 12 ^ (uintptr_t)&t) | 1;
}

uint32_t bf_random(void)
{
    uint32_t n = 0;
    while (n == 0) n = (uint32_t)bf_random64();
    return n;
}
